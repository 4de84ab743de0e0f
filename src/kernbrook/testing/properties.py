"""What a model must be able to do, whatever it is made of."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.compiler.compiling import bounds_checked, is_theirs
from kernbrook.errors import InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.kernels import Gaussian
from kernbrook.persistence.saving import load, save

Floats = NDArray[np.float64]

ROWS = 140  # more than one block of slots
BAD = (math.nan, -1.0, "3")  # for a parameter that is a number


class Task(NamedTuple):
    """Rows, (n, d), and labels, (n,): numbers, or classes from 0."""

    name: str
    X: Floats
    y: NDArray[Any]
    classes: int | None


def tasks() -> Iterator[Task]:
    """Two classes, three classes, numbers; some rows come again, some features are 0."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(ROWS, 3))
    X[generator.random(X.shape) < 0.3] = 0.0
    X[100:110] = X[:10]
    noise = 0.3 * generator.normal(size=ROWS)
    yield Task("two classes", X, (X[:, 0] + X[:, 1] * X[:, 2] + noise > 0).astype(int), 2)
    yield Task("three classes", X, (X + noise[:, None] * [1, 0, -1]).argmax(axis=1), 3)
    yield Task("numbers", X, np.sin(X[:, 0]) + X[:, 1] + noise, None)


def model_of(task: Task, **choices: Any) -> Any:
    """An unfitted model with some choices, for a task; of two Gaussians where they name none."""
    kernels = [Gaussian(sigma=1), Gaussian(sigma=3)]
    given = {"kernels": kernels, "random_state": 0, "scaling": None, **choices}
    if task.classes is None:
        return OnlineMKRegressor(center=False, **given)
    return OnlineMKClassifier(**given)


def expect(condition: Any, owner: Any, message: str) -> None:
    """Raise AssertionError, with what the message says of the owner, unless the condition holds."""
    if not condition:
        raise AssertionError(f"{owner!r}: {message}")


def name_of(owner: Any) -> str:
    """The import path of an object's class."""
    return f"{type(owner).__module__}.{type(owner).__qualname__}"


# -- the object ------------------------------------------------------------------------------------


def check_object(owner: Any, task: Task, make: Callable[[Task, Any], Any]) -> None:
    """It clones, prints without an address, and bad numbers are refused: by `make`, or `learn`."""
    expect(" at 0x" not in repr(owner), owner, "prints as an address; define __repr__")
    parameters = owner.get_params(deep=False)
    expect(repr(clone(owner)) == repr(owner), owner, "its clone is not equal to it")
    for name, value in parameters.items():
        if isinstance(value, (bool, str)) or not isinstance(value, (int, float)):
            continue
        for bad in BAD:
            try:
                make(task, clone(owner).set_params(**{name: bad})).learn(task.X, task.y)
            except InputError:
                continue
            except Exception as error:
                raise AssertionError(
                    f"{owner!r}: with {name}={bad!r} it raised {error!r}, expected InputError"
                ) from error
            raise AssertionError(f"{owner!r}: takes {name}={bad!r}; refuse it with InputError")


# -- models with it --------------------------------------------------------------------------------


class Subject(NamedTuple):
    """Models of a task, each as `make` makes it, whose properties are those of the owner."""

    owner: Any
    task: Task
    make: Callable[[], Any]

    def expect(self, condition: Any, message: str) -> None:
        expect(condition, self.owner, f"{self.task.name}: {message}")

    def expect_same(self, found: dict[str, bytes], wanted: dict[str, bytes], message: str) -> None:
        """Expect that the same was learned; the names of what differs follow the message."""
        names = found.keys() | wanted.keys()
        unlike = ", ".join(name for name in names if found.get(name) != wanted.get(name))
        self.expect(not unlike, f"{message} {unlike}")

    def learned(self, X: Any, size: int = ROWS, model: Any = None) -> tuple[Any, Floats, Floats]:
        """A model that has learned from all rows in chunks: (model, predictions, asked)."""
        model = self.make() if model is None else model
        told = [self.learn(model, X, slice(a, a + size)) for a in range(0, ROWS, size)]
        said, asked = (np.concatenate(column) for column in zip(*told, strict=True))
        return model, said, asked

    def learn(self, model: Any, X: Any, rows: slice, y: Any = None, **more: Any) -> Any:
        """`learn` some rows."""
        if self.task.classes is not None:
            more["classes"] = np.arange(self.task.classes)
        return model.learn(X[rows], self.task.y[rows] if y is None else y, **more)


def check_model(subject: Subject) -> None:
    """The properties that a model has, whatever it is made of."""
    _check_bounds(subject)
    _check_chunks(subject)
    _check_labels(subject)
    _check_interruptions(subject)
    _check_file(subject)
    X = 1e3 * subject.task.X
    model, said, _ = subject.learned(X)
    subject.expect(np.isfinite(said).all(), "features of size 1e3 give NaN or infinity")
    subject.expect(
        np.isfinite(model.expert_weights_).all() and np.isfinite(_decisions(model, X)).all(),
        "features of size 1e3 give NaN or infinity",
    )


def _decisions(model: Any, X: Any) -> Floats:
    decide = getattr(model, "decision_function", model.predict)
    return np.asarray(decide(X), dtype=np.float64)


def what_is_learned(model: Any, X: Any) -> dict[str, bytes]:
    """All that was learned, as bytes, but for how many rounds and labels there were."""
    held = {
        "decisions": _decisions(model, X),
        "weights": model.expert_weights_,
        "number of support vectors": np.array([model.n_support_stored_]),
    }
    calibration = model._model.calibration.arrays()
    held.update({f"calibration {name}": array for name, array in calibration.items()})
    with suppress(AttributeError):  # on features
        held.update({"support vectors": model.support_vectors_, "coefficients": model.dual_coef_})
    return {name: np.asarray(array).tobytes() for name, array in held.items()}


def _check_bounds(subject: Subject) -> None:
    """Its verbs, where they are none of kernbrook's, use no index outside of an array.

    First of all: such an index may end the process.
    """
    if not is_theirs(type(subject.owner)):
        return
    with bounds_checked():
        try:
            subject.learned(subject.task.X)
        except InputError as error:  # what a verb gives cannot be gone on with
            subject.expect(False, str(error))
        except RuntimeError as error:
            subject.expect(not isinstance(error.__cause__, IndexError), str(error))
            raise


def _check_chunks(subject: Subject) -> None:
    X = subject.task.X
    whole, said, asked = subject.learned(X)
    wanted = what_is_learned(whole, X)
    ways = [(X, 7, "chunks of 7 rows"), (X, 1, "chunks of one row")]
    if getattr(subject.owner, "store", None) != "outside":  # trees of scikit-learn differ there
        ways.append((sp.csr_matrix(X), 60, "CSR rows"))
    for rows, size, how in ways:
        model, others, wanted_labels = subject.learned(rows, size)
        subject.expect(np.array_equal(others, said), f"{how} give other predictions")
        subject.expect(np.array_equal(wanted_labels, asked), f"{how} ask for other labels")
        subject.expect_same(what_is_learned(model, rows), wanted, f"{how} lead to other")


def _check_labels(subject: Subject) -> None:
    """Predictions and missing labels change nothing, nor what labels of weight 0 say."""
    X, y = subject.task.X, subject.task.y
    model, _, _ = subject.learned(X)
    before, rounds = what_is_learned(model, X), model.n_rounds_
    model.should_ask(X)
    subject.expect_same(what_is_learned(model, X), before, "predicting has changed the")
    _, asked = model.learn(X[:9], None)
    subject.expect(not asked.any(), "labels that are not there have been looked at")
    told = "rows without labels have changed the"
    subject.expect_same(what_is_learned(model, X), before, told)
    subject.expect(model.n_rounds_ == rounds + 9, "rows without labels have not been counted")
    rows, other = slice(0, 30), y[:30] + 1
    if subject.task.classes is not None:
        other = other % subject.task.classes
    weightless = []
    for labels in (y[:30], other):
        one, _, _ = subject.learned(X)
        subject.learn(one, X, rows, labels, sample_weight=np.zeros(30))
        weightless.append(what_is_learned(one, X))
    subject.expect_same(weightless[0], weightless[1], "labels of weight 0 have changed the")


class _Interruption(Exception):
    """Raised in the middle of learning."""


def _check_interruptions(subject: Subject) -> None:
    X = subject.task.X
    usual, model = subject.make(), subject.make()
    for one in (usual, model):
        subject.learn(one, X, slice(0, 60))

    def fail(*_: Any) -> None:
        raise _Interruption

    model._model.take = fail  # called when a block is learned, but not yet part of the model
    try:
        subject.learn(model, X, slice(60, 100))
    except _Interruption:
        del model._model.take
    _check_both(subject, usual, model, "an exception in the middle of a block has changed the")


def _check_file(subject: Subject) -> None:
    X = subject.task.X
    model = subject.make()
    subject.learn(model, X, slice(0, 60))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        try:
            save(model, path)
        except InputError:  # something that no file can hold
            return
        loaded = load(path, allow=[name_of(subject.owner)])
    _check_both(subject, model, loaded, "loaded from a file, it has other")


def _check_both(subject: Subject, usual: Any, other: Any, message: str) -> None:
    """Two models know the same, and go on alike."""
    X = subject.task.X
    subject.expect_same(what_is_learned(other, X), what_is_learned(usual, X), message)
    said = [subject.learn(one, X, slice(60, ROWS))[0] for one in (usual, other)]
    subject.expect(np.array_equal(*said), f"then it predicts otherwise: {message} predictions")
    told = f"then it learns otherwise: {message}"
    subject.expect_same(what_is_learned(other, X), what_is_learned(usual, X), told)
