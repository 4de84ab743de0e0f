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
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.horizons import distant, lines
from kernbrook.engine.horizons.distant import NO_SEED, Distant, beside, inputs
from kernbrook.engine.horizons.kept import Kept, kept_from
from kernbrook.engine.horizons.laps import (
    FAR,
    LAPS_LATE,
    SHORT_LAPS,
    SHORTEST,
    SOON_PLACES,
    Lap,
    check_labels,
    late_places,
)
from kernbrook.engine.horizons.lines import N_LINES, Lines
from kernbrook.engine.passes import Committee
from kernbrook.engine.progress import Board
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.state import flatten, pick
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Ints, check_array, within
from kernbrook.gram.sums import one_thread

if TYPE_CHECKING:
    from kernbrook.engine.model import Model

NEXT, SOON, LATE = 0, 1, 2  # the committees
NAMES = "next", "soon", "late"
TOGETHER = 3  # rows that a model of before scores one after the other


class Scored(NamedTuple):
    """What all experts say of rows, with their numbers in the lap.

    kind : of the committee whose horizons these are
    chances : (n, k) of the classes, by the calibration of the model's own committee
    """

    kind: int
    which: Ints
    scores: Floats
    sizes: Floats
    chances: Floats


class Over(NamedTuple):
    """A lap that is over, and from which something is to be learned still.

    horizons : as they were in the lap
    certain : the model's calibration at its end
    scored : what the older model says of its rows, after the second step
    step : of three: lines learn; the first committee judges, the older model scores; the second one
        judges
    """

    horizons: Horizons
    certain: Any
    scored: Sequence[Scored] = ()
    step: int = 0


class Horizons:
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
    soon, late : the committees; fresh : one that has judged nothing
    now, old : the model at the start of this lap, and of this or one of the last three; or None
    over : the lap before, until all is learned from it; `Model.judged` sees to that
    said : what `now` says of rows of this lap, once all those have come; then `now` is None
    """

    now: Kept | None = None
    old: Kept | None = None
    over: Over | None = None
    said: tuple[Scored, ...] = ()

    def __init__(self, model: Model):
        setting, own = model.setting, model.committee
        ahead = getattr(own.combiner, "far_ahead", None)
        combiner = own.combiner if ahead is None else ahead(setting.regression)
        more = N_LINES + 1 + setting.regression  # experts beside the model's own
        strict = np.append(own.choices.terms.strict, np.zeros(more, dtype=bool))
        choices = own.choices._replace(
            combiner=cast_rule(combiner.rule()), terms=own.choices.terms._replace(strict=strict)
        )
        blocks_fit = model.block_rows <= LAPS_LATE * SHORTEST
        self.shortest, self.start = SHORTEST if blocks_fit else model.block_rows // 2, 0
        self.lines = lines.begun(setting.width, setting.scores)
        self.begin_lap(model)
        added = [
            e
            for store in model.stores
            if getattr(getattr(store, "learner", None), "adds_ahead", False)
            for e in store.experts
        ]
        one = distant.begun(Committee(choices, combiner, setting), model.n_experts, added)
        self.fresh = self.soon = self.late = one

    def length(self, start: int) -> int:
        """Rows of the lap that begins there."""
        return self.shortest * (1 if start < SHORT_LAPS * self.shortest else LAPS_LATE)

    def left(self, rounds: int) -> int:
        """Rows of the lap that are not among so many."""
        return self.length(rounds) - rounds % self.length(rounds)

    def begin_lap(self, model: Model) -> None:
        """Begin the lap at `start`, of which `now` and `old` judge rows."""
        n = self.length(self.start)
        wanted = np.zeros(n, dtype=bool)
        wanted[SOON_PLACES - 1] = True
        wanted[self._rows_at(self.old, late_places(n), n)] = True
        width = model.setting.width
        self.lap = Lap(wanted, width, model.sparse, whole=self.lines.scale.shape[1] == width)
        self.end = self.start + n

    @property
    def due(self) -> int:
        """Rows that the model has met when there is something to do."""
        return self.end if self.now is None else self.start + int(SOON_PLACES[-1])

    def _rows_at(self, kept: Kept | None, places: Ints, n: int) -> Ints:
        """The rows of this lap of n, from 0, at such places after a model was kept."""
        if kept is None:
            return np.empty(0, dtype=np.int64)
        rows = places - 1 - (self.start - kept.model.rounds)
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
            rows = self._rows_at(kept, places, len(lap))
            if kept is None or row not in rows:
                continue
            i = int(rows.searchsorted(row)) + 1
            due = i % TOGETHER == 0 or row == rows[-1]
            if not (due or i == 2) or (reader := reader_of(kept)) is None:
                continue  # with the second row the reader is made, which takes as long as to ask it
            some = rows[i - (i % TOGETHER or TOGETHER) : i] if due else rows[:0]
            for one in lap.judged(some).tolist():
                said = reader.scored(lap.X[one] if lap.all else lap.X[one][0])
                if said is not None:
                    lap.said[kept.model.rounds, one] = said

    def at_hand(self, model: Model) -> None:
        """Load what the end of a lap calls: no row waits for it then."""
        nothing, which = np.empty(0), np.empty(0, dtype=np.int64)
        X, board = np.empty((0, model.setting.width)), model.committee.board(nothing, nothing)
        scored = [Scored(SOON, which, *self._kept(model).beside(board, X, which))]
        self._judged(SOON, scored, model.certain())
        with one_thread():
            pass

    # -- the end of a lap -------------------------------------------------------------------

    def settled(self, model: Model) -> Self:
        """After what is due, up to the last row that the model has learned."""
        self.judge(model)
        other = copy(self)
        if self.now is not None:
            other.said = tuple(self._scored(SOON, self.now, SOON_PLACES))
            other.now = None
        return other if model.rounds < self.end else other._closed(model)

    def _closed(self, model: Model) -> Self:
        """After this lap, whose last row is the last one that the model has learned.

        All else that is learned from this lap is left to `judge`.
        """
        other = copy(self)
        other.over = Over(self, model.certain())
        other.start, other.said = self.end, ()
        other.now = self._kept(model)._replace(model=model.snapshot())
        if other.start % (LAPS_LATE * self.length(other.start)) == 0:
            other.old = other.now
        other.begin_lap(model)
        return other

    def _kept(self, model: Model) -> Kept:
        """A model as it is, to judge rows later."""
        return Kept(model, self.lines, None if model.setting.regression else model.certain())

    def judge(self, model: Model, at_once: bool = True) -> None:
        """Learn from the lap before, if that is left; or go on by one step."""
        while self.over is not None:
            was, certain, scored, step = self.over
            done: dict[str, Any] = {}
            if step == 0:
                known, now = was._learned_lines(model), self.now
                now = None if now is None else now._replace(lines=known)
                old = now if self.old is self.now else self.old
                done.update(lines=known, now=now, old=old)
            elif step == 1:
                done["soon"] = was._judged(SOON, was.said, certain)
                scored = was._scored(LATE, was.old, late_places(len(was.lap)))
            else:
                done["late"] = was._judged(LATE, [*was.said, *scored], certain)
            after = Over(was, certain, scored, step + 1) if step < 2 else None
            self.__dict__.update(done, over=after)
            if not at_once:
                return

    def _learned_lines(self, model: Model) -> Lines:
        """The regressions once they have learned from this lap."""
        lap = self.lap
        with one_thread():
            return lines.learned(
                self.lines, lap.first(len(lap)), lap.labels, lap.weights, model.setting.regression
            )

    def _scored(self, kind: int, kept: Kept | None, places: Ints) -> list[Scored]:
        """What a model as it was says of rows to be judged, at such places; perhaps nothing."""
        which = self.lap.judged(self._rows_at(kept, places, len(self.lap)))
        if kept is None or not len(which):
            return []
        at = kept.model.rounds
        said = [self.lap.said.get((at, row)) for row in which.tolist()]
        found = kept.scored(self.lap.rows(which), which + 1 + self.start - at, said)
        return [] if found is None else [Scored(kind, which, *found)]

    def _judged(self, kind: int, scored: Sequence[Scored], certain: Any) -> Distant:
        """A committee after it has judged rows of this lap, in order; certain : see `Over`."""
        one = self.late if kind == LATE else self.soon
        if not scored:
            return one
        parts = [(np.full(len(part.which), part.kind), *part[1:]) for part in scored]
        order = np.argsort(np.concatenate([part.which for part in scored]), kind="stable")
        kinds, which, scores, sizes, chances = (
            np.concatenate(part)[order] for part in zip(*parts, strict=True)
        )
        board = one.board(scores, sizes, self.lap.labels[which], self.lap.weights[which])
        return one.judged(board, chances, kinds == kind, self.lines, certain)

    # -- deciding ---------------------------------------------------------------------------

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """(n,) the committee for each horizon, from 1: the nearest that counts yet."""
        kinds = np.where((places > 1) & self.soon.counts, SOON, NEXT).astype(np.int8)
        if self.late.counts:
            kinds[places > FAR] = LATE
        return kinds

    def next_alone(self, place: int) -> bool:
        """Whether the model's own committee decides on a row at a place, and all before it."""
        return not (self.soon.counts or (place > FAR and self.late.counts))

    def decide(
        self, model: Model, board: Board, X: Any, places: Ints, decisions: Floats,
        leanings: Floats,
    ) -> Floats:  # fmt: skip
        """Decisions on rows that are not next, out; those of the model are there.

        board : of the rows, X, as the model's experts see them
        places : (n,) of the rows after the last label
        leanings : of the model
        Gives what calibrations take, see `distant.inputs`.
        """
        kinds, known = self.kinds(places), self.lines
        if board.numbers:
            n = model.rounds - self.start
            own, lap = self.lap.first(n), self.lap
            known = lines.followed(known, own, lap.labels[:n], lap.weights[:n])
        scores, sizes = beside(board, decisions, known, X, places)
        found = leanings.copy()
        for kind, one in ((SOON, self.soon), (LATE, self.late)):
            which = np.flatnonzero(kinds == kind)
            if not len(which):
                continue
            nothing = np.full(len(which), np.nan)
            said, leant = one.says(one.board(scores[which], sizes[which], nothing, nothing), known)
            if said.shape[1] > 1:
                found[which, said.shape[1] :] = leant[:, said.shape[1] :]  # of the line
                judged = one.knows(decisions[which].argmax(axis=1))
                which, said, leant = which[judged], said[judged], leant[judged]
            decisions[which], found[which] = said, leant
        return inputs(leanings, found, board)

    # -- as arrays --------------------------------------------------------------------------

    def nbytes(self, model: Model) -> int:
        """Bytes of all this, but for arrays that the model has in use."""
        lap = self.lap.arrays(model.rounds - self.start)
        found = sum(array.nbytes for array in (*lap.values(), *self.lines))
        found += sum(array.nbytes for one in (self.soon, self.late) for array in one.progress)
        kept = {id(one): one for one in (self.now, self.old) if one is not None}
        return found + sum(one.nbytes(model) for one in kept.values())

    def arrays(self, model: Model) -> dict[str, NDArray[Any]]:
        """Everything that was learned, by name."""
        tree: dict[str, Any] = {
            "start": np.array([self.start]),
            "lap": self.lap.arrays(model.rounds - self.start),
            "lines": lines.arrays(self.lines),
            "soon": self.soon.arrays(),
            "late": self.late.arrays(),
        }
        for scored in self.said:
            tree["said"] = {name: getattr(scored, name) for name in Scored._fields[1:]}
        if self.now is not None:
            tree["now"] = self.now.arrays(model, self.lines)
        if self.old is not None and self.old is not self.now:
            tree["old"] = self.old.arrays(model, self.lines)
        return flatten(tree)

    def restore(self, model: Model, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave; the model has what it has learned already.

        InputError where an array is missing, or numbers are beyond their ranges. Files of before
        there were horizons have none of all: these begin.
        """
        self.begin_at(model)
        if not arrays:
            return
        with within("lines."):
            self.lines = lines.restored(self.lines, pick(arrays, "lines"))
        for name in NAMES[1:]:
            with within(f"{name}."):
                one = self.fresh.restored(pick(arrays, name), model.calibration.begun_far())
            setattr(self, name, one)
        for name in ("now", "old"):
            if own := pick(arrays, name):
                with within(f"{name}."):
                    setattr(self, name, kept_from(model, self.lines, own))
        if self.old is None and self.start % (LAPS_LATE * self.length(self.start)) == 0:
            self.old = self.now
        n = model.rounds - self.start
        if "said.chances" in arrays:  # older files have none: these rows are not judged
            with within("said."):
                self.said = (self._said_from(pick(arrays, "said"), n),)
        self.begin_lap(model)
        with within("lap."):
            self.lap.restore(pick(arrays, "lap"), n)
            check_labels(self.lap.labels, model.setting)

    def _said_from(self, arrays: Mapping[str, NDArray[Any]], n: int) -> Scored:
        """What was said of some of the n rows of this lap, from its arrays."""
        which, committee = arrays["which"], self.soon.committee
        check_array("which", which, (len(which),), np.int64)
        if not ((which >= 0) & (which < n)).all():
            raise InputError("which: expected rows of the lap")
        shape = len(which), committee.n_experts, committee.scores
        scores, sizes = (
            check_array(k, arrays.get(k), shape, np.float64) for k in Scored._fields[2:4]
        )
        own = len(which), 0 if committee.numbers else max(committee.scores, 2)
        chances = check_array("chances", arrays.get("chances"), own, np.float64)
        if not ((chances >= 0) & (chances <= 1)).all():
            raise InputError("chances: expected probabilities")
        return Scored(SOON, which, scores, sizes, chances)

    def unite(self, model: Model, apart: Apart) -> None:
        """Know what several models know of this, apart; rows of this lap are not judged."""
        far = apart.over(lambda one: one.judged())
        self.lines = lines.merged(far.of("lines"))
        for name in NAMES[1:]:
            each = far.of(name)
            calibration = model.calibration.begun_far()
            calibration.unite(
                apart.over(
                    lambda one, name=name: (  # type: ignore[misc]
                        getattr(one.horizons, name).calibration or one.certain().begun_far()
                    )
                )
            )
            rows, committee = each.of("rows").added(), self.soon.committee
            progress = committee.merged(each.of("progress"), NO_SEED)
            losses = each.of("losses").averaged()
            one = Distant(committee, progress, calibration if rows[0] else None, rows, losses)
            setattr(self, name, one)
