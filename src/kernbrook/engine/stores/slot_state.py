"""The state of slots, which rows that are learned one at a time change in place."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

from kernbrook.compiler.compiling import njit
from kernbrook.engine.verbs import Slots
from kernbrook.gram.stored_points import StoredPoints


class SlotState(NamedTuple):
    """The state: the slots, and the points that they hold, without coefficients.

    changes : whether the arrays change in place, as rows are learned one at a time
    """

    slots: Slots
    points: StoredPoints
    changes: bool = False

    def __reduce__(self) -> Any:
        """As it is, without room for more."""
        return SlotState, tuple(still(self))


def still(state: SlotState) -> SlotState:
    """The state, or a copy of one that changes, made while no row is learned."""
    if not state.changes:
        return state
    points = copy(state.points)
    slots, points.counted, points._X, points._norms, points._keys = copied_at_once(
        state.slots, points.counted, points._X, points._norms, points._keys
    )
    return SlotState(slots, points)


@njit(cache=True)
def copied_at_once(slots, counted, X, norms, keys):
    """Copies; what is compiled without `nogil` runs while nothing else does that Python calls."""
    n = counted[0]
    copies = Slots(
        slots.alpha.copy(), slots.diagonal.copy(), slots.born.copy(), slots.place.copy(),
        slots.filled.copy(), slots.gram.copy(), slots.factor.copy(), slots.order.copy(),
        slots.memory.copy(), slots.scale.copy(), slots.points.copy(), slots.norms.copy(),
    )  # fmt: skip
    return copies, counted.copy(), X[:n].copy(), norms[:n].copy(), keys[:n].copy()
