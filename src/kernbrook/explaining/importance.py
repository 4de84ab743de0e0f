"""How much each column matters: what a model errs more once the column's values are exchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from kernbrook.checks import OneOf, Seed, Whole, check_values, or_none
from kernbrook.errors import InputError
from kernbrook.estimators.labels import (
    as_labels,
    as_numbers,
    check_as_many,
    named,
    present,
    without,
)
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.measures import SMALLEST_CHANCE, judged_labels
from kernbrook.explaining.asked import AskedModel, Name, asked_of, is_data, latest_of, opened
from kernbrook.gram.arrays import Floats

OF_CLASSES, OF_NUMBERS = ("log_loss", "error"), ("rmse", "mae")
NO_LABELS = "there are no labels, with which importance compares what the model says"


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
    rows : that were drawn
    n_rows : from which they were drawn: those with a label that the model knows
    left_out : rows without such a label

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> found = kb.importance(model, X, y, random_state=0)
    >>> found.columns[0], found.measure, found.rows
    (1, 'log_loss', 200)
    """

    parameter_ranges: ClassVar = {
        "measure": or_none(OneOf((*OF_CLASSES, *OF_NUMBERS))),
        "rows": or_none(Whole(2)),
        "repeats": Whole(2),
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

    def __repr__(self) -> str:
        first = zip(self.columns[:3], self.mean, self.std, strict=False)
        shown = ", ".join(f"{name} {mean:.3g} ± {std:.2g}" for name, mean, std in first)
        more = ", ..." if len(self.columns) > 3 else ""
        return f"<Importance by {self.measure}: {shown}{more}>"


Answers = NDArray[Any]
Lost = Callable[[Answers, NDArray[Any]], Floats]  # what each row loses, of answers and labels


def importance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    measure: str | None = None,
    rows: int | None = 500,
    repeats: int = 5,
    ignore_extra: bool = False,
    random_state: Any = 0,
) -> Importance:
    """How much each column matters: what the model errs more once its values are exchanged.

    scikit-learn's `permutation_importance`: the values of a column go to other rows, and the model
    predicts these rows again. Columns that were made of one column of a table go together. The
    model is asked as it is, and learns nothing.

    Parameters
    ----------
    model : a fitted estimator, or the path of a file that `train` or `kb.save` wrote
        As in `kernbrook predict` all rows are far from the last label, unless its `delay` says how
        far. `LateLabels` and `NamedColumns` are models, too.
    X : (n, d) array, sparse matrix, frame, or records
        Rows that the model has not learned. Or a stream, a path or name of data, or a frame with
        its labels inside: then the last 10,000 rows.
    y : (n,) labels; None where the data have them
        Rows whose label is missing, or a class that the model has not seen, are left out.
    measure : "log_loss" or "error" for classes, "rmse" or "mae" for numbers
        By default "log_loss", and "error" of models without probabilities; "rmse" for numbers.
    rows : int or None, how many are drawn; None: all
    repeats : int, how often values are exchanged
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
    Of columns that say the same none may seem to matter: the model has the other one.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45. Fisher, Rudin, Dominici (2019), All models
    are wrong, but many are useful, Journal of Machine Learning Research 20.

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
    given: dict[str, Any] = {"measure": measure, "rows": rows, "repeats": repeats}
    check_values(Importance, {**given, "random_state": random_state})
    if is_data(X, y):
        asked, stream = opened(model, X, ignore_extra=ignore_extra)
        X, y = latest_of(asked, stream)[:2]
    else:
        asked = asked_of(model)
        X = asked.rows(X)
    return importance_of(asked, X, y, random_state=random_state, **given)


def importance_of(
    asked: AskedModel,
    X: Any,
    y: Any,
    measure: str | None = None,
    rows: int | None = 500,
    repeats: int = 5,
    random_state: Any = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> Importance:
    """`importance` of a model that can be asked, on rows of numbers, (n, d), and labels, (n,).

    progress : called with the share that is done
    """
    from sklearn.inspection import permutation_importance

    if y is None:
        raise InputError(f"y: {NO_LABELS}")
    labels = without(as_labels(y), getattr(asked.model, "missing_label", None))
    check_as_many(X.shape[0], labels)
    measure, answer, lost = _measured(asked.model, measure)
    known, labels = _known(asked.model, labels)
    X, n, generator = X[known], len(labels), check_random_state(random_state)
    size = n if rows is None else min(rows, n)
    if size < 2:
        raise InputError(f"X: expected two rows with labels, found {n}")
    sample = np.sort(generator.permutation(n)[:size])
    X, labels = X[sample], labels[sample]
    n_scored, count = 0, 1 + len(asked.columns) * repeats

    def score(_: Any, numbers: NDArray[Any], labels: NDArray[Any]) -> float:
        nonlocal n_scored
        answers = asked.ask(answer, _exchanged(X, asked.group_of, numbers))
        mean = lost(answers, labels).mean()
        n_scored += 1
        progress(n_scored / count)
        return -float(np.sqrt(mean) if measure == "rmse" else mean)

    numbers = np.tile(np.arange(size)[:, None], len(asked.columns))
    found = permutation_importance(
        _Asking(), numbers, labels, scoring=score, n_repeats=repeats, random_state=generator
    )
    values, mean = found.importances, found.importances_mean
    order = np.argsort(-mean, kind="stable")
    return Importance(
        columns=tuple(asked.columns[i] for i in order),
        mean=mean[order],
        std=values.std(axis=1, ddof=1)[order],
        values=values[order],
        measure=measure,
        base=-score(None, numbers, labels),
        rows=size,
        n_rows=n,
        left_out=int((~known).sum()),
    )


class _Asking(BaseEstimator):
    """What scikit-learn wants to be there: the score asks the model."""

    def fit(self, X: Any, y: Any) -> _Asking:
        return self


def _exchanged(X: Any, group_of: NDArray[np.intp], numbers: NDArray[Any]) -> Any:
    """Rows, (n, d), whose source columns come from the rows of these numbers, (n, c).

    So scikit-learn exchanges numbers of rows: of one column at a time.
    """
    rows = X.copy()
    for column in np.flatnonzero((numbers != np.arange(len(numbers))[:, None]).any(axis=0)):
        group, others = group_of == column, X[numbers[:, column]]
        if sp.issparse(X):
            keep, take = (sp.diags_array(mask.astype(float)) for mask in (~group, group))
            rows = sp.csr_array(rows @ keep + others @ take)
        else:
            rows[:, group] = others[:, group]
    return rows


def _measured(model: Any, measure: str | None) -> tuple[str, Callable[[Any], Answers], Lost]:
    """The measure's name, what the model is asked, and what a row loses."""
    numbers = task_of(model) == "regression"
    known = OF_NUMBERS if numbers else OF_CLASSES
    if measure not in (None, *known):
        raise InputError(
            f"measure: the model predicts {'numbers' if numbers else 'classes'}, expected "
            f"{' or '.join(map(repr, known))}, got {measure!r}"
        )
    if measure == "mae":
        return measure, model.predict, lambda predicted, y: np.abs(predicted - y)
    if numbers:
        return "rmse", model.predict, lambda predicted, y: (predicted - y) ** 2
    probable = hasattr(model, "predict_proba")
    if measure == "error" or (measure is None and not probable):
        return "error", model.predict, lambda predicted, y: (predicted != model.classes_[y]) * 1.0
    if not probable:
        raise InputError(f"measure: {type(model).__name__} has no probabilities; take 'error'")

    def log_loss(chances: Answers, y: NDArray[Any]) -> Floats:
        return -np.log(np.maximum(chances[np.arange(len(y)), y], SMALLEST_CHANCE))

    return "log_loss", model.predict_proba, log_loss


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
    known, numbers, _ = judged_labels(model.classes_, labels)
    if not known.any():
        classes, found = (named(some) for some in (model.classes_, labels[there][:1]))
        raise InputError(f"y: expected labels of the model, {classes}, found {found}")
    if len(np.unique(numbers)) < 2:
        only = named(model.classes_[numbers[:1]])
        raise InputError(f"y: expected two classes or more to tell apart, found {only} alone")
    return known, numbers
