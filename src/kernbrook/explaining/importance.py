"""How much each column matters: what a model errs more once the column's values are exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernbrook.checks import OneOf, Seed, Whole, check_values, or_none
from kernbrook.errors import InputError
from kernbrook.estimators.labels import (
    as_labels,
    as_numbers,
    class_numbers,
    named,
    present,
    without,
)
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.measures import SMALLEST_CHANCE
from kernbrook.explaining.asked import Asked, Floats, Name, Places, asked_of, batch
from kernbrook.explaining.latest import is_data, latest_of, opened
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.tables.encoded_columns import stacked

OF_CLASSES, OF_NUMBERS = ("log_loss", "error"), ("rmse", "mae")
NO_LABELS = "there are no labels, with which importance compares what the model says"
LEAST_IN_BLOCK = 2  # rows: of one there is nothing to exchange
BLOCKS, FEW = 10, 20  # where no number is said: so many, of so many rows each at least


@dataclass(frozen=True, repr=False)
class Importance:
    """How much each column matters to a model, the greatest first.

    Attributes
    ----------
    columns : (c,) names of the source columns, or their numbers
    mean, std : (c,) by how much the measure is greater where the values of the column are
        exchanged: mean over the repeats, and standard deviation with ddof = 1
    values : (c, repeats) of each repeat
    measure : "log_loss" or "error" of classes, "rmse" or "mae" of numbers
    base : the measure with all columns as they are
    rows : drawn in each repeat
    n_rows : from which they were drawn: those with a label that the model knows
    left_out : rows without such a label
    blocks : in which values were exchanged
    """

    parameter_ranges: ClassVar = {
        "measure": or_none(OneOf((*OF_CLASSES, *OF_NUMBERS))),
        "rows": or_none(Whole(LEAST_IN_BLOCK)),
        "repeats": Whole(2),
        "blocks": or_none(Whole()),
        "random_state": Seed(),
    }

    columns: tuple[Name, ...]
    mean: Floats
    std: Floats
    values: Floats
    measure: str
    base: float
    rows: int
    n_rows: int
    left_out: int
    blocks: int

    def __repr__(self) -> str:
        first = zip(self.columns[:3], self.mean, self.std, strict=False)
        shown = ", ".join(f"{name} {mean:.3g} ± {std:.2g}" for name, mean, std in first)
        more = ", ..." if len(self.columns) > 3 else ""
        return f"<Importance by {self.measure}: {shown}{more}>"


class Task(NamedTuple):
    """What is measured.

    answer : of the model, for rows
    lost : what each row loses, of answers and labels
    whole : what the mean of these becomes
    """

    answer: Callable[[Any], NDArray[Any]]
    lost: Callable[[NDArray[Any], NDArray[Any]], Floats]
    whole: Callable[[Floats], Floats] = np.asarray


def importance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    measure: str | None = None,
    rows: int | None = 500,
    repeats: int = 5,
    blocks: int | None = None,
    ignore_extra: bool = False,
    random_state: Any = 0,
) -> Importance:
    """How much each column matters: what the model errs more once its values are exchanged.

    The values of a column go to other rows, near in time, and the model predicts these rows again.
    Columns that were made of one column of a table go together. The model is asked as it is, and
    learns nothing.

    Parameters
    ----------
    model : a fitted estimator, or the path of a file that `train` or `kb.save` wrote
        As in `kernbrook predict` all rows are far from the last label, unless its `delay` says how
        far. `LateLabels` and `NamedColumns` are models, too.
    X : (n, d) array, sparse matrix, frame, or records, in the order of time
        Rows that the model has not learned. Or a stream, a path or name of data, or a frame with
        its labels inside: then the last 10,000 rows.
    y : (n,) labels; None where the data have them
        Rows whose label is missing, or a class that the model has not seen, are left out.
    measure : "log_loss" or "error" for classes, "rmse" or "mae" for numbers
        By default "log_loss", and "error" of models without probabilities; "rmse" for numbers.
    rows : int or None, how many are drawn in each repeat; None: all
    repeats : int, how often; each has its own rows
    blocks : int or None; the rows drawn are cut into so many stretches of time, and values stay
        within one. None: 10, or fewer of fewer than 200 rows
    ignore_extra : whether columns of data that the model does not know are left out
        Of a model's file, or a `TableModel`, which know their columns.
    random_state : int, RandomState or None; seeds the draws

    Returns
    -------
    Importance

    Raises
    ------
    InputError
        A parameter, or the data, is not what was expected; there are no labels, or of classes all
        are the same.
    UnknownNameError
        A column is none of the model's.

    Notes
    -----
    Of columns that say the same none may seem to matter: the model has the other one. Values that
    are exchanged in the whole stream would make rows that never were, where a column drifts; so
    they stay within a stretch of time.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45. Fisher, Rudin, Dominici (2019), All models
    are wrong, but many are useful, Journal of Machine Learning Research 20. With ``blocks=1`` and
    ``rows=None`` what scikit-learn's `permutation_importance` does.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> y = 2 * X[:, 2] - X[:, 0]
    >>> model = kb.OnlineMKRegressor([kb.Linear()]).fit(X[:300], y[:300])
    >>> found = kb.importance(model, X[300:], y[300:])
    >>> found.columns[:2], bool(found.mean[0] > 1)
    ((2, 0), True)
    """
    given: dict[str, Any] = {"measure": measure, "rows": rows, "repeats": repeats, "blocks": blocks}
    check_values(Importance, {**given, "random_state": random_state})
    if is_data(X, y):
        asked, stream = opened(model, X, ignore_extra=ignore_extra)
        X, y = latest_of(asked, stream)[:2]
    else:
        asked = asked_of(model)
        X = asked.rows(X)
    return importance_of(asked, X, y, random_state=random_state, **given)


def importance_of(
    asked: Asked,
    X: Any,
    y: Any,
    measure: str | None = None,
    rows: int | None = 500,
    repeats: int = 5,
    blocks: int | None = None,
    random_state: Any = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> Importance:
    """`importance` of a model that can be asked, on rows of numbers, (n, d), and labels, (n,).

    progress : called with the share that is done
    """
    if y is None:
        raise InputError(f"y: {NO_LABELS}")
    labels = without(as_labels(y), getattr(asked.model, "missing_label", None))
    if X.shape[0] != len(labels):
        raise InputError(f"X has {X.shape[0]} rows but y has {len(labels)} labels")
    measure, task = _task(asked.model, measure)
    known, labels = _known(asked.model, labels)
    n = len(labels)
    size = n if rows is None else min(rows, n)
    blocks = max(1, min(BLOCKS, size // FEW)) if blocks is None else blocks
    if size < blocks * LEAST_IN_BLOCK:
        raise InputError(
            f"blocks: {blocks} of {size} rows, expected {LEAST_IN_BLOCK} rows in each at least"
        )
    X, generator = X[known], check_random_state(random_state)
    values, base = np.zeros((len(asked.columns), repeats)), np.empty(repeats)
    for repeat in range(repeats):
        drawn = np.arange(n)
        if size < n:
            drawn = np.sort(generator.choice(n, size, replace=False))
        stretches = np.array_split(np.arange(size), blocks)
        test = Test(asked, task, X[drawn], labels[drawn], stretches)
        base[repeat] = test.measured(test.X)[0]
        for columns, measured in test.without_each(generator):
            values[columns, repeat] = measured - base[repeat]
            progress((repeat + (columns[-1] + 1) / len(asked.columns)) / repeats)
    mean = values.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    return Importance(
        columns=tuple(asked.columns[i] for i in order),
        mean=mean[order],
        std=values.std(axis=1, ddof=1)[order],
        values=values[order],
        measure=measure,
        base=float(base.mean()),
        rows=size,
        n_rows=n,
        left_out=int((~known).sum()),
        blocks=blocks,
    )


class Test(NamedTuple):
    """Rows that a model is tested on.

    Attributes
    ----------
    X, labels : (n, d) and (n,), as the task takes them
    stretches : numbers of rows among which values are exchanged
    """

    asked: Asked
    task: Task
    X: Any
    labels: NDArray[Any]
    stretches: list[Places]

    def measured(self, rows: Any) -> Floats:
        """(k,) the measure for rows that have the labels k times."""
        answers = self.asked.ask(self.task.answer, rows)
        times = rows.shape[0] // len(self.labels)
        lost = self.task.lost(answers, np.tile(self.labels, times))
        return self.task.whole(lost.reshape(times, -1).mean(axis=1))

    def without_each(self, generator: Any) -> Iterator[tuple[list[int], Floats]]:
        """Some columns, and the measure without each; not of columns in which nothing differs."""
        together = max(1, batch(self.X.shape[1]) // len(self.labels))
        columns, changed = list[int](), list[Any]()
        for column in range(len(self.asked.columns)):
            order = np.concatenate([generator.permutation(rows) for rows in self.stretches])
            rows = exchanged(self.X, self.asked.group_of == column, order)
            if rows is not None:
                columns.append(column)
                changed.append(rows)
            if changed and (len(changed) == together or column == len(self.asked.columns) - 1):
                yield columns, self.measured(stacked(changed))
                columns, changed = [], []


def exchanged(X: Any, own: NDArray[np.bool_], order: Places) -> Any:
    """Rows whose columns `own` come from the rows in this order; None where nothing differs."""
    if sp.issparse(X):
        keep = sp.diags_array(np.where(own, 0.0, 1.0))
        take = sp.diags_array(np.where(own, 1.0, 0.0))
        moved = sp.csr_array(X @ keep + X[order] @ take)
        return moved if (moved != sp.csr_array(X)).nnz else None
    theirs = X[order][:, own]
    if np.array_equal(theirs, X[:, own]):
        return None
    moved = X.copy()
    moved[:, own] = theirs
    return moved


def _task(model: Any, measure: str | None) -> tuple[str, Task]:
    """The measure's name, and what it takes."""
    if task_of(model) == "regression":
        _check_measure(measure, OF_NUMBERS, "numbers")
        if measure == "mae":
            return measure, Task(model.predict, lambda said, y: np.abs(said - y))
        return "rmse", Task(model.predict, lambda said, y: (said - y) ** 2, np.sqrt)
    _check_measure(measure, OF_CLASSES, "classes")
    probable = hasattr(model, "predict_proba")
    if measure == "error" or (measure is None and not probable):
        return "error", Task(model.predict, lambda said, y: (said != model.classes_[y]) * 1.0)
    if not probable:
        raise InputError(f"measure: {type(model).__name__} has no probabilities; take 'error'")

    def log_loss(said: NDArray[Any], y: NDArray[Any]) -> Floats:
        return -np.log(np.maximum(said[np.arange(len(y)), y], SMALLEST_CHANCE))

    return "log_loss", Task(model.predict_proba, log_loss)


def _check_measure(measure: str | None, known: tuple[str, ...], what: str) -> None:
    if measure is not None and measure not in known:
        raise InputError(
            f"measure: the model predicts {what}, expected {' or '.join(map(repr, known))}, got "
            f"{measure!r}"
        )


def _known(model: Any, labels: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """(n,) where there is a label that the model knows; these as numbers, or of their classes."""
    there = present(labels)
    if not there.any():
        raise InputError(f"y: {NO_LABELS}")
    if task_of(model) == "regression":
        numbers = as_numbers(labels[there])
        if not np.isfinite(numbers).all():
            raise InputError("y: expected finite numbers, found infinity")
        return there, numbers
    found = labels[there]
    if found.dtype.kind == "O" and all(isinstance(one, str) for one in found):
        found = found.astype(str)
    found = spelled_as(found, model.classes_)
    numbers = class_numbers(model.classes_, found)
    if not (numbers >= 0).any():
        classes = named(model.classes_)
        raise InputError(f"y: expected labels of the model, {classes}, found {named(found[:1])}")
    there[there] = numbers >= 0
    numbers = numbers[numbers >= 0]
    if len(np.unique(numbers)) < 2:
        one = named(model.classes_[numbers[:1]])
        raise InputError(f"y: expected two classes or more to tell apart, found {one} alone")
    return there, numbers
