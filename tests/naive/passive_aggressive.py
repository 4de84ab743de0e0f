"""Passive-aggressive learners under Hedge, one example at a time.

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), Online passive-aggressive algorithms.
Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning: BOMKC(SPA).
"""

from typing import NamedTuple

import numpy as np

from . import draws
from .kernels import Values
from .omkc import sign
from .weights import relative, weighed

ADMISSION = 2  # the purpose of the draw Z


class Result(NamedTuple):
    predictions: np.ndarray  # (T,) +1 or -1
    votes: np.ndarray  # (T,) the combined vote over the sum of its weights
    coefficients: np.ndarray  # (T, m) what each example was added with
    log_weights: np.ndarray  # (m,) the greatest 0
    mistakes: np.ndarray  # (m,) of each component: sign(f) is not the label
    used: np.ndarray  # (m,) bool, who took part in the last vote
    rounding: np.ndarray  # (T, m) 1 + sum |alpha k|: what a score's rounding is measured by


def pa_step(variant, aggressiveness, loss, square):
    """tau of Crammer et al. (2006), figure 1; square is ||x||^2, here k(x, x)."""
    if variant == "PA":
        return loss / square
    if variant == "PA-I":
        return min(aggressiveness, loss / square)
    return loss / (square + 1 / (2 * aggressiveness))


def passive_aggressive(variant="PA-I", aggressiveness=1.0):
    """A component: (loss, k(x, x), draw in [0, 1)) -> tau. PA draws nothing."""
    return lambda loss, square, drawn: pa_step(variant, aggressiveness, loss, square)


def sparse_pa(step=0.1, cap=1.0, divisor=3.0):
    """A component: Lu et al. (2015), algorithm 1 (rho, Z) and proposition 1 (tau).

    step is eta, cap alpha, divisor beta.
    """

    def tau(loss, square, drawn):
        rho = min(cap, loss) / divisor
        return min(step / rho, loss / square) if drawn < rho else 0.0

    return tau


def score_and_size(values, coefficients, t):
    """f(x_t) over the support vectors among the rows before t, 0 within 1e-12 of the sum of its
    terms' sizes; that sum."""
    mine = np.flatnonzero(coefficients[:t])
    if not len(mine):
        return 0.0, 0.0
    terms = coefficients[mine] * values[t][mine]
    total, size = float(terms.sum()), float(np.abs(terms).sum())
    return (0.0 if abs(total) <= 1e-12 * size else total), size


def run(
    X,
    y,
    kernels,
    component,
    discount=0.99,
    loss="hinge",
    cap=None,
    smoothing=0.001,
    spread=False,
    update="drawn",
    vote="all",
    weighted=True,
    unit_diagonal=False,
    seed=0,
    importance=None,
):
    """Lu et al. (2015), algorithm 1, with any component; y in {+1, -1}.

    loss="mistakes", spread=True: the weights, votes and draws of Hoi et al. (2013) instead. An
    example with k(x, x) <= 1e-12 is not added. `importance` scales each step and each loss.
    """
    T, m = len(y), len(kernels)
    importance = relative(importance, T)
    log_weights, mistakes = np.zeros(m), np.zeros(m)
    values = [Values(kernel, X) for kernel in kernels]
    coefficients, rounding = np.zeros((T, m)), np.ones((T, m))
    predictions, votes = np.zeros(T), np.zeros(T)
    used = np.ones(m, dtype=bool)
    for t in range(T):
        q = np.exp(log_weights)
        p = (1 - smoothing) * q + smoothing / (m if spread else 1)
        c = np.ones(m, dtype=bool)
        used = np.ones(m, dtype=bool)
        for i in range(m):
            if update == "drawn":
                c[i] = draws.bernoulli(seed, t, draws.UPDATE, i, p[i])
            if vote == "drawn" and update == "drawn":
                used[i] = c[i]
            elif vote == "drawn":
                used[i] = draws.bernoulli(seed, t, draws.VOTE, i, p[i])

        # y_hat = sign(sum theta_i f_i(x)), or the weighted majority of sign(f_i(x)).
        scores = [score_and_size(values[i], coefficients[:, i], t) for i in range(m)]
        f, sizes = (np.array(part) for part in zip(*scores, strict=True))
        rounding[t] += sizes
        voices = f if loss == "hinge" else np.where(f >= 0, 1.0, -1.0)
        loudness = sizes if loss == "hinge" else np.ones(m)
        weights = np.where(used, q if weighted else 1.0, 0.0)
        total, size = float(np.sum(weights * voices)), float(np.sum(weights * loudness))
        total = 0.0 if abs(total) <= 1e-12 * size else total
        votes[t] = total / weights.sum() if weights.any() else 0.0
        predictions[t] = sign(total)

        for i in range(m):
            l = max(0.0, 1.0 - y[t] * f[i])
            wrong = sign(f[i]) != y[t]
            mistakes[i] += importance[t] * wrong
            square = float(values[i][t][t])
            if unit_diagonal:
                square = 1.0
            loud = l > 1e-12 * (1.0 + sizes[i])  # or it is the rounding of the score
            if c[i] and loud and square > 1e-12:
                drawn = draws.uniform(seed, t, ADMISSION * 2**20 + i)
                step = weighed(importance[t], component(l, square, drawn), l, square)
                coefficients[t, i] = step * y[t]
            # w_i <- w_i gamma^l, all i, with the loss before the update; a mistake of Hoi et al.
            # counts where i is updated.
            counted = l if loss == "hinge" else float(wrong and c[i])
            counted *= importance[t]
            log_weights[i] += (counted if cap is None else min(counted, cap)) * np.log(discount)
        log_weights -= log_weights.max()
    return Result(predictions, votes, coefficients, log_weights, mistakes, used, rounding)
