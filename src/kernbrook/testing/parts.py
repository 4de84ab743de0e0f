"""What every learner, combiner, selection, label policy and map of features must be able to do."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.combiners import AdaRaker, GroupNorm, Hedge
from kernbrook.compiler.compiling import bounds_checked, is_theirs
from kernbrook.compiler.links import new_links
from kernbrook.engine.compose import loss_of
from kernbrook.engine.needs import needs
from kernbrook.engine.stores.linear import write_all
from kernbrook.errors import InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import RandomFeatures
from kernbrook.features.base import TILE, write_rows
from kernbrook.features.pools import PoolMap, draw
from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.kernels import Gaussian, Kernel
from kernbrook.labels import RandomLabels
from kernbrook.learners import GradientDescent, Perceptron, Ridge
from kernbrook.persistence.saving import load, save

Floats = NDArray[np.float64]

DRAWS = 60  # maps, over which inner products are averaged
ROWS = 140  # more than one block of slots
LARGE = 1e3  # features
WIDE = 30  # features, of which a sum by BLAS depends on how many rows there are
MOST_VALUE = 1e14  # of a kernel on such
BAD = (math.nan, -1.0, "3")  # for a parameter that is a number


# -- learners --------------------------------------------------------------------------------------


def check_learner(learner: Any) -> None:
    """Check a learner in models of two Gaussians: two classes, three, numbers, as it says.

    With every label and with some of them drawn:

    - Chunks of 1, 7 and all rows give the same predictions, labels asked for, support vectors and
      weights, to the last bit; so do dense and CSR rows, but for models of other libraries.
    - Predictions, rows without labels and rows of weight 0 change nothing: predictions no number
      that an expert holds.
    - After an exception in the middle of a block a model goes on as if nothing had happened.
    - A model goes on from a file as it would have without, where a file can hold the learner.
    - Predictions are finite on features of size 1e3.
    - The learner's budget, where it has one, is never exceeded.
    - Compiled with NUMBA_BOUNDSCHECK=1, its verbs use no index outside of an array.

    And of the learner itself: its clone is equal to it, it prints without an address, and for each
    parameter that is a number it refuses NaN, -1 and a text with InputError.

    Parameters
    ----------
    learner : the learner; `of_numbers`, `of_classes` and `only_classes` say what it is for. Three
        classes it may refuse with InputError. An `External` passes with a model that predicts a
        row to the last bit like among others, as trees do and most linear models do not.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_learner(kb.RBP(20))
    """
    expect(getattr(learner, "choice", None) == "learner", learner, 'choice = "learner" is missing')
    numbers = getattr(learner, "of_numbers", False) and not getattr(learner, "only_classes", False)
    classes = getattr(learner, "of_classes", True)
    expect(numbers or classes, learner, "it is neither for classes nor for numbers")
    fitting = [task for task in tasks() if (numbers if task.classes is None else classes)]
    check_object(learner, fitting[0], _with_learner)
    for task in fitting:
        refused = _refusal(task, learner)
        if refused:
            message = f"it says that it is for {task.name}, but is not: {refused}"
            expect(task.classes == 3, learner, message)
            continue
        for labels in ("all", RandomLabels(0.5)):
            subject = Subject(learner, task, partial(_with_learner, task, learner, labels))
            check_model(subject)
        _check_budget(subject)


def _with_learner(task: Task, learner: Any, labels: Any = "all") -> Any:
    combiner = Hedge(loss="squared" if task.classes is None else "mistakes")
    return model_of(task, learner=learner, combiner=combiner, labels=labels)


def _refusal(task: Task, learner: Any) -> str:
    """What a model says that cannot learn with it; "" of one that can."""
    model = _with_learner(task, learner)
    more = {} if task.classes is None else {"classes": np.arange(task.classes)}
    try:
        model.learn(task.X[:1], task.y[:1], **more)
    except InputError as error:
        return str(error)
    return ""


def _check_budget(subject: Subject) -> None:
    budget = getattr(subject.owner, "budget", None)
    if budget is None:
        return
    model = subject.make()
    for start in range(0, len(subject.task.y), 10):
        subject.learn(model, subject.task.X, slice(start, start + 10))
        most = int(model._model.counts.max())
        subject.expect(most <= budget, f"an expert holds {most} support vectors, over its budget")


# -- combiners and selections ----------------------------------------------------------------------


def check_combiner(combiner: Any) -> None:
    """Check a combiner, or a selection, in models of two Gaussians: classes, numbers, as it says.

    With every label and with some of them drawn, they have the properties that `check_learner`
    lists, and weights of experts are from 0, and sum to 1.

    Parameters
    ----------
    combiner : the combiner, or the selection

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_combiner(kb.Hedge(0.9, "hinge"))
    """
    choice = getattr(combiner, "choice", None)
    known = choice in ("combiner", "selection")
    expect(known, combiner, 'choice = "combiner", or "selection", is missing')
    fitting = [task for task in tasks() if _is_for(combiner, task)]
    expect(fitting, combiner, "it is neither for classes nor for numbers")
    check_object(combiner, fitting[0], _with_combiner)
    for task in fitting:
        for labels in ("all", RandomLabels(0.5)):
            subject = Subject(combiner, task, partial(_with_combiner, task, combiner, labels))
            check_model(subject)
        model, _, _ = subject.learned(task.X)
        weights = model.expert_weights_
        sound = (weights >= 0).all() and abs(weights.sum() - 1) < 1e-9
        subject.expect(sound, f"weights from 0 that sum to 1 expected, got {weights}")


def _is_for(combiner: Any, task: Task) -> bool:
    numbers = task.classes is None
    if combiner.choice == "selection":
        return True
    try:
        loss_of(combiner, numbers)
    except InputError:
        return False
    return not (numbers and isinstance(combiner, GroupNorm))


def _with_combiner(task: Task, combiner: Any, labels: Any = "all") -> Any:
    learner: Any = Perceptron() if task.classes else GradientDescent(0.2, features=None)
    if combiner.choice == "selection":
        weighing = Hedge(loss="mistakes" if task.classes else "squared")
        return model_of(task, learner=learner, combiner=weighing, selection=combiner, labels=labels)
    if isinstance(combiner, GroupNorm):
        learner = None
    if isinstance(combiner, AdaRaker):
        levels = combiner.levels if np.ndim(combiner.levels) == 0 else 1
        steps = range(levels) if isinstance(levels, int) and levels > 0 else range(1)
        learner = [GradientDescent(0.1, features=RandomFeatures(5)) for _ in steps]
    return model_of(task, learner=learner, combiner=combiner, labels=labels)


# -- label policies --------------------------------------------------------------------------------


def check_policy(policy: Any) -> None:
    """Check a label policy in models of two Gaussians: two classes, three, and numbers.

    They have the properties that `check_learner` lists. The first label is asked for; `should_ask`
    says what the next round does; labels that `partial_fit` is given are all learned from.

    Parameters
    ----------
    policy : the policy; not for numbers where it needs classes

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_policy(kb.RandomLabels(0.3))
    """
    expect(getattr(policy, "choice", None) == "labels", policy, 'choice = "labels" is missing')
    fitting = [task for task in tasks() if task.classes or "classes" not in needs(policy)]
    check_object(policy, fitting[0], _with_policy)
    for task in fitting:
        subject = Subject(policy, task, partial(_with_policy, task, policy))
        check_model(subject)
        _check_asking(subject)


def _with_policy(task: Task, policy: Any) -> Any:
    learner: Any = Perceptron() if task.classes else Ridge(features=RandomFeatures(5))
    return model_of(task, learner=learner, labels=policy)


def _check_asking(subject: Subject) -> None:
    X, y = subject.task.X, subject.task.y
    model = subject.make()
    _, asked = subject.learn(model, X, slice(0, 1))
    subject.expect(asked[0], "the first label is not asked for")
    for t in range(1, 40):
        wanted = model.should_ask(X[t : t + 1])[0]
        _, asked = subject.learn(model, X, slice(t, t + 1))
        subject.expect(asked[0] == wanted, "`should_ask` does not say what the round does")
    given = subject.make().partial_fit(X, y)
    subject.expect(
        given.labels_asked_ == len(y), "labels that are given have not all been learned from"
    )


# -- maps of features ------------------------------------------------------------------------------


def check_features(recipe: Any, kernel: Kernel | None = None) -> None:
    """Check a recipe of features for one kernel.

    - Its arrays have the shapes and types that `shapes` says, pass `check`, and are drawn from the
      generator alone.
    - A row's features do not depend on the rows beside it, nor on whether rows are dense or CSR, to
      the last bit; they are finite on rows of size 1e3.
    - Inner products of features are the kernel's values, up to chance and a twentieth of the
      greatest, on average over many maps.
    - Models of `Ridge` on them, of two classes, three and numbers, have the properties that
      `check_learner` lists: chunks, files, interruptions.
    - Its clone is equal to it, it prints without an address, and for each parameter that is a
      number it refuses NaN, -1 and a text with InputError.

    Parameters
    ----------
    recipe : such as `RandomFeatures()`
    kernel : None: a Gaussian

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_features(kb.RandomFeatures(20))
    """
    kernel = Gaussian(sigma=1.0) if kernel is None else kernel
    expect(getattr(recipe, "choice", None) == "features", recipe, 'choice = "features" is missing')
    fitting = list(tasks())
    check_object(recipe, fitting[0], partial(_with_features, kernel=kernel))
    _check_maps(recipe, kernel, fitting[0].X)
    with suppress(InputError):  # where a map is for rows of one width
        _check_maps(recipe, kernel, np.random.default_rng(1).normal(size=(TILE, WIDE)))
    _check_products(recipe, kernel, fitting[0].X[:6])
    size = LARGE
    while np.abs(kernel(size * fitting[0].X, size * fitting[0].X)).max() > MOST_VALUE:
        size /= 10
    for task in fitting:
        check_model(Subject(recipe, task, partial(_with_features, task, recipe, kernel)), size)


def _with_features(task: Task, recipe: Any, kernel: Kernel) -> Any:
    return model_of(task, kernels=[kernel], learner=Ridge(features=recipe))


def _check_maps(recipe: Any, kernel: Kernel, X: Floats) -> None:
    first, again = (draw(kernel, recipe, X.shape[1], 0) for _ in "ab")
    arrays, shapes = first.arrays(), recipe.shapes(kernel, X.shape[1])
    expect(arrays.keys() == shapes.keys(), recipe, "`shapes` names other arrays than `draw` gives")
    for name, (shape, kind) in shapes.items():
        found = arrays[name].shape, arrays[name].dtype
        expect(found == (shape, np.dtype(kind)), recipe, f"{name}: `shapes` says another shape")
        same = np.array_equal(arrays[name], again.arrays()[name])
        expect(same, recipe, f"{name}: equal generators give other numbers")
    recipe.check(arrays)
    dense = first.transform(DenseRows.of(X))
    sparse = first.transform(SparseRows.of(sp.csr_matrix(X)))
    expect(dense.shape == (len(X), first.dim), recipe, "`dim` is not the number of features")
    expect(np.array_equal(dense, sparse), recipe, "rows in CSR have other features")
    for size in (1, 7):
        parts = [first.transform(DenseRows.of(X[a : a + size])) for a in range(0, len(X), size)]
        message = f"rows {size} at a time have other features"
        expect(np.array_equal(np.concatenate(parts), dense), recipe, message)
    large = first.transform(DenseRows.of(1e3 * X))
    expect(np.isfinite(large).all(), recipe, "features of rows of size 1e3 are not finite")
    pool, few = PoolMap([first]), X[:TILE]
    rules, out = pool.rules(len(few)), np.full(len(few) * first.dim, np.nan)
    if None not in rules:
        write_all(new_links(write_rows, rules), few, out)
        same = np.array_equal(out, dense[: len(few)].ravel())
        expect(same, recipe, "`write_rows` writes other features than `fill`")


def _check_products(recipe: Any, kernel: Kernel, X: Floats) -> None:
    values, rows = kernel(X, X), DenseRows.of(X)
    maps = (draw(kernel, recipe, X.shape[1], seed) for seed in range(DRAWS))
    found = np.array([Z @ Z.T for Z in (drawn.transform(rows) for drawn in maps)])
    chance = 5 * found.std(axis=0) / np.sqrt(DRAWS)
    far = np.abs(found.mean(axis=0) - values) > chance + 0.05 * np.abs(values).max()
    expect(not far.any(), recipe, f"inner products are not those of {kernel}, on average")


# -- tasks, and models of them ---------------------------------------------------------------------


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
    _check_bounds(Subject(owner, task, partial(make, task, owner)))  # before anything else learns
    expect(" at 0x" not in repr(owner), owner, "prints as an address; define __repr__")
    parameters = owner.get_params(deep=False)
    expect(repr(clone(owner)) == repr(owner), owner, "its clone is not equal to it")
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
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

    def learned(self, X: Any, size: int = ROWS) -> tuple[Any, Floats, Floats]:
        """A model that has learned from all rows in chunks: (model, predictions, asked)."""
        model = self.make()
        chunks = [self.learn(model, X, slice(a, a + size)) for a in range(0, ROWS, size)]
        predictions, asked = (np.concatenate(column) for column in zip(*chunks, strict=True))
        return model, predictions, asked

    def learn(self, model: Any, X: Any, rows: slice, y: Any = None, **more: Any) -> Any:
        if self.task.classes is not None:
            more["classes"] = np.arange(self.task.classes)
        return model.learn(X[rows], self.task.y[rows] if y is None else y, **more)


def check_model(subject: Subject, size: float = LARGE) -> None:
    """The properties that a model has, whatever it is made of; size : of large features."""
    _check_bounds(subject)
    _check_chunks(subject)
    _check_labels(subject)
    _check_interruptions(subject)
    _check_file(subject)
    X = size * subject.task.X
    model, predictions, _ = subject.learned(X)
    found = predictions, model.expert_weights_, _decisions(model, X)
    message = f"features of size {size:g} give NaN or infinity"
    subject.expect(all(np.isfinite(array).all() for array in found), message)


def _decisions(model: Any, X: Any) -> Floats:
    decide = getattr(model, "decision_function", model.predict)
    return np.asarray(decide(X), dtype=np.float64)


def learned_state(model: Any, X: Any) -> dict[str, bytes]:
    """All that was learned, as bytes, but for how many rounds and labels there were."""
    held = {
        "decisions": _decisions(model, X),
        "weights": model.expert_weights_,
        "number of support vectors": np.array([model.n_support_stored_]),
    }
    calibration = model._model.certain().arrays()
    held.update({f"calibration {name}": array for name, array in calibration.items()})
    with suppress(AttributeError):  # on features
        held.update({"support vectors": model.support_vectors_, "coefficients": model.dual_coef_})
    return {name: np.asarray(array).tobytes() for name, array in held.items()}


def _held(model: Any) -> dict[str, bytes]:
    """The arrays of its experts, as bytes; of those that no file can hold, none."""
    inner, found = model._model, {}
    for i, (store, state) in enumerate(zip(inner.stores, inner.states, strict=True)):
        with suppress(InputError):
            arrays = store.arrays(state).items()
            found.update({f"{name} of store {i}": array.tobytes() for name, array in arrays})
    return found


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
    whole, predictions, asked = subject.learned(X)
    wanted = learned_state(whole, X)
    ways = [(X, 7, "chunks of 7 rows"), (X, 1, "chunks of one row")]
    if getattr(subject.owner, "store", None) != "outside":  # trees of scikit-learn differ there
        ways.append((sp.csr_matrix(X), 60, "CSR rows"))
    for rows, size, how in ways:
        model, others, wanted_labels = subject.learned(rows, size)
        subject.expect(np.array_equal(others, predictions), f"{how} give other predictions")
        subject.expect(np.array_equal(wanted_labels, asked), f"{how} ask for other labels")
        subject.expect_same(learned_state(model, rows), wanted, f"{how} lead to other")


def _check_labels(subject: Subject) -> None:
    """Predictions and missing labels change nothing, nor what labels of weight 0 say.

    Nor do rows of weight 0 change what a learner has learned.
    """
    X, y = subject.task.X, subject.task.y
    model, _, _ = subject.learned(X)
    before, rounds = learned_state(model, X), model.n_rounds_
    held = _held(model)
    model.should_ask(X)
    subject.expect_same(learned_state(model, X), before, "predicting has changed the")
    subject.expect_same(_held(model), held, "predicting has changed the held")
    _, asked = model.learn(X[:9], None)
    subject.expect(not asked.any(), "labels that are not there have been looked at")
    message = "rows without labels have changed the"
    subject.expect_same(learned_state(model, X), before, message)
    subject.expect(model.n_rounds_ == rounds + 9, "rows without labels have not been counted")
    other = y[:30] + 1
    if subject.task.classes is not None:
        other = other % subject.task.classes
    weightless = []
    for labels in (y[:30], other):
        fresh, _, _ = subject.learned(X)
        subject.learn(fresh, X, slice(0, 30), labels, sample_weight=np.zeros(30))
        weightless.append(learned_state(fresh, X))
    subject.expect_same(weightless[0], weightless[1], "labels of weight 0 have changed the")
    if subject.owner.choice == "learner":
        subject.expect_same(weightless[0], before, "rows of weight 0 have changed the")


class _Interruption(Exception):
    """Raised in the middle of learning."""


def _check_interruptions(subject: Subject) -> None:
    X = subject.task.X
    usual, model = subject.make(), subject.make()
    for machine in (usual, model):
        subject.learn(machine, X, slice(0, 60))

    def fail(*_: Any, **__: Any) -> None:
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
    X = subject.task.X
    subject.expect_same(learned_state(other, X), learned_state(usual, X), message)
    predictions = [subject.learn(machine, X, slice(60, ROWS))[0] for machine in (usual, other)]
    same = np.array_equal(*predictions)
    subject.expect(same, f"then it predicts otherwise: {message} predictions")
    message = f"then it learns otherwise: {message}"
    subject.expect_same(learned_state(other, X), learned_state(usual, X), message)
