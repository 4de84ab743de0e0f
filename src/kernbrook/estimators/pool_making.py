"""The model that a machine's choices ask for, once they are found to go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kernbrook.checks import check, shown
from kernbrook.combiners import Stack
from kernbrook.engine.compose import compose
from kernbrook.engine.horizons.horizons import Horizons
from kernbrook.engine.model import Model
from kernbrook.engine.needs import check_part, check_together, gives
from kernbrook.engine.pool import Member, scalings_of
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.estimators.defaults import ON_KERNELS, ON_KERNELS_OF_NUMBERS, default_pool
from kernbrook.kernels import Kernel, resolve
from kernbrook.kernels.constant import with_constant
from kernbrook.labels import AllLabels
from kernbrook.learners import External, Group, Perceptron, Ridge
from kernbrook.selection import Selection


class Pool(NamedTuple):
    """Kernels, learners with them or with some of their own, and the scaling of each view."""

    kernels: tuple[Kernel, ...]
    members: tuple[Member, ...]
    scalings: tuple[str | None, ...]


def pool_of(
    kernels: Any,
    learner: Any,
    combiner: Any,
    regression: bool,
    width: int,
    scaling: str | None,
    scores: int = 1,
) -> Pool:
    """The pool that an estimator's parameters ask for, each part of it checked.

    kernels : "auto": by the learners, or the paper's where these have none
    learner : one, or a list; None: the default
    width : features of a row
    scaling : of the machine
    scores : of each expert
    """
    given = learner
    if learner is None and not learns_itself(combiner):
        if is_auto(kernels):
            given = default_pool(regression, width, scores)
        else:
            given = ON_KERNELS_OF_NUMBERS if regression else ON_KERNELS
    members = members_of(given, combiner, regression, scaling)
    methods = tuple(scaling if method is None else method for method in scalings_of(members))
    return Pool(shared_kernels(kernels, regression), members, methods)


def with_constants(pool: Pool, width: int) -> Pool:
    """The same with 1 added to each kernel whose functions are all 0 at 0, such as x.z."""

    def mended(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
        return tuple(with_constant(kernel, width) for kernel in kernels)

    members = tuple(
        own if own.kernels is None else own._replace(kernels=mended(own.kernels))
        for own in pool.members
    )
    return pool._replace(kernels=mended(pool.kernels), members=members)


def learns_itself(combiner: Any) -> bool:
    """Whether a combiner learns from the kernels, without learners."""
    return bool(getattr(combiner, "learns_itself", False))


def is_auto(kernels: Any) -> bool:
    """Whether the kernels are left to the machine."""
    return isinstance(kernels, str) and kernels == "auto"


def shared_kernels(kernels: Any, regression: bool) -> tuple[Kernel, ...]:
    """The kernels of the learners that have none of their own."""
    named = "amkl17" if regression else "omkc16"
    return resolve(named if is_auto(kernels) else kernels)


def make_model(
    pool: Pool,
    combiner: Any,
    selection: Any,
    labels: Any,
    setting: Setting,
    delay: float | None = 0,
) -> Model:
    """The model that the choices ask for; None is the default of each.

    delay : rows that wait for their labels when one is predicted; None: any number of them
    Raises
    ------
    InputError
        A choice is not of its kind, or choices that do not go together.
    """
    selection = _choice("selection", Selection() if selection is None else selection, Selection())
    default = Stack().for_task(setting.regression)
    such = default if "all experts" in gives(selection) else default.base
    combiner = _choice("combiner", such if combiner is None else combiner, default.base)
    policy = AllLabels() if isinstance(labels, str) and labels == "all" else labels
    if getattr(policy, "choice", None) != "labels" or isinstance(policy, type):
        raise InputError(
            f"labels: expected 'all' or a policy such as Disagreement(), got {shown(labels)}"
        )
    check_part(policy)
    check(policy)
    if hasattr(combiner, "for_task"):
        combiner = combiner.for_task(setting.regression)
    learners = [member.learner for member in pool.members]
    task = "regression" if setting.regression else "classification"
    parts = {
        "labels": [policy], "combiner": [combiner], "selection": [selection], "learner": learners,
    }  # fmt: skip
    check_together(task, parts)
    needed = getattr(combiner, "n_learners", None)
    if needed is not None and len(learners) != needed:
        told = "1 learner" if needed == 1 else f"{needed} learners"
        raise InputError(f"combiner: {combiner!r} needs {told}, got {_shown(learners)}")
    model = compose(pool.kernels, pool.members, combiner, selection, policy, setting)
    able = "all experts" in gives(selection) and not learns_itself(combiner)
    if delay and not able:
        raise InputError(
            f"delay: needs all experts in each vote, which {selection!r} with {combiner!r} does "
            "not give; leave delay=None"
        )
    several = model.n_experts > 1 and hasattr(combiner, "far_ahead")
    if delay != 0 and able and (delay is not None or several):
        model.horizons = Horizons(model)
    return model


def members_of(
    given: Any, combiner: Any, regression: bool, scaling: str | None
) -> tuple[Member, ...]:
    """The learners of a pool, with kernels and scaling of their own where they have them."""
    if learns_itself(combiner):
        if given is not None:
            name = type(combiner).__name__
            raise InputError(f"learner: {name} is its own learner; leave learner=None")
        return ()
    pool = given if isinstance(given, (list, tuple)) else [given]
    if not pool:
        raise InputError("learner: expected one learner or more, got none")
    such = Ridge() if regression else Perceptron()
    members = []
    for one in pool:
        for member in _members_of(one):
            own = _choice("learner", _as_learner(member.learner), such)
            of_numbers = getattr(own, "of_numbers", False) and not getattr(
                own, "only_classes", False
            )
            if regression and not of_numbers:
                raise InputError(f"learner: {own!r} is for classes, not for numbers")
            if not regression and not getattr(own, "of_classes", True):
                raise InputError(f"learner: {own!r} is for numbers, not for classes")
            method = None if member.scaling == scaling else member.scaling
            members.append(member._replace(learner=own, scaling=method))
    return tuple(members)


def _members_of(one: Any) -> list[Member]:
    if not isinstance(one, Group):
        return [Member(_as_learner(one))]
    check(one)
    return one.members()


def _shown(learners: Sequence[Any]) -> str:
    return repr(learners[0]) if len(learners) == 1 else repr(list(learners))


def _as_learner(given: Any) -> Any:
    """A model of another library as the learner that it can be; all else as it is."""
    learns = hasattr(given, "partial_fit") or hasattr(given, "learn_one")
    own = hasattr(given, "choice") or isinstance(given, type)
    return External(given) if learns and not own else given


def _choice(name: str, choice: Any, such: Any) -> Any:
    """The choice, if it is of its kind, with parameters in their ranges; else InputError."""
    if isinstance(choice, type) or getattr(choice, "choice", None) != name:
        raise InputError(f"{name}: expected an object such as {such!r}, got {shown(choice)}")
    check_part(choice)
    check(choice)
    return choice
