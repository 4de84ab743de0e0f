"""Experts that project on their support vectors, one example at a time, every system solved anew.

Projectron, Projectron++: Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning,
algorithms 2 and 3, with a budget: an expert that is full always projects. Ahpatron: Liao et al.
(2024), Ahpatron, algorithm 2, with the choices of the authors' program. Steps for `budget.run`.
"""

import numpy as np

from .budget import SMALLEST_DIAGONAL, mistaken
from .omkc import errs
from .weights import weighed

IN_SPAN = 1e-8  # of k(x, x): a squared distance below it is none


def gram(expert, rows, others):
    return np.array([expert.values[row][others] for row in rows])


def solve(matrix, right):
    """matrix^-1 right, its rows and columns first scaled to a diagonal of ones."""
    size = np.sqrt(np.diag(matrix))
    return np.linalg.solve(matrix / np.outer(size, size), right / size) / size


def projection(expert, t):
    """Coefficients of the projection P of k(x_t, .), |P|^2, and its squared distance."""
    square = expert.k(t, t)
    if not expert.rows:
        return np.zeros(0), 0.0, square
    values = expert.values[t][expert.rows]
    shares = solve(gram(expert, expert.rows, expert.rows), values)
    inside = shares @ values
    return shares, inside, square - inside


def add_projection(expert, t, step, shares):
    """f + step P; a term of no more than the rounding of its parts is 0."""
    for i, row in enumerate(expert.rows):
        size = abs(expert.alphas[i]) + abs(step) * np.sqrt(expert.k(t, t) / expert.k(row, row))
        total = expert.alphas[i] + step * shares[i]
        expert.alphas[i] = 0.0 if abs(total) <= 1e-12 * size else total


def projectron(expert, t, f, y, weight, seed, tie="margin", threshold=0.3, margin_errors=False):
    """Algorithm 2; algorithm 3 with margin_errors."""
    square = expert.k(t, t)
    if square <= SMALLEST_DIAGONAL:
        return
    if errs(f, y, tie):
        shares, _, distance = projection(expert, t)
        step = mistaken(expert, t, f, y, weight) * y
        near = distance / square <= max(threshold**2, IN_SPAN)
        if near or expert.full():
            add_projection(expert, t, step, shares)
        else:
            expert.add(t, step)
    elif margin_errors and y * f < 1:
        loss = 1 - y * f
        shares, inside, distance = projection(expert, t)
        # The share of the norm that is outside, so that slack / threshold is l - delta / threshold.
        slack = threshold * loss - np.sqrt(max(distance, 0.0) / square)
        if slack > 0 and inside > 0:
            tau = min(weight, loss / inside, 2 * slack / threshold / inside)
            add_projection(expert, t, tau * y, shares)


def squared_norm(expert):
    alphas = np.array(expert.alphas)
    return (
        max(alphas @ gram(expert, expert.rows, expert.rows) @ alphas, 0.0) if len(alphas) else 0.0
    )


def larger_half(alphas):
    """The slots of the greatest |coefficient|, in their order; the older of equal ones."""
    return np.sort(np.argsort(-np.abs(alphas), kind="stable")[: len(alphas) // 2])


def ahpatron(expert, t, f, y, weight, seed, margin=0.5, radius=None, ridge=0.0005):
    """Algorithm 2."""
    square = expert.k(t, t)
    if y * f >= margin or square <= SMALLEST_DIAGONAL:
        return
    radius = np.sqrt(expert.budget) / 2 if radius is None else radius
    if expert.full():
        before = squared_norm(expert)
        alphas, rows = np.array(expert.alphas), np.array(expert.rows)
        stay = larger_half(alphas)
        go = np.setdiff1d(np.arange(len(rows)), stay)
        expert.rows, expert.alphas = list(rows[stay]), list(alphas[stay])
        if len(stay):
            K = gram(expert, rows[stay], rows[stay])
            right = gram(expert, rows[stay], rows[go]) @ alphas[go]
            theta = solve(K + ridge * np.diag(np.diag(K)), right)
            expert.alphas = list(alphas[stay] + theta)
            after = squared_norm(expert)
            expert.shrink(np.sqrt(before / after) if after > 0 else 1.0)
    step = weighed(weight, radius / np.sqrt(4 * expert.budget), margin - y * f, square)
    expert.add(t, step * y)
    norm = np.sqrt(squared_norm(expert))
    if norm > radius:
        expert.shrink(radius / norm)
