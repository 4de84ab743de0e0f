"""What rows cost: in windows whose number is bounded, and by data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.errors import NonFiniteError
from kernbrook.estimators.tasks import Outputs
from kernbrook.evaluation.changes import KEPT as KEPT_CHANGES
from kernbrook.evaluation.changes import Changes
from kernbrook.evaluation.measures import COVERAGE, LARGEST_SUM, Measures, Sums
from kernbrook.gram.arrays import Ints
from kernbrook.plain_values import Count, read_as

MOST = 16  # windows
MOST_DATA = 400  # data that are told apart: a year of days, and a month
FIRST = 16  # rows of each, at first
LOSS = {"classification": "error", "regression": "squared"}
KEPT = ("log_loss", "absolute", "covered")  # costs of the model by window, besides the loss


@dataclass
class Windows:
    """Sums over windows of one length; the last one may not be full.

    Where 16 are full and one more row comes, each two become one. So from the 129th row on there
    are 9 to 16 of them, and they do not depend on where chunks end.
    """

    length: Annotated[int, 1, COUNTED] = FIRST  # rows of a window
    spans: list[Sums] = field(default_factory=list)  # the windows

    @property
    def rows(self) -> int:
        return sum(span.rows for span in self.spans)

    def add(
        self,
        rows: int,
        costs: Mapping[str, NDArray[Any]],
        judged: NDArray[np.int64] | None = None,
        dates: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in n more rows, what the judged ones of them cost, (k,) each, and their dates.

        judged : (k,) their numbers, rising from 0; None: all are
        dates : (n,) microseconds since 1970, `NO_DATE` where there is none; None without dates
        """
        judged, at = np.arange(rows) if judged is None else judged, 0
        while at < rows:
            if len(self.spans) >= MOST and self.spans[-1].rows >= self.length:
                for first, second in zip(self.spans[::2], self.spans[1::2], strict=False):
                    first.join(second)
                self.spans, self.length = self.spans[::2], 2 * self.length
            if not self.spans or self.spans[-1].rows >= self.length:
                self.spans.append(Sums())
            span = self.spans[-1]
            end = min(rows, at + self.length - span.rows)
            piece = slice(*np.searchsorted(judged, [at, end]))
            span.add(
                end - at, {name: cost[piece] for name, cost in costs.items()},
                None if dates is None else dates[at:end],
            )  # fmt: skip
            at = end


@dataclass
class Past(Sums):
    """Data that a model has learned from.

    Attributes
    ----------
    name : of the data; None where it was not recorded
    first, digest : of the first row and of all rows met, by `RowDigest`; "" where not recorded
    data : how many data these are: those of long ago are put together
    rows, judged, sums, began, ended : as `Sums` has them
    """

    name: str | None = None
    first: str = ""
    digest: str = ""
    data: Annotated[int, 1, COUNTED] = 1

    @property
    def loss(self) -> float | None:
        """Mistakes, or squared errors, of the judged rows; None where they were not recorded."""
        return self.sums.get("loss")


def shortened(past: Sequence[Past]) -> list[Past]:
    """The same, with those of long ago put together where they are more than 400."""
    if len(past) <= MOST_DATA:
        return list(past)
    cut = len(past) - MOST_DATA + 1
    return [together(past[:cut]), *past[cut:]]


def together(past: Sequence[Past]) -> Past:
    """Several data as one; a cost that one of them lacks is not known of all."""
    found = Past(data=sum(data.data for data in past))
    for data in past:
        found.join(data)
    return found


class Judge:
    """What predictions cost beside trivial rules: of the data now learned, and of all so far.

    Parameters
    ----------
    classes : (c,) of the model, sorted; None of numbers
    before : rows that the model had met before, of which nothing was recorded

    Attributes
    ----------
    measures : of these data; the rules know the labels of all data before
    data : sums of these data
    windows : of all data
    changes : of the loss, in all data
    """

    def __init__(self, classes: NDArray[Any] | None, before: int = 0):
        self.before = before
        self.measures = Measures(classes, COVERAGE if classes is None else None)
        self.data, self.windows, self.changes = Sums(), Windows(), Changes(classes is None)

    def add(self, y: NDArray[Any], outputs: Outputs, dates: Ints | None = None) -> None:
        """Count rows, see `Measures.add` and `Windows.add`."""
        known, costs = self.measures.judge(y, outputs)
        model, found, loss = costs.pop("model", {}), dict[str, Any](), LOSS[self.measures.task]
        if model:
            if not self.measures.model.sums[loss] < LARGEST_SUM:
                raise NonFiniteError(
                    f"the squared errors of {self.measures.model.rows} rows overflow: scale the "
                    "labels or the features"
                )
            found = {"loss": model[loss], **{name: model[name] for name in KEPT if name in model}}
            found |= {name: rule[loss] for name, rule in costs.items()}
        judged = np.flatnonzero(known)
        rows = self.before + self.windows.rows + judged + 1
        self.data.add(len(y), found, dates)
        self.windows.add(len(y), found, judged, dates)
        if model:
            self.changes.add(model[loss], rows, None if dates is None else dates[judged])

    def begin(self) -> None:
        """Other data begin: their measures are their own, and the rules know what they know."""
        self.measures.begin()
        self.data = Sums()

    def described(self) -> dict[str, Any]:
        """The same as plain values, for a file."""
        parts = {name: asdict(getattr(self, name)) for name in ("data", "windows", "changes")}
        return {"before": self.before, "measures": self.measures.described(), **parts}

    @classmethod
    def restored(cls, described: Any, classes: NDArray[Any] | None) -> Judge:
        """What `described` told of, for a model of these classes."""
        found = read_as(_Described, described, "judged")
        judge = cls(classes, found.before)
        judge.data, judge.windows, judge.changes = found.data, found.windows, found.changes
        judge.changes.numbers, judge.changes.kept = classes is None, KEPT_CHANGES
        judge.measures.restore(found.measures)
        return judge


@dataclass
class _Described:
    before: Count
    measures: dict[str, Any]
    data: Sums
    windows: Windows
    changes: Changes
