"""The model that choices ask for, once they are found to go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbrook.engine.losses import SQUARED
from kernbrook.engine.model import Model
from kernbrook.engine.progress import Choices, Terms
from kernbrook.engine.stores.base import Setting, Store
from kernbrook.engine.stores.expansion import Expansion
from kernbrook.engine.stores.linear import Linear
from kernbrook.engine.stores.shared import SharedExpansion
from kernbrook.engine.stores.slots import SlotStore
from kernbrook.engine.verbs import kind_of, typed
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel


def compose(
    kernels: tuple[Kernel, ...],
    learners: Sequence[Any],
    combiner: Any,
    selection: Any,
    policy: Any,
    setting: Setting,
) -> Model:
    """The model of choices that go together; an expert is a pair of a learner and a kernel.

    All kernels of the first learner come first. No learner: the kernels share one, the combiner's.
    """
    m = len(kernels)
    if learners:
        rule: Any = combiner.rule()
        counts = [getattr(learner, "n_experts", m) for learner in learners]
        firsts = [sum(counts[:i]) for i in range(len(counts))]
        stores = stores_of(kernels, learners, firsts, setting)
        own = zip(learners, counts, strict=True)
        strict = [getattr(learner, "strict", False) for learner, n in own for _ in range(n)]
        kernel_of = [
            -1 if hasattr(learner, "n_experts") else k
            for learner, n in zip(learners, counts, strict=True)
            for k in range(n)
        ]
    else:
        rule = combiner.rule(m)
        stores = [SharedExpansion(kernels, typed(rule), setting)]
        strict, kernel_of = [False] * m, list(range(m))
    choices = Choices(
        combiner=typed(rule),
        selection=typed(selection.rule()),
        policy=typed(policy.rule()),
        terms=Terms(
            loss=loss_of(combiner, setting.regression),
            strict=np.array(strict, dtype=bool),
            mean=len(learners) > 0,
            given=False,
        ),
    )
    interferes = policy.asks or selection.draws_updates
    interferes |= not all(store.stands_alone for store in stores)
    state_size = combiner.state_size(len(strict))
    parts = (*learners, combiner, selection, policy)
    compiled = all(getattr(part, "compiled", True) for part in parts)
    return Model(
        stores, choices, state_size, setting, interferes, policy.asks, np.array(kernel_of), compiled
    )


def loss_of(combiner: Any, regression: bool) -> int:
    """What the combiner looks at; InputError where that is not for this task."""
    loss: int = combiner.loss_code
    if regression and getattr(combiner, "of_any_loss", False):
        loss = SQUARED
    if regression != (loss >= SQUARED):
        wanted = "'squared' or 'absolute'" if regression else "'mistakes', 'hinge', 'logistic'"
        task = "numbers" if regression else "classes"
        raise InputError(f"combiner: for {task} expected a loss {wanted}, got {combiner!r}")
    return loss


def stores_of(
    kernels: tuple[Kernel, ...], learners: Sequence[Any], firsts: Sequence[int], setting: Setting
) -> list[Store]:
    """The stores that the experts of some learners ask for; firsts : the first of each."""
    m = len(kernels)
    rules = [
        learner.rules(kernels) if hasattr(learner, "rules") else [learner.rule()] * m
        for learner in learners
    ]
    merges = any(
        "points" in learner.keeps(rule)
        for learner, own in zip(learners, rules, strict=True)
        if learner.store == "slots"
        for rule in own
    )
    setting = setting._replace(sparse=setting.sparse and not merges)
    stores: list[Store] = []
    keys = [(learner.store, _window_of(learner)) for learner in learners]
    windows = [key for key in dict.fromkeys(keys) if key[1] is not None]
    for key in (("expansion", None), ("features", None), *windows):
        those = [i for i, other in enumerate(keys) if other == key]
        if those:
            shared = [learners[i] for i in those], kernels, [firsts[i] for i in those], setting
            stores.append(Linear(*shared) if key[0] == "features" else Expansion(*shared, key[1]))
    for learner, first, own in zip(learners, firsts, rules, strict=True):
        if learner.store == "slots":
            for kind in dict.fromkeys(map(kind_of, own)):
                of = [k for k in range(m) if kind_of(own[k]) == kind]
                some, numbers = tuple(kernels[k] for k in of), [first + k for k in of]
                stores.append(SlotStore(learner, own[of[0]], some, numbers, setting))
        elif learner.store == "outside":
            stores.append(learner.make_store(first, setting))
    return stores


def _window_of(learner: Any) -> int | None:
    """The last examples that a learner's experts sum over; None: they do not forget so."""
    return learner.budget if learner.store == "window" else None
