"""What every learner, combiner, selection, label policy and map of features must be able to do."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.combiners import AdaRaker, GroupNorm, Hedge
from kernbrook.engine.compose import loss_of
from kernbrook.engine.needs import needs
from kernbrook.errors import InputError
from kernbrook.features import RandomFeatures
from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.kernels import Gaussian, Kernel
from kernbrook.labels import RandomLabels
from kernbrook.learners import GradientDescent, Perceptron, Ridge
from kernbrook.testing.properties import (
    Subject,
    Task,
    check_model,
    check_object,
    expect,
    model_of,
    tasks,
    what_is_learned,
)

Floats = NDArray[np.float64]

DRAWS = 60  # maps, over which inner products are averaged


# -- learners --------------------------------------------------------------------------------------


def check_learner(learner: Any) -> None:
    """Check a learner in models of two Gaussians: two classes, three, numbers, as it says.

    With every label and with some of them drawn:

    - Chunks of 1, 7 and all rows give the same predictions, labels asked for, support vectors and
      weights, to the last bit; so do dense and CSR rows, but for models of other libraries.
    - Predictions, rows without labels and rows of weight 0 change nothing.
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
    own = [task for task in tasks() if (numbers if task.classes is None else classes)]
    check_object(learner, own[0], _with_learner)
    for task in own:
        refused = _refusal(task, learner)
        if refused:
            told = f"it says that it is for {task.name}, but is not: {refused}"
            expect(task.classes == 3, learner, told)
            continue
        for labels in ("all", RandomLabels(0.5)):
            subject = Subject(learner, task, partial(_with_learner, task, learner, labels))
            check_model(subject)
            _check_weightless(subject)
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


def _check_weightless(subject: Subject) -> None:
    X = subject.task.X
    model, _, _ = subject.learned(X)
    before = what_is_learned(model, X)
    subject.learn(model, X, slice(0, 30), sample_weight=np.zeros(30))
    same = what_is_learned(model, X) == before
    subject.expect(same, "rows of weight 0 have changed what was learned")


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
    own = [task for task in tasks() if _is_for(combiner, task)]
    expect(own, combiner, "it is neither for classes nor for numbers")
    check_object(combiner, own[0], _with_combiner)
    for task in own:
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
    own = [task for task in tasks() if task.classes or "classes" not in needs(policy)]
    check_object(policy, own[0], _with_policy)
    for task in own:
        subject = Subject(policy, task, partial(_with_policy, task, policy))
        check_model(subject)
        _check_asking(subject)


def _with_policy(task: Task, policy: Any) -> Any:
    on_features = "variances" in needs(policy) or task.classes is None
    learner: Any = Ridge(features=RandomFeatures(5)) if on_features else Perceptron()
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
    own = list(tasks())
    check_object(recipe, own[0], partial(_with_features, kernel=kernel))
    _check_maps(recipe, kernel, own[0].X)
    _check_products(recipe, kernel, own[0].X[:6])
    for task in own:
        check_model(Subject(recipe, task, partial(_with_features, task, recipe, kernel)))


def _with_features(task: Task, recipe: Any, kernel: Kernel) -> Any:
    return model_of(task, kernels=[kernel], learner=Ridge(features=recipe))


def _check_maps(recipe: Any, kernel: Kernel, X: Floats) -> None:
    one, again = (draw(kernel, recipe, X.shape[1], 0) for _ in "ab")
    arrays, shapes = one.arrays(), recipe.shapes(kernel, X.shape[1])
    expect(arrays.keys() == shapes.keys(), recipe, "`shapes` names other arrays than `draw` gives")
    for name, (shape, kind) in shapes.items():
        found = arrays[name].shape, arrays[name].dtype
        expect(found == (shape, np.dtype(kind)), recipe, f"{name}: `shapes` says another shape")
        same = np.array_equal(arrays[name], again.arrays()[name])
        expect(same, recipe, f"{name}: equal generators give other numbers")
    recipe.check(arrays)
    dense = one.transform(DenseRows.of(X))
    sparse = one.transform(SparseRows.of(sp.csr_matrix(X)))
    expect(dense.shape == (len(X), one.dim), recipe, "`dim` is not the number of features")
    expect(np.array_equal(dense, sparse), recipe, "rows in CSR have other features")
    for size in (1, 7):
        parts = [one.transform(DenseRows.of(X[a : a + size])) for a in range(0, len(X), size)]
        told = f"rows {size} at a time have other features"
        expect(np.array_equal(np.concatenate(parts), dense), recipe, told)
    large = one.transform(DenseRows.of(1e3 * X))
    expect(np.isfinite(large).all(), recipe, "features of rows of size 1e3 are not finite")


def _check_products(recipe: Any, kernel: Kernel, X: Floats) -> None:
    values, rows = kernel(X, X), DenseRows.of(X)
    maps = (draw(kernel, recipe, X.shape[1], seed) for seed in range(DRAWS))
    found = np.array([features @ features.T for features in (one.transform(rows) for one in maps)])
    chance = 5 * found.std(axis=0) / np.sqrt(DRAWS)
    far = np.abs(found.mean(axis=0) - values) > chance + 0.05 * np.abs(values).max()
    expect(not far.any(), recipe, f"inner products are not those of {kernel}, on average")
