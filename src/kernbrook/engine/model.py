"""A composed model: experts in their stores, a committee, and what follows.

Classes are numbered from 0; labels and scikit-learn's customs are the estimator's. Two classes have
one score, positive for class 1; more have one each; numbers have one.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.importance import LEAST
from kernbrook.engine.passes import Committee
from kernbrook.engine.progress import ASKED, CHOSEN, ROUND, Due, Progress
from kernbrook.engine.same import same
from kernbrook.engine.state import copy_arrays, flatten, pick
from kernbrook.engine.stores.base import Setting, Store
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Ints, check_array, within
from kernbrook.kernels import Kernel
from kernbrook.snapshots import copy_with, in_memory


class Model:
    """The choices of a model, and all that it has learned so far.

    Parameters
    ----------
    stores : of the experts, which they number from 0 on
    committee : for the next row
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
    due : the rows since then, from which it has still to learn, if they came one by one
    horizons : of predictions far from the last label, or None; see `judged`
    usual : the mean weight of rows of late, to which weights are relative
    session, few_met : for rows one by one; chunks of few rows before it; see `session`
    block_rows : of one block
    """

    def __init__(
        self,
        stores: Sequence[Store],
        committee: Committee,
        setting: Setting,
        kernels: tuple[Kernel, ...],
        kernel_of: Ints,
        views: tuple[str | None, ...],
        interleaved: bool,
        asks: bool,
    ):
        self.stores, self.committee, self.setting = tuple(stores), committee, setting
        self.kernels, self.kernel_of, self.views = kernels, kernel_of, views
        self.interleaved, self.asks = interleaved, asks
        self.n_experts, self.inputs = committee.n_experts, committee.inputs
        self.block_rows = min(store.block_rows for store in stores)
        self.looks_outside = any(store.looks_outside for store in stores)
        if interleaved and self.looks_outside:
            self.block_rows = 1  # what is learned from depends on a committee that is compiled
        self.progress = committee.begun(setting.seed)
        self.scaler: Any = None
        self.calibration: Any = None
        self.due: Due | None = None
        self.calibrated = 0
        self.horizons: Any = None
        self.usual = 1.0
        self.session: Any = None
        self.few_met = 0

    @cached_property
    def states(self) -> tuple[Any, ...]:
        """As they begin, if no others are set before: drawing maps takes a while."""
        return tuple(store.begin() for store in self.stores)

    def __getstate__(self) -> dict[str, Any]:
        """The attributes, without those that only serve the next rows that come one by one."""
        self.calibrate()
        self.judged()
        return {**self.__dict__, "due": None, "session": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(in_memory(state, {}))

    def calibrate(self) -> Any:
        """Have the calibration learn from rows that are due.

        Gives the certainty of each row before its label; None if no row is due.
        """
        due, rounds = self.due, self.rounds
        if due is None or self.calibrated == rounds:
            return None
        which, later = np.arange(self.calibrated, rounds) % len(due.labels), self.calibration.copy()
        certainty = later.learn(*[array[which] for array in due])
        self.__dict__.update(calibration=later, calibrated=rounds)  # no interruption between
        return certainty

    def certain(self) -> Any:
        """The calibration, once it has learned from all rows."""
        self.calibrate()
        return self.calibration

    # -- laps, see `horizons` ---------------------------------------------------------------

    def pieces(self, n: int, at: int = 0) -> Iterator[slice]:
        """Rows at .. n - 1 that are learned next, in blocks, none of which goes on beyond a lap."""
        rows_before = self.rounds - at
        while at < n:
            left = n if self.horizons is None else self.horizons.left(rows_before + at)
            end = min(at + min(self.block_rows, left), n)
            yield slice(at, end)
            at = end

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

    def take(self, progress: Progress, states: tuple[Any, ...], **others: Any) -> None:
        """Set what the model has learned from a block; others : attributes."""
        chosen = int(progress.counters[CHOSEN])
        if self.chosen < 0 <= chosen:
            states = self._only(states, chosen)
        # No interruption between.
        self.__dict__.update(others, progress=progress, states=states, due=None)

    def with_states(self, progress: Progress, states: tuple[Any, ...], scaler: Any) -> Self:
        """A model of the same parts with other states, for decisions on the next row alone."""
        nothing = dict.fromkeys(("session", "horizons", "due", "calibration"))
        return copy_with(self, progress=progress, states=states, scaler=scaler, **nothing)

    def snapshot(self) -> Self:
        """A model that predicts as this one does now, and learns nothing."""
        pairs = zip(self.stores, self.states, strict=True)
        states = tuple(store.snapshot(state) for store, state in pairs)
        if self.session is not None:  # single rows change the arrays in place
            states = deepcopy(states)
        return self.with_states(copy_arrays(self.progress), states, self.scaler.snapshot())

    def held(self, states: tuple[Any, ...]) -> int:
        """Points held, of stores that nothing bounds."""
        pairs = zip(self.stores, states, strict=True)
        return sum(state.points.n for store, state in pairs if store.grows)

    @property
    def rounds(self) -> int:
        """Examples met so far."""
        return int(self.progress.counters[ROUND])

    @property
    def asked(self) -> int:
        """Labels looked at so far."""
        return int(self.progress.counters[ASKED])

    def weights(self) -> Floats:
        """(e,) weights of the experts, summing to 1."""
        return self.committee.weights(self.progress)

    @property
    def counts(self) -> Ints:
        """(e,) support vectors of each expert; (1,) where they share them."""
        found = np.zeros(self.n_experts, dtype=np.int64)
        for store, state in zip(self.stores, self.states, strict=True):
            if (sums := store.expansion(state)) is not None:
                counts = np.count_nonzero(sums[1].any(axis=2), axis=0)
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
            sums = store.expansion(state)
            if sums is not None:
                points.append(sums[0].dense())
                spread = sums[1]
                if len(self.stores) > 1:
                    spread = np.zeros((len(sums[1]), self.n_experts, self.setting.scores))
                    spread[:, store.experts] = sums[1]
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
        in_stores = sum(store.nbytes(state) for store, state in pairs)
        return in_stores + sum(array.nbytes for array in others) + ahead

    @property
    def chosen(self) -> int:
        """The expert that was chosen for good; -1 where none is."""
        return int(self.progress.counters[CHOSEN])

    def choose(self, expert: int) -> None:
        """Keep this expert alone; what the others have learned is dropped."""
        progress = copy_arrays(self.progress)
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

    def has_same_choices(self, other: Self) -> bool:
        """Whether the other model was made from the same choices."""
        return same(list(self._list_choices()), list(other._list_choices()))

    def _list_choices(self) -> Iterator[Any]:
        yield tuple(self.committee.choices)
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
        """All arrays that were learned, by name, as a file holds them; they must not change."""
        pairs = enumerate(zip(self.stores, self.states, strict=True))
        tree: dict[str, Any] = {
            "progress": self.progress._asdict(),
            "usual": np.array([self.usual]),
            "stores": {f"{i}": store.arrays(state) for i, (store, state) in pairs},
        }
        if self.horizons is not None:
            tree["horizons"] = self.judged().arrays(self)
        return flatten({**tree, **self.scaler.arrays(), "calibration": self.certain().arrays()})

    @np.errstate(all="ignore")  # what has overflowed is refused
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` of a model of the same choices gave.

        What learning leads to is within the ranges that are checked, at every row: `save` and
        merging do not look.

        Raises
        ------
        InputError
            An array is missing, or numbers are beyond what compiled code can take.
        """
        progress, states = self.committee.restored(self.progress, pick(arrays, "progress")), []
        for i, store in enumerate(self.stores):
            with within(f"stores.{i}."):
                states.append(store.restored(pick(arrays, f"stores.{i}")))
        self.progress, self.states = progress, tuple(states)
        self.scaler = self.scaler.restored(arrays)
        usual = check_array("usual", arrays.get("usual", np.ones(1)), (1,), np.float64)
        if not LEAST <= usual[0] <= 1.0 / LEAST:
            raise InputError(f"usual: expected a mean weight, got {usual[0]:g}")
        self.usual = float(usual[0])
        with within("calibration."):
            self.calibration.restore(pick(arrays, "calibration"))
        if self.horizons is not None:
            with within("horizons."):
                self.horizons.restore(self, pick(arrays, "horizons"))
