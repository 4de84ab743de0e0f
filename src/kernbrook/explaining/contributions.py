"""What each column adds to what a model says of one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernbrook.checks import OneOf, Seed, Whole, check_values, or_none, shown
from kernbrook.engine.uniting import oldest_first
from kernbrook.errors import InputError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.labels import as_labels, class_numbers, named
from kernbrook.estimators.tasks import task_of
from kernbrook.estimators.voted import VotedClassifier
from kernbrook.explaining.asked import (
    AskedModel,
    Floats,
    Name,
    Places,
    asked_of,
    batch,
    is_named,
)
from kernbrook.kernels.base import dense
from kernbrook.numerics.scaling import GREAT
from kernbrook.streams.arrow import frame_of
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.opening import is_records
from kernbrook.streams.tables.encoder import stacked

PER_ROW = 4  # orders for a row of the background, at least: two, and these from their ends
ORDERS, FEWEST = 400, 16  # that are drawn where no number is said,
MOST_ASKED = 40_000  # so many rows where columns are many
ROUNDING = 1e-10  # of the greatest score
SCORES = ("probability", "decision", "prediction")


@dataclass(frozen=True, repr=False)
class Explanation:
    """What each column adds to what a model says of one row: base + sum(contributions) = score.

    Attributes
    ----------
    columns : (c,) names of the source columns, or their numbers, in the model's order
    values : (c,) what the row has there, as it was given
    contributions : (c,)
    errors : (c,) standard errors of the contributions, for the orders that were drawn
    exact : (c,) bool, where all orders that were drawn give the same, to rounding
    base : mean score of the background
    score : of the row
    what : the score: "probability", "decision" or "prediction"
    of_class : the class whose score it is; None for numbers
    background : which rows the row was compared with, in words

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> one = kb.explain(model, X[0], random_state=0)
    >>> bool(abs(one.base + one.contributions.sum() - one.score) < 1e-9)
    True
    """

    parameter_ranges: ClassVar = {
        "score": or_none(OneOf(SCORES)),
        "orders": or_none(Whole(PER_ROW)),
        "random_state": Seed(),
    }

    columns: tuple[Name, ...]
    values: tuple[Any, ...]
    contributions: Floats
    errors: Floats
    exact: NDArray[np.bool_]
    base: float
    score: float
    what: str
    of_class: Any
    background: str

    def __repr__(self) -> str:
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        terms = "".join(f" {self.contributions[i]:+.3g} {self.columns[i]}" for i in order[:3])
        of = "" if self.of_class is None else f" of {self.of_class!r}"
        total = f"{self.base:.3g} usually{terms}{' ...' * (len(order) > 3)}"
        return f"<Explanation of the {self.what}{of}: {self.score:.3g} = {total}>"

    def to_shap(self) -> Any:
        """The same as an `Explanation` of shap, for the plots of that library.

        Raises
        ------
        InputError
            shap is not installed.
        """
        try:
            from shap import Explanation as Shown
        except ImportError as error:
            raise InputError("to_shap: shap is not installed: pip install shap") from error
        names = list(map(str, self.columns))
        data = np.array(self.values, dtype=object)
        return Shown(self.contributions, self.base, data, feature_names=names)


Answer = Callable[[Any], Floats]  # scores (n,) of rows (n, d)
Walk = tuple[int, int, Places]  # from which row of the background, of which pair, by which columns


def explain(
    model: Any,
    row: Any,
    *,
    score: str | None = None,
    of_class: Any = None,
    background: Any = None,
    orders: int | None = None,
    random_state: Any = 0,
) -> Explanation:
    """What each column adds to what a model says of one row, beside what it says of other rows.

    The contributions are Shapley values: a column is given what the score changes by when its value
    takes the place of the value of another row, on average over the rows of a background and over
    the orders in which the columns do so. Columns that were made of one column of a table go
    together. Base and contributions sum to the score.

    Parameters
    ----------
    model : a fitted estimator, or the path of a file that `train` or `kb.save` wrote
        As in `kernbrook predict` the row is far from the last label, unless the model's `delay`
        says how far. `LateLabels` and `NamedColumns` are models, too.
    row : (d,) array, or a record such as {"age": 30}, or a frame of one row, or a row of a frame
    score : "probability", "decision" or "prediction"
        By default the probability of a class, which needs no explanation itself, the decision of
        models without, and of numbers the prediction.
    of_class : the class whose score it is; None: the one that is predicted
    background : (m, d) array, frame or records; the rows to compare with
        None: rows that the model keeps. These are the last 1,000, where an expert takes ranks: so
        in the default pools up to 512 columns. Else its support vectors, which are those of its
        rows that were hard to tell, or else the mean of its rows.
    orders : int from 4, how many are drawn; None: 400, or fewer of more than 100 columns
        A fourth of them are the rows of the background that are used, at most.
    random_state : int, RandomState or None; seeds the draws

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        A parameter, or the row, is not what was expected, or the model keeps no rows.
    UnknownNameError
        A column is none of the model's.

    Notes
    -----
    Where the score is a sum over columns, or over pairs of columns, every order with the same from
    its end gives the same, and the contributions are exact: decisions and predictions of experts on
    kernels of degree 1, on random features of one input, of cells on `HashedInputs`, and sums of
    these with weights. Else there are standard errors: of the orders, not of the background.

    References
    ----------
    Shapley (1953), A value for n-person games. Strumbelj and Kononenko (2014), Explaining
    prediction models and individual predictions with feature contributions, Knowledge and
    Information Systems 41. Castro, Gomez, Tejada (2009), Polynomial calculation of the Shapley
    value based on sampling, Computers and Operations Research 36. Mitchell, Cooper, Frank, Holmes
    (2022), Sampling permutations for Shapley value estimation, JMLR 23: orders from both ends.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent())
    >>> found = kb.explain(model.fit(X, X[:, 0] - 2 * X[:, 2]), [1.0, 0.0, 1.0])
    >>> bool(abs(found.contributions - [1.0, 0.0, -2.0]).max() < 0.2), found.exact.tolist()
    (True, [True, True, True])
    >>> bool(abs(found.base + found.contributions.sum() - found.score) < 1e-9)
    True
    """
    given = {"score": score, "orders": orders, "random_state": random_state}
    check_values(Explanation, given)
    asked = asked_of(model)
    if hasattr(row, "to_dict") and np.ndim(row) == 1 and isinstance(asked.columns[0], str):
        row = row.to_dict()  # a row of a frame of pandas
    x = asked.rows(row, "row")
    if x.shape[0] != 1:
        raise InputError(f"row: expected one row, got {x.shape[0]}")
    if background is not None:
        rows = asked.rows(background, "background")
        others = Background(rows, "the background that was given")
    else:
        others = kept_rows(asked.model)
    return explanation_of(asked, x, others, values_of(asked, row, x), of_class, **given)


def explanation_of(
    asked: AskedModel,
    x: Any,
    others: Background,
    values: tuple[Any, ...],
    of_class: Any = None,
    score: str | None = None,
    orders: int | None = None,
    random_state: Any = 0,
) -> Explanation:
    """`explain` of a model that can be asked, for a row of numbers, (1, d).

    values : (c,) of the row, as they were given
    """
    quantity, of_class, answer = _question(asked, x, score, of_class)
    count = len(asked.columns)
    if orders is None:
        orders = int(np.clip(MOST_ASKED // max(count, 1), FEWEST, ORDERS))
    n = others.rows.shape[0]
    m = min(n, orders // PER_ROW)
    which = np.linspace(0, n - 1, m).round().astype(int)
    rows = others.rows[which]
    if sp.issparse(x) != sp.issparse(rows):
        rows = sp.csr_array(rows) if sp.issparse(x) else dense(rows)
    total, base, contributions, errors = shapley(
        lambda rows: asked.ask(answer, rows),
        x,
        rows,
        asked.group_of,
        orders,
        check_random_state(random_state),
    )
    greatest = max(abs(total), abs(base), np.abs(contributions).max(initial=0.0))
    return Explanation(
        columns=asked.columns,
        values=values,
        contributions=contributions,
        errors=errors,
        exact=errors <= ROUNDING * greatest,
        base=base,
        score=total,
        what=quantity,
        of_class=of_class,
        background=f"{m:,} of {others.description}" if m < n else others.description,
    )


def values_of(asked: AskedModel, row: Any, x: Any) -> tuple[Any, ...]:
    """(c,) what a row has in each column, as it was given."""
    if is_records(row):
        record = row if isinstance(row, Mapping) else row[0]
        return tuple(record.get(name) for name in asked.columns)
    if is_named(row):
        frame = frame_of(row)
        known = set(frame.columns)
        return tuple(frame[name][0] if name in known else None for name in asked.columns)
    numbers = dense(x)[0].tolist()
    return tuple(numbers[i] for i in range(len(asked.columns)))


def _question(
    asked: AskedModel, x: Any, score: str | None, of_class: Any
) -> tuple[str, Any, Answer]:
    """What is explained: the score's name, the class, and what answers."""
    model, kind = asked.model, type(asked.model).__name__
    if task_of(model) == "regression":
        if score not in (None, "prediction") or of_class is not None:
            raise InputError(f"score, of_class: {kind} predicts numbers; leave both out")
        return "prediction", None, model.predict
    ways = {"probability": "predict_proba", "decision": "decision_function"}
    known = [way for way, verb in ways.items() if hasattr(model, verb)]
    if not known:
        raise InputError(f"model: {kind} has neither probabilities nor decisions to explain")
    if score not in (None, *known):
        such = " or ".join(map(repr, known))
        raise InputError(f"score: expected {such} of {kind}, got {shown(score)}")
    score = known[0] if score is None else score
    classes = model.classes_
    if of_class is None:
        of_class = asked.ask(model.predict, x)[0]
    named_class = spelled_as(as_labels([of_class]), classes)
    number = int(class_numbers(classes, named_class)[0])
    if number < 0:
        raise InputError(f"of_class: expected one of {named(classes)}, got {shown(of_class)}")
    of_class = classes[number : number + 1].tolist()[0]
    if score == "probability":
        return score, of_class, lambda rows: model.predict_proba(rows)[:, number]

    def decide(rows: Any) -> Floats:
        scores = model.decision_function(rows)
        return scores[:, number] if scores.ndim == 2 else scores if number == 1 else -scores

    return score, of_class, decide


# -- the rows to compare with -------------------------------------------------------------------


class Background(NamedTuple):
    """Rows to compare with, (m, d), and which they are, in words."""

    rows: Any
    description: str


def last_rows(model: Any) -> Background | None:
    """The last rows learned, as they were given, where a model keeps them.

    An expert that takes ranks has the last 1,000; so have the default pools up to 512 columns.
    """
    if not isinstance(model, OnlineMachine):
        return None
    state = model._model.scaler.arrays()
    for view, method in enumerate(model._model.scaler.methods):
        if method == "ranks":
            ring, seen = (state[f"scaler.{view}.{name}"] for name in ("first", "seen"))
            rows = oldest_first(ring, int(seen[0]))
            return Background(rows, f"the last {len(rows):,} rows learned")
    return None


def kept_rows(model: Any) -> Background:
    """The last rows learned, or what else a model keeps of its rows; InputError where nothing.

    Its support vectors, scaled back as rows are scaled now. Where there are none, the mean of all
    rows; of sparse rows 0 everywhere.
    """
    if (last := last_rows(model)) is not None:
        return last
    if isinstance(model, VotedClassifier):
        return Background(model.support_vectors_, f"{model.n_support_stored_:,} support vectors")
    if isinstance(model, OnlineMachine):
        if model._model.sparse:
            return Background(sp.csr_array((1, model.n_features_in_)), "a row of zeros")
        shift, factor = _scale_of(model)
        if hasattr(model, "support_vectors_") and len(model._model.views) == 1:
            rows = model.support_vectors_ * factor + shift
            if len(rows):
                back = "" if np.ndim(factor) == 0 else ", scaled back as rows are scaled now"
                return Background(rows, f"{len(rows):,} support vectors{back}")
        if np.ndim(shift):
            return Background(shift[None], "the mean of all rows learned")
    raise InputError(
        f"background: {type(model).__name__} keeps none of its rows; give some, such as rows that "
        "it has learned"
    )


def _scale_of(model: OnlineMachine) -> tuple[Any, Any]:
    """What is added, and what is multiplied by before, to undo how a machine scales its rows."""
    scaler = model._model.scaler
    method, state = scaler.methods[0], scaler.arrays()
    if method is None:
        return 0.0, 1.0
    first, second = state["scaler.0.first"], state["scaler.0.second"]
    if method == "maximum":
        return 0.0, first
    units = np.where(second < 0, GREAT, 1.0)
    return units * first, units * np.sqrt(np.abs(second) / state["scaler.0.seen"])


# -- Shapley values -----------------------------------------------------------------------------


def shapley(
    ask: Callable[[Any], Floats],
    x: Any,
    background: Any,
    group_of: Places,
    orders: int,
    generator: Any,
) -> tuple[float, float, Floats, Floats]:
    """Share out what a score of a row is above its mean over a background.

    From each row of the background the columns of x are put in one after the other, and each is
    given what the score changes by then. That is done in drawn orders and in the same from their
    ends: interactions of two columns are then halved exactly.

    Parameters
    ----------
    ask : the scores, (n,), of rows, (n, d)
    x, background : (1, d) and (m, d) arrays, or CSR
    group_of : (d,) numbers of the columns that the d numbers belong to; -1: to none
    orders : how many are drawn in all, about; of each row of the background 4 at least

    Returns
    -------
    the score of the row, the mean of the others, what each column adds to that, (c,), and the
    standard errors of this, (c,)
    """
    ends = ask(stacked([x, background]))
    score, others = float(ends[0]), ends[1:]
    m, n_columns = len(others), int(group_of.max(initial=-1)) + 1
    if sp.issparse(x):  # elsewhere all are 0
        places = np.unique(np.concatenate([x.indices, background.indices]))
    else:
        places = np.flatnonzero((background != x).any(axis=0))
    places = places[group_of[places] >= 0]
    groups = group_of[places]
    values_of_x, theirs = (dense(rows[:, places]) for rows in (x, background))
    differ = [np.unique(groups[row != values_of_x[0]]) for row in theirs]

    def between(other: int, order: Places) -> Any:
        """(k - 1, d) the rows from one of the background to x, by k steps from column to column."""
        step_of = np.full(n_columns, n_columns)
        step_of[order] = np.arange(len(order))
        taken = step_of[groups] <= np.arange(len(order) - 1)[:, None]
        values = np.where(taken, values_of_x, theirs[other])
        if not sp.issparse(x):
            rows = np.repeat(x, len(values), axis=0)
            rows[:, places] = values
            return rows
        found, shape = sp.csr_array(values), (len(values), x.shape[1])
        return sp.csr_array((found.data, places[found.indices], found.indptr), shape=shape)

    pairs = max(PER_ROW, orders // m) // 2
    parts = np.zeros((m, pairs, n_columns))
    for walks in _together(_walks(differ, pairs, generator), batch(x.shape[1])):
        rows = stacked([between(other, order) for other, _, order in walks])
        answers, at = ask(rows) if rows.shape[0] else (), 0
        for other, pair, order in walks:
            steps = len(order) - 1
            scores = [others[other], *answers[at : at + steps], score]
            parts[other, pair, order] += 0.5 * np.diff(scores)
            at += steps
    spread = parts.var(axis=1, ddof=1).sum(axis=0) / pairs
    contributions = parts.mean(axis=1).sum(axis=0) / m
    return score, float(others.mean()), contributions, np.sqrt(spread) / m


def _walks(differ: Iterable[Places], pairs: int, generator: Any) -> Iterator[Walk]:
    """From each row of the background, by the columns in which x differs; each way and back."""
    for other, columns in enumerate(differ):
        for pair in range(pairs if len(columns) else 0):
            order = generator.permutation(columns)
            yield other, pair, order
            yield other, pair, order[::-1]


def _together(walks: Iterator[Walk], most: int) -> Iterator[list[Walk]]:
    """Walks that are asked about together: of so many rows, or one."""
    held, rows = list[Walk](), 0
    for walk in walks:
        steps = len(walk[2])
        if held and rows + steps > most:
            yield held
            held, rows = [], 0
        held.append(walk)
        rows += steps
    if held:
        yield held
