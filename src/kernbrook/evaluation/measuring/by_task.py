"""Classification or regression: which labels and recipes go with each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook import recipes as book
from kernbrook.errors import DataFileWarning, InputError
from kernbrook.estimators.outside import online
from kernbrook.estimators.tasks import Task, task_of
from kernbrook.streams import Stream
from kernbrook.streams.files import limits
from kernbrook.streams.stream import has_label
from kernbrook.streams.tables.label_spelling import as_numbers, number_of
from kernbrook.telling import tell

CHUNK = 4096  # rows read at a time


def classes_of(stream: Stream) -> NDArray[Any]:
    """The labels of a stream, each once and sorted; one reading where the stream has to be asked.

    Raises
    ------
    InputError
        A label is a number with a fraction, or there are too many: each class has a part of the
        model for itself.
    """
    known = stream.classes()
    if known is not None:
        check_no_fraction(known)
        if stream.seem_counts:
            tell(DataFileWarning(stream.name, told_of_counts(stream)))
        return known
    found: set[Any] = set()
    for _, y in stream.chunks(CHUNK):
        check_no_fraction(y)
        found.update(np.unique(y[has_label(y)]).tolist())
        check_number(len(found), stream.label_name)
    return np.array(sorted(found))


def told_of_counts(stream: Stream) -> str:
    """That labels which are about to be classes seem to be counts."""
    classes = stream.classes()
    several = 0 if classes is None else len(classes)
    return (
        f"column {stream.label_name!r:.60}: {several:,} whole numbers are taken as classes; are "
        "they counts? --recipe kernbrook-regression (model=kb.OnlineMKRegressor()) predicts numbers"
    )


def task_of_labels(stream: Stream) -> Task:
    """Numbers where a label has a fraction, else classes; read up to the first fraction."""
    if stream.label_type is not None:  # a table knows
        return "regression" if stream.label_type.kind == "f" else "classification"
    for _, y in stream.chunks(CHUNK):
        if y.dtype.kind != "f":
            return "classification"
        if _fractions(y).any():
            return "regression"
    return "classification"


def check_number(classes: int, column: str | None) -> None:
    """InputError where there are too many classes, perhaps because the column is another one."""
    if classes > limits.MOST_CLASSES:
        where = "" if column is None else f" in the column {column!r:.60}"
        raise InputError(
            f"data: over {limits.MOST_CLASSES:,} classes{where}; is it the label? label (--label) "
            f"names another, and {fitting('regression')}"
        )


def check_no_fraction(y: NDArray[Any]) -> None:
    """InputError where a label is no name of a class, because it has a fraction."""
    fractions = _fractions(y)
    if fractions.any():
        raise InputError(
            f"data: expected labels of classes, found the number {y[fractions][0]}; "
            f"{fitting('regression')}"
        )


def check_numbers(y: NDArray[Any]) -> None:
    """InputError where labels are no numbers, nor all text of numbers."""
    try:
        as_numbers(y)
    except InputError:
        found = next(one for one in y[has_label(y)] if number_of(one) is None)
        raise InputError(
            f"data: expected numbers as labels, found {found!s:.40}; {fitting('classification')}"
        ) from None


def fitting(task: Task) -> str:
    """The recipes for a task, in words."""
    names = dict.fromkeys([OURS[task], *recipes_for(task)])
    return f"recipes for {task}: {', '.join(names)}"


# The recipe where none is named.
OURS: dict[Task, str] = {
    "classification": "kernbrook-classification",
    "regression": "kernbrook-regression",
}


def recipes_for(task: Task) -> tuple[str, ...]:
    """The names of the recipes for a task that learn from streams.

    Examples
    --------
    >>> recipes_for("classification")[-2:]
    ('majority', 'last-label')
    """
    names = (name for name in book.names() if not book.batch(name))
    return tuple(name for name in names if book.task(name) == task)


def make_online(name: str, /, **overrides: Any) -> Any:
    """The estimator of a recipe that learns from streams.

    Raises
    ------
    InputError
        It is a batch recipe, or as `recipes.make`.
    """
    if book.batch(name):
        raise InputError(
            f"{name} learns from all data at once, not from a stream; in Python: "
            f"kb.recipes.make({name!r}).fit(X, y), or run `kernbrook reproduce vkr-table-1`"
        )
    return book.make(name, **overrides)


def check_settings(estimator: Any, width: int = 1) -> None:
    """InputError where a parameter of an estimator has a wrong value, before any data are read.

    A copy of it learns no rows of `width` features.
    """
    estimator = online(estimator)
    labels: dict[str, Any] = {} if task_of(estimator) == "regression" else {"classes": [0, 1]}
    clone(estimator).learn(np.empty((0, width)), np.empty(0), **labels)


class NewModel:
    """A model of a recipe, made and checked once: before data are read, where that can be.

    Parameters
    ----------
    recipe : its name; None for ours, as the labels say which
    classes : all labels, or None; where they are given the labels are no numbers
    settings : of the recipe

    Attributes
    ----------
    recipe : None as long as the labels are to say it

    Raises
    ------
    KernbrookError
        As `make_online` and `check_settings`.
    """

    def __init__(self, recipe: str | None, classes: Any, settings: Mapping[str, Any]):
        self.recipe, self._settings, self._model = recipe, settings, None
        if recipe is not None or classes is not None:
            self._make(recipe or OURS["classification"])

    def fitting(self, task: Callable[[], Task]) -> Any:
        """The model, for labels of that task."""
        if self._model is None:
            self._make(OURS[task()])
        return self._model

    def _make(self, recipe: str) -> None:
        self.recipe, self._model = recipe, make_online(recipe, **self._settings)
        check_settings(self._model)


def _fractions(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind != "f":
        return np.zeros(len(y), dtype=bool)
    return np.asarray(np.mod(y, 1) != 0) & has_label(y)
