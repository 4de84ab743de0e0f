"""How often SPA adds an example: the sum of its chances, and the bound of theorem 2.

Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning.
"""

import hard_streams
import numpy as np
import plain
import pytest
from naive import kernels as naive_kernels

import kernbrook as kb
from kernbrook.learners import SparsePA

CHANCES = [
    SparsePA(),
    SparsePA(unit_diagonal=True),
    SparsePA(step=0.5, cap=0.25, divisor=0.5),
    SparsePA(step=0.02, cap=4.0, divisor=8.0),
]
FEW = [kb.Linear(), kb.Polynomial(2), kb.Gaussian(sigma=2), kb.Gaussian(sigma=0.25)]
FEW_TWINS = [
    *(naive_kernels.linear(), naive_kernels.polynomial(2)),
    *(naive_kernels.gaussian(1 / 8), naive_kernels.gaussian(8)),
]


def replay(model, X, y, learner, discount, smoothing):
    """Chances (T, m) of an addition, steps (T, m) and coefficients (T, m), without the draws.

    From the support vectors alone: rounds are found by their rows, all distinct.
    """
    number = {row.tobytes(): t for t, row in enumerate(X)}
    T, m = len(y), len(FEW)
    coefficients = np.zeros((T, m))
    for row, values in zip(model.support_vectors_, model.dual_coef_, strict=True):
        coefficients[number[row.tobytes()]] = values
    grams = np.array([[kernel(X, x) for x in X] for kernel in FEW_TWINS])
    chances, steps, log_weights = np.zeros((T, m)), np.zeros((T, m)), np.zeros(m)
    for t in range(T):
        f = np.einsum("ij,ji->i", grams[:, t, :t], coefficients[:t])
        loss = np.maximum(0, 1 - y[t] * f)
        p = (1 - smoothing) * np.exp(log_weights - log_weights.max()) + smoothing
        rho = np.minimum(learner.cap, loss) / learner.divisor
        chances[t] = p * rho
        square = 1 if learner.unit_diagonal else grams[:, t, t]
        with np.errstate(divide="ignore"):
            steps[t] = np.minimum(learner.step / rho, loss / square)
        log_weights += loss * np.log(discount)
    return chances, steps, coefficients


@pytest.mark.parametrize("learner", CHANCES, ids=repr)
def test_additions_follow_their_chances(learner):
    """Per kernel, in each run and over all: within 4 deviations of the sum of the chances.

    Additions less their chances are a martingale: its variance is the sum of p (1 - p).
    """
    surplus, variance = np.zeros(len(FEW)), np.zeros(len(FEW))
    for seed in range(5):
        X, y = hard_streams.gaussian_clouds(600, 3, seed)
        model = plain.classifier(
            FEW,
            learner,
            kb.Hedge(discount=0.9995, loss="hinge"),
            kb.Selection(update="drawn", smoothing=0.3, spread=False),
            random_state=seed,
        )
        model.learn(X, y)
        chances, steps, coefficients = replay(model, X, y, learner, 0.9995, 0.3)
        added = coefficients != 0
        expected = np.where(added, steps * y[:, None], 0)
        np.testing.assert_allclose(coefficients, expected, rtol=1e-9, atol=0)
        now, spare = (added - chances).sum(axis=0), (chances * (1 - chances)).sum(axis=0)
        assert (np.abs(now) <= 4 * np.sqrt(spare)).all()
        surplus += now
        variance += spare
    assert (np.abs(surplus) <= 4 * np.sqrt(variance)).all()
    # 4 deviations are a small part of the additions: a chance 30 % off would be seen.
    assert (4 * np.sqrt(variance) < 0.3 * added.sum(axis=0) * 5).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("cap", "divisor"), [(1.0, 3.0), (0.5, 10.0), (2.0, 2.5), (1.0, 30.0)])
def test_theorem_2(cap, divisor, seed):
    """Labels at random: a kernel's support vectors number cap * T / divisor at most, expected."""
    T, share = 2000, cap / divisor
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(T, 3)), rng.choice([-1.0, 1.0], size=T)
    model = kb.recipes.make("spa", random_state=seed, cap=cap, divisor=divisor, discount=1.0)
    model.learn(X, y)
    counts = np.count_nonzero(model.dual_coef_, axis=0)
    assert (counts <= share * T + 4 * np.sqrt(T * share * (1 - share))).all()
    assert counts.max() > 0.5 * share * T


def test_theorem_2_is_tight():
    """Losses never below the cap: additions are a binomial with exactly its chance."""
    T, share = 4000, 0.5 / 3
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(T, 3)), rng.choice([-1.0, 1.0], size=T)
    model = kb.recipes.make("spa", random_state=0, step=1e-6, cap=0.5, kernels=FEW, discount=1.0)
    model.learn(X, y)
    counts = np.count_nonzero(model.dual_coef_, axis=0)
    assert (np.abs(counts - share * T) <= 4 * np.sqrt(T * share * (1 - share))).all()
