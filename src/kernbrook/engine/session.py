"""Rows one by one, and few together: what a block does, in buffers that are made once.

The model's own arrays are these buffers, and compiled code changes them in place. No interruption
comes into compiled code, and a row that overflows there is undone there; so is a chunk of rows that
ends, or is interrupted, before all is learned. So rows are learned as a whole or not at all, as a
block is.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
from numba import typeof

from kernbrook.compiler.compiling import stamp
from kernbrook.compiler.inner import NotCompiled, nothing_compiled
from kernbrook.compiler.links import naming
from kernbrook.engine.blocks import COMBINED, check_combined, check_rounds, clock_of
from kernbrook.engine.deciding import Verdicts
from kernbrook.engine.importance import rescale
from kernbrook.engine.learning import Answer, check_scores
from kernbrook.engine.model import Model
from kernbrook.engine.progress import MOST_ROUNDS, ROUND, WEIGHED, Due, Progress
from kernbrook.engine.rooms import Room, keep_links, room_of, workspace_of
from kernbrook.engine.rounds import run_pass
from kernbrook.engine.row import (
    DONE,
    LEAPT,
    NONE,
    NOT_COMBINED,
    NOT_HERE,
    OVERFLOWED,
    TOO_LARGE,
    Journal,
    begin,
    begin_rows,
    close_rows,
    decide_rows,
    go_back,
    learn_row,
    learn_rows,
    take,
)
from kernbrook.engine.stores import slot_rows  # noqa: F401 (it registers)
from kernbrook.engine.stores.base import overflow
from kernbrook.engine.stores.in_rows import MOST_TOGETHER, InRows, in_rows, lay_flat
from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Floats, Ints, writeable
from kernbrook.gram.rows import IN_RANGE
from kernbrook.gram.sums import share
from kernbrook.numerics.scaling import NO_LEAP

JOURNAL = 1024  # rows between two copies of all that was learned
JOURNAL_NUMBERS = 1 << 18  # of these rows, where they are more than 256
MOST_DUE = 256  # rows that the calibration learns from later
FEW, MOST_FEW = 12, 32  # rows of a chunk that are quicker one by one, of large and small models
ALONE = 4  # rows of a chunk that are quicker one by one than together
LENGTHS = 4  # lengths of chunks for which there is room
SMALL = 1 << 19  # rows times numbers that a row may change, up to which rows go one by one
SOME = 64  # chunks of few rows before they are taken so

_learn_row, _learn_rows, _decide_rows = map(naming, (learn_row, learn_rows, decide_rows))


class RowSession:
    """A model that learns dense rows one by one, and decides on them.

    Parameters
    ----------
    model : its progress, states and scaler are in use here from now on, and change in place; others
        may replace them meanwhile
    reads_only : it learns nothing, and its arrays lie where they are
    """

    def __init__(self, model: Model, reads_only: bool = False):
        self._model, self.stamp, setting = ref(model), stamp(), model.setting
        c, d = setting.scores, setting.width
        self.width, self.scores, self.reads_only = d, c, reads_only
        self.leaps = np.full(2, NO_LEAP)
        pairs = list(zip(model.stores, model.states, strict=True))
        stores: list[InRows] = [in_rows(store, state)(store, state) for store, state in pairs]  # type: ignore[operator]
        self.stores = stores
        groups: list[Any] = [model.progress, [*model.scaler.arrays().values()]]
        if reads_only:
            self.live, self.scaling = np.empty(0, dtype=np.int64), groups[1]
            self.progress, self.scaler, self.states = model.progress, model.scaler, model.states
            for store, state in zip(stores, model.states, strict=True):
                store.over(state)
        else:
            mine = zip(stores, model.states, strict=True)
            groups += [store.changing(state) for store, state in mine]
            self.live, (progress, self.scaling, *arrays) = lay_flat(groups)
            self.progress, self.scaler = Progress(*progress), model.scaler.on(self.scaling)
            for store, in_use in zip(stores, arrays, strict=True):
                store.use(in_use)
            self.states = tuple(store.state for store in stores)
        self.saved = np.empty_like(self.live)
        long = min(JOURNAL, max(256, JOURNAL_NUMBERS // max(d, 1)))
        self.journal = Journal(
            np.full(2, NONE), np.empty((long, d)), np.empty(long), np.empty(long)
        )
        self.due = Due(
            np.empty((MOST_DUE, model.inputs * c)),
            np.empty(MOST_DUE),
            np.empty(MOST_DUE),
            np.zeros(MOST_DUE, dtype=bool),
        )
        self.row_leanings = np.empty((1, model.inputs * c))
        self.leapt = False  # of the last rows, whether one made a deviation leap
        self.kept: list[Any] = []  # what is behind the addresses in links
        space = workspace_of(self, 1, self.kept)
        self.space, self.board = space, space.board
        self.link = keep_links(take, [space], self.kept)[0]
        scores, sizes = space.failed
        self.failed = self.board._replace(scores=scores, sizes=sizes)
        self.few = min(max(FEW, SMALL // max(len(self.live), 1)), MOST_FEW)
        self.lengths: dict[int, Room | None] = {}  # of chunks; None: met once
        self.joins = True  # whether there is code for rows that come together
        self.readers: list[tuple[Any, RowSession]] = []  # of models as they were, which come first
        if not reads_only:
            self._at_hand()
            self._take_over()

    def _together(self, n: int) -> Room | None:
        """The buffers for n rows that come together.

        None for a length that is new of late, or while the code for it is not compiled.
        """
        if not ALONE < n <= MOST_TOGETHER or not self.joins:
            return None
        known, found = n in self.lengths, self.lengths.get(n)
        if known and found is None:
            try:
                with nothing_compiled():
                    found = room_of(self, n)
            except NotCompiled:
                self.joins = False
                return None
        self.lengths.pop(n, None)
        self.lengths[n] = found
        while len(self.lengths) > LENGTHS:  # the one that was met the longest time ago goes
            del self.lengths[next(iter(self.lengths))]
        return found

    def _at_hand(self) -> None:
        """Have the code for rows and for few of them: no call compiles later."""
        X, numbers, out = np.empty((0, self.width)), np.empty(0), np.empty((0, self.scores))
        learn_rows(self.link, X, numbers, numbers, out)
        link = keep_links(begin, [self.space], self.kept)[0]
        begin_rows.compile((*map(typeof, (link, X, numbers, numbers)),))
        close_rows.compile((typeof(link), typeof(out)))
        go_back.compile((typeof(link),))
        _decide_rows(self.link, X, out, self.row_leanings[:0])
        if self.model.horizons is not None:
            self.model.horizons.at_hand(self.model)
        row = [typeof(argument) for argument in (self.link, np.empty(0), 0.0, 0.0, np.empty(0))]
        learn_row.compile(tuple(row))

    @staticmethod
    def of(model: Model | None) -> RowSession | None:
        """The session of a model, begun where there is none; None where there can be none."""
        if model is None:
            return None
        quick: RowSession | None = model.session
        if quick is None or quick.stamp != stamp():
            if RowSession.hindrance(model) is not None:
                return None
            model.session = quick = RowSession(model)
        return quick

    @staticmethod
    def hindrance(model: Model) -> str | None:
        """The part of a model that cannot take rows one by one, in words; None: all can."""
        found = map(in_rows, model.stores, model.states)
        return next((kind for kind in found if isinstance(kind, str)), None)

    @staticmethod
    def for_few(model: Model, X: Any, learns: bool = False) -> RowSession | None:
        """The session for a chunk of rows, (n, d), where they are few enough; None at first.

        A chunk is quicker by a millisecond or two. What takes rows one by one is loaded, which
        takes some sixty of these: only a long run of short chunks is worth it. It is not
        compiled, which would take seconds in the midst of a stream: `learn_one` and `predict_one`
        do that.

        learns : whether they are learned, for which more may come together
        """
        most = FEW if model.session is None else model.session.few
        most = max(most, MOST_TOGETHER) if learns else most
        if not isinstance(X, np.ndarray) or not 0 < len(X) <= most:
            return None
        if model.session is not None and model.session.stamp == stamp():
            return model.session
        if model.session is None:
            model.few_met += 1
            if model.few_met < SOME:
                return None
            model.few_met = 0
        try:
            with nothing_compiled():
                return RowSession.of(model)
        except NotCompiled:
            return None

    @property
    def model(self) -> Model:
        """The model, which holds this."""
        model = self._model()
        assert model is not None
        return model

    def learn(
        self, x: Floats, label: float, weight: float, lift: float, sure: bool = False
    ) -> tuple[Floats, Any] | None:
        """(c,) the decision on a row before its label, NaN: none, is learned from.

        And what the calibration says of it, where it is asked how `sure` the model is.

        weight : of the row, as it was given; lift : how much more it counts for the experts
        None where the row, (d,), is to be refused or has numbers of a size dealt with elsewhere.
        """
        if x.shape != (self.width,):
            return None
        self._look()
        if sure:
            self.model.calibrate()  # from the rows before
        out, usual = np.empty(self.scores), self.model.usual
        if weight == usual:  # as most are: there is nothing to do
            weight = 1.0
        else:
            (weight,), usual = self._relative(np.array([label]), np.array([weight]))
        last = self._expect(x[None], label, weight)
        end = OVERFLOWED
        try:
            end = _learn_row(self.link, x, label, weight * lift, out)
        finally:
            if end > LEAPT:
                self._undo()
        self.leapt = end == LEAPT
        if end <= LEAPT:
            self.model.usual = usual
            self._foresee(1)
        certainty = self.model.calibrate() if sure and end <= LEAPT else None
        if last:
            self._settle(judges=False)
        if end <= LEAPT:
            return out, certainty
        self._refused(end)
        return None

    def learn_few(
        self, X: Floats, labels: Floats, weights: Floats, lifts: Any, sure: bool
    ) -> Answer | None:
        """Learn few rows as `learn` does, all or none; None if one is to be refused.

        None, too, where there are too many to take them one by one, and no room to take them
        together.
        """
        n = len(X)
        if X.shape[1] != self.width:
            return None
        model = self.model
        if model.horizons is not None and model.rounds + n > model.horizons.end:
            return None  # a lap ends among them
        room = self._together(n)
        if room is None and n > self.few:
            return None
        self._look()
        if sure:
            model.calibrate()  # from the rows before
        weights, usual = self._relative(labels, weights)
        last = self._expect(X, labels, weights)
        out = np.empty((n, self.scores))
        X, weights = writeable(X), weights * lifts
        end = OVERFLOWED
        try:
            if room is None:
                end = _learn_rows(self.link, X, labels, weights, out)
            else:
                end = self._learn_together(room, X, labels, weights, out)
        finally:
            if end > LEAPT:
                self._undo()
        self.leapt, answer = end == LEAPT, None
        if end <= LEAPT:
            model.usual = usual
            self._foresee(n)
            leanings = self.due.leanings[np.arange(model.rounds - n, model.rounds) % MOST_DUE]
            certainty = model.calibrate() if sure else None
            answer = Answer(out, ~np.isnan(labels), leanings, certainty)
        if last:
            self._settle()
        return answer

    @naming
    def _learn_together(
        self, room: Room, X: Floats, labels: Floats, weights: Floats, out: Floats
    ) -> int:
        """As `learn_rows`, but stores learn apart from each other, by threads."""
        clock = clock_of(self.progress)

        def learn(task: tuple[Ints, int, int]) -> bool:
            fine: bool = run_pass(*task, clock)
            return fine

        end: int = begin_rows(room.link, X, labels, weights)
        if end <= LEAPT and not room.space.interleaved:
            fine = share(room.threads, learn, room.tasks, to_the_end=True)
            end = end if all(fine) else OVERFLOWED
        return max(end, close_rows(room.link, out)) if end <= LEAPT else end

    def _undo(self) -> None:
        """Go back to where the last rows began, if they were not all learned."""
        if self.journal.n[1] != NONE:
            go_back(self.link)

    def _settle(self, judges: bool = True) -> None:
        """Settle what is due, and drop readers of models that judge no more rows."""
        self.model.settle(judges)
        far, readers = self.model.horizons, self.readers
        self.readers = [pair for pair in readers if pair[0] is far.now or pair[0] is far.old]

    def _foresee(self, n: int) -> None:
        """Have earlier models score some of the last n rows, which the lap's end would do else."""
        model = self.model
        horizons = model.horizons
        if horizons is None:
            return
        first = int(self.progress.counters[ROUND]) - n - horizons.start
        if first > 0:  # after a copy of so much, the first row of a lap takes long by itself
            horizons.judge(model, at_once=False)
        for row in range(first, first + n):
            if horizons.lap.wanted[row]:
                horizons.foresee(row, self._reader)

    def _reader(self, kept: Any) -> RowSession | None:
        """The session that scores rows as a kept model; None: the model takes none one by one."""
        reader = next((session for was, session in self.readers if was is kept), None)
        if reader is None:
            try:
                with nothing_compiled():
                    reader = RowSession(kept.model, reads_only=True)
            except NotCompiled:
                return None
            self.readers.append((kept, reader))
        return reader

    def scored(self, x: Floats) -> tuple[Floats, Floats] | None:
        """(e, c) scores and sizes of a row, (d,); None where it is to be refused."""
        try:
            if self.decide(x) is None:
                return None
        except NonFiniteError:
            return None
        return self.board.scores[0].copy(), self.board.sizes[0].copy()

    def _relative(self, labels: Floats, weights: Floats) -> tuple[Floats, float]:
        """Weights of the next rows as they count, and the mean weight after them."""
        before = int(self.progress.counters[WEIGHED])
        return rescale(weights, ~np.isnan(labels), self.model.usual, before)

    def _expect(self, X: Floats, labels: Any, weights: Any) -> bool:
        """Note the next rows, from which the calibration and the lap learn later.

        weights : of the rows, as they count
        Returns whether there is something to settle after them.
        """
        n, at, model = len(X), int(self.progress.counters[ROUND]), self.model
        if at + n > MOST_ROUNDS:
            check_rounds(at + n)
        if at + n - model.calibrated > MOST_DUE:
            model.calibrate()
        several = isinstance(labels, np.ndarray)
        where = np.arange(at, at + n) % MOST_DUE if several else at % MOST_DUE
        self.due.labels[where], self.due.weights[where] = labels, weights
        if model.horizons is None:
            return False
        if at >= model.horizons.end:  # an interruption left a lap open
            model.settle()
        model.horizons.note(at, X, labels, weights)
        return bool(at + n >= model.horizons.due)

    def decide(self, x: Floats) -> Verdicts | None:
        """Decide on one row, (d,), the next one, as `deciding.decide`; None as for `learn`."""
        if x.shape != (self.width,):
            return None
        self._look()
        out = np.empty((1, self.scores))
        end = _decide_rows(self.link, x[None], out, self.row_leanings)
        if end == DONE:
            return Verdicts(out, self.row_leanings)
        self._refused(end)
        return None

    def decide_few(self, X: Floats, places: Ints | None) -> Verdicts | None:
        """Decide on few rows, (n, d), as `deciding.decide`; None if one is to be refused."""
        if X.shape[1] != self.width:
            return None
        self._look()
        n, X, horizons = len(X), writeable(X), self.model.judged()
        kinds = None if places is None or horizons is None else horizons.kinds(places)
        out, leanings = np.empty((n, self.scores)), np.empty((n, self.due.leanings.shape[1]))
        if horizons is None or kinds is None or not kinds.any():
            end = _decide_rows(self.link, X, out, leanings)
            return Verdicts(out, leanings, kinds) if end == DONE else None
        board = self.model.committee.board(np.empty(n), np.empty(n))
        for i in range(n):
            if _decide_rows(self.link, X[i : i + 1], out[i : i + 1], leanings[i : i + 1]) != DONE:
                return None
            board.scores[i], board.sizes[i] = self.board.scores[0], self.board.sizes[0]
        leanings = horizons.decide(self.model, board, X, places, out, leanings)
        check_combined(out, leanings)
        return Verdicts(out, leanings, kinds)

    def leap(self, n: int) -> int:
        """Which value of the n rows of the last call has leapt, as `scale_rows` counts."""
        if not self.leapt:
            return NO_LEAP
        feature, at = self.leaps
        return int((at - self.model.rounds + n) * self.width + feature)

    def _refused(self, end: int) -> None:
        """Raise the error of a row by how it has ended; None: a block raises it."""
        if end == NOT_HERE:
            return
        if end == TOO_LARGE:
            raise NonFiniteError(f"x: expected {IN_RANGE}")
        if end == NOT_COMBINED:
            raise NonFiniteError(COMBINED)
        if end == OVERFLOWED:
            check_scores(self.model, self.failed)
        raise overflow(self.model.stores[end - OVERFLOWED - 1], 0)

    def _look(self) -> None:
        """Take over what the model holds, if others have replaced it."""
        self._undo()
        model: Any = self._model()
        if not (
            model.states is self.states
            and model.progress is self.progress
            and model.scaler is self.scaler
        ):
            self._take_over()

    def _take_over(self) -> None:
        """Copy what the model holds into the arrays in use here, which it then holds.

        Before, the model holds arrays of its own, or these arrays already.
        """
        model = self.model
        self.journal.n[:] = NONE
        for here, other in zip(self.progress, model.progress, strict=True):
            np.copyto(here, other)
        for store, state in zip(self.stores, model.states, strict=True):
            if state is not store.state:
                store.load(state)
        self.scaler.load(model.scaler)
        model.calibrate()  # before what was due is forgotten
        model.__dict__.update(
            progress=self.progress, states=self.states, scaler=self.scaler, due=self.due,
            calibrated=model.rounds,
        )  # fmt: skip
