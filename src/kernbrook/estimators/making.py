"""The model that a machine's choices ask for, once they are found to go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kernbrook.checks import check, shown
from kernbrook.combiners import AdaRaker, GroupNorm, Stack
from kernbrook.engine.compose import compose
from kernbrook.engine.model import Model
from kernbrook.engine.needs import check_part
from kernbrook.engine.pool import Member, views_of
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.estimators.defaults import ON_KERNELS, ON_KERNELS_OF_NUMBERS, default_pool
from kernbrook.kernels import Kernel, resolve
from kernbrook.kernels.constant import with_constant
from kernbrook.labels import AllLabels
from kernbrook.learners import External, Group, Perceptron, Ridge
from kernbrook.selection import BestOfPrefix, Selection


class Pool(NamedTuple):
    """Kernels, learners with them or with some of their own, and the scaling of each view."""

    kernels: tuple[Kernel, ...]
    members: tuple[Member, ...]
    scalings: tuple[str | None, ...]


def pool_of(
    kernels: Any, learner: Any, combiner: Any, regression: bool, width: int, scaling: str | None
) -> Pool:
    """The pool that an estimator's parameters ask for, each part of it checked.

    kernels : "auto": by the learners, or the paper's where these have none
    learner : one, or a list; None: the default
    width : features of a row
    scaling : of the machine
    """
    given = learner
    if learner is None and not isinstance(combiner, GroupNorm):
        if is_auto(kernels):
            given = default_pool(regression, width)
        else:
            given = ON_KERNELS_OF_NUMBERS if regression else ON_KERNELS
    members = members_of(given, combiner, regression, scaling)
    methods = tuple(scaling if method is None else method for method in views_of(members))
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
) -> Model:
    """The model that the choices ask for; None is the default of each.

    Raises
    ------
    InputError
        A choice is not of its kind, or choices that do not go together.
    """
    selection = _choice("selection", Selection() if selection is None else selection, Selection())
    takes_all = isinstance(selection, Selection) and selection.takes_all
    default = Stack().for_task(setting.regression)
    such = default if takes_all else default.base
    combiner = _choice("combiner", such if combiner is None else combiner, default.base)
    policy = AllLabels() if isinstance(labels, str) and labels == "all" else labels
    if getattr(policy, "choice", None) != "labels" or isinstance(policy, type):
        raise InputError(
            f"labels: expected 'all' or a policy such as Disagreement(), got {shown(labels)}"
        )
    check_part(policy)
    check(policy)
    if policy.of_classes and setting.regression:
        raise InputError(f"labels: {policy!r} looks at margins, which numbers do not have")
    if isinstance(selection, BestOfPrefix) and policy.of_opinions:
        raise InputError(f"labels: {policy!r} compares experts, and BestOfPrefix has one in use")
    if isinstance(combiner, Stack):
        combiner = combiner.for_task(setting.regression)
        if not takes_all:
            raise InputError(f"selection: Stack uses all experts, got {selection!r}")
    if isinstance(combiner, GroupNorm):
        if not takes_all:
            raise InputError(f"selection: GroupNorm uses all kernels, got {selection!r}")
        if policy.of_variances:
            raise InputError(f"labels: {policy!r} needs the variances of Ridge")
        return compose(pool.kernels, (), combiner, selection, policy, setting)
    learners = [member.learner for member in pool.members]
    if policy.of_variances and not all(hasattr(one, "has_variance") for one in learners):
        raise InputError(
            f"labels: {policy!r} needs the variances of Ridge; give learner=Ridge(), "
            f"got {_shown(learners)}"
        )
    if isinstance(combiner, AdaRaker):
        on_features = all(one.store == "features" for one in learners)
        if not on_features or len(learners) != combiner.levels:
            raise InputError(
                f"combiner: {combiner!r} needs as many learners as levels, on features, "
                f"got {_shown(learners)}"
            )
    return compose(pool.kernels, pool.members, combiner, selection, policy, setting)


def members_of(
    given: Any, combiner: Any, regression: bool, scaling: str | None
) -> tuple[Member, ...]:
    """The learners of a pool, with kernels and scaling of their own where they have them."""
    if isinstance(combiner, GroupNorm):
        if regression:
            raise InputError("combiner: GroupNorm is for classes")
        if given is not None:
            raise InputError("learner: GroupNorm is its own learner; leave learner=None")
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
