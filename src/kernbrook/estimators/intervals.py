"""How sure a regressor is: the errors of late, and intervals that cover what they should."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED, is_number, shown
from kernbrook.engine.state import Field, Table, copied
from kernbrook.engine.uniting import Apart, oldest_first
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Flags, Floats, Labels
from kernbrook.numerics.interval_widths import deviation, follow

WINDOW = 1000  # errors that are kept
FOLLOWED = 0.9  # the coverage whose half width follows the errors
FADING = 0.99  # weight of an error, beside that of the next one
LARGEST = math.log(np.finfo(float).max)

# What share of the labels intervals are to cover, where learning is to say some; said by who asks.
covering: ContextVar[float | None] = ContextVar("covering", default=None)


def check_coverage(name: str, coverage: Any) -> None:
    """InputError unless it is a share that intervals can cover."""
    if not (is_number(coverage) and 0 < coverage < 1):
        raise InputError(f"{name}: expected a number in (0, 1), got {shown(coverage)}")


@contextmanager
def intervals_of(coverage: float | None) -> Iterator[None]:
    """What is learned here gives half widths of intervals before each label; None: it does not."""
    token = covering.set(coverage)
    try:
        yield
    finally:
        covering.reset(token)


class Errors(NamedTuple):
    """errors : (1000,) a ring of the last; seen : (1,) how many there were.

    labels : (3,) how many labels there were, their sum, and the sum of their squares
    """

    errors: Floats
    seen: Labels
    labels: Floats


ERRORS = Table(
    Errors,
    errors=Field((WINDOW,)),
    seen=Field((1,), int, least=0, most=COUNTED),
    labels=Field((3,)),
)


def next_width(errors: Floats, coverage: float) -> float:
    """The half width after these errors, (n,), sizes in the order of their coming."""
    n = len(errors)
    rank = math.ceil((n + 1) * coverage)
    if rank > n:
        return math.inf
    place, followed = rank - 1, min(math.ceil((n + 1) * FOLLOWED), n) - 1
    width = float(np.partition(errors, followed)[followed])  # the quantile of all: where it begins
    if not width:
        return float(np.partition(errors, place)[place])
    beside = np.empty(n)
    at = follow(errors, width, FOLLOWED, beside)
    if place != followed:  # one path for all coverages: more of it is never narrower
        quantiles = np.partition(beside, (place, followed))
        at += quantiles[place] - quantiles[followed]
    return math.exp(at) if at < LARGEST else math.inf


class Residuals:
    """The errors of predictions on the last 1,000 labels, each before it was learned from.

    And how many labels there were, their sum and the sum of their squares.

    The half width of the interval that covers 90 % follows the errors as online conformal
    prediction does: it grows by a factor of exp(0.18) at an error outside of it, and shrinks by
    exp(-0.02) at one inside. Whatever the stream is, the share of errors outside then comes to a
    tenth, as long as their size stays within bounds. That of another coverage stands to it as the
    quantiles of the errors, each over the half width before it: more coverage is never narrower.

    References
    ----------
    Gibbs and Candès (2021), Adaptive conformal inference under distribution shift, NeurIPS.
    Angelopoulos, Candès, Tibshirani (2023), Conformal PID control for time series prediction.

    Examples
    --------
    >>> residuals = Residuals()
    >>> said, were = np.zeros((40, 1)), np.tile([1.0, -1.0], 20)
    >>> residuals.learn(said, were, np.ones(40), np.ones(40, dtype=bool))
    >>> residuals.deviation()
    1.0
    """

    rounds = 0  # of the model, so far
    said: Any = None  # before the labels that it has learned from last

    def __init__(self) -> None:
        self._errors, self._seen, self._labels = ERRORS.begun()

    def learn(
        self, scores: Floats, labels: Floats, weights: Floats, judged: Flags
    ) -> Floats | None:
        """Errors of scores, (n, 1), on labels, (n,), NaN where none was seen; weight 0 is left out.

        judged : (n,) bool, which labels tell how good the scores are

        Returns
        -------
        (n,) half widths, each before its label; None where `covering` asks for none
        """
        there = (weights > 0) & (labels == labels)
        told = judged & there
        errors = (labels - scores[:, 0])[told]
        half = None
        if (coverage := covering.get()) is not None:
            before = self._in_order()
            sizes = np.abs(np.concatenate([before, errors]))
            known = len(before) + np.cumsum(told) - told
            late = [sizes[max(count - WINDOW, 0) : count] for count in known.tolist()]
            half = np.array([next_width(own, float(coverage)) for own in late])
        seen = int(self._seen[0])
        self._errors[np.arange(seen, seen + len(errors))[-WINDOW:] % WINDOW] = errors[-WINDOW:]
        self._seen = np.minimum(self._seen + len(errors), COUNTED)
        self._add(labels[there])
        return half

    def _add(self, labels: Floats) -> None:
        """Count labels, one after the other: the length of a chunk does not matter."""
        with np.errstate(over="ignore"):  # of what the estimator would refuse
            powers = np.stack([np.ones(len(labels)), labels, labels**2])
        self._labels = np.add.accumulate(np.column_stack([self._labels, powers]), axis=1)[:, -1]

    def summed(self) -> tuple[int, float, float]:
        """How many labels there were, their sum, and the sum of their squares."""
        count, total, squares = self._labels.tolist()
        return int(count), total, squares

    def count_labels(self, others: Sequence[tuple[Residuals, float]]) -> None:
        """Know of the labels that others have met, each with what is added to its labels."""
        self._labels = np.zeros(3)
        for other, more in others:
            count, total, squares = other._labels
            self._labels += count, total + more * count, squares + more * (2 * total + more * count)

    def _in_order(self) -> Floats:
        """The errors kept, the oldest first."""
        errors: Floats = oldest_first(self._errors, int(self._seen[0]))
        return errors

    def half_width(self, coverage: float) -> float:
        """Of an interval with a coverage in (0, 1); infinite where the errors are too few."""
        return next_width(np.abs(self._in_order()), coverage)

    def deviation(self) -> float:
        """The root of the mean square, each error by 0.99 of the next; infinite without any."""
        return float(deviation(self._in_order(), FADING))

    def copy(self) -> Residuals:
        """One that goes on from here by itself."""
        other = Residuals.__new__(Residuals)
        other._errors, other._seen = self._errors.copy(), self._seen.copy()
        other._labels = self._labels
        other.rounds = self.rounds
        return other

    def begun_far(self) -> Residuals:
        """Those of rows farther from the last label, whose errors are others."""
        return Residuals()

    def unite(self, apart: Apart) -> None:
        """Keep the last errors of several in turn; the sums add up."""
        self._labels = apart.of("_labels").added()
        errors = apart.over(lambda one: one._in_order()).newest(WINDOW)
        self._seen = np.maximum(apart.of("_seen").added(), len(errors))
        seen = int(self._seen[0])
        self._errors[np.arange(seen - len(errors), seen) % WINDOW] = errors

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that was learned, by name."""
        return {"errors": self._errors, "seen": self._seen, "labels": self._labels}

    def check(self) -> None:
        """Raise InputError where numbers are beyond their ranges."""
        ERRORS.check(Errors(self._errors, self._seen, self._labels))

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from these arrays, copied; InputError where their shapes or types are others."""
        own = Errors(self._errors, self._seen, self._labels)
        without = () if "labels" in arrays else ("labels",)  # older files have none
        self._errors, self._seen, self._labels = copied(ERRORS.restored(own, arrays, without))
