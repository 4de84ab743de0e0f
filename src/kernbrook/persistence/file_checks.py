"""What a model file asks for and says, checked: a few bytes could ask for gigabytes, and compiled
code trusts what it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from kernbrook.checks import shown
from kernbrook.engine.model import Model
from kernbrook.engine.pool import parts_of_pool
from kernbrook.engine.progress import WEIGHED
from kernbrook.engine.stores.linear import recipe_of
from kernbrook.errors import InputError
from kernbrook.estimators.machine import OnlineMachine
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor
from kernbrook.gram.points import check_array
from kernbrook.kernels import Kernel
from kernbrook.persistence.encoding import Reader


def check_sizes(estimator: OnlineMachine, width: int, sparse: bool, reader: Reader) -> None:
    """Raise InputError where the tensors are not of the sizes that the parameters ask for.

    Before a model is made: making one draws features and takes memory as the parameters ask.
    """
    setting = estimator._setting(width, sparse, 0)
    pool = estimator._pool(width)
    sizes: dict[int, list[int]] = {}  # of theta and extra, by view
    for part in parts_of_pool(pool.kernels, pool.members):
        learner = part.learner
        if learner.store == "slots" and (budget := learner.slots()) is not None:
            shapes = [v.shape for k, v in reader.tensors.items() if k.endswith(".alpha")]
            if not any(s[1:] == (setting.scores, budget) and s[0] for s in shapes):
                raise InputError(f"stores: no slots are of the size that {learner!r} asks for")
        if learner.store == "features":
            total = sizes.setdefault(part.view, [0, 0])
            for kernel in part.kernels:
                dim = _check_map(learner, kernel, width, reader)
                total[0] += setting.scores * dim
                total[1] += learner.extra_rows(dim, setting.scores) * dim
    for own in sizes.values():
        for name, size in zip(("theta", "extra"), own, strict=True):
            found = [v.shape for k, v in reader.tensors.items() if k.endswith(f".{name}")]
            if (size,) not in found:
                raise InputError(f"stores: expected {name} of {size} numbers, found shapes {found}")


def _check_map(learner: Any, kernel: Kernel, width: int, reader: Reader) -> int:
    """The number of features of a kernel, whose arrays are in the file: under some number."""
    recipe = recipe_of(learner, kernel)
    dim = recipe.dim(kernel, width)
    for name, (shape, _) in recipe.shapes(kernel, width).items():
        found = {
            tensor.shape
            for held, tensor in reader.tensors.items()
            if ".maps." in held and held.endswith(f".{name}")
        }
        if shape not in found:
            raise InputError(f"maps: expected {name} of shape {shape} for {kernel}, found none")
    return dim


def check_progress(run: Model, combiner: Any) -> None:
    """Raise InputError where experts are weighed as no learning could have led to."""
    progress, m = run.progress, run.n_experts
    weighed = progress.counters[WEIGHED]
    if not (run.rounds >= run.asked >= weighed >= 0 and -1 <= run.chosen < m):
        raise InputError("progress.counters: no state that a run can be in")
    if progress.log_weights.max() != 0:
        raise InputError("progress.log_weights: expected 0 as the greatest")
    if hasattr(combiner, "check_state"):
        combiner.check_state(progress.state, m)
    with np.errstate(all="ignore"):
        total = run.weights().sum() * run.votes().sum()
    if not 0 < total < np.inf:
        raise InputError("progress.log_weights, progress.used: nobody has a vote")


def check_width(fitted: Mapping[str, Any]) -> None:
    """Raise InputError where the features that a model has seen are none that can be seen."""
    width, names = fitted.get("n_features_in_"), fitted.get("feature_names_in_")
    if "n_features_in_" in fitted and not is_count(width):
        raise InputError(f"n_features_in_: expected an integer from 0, got {shown(width)}")
    if "feature_names_in_" in fitted and not (
        isinstance(names, np.ndarray)
        and names.dtype == object
        and names.shape == (width,)
        and all(type(name) is str for name in names)
    ):
        raise InputError(f"feature_names_in_: expected {width} names, got {shown(names)}")


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value can be a number of things that were met."""
    return type(value) is int and 0 <= value < 2**63


def check_fitted(fitted: Mapping[str, Any], width: int) -> None:
    """Raise InputError where what a machine has learned about its input is not that of its run."""
    if fitted.get("n_features_in_") != width:
        raise InputError(f"n_features_in_: expected {width} features, as the run has")
    offset = fitted.get("offset_", 0.0)
    if not (type(offset) is float and math.isfinite(offset)):
        raise InputError(f"offset_: expected a finite number, got {offset!r}")


def check_classes(classes: Any) -> None:
    """Raise InputError unless these are the labels of a classifier."""
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) >= 2):
        raise InputError(f"classes_: expected two labels or more, got {classes!r}")


def check_trivial(
    estimator: TrivialClassifier | TrivialRegressor, learned: Mapping[str, Any]
) -> None:
    """Raise InputError where a trivial model has learned what it cannot have."""
    for name in estimator._learned if learned else ():
        if name not in learned and not name.endswith("_in_"):  # `learn` looks at no features
            raise InputError(f"{name} is missing")
    if learned and isinstance(estimator, TrivialRegressor):
        total, last, asked = (learned[name] for name in ("total_", "last_", "labels_asked_"))
        numbers = type(total) is type(last) is float and math.isfinite(total + last)
        if not (numbers and is_count(asked)):
            raise InputError(f"total_, last_, labels_asked_: got {total!r}, {last!r}, {asked!r}")
    elif learned:
        classes, last, asked = (learned[name] for name in ("classes_", "last_", "labels_asked_"))
        if not isinstance(classes, np.ndarray) or classes.ndim != 1:
            raise InputError(f"classes_: expected labels, got {classes!r}")
        check_array("counts_", np.asarray(learned["counts_"]), (len(classes),), np.int64)
        if not (type(last) is int and 0 <= last < len(classes) and is_count(asked)):
            raise InputError(f"last_, labels_asked_: not those of {len(classes)} classes")
