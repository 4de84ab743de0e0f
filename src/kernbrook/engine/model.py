"""A composed model: experts in their stores, a committee, and what follows.

Classes are numbered from 0; labels and scikit-learn's customs are the estimator's. Two classes have
one score, positive for class 1; more have one each; numbers have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.compiler.links import ROOM
from kernbrook.engine.blocks import (
    COMBINED,
    Views,
    as_targets,
    check_combined,
    check_rounds,
    clock_of,
    part_of,
    slices,
    warn_of_growth,
)
from kernbrook.engine.committee import relative_weights
from kernbrook.engine.horizons import state as far
from kernbrook.engine.horizons.committees import Horizons
from kernbrook.engine.passes import COMPILED, PLAIN, Passes
from kernbrook.engine.progress import (
    ASKED,
    CHOSEN,
    ROUND,
    Board,
    Choices,
    Due,
    Progress,
    begun,
    check_progress,
    empty_board,
    restored,
)
from kernbrook.engine.rounds import scratch_of
from kernbrook.engine.same import same
from kernbrook.engine.state import copied, flat, under
from kernbrook.engine.stores.base import Pass, Setting, Store, most_of
from kernbrook.engine.verbs import Clock, expect, parts_of
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.points import (
    RANGES,
    DenseRows,
    Flags,
    Floats,
    Labels,
    Rows,
    SparseRows,
    check_range,
    within,
)
from kernbrook.gram.sums import share
from kernbrook.kernels import Kernel
from kernbrook.snapshots import in_memory

Follow = Callable[[Board, Flags], dict[str, Any]]


class Leant(NamedTuple):
    """What a model says of n rows.

    decisions : (n, scores); leanings : (n, inputs * scores), what the experts lean to
    kinds : (n,) numbers of the committees that said so, see `horizons`; None: the next row's all
    """

    decisions: Floats
    leanings: Floats
    kinds: NDArray[np.int8] | None = None


class Model:
    """What was chosen, and what was learned so far.

    Parameters
    ----------
    stores : of the experts, which they number from 0 on
    choices : what the committee does
    combiner : with `state_size`, how many numbers it keeps; perhaps `check_state`, what these are
    kernels : of the experts, each once
    kernel_of : (e,) int, the number of each expert's kernel; -1: it has none
    views : the scalings that the experts ask for; None: the machine's own
    interferes : whether who learns depends on the other experts, or on the label policy
    asks : whether some labels are not asked for
    compiled : whether all verbs are; else the passes run as Python

    Attributes
    ----------
    states : of the stores; never changed, but replaced
    progress : what else was learned
    scaler : of the rows, in each view
    calibration : what was learned of the decisions' errors, or None
    horizons : of predictions far from the last label, or None
    session, met_few : in which it takes rows one by one; chunks of few rows before; see `session`
    together : examples of one block
    inputs : of the calibration, for each score: what the experts lean to; then their vote, where
        the combiner has learned from the vote what it adds
    """

    def __init__(
        self,
        stores: Sequence[Store],
        choices: Choices,
        combiner: Any,
        setting: Setting,
        kernels: tuple[Kernel, ...],
        kernel_of: Labels,
        views: tuple[str | None, ...],
        interferes: bool,
        asks: bool,
        compiled: bool,
    ):
        self.compiled = compiled
        for store in stores:
            store.compiled = compiled
        self.stores, self.choices, self.setting = tuple(stores), choices, setting
        self.kernels, self.kernel_of, self.views = kernels, kernel_of, views
        self.interferes, self.asks = interferes, asks
        self.n_experts = len(choices.terms.strict)
        self.together = min(store.together for store in stores)
        self.looks_outside = any(store.looks_outside for store in stores)
        if interferes and self.looks_outside:
            self.together = 1  # what is learned from depends on a committee that is compiled
        self.states = tuple(store.begin() for store in stores)
        self.combiner, state_size = combiner, combiner.state_size(self.n_experts)
        self.progress = begun(self.n_experts, state_size, setting.seed)
        self.inputs = 2 if getattr(combiner, "corrects_votes", False) else 1
        self.scaler: Any = None
        self.calibration = None
        self.horizons: Horizons | None = None
        self.due: Due | None = None
        self.session: Any = None
        self.met_few = 0

    def __getstate__(self) -> dict[str, Any]:
        """Without what is only kept for the next rows that come one by one."""
        return {**self.__dict__, "calibration": self.calibration, "due": None, "session": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(in_memory(state, {}))

    @property
    def passes(self) -> Passes:
        """The functions that a model calls: compiled ones, or the same as Python.

        A property and no attribute: else pickling a model would meet the compiler.
        """
        return COMPILED if self.compiled else PLAIN

    @property
    def calibration(self) -> Any:
        """What was learned of the decisions' errors, in `calibration.rounds` rounds; or None."""
        held, due = self.__dict__["calibration"], self.due
        if held is None or due is None or held.rounds == self.rounds:
            return held
        which = np.arange(held.rounds, self.rounds) % len(due.labels)
        later = held.copy()
        later.said = later.learn(*(array[which] for array in due))
        later.rounds = self.rounds
        self.__dict__["calibration"] = later
        return later

    @calibration.setter
    def calibration(self, calibration: Any) -> None:
        self.__dict__["calibration"] = calibration

    # -- learning ---------------------------------------------------------------------------

    def _answers(self, n: int) -> tuple[Floats, Flags]:
        return np.zeros((n, self.setting.scores)), np.zeros(n, dtype=bool)

    def learn_block(
        self,
        views: Views,
        labels: Any,
        importance: Floats,
        given: bool = False,
        raw: Any = None,
        follow: Follow | None = None,
        **others: Any,
    ) -> tuple[Floats, Flags]:
        """Decide on each of at most `together` rows in turn, ask or not, then learn from the label.

        All of it, or nothing, whatever ends it.

        Parameters
        ----------
        views : the rows as the experts see them
        labels : (n,) numbers of the classes, or targets; negative or NaN: not to be had
        given : every label that is there is looked at, whatever the policy
        raw : the rows as they were given, before they were scaled, for experts from outside
        follow : called with the board and (n,) bool, whose label was looked at, once all rows are
            decided; the dict that it returns is added to `others`
        others : attributes that change with it

        Returns
        -------
        decisions : (n, scores), each before its label was seen
        asked : (n,) bool, whose label was looked at
        """
        n = len(views[0])
        check_rounds(self.rounds + n)
        decisions, asked = self._answers(n)
        progress = copied(self.progress)
        pairs = zip(self.stores, self.states, strict=True)
        passes = [store.prepare(state, views[store.view], progress, raw) for store, state in pairs]
        board = self._board(n, as_targets(labels), importance)
        for own in passes:
            if own.look is not None and own.go is not None:
                (own.look if self.interferes else own.go)(board)
        if not self.interferes:
            self._learn_alone(passes, board, clock_of(self.progress))
        members = [member for own in passes for member in own.members]
        terms = self.choices.terms._replace(given=given)
        committee = self.passes.committee(self.choices)
        links, kept = self.passes.stores(members if self.interferes else (), board, False)
        scratch = scratch_of(self.n_experts)
        self.passes.rounds(committee, terms, progress, links, board, decisions, asked, scratch)
        del kept  # until here
        self.check(board)
        states = self.chosen_of(progress, tuple(own.finish(board, asked) for own in passes))
        check_combined(decisions, board.leanings)
        try:
            check_progress(self.combiner, progress)
        except InputError as error:
            raise NonFiniteError(f"{COMBINED} ({error})") from error
        before = self._growing()
        if follow is not None:
            others.update(follow(board, asked))
        self.__dict__.update(progress=progress, states=states, **others)  # no interruption between
        warn_of_growth(before, self._growing())
        return decisions, asked

    def chosen_of(self, progress: Progress, states: tuple[Any, ...]) -> tuple[Any, ...]:
        """The states after a block, of the expert alone that it has chosen for good, if it has."""
        chosen = int(progress.counters[CHOSEN])
        return self._only(states, chosen) if self.chosen < 0 <= chosen else states

    def _board(self, n: int, labels: Any, importance: Floats) -> Board:
        numbers = self.setting.regression
        scores = self.setting.scores
        return empty_board(n, self.n_experts, scores, labels, importance, numbers, self.inputs)

    def _learn_alone(self, passes: Sequence[Pass], board: Board, clock: Clock) -> None:
        """All parts of all stores go through a block, by several threads."""
        pairs = [(own, member) for own in passes for member in own.members]
        links, kept = self.passes.stores([member for _, member in pairs], board, True)

        def learn(link: Any, first: int, last: int, kept: Any = (kept, passes)) -> None:
            try:  # even after an interruption of the main thread
                self.passes.learner_pass(link, first, last, clock)
            finally:
                if helper is not None:
                    helper.end()

        tasks: list[Callable[[], None]] = []
        for (own, member), link in zip(pairs, links, strict=True):
            parts = parts_of(member)
            each = -(-parts // (own.pieces * own.threads)) if own.threads > 1 else parts
            tasks += [partial(learn, link, i, min(i + each, parts)) for i in range(0, parts, each)]
        helper = pairs[0][0].helper if len(tasks) == 1 else None
        tasks += [] if helper is None else [helper.work]
        share(max(own.threads for own in passes), lambda task: task(), tasks)

    def check(self, board: Board) -> None:
        """Raise NonFiniteError, naming a kernel, where scores have overflowed."""
        most = most_of(board.numbers)
        sound = (board.sizes < most) & (np.abs(board.scores) < most)  # false for NaN
        if not sound.all():
            for store in self.stores:
                own = sound[:, store.experts].all(axis=(0, 2))
                if not np.all(own):
                    raise store.overflow(int(np.argmin(own)))

    def _growing(self) -> int:
        pairs = zip(self.stores, self.states, strict=True)
        return sum(store.held(state) for store, state in pairs if store.grows)

    # -- deciding ---------------------------------------------------------------------------

    def rows_of(self, X: Any) -> Rows:
        """X in the form that rows are kept in."""
        if self.sparse:
            return SparseRows.of(X if sp.issparse(X) else sp.csr_matrix(X))
        return DenseRows.of(np.ascontiguousarray(X.toarray()) if sp.issparse(X) else X)

    def views_of(self, scaled: Sequence[Any], rows: Rows) -> Views:
        """The rows in each view, None where they are not scaled."""
        views = (rows if X is None else replace(self.rows_of(X), keys=rows.keys) for X in scaled)
        found: Views = tuple(views)
        for view in found:
            check_range(view.norms, RANGES[self.setting.dtype])
        return found

    def read(self, views: Views, raw: Any, where: slice, states: Any = None) -> Board:
        """What the experts say of some of the rows; states : of the model as it was once."""
        views, raw = part_of(views, where), None if raw is None else raw[where]
        nothing = np.full(len(views[0]), np.nan)  # no labels: nothing is learned
        board = self._board(len(nothing), nothing, nothing)
        passes = [
            store.reading(state, views[store.view], raw)
            for store, state in zip(self.stores, states or self.states, strict=True)
        ]
        for own in passes:
            if own.look is not None:
                own.look(board)
        self._learn_alone(passes, board, Clock(0, 0, 0))
        self.check(board)
        return board

    def lean(self, views: Views, raw: Any = None, places: Labels | None = None) -> Leant:
        """Decisions on rows, and what the experts lean to. Nothing is learned, no draw is used up.

        places : (n,) of the rows after the last label, from 1; None: each is the next one
        """
        horizons, n = self.horizons, len(views[0])
        kinds = None if places is None or horizons is None else horizons.kinds(places)
        decisions = self._answers(n)[0]
        leanings = np.zeros((len(decisions), self.inputs * self.setting.scores))
        progress, room = self.progress, np.empty(ROOM, dtype=np.int64)
        committee = self.passes.committee(self.choices)
        for where in slices(n, self.together):
            board = self.read(views, raw, where)
            said = decisions[where]
            self.passes.decide(committee, self.choices.terms, progress, board, said, room)
            leanings[where] = board.leanings
            if horizons is not None and kinds is not None:
                own = leanings[where]
                horizons.decide(self, board, raw[where], kinds[where], said, own)
        check_combined(decisions, leanings)
        return Leant(decisions, leanings, kinds)

    def calibrations(self) -> list[Any]:
        """Of the committee for the next row, and of those for rows farther ahead."""
        far = [] if self.horizons is None else [self.horizons.soon, self.horizons.late]
        return [self.calibration, *(one.calibration for one in far)]

    # -- laps, see `horizons` ---------------------------------------------------------------

    def pieces(self, n: int) -> Iterator[slice]:
        """Rows 0 .. n - 1 that are learned next, in blocks, none of which goes on beyond a lap."""
        at, left = 0, n
        if self.horizons is not None and n:
            left = self.horizons.end - self.rounds
        while at < n:
            end = min(at + min(self.together, left), n)
            yield slice(at, end)
            left -= end - at
            at = end
            if left <= 0 and self.horizons is not None:
                left = self.horizons.end - self.rounds

    def settle(self) -> None:
        """Learn from a lap that is over. Called before and after rows are learned."""
        while self.horizons is not None and self.rounds >= self.horizons.end:
            self.horizons = self.horizons.closed(self)

    def would_ask(self, views: Views, raw: Any = None) -> Flags:
        """(n,) bool: is the label of each row wanted, if it came next?"""
        asked = np.ones(len(views[0]), dtype=bool)
        if self.asks:
            progress, terms = copied(self.progress), self.choices.terms
            room = np.empty(ROOM, dtype=np.int64)
            committee = self.passes.committee(self.choices)
            for where in slices(len(views[0]), self.together):
                board = self.read(views, raw, where)
                self.passes.would_ask(committee, terms, progress, board, asked[where], room)
        return asked

    # -- what was learned -------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """Examples met so far."""
        return int(self.progress.counters[ROUND])

    @property
    def asked(self) -> int:
        """Labels looked at so far."""
        return int(self.progress.counters[ASKED])

    def relative_weights(self) -> Floats:
        """(e,) weights of the experts, as they count."""
        weights = np.empty(self.n_experts)
        relative_weights(self.choices.combiner, self.choices.selection, self.progress, weights)
        return weights

    def votes(self) -> Floats:
        """(e,) weight of each expert in a vote; draws count by their expectation."""
        votes = np.empty(self.n_experts)
        expect(self.choices.selection, self.progress, self.relative_weights(), votes)
        return votes

    def weights(self) -> Floats:
        """(e,) weights of the experts, summing to 1."""
        weights = self.relative_weights()
        return weights / weights.sum()

    @property
    def counts(self) -> Labels:
        """(e,) support vectors of each expert; (1,) where they share them."""
        counts = [
            store.counts(state) for store, state in zip(self.stores, self.states, strict=True)
        ]
        if len(counts) == 1:
            return counts[0]
        found = np.zeros(self.n_experts, dtype=np.int64)
        for store, own in zip(self.stores, counts, strict=True):
            found[store.experts] = own
        return found

    @property
    def n_active(self) -> int:
        """Support vectors of the experts in the last vote."""
        counts = self.counts
        return int(counts[self.progress.used[: len(counts)]].sum())

    def expansion(self) -> tuple[Floats, Floats]:
        """(n, d) the points that experts sum over, and (n, e, scores) their coefficients.

        One expert's coefficients where the kernels share them. AttributeError where no expert has
        any.
        """
        points, coefficients = [], []
        for store, state in zip(self.stores, self.states, strict=True):
            own = store.expansion(state)
            if own is not None:
                points.append(own[0].dense())
                spread = own[1]
                if len(self.stores) > 1:
                    spread = np.zeros((len(own[1]), self.n_experts, self.setting.scores))
                    spread[:, store.experts] = own[1]
                coefficients.append(spread)
        if not points:
            raise AttributeError("a model on features has no support vectors")
        return np.concatenate(points), np.concatenate(coefficients)

    @property
    def nbytes(self) -> int:
        """Bytes that what was learned takes."""
        pairs = zip(self.stores, self.states, strict=True)
        others = (*self.progress, *self.scaler.arrays().values())
        ahead = 0 if self.horizons is None else far.nbytes(self.horizons, self)
        own = sum(store.nbytes(state) for store, state in pairs)
        return own + sum(array.nbytes for array in others) + ahead

    @property
    def chosen(self) -> int:
        """The expert that was chosen for good; -1 where none is."""
        return int(self.progress.counters[CHOSEN])

    def choose(self, expert: int) -> None:
        """From now on this expert alone; what the others have learned is dropped."""
        progress = copied(self.progress)
        progress.counters[CHOSEN] = expert
        self.__dict__.update(progress=progress, states=self._only(self.states, expert))

    def _only(self, states: Sequence[Any], expert: int) -> tuple[Any, ...]:
        return tuple(
            store.only(state, expert) for store, state in zip(self.stores, states, strict=True)
        )

    @property
    def sparse(self) -> bool:
        """Whether it takes rows in CSR."""
        return all(store.setting.sparse for store in self.stores)

    def says_the_same(self, other: Model) -> bool:
        """Whether the other model was made from the same choices."""
        return same(list(self._said()), list(other._said()))

    def _said(self) -> Iterator[Any]:
        yield tuple(self.choices)
        for store in self.stores:
            yield type(store).__name__
            parts = [
                (name, part)
                for name, part in vars(store).items()
                if name != "parts" and not name.startswith("_")
            ]
            yield [part.kernels if name == "sums" else part for name, part in parts]

    # -- as arrays --------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that was learned, by name: what a file holds; not to be changed."""
        pairs = enumerate(zip(self.stores, self.states, strict=True))
        tree: dict[str, Any] = {
            "progress": self.progress._asdict(),
            "stores": {f"{i}": store.arrays(state) for i, (store, state) in pairs},
        }
        if self.horizons is not None:
            tree["horizons"] = far.arrays(self.horizons, self)
        return flat({**tree, **self.scaler.arrays(), "calibration": self.calibration.arrays()})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` of a model of the same choices gave.

        Raises
        ------
        InputError
            An array is missing, or learning cannot have led to what the arrays hold.
        """
        self.go_on(arrays)
        self.scaler = self.scaler.restored(arrays)
        with within("calibration."):
            self.calibration.restore(under(arrays, "calibration"))
        self.calibration.rounds = self.rounds
        if self.horizons is not None:
            with within("horizons."):
                far.restore(self.horizons, self, under(arrays, "horizons"))
        self.verify()

    def go_on(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the progress and the states of stores; InputError where one is missing."""
        with within("progress."):
            progress = restored(self.progress, under(arrays, "progress"))
        states = []
        for i, store in enumerate(self.stores):
            with within(f"stores.{i}."):
                states.append(store.restored(under(arrays, f"stores.{i}")))
        self.progress, self.states = progress, tuple(states)

    # -- what learning can lead to: it ends in nothing else, and files hold nothing else -----------

    @np.errstate(all="ignore")  # what has overflowed is refused
    def verify(self) -> None:
        """Raise InputError where learning cannot have led to what the model holds.

        What `save` writes, what `load` reads and what models are merged to passes it.
        """
        check_progress(self.combiner, self.progress)
        total = self.weights().sum() * self.votes().sum()
        if not 0 < total < np.inf:
            raise InputError("progress.log_weights, progress.used: nobody has a vote")
        for i, (store, state) in enumerate(zip(self.stores, self.states, strict=True)):
            with within(f"stores.{i}."):
                store.check(state, self.progress)
        self.scaler.check(self.rounds)
        with within("calibration."):
            self.calibration.check(self.asked)
        if self.horizons is not None:
            with within("horizons."):
                far.check(self.horizons, self)
