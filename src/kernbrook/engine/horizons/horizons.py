"""What is known of horizons, as arrays: files, sizes, and models that are brought together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.engine.horizons import lines
from kernbrook.engine.horizons.committees import (
    LATE,
    NAMES,
    SEED,
    SOON,
    Committees,
    Distant,
    Kept,
    Scored,
)
from kernbrook.engine.horizons.laps import LAPS_LATE, SOON_PLACES, check_labels
from kernbrook.engine.horizons.lines import Lines
from kernbrook.engine.progress import Progress, check_progress, merged, restored
from kernbrook.engine.state import flat, under
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError
from kernbrook.gram.arrays import check_array, within

if TYPE_CHECKING:
    from kernbrook.engine.model import Model

Arrays = dict[str, NDArray[Any]]
SAID = "which", "scores", "sizes"  # of `Scored`


class Horizons(Committees):
    """The committees of a model, with what files, sizes and merging ask for."""

    def nbytes(self, model: Model) -> int:
        """Bytes of all this, but for arrays that the model has in use."""
        lap = self.lap.arrays(model.rounds - self.start)
        found = sum(array.nbytes for array in (*lap.values(), *self.lines))
        found += sum(array.nbytes for one in (self.soon, self.late) for array in one.progress)
        for kept in {id(one): one for one in (self.now, self.old) if one is not None}.values():
            trio = zip(model.stores, kept.states, model.states, strict=True)
            found += sum(store.nbytes_beside(was, now) for store, was, now in trio)
            others = (*kept.progress, *kept.lines, *kept.scaler.arrays().values())
            found += sum(array.nbytes for array in others)
        return found

    def arrays(self, model: Model) -> dict[str, NDArray[Any]]:
        """Everything that was learned, by name."""
        rows = model.rounds - self.start
        tree: dict[str, Any] = {
            "start": np.array([self.start]),
            "lap": self.lap.arrays(rows),
            "lines": lines.arrays(self.lines),
        }
        for scored in self.said:
            tree["said"] = {name: getattr(scored, name) for name in SAID}
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
                    "says": _states_apart(model, kept),
                }
        return flat(tree)

    def restore(self, model: Model, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave; the model has what it has learned already.

        InputError where an array is missing, or numbers are beyond their ranges. Files of before
        there were horizons have none of all: these begin.
        """
        if not arrays:
            self.begin_at(model)
            return
        start, rounds = _count(arrays, "start"), model.rounds
        if start != rounds - rounds % self.length(rounds):
            raise InputError(f"start: no lap of {rounds} rows begins there")
        self.start = start
        with within("lines."):
            self.lines = lines.restored(self.lines, under(arrays, "lines"))
        for name in NAMES[1:]:
            with within(f"{name}."):
                setattr(self, name, self._restored(model, under(arrays, name)))
        for name in ("now", "old"):
            own = under(arrays, name)
            with within(f"{name}."):
                setattr(self, name, _kept_from(model, self.lines, own) if own else None)
        if self.now is not None and self.now.round[0] != start:
            raise InputError("now.round: expected the start of the lap")
        if self.now is not None and self.old is None:
            self.old = self.now if start % (LAPS_LATE * self.length(start)) == 0 else None
        if self.old is not None and not 0 <= self.old.round[0] <= start:
            raise InputError("old.round: expected the start of a lap before")
        with within("said."):
            self.said = self._said_from(model, under(arrays, "said"))
        self.begin_lap(model)
        with within("lap."):
            self.lap.restore(under(arrays, "lap"), rounds - start)
            check_labels(self.lap.labels, model.setting)

    def _said_from(self, model: Model, arrays: Mapping[str, NDArray[Any]]) -> tuple[Scored, ...]:
        """What was said of rows of this lap, from its arrays."""
        which = arrays.get("which")
        if which is None:
            return ()
        check_array("which", which, (len(which),), np.int64)
        if not (np.isin(which, SOON_PLACES - 1) & (which < model.rounds - self.start)).all():
            raise InputError("which: expected rows of the lap that were judged")
        shape = len(which), len(self.choices.terms.strict), model.setting.scores
        scores, sizes = (check_array(n, arrays.get(n), shape, np.float64) for n in SAID[1:])
        return (Scored(SOON, which, scores, sizes),)

    def check(self, model: Model) -> None:
        """Raise InputError where numbers of a committee are beyond their ranges."""
        for name in NAMES[1:]:
            with within(f"{name}."):
                check_progress(getattr(self, name).progress)

    def unite(self, model: Model, apart: Apart) -> None:
        """Know what several models know of this, apart; rows of this lap are not judged."""
        far = apart.over(lambda one: one.judged())
        self.lines = lines.merged(far.of("lines"))
        for name in NAMES[1:]:
            each = far.of(name)
            progress = merged(self.choices.combiner, each.of("progress"), SEED)
            calibration = model.calibration.begun_far()
            calibration.unite(
                apart.over(
                    lambda one, name=name: (
                        getattr(one.horizons, name).calibration  # type: ignore[misc]
                        or one.certain().begun_far()
                    )
                )
            )
            rows = each.of("rows").added()
            losses = each.of("losses").averaged()
            setattr(self, name, Distant(progress, calibration if rows[0] else None, rows, losses))

    def _restored(self, model: Model, arrays: Mapping[str, NDArray[Any]]) -> Distant:
        """A committee from its arrays."""
        fresh, rows = self.first(model), _count(arrays, "rows")
        progress = _progress_from(fresh.progress, under(arrays, "progress"))
        losses = arrays.get("losses", fresh.losses)
        if losses.shape == (2,) and model.setting.regression:  # older: nobody else was judged
            losses = np.append(losses, losses[[0, 0]])
        check_array("losses", losses, fresh.losses.shape, np.float64)
        if not np.isfinite(losses).all():
            raise InputError("losses: NaN or infinity")
        if not rows:
            return fresh._replace(progress=progress, losses=losses)
        calibration = model.calibration.begun_far()
        with within("calibration."):
            calibration.restore(under(arrays, "calibration"))
            calibration.check()
        return Distant(progress, calibration, arrays["rows"], losses)


def _count(arrays: Mapping[str, NDArray[Any]], name: str) -> int:
    """A number from 0 that is an array's only one."""
    array = check_array(name, arrays.get(name), (1,), np.int64)
    if not 0 <= array[0] <= COUNTED:
        raise InputError(f"{name}: expected a number from 0 to {COUNTED}")
    return int(array[0])


def _progress_from(fresh: Progress, arrays: Mapping[str, NDArray[Any]]) -> Progress:
    with within("progress."):
        progress = restored(fresh, arrays)
    check_progress(progress)
    return progress


def _states_apart(model: Model, kept: Kept) -> dict[str, Arrays]:
    """The arrays of states that are others than a snapshot of the model now would have."""
    trio = zip(model.stores, kept.states, model.states, strict=True)
    return {
        f"{i}": _others(store.arrays(state), store.arrays(store.snapshot(now)))
        for i, (store, state, now) in enumerate(trio)
    }


def _others(arrays: Arrays, known: Arrays) -> Arrays:
    """Arrays that are not equal to those known by the same names."""
    return {
        name: one
        for name, one in arrays.items()
        if name not in known or not np.array_equal(one, known[name])
    }


def _kept_from(model: Model, fresh: Lines, arrays: Mapping[str, NDArray[Any]]) -> Kept:
    """A model as it was, from its arrays; those of older files could learn, too."""
    _count(arrays, "round")
    progress = _progress_from(model.progress, under(arrays, "progress"))
    scaler, states = model.scaler.snapshot().restored(arrays), []
    scaler.check()
    with within("lines."):
        own = lines.restored(fresh, {**lines.arrays(fresh), **under(arrays, "lines")})
    for i, (store, now) in enumerate(zip(model.stores, model.states, strict=True)):
        with within(f"stores.{i}."):
            state = now
            if older := under(arrays, f"stores.{i}"):
                state = store.restored({**store.arrays(now), **older})
            state = store.snapshot(state)
        if others := under(arrays, f"says.{i}"):
            with within(f"says.{i}."):
                state = store.restored_snapshot({**store.arrays(state), **others})
        states.append(state)
    return Kept(arrays["round"], tuple(states), scaler, progress, own)
