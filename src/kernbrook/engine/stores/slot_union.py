"""Slots of several models as those of one: expansions averaged, and cut back to the budget."""

from functools import cache, partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernbrook.engine.uniting import RIDGE, Apart, remember_together, unite_points
from kernbrook.engine.verbs import Slots
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.numerics.projection import gather


def merge_slots(store: Any, apart: Apart) -> tuple[Slots, StoredPoints]:
    """The slots and the points of a `SlotStore` for those of several states.

    Expansions are averaged. Under a budget the greatest coefficients stay, and the rest is
    projected on their points, as in the halving of Liao et al. (2024), algorithm 2.
    """
    width, sparse = store.setting.width, store.setting.sparse
    points, places, total = unite_points(width, sparse, apart.over(store.expansion))
    n, m, c = total.shape
    diagonal, born = np.zeros((m, n)), np.zeros((m, n), dtype=np.int64)
    for state, kept in zip(apart.each, places, strict=True):
        slots, at = state.slots, 0
        for e, f in enumerate(slots.filled[:, 0]):
            where = kept[at : at + f] if store.merges_points else kept[slots.place[e, :f]]
            diagonal[e, where], born[e, where] = slots.diagonal[e, :f], slots.born[e, :f]
            at += f
    dense = points.rows.dense()
    stays = [choose_points(store, dense, total[:, e], diagonal[e], e) for e in range(m)]
    used = np.unique(np.concatenate([*stays, np.empty(0, np.int64)])).astype(np.int64)
    if store.budget is not None:
        project_rest(store, points, total, stays, used)
    points, dense, total = points.kept(used), dense[used], total[used]

    @cache
    def squares() -> Floats:
        """(m,) |f|^2 of the experts."""
        sums = store.sums.sums(points.with_coefficients(total.reshape(-1, m * c)), points.rows)[0]
        return np.asarray(np.einsum("nmc,mcn->m", total, sums.reshape(m, c, -1)))

    def square(e: int) -> float:
        return float(squares()[e])

    slots = store._empty(max(map(len, stays)) if store.budget is None else store.budget)
    for e, kept in enumerate(stays):
        f, where = len(kept), np.searchsorted(used, kept)
        slots.alpha[e, :, :f] = total[where, e].T
        slots.diagonal[e, :f], slots.born[e, :f] = diagonal[e, kept], born[e, kept]
        slots.place[e, :f], slots.filled[e] = where, f
        if store.keeps & {"gram", "factor"}:
            gram = store.kernels[e](dense[where], dense[where])
            if "gram" in store.keeps:
                slots.gram[e, :f, :f] = gram
            if "factor" in store.keeps:
                gather(slots.factor[e], slots.order[e], gram, np.arange(f), 0.0)
        if store.merges_points:
            slots.points[e, :f], slots.norms[e, :f] = dense[where], points.rows.norms[where]
            slots.place[e, :f] = e * slots.alpha.shape[2] + np.arange(f)
        memory = apart.over(lambda state, e=e: state.slots.memory[e])  # type: ignore[misc]
        slots.memory[e] = remember_together(store.rule, memory, partial(square, e), c)
    return slots, store._no_points() if store.merges_points else points


def choose_points(store: Any, X: Floats, coefficients: Floats, diagonal: Floats, e: int) -> Ints:
    """The points that expert e keeps: within the budget, the greatest |a| sqrt(k(x, x)).

    Where it has a factor of their kernel values, none within the span of the others.
    """
    sizes = np.einsum("nc,nc->n", coefficients, coefficients) * np.maximum(diagonal, 0.0)
    held = np.flatnonzero(coefficients.any(axis=1))
    if store.budget is not None:
        order = np.argsort(-sizes[held], kind="stable")
        held = np.sort(held[order[: store.budget - store.learner.spare]])
    if "factor" in store.keeps:
        factor, order = np.empty((len(held), len(held))), np.empty(len(held), dtype=np.int64)
        gram = store.kernels[e](X[held], X[held])
        held = held[np.sort(order[: gather(factor, order, gram, np.arange(len(held)), 0.0)])]
    return held


def project_rest(
    store: Any, points: StoredPoints, total: Floats, stays: list[Ints], used: Ints
) -> None:
    """Project on the points that stay what each expert has elsewhere, in place.

    used : the points that stay with some expert
    """
    n, m, c = total.shape
    gone = total.copy()
    for e, kept in enumerate(stays):
        gone[kept, e] = 0.0
    total -= gone
    if not gone.any():
        return
    rows = points.kept(used).rows
    rest = store.sums.sums(points.with_coefficients(gone.reshape(n, m * c)), rows)[0]
    dense = rows.dense()
    for e, kept in enumerate(stays):
        if gone[:, e].any():
            where = np.searchsorted(used, kept)
            gram = store.kernels[e](dense[where], dense[where])
            gram[np.diag_indices(len(kept))] += RIDGE * gram.diagonal() + 1e-12 * gram.max()
            total[kept, e] += solve(gram, rest.reshape(m, c, -1)[e][:, where].T)


def solve(matrix: Floats, right: Floats) -> Floats:
    """matrix^-1 right, for a symmetric matrix: also one that is not positive definite."""
    try:
        return np.asarray(cho_solve(cho_factor(matrix), right))
    except LinAlgError:
        return np.asarray(np.linalg.solve(matrix, right))
