"""Predictions far from the last label: committees judged by what experts said so far ahead.

The committee of a model judges its experts by what they said of the row that was next. The best
expert for the next row may be the worst a hundred rows later: one that follows the last label. So
there are three committees, by horizon: the place of a row after the last label that was learned.

    next : 1, the model's own
    soon : 2 to 128
    late : more

Rows come in laps, of numbers of rows that are fixed beforehand, whatever the chunks. At the start
of each lap the model is kept as it is, and at the start of every fourth one once more. When a lap
is over, some of its rows are scored by the model as it was at its start, some by the one before:
that is what `predict` would have said of them, so far ahead. Two committees learn from that, in
the same rounds as the model's own, of the rows up to 128 places ahead and of all; so do their
calibrations.

They have four experts more: what the model's own committee says, which begins with almost all of
the weight; the mean of the labels; and two regressions, see `lines`. Of each of the two holds what
holds of the combiner on the rows judged: its loss is that of the best expert so far ahead, and so
of the model's own committee and of the mean, but for its regret.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.compiler.links import ROOM
from kernbrook.engine import lines
from kernbrook.engine.blocks import slices
from kernbrook.engine.lines import MOST_FEATURES, N_LINES, Lines
from kernbrook.engine.progress import (
    MOST_LOSS,
    Board,
    Progress,
    begun,
    check_progress,
    empty_board,
    flaw,
    united,
)
from kernbrook.engine.rounds import scratch_of
from kernbrook.engine.rules import typed
from kernbrook.engine.stores.base import copied, most_of
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.points import Flags, Floats, Labels, check_array, check_csr, within

if TYPE_CHECKING:
    from kernbrook.engine.model import Model

Arrays = dict[str, NDArray[Any]]

NEXT, SOON, LATE = 0, 1, 2  # the committees
NAMES = "next", "soon", "late"
FAR = 128  # the last place of `soon`
SHORTEST = 128  # rows of a lap
SHORT_LAPS = 32  # before laps are four times as long
LAPS_LATE = 4  # from one model kept for `late` to the next
N_MORE = 1 + N_LINES  # experts beside the model's own
TRUST = 4.0  # logarithm of the weight of the model's own committee, beside the others
SEED = 0  # nothing is drawn
KEPT_LOSS = 0.995  # of a loss, for each row judged later
LEAST = 10  # rows judged before a committee counts
SOON_PLACES = np.array([*range(2, 17, 2), *range(21, FAR + 1, 12)])
LATE_PLACES = 16  # rows judged of each lap for `late`


# Rows that wait for their labels: said by who keeps them, while more are predicted.
waiting: ContextVar[int] = ContextVar("waiting", default=0)


class Distant(NamedTuple):
    """A committee for one class of horizons.

    progress : of the model's experts and four more
    calibration : of its decisions; None before the first row
    rows : (1,) int, judged so far
    losses : (2,) of late, of its decisions and of the mean: mistakes, or squared errors
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


class Lap:
    """Rows since the last lap ended, filled in place; what lies behind the last row is nothing.

    X : (n, d) as they were given; of many features a list, in which rows are that may be judged
    labels : (n,) NaN where none was seen, or of a row that weighs nothing
    weights, given : (n,) of the rows, as they are learned with, and as they were given
    """

    def __init__(self, wanted: Flags, width: int, sparse: bool):
        n, self.wanted, self.width, self.sparse = len(wanted), wanted, width, sparse
        self.all = width <= MOST_FEATURES
        self.X: Any = np.zeros((n, width)) if self.all else [None] * n
        self.labels = np.full(n, np.nan)
        self.weights, self.given = np.ones(n), np.ones(n)

    def __len__(self) -> int:
        return len(self.labels)

    def put(self, at: int, X: Any, labels: Any, weights: Any, given: Any) -> None:
        """Rows from a place on."""
        n = X.shape[0]
        where = slice(at, at + n)
        if self.all:
            self.X[where] = X.toarray() if sp.issparse(X) else X
        else:
            for i in np.flatnonzero(self.wanted[where]):
                row = X[i : i + 1]
                dense = row.toarray() if sp.issparse(row) else row.copy()
                self.X[at + i] = sp.csr_matrix(row) if self.sparse else dense
        self.labels[where], self.weights[where], self.given[where] = labels, weights, given
        tells_nothing = np.isnan(self.labels[where]) | ~(self.weights[where] > 0)
        self.labels[where][tells_nothing] = np.nan
        self.weights[where][tells_nothing] = self.given[where][tells_nothing] = 1.0

    def rows(self, which: Labels) -> Any:
        """Some of the rows that may be judged, as the model keeps rows."""
        if self.all:
            return sp.csr_matrix(self.X[which]) if self.sparse else self.X[which]
        rows = [self.X[i] for i in which]
        return sp.vstack(rows, format="csr") if self.sparse else np.concatenate(rows)

    def arrays(self, n: int) -> dict[str, NDArray[Any]]:
        """The first n rows."""
        own = {name: getattr(self, name)[:n] for name in ("labels", "weights", "given")}
        if self.all:
            return {"X": self.X[:n], **own}
        there = np.array([i for i in range(n) if self.X[i] is not None], dtype=np.int64)
        own["places"] = there
        if not self.sparse:
            X = self.rows(there) if len(there) else np.zeros((0, self.width))
            return {"X": X, **own}
        X = self.rows(there) if len(there) else sp.csr_matrix((0, self.width))
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return {"data": X.data, "indices": indices, "indptr": indptr, **own}

    def restore(self, arrays: Mapping[str, NDArray[Any]], n: int) -> None:
        """The first n rows from these arrays; InputError where there can be none such."""
        for name in ("labels", "weights", "given"):
            array = check_array(name, arrays.get(name), (n,), np.float64)
            if np.isinf(array).any() or (name != "labels" and not (array >= 0).all()):
                raise InputError(f"{name}: expected finite numbers, and no weight below 0")
            getattr(self, name)[:n] = array
        m = n if self.all else len(arrays.get("places", ()))
        if self.all or not self.sparse:
            X: Any = check_array("X", arrays.get("X"), (m, self.width), np.float64)
            values = X
        else:
            filled = len(arrays.get("data", ()))
            values = check_array("data", arrays.get("data"), (filled,), np.float64)
            indices = check_array("indices", arrays.get("indices"), (filled,), np.int64)
            indptr = check_array("indptr", arrays.get("indptr"), (m + 1,), np.int64)
            check_csr(indices, indptr, self.width)
            X = sp.csr_matrix((values, indices, indptr), shape=(m, self.width))
        if not np.isfinite(values).all():
            raise InputError("X: NaN or infinity")
        if self.all:
            self.X[:n] = X
            return
        places = check_array("places", arrays.get("places"), (m,), np.int64)
        if ((places < 0) | (places >= n)).any() or not self.wanted[places].all():
            raise InputError("places: expected rows of the lap that may be judged")
        for i, place in enumerate(places):
            self.X[place] = X[i : i + 1]


class Scored(NamedTuple):
    """What all experts say of rows, with their numbers in the lap.

    kind : of the committee whose horizons these are
    """

    kind: int
    which: Labels
    scores: Floats
    sizes: Floats


class Horizons:
    """What a model knows of predictions far from the last label; see the module.

    Parameters
    ----------
    model : of which these are

    Attributes
    ----------
    shortest : rows of a lap at first
    start : rows that the model had met when this lap began
    lap : rows since then
    lines : regressions on all rows of the laps before
    soon, late : the committees
    now, old : the model at the start of this lap, and of this or one of the last three; or None
    """

    now: Kept | None = None
    old: Kept | None = None

    def __init__(self, model: Model):
        setting, terms = model.setting, model.choices.terms
        ahead = getattr(model.combiner, "far_ahead", None)
        self.combiner = model.combiner if ahead is None else ahead(setting.regression)
        strict = np.append(terms.strict, np.zeros(N_MORE, dtype=bool))
        self.choices = model.choices._replace(
            combiner=typed(self.combiner.rule()), terms=terms._replace(strict=strict, given=True)
        )
        self.shortest, self.start = max(SHORTEST, model.together // 2), 0
        self.lap = self._new_lap(model)
        self.lines = lines.begun(setting.width, setting.scores)
        self.soon, self.late = self._first(model), self._first(model)

    def length(self, start: int) -> int:
        """Rows of the lap that begins there."""
        return self.shortest * (1 if start < SHORT_LAPS * self.shortest else LAPS_LATE)

    @property
    def end(self) -> int:
        """Rows that the model has met when this lap ends."""
        return self.start + len(self.lap)

    def _first(self, model: Model) -> Distant:
        """A committee before it has judged a row: it follows the model's own."""
        experts = model.n_experts + N_MORE
        progress = begun(experts, self.combiner.state_size(experts), SEED)
        progress.log_weights[:] = -TRUST
        progress.log_weights[model.n_experts] = 0.0
        return Distant(progress, None, np.zeros(1, dtype=np.int64), np.zeros(2))

    def _new_lap(self, model: Model) -> Lap:
        """The lap that begins at `start`, of which `now` and `old` judge rows."""
        n = self.length(self.start)
        wanted = np.zeros(n, dtype=bool)
        for kept, places in ((self.now, SOON_PLACES), (self.old, late_places(n))):
            wanted[self._rows_at(kept, places, n)] = True
        return Lap(wanted, model.setting.width, model.sparse)

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
        self.lap = self._new_lap(model)

    def note(self, rounds: int, X: Any, labels: Any, weights: Any, given: Any) -> None:
        """Rows that are learned next, after so many. They count once they have been learned."""
        self.lap.put(rounds - self.start, X, labels, weights, given)

    # -- the end of a lap -------------------------------------------------------------------

    def closed(self, model: Model) -> Horizons:
        """After this lap, whose last row is the last one that the model has learned."""
        other = Horizons.__new__(Horizons)
        other.__dict__.update(vars(self))
        setting, lap = model.setting, self.lap
        soon = self._scored(model, SOON, self.now, self._places(self.now, SOON_PLACES))
        late = self._scored(model, LATE, self.old, self._places(self.old, late_places(len(lap))))
        if soon is not None:
            other.soon = self._judged(model, SOON, [soon])
        if both := [one for one in (soon, late) if one is not None]:
            other.late = self._judged(model, LATE, both)
        X = lap.X if lap.all else np.empty((len(lap), 0))
        other.lines = lines.learned(self.lines, X, lap.labels, lap.weights, setting.regression)
        other.start = self.end
        other.now = self._kept(model, other)
        if other.start % (LAPS_LATE * self.length(other.start)) == 0:
            other.old = other.now
        other.lap = other._new_lap(model)
        return other

    def _places(self, kept: Kept | None, places: Labels) -> Labels:
        """The rows of this lap to be judged: with a label."""
        rows = self._rows_at(kept, places, len(self.lap))
        judged = ~np.isnan(self.lap.labels[rows])
        if not self.lap.all:  # or a lap that began in its middle
            judged &= np.array([self.lap.X[row] is not None for row in rows], dtype=bool)
        return np.asarray(rows[judged])

    def _judged(self, model: Model, kind: int, scored: list[Scored]) -> Distant:
        """A committee after it has judged rows of this lap, in their order."""
        lap, one = self.lap, self.of(kind)
        which = np.concatenate([part.which for part in scored])
        order = np.argsort(which, kind="stable")
        which = which[order]
        scores = np.concatenate([part.scores for part in scored])[order]
        sizes = np.concatenate([part.sizes for part in scored])[order]
        own = np.concatenate([np.full(len(part.which), part.kind == kind) for part in scored])[
            order
        ]
        n, progress = len(which), copied(one.progress)
        board = _board(model, scores, sizes, lap.labels[which], lap.weights[which])
        before, leanings = self._voted(model, one, board)  # as they would have been said
        leanings = self._guarded(one, board, before, leanings)[1]
        decisions, asked = np.zeros((n, scores.shape[2])), np.zeros(n, dtype=bool)
        links, kept = model.passes.stores((), board, False)
        model.passes.rounds(
            model.passes.committee(self.choices), self.choices.terms, progress, links, board,
            decisions, asked, scratch_of(scores.shape[1]),
        )  # fmt: skip
        del kept
        if flaw(progress) or not (np.isfinite(leanings).all() and np.isfinite(decisions).all()):
            return one  # sums of what was said so far ahead overflow: these rows tell nothing
        calibration = None if one.calibration is None else one.calibration.copy()
        if own.any():
            calibration = calibration or model.calibration.begun_far()
            calibration.learn(leanings[own], board.labels[own], lap.given[which][own], own[own])
        losses = one.losses * KEPT_LOSS ** own.sum()
        for i, said in enumerate((before, board.scores[:, -N_LINES])):
            losses[i] += loss_on(said[own], board.labels[own], board.numbers)
        losses = np.minimum(losses, MOST_LOSS)
        return Distant(progress, calibration, one.rows + own.sum(), losses)

    def _kept(self, model: Model, after: Horizons) -> Kept:
        """The model as it is; copied where single rows change its arrays in place, or may do so."""
        states = model.states if model.session is None else deepcopy(model.states)
        at = np.array([model.rounds])
        return Kept(at, states, model.scaler.copy(), copied(model.progress), after.lines)

    def _scored(self, model: Model, kind: int, kept: Kept | None, which: Labels) -> Scored | None:
        """What a model as it was says of rows of this lap; None where it cannot see them."""
        if kept is None or not len(which):
            return None
        X, found = self.lap.rows(which), []
        try:
            views = model.views_of(kept.scaler.transform(X), model.rows_of(X))
            for where in slices(len(which), model.together):
                board = model.read(views, X, where, kept.states)
                found.append(extended(model, board, kept.progress, kept.lines, X[where]))
        except NonFiniteError:  # `predict` would have refused these rows
            return None
        scores, sizes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Scored(kind, which, scores, sizes)

    # -- deciding ---------------------------------------------------------------------------

    def kinds(self, places: Labels) -> NDArray[np.int8]:
        """(n,) the committee for each horizon, from 1: the nearest that counts yet."""
        kinds = np.where(places > 1, SOON, NEXT).astype(np.int8)
        if self.late.rows[0] >= LEAST:
            kinds[places > FAR] = LATE
        if self.soon.rows[0] < LEAST:
            kinds[kinds == SOON] = NEXT
        return kinds

    def decide(
        self, model: Model, board: Board, X: Any, kinds: NDArray[np.int8], decisions: Floats,
        leanings: Floats,
    ) -> None:  # fmt: skip
        """Decisions and leanings on rows that are not next, out; those of the model are there.

        board : of the rows, X, as the model's experts see them
        """
        far = np.flatnonzero(kinds != NEXT)
        if not len(far):
            return
        scores, sizes = beside(model, board, decisions, self.lines, X)
        for kind in (SOON, LATE):
            own = np.flatnonzero(kinds == kind)
            if len(own):
                nothing = np.full(len(own), np.nan)
                board = _board(model, scores[own], sizes[own], nothing, nothing)
                one = self.of(kind)
                said = self._guarded(one, board, *self._voted(model, one, board))
                decisions[own], leanings[own] = said

    def _voted(self, model: Model, one: Distant, board: Board) -> tuple[Floats, Floats]:
        """What a committee decides, and what its experts lean to."""
        decisions = np.zeros((len(board.labels), board.scores.shape[2]))
        model.passes.decide(
            model.passes.committee(self.choices), self.choices.terms, one.progress, board,
            decisions, np.empty(ROOM, dtype=np.int64),
        )  # fmt: skip
        return decisions, board.leanings.copy()

    @staticmethod
    def _guarded(
        one: Distant, board: Board, decisions: Floats, leanings: Floats
    ) -> tuple[Floats, Floats]:
        """The same; what the mean says where the committee was worse of late."""
        if not one.losses[0] > one.losses[1]:
            return decisions, leanings
        mean = board.scores[:, -N_LINES]
        return mean.copy(), (mean.copy() if board.numbers else leanings)

    def of(self, kind: int) -> Distant:
        """A committee."""
        return self.soon if kind == SOON else self.late

    # -- as arrays --------------------------------------------------------------------------

    def nbytes(self, model: Model) -> int:
        """Bytes of all this, but for arrays that the model has in use."""
        lap = self.lap.arrays(model.rounds - self.start)
        found = sum(array.nbytes for array in (*lap.values(), *self.lines))
        found += sum(array.nbytes for one in (self.soon, self.late) for array in one.progress)
        for kept in {id(one): one for one in (self.now, self.old) if one is not None}.values():
            trio = zip(model.stores, kept.states, model.states, strict=True)
            found += sum(store.nbytes(was) for store, was, now in trio if was is not now)
        return found

    def arrays(self, model: Model) -> dict[str, NDArray[Any]]:
        """Everything that was learned, by name."""
        rows = model.rounds - self.start
        tree: dict[str, Any] = {
            "start": np.array([self.start]),
            "lap": self.lap.arrays(rows),
            "lines": lines.arrays(self.lines),
        }
        for kind, one in ((SOON, self.soon), (LATE, self.late)):
            tree[NAMES[kind]] = {
                "rows": one.rows, "losses": one.losses, "progress": one.progress._asdict()
            }  # fmt: skip
            if one.calibration is not None:
                tree[NAMES[kind]]["calibration"] = one.calibration.arrays()
        for name, kept in (("now", self.now), ("old", self.old)):
            if kept is not None and not (name == "old" and kept is self.now):
                tree[name] = {
                    "round": kept.round,
                    "progress": kept.progress._asdict(),
                    "lines": _others(lines.arrays(kept.lines), lines.arrays(self.lines)),
                    **kept.scaler.arrays(),
                    **_states_apart(model, kept),
                }
        return _flat(tree)

    def restore(self, model: Model, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave; the model has what it has learned already.

        InputError where an array is missing, or learning cannot have led to one. Files of before
        there were horizons have none of all: these begin.
        """
        if not arrays:
            self.begin_at(model)
            return
        start, rounds = _count(arrays, "start"), model.rounds
        if start != rounds - rounds % self.length(rounds) or start != self._boundary(start):
            raise InputError(f"start: no lap of {rounds} rows begins there")
        self.start = start
        with within("lines."):
            self.lines = lines.restored(self.lines, _under(arrays, "lines"))
        for name in NAMES[1:]:
            with within(f"{name}."):
                setattr(self, name, self._restored(model, _under(arrays, name)))
        for name in ("now", "old"):
            own = _under(arrays, name)
            with within(f"{name}."):
                setattr(self, name, _kept_from(model, self.lines, own) if own else None)
        if self.now is not None and self.now.round[0] != start:
            raise InputError("now.round: expected the start of the lap")
        if self.now is not None and self.old is None:
            self.old = self.now if start % (LAPS_LATE * self.length(start)) == 0 else None
        if self.old is not None and not 0 <= self.old.round[0] <= start:
            raise InputError("old.round: expected the start of a lap before")
        self.lap = self._new_lap(model)
        with within("lap."):
            self.lap.restore(_under(arrays, "lap"), rounds - start)
            check_labels(self.lap.labels, model)

    def check(self, model: Model) -> None:
        """Raise InputError where learning cannot have led to a committee."""
        for name in NAMES[1:]:
            with within(f"{name}."):
                check_progress(self.combiner, getattr(self, name).progress)

    def unite(self, model: Model, apart: Apart) -> None:
        """Know what several models know of this, apart; rows of this lap are not judged."""
        far = apart.of("horizons")
        self.lines = lines.united(far.of("lines"))
        for name in NAMES[1:]:
            each = far.of(name)
            progress = united(self.choices.combiner, each.of("progress"), SEED)
            calibration = model.calibration.begun_far()
            calibration.unite(
                apart.over(
                    lambda one, name=name: (
                        getattr(one.horizons, name).calibration  # type: ignore[misc]
                        or one.calibration.begun_far()
                    )
                )
            )
            rows = each.of("rows").added()
            losses = each.of("losses").averaged()
            setattr(self, name, Distant(progress, calibration if rows[0] else None, rows, losses))

    def _restored(self, model: Model, arrays: Mapping[str, NDArray[Any]]) -> Distant:
        """A committee from its arrays."""
        fresh, rows = self._first(model), _count(arrays, "rows")
        progress = _progress_from(self.combiner, fresh.progress, _under(arrays, "progress"))
        losses = check_array("losses", arrays.get("losses"), (2,), np.float64)
        if not ((losses >= 0) & (losses <= MOST_LOSS)).all():
            raise InputError(f"losses: expected numbers from 0 to {MOST_LOSS:g}")
        if rows > model.rounds:
            raise InputError(f"rows: expected {model.rounds} at most")
        if not rows:
            return fresh._replace(progress=progress, losses=losses)
        calibration = model.calibration.begun_far()
        with within("calibration."):
            calibration.restore(_under(arrays, "calibration"))
            calibration.check(model.rounds + rows)
        return Distant(progress, calibration, arrays["rows"], losses)

    def _boundary(self, start: int) -> int:
        return start - start % self.length(start)


def _count(arrays: Mapping[str, NDArray[Any]], name: str) -> int:
    """A number from 0 that is an array's only one."""
    array = check_array(name, arrays.get(name), (1,), np.int64)
    if array[0] < 0:
        raise InputError(f"{name}: expected a number from 0")
    return int(array[0])


def _under(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, without that."""
    begin = f"{name}."
    return {k.removeprefix(begin): v for k, v in arrays.items() if k.startswith(begin)}


def _progress_from(combiner: Any, fresh: Progress, arrays: Mapping[str, NDArray[Any]]) -> Progress:
    for name, array in fresh._asdict().items():
        check_array(f"progress.{name}", arrays.get(name), array.shape, array.dtype)
    progress = Progress(**{name: arrays[name] for name in Progress._fields})
    check_progress(combiner, progress)
    return progress


def _states_apart(model: Model, kept: Kept) -> dict[str, NDArray[Any]]:
    """The arrays of states that are others than those of the model now."""
    found = {}
    trio = zip(model.stores, kept.states, model.states, strict=True)
    for i, (store, state, now) in enumerate(trio):
        others = _others(store.arrays(state), store.arrays(now))
        found.update({f"stores.{i}.{name}": array for name, array in others.items()})
    return found


def _others(arrays: Arrays, known: Arrays) -> Arrays:
    """Arrays that are not equal to those known by the same names."""
    return {name: one for name, one in arrays.items() if not np.array_equal(one, known[name])}


def _kept_from(model: Model, fresh: Lines, arrays: Mapping[str, NDArray[Any]]) -> Kept:
    """A model as it was, from its arrays."""
    _count(arrays, "round")
    progress = _progress_from(model.combiner, model.progress, _under(arrays, "progress"))
    scaler, states = model.scaler.copy(), []
    scaler.restore(arrays)
    scaler.check(model.rounds)
    with within("lines."):
        own = lines.restored(fresh, {**lines.arrays(fresh), **_under(arrays, "lines")})
    for i, (store, now) in enumerate(zip(model.stores, model.states, strict=True)):
        with within(f"stores.{i}."):
            state = store.restored({**store.arrays(now), **_under(arrays, f"stores.{i}")})
            store.check(state, progress)
        states.append(state)
    return Kept(arrays["round"], tuple(states), scaler, progress, own)


def check_labels(labels: Floats, model: Model) -> None:
    """Raise InputError where these are no labels as a model takes them; compiled code trusts it."""
    numbers, own = model.setting.regression, labels[~np.isnan(labels)]
    fits = np.abs(own) < 1e150 if numbers else np.isin(own, np.arange(max(model.setting.scores, 2)))
    if not fits.all():
        raise InputError(f"labels: expected some that there are, got {own[~fits][0]:g}")


def loss_on(said: Floats, labels: Floats, numbers: bool) -> float:
    """Mistakes of decisions, (n, c), or the sum of squared errors."""
    if numbers:
        with np.errstate(over="ignore"):
            return float(((said[:, 0] - labels) ** 2).sum())
    leading = said[:, 0] >= 0 if said.shape[1] == 1 else said.argmax(axis=1)
    return float((leading != labels).sum())


def late_places(lap: int) -> Labels:
    """Places after the start of four laps, of so many rows, of which rows are judged for `late`."""
    return np.arange(FAR + 7, LAPS_LATE * lap + 1, max(lap // LATE_PLACES, 1))


def beside(
    model: Model, board: Board, decisions: Floats, own: Lines, X: Any
) -> tuple[Floats, Floats]:
    """(n, e + 4, c) scores and sizes: of the experts, of the model's own committee, of lines."""
    more = np.concatenate([decisions[:, None], lines.said(own, X, board.numbers)], axis=1)
    scores = np.concatenate([board.scores, more], axis=1)
    return scores, np.concatenate([board.sizes, np.abs(more)], axis=1)


def extended(
    model: Model, board: Board, progress: Progress, own: Lines, X: Any
) -> tuple[Floats, Floats]:
    """As `beside`, of a model with other progress."""
    decisions, room = np.zeros((len(board.labels), board.scores.shape[2])), np.empty(ROOM, np.int64)
    committee = model.passes.committee(model.choices)
    model.passes.decide(committee, model.choices.terms, progress, board, decisions, room)
    return beside(model, board, decisions, own, X)


def _board(model: Model, scores: Floats, sizes: Floats, labels: Floats, weights: Floats) -> Board:
    """What e + 4 experts say of rows; labels and weights are copied."""
    numbers, (n, experts, c) = model.setting.regression, scores.shape
    board = empty_board(n, experts, c, labels.copy(), weights.copy(), numbers, model.inputs)
    most = most_of(numbers)
    sound = (sizes < most) & (np.abs(scores) < most)
    board.scores[:], board.sizes[:] = np.where(sound, scores, 0.0), np.where(sound, sizes, 0.0)
    return board


def _flat(tree: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Arrays in mappings in mappings, by names with dots."""
    found: dict[str, NDArray[Any]] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found.update({f"{name}.{own}": array for own, array in _flat(value).items()})
        else:
            found[name] = value
    return found
