"""How sure a model is: probabilities of classes, and intervals around numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED, HEAVIEST, is_number, shown
from kernbrook.engine.state import Field, Table, copy_arrays
from kernbrook.engine.uniting import Apart, oldest_first
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Flags, Floats, Ints, check_array
from kernbrook.numerics.calibration_steps import (
    BINS,
    CELLS,
    FOUND,
    MOST,
    RIDGE,
    Calibrated,
    Pace,
    all_probabilities,
    best_cut,
    learn_scores,
    usual_probabilities,
)
from kernbrook.numerics.interval_widths import deviation, follow
from kernbrook.snapshots import copy_with

# -- probabilities, learned from scores as labels come ---------------------------------------------


CALIBRATED = Table(
    Calibrated,
    slope=Field((4,), merged="averaged"),
    intercepts=Field(("score",), least=-MOST, most=MOST, merged="averaged"),
    cross=Field(("score",), merged="averaged"),
    curvatures=Field(("score",), start=RIDGE, least=RIDGE / 2, merged="averaged"),
    counts=Field(("label",), int, least=0, most=COUNTED, merged="added"),
    means=Field(("label",), least=0.0, merged="averaged"),
    middle=Field(("lean",), merged="averaged"),
    errors=Field((2, CELLS), merged="averaged"),
    hits=Field((2, BINS), least=0.0, merged="averaged"),
    vote=Field(("vote",), merged="averaged"),
)

# Of rows far ahead few are judged, many of them of one day: what is learned has to outlast it.
PACE, PACE_FAR = Pace(0.001, 0.02, 50.0), Pace(0.01, 0.001, 1600.0)
FADING, FADING_LEAD = 0.99, 0.998  # weight of an error, and of a log loss, beside that of the next
LINE, KNOWN = 0.5, 10.0  # the line's slope at first, of the committee's; labels it stands for
LEAST_CHANCE = 1e-12  # of a label that came


class Calibration:
    """Probabilities of classes from scores s, sigmoid(a s + b) or softmax(a s_k + b_k).

    With a second input, votes v: sigmoid(a s + a' v + b) or softmax(a s_k + a' v_k + b_k); a' is 0
    at first. The slopes and the intercepts follow the log loss of each label by a Newton step.
    Scores and votes are in units: the mean, over the rows, of their greatest size. What is known
    fades with each label, the faster the less sure the probabilities were of it: so they follow a
    model that learns, and a stream that drifts. To a probability of two classes the mean error is
    added that such ones have had so far.

    Parameters
    ----------
    scores : 1 for two classes, else the number of classes
    inputs : 2 with votes, which stand behind the scores in each row, else 1

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines. Gupta and Ramdas (2023),
    Online Platt scaling with calibeating, ICML. Foster and Hart (2023), "Calibeating": beating
    forecasters at their own game, Theoretical Economics 18.
    """

    _pace = PACE

    def __init__(self, scores: int, inputs: int = 1):
        vote = 3 + scores if inputs == 2 else 0
        known = self._known = CALIBRATED.begun(
            score=scores, label=max(scores, 2), lean=inputs * scores, vote=vote
        )
        known.slope[:2], known.vote[1:2], known.hits[:, -1] = (1.0, RIDGE), RIDGE, FOUND
        known.means[:] = 1.0 / len(known.means)

    @property
    def counts(self) -> Ints:
        """(k,) labels seen of each class."""
        return self._known.counts

    @property
    def usual(self) -> Floats:
        """(k,) from which each class is more probable than usual."""
        found = np.empty(len(self.counts))
        usual_probabilities(self._known, self._pace.shrunk, found)
        return found

    @property
    def cut(self) -> float:
        """The probability from which the second class is best said, of two: half of the F score."""
        return float(best_cut(self._known.hits)) if len(self.counts) == 2 else 0.5

    def learn(
        self, scores: Floats, labels: Floats, weights: Floats, judged: Flags, cutting: bool = True
    ) -> tuple[Floats, Floats, Floats]:
        """(n, k) probabilities, (n,) cuts, (n, k) usual ones, before labels: `learn_scores`."""
        found = self._room(len(scores)), np.empty(cutting * len(scores)), self._room(len(scores))
        learn_scores(self._known, self._pace, scores, labels, weights, judged, *found)
        return found

    def probabilities(self, scores: Floats) -> Floats:
        """(n, k) probabilities for scores, (n, c) or more, of which the first are taken."""
        out, own = self._room(len(scores)), scores[:, : len(self._known.middle)]
        own = np.require(own, requirements=["C", "W"])
        all_probabilities(self._known, self._pace.shrunk, own, out)
        return out

    def _room(self, n: int) -> Floats:
        return np.empty((n, len(self._known.counts)))

    def copy(self) -> Calibration:
        return copy_with(self, _known=copy_arrays(self._known))

    def begun_far(self) -> FarCalibration:
        """That of rows farther from the last label."""
        return FarCalibration(self)

    def with_classes(self, positions: Ints, classes: int) -> Calibration:
        """A calibration of more classes: old ones keep their odds, a new one has one label's.

        What is known of mean errors, of two classes alone, is left behind.

        positions : of the old classes among them
        """
        old, other = self._known, Calibration(classes, 2 if len(self._known.vote) else 1)
        known, two = other._known, len(old.intercepts) == 1
        known.slope[:] = old.slope * ([0.5, 4.0, 0.5, 1.0] if two else 1.0)  # of half scores
        known.intercepts[:] = -math.log1p(old.counts.sum())
        known.intercepts[positions] = old.intercepts * ([-0.5, 0.5] if two else 1.0)
        known.curvatures[positions] = old.curvatures
        if not two:
            known.cross[positions] = old.cross
        known.counts[positions] = old.counts
        known.means[:] = 1.0 / (1.0 + old.counts.sum())
        known.means[positions] = old.means
        for middle, before in zip(
            known.middle.reshape(-1, classes),
            old.middle.reshape(-1, len(old.intercepts)),
            strict=True,
        ):
            middle[positions] = before * ([-0.5, 0.5] if two else 1.0)
        if len(old.vote):
            known.vote[:3] = old.vote[:3] * ([0.5, 4.0, 4.0] if two else 1.0)
            known.vote[3:][positions] = 0.0 if two else old.vote[3:]
        return other

    def unite(self, apart: Apart) -> None:
        """Know what several together know: labels add up, the rest is of late and averaged."""
        self._known = Calibrated(**CALIBRATED.merged(apart.of("_known")))

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays = self._known._asdict()
        return arrays if len(self._known.vote) else {k: arrays[k] for k in arrays if k != "vote"}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from these arrays, copied; InputError where their shapes or types are others."""
        # Files of before there were votes have none, nor have models without: these begin.
        older = "means" not in arrays
        without = ["means", "middle"] if older else []
        if not len(self._known.vote) or arrays.get("vote") is None:
            without.append("vote")
        known = self._known = copy_arrays(CALIBRATED.restored(self._known, arrays, tuple(without)))
        if older:
            known.means[:] = (known.counts + 1) / (known.counts + 1).sum()
        self.check()

    def check(self) -> None:
        known = self._known
        CALIBRATED.check(known)
        curvatures, sums = [known.slope[1], *known.vote[1:2]], [*known.slope[2:], *known.errors[1]]
        if not (min(curvatures) >= RIDGE / 2 and min(sums) >= 0 and known.slope[3] <= COUNTED):
            raise InputError("slope, vote, errors: expected curvatures above 0, and sums from 0")


class FarCalibration(Calibration):
    """Probabilities of rows farther from the last label, few of which are judged: a mean of two.

    Its own go by what the committee for such rows leans to, and by the steady line, in the place of
    the vote: it says what held on all days. The others are those that the calibration of the next
    row has for what the model's own committee leans to. The others weigh exp(lead / 4) times its
    own; the lead is how much less log loss they had on the rows judged, those of the calibration as
    it was when these rows were far ahead. The loss of each row counts 0.998 of that of the next
    one. Few rows a day are judged, which are alike: hence a quarter.

    `learn` and `centre` take what its own committee leans to, and the line, (n, w), `probabilities`
    what the model's own leans to before these.

    Parameters
    ----------
    near : the calibration of the next row; this one goes on from what it knows

    References
    ----------
    Vovk (1998), A game of prediction with expert advice: such weights, without fading.
    """

    _pace = PACE_FAR

    def __init__(self, near: Calibration):
        self._known, self.near, self.lead = copy_arrays(near._known), near, np.zeros(1)
        self._begin_line()

    def _begin_line(self) -> None:
        """Forget the second input, the vote of the next row; begin with the line."""
        known, c = self._known, len(self._known.intercepts)
        known.middle[c:], known.vote[:] = 0.0, 0.0
        known.vote[:2] = [LINE * known.slope[0], KNOWN][: len(known.vote)]

    @property
    def usual(self) -> Floats:
        return np.asarray(self._mean(super().usual, self.near.usual))

    @property
    def cut(self) -> float:
        return float(self._mean(super().cut, self.near.cut))

    def _mean(self, own: Any, near: Any) -> Any:
        share = 0.5 + 0.5 * np.tanh(self.lead[0] / 8)
        return own + share * (near - own)

    def weigh(self, own: Floats, near: Floats, labels: Floats, weights: Floats) -> None:
        """Weigh by the probabilities, (n, k), that both gave rows before their labels, (n,)."""
        rows = np.arange(len(labels)), labels.astype(np.int64)
        ratios = near[rows] / np.maximum(own[rows], LEAST_CHANCE)
        gains = np.log(np.maximum(ratios, LEAST_CHANCE)) * np.minimum(weights, HEAVIEST)
        fading = FADING_LEAD ** np.arange(len(labels), -1, -1.0)
        self.lead = np.array([fading @ np.append(self.lead, gains)])

    def centre(self, scores: Floats) -> None:
        """These rows of its own scores are usual ones, of the committee as it is now."""
        self._known.middle[:] = scores.mean(axis=0)

    def probabilities(self, scores: Floats) -> Floats:
        """(n, k) probabilities for what the model's own and this committee lean to, (n, 2 w)."""
        near, far = np.split(scores, 2, axis=1)
        mean: Floats = self._mean(super().probabilities(far), self.near.probabilities(near))
        return mean

    def beside(self, near: Calibration) -> FarCalibration:
        """The same, to be read only, beside the calibration of the next row as it is now."""
        return copy_with(self, near=near)

    def unite(self, apart: Apart) -> None:
        super().unite(apart)
        self.lead = apart.of("lead").averaged()

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {**super().arrays(), "ahead": self.lead}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        if "ahead" not in arrays:  # older: the second input was the vote, too
            self._begin_line()
        self.lead = check_array("ahead", arrays.get("ahead", np.zeros(1)), (1,), np.float64)
        if not np.isfinite(self.lead).all():
            raise InputError("ahead: NaN or infinity")


# -- the errors of late, and intervals that cover what they should ---------------------------------


WINDOW = 1000  # errors that are kept
FOLLOWED = 0.9  # the coverage whose half width follows the errors
STEADY = 100  # errors over whose mean the half widths of rows far ahead stay
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
    seen: Ints
    labels: Floats


ERRORS = Table(
    Errors,
    errors=Field((WINDOW,)),
    seen=Field((1,), int, least=0, most=COUNTED),
    labels=Field((3,)),
)


def next_width(errors: Floats, coverage: float, steady: bool) -> float:
    """The half width after these errors, (n,), sizes in the order of their coming.

    steady : whether it is no less than their mean of late, as it holds for many rows at once
    """
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
    if steady:
        some = errors > 0
        at = max(at, (np.log(errors[some]) - beside[some])[-STEADY:].mean())
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
    Far from the last label it is no less than its geometric mean before the last 100 errors.

    References
    ----------
    Gibbs and Candès (2021), Adaptive conformal inference under distribution shift, NeurIPS.
    Angelopoulos, Candès, Tibshirani (2023), Conformal PID control for time series prediction.
    """

    _steady = False

    def __init__(self) -> None:
        self._known: Errors = ERRORS.begun()

    def learn(
        self, scores: Floats, labels: Floats, weights: Floats, judged: Flags
    ) -> Floats | None:
        """Errors of scores, (n, 1), on labels, (n,), NaN where none was seen; weight 0 is left out.

        judged : (n,) bool, which labels tell how good the scores are
        Gives (n,) half widths, each before its label; None where `covering` asks for none.
        """
        labelled = (weights > 0) & (labels == labels)
        counted = judged & labelled
        errors = (labels - scores[:, 0])[counted]
        half = None
        if (coverage := covering.get()) is not None:
            before = self._in_order()
            sizes = np.abs(np.concatenate([before, errors]))
            known = len(before) + np.cumsum(counted) - counted
            late = [sizes[max(count - WINDOW, 0) : count] for count in known.tolist()]
            half = np.array(
                [next_width(sizes_before, float(coverage), self._steady) for sizes_before in late]
            )
        kept, seen = self._known, int(self._known.seen[0])
        kept.errors[np.arange(seen, seen + len(errors))[-WINDOW:] % WINDOW] = errors[-WINDOW:]
        kept.seen[0] = min(seen + len(errors), COUNTED)
        self._add(labels[labelled])
        return half

    def _add(self, labels: Floats) -> None:
        """Count labels, one after the other: the length of a chunk does not matter."""
        with np.errstate(over="ignore"):  # of what the estimator would refuse
            powers = np.stack([np.ones(len(labels)), labels, labels**2])
        sums = self._known.labels
        sums[:] = np.add.accumulate(np.column_stack([sums, powers]), axis=1)[:, -1]

    def summed(self) -> tuple[int, float, float]:
        """How many labels there were, their sum, and the sum of their squares."""
        count, total, squares = self._known.labels.tolist()
        return int(count), total, squares

    def count_labels(self, others: Sequence[tuple[Residuals, float]]) -> None:
        """Know of the labels that others have met, each with what is added to its labels."""
        sums = self._known.labels
        sums[:] = 0.0
        for other, more in others:
            count, total, squares = other._known.labels
            sums += count, total + more * count, squares + more * (2 * total + more * count)

    def _in_order(self) -> Floats:
        errors: Floats = oldest_first(self._known.errors, int(self._known.seen[0]))
        return errors

    def half_width(self, coverage: float) -> float:
        """Of an interval with a coverage in (0, 1); infinite where the errors are too few."""
        return next_width(np.abs(self._in_order()), coverage, self._steady)

    def deviation(self) -> float:
        """The root of the mean square, each error by 0.99 of the next; infinite without any."""
        return float(deviation(self._in_order(), FADING))

    def copy(self) -> Residuals:
        return copy_with(self, _known=copy_arrays(self._known))

    def begun_far(self) -> Residuals:
        """Those of rows farther from the last label, whose errors are others."""
        far = Residuals()
        far._steady = True
        return far

    def beside(self, _: Residuals) -> Residuals:
        """As of `FarCalibration`: those of the next row tell nothing."""
        return self

    def unite(self, apart: Apart) -> None:
        """Keep the last errors of several in turn; the sums add up."""
        kept, known = self._known, apart.of("_known")
        kept.labels[:] = known.of("labels").added()
        errors = apart.over(lambda residuals: residuals._in_order()).newest(WINDOW)
        kept.seen[:] = np.maximum(known.of("seen").added(), len(errors))
        kept.errors[np.arange(kept.seen[0] - len(errors), kept.seen[0]) % WINDOW] = errors

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._known._asdict()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        without = () if "labels" in arrays else ("labels",)  # older files have none
        self._known = copy_arrays(ERRORS.restored(self._known, arrays, without))
        ERRORS.check(self._known)
