"""The model that a machine's choices ask for, once they are found to go together."""

from __future__ import annotations

from typing import Any

from kernbrook.combiners import AdaRaker, FixedShare, GroupNorm, MLPoly
from kernbrook.engine.compose import compose
from kernbrook.engine.model import Model
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.labels import AllLabels
from kernbrook.learners import BPAS, External, GradientDescent, Perceptron, Ridge
from kernbrook.selection import BestOfPrefix, Selection

# Learners where none are named, by measurement: see the classes that take them.
OF_CLASSES = (BPAS(budget=2500, aggressiveness=0.5),)
OF_NUMBERS = (GradientDescent(0.5, "normalized"), Ridge())


def make_model(
    kernels: tuple[Kernel, ...],
    learner: Any,
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
    if isinstance(combiner, GroupNorm):
        if setting.regression:
            raise InputError("combiner: GroupNorm is for classes")
        if learner is not None:
            raise InputError("learner: GroupNorm is its own learner; leave learner=None")
        if not (isinstance(selection, Selection) and selection.takes_all):
            raise InputError(f"selection: GroupNorm uses all kernels, got {selection!r}")
        if policy.of_variances:
            raise InputError(f"labels: {policy!r} needs the variances of Ridge")
        return compose(kernels, (), combiner, selection, policy, setting)
    learners = learners_of(learner, setting)
    if policy.of_variances and not all(hasattr(one, "has_variance") for one in learners):
        raise InputError(
            f"labels: {policy!r} needs the variances of Ridge; give learner=Ridge(), "
            f"got {learner!r}"
        )
    if isinstance(combiner, AdaRaker):
        combiner.rule()  # its levels, before they are compared
        on_features = all(one.store == "features" for one in learners)
        if not on_features or len(learners) != combiner.levels:
            raise InputError(
                f"combiner: {combiner!r} needs as many learners as levels, on features, "
                f"got {learner!r}"
            )
    return compose(kernels, learners, combiner, selection, policy, setting)


def learners_of(given: Any, setting: Setting) -> tuple[Any, ...]:
    """The learners of a pool, each checked; one by itself is a pool too."""
    if given is None:
        return OF_NUMBERS if setting.regression else OF_CLASSES
    pool = given if isinstance(given, (list, tuple)) else [given]
    if not pool:
        raise InputError("learner: expected one learner or more, got none")
    such = Ridge() if setting.regression else Perceptron()
    learners = tuple(_choice("learner", _as_learner(one), such) for one in pool)
    for one in learners:
        of_numbers = getattr(one, "of_numbers", False) and not one.only_classes
        if setting.regression and not of_numbers:
            raise InputError(f"learner: {one!r} is for classes, not for numbers")
        if not setting.regression and not getattr(one, "of_classes", True):
            raise InputError(f"learner: {one!r} is for numbers, not for classes")
    return learners


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
