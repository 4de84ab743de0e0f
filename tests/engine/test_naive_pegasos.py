"""The naive Pegasos against what its paper and plain geometry say of it."""

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import draws, pegasos
from naive import kernels as naive_kernels

GAUSSIAN = naive_kernels.gaussian(0.3)
UPKEEPS = {
    "random": pegasos.remove_random,
    "smallest": pegasos.remove_smallest,
    "project": pegasos.project,
    "merge": pegasos.merge,
    "merge, wide": partial(pegasos.merge, wide=True),
    "merge, printed": partial(pegasos.merge, search=pegasos.printed_merge),
}
positive = st.floats(1e-6, 1.0)
kappas = st.floats(1e-8, 1.0 - 1e-6)
cosines = st.floats(-1.0, 1.0)


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


@settings(deadline=None)
@given(positive, kappas, cosines)
def test_best_h_is_that_of_a_dense_grid(ratio, kappa, cosine):
    b, g = 1.0, cosine * np.sqrt(ratio)
    for low, high in ((0.0, 1.0), (-1.0, 2.0)):
        h = pegasos.best_h(ratio, b, g, kappa, low, high)
        dense = pegasos.kept(np.linspace(low, high, 30_001), ratio, b, g, kappa).max()
        best = pegasos.kept(h, ratio, b, g, kappa)
        assert low <= h <= high
        assert best >= dense * (1 - 1e-12)


@settings(deadline=None)
@given(positive, kappas, cosines)
def test_the_best_h_is_on_the_heavier_side(ratio, kappa, cosine):
    a, b, g = ratio, 1.0, cosine * np.sqrt(ratio)
    for low, high in ((0.0, 1.0), (-1.0, 2.0)):
        half = pegasos.kept(pegasos.best_h(a, b, g, kappa, low, 0.5), a, b, g, kappa)
        whole = pegasos.kept(pegasos.best_h(a, b, g, kappa, low, high), a, b, g, kappa)
        assert half >= whole * (1 - 1e-12)


@settings(deadline=None)
@given(positive, kappas, cosines)
def test_j_has_two_humps_only_where_kappa_is_small(ratio, kappa, cosine):
    """Between 0 and 1: only if kappa < exp(-1 - c), c the cosine: e^-2 where all is one class."""
    if cosine <= -0.99 or kappa < np.exp(-1 - cosine) * (1 + 1e-9):
        return
    grid = np.linspace(0.0, 1.0, 4001)
    up = pegasos.rises(grid, ratio, 1.0, cosine * np.sqrt(ratio), kappa) > 0
    assert np.count_nonzero(np.diff(up.astype(int))) <= 1


def test_two_humps_of_one_class():
    humps = pegasos.rises(np.linspace(0, 1, 1001), 1.0, 1.0, 1.0, np.exp(-2.5)) > 0
    assert np.count_nonzero(humps[:-1] & ~humps[1:]) == 2
    assert pegasos.best_h(1.0, 1.0, 1.0, np.exp(-2.5)) < 0.4
    assert pegasos.best_h(1.0, 1.0, 1.0, np.exp(-1.5)) == pytest.approx(0.5, abs=1e-6)


def test_the_best_h_can_be_negative_where_coefficients_oppose():
    light, heavy = np.array([1.0, -1.0, 0.0]), np.array([-1.0, 0.0, 1.0])
    narrow, wide = (pegasos.best_merge(light, heavy, 0.3, wide) for wide in (False, True))
    assert narrow[0] == 0.0
    assert wide[0] < -0.01
    assert wide[1] < narrow[1]


@pytest.mark.parametrize("kappa", [0.0, 1e-300, 1.0])
def test_extreme_pairs(kappa):
    """Equal points merge at no loss; points that do not see each other cost the lighter one."""
    light, heavy = np.array([1.0, -1.0, 0.0]), np.array([0.0, -2.0, 2.0])
    h, loss = pegasos.best_merge(light, heavy, kappa)
    assert 0 <= h <= 0.5
    assert loss == pytest.approx(0.0 if kappa == 1.0 else light @ light, abs=1e-12)


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


def test_the_coefficients_at_z_are_the_best():
    """Equation 22: moving any of them away costs."""
    model = expansion(2)
    before = copies(model)
    pegasos.merge(model, 0, 0)
    least = distance(before, model)
    for c in range(3):
        for move in (1e-3, -1e-3):
            moved = model.alphas.copy()
            moved[:, c] += move
            assert pegasos.squared_distance(GAUSSIAN, before, (model.points, moved)) > least


@pytest.mark.parametrize("upkeep", ["smallest", "project", "merge", "merge, wide"])
@pytest.mark.parametrize("seed", range(5))
def test_no_upkeep_costs_more_than_removal(upkeep, seed):
    model = expansion(seed=seed)
    least, before = model.squares().min(), copies(model)
    UPKEEPS[upkeep](model, 0, 0)
    assert len(model.alphas) == 11
    assert distance(before, model) <= least * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_residual_of_a_projection_is_orthogonal(seed):
    model = expansion(seed=seed)
    points, alphas = copies(model)
    pegasos.project(model, 0, 0)
    left = pegasos.gram(GAUSSIAN, model.points, points) @ alphas
    left -= pegasos.gram(GAUSSIAN, model.points, model.points) @ model.alphas
    np.testing.assert_allclose(left, 0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_oracles_are_no_worse_than_the_greedy_choices(seed):
    model = expansion(seed=seed)
    points, alphas = copies(model)
    m, n, h, loss = pegasos.best_pair(GAUSSIAN, points, alphas)
    pegasos.merge(model, 0, 0)
    assert loss <= distance((points, alphas), model) * (1 + 1e-9)
    z = h * points[m] + (1 - h) * points[n]
    u, v = GAUSSIAN(points[[m, n]], z)
    merged = z[None], (u * alphas[m] + v * alphas[n])[None]
    pair = points[[m, n]], alphas[[m, n]]
    assert loss == pytest.approx(pegasos.squared_distance(GAUSSIAN, pair, merged))
    model = expansion(seed=seed)
    p, loss = pegasos.best_projection(GAUSSIAN, points, alphas)
    pegasos.project(model, 0, 0)
    assert loss <= distance((points, alphas), model) * (1 + 1e-9)
    model = expansion(seed=seed)
    pegasos.spread(model, p)
    assert loss == pytest.approx(distance((points, alphas), model))


def test_the_oldest_of_equals_goes_and_a_merged_point_is_as_old_as_its_older_parent():
    model = pegasos.Model(GAUSSIAN, 1, 2)
    for birth, place in ((7, 0.0), (3, 5.0), (5, 0.2), (4, 5.1), (9, 5.1)):
        # Equal but for rounding.
        model.add(np.array([place]), np.array([1.0, -1.0]) * (1 + 1e-15 * birth), birth)
    pegasos.merge(model, 0, 0)
    # The lightest is 3; its partners 4 and 9 are equally good.
    assert sorted(model.births) == [3, 5, 7, 9]
    assert model.points[list(model.births).index(3), 0] == pytest.approx(5.05)


def test_random_removal_draws_from_the_round_alone():
    for t in range(50):
        model = expansion(5)
        kept = list(model.points[:, 0])
        pegasos.remove_random(model, t, seed=8)
        gone = kept.pop(int(5 * draws.uniform(8, t, 3 * 2**20)))
        assert gone not in model.points[:, 0]
        assert sorted(kept) == sorted(model.points[:, 0])


# ---- whole runs ----


@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_a_budget_of_all_rounds_changes_nothing(upkeep):
    X, y = clouds(120)
    free = pegasos.run(X, y, GAUSSIAN, 4, regularization=1e-2)
    model = pegasos.run(X, y, GAUSSIAN, 4, UPKEEPS[upkeep], 120, regularization=1e-2)
    for name, value in free._asdict().items():
        np.testing.assert_array_equal(getattr(model, name), value)


@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_a_budget_holds(upkeep):
    X, y = clouds(200)
    model = pegasos.run(X, y, GAUSSIAN, 4, UPKEEPS[upkeep], 9, regularization=1e-2)
    assert len(model.alphas) == len(model.points) == len(set(model.births)) == 9
    assert model.norms.max() <= 10 * (1 + 1e-9)
    assert model.norms[-1] ** 2 == pytest.approx(
        pegasos.squared_norm(GAUSSIAN, model.points, model.alphas)
    )


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


def test_equal_points_do_not_stop_a_projection():
    X, y = clouds(40)
    X, y = np.tile(X, (5, 1)), np.tile(y, 5)
    model = pegasos.run(X, y, GAUSSIAN, 4, pegasos.project, 60, regularization=1e-2)
    assert len(model.alphas) <= 40
    free = pegasos.run(X, y, GAUSSIAN, 4, regularization=1e-2)
    np.testing.assert_allclose(model.losses, free.losses, atol=1e-7)
    assert model.degradations.max() < 1e-6


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
