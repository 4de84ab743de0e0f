"""Voted kernel regularization as the paper writes it: Cortes, Goyal, Kuznetsov, Mohri (2015)."""

from math import comb

import numpy as np
from scipy.optimize import linprog


def objective(matrices, y, alpha, penalties):
    """Equation 1; alpha (p, n), matrices p of shape (n, n) with [i, j] = K_k(x_i, x_j)."""
    n = len(y)
    total = 0.0
    for i in range(n):
        f = sum(
            alpha[k, j] * matrices[k][i, j]
            for k in range(len(matrices)) for j in np.flatnonzero(alpha[k])
        )  # fmt: skip
        total += max(0.0, 1.0 - y[i] * f) / n
    return total + sum(penalties[k] * abs(alpha[k]).sum() for k in range(len(matrices)))


def least_objective(matrices, y, penalties):
    """Section 5.1, the whole linear program: alpha+, alpha-, xi, all from 0.

    Each column is divided by its greatest size, which leaves the optimum as it is.
    """
    n, p = len(y), len(matrices)
    columns = np.concatenate(matrices, axis=1)  # (n, p n)
    sizes = np.abs(columns).max(axis=0)
    sizes[sizes == 0] = 1.0
    columns = columns / sizes
    costs = np.repeat(penalties, n) / sizes
    signed = y[:, None] * columns
    result = linprog(
        np.concatenate([costs, costs, np.full(n, 1.0 / n)]),
        A_ub=-np.concatenate([signed, -signed, np.eye(n)], axis=1), b_ub=-np.ones(n),
        bounds=(0, None), method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    assert result.status == 0, result.message
    alpha = (result.x[: p * n] - result.x[p * n : 2 * p * n]) / sizes
    return result.fun, alpha.reshape(p, n)


def trace(matrix):
    """Lemma 3."""
    n = len(matrix)
    kappa = max(np.sqrt(matrix[i, i]) for i in range(n))
    return kappa * np.sqrt(sum(matrix[i, i] for i in range(n))) / n


def pdim(matrix, degree, features):
    """Lemma 4 without its constant: kappa^2 sqrt(d_k)."""
    return max(np.diag(matrix)) * np.sqrt(comb(features + degree, degree))


def local(matrix, share):
    """Section 5.3: sqrt((2 / n) sum_j min(r, lambda_j)), r = share of the greatest eigenvalue."""
    n = len(matrix)
    eigenvalues = [max(value, 0.0) for value in np.linalg.eigvalsh(matrix / n)]
    r = share * max(eigenvalues)
    return np.sqrt(2 / n * sum(min(r, value) for value in eigenvalues))


def best_factor(margins, price):
    """Appendix C's line search along all coefficients: the least of the values at breakpoints."""

    def value(factor):
        return sum(max(0.0, 1 - factor * margin) for margin in margins) / len(margins) + (
            price * abs(factor)
        )

    return min(map(value, [0.0, *(1 / margin for margin in margins if margin != 0)])), value


def add_powers(source, added, rows, weights, first, sums):
    """sums[e - 1, j] += the weighted sum of the e-th powers of what lies from `first` on."""
    for row, weight in zip(rows, weights, strict=True):
        for e in range(len(sums)):
            for j in range(sums.shape[1]):
                sums[e, j] += weight * (source[row, first + j] + added) ** (e + 1)
