"""The model that choices ask for, once they are found to go together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbrook.checks import shown
from kernbrook.compiler.links import kind_of
from kernbrook.engine import guards as guards  # of the verbs of others
from kernbrook.engine.loss_codes import SQUARED
from kernbrook.engine.model import Model
from kernbrook.engine.needs import check_rule
from kernbrook.engine.passes import Committee
from kernbrook.engine.pool import Member, PoolPart, kernels_of, parts_of_pool, scalings_of
from kernbrook.engine.progress import CommitteeRules, Terms
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.same import same
from kernbrook.engine.stores.base import Setting, Store
from kernbrook.engine.stores.expansion import Expansion, SharedExpansion
from kernbrook.engine.stores.linear import Linear
from kernbrook.engine.stores.slots import SlotStore
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel


def compose(
    kernels: tuple[Kernel, ...],
    members: Sequence[Member],
    combiner: Any,
    selection: Any,
    policy: Any,
    setting: Setting,
) -> Model:
    """The model of choices that go together; an expert is a pair of a learner and a kernel.

    All kernels of the first learner come first. No learner: the kernels share one, the combiner's.
    """
    parts = parts_of_pool(kernels, members)
    everything = kernels_of(kernels, members)
    for part in parts:
        for sample in {type(rule): rule for rule in part.rules}.values():
            check_rule(part.learner, sample)
    check_rule(selection, selection.rule())
    check_rule(policy, policy.rule())
    if members:
        rule: Any = combiner.rule()
        check_rule(combiner, rule)
        stores = stores_of(parts, setting)
    else:
        rule = combiner.rule(len(kernels))
        stores = [SharedExpansion(kernels, cast_rule(rule), setting)]
        parts = [PoolPart(None, kernels, tuple(range(len(kernels))), 0, len(kernels), 0, ())]
    strict = [getattr(part.learner, "strict", False) for part in parts for _ in range(part.size)]
    kernel_of = [k for part in parts for k in part.which or (-1,) * part.size]
    choices = CommitteeRules(
        combiner=cast_rule(rule),
        selection=cast_rule(selection.rule()),
        policy=cast_rule(policy.rule()),
        terms=Terms(
            loss=loss_of(combiner, setting.regression),
            strict=np.array(strict, dtype=bool),
            mean=len(members) > 0,
            given=False,
        ),
    )
    interleaved = policy.asks or selection.draws_updates
    interleaved |= not all(store.stands_alone for store in stores)
    return Model(
        stores,
        Committee(choices, combiner, setting),
        setting,
        everything,
        np.array(kernel_of),
        views=scalings_of(members),
        interleaved=interleaved,
        asks=policy.asks,
    )


def loss_of(combiner: Any, regression: bool) -> int:
    """The code of the combiner's loss; InputError if the loss is not for this task."""
    loss: int = combiner.loss_code
    if regression and getattr(combiner, "of_any_loss", False):
        loss = SQUARED
    if regression != (loss >= SQUARED):
        wanted = "'squared' or 'absolute'" if regression else "'mistakes', 'hinge', 'logistic'"
        task = "regression" if regression else "classification"
        raise InputError(f"combiner: for {task} expected a loss {wanted}, got {combiner!r}")
    return loss


def stores_of(parts: Sequence[PoolPart], setting: Setting) -> list[Store]:
    """The stores that the experts of a pool ask for."""
    merges = any(
        "points" in part.learner.keeps(rule)
        for part in parts
        if part.learner.store == "slots"
        for rule in part.rules
    )
    setting = setting._replace(sparse=setting.sparse and not merges)
    stores: list[Store] = []

    def add(store: Store, view: int) -> None:
        store.view = view
        stores.append(store)

    for view in dict.fromkeys(part.view for part in parts):
        in_view = [part for part in parts if part.view == view]
        sums = [part for part in in_view if part.learner.store == "expansion"]
        for kernels in _distinct([part.kernels for part in sums]):
            add(Expansion([part for part in sums if same(part.kernels, kernels)], setting), view)
        if on_features := [part for part in in_view if part.learner.store == "features"]:
            add(Linear(on_features, setting), view)
        for part in in_view:
            if part.learner.store == "slots":
                for kind in dict.fromkeys(map(kind_of, part.rules)):
                    of = [k for k, rule in enumerate(part.rules) if kind_of(rule) == kind]
                    some, numbers = tuple(part.kernels[k] for k in of), [part.first + k for k in of]
                    store = SlotStore(part.learner, part.rules[of[0]], some, numbers, setting)
                    add(store, view)
            elif part.learner.store == "outside":
                made = part.learner.make_store(part.first, setting)
                if not isinstance(made, Store):
                    who = type(part.learner).__name__
                    raise InputError(
                        f"{who}: make_store gave {shown(made)}, expected a store such as "
                        "InPlace(...); see docs/adding_a_store.md"
                    )
                add(made, view)
    return stores


def _distinct(keys: Sequence[Any]) -> list[Any]:
    """Each key once."""
    found: list[Any] = []
    for key in keys:
        if not any(same(key, other) for other in found):
            found.append(key)
    return found
