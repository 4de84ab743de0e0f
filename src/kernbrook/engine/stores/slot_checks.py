"""What slots can hold: how their parts go together, and kernel values as their points have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernbrook.engine.verbs import Slots
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Labels, check_norms
from kernbrook.gram.rows import DenseRows, Rows
from kernbrook.numerics.pairs import dense_norms

LOOKED_AT = 16  # slots of an expert, whose kernel values with others are computed
NUMBERS = 1 << 20  # of the points that these are compared with, together
NEAR = {"float64": 1e-6, "float32": 1e-2}  # of sqrt(k(x, x) k(z, z)): what rounding may change


def check_slots(store: Any, state: Any, rounds: int) -> None:
    """Raise InputError where slots of a `SlotStore` do not go together, after so many rounds."""
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
    if not ((born >= 0) & (born < rounds)).all():
        raise InputError("born: expected rounds that there were")
    if store.learner.remembers and (slots.memory[:, 0] < 0).any():
        raise InputError("memory: expected numbers from 0 in the first column")
    for e in range(len(filled)):
        if len(np.unique(slots.place[e, : filled[e]])) < filled[e]:
            raise InputError("place: expected another point in each slot of an expert")
    for e in range(len(filled) if slots.order.shape[1] else 0):
        n = filled[e]
        if not np.array_equal(np.sort(slots.order[e, :n]), np.arange(n)):
            raise InputError(f"order: expected the slots 0 to {n - 1}")
        for name, numbers in (
            ("diagonal", slots.diagonal[e, :n]),
            ("factor", np.diagonal(slots.factor[e])[:n]),
        ):
            if not (numbers > 0).all():
                raise InputError(f"{name}: expected numbers above 0")
    if store.merges_points:
        if not (places == np.flatnonzero(np.arange(room) < slots.filled)).all():
            raise InputError("place: expected each slot's own point")
        check_norms(slots.norms.reshape(-1), dense_norms(store.points_of(state).dense()))


def check_values(store: Any, state: Any) -> None:
    """Raise InputError where a `SlotStore` keeps other kernel values than those of its points.

    Some slots of each expert are looked at, in even distances.
    """
    slots, rows, near = state.slots, store.points_of(state), NEAR[store.setting.dtype]
    for e, kernel in enumerate(store.kernels):
        n = int(slots.filled[e, 0])
        some = evenly(n, LOOKED_AT)
        X = dense_at(rows, slots.place[e, some])
        own = np.array([kernel(x[None], x[None])[0, 0] for x in X])
        check_near("diagonal", slots.diagonal[e, some], own, near * np.abs(own))
        if n and slots.gram.shape[1] + slots.factor.shape[1]:
            others = np.union1d(some, evenly(n, NUMBERS // max(store.setting.width, 1)))
            values = kernel(X, dense_at(rows, slots.place[e, others]))
            sizes = np.sqrt(np.abs(np.outer(own, slots.diagonal[e, others])))
            for name, found in kept(slots, e, some, others):
                check_near(name, found, values, near * (np.abs(values) + sizes))


def check_near(name: str, found: Floats, values: Floats, most: Floats) -> None:
    """Raise InputError where kept kernel values differ by more."""
    if not (np.abs(found - values) <= most + 1e-300).all():
        raise InputError(f"{name}: not the kernel values of the points")


def evenly(n: int, most: int) -> Labels:
    """Numbers from 0 to n - 1, all of them or so many in even distances."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def dense_at(rows: Rows, places: Labels) -> Floats:
    """(n, d) the rows at some places."""
    if isinstance(rows, DenseRows):
        return rows.X[places]
    held = sp.csr_matrix(rows.csr(), shape=(len(rows), rows.width))
    return np.asarray(held[places].toarray())


def kept(slots: Slots, e: int, some: Labels, others: Labels) -> list[tuple[str, Floats]]:
    """Kernel values of some slots of an expert with others, by the names of what keeps them."""
    n, found = int(slots.filled[e, 0]), []
    if slots.gram.shape[1]:
        gram = slots.gram[e, :n, :n]
        if not np.allclose(gram, gram.T):
            raise InputError("gram: expected a symmetric matrix")
        found.append(("gram", gram[np.ix_(some, others)]))
    if slots.factor.shape[1]:
        factor = np.triu(slots.factor[e, :n, :n], 1)
        factor[np.diag_indices(n)] = 1.0 / np.diagonal(slots.factor[e])[:n]
        at = np.argsort(slots.order[e, :n])  # where each slot stands in it
        found.append(("factor", factor[:, at[some]].T @ factor[:, at[others]]))
    return found
