"""A first solution of a large program: near the optimum, from few base functions.

Column generation as in `Program`, but by an interior point method: its u is near the middle of the
optimal ones and not at a corner, so that few rounds are needed (Gondzio, Gonzalez-Brevis, Munari,
New developments in the primal-dual column generation technique, 2013). It starts from the base
functions that a part of the examples chooses, which is found in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgetrf

from kernbrook.voted.examples import Floats, Indices
from kernbrook.voted.interior import interior
from kernbrook.voted.kernel_columns import Columns

SMALL = 250  # examples of the smallest part
SHRINK = 4  # a part has this share of the examples
ROUNDS = 40  # at most
ENOUGH = 0.01  # the gap of a draft, as a share of the objective
CLOSER = 0.2  # each round stops at this share of the gap of the last one,
SOONER = 0.7  # or at this share of what the last one stopped at: whichever is less
LAST = 1e-6  # what the last round stops at
BATCH = 100  # base functions added at a time
ALIKE = 0.85  # cosine of two base functions of which one is enough at a time
AWAY = 0.5  # examples whose margin is above 1 by more are left out
FAR = 0.8  # a base function whose limit is used less is dropped


@dataclass(frozen=True)
class Draft:
    """A nearly optimal solution.

    Attributes
    ----------
    held : (q,) numbers k n + j of base functions
    rows : (q, n) y_i h_c(x_i) / size of column c
    u : (n,) n times the dual, in (0, 1)
    alpha : (q,) coefficients, each times the size of its column
    """

    held: Indices
    rows: Floats
    u: Floats
    alpha: Floats

    def basis(self, limits: Floats) -> tuple[Indices, Indices]:
        """Which vertex is near: (q,) -1, 0, 1 for rows at their lower limit, at none, at their
        upper one, and (n,) -1, 0, 1 for examples of u = 0, between, and 1.

        As many examples are between as rows are at a limit, so chosen that these equations have
        one solution.
        """
        price = np.abs(self.alpha) * limits
        free = 1.0 - np.abs(self.rows @ self.u) / limits
        row = np.where(free * price.mean() < price, np.sign(self.alpha), 0).astype(np.intp)
        short = 1.0 - self.alpha @ self.rows
        example = np.where(short > 0, 1, -1)
        bound = np.flatnonzero(row)
        if len(bound) == 0:
            return row, example
        between = np.minimum(self.u, 1.0 - self.u) / np.maximum(np.abs(short), 1e-12)
        likely = np.argsort(-between)[: 2 * len(bound)]
        weight = np.minimum(between[likely], 1e3)
        factors, swaps, _ = dgetrf(self.rows[np.ix_(bound, likely)].T * weight[:, None])
        for a, b in enumerate(swaps):
            likely[[a, b]] = likely[[b, a]]
        sizes = np.abs(factors.diagonal())
        sound = sizes > 1e-9 * sizes.max()
        row[bound[: len(sizes)][~sound]] = 0
        row[bound[len(sizes) :]] = 0
        example[likely[: len(sizes)][sound]] = 0
        return row, example


def draft(columns: Columns, y: Floats, penalties: Floats) -> Draft:
    """Columns for (n,) labels +1 and -1, and a solution over them whose gap is about `ENOUGH`."""
    n = columns.n
    sizes = sizes_of(columns)
    limits = n * np.repeat(penalties, n) / sizes
    found = _of_a_part(columns, y, penalties, sizes)
    least, close = 0.0, CLOSER
    for _ in range(ROUNDS):
        objective = _objective(found, limits)
        use = np.abs(columns.scores(found.u * y)).ravel() / sizes / limits
        least = max(least, float(found.u.sum()) / max(float(use.max()), 1.0))
        gap = 1.0 - least / objective
        if not gap > ENOUGH:
            break
        better = _next(columns, y, found, use, sizes)
        if better is None:
            break
        close = min(CLOSER * gap, SOONER * close)
        found = _improved(better, limits, close)
    return _improved(found, limits, LAST) if len(found.held) else found


def sizes_of(columns: Columns) -> Floats:
    """(p n,) what the columns are divided by."""
    return np.where(columns.sizes > 0, columns.sizes, 1.0).ravel()


def _of_a_part(columns: Columns, y: Floats, penalties: Floats, sizes: Floats) -> Draft:
    """The choice of a part of the examples, on all of them."""
    n = columns.n
    if n <= SMALL:
        return Draft(np.empty(0, dtype=np.intp), np.empty((0, n)), np.ones(n), np.empty(0))
    shuffled = np.random.default_rng(0).permutation(n)
    which = np.sort(shuffled[: max(n // SHRINK, SMALL)])
    part = columns.part(which)
    less = draft(part, y[which], penalties)
    k, j = np.divmod(less.held, part.n)
    held = k * n + which[j]
    rows = columns.take(held) * y / sizes[held, None]
    alpha = less.alpha * sizes[held] / sizes_of(part)[less.held]
    u = np.full(n, less.u.mean())
    u[which] = less.u
    found = Draft(held, rows, u, alpha)
    limits = n * np.repeat(penalties, n) / sizes
    return _improved(found, limits, CLOSER) if len(held) else found


def _improved(found: Draft, limits: Floats, tol: float) -> Draft:
    """Better u and coefficients of the same columns. Examples far above the margin are left out,
    as their u is 0; where that turns out wrong, once more with them."""
    limits = limits[found.held]
    u, alpha = found.u, found.alpha
    near = alpha @ found.rows < 1.0 + AWAY
    while True:
        inside, alpha = interior(found.rows[:, near], limits, u[near], alpha, tol)
        u = np.zeros(len(u))
        u[near] = inside
        short = np.where(near, 0.0, np.maximum(1.0 - alpha @ found.rows, 0.0))
        if short.sum() <= tol * inside.sum():
            return Draft(found.held, found.rows, u, alpha)
        near |= short > 0


def _objective(found: Draft, limits: Floats) -> float:
    """n times the objective."""
    hinge = np.maximum(1.0 - found.alpha @ found.rows, 0.0).sum()
    return float(hinge + np.abs(found.alpha) @ limits[found.held])


def _next(columns: Columns, y: Floats, found: Draft, use: Floats, sizes: Floats) -> Draft | None:
    """Without the columns that are far from their limits, and with some that exceed them, of each
    example for one kernel at most; None if there are none."""
    n = columns.n
    kept = use[found.held] > FAR
    use = use.copy()
    use[found.held] = 0.0
    best = use.reshape(-1, n).argmax(axis=0) * n + np.arange(n)
    best = best[use[best] > 1.0]
    if len(best) == 0:
        return None
    best = best[np.argsort(-use[best], kind="stable")[: 2 * BATCH]]
    rows = columns.take(best) * y / sizes[best, None]
    unlike = _unlike(rows)[:BATCH]
    return Draft(
        np.concatenate([found.held[kept], best[unlike]]),
        np.concatenate([found.rows[kept], rows[unlike]]),
        found.u,
        np.concatenate([found.alpha[kept], np.zeros(len(unlike))]),
    )


def _unlike(rows: Floats) -> Indices:
    """Rows one after the other, but for those that are like an earlier one."""
    directions = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    alike = np.abs(directions @ directions.T) > ALIKE
    covered = np.zeros(len(rows), dtype=bool)
    chosen: list[int] = []
    for i in range(len(rows)):
        if not covered[i]:
            chosen.append(i)
            covered |= alike[i]
    return np.array(chosen, dtype=np.intp)
