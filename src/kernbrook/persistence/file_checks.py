"""What a model file asks for and says, checked: a few bytes could ask for gigabytes, and compiled
code trusts what it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from kernbrook.checks import COUNTED, LARGEST, check, is_number, shown
from kernbrook.engine.pool import parts_of_pool
from kernbrook.engine.stores.linear import recipe_of
from kernbrook.errors import InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.labelled import distinct
from kernbrook.estimators.machine import OnlineMachine
from kernbrook.estimators.thresholds import checked
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
        for name, shape in getattr(learner, "sizes", lambda setting: {})(setting).items():
            held = [v.shape for k, v in reader.tensors.items() if k.endswith(f".{name}")]
            if shape not in held:
                raise InputError(f"stores: expected {name} of shape {shape}, found {held}")
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


def check_input(fitted: Mapping[str, Any]) -> None:
    """Raise InputError where what a model has seen of its input is nothing that can be seen."""
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
    if not is_count(skipped := fitted.get("n_rows_skipped_", 0)):
        raise InputError(f"n_rows_skipped_: expected an integer from 0, got {shown(skipped)}")


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value can be a number of things that were met."""
    return type(value) is int and 0 <= value <= COUNTED


def check_parameters(estimator: Any) -> None:
    """Raise InputError where a model that has learned cannot go on with its parameters."""
    check(estimator)
    if isinstance(estimator, OnlineMKClassifier) and "classes_" in vars(estimator):
        checked(estimator.threshold, len(estimator.classes_))


def check_fitted(fitted: Mapping[str, Any], width: int) -> None:
    """Raise InputError where what a machine has learned about its input is not that of its run."""
    if fitted.get("n_features_in_") != width:
        raise InputError(f"n_features_in_: expected {width} features, as the run has")
    offset = fitted.get("offset_", 0.0)
    if not (type(offset) is float and abs(offset) < LARGEST):
        raise InputError(f"offset_: expected a number of size below 1e100, got {shown(offset)}")


def check_classes(classes: Any, least: int = 2) -> None:
    """Raise InputError unless these are the labels of a classifier, as learning finds them."""
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) >= least):
        wanted = "two labels or more" if least == 2 else "labels"
        raise InputError(f"classes_: expected {wanted}, got {shown(classes)}")
    labels, problem = classes.tolist(), "expected labels of one kind, each once and sorted"
    for label in labels:
        if not (isinstance(label, str) or (is_number(label) and abs(label) < math.inf)):
            raise InputError(f"classes_: expected numbers or text, got {shown(label)}")
    try:
        found = distinct(classes, "classes_")
        if found.dtype != classes.dtype or found.tolist() != labels:
            raise InputError(f"got {shown(labels)}")
        if not all(isinstance(label, int) for label in classes):  # which no type of NumPy holds
            check_classification_targets(np.repeat(classes, 3))
    except ValueError as error:
        raise InputError(f"classes_: {problem}: {error}") from None


def check_trivial(
    estimator: TrivialClassifier | TrivialRegressor, learned: Mapping[str, Any]
) -> None:
    """Raise InputError where a trivial model has learned what it cannot have."""
    if not learned:
        return
    for name in estimator._learned:
        if name not in learned and not name.endswith("_in_"):  # `learn` looks at no features
            raise InputError(f"{name} is missing")
    last, asked = learned["last_"], learned["labels_asked_"]
    if not is_count(asked):
        raise InputError(f"labels_asked_: expected an integer from 0, got {shown(asked)}")
    if isinstance(estimator, TrivialRegressor):
        total, first, squares = (learned[name] for name in ("total_", "first_", "squares_"))
        numbers = type(total) is type(last) is float and abs(last) < LARGEST
        if not (numbers and abs(total) <= asked * LARGEST):
            raise InputError(
                f"total_, last_: expected a sum of {asked} labels and the last of them, got "
                f"{shown(total)} and {shown(last)}"
            )
        if not (type(first) is type(squares) is float and abs(first) < LARGEST and squares >= 0):
            raise InputError(
                "first_, squares_: expected the first label and a sum of squares, got "
                f"{shown(first)} and {shown(squares)}"
            )
        return
    classes, counts = learned["classes_"], learned["counts_"]
    check_classes(classes, 1)
    check_array("counts_", counts, (len(classes),), np.int64)
    if counts.min() < 0 or sum(counts.tolist()) != asked:
        raise InputError(f"counts_: expected numbers from 0, {asked} together")
    if not (type(last) is int and 0 <= last < len(classes)):
        raise InputError(f"last_: expected the number of one of {len(classes)} classes")
