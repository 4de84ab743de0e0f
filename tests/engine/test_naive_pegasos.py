"""The naive Pegasos against what its paper and plain geometry say of it."""

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import kernels as naive_kernels
from naive import pegasos

GAUSSIAN = naive_kernels.gaussian(0.3)
UPKEEPS = {
    "random": pegasos.remove_random,
    "smallest": pegasos.remove_smallest,
    "project": pegasos.project,
    "merge": pegasos.merge,
    "merge, wide": partial(pegasos.merge, wide=True),
    "merge, printed": partial(pegasos.merge, search=pegasos.printed_merge),
}


def clouds(T=300, d=3, C=4, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(C, size=T)
    return 2.0 * rng.normal(size=(C, d))[y] + noise * rng.normal(size=(T, d)), y


def expansion(n=12, d=3, C=3, seed=0):
    rng = np.random.default_rng(seed)
    model = pegasos.Model(GAUSSIAN, d, C)
    for birth in range(n):
        model.add(rng.normal(size=d), rng.normal(size=C), birth)
    return model


def copies(model):
    return model.points.copy(), model.alphas.copy()


def distance(before, model):
    return pegasos.squared_distance(model.kernel, before, copies(model))


def objective(losses, norms, regularization):
    """P_t(w_t), equation 3, of every round; norms are those after the rounds."""
    squares = np.concatenate([[0.0], norms[:-1]]) ** 2
    return regularization / 2 * squares + losses


# ---- the search for h ----


# ---- maintenance ----


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
@pytest.mark.parametrize("wide", [False, True])
def test_degradation_is_the_distance_of_the_terms(wide, seed):
    """Summed over classes, and z in feature space: by the Gram matrix of m, n and z."""
    rng = np.random.default_rng(seed)
    points, alphas = rng.normal(size=(2, 3)), rng.normal(size=(2, 4))
    m, n = np.argsort((alphas**2).sum(axis=1))
    kappa = GAUSSIAN(points[[n]], points[m])[0]
    h, loss = pegasos.best_merge(alphas[m], alphas[n], kappa, wide)
    z = h * points[m] + (1 - h) * points[n]
    u, v = GAUSSIAN(points[[m, n]], z)
    after = z[None], (u * alphas[m] + v * alphas[n])[None]
    assert loss == pytest.approx(
        pegasos.squared_distance(GAUSSIAN, (points, alphas), after), abs=1e-12
    )
    a, b, g = alphas[m] @ alphas[m], alphas[n] @ alphas[n], alphas[m] @ alphas[n]
    assert loss == pytest.approx(a + b + 2 * kappa * g - pegasos.kept(h, a, b, g, kappa))


@pytest.mark.parametrize("upkeep", ["smallest", "project", "merge", "merge, wide"])
@pytest.mark.parametrize("seed", range(3))
def test_no_upkeep_costs_more_than_removal(upkeep, seed):
    model = expansion(seed=seed)
    least, before = model.squares().min(), copies(model)
    UPKEEPS[upkeep](model, 0, 0)
    assert len(model.alphas) == 11
    assert distance(before, model) <= least * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_residual_of_a_projection_is_orthogonal(seed):
    model = expansion(seed=seed)
    points, alphas = copies(model)
    pegasos.project(model, 0, 0)
    left = pegasos.gram(GAUSSIAN, model.points, points) @ alphas
    left -= pegasos.gram(GAUSSIAN, model.points, model.points) @ model.alphas
    np.testing.assert_allclose(left, 0, atol=1e-10)


# ---- whole runs ----


def test_two_classes_are_the_binary_pegasos():
    """f^(1) = -f^(0): Shalev-Shwartz, Singer, Srebro (2007) with hinge 1 - 2 y f."""
    X, y = clouds(150, C=2)
    model = pegasos.run(X, y, GAUSSIAN, 2, regularization=0.1)
    np.testing.assert_array_equal(model.alphas[:, 0], -model.alphas[:, 1])
    signs, beta = np.where(y == 1, 1.0, -1.0), np.zeros(150)
    for t in range(150):
        f = 2 * beta[:t] @ GAUSSIAN(X[:t], X[t]) if t else 0.0
        assert model.losses[t] == pytest.approx(max(0.0, 1 - signs[t] * f), abs=1e-9)
        beta *= 1 - 1 / (t + 1)
        beta[t] = signs[t] / (0.1 * (t + 1)) * (signs[t] * f < 1)
        norm = np.sqrt(2 * beta @ pegasos.gram(GAUSSIAN, X, X) @ beta)
        beta *= min(1, 1 / (np.sqrt(0.1) * norm))
    np.testing.assert_allclose(beta[beta != 0], model.alphas[:, 1])


@cache
def free_run(N, regularization):
    """Without a budget."""
    return pegasos.run(*clouds(N, noise=0.1), GAUSSIAN, 4, regularization=regularization)


@pytest.mark.parametrize("upkeep", [None, *UPKEEPS])
def test_theorem_1(upkeep):
    """The mean objective is within G^2 (1 + ln N) / (2 lambda N) + 2 E / sqrt(lambda) of w*'s.

    G = sqrt(lambda) + 2 sqrt(2), E the mean of ||Delta w_t|| / eta_t, each at most sqrt(2). It
    holds against every w in the ball; here what a run without a budget ends with.
    """
    regularization, N = 0.2, 400
    X, y = clouds(N, noise=0.1)
    model = pegasos.run(
        X, y, GAUSSIAN, 4, upkeep and UPKEEPS[upkeep], 8, regularization=regularization
    )
    free = free_run(N, regularization)
    scores = np.array([free.alphas.T @ GAUSSIAN(free.points, x) for x in X])
    mine = scores[np.arange(N), y]
    scores[np.arange(N), y] = -np.inf
    star = regularization / 2 * free.norms[-1] ** 2
    star += np.maximum(0, 1 + scores.max(axis=1) - mine).mean()
    errors = model.degradations * regularization * np.arange(1, N + 1)
    G = np.sqrt(regularization) + 2 * np.sqrt(2)
    bound = star + G**2 * (1 + np.log(N)) / (2 * regularization * N)
    bound += 2 * errors.mean() / np.sqrt(regularization)
    reached = objective(model.losses, model.norms, regularization).mean()
    assert reached <= bound
    if upkeep is None:
        assert bound < 1  # what w = 0 has
    if upkeep not in (None, "merge, printed"):
        assert errors.max() <= np.sqrt(2) * (1 + 1e-9)
