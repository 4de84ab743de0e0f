"""An interior point method for a few base functions and all examples: near the optimum, quickly.

In units of 1 / n, with rows a_c = (y_i h_c(x_i))_i and limits L_c = n Lambda_c, the program and its
dual are

    minimise   sum_i xi_i + sum_c L_c (p_c + m_c)   over xi, s, p, m >= 0
    subject to sum_c (p_c - m_c) a_c + xi - s = 1

    maximise   sum_i u_i   subject to   w = 1 - u >= 0,  u >= 0,  L - A u >= 0,  L + A u >= 0.

Each of the four primal blocks has its partner among the four of the dual. Steps are Mehrotra's
(On the implementation of a primal-dual interior point method, 1992): the linear equations are
reduced to one for each base function. Its cost is that of one matrix product, whatever the numbers
of vertices between start and optimum; it is the simplex method that then finds the vertex.
"""

from __future__ import annotations

from collections.abc import Callable as Function

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from kernbrook.voted.examples import Floats

STEPS = 100  # at most
PATIENCE = 5  # steps without gain: rounding has won
INSIDE = 0.95  # the start's use of the limits, at most
CENTRED = 0.1  # the start's u and 1 - u are this share of what is central, at least
SHORT = 0.99  # of the way to the boundary
RIDGE = 1e-12  # added to the diagonal, as a share


@np.errstate(all="ignore")  # where rounding wins, the best so far is kept
def interior(rows: Floats, limits: Floats, u: Floats, alpha: Floats, tol: float) -> Point:
    """Nearly optimal u and coefficients.

    Parameters
    ----------
    rows : (q, n) a_c, of sizes near 1
    limits : (q,) L_c > 0
    u : (n,) in [0, 1], and alpha : (q,) coefficients: where to start
    tol : stop at a gap of this share of the objective

    Returns
    -------
    (n,) u, feasible but for rounding, and (q,) coefficients p - m: the best that were found
    """
    q, n = rows.shape
    primal, dual = _start(rows, limits, u, alpha)
    best, least, worse = (u, alpha), np.inf, 0
    for _ in range(STEPS):
        alpha = primal[2 * n : 2 * n + q] - primal[2 * n + q :]
        margins = alpha @ rows
        objective = np.maximum(1.0 - margins, 0.0).sum() + limits @ np.abs(alpha)
        gap = objective - dual[n : 2 * n].sum()
        worse = 0 if gap < least else worse + 1
        if gap < least:
            best, least = (dual[n : 2 * n], alpha), gap
        if worse > PATIENCE or gap <= tol * objective:
            break
        missed = 1.0 - margins - primal[:n] + primal[n : 2 * n]
        direction = _directions(rows, primal, dual, missed)
        if direction is None:
            break
        moves = direction(-primal * dual)
        steps = _longest(primal, moves[0]), _longest(dual, moves[1])
        mean = primal @ dual / len(primal)
        after = (primal + steps[0] * moves[0]) @ (dual + steps[1] * moves[1]) / len(primal)
        wanted = mean * (after / mean) ** 3
        moves = direction(wanted - primal * dual - moves[0] * moves[1])
        primal = primal + SHORT * _longest(primal, moves[0]) * moves[0]
        dual = dual + SHORT * _longest(dual, moves[1]) * moves[1]
    return best


Point = tuple[Floats, Floats]


def _start(rows: Floats, limits: Floats, u: Floats, alpha: Floats) -> Point:
    """All blocks, (2 n + 2 q,) each: u is moved inside, and slacks are added to the primal."""

    def inside(u: Floats) -> Floats:
        u = np.clip(u, 1e-12, 1.0 - 1e-9)
        most = np.max(np.abs(rows @ u) / limits)  # 0 of examples that all have 0, or none
        return u * np.minimum(1.0, INSIDE / most)

    short = 1.0 - alpha @ rows
    u = inside(u)
    gap = np.maximum(short, 0.0).sum() + limits @ np.abs(alpha) - u.sum()
    mean = gap / (2 * len(u) + 2 * len(alpha))
    # For these margins, mean = xi w = s u at u = 2 mean / (root - short + 2 mean).
    root = np.hypot(short, 2.0 * mean)
    least = CENTRED * 2.0 * mean / (root - short + 2.0 * mean)
    most = 1.0 - CENTRED * 2.0 * mean / (root + short + 2.0 * mean)
    u = inside(np.clip(u, least, most))
    use = rows @ u
    more = mean / np.maximum(u, 1.0 - u)
    both = mean / (limits + np.abs(use))
    primal = (np.maximum(short, 0.0) + more, np.maximum(-short, 0.0) + more,
              np.maximum(alpha, 0.0) + both, np.maximum(-alpha, 0.0) + both)  # fmt: skip
    return np.concatenate(primal), np.concatenate((1.0 - u, u, limits - use, limits + use))


def _directions(
    rows: Floats, primal: Floats, dual: Floats, missed: Floats
) -> Function[[Floats], Point] | None:
    """The step to where primal * dual changes by a given amount, to first order; None where the
    equations are singular.

    missed : (n,) 1 - A^T (p - m) - xi + s
    """
    q, n = rows.shape
    ratio = primal / dual
    theta = ratio[:n] + ratio[n : 2 * n]
    spread = ratio[2 * n : 2 * n + q] + ratio[2 * n + q :]
    scaled = rows / np.sqrt(theta)
    matrix = scaled @ scaled.T
    matrix[np.diag_indices(q)] = (matrix.diagonal() + 1.0 / spread) * (1.0 + RIDGE)
    factor, failed = dpotrf(matrix.T, lower=1, overwrite_a=1)
    if failed:
        return None

    def direction(change: Floats) -> Point:
        quotas = change / dual
        rest = missed - quotas[:n] + quotas[n : 2 * n]
        right = (quotas[2 * n : 2 * n + q] - quotas[2 * n + q :]) / spread + rows @ (rest / theta)
        move = dpotrs(factor, right, lower=1)[0]
        left = right - move / spread - scaled @ (move @ scaled)
        move = move + dpotrs(factor, left, lower=1)[0]
        by_u = (rest - move @ rows) / theta
        by_use = rows @ by_u
        by_dual = np.concatenate((-by_u, by_u, -by_use, by_use))
        return quotas - ratio * by_dual, by_dual

    return direction


def _longest(values: Floats, moves: Floats) -> float:
    """The longest step, at most 1, that leaves all values, above 0, from 0."""
    return 1.0 / max(1.0, float((moves / -values).max()))
