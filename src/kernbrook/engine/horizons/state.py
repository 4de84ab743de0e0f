"""What is known of horizons, as arrays: files, sizes, and models that are brought together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.horizons import lines
from kernbrook.engine.horizons.committees import LATE, NAMES, SEED, SOON, Distant, Horizons, Kept
from kernbrook.engine.horizons.laps import LAPS_LATE, check_labels
from kernbrook.engine.horizons.lines import Lines
from kernbrook.engine.progress import MOST_LOSS, Progress, check_progress, restored, united
from kernbrook.engine.state import flat, under
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError
from kernbrook.gram.points import check_array, within

if TYPE_CHECKING:
    from kernbrook.engine.model import Model

Arrays = dict[str, NDArray[Any]]


def nbytes(horizons: Horizons, model: Model) -> int:
    """Bytes of all this, but for arrays that the model has in use."""
    lap = horizons.lap.arrays(model.rounds - horizons.start)
    found = sum(array.nbytes for array in (*lap.values(), *horizons.lines))
    found += sum(array.nbytes for one in (horizons.soon, horizons.late) for array in one.progress)
    for kept in {id(one): one for one in (horizons.now, horizons.old) if one is not None}.values():
        trio = zip(model.stores, kept.states, model.states, strict=True)
        found += sum(store.nbytes(was) for store, was, now in trio if was is not now)
    return found


def arrays(horizons: Horizons, model: Model) -> dict[str, NDArray[Any]]:
    """Everything that was learned, by name."""
    rows = model.rounds - horizons.start
    tree: dict[str, Any] = {
        "start": np.array([horizons.start]),
        "lap": horizons.lap.arrays(rows),
        "lines": lines.arrays(horizons.lines),
    }
    for kind, one in ((SOON, horizons.soon), (LATE, horizons.late)):
        tree[NAMES[kind]] = {
            "rows": one.rows, "losses": one.losses, "progress": one.progress._asdict()
        }  # fmt: skip
        if one.calibration is not None:
            tree[NAMES[kind]]["calibration"] = one.calibration.arrays()
    for name, kept in (("now", horizons.now), ("old", horizons.old)):
        if kept is not None and not (name == "old" and kept is horizons.now):
            tree[name] = {
                "round": kept.round,
                "progress": kept.progress._asdict(),
                "lines": _others(lines.arrays(kept.lines), lines.arrays(horizons.lines)),
                **kept.scaler.arrays(),
                **_states_apart(model, kept),
            }
    return flat(tree)


def restore(horizons: Horizons, model: Model, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Go on from what `arrays` gave; the model has what it has learned already.

    InputError where an array is missing, or learning cannot have led to one. Files of before
    there were horizons have none of all: these begin.
    """
    if not arrays:
        horizons.begin_at(model)
        return
    start, rounds = _count(arrays, "start"), model.rounds
    if start != rounds - rounds % horizons.length(rounds):
        raise InputError(f"start: no lap of {rounds} rows begins there")
    horizons.start = start
    with within("lines."):
        horizons.lines = lines.restored(horizons.lines, under(arrays, "lines"))
    for name in NAMES[1:]:
        with within(f"{name}."):
            setattr(horizons, name, _restored(horizons, model, under(arrays, name)))
    for name in ("now", "old"):
        own = under(arrays, name)
        with within(f"{name}."):
            setattr(horizons, name, _kept_from(model, horizons.lines, own) if own else None)
    if horizons.now is not None and horizons.now.round[0] != start:
        raise InputError("now.round: expected the start of the lap")
    if horizons.now is not None and horizons.old is None:
        horizons.old = horizons.now if start % (LAPS_LATE * horizons.length(start)) == 0 else None
    if horizons.old is not None and not 0 <= horizons.old.round[0] <= start:
        raise InputError("old.round: expected the start of a lap before")
    horizons.lap = horizons.new_lap(model)
    with within("lap."):
        horizons.lap.restore(under(arrays, "lap"), rounds - start)
        check_labels(horizons.lap.labels, model.setting)


def check(horizons: Horizons, model: Model) -> None:
    """Raise InputError where learning cannot have led to a committee."""
    for name in NAMES[1:]:
        with within(f"{name}."):
            check_progress(horizons.combiner, getattr(horizons, name).progress)


def unite(horizons: Horizons, model: Model, apart: Apart) -> None:
    """Know what several models know of this, apart; rows of this lap are not judged."""
    far = apart.of("horizons")
    horizons.lines = lines.united(far.of("lines"))
    for name in NAMES[1:]:
        each = far.of(name)
        progress = united(horizons.choices.combiner, each.of("progress"), SEED)
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
        setattr(horizons, name, Distant(progress, calibration if rows[0] else None, rows, losses))


def _restored(horizons: Horizons, model: Model, arrays: Mapping[str, NDArray[Any]]) -> Distant:
    """A committee from its arrays."""
    fresh, rows = horizons.first(model), _count(arrays, "rows")
    progress = _progress_from(horizons.combiner, fresh.progress, under(arrays, "progress"))
    losses = check_array("losses", arrays.get("losses"), (2,), np.float64)
    if not ((losses >= 0) & (losses <= MOST_LOSS)).all():
        raise InputError(f"losses: expected numbers from 0 to {MOST_LOSS:g}")
    if rows > model.rounds:
        raise InputError(f"rows: expected {model.rounds} at most")
    if not rows:
        return fresh._replace(progress=progress, losses=losses)
    calibration = model.calibration.begun_far()
    with within("calibration."):
        calibration.restore(under(arrays, "calibration"))
        calibration.check(model.rounds + rows)
    return Distant(progress, calibration, arrays["rows"], losses)


def _count(arrays: Mapping[str, NDArray[Any]], name: str) -> int:
    """A number from 0 that is an array's only one."""
    array = check_array(name, arrays.get(name), (1,), np.int64)
    if array[0] < 0:
        raise InputError(f"{name}: expected a number from 0")
    return int(array[0])


def _progress_from(combiner: Any, fresh: Progress, arrays: Mapping[str, NDArray[Any]]) -> Progress:
    with within("progress."):
        progress = restored(fresh, arrays)
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
    progress = _progress_from(model.combiner, model.progress, under(arrays, "progress"))
    scaler, states = model.scaler.restored(arrays), []
    scaler.check(model.rounds)
    with within("lines."):
        own = lines.restored(fresh, {**lines.arrays(fresh), **under(arrays, "lines")})
    for i, (store, now) in enumerate(zip(model.stores, model.states, strict=True)):
        with within(f"stores.{i}."):
            state = store.restored({**store.arrays(now), **under(arrays, f"stores.{i}")})
            store.check(state, progress)
        states.append(state)
    return Kept(arrays["round"], tuple(states), scaler, progress, own)
