"""A committee for rows far from the last label: what it judges its experts by, and what it says.

It has four experts more than a model: what the model's own committee says, which begins with almost
all of the weight; the mean of the labels; and two regressions, see `lines`. Of numbers a fifth one
goes on along the line through the last labels. What is said is held to the range of all labels that
have come, and as far beyond as that line goes on, if it errs less than the mean; a class that it
has hardly judged is said where the model's own committee says it. Its loss on the rows judged is,
but for the regret of its combiner, that of the best expert so far ahead, and so of the model's own
committee and of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.engine.horizons import lines
from kernbrook.engine.horizons.lines import N_LINES, Lines
from kernbrook.engine.passes import Committee
from kernbrook.engine.progress import MOST_LOSS, Board, Progress, find_flaw
from kernbrook.engine.state import copy_arrays, pick
from kernbrook.engine.stores.base import most_of
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Flags, Floats, Ints, check_array, within

TRUST = 4.0  # logarithm of the weight of the model's own committee, beside the others
NO_SEED = 0  # nothing is drawn
KEPT_LOSS, OF_NUMBERS = 0.9975, 0.995  # of a loss, for each row judged later
STEADY = 1 - N_LINES  # the place of the regression that forgets nothing
LEAST = 10  # rows judged before a committee counts
MEAN, TREND = 1, 3  # among the losses of numbers


class Distant(NamedTuple):
    """A committee for one class of horizons.

    committee : of the model's experts and those beside them
    progress : of it
    calibration : of its decisions; None before the first row
    rows : (1,) int, judged so far
    losses : of late, of its decisions and of the mean, mistakes; or squared errors, and of numbers
        those of the model's own committee and of the trend, too
    """

    committee: Committee
    progress: Progress
    calibration: Any
    rows: Ints
    losses: Floats

    def board(self, scores: Floats, sizes: Floats, labels: Floats, weights: Floats) -> Board:
        """What all experts say of rows; labels and weights are copied."""
        board = self.committee.board(labels.copy(), weights.copy())
        most = most_of(board.numbers)
        sound = (sizes < most) & (np.abs(scores) < most)
        board.scores[:], board.sizes[:] = np.where(sound, scores, 0.0), np.where(sound, sizes, 0.0)
        return board

    @property
    def counts(self) -> bool:
        """Whether it has judged enough rows to be asked."""
        return bool(self.rows[0] >= LEAST)

    # -- deciding ---------------------------------------------------------------------------

    def says(self, board: Board, known: Lines) -> tuple[Floats, Floats]:
        """Decisions, and what its experts lean to; of classes the line in the place of votes."""
        return self._guarded(board, known, *self._voted(board, known))

    def knows(self, leading: Ints) -> Flags:
        """(n,) whether it has judged such rows; leading : their classes by the own committee."""
        counts = (
            np.zeros(leading.max() + 1) if self.calibration is None else self.calibration.counts
        )
        return np.asarray(counts[leading] >= LEAST)

    def _voted(self, board: Board, known: Lines) -> tuple[Floats, Floats]:
        """As `says`, whatever its losses were; numbers are held to what is known of labels."""
        decisions = self.committee.decide(self.progress, board)
        if not self.committee.numbers:
            leanings = board.leanings.copy()
            votes = leanings[:, self.committee.scores :]  # the line, without the mean
            votes[:] = (board.scores[:, STEADY] - board.scores[:, -N_LINES])[:, : votes.shape[1]]
            return decisions, leanings
        trend = board.scores[:, -N_LINES - 1, 0]
        if not self.losses[TREND] < self.losses[MEAN]:
            trend = lines.trended(known, np.zeros(len(trend)))  # it goes no farther
        return lines.held(known, decisions, trend), lines.held(known, board.leanings, trend)

    def _guarded(
        self, board: Board, known: Lines, decisions: Floats, leanings: Floats
    ) -> tuple[Floats, Floats]:
        """The same; what the best of the rivals says where the committee was worse of late.

        Of numbers what the model's own committee says where all is otherwise since rows were
        judged: all lines err.
        """
        rows = (1.0 - OF_NUMBERS ** self.rows[0]) / (1.0 - OF_NUMBERS)
        best = int(self.losses[1:].argmin())
        if self.committee.numbers and rows > 0 and lines.broken(known, self.losses[1] / rows):
            best = 1
        elif not self.losses[0] > self.losses[1 + best]:
            return decisions, leanings
        said = board.scores[:, self._rivals[best]]
        return said.copy(), (said.copy() if self.committee.numbers else leanings)

    @property
    def _rivals(self) -> tuple[int, ...]:
        """Places among the experts of the mean, and of numbers of own committee and trend."""
        return (-N_LINES, -N_LINES - 2, -N_LINES - 1) if self.committee.numbers else (-N_LINES,)

    # -- judging ----------------------------------------------------------------------------

    def judged(
        self, board: Board, chances: Floats, own: Flags, known: Lines, certain: Any
    ) -> Distant:
        """After it has judged rows, in their order.

        chances : (n, k) of classes, what the model's own calibration said then
        certain : the same after the lap
        own : (n,) which of them are as far from the last label as its own
        """
        before, leanings = self._voted(board, known)  # as they would have been said
        leanings = self._guarded(board, known, before, leanings)[1]
        progress = copy_arrays(self.progress)
        decisions, _ = self.committee.judge(progress, board, True)
        finite = np.isfinite(leanings).all() and np.isfinite(decisions).all()
        if find_flaw(progress) or not finite:
            return self  # sums of what was said so far ahead overflow: these rows tell nothing
        kept = OF_NUMBERS if self.committee.numbers else KEPT_LOSS
        losses = self.losses * kept ** own.sum()
        others = [board.scores[:, at] for at in self._rivals]
        for i, said in enumerate((before, *others)):
            losses[i] += loss_on(said[own], board.labels[own], self.committee.numbers)
        rows, losses = np.minimum(self.rows + own.sum(), COUNTED), np.minimum(losses, MOST_LOSS)
        after = self._replace(progress=progress, rows=rows, losses=losses)
        if not own.any():
            return after
        calibration = (self.calibration or certain.begun_far()).copy()
        labels, weights = board.labels[own], board.importance[own]
        found = calibration.learn(leanings[own], labels, weights, own[own])
        if not self.committee.numbers:
            calibration.weigh(found[0], chances[own], labels, weights)
            calibration.centre(after._voted(board, known)[1][own])
        return after._replace(calibration=calibration)

    # -- as arrays --------------------------------------------------------------------------

    def arrays(self) -> dict[str, Any]:
        """All that was learned, by name."""
        found = {"rows": self.rows, "losses": self.losses, "progress": self.progress._asdict()}
        return found | (
            {} if self.calibration is None else {"calibration": self.calibration.arrays()}
        )

    def restored(self, arrays: Mapping[str, NDArray[Any]], begun: Any) -> Distant:
        """One with these arrays, of one that has judged nothing; begun : as of `judged`.

        InputError where an array is missing, or numbers are beyond their ranges.
        """
        rows, losses = count_of(arrays, "rows"), arrays.get("losses", self.losses)
        progress = self.committee.restored(self.progress, pick(arrays, "progress"))
        if losses.shape == (2,) and self.committee.numbers:  # older: nobody else was judged
            losses = np.append(losses, losses[[0, 0]])
        check_array("losses", losses, self.losses.shape, np.float64)
        if not np.isfinite(losses).all():
            raise InputError("losses: NaN or infinity")
        if rows[0]:
            with within("calibration."):
                begun.restore(pick(arrays, "calibration"))
        calibration = begun if rows[0] else None
        return Distant(self.committee, progress, calibration, rows, losses)


def begun(committee: Committee, own: int, added: Sequence[int] = ()) -> Distant:
    """Before it has judged a row: it follows the model's own committee, the expert of a number.

    added : of the model's experts, by which votes for numbers are corrected, and by the steady line
    """
    progress = committee.begun(NO_SEED)
    if committee.numbers and hasattr(committee.combiner, "adds_freely"):
        few = [*added, committee.n_experts + STEADY]
        committee.combiner.adds_freely(progress.state, committee.n_experts, few)
    progress.log_weights[:] = -TRUST
    progress.log_weights[own] = 0.0
    one = Distant(committee, progress, None, np.zeros(1, dtype=np.int64), np.empty(0))
    return one._replace(losses=np.zeros(1 + len(one._rivals)))


def loss_on(said: Floats, labels: Floats, numbers: bool) -> float:
    """Mistakes of decisions, (n, c), or the sum of squared errors."""
    if numbers:
        with np.errstate(over="ignore"):
            return float(((said[:, 0] - labels) ** 2).sum())
    leading = said[:, 0] >= 0 if said.shape[1] == 1 else said.argmax(axis=1)
    return float((leading != labels).sum())


def beside(
    board: Board, decisions: Floats, own: Lines, X: Any, places: Ints
) -> tuple[Floats, Floats]:
    """Scores and sizes: of the experts, of the model's own committee, of the trend, of lines.

    places : (n,) of the rows after the last label that `own` knows
    """
    more = np.concatenate([decisions[:, None], lines.said(own, X, places, board.numbers)], axis=1)
    scores = np.concatenate([board.scores, more], axis=1)
    return scores, np.concatenate([board.sizes, np.abs(more)], axis=1)


def inputs(own: Floats, leanings: Floats, board: Board) -> Floats:
    """What a calibration takes: leanings, of classes after those of the model's own committee."""
    return leanings if board.numbers else np.concatenate([own, leanings], axis=1)


def count_of(arrays: Mapping[str, NDArray[Any]], name: str) -> Ints:
    """A number from 0, in an array of its own; InputError where there is none."""
    array: Ints = check_array(name, arrays.get(name), (1,), np.int64)
    if not 0 <= array[0] <= COUNTED:
        raise InputError(f"{name}: expected a number from 0 to {COUNTED}")
    return array
