"""What each column adds to what a model says of one row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernbrook.checks import OneOf, Seed, Whole, check_values, or_none, shown
from kernbrook.errors import InputError
from kernbrook.estimators.labels import as_labels, class_numbers, named
from kernbrook.estimators.tasks import task_of
from kernbrook.explaining.alike import Alike, most_alike
from kernbrook.explaining.asked import (
    Asked,
    Floats,
    Name,
    asked_of,
    dense,
    is_named,
)
from kernbrook.explaining.background_rows import Background, kept_rows
from kernbrook.explaining.shapley import PER_ROW, shapley
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.formats.arrow_records import frame_of
from kernbrook.streams.opening import is_records

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
    alike : the rows learned from that are most like this one, as far as they are support vectors:
        their numbers from 0, in the order in which the model has met them, and their likeness, 1
        for the same row, on average over the kernels
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
    alike: tuple[Alike, ...] = ()

    def __repr__(self) -> str:
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        terms = "".join(f" {self.contributions[i]:+.3g} {self.columns[i]}" for i in order[:3])
        of = "" if self.of_class is None else f" of {self.of_class!r}"
        total = f"{self.base:.3g} usually{terms}{' ...' * (len(order) > 3)}"
        return f"<Explanation of the {self.what}{of}: {self.score:.3g} = {total}>"


class Question(NamedTuple):
    """What is explained: the score's name, the class, and scores (n,) of rows (n, d)."""

    what: str
    of_class: Any
    answer: Callable[[Any], Floats]


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
    kernels of degree 1, on `ANOVA` of order 1 and 2, and of cells on `HashedInputs`, and sums of
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
    asked: Asked,
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
    question = _question(asked, x, score, of_class)
    count = len(asked.columns)
    if orders is None:
        orders = int(np.clip(MOST_ASKED // max(count, 1), FEWEST, ORDERS))
    n = others.rows.shape[0]
    m = min(n, orders // PER_ROW)
    which = np.linspace(0, n - 1, m).round().astype(int)
    rows = others.rows[which]
    if sp.issparse(x) != sp.issparse(rows):
        rows = sp.csr_array(rows) if sp.issparse(x) else dense(rows)
    found = shapley(
        lambda rows: asked.ask(question.answer, rows), x, rows, asked.group_of, orders,
        check_random_state(random_state),
    )  # fmt: skip
    greatest = max(abs(found.score), abs(found.base), np.abs(found.contributions).max(initial=0.0))
    return Explanation(
        columns=asked.columns,
        values=values,
        contributions=found.contributions,
        errors=found.errors,
        exact=found.errors <= ROUNDING * greatest,
        base=found.base,
        score=found.score,
        what=question.what,
        of_class=question.of_class,
        background=f"{m:,} of {others.told}" if m < n else others.told,
        alike=most_alike(asked.model, x),
    )


def values_of(asked: Asked, row: Any, x: Any) -> tuple[Any, ...]:
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


def _question(asked: Asked, x: Any, score: str | None, of_class: Any) -> Question:
    """What is asked of a model."""
    model, kind = asked.model, type(asked.model).__name__
    if task_of(model) == "regression":
        if score not in (None, "prediction") or of_class is not None:
            raise InputError(f"score, of_class: {kind} predicts numbers; leave both out")
        return Question("prediction", None, model.predict)
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
        return Question(score, of_class, lambda rows: model.predict_proba(rows)[:, number])

    def decide(rows: Any) -> Floats:
        said = model.decision_function(rows)
        return said[:, number] if said.ndim == 2 else said if number == 1 else -said

    return Question(score, of_class, decide)
