"""Checks of slots: numbers that are places, and numbers that are divided by."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.errors import InputError


def check_slots(store: Any, state: Any) -> None:
    """Raise InputError where slots of a `SlotStore` do not go together."""
    slots, room = state.slots, state.slots.alpha.shape[2]
    filled = slots.filled[:, 0]
    most = room - store.learner.spare if not store.grows else room
    if ((filled < 0) | (filled > most)).any():
        raise InputError(f"filled: expected 0 to {most}")
    places = slots.place[np.arange(room) < slots.filled]
    stored = len(store.points_of(state))
    if ((places < 0) | (places >= stored)).any():
        raise InputError(f"place: expected 0 to {stored - 1}")
    born = slots.born[np.arange(room) < slots.filled]
    if not ((born >= 0) & (born <= MOST_ROUNDS)).all():
        raise InputError("born: expected numbers of rounds")
    if store.learner.remembers and (slots.memory[:, 0] < 0).any():
        raise InputError("memory: expected numbers from 0 in the first column")
    for e in range(len(filled)):
        if len(np.unique(slots.place[e, : filled[e]])) < filled[e]:
            raise InputError("place: expected another point in each slot of an expert")
    for e in range(len(filled) if slots.order.size else 0):
        n = filled[e]
        if not np.array_equal(np.sort(slots.order[e, :n]), np.arange(n)):
            raise InputError(f"order: expected the slots 0 to {n - 1}")
        for name, numbers in (
            ("diagonal", slots.diagonal[e, :n]),
            ("factor", np.diagonal(slots.factor[e])[:n]),
        ):
            if not (numbers > 0).all():
                raise InputError(f"{name}: expected numbers above 0")
    in_use = np.flatnonzero(np.arange(room) < slots.filled)
    if store.merges_points and not (places == in_use).all():
        raise InputError("place: expected each slot's own point")
