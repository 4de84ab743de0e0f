"""The model that a machine's choices ask for, once they are found to go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernbrook.combiners import AdaRaker, FixedShare, GroupNorm, MLPoly, Stack
from kernbrook.engine.compose import compose
from kernbrook.engine.model import Model
from kernbrook.engine.pool import Member
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.labels import AllLabels
from kernbrook.learners import BPAS, External, GradientDescent, Group, Perceptron, Ridge
from kernbrook.selection import BestOfPrefix, Selection

# Learners where none are named, by measurement: see the classes that take them.
OF_CLASSES = (BPAS(budget=2500, aggressiveness=0.5),)
OF_NUMBERS = (GradientDescent(0.5, "normalized"), Ridge())


def make_model(
    kernels: tuple[Kernel, ...],
    members: Sequence[Member],
    combiner: Any,
    selection: Any,
    labels: Any,
    setting: Setting,
) -> Model:
    """The model that the choices ask for; None is the default of each.

    members : as `members_of` gives them

    Raises
    ------
    InputError
        A choice is not of its kind, or choices that do not go together.
    """
    default = MLPoly("linearized", scale_free=True) if setting.regression else FixedShare()
    combiner = _choice("combiner", default if combiner is None else combiner, default)
    selection = _choice("selection", Selection() if selection is None else selection, Selection())
    policy = AllLabels() if isinstance(labels, str) and labels == "all" else labels
    if getattr(policy, "choice", None) != "labels" or isinstance(policy, type):
        raise InputError(
            f"labels: expected 'all' or a policy such as Disagreement(), got {labels!r}"
        )
    if policy.of_classes and setting.regression:
        raise InputError(f"labels: {policy!r} looks at margins, which numbers do not have")
    if isinstance(selection, BestOfPrefix) and policy.of_opinions:
        raise InputError(f"labels: {policy!r} compares experts, and BestOfPrefix has one in use")
    takes_all = isinstance(selection, Selection) and selection.takes_all
    if isinstance(combiner, Stack):
        combiner = combiner.for_task(setting.regression)
        if not takes_all:
            raise InputError(f"selection: Stack uses all experts, got {selection!r}")
    if isinstance(combiner, GroupNorm):
        if setting.regression:
            raise InputError("combiner: GroupNorm is for classes")
        if not takes_all:
            raise InputError(f"selection: GroupNorm uses all kernels, got {selection!r}")
        if policy.of_variances:
            raise InputError(f"labels: {policy!r} needs the variances of Ridge")
        return compose(kernels, (), combiner, selection, policy, setting)
    learners = [member.learner for member in members]
    if policy.of_variances and not all(hasattr(one, "has_variance") for one in learners):
        raise InputError(
            f"labels: {policy!r} needs the variances of Ridge; give learner=Ridge(), "
            f"got {_shown(learners)}"
        )
    if isinstance(combiner, AdaRaker):
        combiner.rule()  # its levels, before they are compared
        on_features = all(one.store == "features" for one in learners)
        if not on_features or len(learners) != combiner.levels:
            raise InputError(
                f"combiner: {combiner!r} needs as many learners as levels, on features, "
                f"got {_shown(learners)}"
            )
    return compose(kernels, members, combiner, selection, policy, setting)


def members_of(
    learner: Any, combiner: Any, regression: bool, scaling: str | None = None
) -> tuple[Member, ...]:
    """The learners of a pool, each checked, with kernels and scaling of its own where it has them.

    learner : one, or a list; None: the default
    scaling : of the machine
    """
    if isinstance(combiner, GroupNorm):
        if learner is not None:
            raise InputError("learner: GroupNorm is its own learner; leave learner=None")
        return ()
    given = (OF_NUMBERS if regression else OF_CLASSES) if learner is None else learner
    pool = given if isinstance(given, (list, tuple)) else [given]
    if not pool:
        raise InputError("learner: expected one learner or more, got none")
    such = Ridge() if regression else Perceptron()
    members = []
    for one in pool:
        for member in one.members() if isinstance(one, Group) else [Member(_as_learner(one))]:
            own = _choice("learner", _as_learner(member.learner), such)
            of_numbers = getattr(own, "of_numbers", False) and not own.only_classes
            if regression and not of_numbers:
                raise InputError(f"learner: {own!r} is for classes, not for numbers")
            if not regression and not getattr(own, "of_classes", True):
                raise InputError(f"learner: {own!r} is for numbers, not for classes")
            method = None if member.scaling == scaling else member.scaling
            members.append(member._replace(learner=own, scaling=method))
    return tuple(members)


def _shown(learners: Sequence[Any]) -> str:
    return repr(learners[0]) if len(learners) == 1 else repr(list(learners))


def _as_learner(given: Any) -> Any:
    """A model of another library as the learner that it can be; all else as it is."""
    learns = hasattr(given, "partial_fit") or hasattr(given, "learn_one")
    own = hasattr(given, "choice") or isinstance(given, type)
    return External(given) if learns and not own else given


def _choice(name: str, choice: Any, such: Any) -> Any:
    """The choice, if it is of its kind; InputError, with one `such`, where it is not."""
    if isinstance(choice, type) or getattr(choice, "choice", None) != name:
        raise InputError(f"{name}: expected an object such as {such!r}, got {choice!r}")
    return choice
