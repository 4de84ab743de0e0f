"""Any expert of `budget` or `projecting` under any combiner of `combiners`, round by round."""

import numpy as np

from . import draws
from .budget import Expert, Result
from .omkc import errs, sign, zero_or


def run(
    X,
    y,
    kernels,
    step,
    budget,
    combiner,
    tie="label",
    loss="mistakes",
    update="all",
    smoothing=0.01,
    spread=True,
    seed=0,
):
    """As `budget.run`; the combiner has `weights()` and `learn(losses)`, and counts all losses."""
    T, m = len(y), len(kernels)
    experts = [Expert(i, kernel, X, budget) for i, kernel in enumerate(kernels)]
    mistakes, predictions = np.zeros(m), np.zeros(T)
    for t in range(T):
        w = np.asarray(combiner.weights(), dtype=float)
        q = w / w.max()
        p = (1 - smoothing) * q + smoothing / (m if spread else 1)
        updated = np.ones(m, dtype=bool)
        if update == "drawn":
            updated = np.array([draws.bernoulli(seed, t, draws.UPDATE, i, p[i]) for i in range(m)])
        terms = [expert.terms(t) for expert in experts]
        f = np.array([zero_or(mine) for mine in terms])
        votes = np.array([sign(f_i) for f_i in f]) if loss == "mistakes" else f
        sizes = np.ones(m) if loss == "mistakes" else [np.abs(mine).sum() for mine in terms]
        total, size = q @ votes, q @ sizes
        predictions[t] = sign(0.0 if abs(total) <= 1e-12 * size else total)
        wrong = np.array([errs(f_i, y[t], tie) for f_i in f])
        mistakes += wrong
        for i, expert in enumerate(experts):
            if updated[i]:
                step(expert, t, f[i], y[t], 1.0, seed)
        combiner.learn(wrong.astype(float) if loss == "mistakes" else np.maximum(0, 1 - y[t] * f))
    with np.errstate(divide="ignore"):
        log_weights = np.log(np.asarray(combiner.weights(), dtype=float))
    return Result(predictions, experts, log_weights, mistakes, np.ones(m, dtype=bool))
