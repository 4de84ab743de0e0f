"""The state of slots, which rows that are learned one at a time change in place."""

from __future__ import annotations

from typing import Any, NamedTuple

from kernbrook.engine.state import copy_arrays
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
        """The state without room for more."""
        return SlotState, tuple(settled(self))


def settled(state: SlotState) -> SlotState:
    """The state, or a copy of one that changes, made while no row is learned."""
    if not state.changes:
        return state
    return SlotState(copy_arrays(state.slots), state.points.copied())
