"""Predictions far from the last label: committees judged by what experts said so far ahead.

The committee of a model judges its experts by what they said of the row that was next. The best
expert for the next row may be the worst a hundred rows later: one that follows the last label. So
there are three committees, by horizon: the place of a row after the last label that was learned.

    next : 1, the model's own
    soon : 2 to 128
    late : more

Rows come in laps, of numbers of rows that are fixed beforehand, whatever the chunks. At the start
of each lap the model is kept as it is, and at the start of every fourth one once more. Some rows of
a lap are scored by the model as it was at its start, which is given up once these have come; some,
when the lap is over, by the one before: that is what `predict` would have said of them, so far
ahead. Two committees learn from that, in the same rounds as the model's own, of the rows up to 128
places ahead and of all; so do their calibrations.

They have four experts more: what the model's own committee says, which begins with almost all of
the weight; the mean of the labels; and two regressions, see `lines`. Of numbers a fifth one goes on
along the line through the last labels. What is said is held to the range of all labels that have
come, and as far beyond as that line goes on; a class that they have hardly judged is said where the
model's own committee says it. Of each of the two holds what holds of the combiner on the rows
judged: its loss is that of the best expert so far ahead, and so of the model's own committee and of
the mean, but for its regret.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.compiler.links import ROOM
from kernbrook.engine import passes
from kernbrook.engine.blocks import rows_of, views_of
from kernbrook.engine.deciding import read
from kernbrook.engine.horizons import lines
from kernbrook.engine.horizons.laps import (
    FAR,
    LAPS_LATE,
    SHORT_LAPS,
    SHORTEST,
    SOON_PLACES,
    Lap,
    late_places,
)
from kernbrook.engine.horizons.lines import N_LINES, Lines
from kernbrook.engine.learning import board_of
from kernbrook.engine.progress import (
    MOST_LOSS,
    Board,
    Progress,
    begun,
    empty_board,
    flaw,
)
from kernbrook.engine.rounds import scratch_of
from kernbrook.engine.rules import typed
from kernbrook.engine.state import copied
from kernbrook.engine.stores.base import most_of
from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Floats, Labels
from kernbrook.gram.sums import one_thread

if TYPE_CHECKING:
    from kernbrook.engine.model import Model

NEXT, SOON, LATE = 0, 1, 2  # the committees
NAMES = "next", "soon", "late"
TRUST = 4.0  # logarithm of the weight of the model's own committee, beside the others
SEED = 0  # nothing is drawn
KEPT_LOSS = 0.99  # of a loss, for each row judged later
LEAST = 10  # rows judged before a committee counts
TOGETHER = 3  # rows that a model of before scores one after the other

# Rows that wait for their labels: said by who keeps them, while more are predicted.
waiting: ContextVar[int] = ContextVar("waiting", default=0)


class Distant(NamedTuple):
    """A committee for one class of horizons.

    progress : of the model's experts and those of the lines
    calibration : of its decisions; None before the first row
    rows : (1,) int, judged so far
    losses : of late, of its decisions and of the mean, mistakes; or squared errors, and of numbers
        those of the model's own committee and of the trend, too
    """

    progress: Progress
    calibration: Any
    rows: Labels
    losses: Floats


class Kept(NamedTuple):
    """A model as it was.

    round : (1,) int, rows that it had met
    """

    round: Labels
    states: tuple[Any, ...]
    scaler: Any
    progress: Progress
    lines: Lines


class Scored(NamedTuple):
    """What all experts say of rows, with their numbers in the lap.

    kind : of the committee whose horizons these are
    """

    kind: int
    which: Labels
    scores: Floats
    sizes: Floats


class Over(NamedTuple):
    """A lap that is over, and from which something is to be learned still.

    committees : as they were in the lap
    begun : a calibration as the first one begins, where a committee has none yet
    scored : what the older model says of its rows, after the second step
    step : of three: lines learn; the first committee judges, the older model scores; the second one
        judges
    """

    committees: Committees
    begun: Any
    scored: Sequence[Scored] = ()
    step: int = 0


class Committees:
    """What a model knows of predictions far from the last label; see the module.

    Parameters
    ----------
    model : of which these are

    Attributes
    ----------
    shortest : rows of a lap at first
    start : rows that the model had met when this lap began
    lap, end : rows since then; rows that the model has met when the lap ends
    lines : regressions on all rows of the laps before
    soon, late : the committees
    now, old : the model at the start of this lap, and of this or one of the last three; or None
    over : the lap before, until all is learned from it; `Model.judged` sees to that
    said : what `now` says of rows of this lap, once all those have come; then `now` is None
    """

    now: Kept | None = None
    old: Kept | None = None
    over: Over | None = None
    said: tuple[Scored, ...] = ()

    def __init__(self, model: Model):
        setting, terms = model.setting, model.choices.terms
        ahead = getattr(model.combiner, "far_ahead", None)
        self.combiner = model.combiner if ahead is None else ahead(setting.regression)
        more = N_LINES + 1 + setting.regression  # experts beside the model's own
        strict = np.append(terms.strict, np.zeros(more, dtype=bool))
        self.choices = model.choices._replace(
            combiner=typed(self.combiner.rule()), terms=terms._replace(strict=strict, given=True)
        )
        blocks_fit = model.block_rows <= LAPS_LATE * SHORTEST
        self.shortest, self.start = SHORTEST if blocks_fit else model.block_rows // 2, 0
        self.begin_lap(model)
        self.lines = lines.begun(setting.width, setting.scores)
        self.soon, self.late = self.first(model), self.first(model)

    def length(self, start: int) -> int:
        """Rows of the lap that begins there."""
        return self.shortest * (1 if start < SHORT_LAPS * self.shortest else LAPS_LATE)

    def first(self, model: Model) -> Distant:
        """A committee before it has judged a row: it follows the model's own."""
        experts = len(self.choices.terms.strict)
        progress = begun(experts, self.combiner.state_size(experts), SEED)
        progress.log_weights[:] = -TRUST
        progress.log_weights[model.n_experts] = 0.0
        losses = np.zeros(1 + len(rivals(model.setting.regression)))
        return Distant(progress, None, np.zeros(1, dtype=np.int64), losses)

    def begin_lap(self, model: Model) -> None:
        """Begin the lap at `start`, of which `now` and `old` judge rows."""
        n = self.length(self.start)
        wanted = np.zeros(n, dtype=bool)
        wanted[SOON_PLACES - 1] = True
        wanted[self._rows_at(self.old, late_places(n), n)] = True
        self.lap, self.end = Lap(wanted, model.setting.width, model.sparse), self.start + n

    @property
    def due(self) -> int:
        """Rows that the model has met when there is something to do."""
        return self.end if self.now is None else self.start + int(SOON_PLACES[-1])

    def _rows_at(self, kept: Kept | None, places: Labels, n: int) -> Labels:
        """The rows of this lap of n, from 0, at such places after a model was kept."""
        if kept is None:
            return np.empty(0, dtype=np.int64)
        rows = places - 1 - (self.start - int(kept.round[0]))
        return np.asarray(rows[(rows >= 0) & (rows < n)])

    def begin_at(self, model: Model) -> None:
        """Begin in the middle of a lap, of whose rows so far nothing is known."""
        rounds = model.rounds
        self.start = rounds - rounds % self.length(rounds)
        self.now = self.old = None
        self.said = ()
        self.begin_lap(model)

    def note(self, rounds: int, X: Any, labels: Any, weights: Any) -> None:
        """Rows that are learned next, after so many. They count once they have been learned."""
        self.lap.put(rounds - self.start, X, labels, weights)

    def foresee(self, row: int, reader_of: Callable[[Kept], Any]) -> None:
        """Ask the models that judge rows of this lap what they say of a few, up to this row.

        At the end of the lap they would say the same, of all at once, which would take one row's
        time. Of a few together: a model that was kept has to come back into the processor's cache.

        reader_of : what scores rows one by one as a model that was kept, or None
        """
        lap = self.lap
        for kept, places in ((self.now, SOON_PLACES), (self.old, late_places(len(lap)))):
            rows = self._rows_at(kept, places, len(lap)).tolist()
            if kept is None or row not in rows:
                continue
            i = rows.index(row) + 1
            due = i % TOGETHER == 0 or row == rows[-1]
            if not (due or i == 2) or (reader := reader_of(kept)) is None:
                continue  # with the second row the reader is made, which takes as long as to ask it
            for one in rows[i - (i % TOGETHER or TOGETHER) : i] if due else ():
                if lap.tells[one] and lap.X[one] is not None:
                    said = reader.scored(lap.X[one] if lap.all else lap.X[one][0])
                    if said is not None:
                        lap.said[int(kept.round[0]), one] = said

    def at_hand(self, model: Model) -> None:
        """Load what the end of a lap calls: no row waits for it then."""
        nothing, which = np.empty(0), np.empty(0, dtype=np.int64)
        kept = Kept(which, model.states, model.scaler, model.progress, self.lines)
        X, board = np.empty((0, model.setting.width)), board_of(model, 0, nothing, nothing)
        scored = [Scored(SOON, which, *extended(model, board, kept, X, which))]
        self._judged(model, SOON, scored, None)
        with one_thread():
            pass

    # -- the end of a lap -------------------------------------------------------------------

    def settled(self, model: Model) -> Self:
        """After what is due, up to the last row that the model has learned."""
        self.judge(model)
        other = copy(self)
        if self.now is not None:
            which = self._places(self.now, SOON_PLACES)
            other.said = tuple(self._scored(model, SOON, self.now, which))
            other.now = None
        return other if model.rounds < self.end else other._closed(model)

    def _closed(self, model: Model) -> Self:
        """After this lap, whose last row is the last one that the model has learned.

        All else that is learned from this lap is left to `judge`.
        """
        other = copy(self)
        begins = None in (self.soon.calibration, self.late.calibration)
        other.over = Over(self, model.certain().begun_far() if begins else None)
        other.start, other.said = self.end, ()
        other.now = self._kept(model)
        if other.start % (LAPS_LATE * self.length(other.start)) == 0:
            other.old = other.now
        other.begin_lap(model)
        return other

    def judge(self, model: Model, at_once: bool = True) -> None:
        """Learn from the lap before, if that is left; or go on by one step."""
        while self.over is not None:
            was, begun, scored, step = self.over
            done: dict[str, Any] = {}
            if step == 0:
                known, now = was._learned_lines(model), self.now
                now = None if now is None else now._replace(lines=known)
                old = now if self.old is self.now else self.old
                done.update(lines=known, now=now, old=old)
            elif step == 1:
                done["soon"] = was._judged(model, SOON, [*was.said], begun)
                where = was._places(was.old, late_places(len(was.lap)))
                scored = was._scored(model, LATE, was.old, where)
            else:
                done["late"] = was._judged(model, LATE, [*was.said, *scored], begun)
            after = Over(was, begun, scored, step + 1) if step < 2 else None
            self.__dict__.update(done, over=after)
            if not at_once:
                return

    def _learned_lines(self, model: Model) -> Lines:
        """The regressions once they have learned from this lap."""
        lap = self.lap
        X = lap.X if lap.all else np.empty((len(lap), 0))
        with one_thread():
            return lines.learned(self.lines, X, lap.labels, lap.weights, model.setting.regression)

    def _places(self, kept: Kept | None, places: Labels) -> Labels:
        """The rows of this lap to be judged: with a label."""
        rows = self._rows_at(kept, places, len(self.lap))
        judged = self.lap.tells[rows]
        if not self.lap.all:  # or a lap that began in its middle
            judged &= np.array([self.lap.X[row] is not None for row in rows], dtype=bool)
        return np.asarray(rows[judged])

    def _judged(self, model: Model, kind: int, scored: list[Scored], begun: Any) -> Distant:
        """A committee after it has judged rows of this lap, in their order; begun : see `Over`."""
        lap, one = self.lap, self.of(kind)
        if not scored:
            return one
        which = np.concatenate([part.which for part in scored])
        order = np.argsort(which, kind="stable")
        which = which[order]
        scores = np.concatenate([part.scores for part in scored])[order]
        sizes = np.concatenate([part.sizes for part in scored])[order]
        kinds = np.concatenate([np.full(len(part.which), part.kind) for part in scored])
        own = kinds[order] == kind
        n, progress = len(which), copied(one.progress)
        board = _board(model, scores, sizes, lap.labels[which], lap.weights[which])
        # As they would have been said.
        before, leanings = self._voted(model, one, board, self.lines)
        leanings = self._guarded(one, board, before, leanings, self.lines)[1]
        decisions, asked = np.zeros((n, scores.shape[2])), np.zeros(n, dtype=bool)
        links, kept = passes.stores((), board, False)
        passes.rounds(
            passes.committee(self.choices), self.choices.terms, progress, links, board,
            decisions, asked, scratch_of(scores.shape[1]),
        )  # fmt: skip
        del kept
        if flaw(progress) or not (np.isfinite(leanings).all() and np.isfinite(decisions).all()):
            return one  # sums of what was said so far ahead overflow: these rows tell nothing
        calibration = None if one.calibration is None else one.calibration.copy()
        if own.any():
            calibration = calibration or begun.copy()
            calibration.learn(leanings[own], board.labels[own], board.importance[own], own[own])
        losses = one.losses * KEPT_LOSS ** own.sum()
        others = [board.scores[:, at] for at in rivals(board.numbers)]
        for i, said in enumerate((before, *others)):
            losses[i] += loss_on(said[own], board.labels[own], board.numbers)
        losses = np.minimum(losses, MOST_LOSS)
        rows = np.minimum(one.rows + own.sum(), COUNTED)
        after = Distant(progress, calibration, rows, losses)
        if calibration is not None and own.any() and not board.numbers:
            # What is usual, of the committee as it is now.
            voted = self._voted(model, after, board, self.lines)
            leanings = self._guarded(after, board, *voted, self.lines)[1]
            calibration.centre(leanings[own])
        return after

    def _kept(self, model: Model) -> Kept:
        """The model as it is; copied where single rows change its arrays in place, or may do so."""
        pairs = zip(model.stores, model.states, strict=True)
        states = tuple(store.snapshot(state) for store, state in pairs)
        if model.session is not None:
            states = deepcopy(states)
        at = np.array([model.rounds])
        return Kept(at, states, model.scaler.snapshot(), copied(model.progress), self.lines)

    def _scored(self, model: Model, kind: int, kept: Kept | None, which: Labels) -> list[Scored]:
        """What a model as it was says of rows of this lap; nothing where it cannot see them."""
        if kept is None or not len(which):
            return []
        X, found, at = self.lap.rows(which), [], int(kept.round[0])
        ahead = which + 1 + self.start - at
        said = [self.lap.said.get((at, row)) for row in which.tolist()]
        if None not in said:
            nothing = np.full(len(which), np.nan)
            board = board_of(model, len(which), nothing, nothing)
            board.scores[:], board.sizes[:] = zip(*said, strict=True)
            return [Scored(kind, which, *extended(model, board, kept, X, ahead))]
        try:
            views = views_of(model, kept.scaler.transform(X), rows_of(model, X))
            for where, board in read(model, views, X, kept.states):
                found.append(extended(model, board, kept, X[where], ahead[where]))
        except NonFiniteError:  # `predict` would have refused these rows
            return []
        scores, sizes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return [Scored(kind, which, scores, sizes)]

    # -- deciding ---------------------------------------------------------------------------

    def kinds(self, places: Labels) -> NDArray[np.int8]:
        """(n,) the committee for each horizon, from 1: the nearest that counts yet."""
        kinds = np.where(places > 1, SOON, NEXT).astype(np.int8)
        if self.late.rows[0] >= LEAST:
            kinds[places > FAR] = LATE
        if self.soon.rows[0] < LEAST:
            kinds[kinds == SOON] = NEXT
        return kinds

    def next_alone(self, place: int) -> bool:
        """Whether the model's own committee decides on a row at a place, and all before it."""
        soon = self.soon.rows[0] >= LEAST
        return not (soon or (place > FAR and self.late.rows[0] >= LEAST))

    def decide(
        self, model: Model, board: Board, X: Any, ahead: tuple[NDArray[np.int8], Labels],
        decisions: Floats, leanings: Floats,
    ) -> None:  # fmt: skip
        """Decisions and leanings on rows that are not next, out; those of the model are there.

        board : of the rows, X, as the model's experts see them
        ahead : (n,) and (n,) their committees, and their places after the last label
        """
        kinds, places = ahead
        far = np.flatnonzero(kinds != NEXT)
        if not len(far):
            return
        known = self.lines
        if board.numbers:
            n = model.rounds - self.start
            own = self.lap.X[:n] if self.lap.all else np.empty((n, 0))
            known = lines.followed(known, own, self.lap.labels[:n], self.lap.weights[:n])
        scores, sizes = beside(board, decisions, known, X, places)
        for kind in (SOON, LATE):
            own = np.flatnonzero(kinds == kind)
            if len(own):
                nothing = np.full(len(own), np.nan)
                board = _board(model, scores[own], sizes[own], nothing, nothing)
                one = self.of(kind)
                voted = self._voted(model, one, board, known)
                said, leant = self._guarded(one, board, *voted, known)
                if said.shape[1] > 1:
                    leading = decisions[own].argmax(axis=1)
                    own, new = self._new(one, own, leading)
                    said, leant = said[~new], leant[~new]
                decisions[own], leanings[own] = said, leant

    @staticmethod
    def _new(one: Distant, rows: Labels, leading: Labels) -> tuple[Labels, Any]:
        """The rows of which a committee has judged the leading class, and which of all it has not.

        leading : (n,) the classes that the model's own committee says
        """
        counts = np.zeros(leading.max() + 1) if one.calibration is None else one.calibration.counts
        new = counts[leading] < LEAST
        return rows[~new], new

    def _voted(
        self, model: Model, one: Distant, board: Board, known: Lines
    ) -> tuple[Floats, Floats]:
        """What a committee decides, and what its experts lean to.

        known : numbers are held to what is known of the labels so far
        """
        decisions = np.zeros((len(board.labels), board.scores.shape[2]))
        passes.decide(
            passes.committee(self.choices), self.choices.terms, one.progress, board,
            decisions, np.empty(ROOM, dtype=np.int64),
        )  # fmt: skip
        if board.numbers:
            trend = board.scores[:, -N_LINES - 1, 0]
            return lines.held(known, decisions, trend), lines.held(known, board.leanings, trend)
        return decisions, board.leanings.copy()

    @staticmethod
    def _guarded(
        one: Distant, board: Board, decisions: Floats, leanings: Floats, known: Lines
    ) -> tuple[Floats, Floats]:
        """The same; what the best of the rivals says where the committee was worse of late.

        Of numbers what the model's own committee says where all is otherwise since rows were
        judged: all lines err.
        """
        rows = (1.0 - KEPT_LOSS ** one.rows[0]) / (1.0 - KEPT_LOSS)
        at, best = rivals(board.numbers), int(one.losses[1:].argmin())
        if board.numbers and rows > 0 and lines.broken(known, one.losses[1] / rows):
            best = 1
        elif not one.losses[0] > one.losses[1 + best]:
            return decisions, leanings
        said = board.scores[:, at[best]]
        return said.copy(), (said.copy() if board.numbers else leanings)

    def of(self, kind: int) -> Distant:
        """A committee."""
        return self.soon if kind == SOON else self.late


def rivals(numbers: bool) -> tuple[int, ...]:
    """Places among the experts of the mean, and of numbers of the own committee and the trend."""
    return (-N_LINES, -N_LINES - 2, -N_LINES - 1) if numbers else (-N_LINES,)


def loss_on(said: Floats, labels: Floats, numbers: bool) -> float:
    """Mistakes of decisions, (n, c), or the sum of squared errors."""
    if numbers:
        with np.errstate(over="ignore"):
            return float(((said[:, 0] - labels) ** 2).sum())
    leading = said[:, 0] >= 0 if said.shape[1] == 1 else said.argmax(axis=1)
    return float((leading != labels).sum())


def beside(
    board: Board, decisions: Floats, own: Lines, X: Any, places: Labels
) -> tuple[Floats, Floats]:
    """Scores and sizes: of the experts, of the model's own committee, of the trend, of lines.

    places : (n,) of the rows after the last label that `own` knows
    """
    more = np.concatenate([decisions[:, None], lines.said(own, X, places, board.numbers)], axis=1)
    scores = np.concatenate([board.scores, more], axis=1)
    return scores, np.concatenate([board.sizes, np.abs(more)], axis=1)


def extended(
    model: Model, board: Board, kept: Kept, X: Any, places: Labels
) -> tuple[Floats, Floats]:
    """As `beside`, of a model as it was."""
    decisions, room = np.zeros((len(board.labels), board.scores.shape[2])), np.empty(ROOM, np.int64)
    committee = passes.committee(model.choices)
    passes.decide(committee, model.choices.terms, kept.progress, board, decisions, room)
    return beside(board, decisions, kept.lines, X, places)


def _board(model: Model, scores: Floats, sizes: Floats, labels: Floats, weights: Floats) -> Board:
    """What all experts say of rows; labels and weights are copied."""
    numbers, (n, experts, c) = model.setting.regression, scores.shape
    board = empty_board(n, experts, c, labels.copy(), weights.copy(), numbers, model.inputs)
    most = most_of(numbers)
    sound = (sizes < most) & (np.abs(scores) < most)
    board.scores[:], board.sizes[:] = np.where(sound, scores, 0.0), np.where(sound, sizes, 0.0)
    return board
