"""A composed model: experts in their stores, a committee, and what follows.

Classes are numbered from 0; labels and scikit-learn's customs are the estimator's. Two classes have
one score, positive for class 1; more have one each; numbers have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.committee import relative_weights
from kernbrook.engine.importance import LEAST
from kernbrook.engine.progress import (
    ASKED,
    CHOSEN,
    ROUND,
    Choices,
    Due,
    Progress,
    begun,
    check_progress,
    restored,
)
from kernbrook.engine.same import same
from kernbrook.engine.state import copied, flat, under
from kernbrook.engine.stores.base import Setting, Store
from kernbrook.engine.verbs import expect
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Labels, check_array, within
from kernbrook.kernels import Kernel
from kernbrook.snapshots import in_memory


class Model:
    """What was chosen, and what was learned so far.

    Parameters
    ----------
    stores : of the experts, which they number from 0 on
    choices : what the committee does
    combiner : with `state_size`, how many numbers it keeps
    kernels : of the experts, each once
    kernel_of : (e,) int, the number of each expert's kernel; -1: it has none
    views : the scalings that the experts ask for; None: the machine's own
    interleaved : whether who learns depends on the other experts, or on the label policy
    asks : whether some labels are not asked for

    Attributes
    ----------
    states : of the stores; never changed, but replaced
    progress : what else was learned
    scaler : of the rows, in each view
    calibration : what was learned of the decisions' errors, in the first `calibrated` rounds
    due : what it has to learn from the rows since then, where rows came one by one; see `calibrate`
    horizons : of predictions far from the last label, or None; see `judged`
    usual : the mean weight of rows of late, to which weights are relative
    session, met_few : in which it takes rows one by one; chunks of few rows before; see `session`
    block_rows : of one block
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
        interleaved: bool,
        asks: bool,
    ):
        self.stores, self.choices, self.setting = tuple(stores), choices, setting
        self.kernels, self.kernel_of, self.views = kernels, kernel_of, views
        self.interleaved, self.asks = interleaved, asks
        self.n_experts = len(choices.terms.strict)
        self.block_rows = min(store.block_rows for store in stores)
        self.looks_outside = any(store.looks_outside for store in stores)
        if interleaved and self.looks_outside:
            self.block_rows = 1  # what is learned from depends on a committee that is compiled
        self.combiner, state_size = combiner, combiner.state_size(self.n_experts)
        self.progress = begun(self.n_experts, state_size, setting.seed)
        self.inputs = 2 if getattr(combiner, "corrects_votes", False) else 1
        self.scaler: Any = None
        self.calibration: Any = None
        self.due: Due | None = None
        self.calibrated = 0
        self.horizons: Any = None
        self.usual = 1.0
        self.session: Any = None
        self.met_few = 0

    @cached_property
    def states(self) -> tuple[Any, ...]:
        """As they begin, where no others were given first: drawing maps takes a while."""
        return tuple(store.begin() for store in self.stores)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is only kept for the next rows that come one by one."""
        self.calibrate()
        self.judged()
        return {**self.__dict__, "due": None, "session": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(in_memory(state, {}))

    def calibrate(self) -> Any:
        """Have the calibration learn from rows that are due.

        Gives what it says of each before its label; None where no row is due.
        """
        due, rounds = self.due, self.rounds
        if due is None or self.calibrated == rounds:
            return None
        which, later = np.arange(self.calibrated, rounds) % len(due.labels), self.calibration.copy()
        said = later.learn(*(array[which] for array in due))
        self.__dict__.update(calibration=later, calibrated=rounds)  # no interruption between
        return said

    def certain(self) -> Any:
        """The calibration, once it has learned from all rows."""
        self.calibrate()
        return self.calibration

    # -- laps, see `horizons` ---------------------------------------------------------------

    def pieces(self, n: int, at: int = 0) -> Iterator[slice]:
        """Rows at .. n - 1 that are learned next, in blocks, none of which goes on beyond a lap."""
        left = n - at
        if self.horizons is not None and n:
            left = self.horizons.end - self.rounds
        while at < n:
            end = min(at + min(self.block_rows, left), n)
            yield slice(at, end)
            left -= end - at
            at = end
            if left <= 0 and self.horizons is not None:
                left = self.horizons.end - self.rounds

    def judged(self) -> Any:
        """The horizons, once all rows of the laps so far are judged; or None."""
        if self.horizons is not None:
            self.horizons.judge(self)
        return self.horizons

    def settle(self, judges: bool = True) -> None:
        """Learn from a lap that is over. Called before and after rows are learned.

        judges : whether its rows are judged at once; else with the next rows, or when that counts
        """
        while self.horizons is not None and self.rounds >= self.horizons.due:
            self.horizons = self.horizons.settled(self)
        if judges:
            self.judged()

    def next_alone(self, place: int) -> bool:
        """Whether the committee for the next row decides on one at a place, and all before it."""
        return self.horizons is None or place <= 1 or self.judged().next_alone(place)

    # -- what was learned -------------------------------------------------------------------

    def take(
        self, progress: Progress, states: tuple[Any, ...], scaler: Any, calibration: Any,
        usual: float,
    ) -> None:  # fmt: skip
        """From now on the model is what it has become with a block."""
        chosen = int(progress.counters[CHOSEN])
        if self.chosen < 0 <= chosen:
            states = self._only(states, chosen)
        self.__dict__.update(  # no interruption between
            progress=progress, states=states, scaler=scaler, calibration=calibration, usual=usual,
            due=None,
        )  # fmt: skip

    def held(self, states: tuple[Any, ...]) -> int:
        """Points held, of stores that nothing bounds."""
        return sum(store.held(state) for store, state in zip(self.stores, states, strict=True))

    def calibrations(self) -> list[Any]:
        """Of the committee for the next row, and of those for rows farther ahead."""
        far = [] if self.horizons is None else [self.judged().soon, self.horizons.late]
        return [self.certain(), *(one.calibration for one in far)]

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
        found = np.zeros(self.n_experts, dtype=np.int64)
        for store, state in zip(self.stores, self.states, strict=True):
            if (own := store.expansion(state)) is not None:
                counts = np.count_nonzero(own[1].any(axis=2), axis=0)
                if len(counts) < len(store.experts):
                    return counts
                found[store.experts] = counts
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
        ahead = 0 if self.horizons is None else self.judged().nbytes(self)
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
            "usual": np.array([self.usual]),
            "stores": {f"{i}": store.arrays(state) for i, (store, state) in pairs},
        }
        if self.horizons is not None:
            tree["horizons"] = self.judged().arrays(self)
        return flat({**tree, **self.scaler.arrays(), "calibration": self.certain().arrays()})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` of a model of the same choices gave.

        Raises
        ------
        InputError
            An array is missing, or numbers are beyond their ranges.
        """
        self.go_on(arrays)
        self.scaler = self.scaler.restored(arrays)
        usual = check_array("usual", arrays.get("usual", np.ones(1)), (1,), np.float64)
        if not LEAST <= usual[0] <= 1.0 / LEAST:
            raise InputError(f"usual: expected a mean weight, got {usual[0]:g}")
        self.usual = float(usual[0])
        with within("calibration."):
            self.calibration.restore(under(arrays, "calibration"))
        if self.horizons is not None:
            with within("horizons."):
                self.horizons.restore(self, under(arrays, "horizons"))
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

    @np.errstate(all="ignore")  # what has overflowed is refused
    def verify(self) -> None:
        """Raise InputError where numbers of a file are beyond what compiled code can take.

        What learning leads to is within these ranges, at every row; `save` and merging do not look.
        """
        check_progress(self.progress)
        self.scaler.check()
        with within("calibration."):
            self.calibration.check()
        if self.horizons is not None:
            with within("horizons."):
                self.horizons.check(self)
