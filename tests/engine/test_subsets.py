"""Adaptive kernel selection: the subset that is drawn, against its twin and its distribution."""

from math import comb

import numpy as np
import plain
import pytest
from driving import seed_of
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import pool_of, progress_of, theta_of
from naive import combiners as naive_combiners
from naive import draws, rounds, subsets
from scipy.stats import chi2

import kernbrook as kb
from kernbrook.engine.blocks import rows_of
from kernbrook.errors import InputError
from kernbrook.numerics.draws import uniform
from kernbrook.selection.subsets import binomial, draw_subset


def drawn(weights, ratio, seed, round_):
    used = np.zeros(len(weights), dtype=bool)
    with np.errstate(divide="ignore"):
        log_weights = np.log(np.asarray(weights, dtype=float))
    draw_subset(log_weights, ratio, seed, round_, used)
    return used


def weights_of(P, K, rng):
    """K weights above 0.8 of the greatest, which is 1, and the others below."""
    weights = np.concatenate([rng.uniform(0.81, 1, K), rng.uniform(0, 0.79, P - K)])
    weights[0] = 1.0
    return rng.permutation(weights)


# -- against the twin --------------------------------------------------------------------------


@pytest.mark.parametrize("P", [1, 2, 3, 5, 6, 17, 40])
def test_against_the_twin(P):
    """Every K from 1 to P: both ways of making subsets."""
    rng = np.random.default_rng(P)
    for K in range(1, P + 1):
        for round_ in range(8 if P < 40 else 2):
            weights = weights_of(P, K, rng)
            assert subsets.size_of(weights, 0.8) == K
            seed = int(rng.integers(2**31 - 1))
            used = drawn(weights, 0.8, seed, round_)
            np.testing.assert_array_equal(used, subsets.draw(weights, 0.8, seed, round_))
            assert used.any()
            if comb(P, K) <= 2 * P:
                assert used.sum() == K


@settings(max_examples=100, deadline=None)
@given(
    logs=st.lists(
        st.one_of(st.just(-np.inf), st.just(0.0), st.floats(-800, 0)), min_size=1, max_size=12
    ),
    ratio=st.sampled_from([0.0, 0.3, 0.8, 0.999]),
    seed=st.integers(0, 2**31 - 1),
    round_=st.integers(0, 2**40),
)
def test_any_weights(logs, ratio, seed, round_):
    """Weights of 0, of the smallest floats, and equal ones."""
    weights = np.exp(np.array([0.0, *logs]))
    used = np.zeros(len(weights), dtype=bool)
    draw_subset(np.array([0.0, *logs]), ratio, seed, round_, used)
    np.testing.assert_array_equal(used, subsets.draw(weights, ratio, seed, round_))
    assert weights[used].sum() > 0


def test_the_number_of_subsets():
    for n in range(1, 60):
        for k in range(n + 1):
            for limit in (1, 2 * n, 10**6):
                assert binomial(n, k, limit) == min(comb(n, k), limit + 1)
    assert binomial(5000, 2500, 10_000) == 10_001


# -- the collections ---------------------------------------------------------------------------


@pytest.mark.parametrize(("P", "K"), [(1, 1), (6, 1), (6, 5), (6, 6), (17, 2), (17, 9), (17, 15)])
def test_every_expert_is_in_equally_many_subsets(P, K):
    """Remark 1: in J distinct ones; of all subsets J = K C(P, K) / P, of the bins 2 K."""
    for round_ in range(20):
        collection = subsets.collection(P, K, 7, round_)
        counts = np.bincount(np.concatenate(collection).astype(int), minlength=P)
        few = comb(P, K) <= 2 * P
        assert len(collection) == (comb(P, K) if few else 2 * P)
        assert set(counts) == {K * comb(P, K) // P if few else 2 * K}
        assert all(len(set(subset)) == len(subset) for subset in collection)


def test_the_bins_are_drawn_uniformly():
    """Any of the 2 P bins holds any expert with chance K / P, and pairs of experts as by chance."""
    P, K, n = 6, 3, 3000
    together = np.zeros((P, 2 * P))
    pairs = 0
    for round_ in range(n):
        for b, members in enumerate(subsets.collection(P, K, 3, round_)):
            together[members, b] += 1
            pairs += len(members) * (len(members) - 1) / 2
    expected = n * K / P
    np.testing.assert_allclose(together, expected, atol=5 * np.sqrt(n * K / P * (1 - K / P)))
    # Balls are independent: a bin holds two given experts with chance (K / P)^2.
    assert pairs / n == pytest.approx(2 * P * comb(P, 2) * (K / P) ** 2, rel=0.02)


# -- the distribution --------------------------------------------------------------------------


def assert_frequencies(counts, chances, n):
    """Pearson's chi-square, which is wrong once in a million."""
    counts, chances = np.asarray(counts, float), np.asarray(chances)
    assert counts[chances == 0].sum() == 0
    there = chances > 0
    statistic = np.sum((counts - n * chances)[there] ** 2 / (n * chances[there]))
    assert statistic < chi2.ppf(1 - 1e-6, max(there.sum() - 1, 1))


@pytest.mark.parametrize("K", [1, 2, 4, 5])
def test_all_subsets_are_drawn_by_their_weights(K):
    """K = 1, P - 1 and P among them: equation 29 with the weights as they are."""
    P, n = 5, 20_000
    weights = np.array([1.0, 0.85, 0.95, 0.83, 0.9])
    order = np.random.default_rng(K).permutation(P)
    weights[order[K:]] = 0.4 / (1 + np.arange(P - K))  # not above the ratio, and still drawn
    weights[order[0]] = 1.0
    all_of_them = subsets.collection(P, K, 0, 0)
    number = {tuple(subset): i for i, subset in enumerate(all_of_them)}
    counts = np.zeros(len(all_of_them))
    for round_ in range(n):
        counts[number[tuple(np.flatnonzero(drawn(weights, 0.8, 11, round_)))]] += 1
    assert_frequencies(counts, subsets.chances(all_of_them, weights), n)


def test_a_bin_is_drawn_by_its_weight():
    """Over many rounds an expert is in the subset as often as its bins' weights say.

    Given the bins, with chance sum over its bins of their share; on average over the bins
    (w_i + sum_{j != i} w_j (K / P)) / sum w, the other experts being in each bin with K / P.
    """
    P, n = 8, 20_000
    weights = np.array([1.0, 0.9, 0.95, 0.85, 0.3, 0.2, 0.1, 0.0])
    K = 4
    counts = np.zeros(P)
    for round_ in range(n):
        counts += drawn(weights, 0.8, 5, round_)
    total = weights.sum()
    expected = n * (weights + (total - weights) * K / P) / total
    np.testing.assert_allclose(counts, expected, atol=5 * np.sqrt(n / 4))


def test_draws_are_those_of_the_round_alone():
    weights = np.array([1.0, 0.9, 0.5, 0.95, 0.99, 0.85])
    first = [drawn(weights, 0.8, 3, round_) for round_ in range(50)]
    again = [drawn(weights, 0.8, 3, round_) for round_ in reversed(range(50))][::-1]
    np.testing.assert_array_equal(first, again)
    assert any((drawn(weights, 0.8, 4, r) != first[r]).any() for r in range(50))
    assert uniform(3, 5, subsets.SUBSET * 2**20) == draws.uniform(3, 5, subsets.SUBSET * 2**20)


# -- in the machine ----------------------------------------------------------------------------

POOL = [kb.Gaussian(sigma=s) for s in (0.3, 1.0, 3.0, 10.0, 0.5, 2.0)]


def waves(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


def model_of(ratio=0.8, seed=0, **others):
    learner = kb.GradientDescent(0.3, "constant", features=kb.RandomFeatures(8))
    selection = kb.AdaptiveSelection(ratio)
    others = {"combiner": kb.EXP(2.0)} | others
    return plain.regressor(POOL, learner, selection=selection, random_state=seed, **others)


def test_the_first_prediction_is_of_all_and_the_next_of_the_subset():
    X, y = waves(60)
    model = model_of()
    sizes = []
    for t in range(len(y)):
        used = np.ones(6, bool) if t == 0 else progress_of(model).used.copy()
        sizes.append(used.sum())
        if t > 0:
            outputs = np.array([
                view @ theta
                for view, theta in zip(
                    pool_of(model).blocks(rows_of(model._model, X[t : t + 1])),
                    theta_of(model).reshape(6, -1), strict=True,
                )
            ])[:, 0]  # fmt: skip
            weights = model.expert_weights_ * used
            expected = weights @ outputs / weights.sum()
            assert model.predict(X[t : t + 1])[0] == pytest.approx(expected, rel=1e-12)
            assert model.learn(X[t : t + 1], y[t : t + 1])[0][0] == pytest.approx(
                expected, rel=1e-12
            )
        else:
            model.learn(X[:1], y[:1])
    assert sizes[0] == 6
    assert len(set(sizes)) > 2


def test_a_ratio_near_1_follows_the_leader():
    """K = 1: one expert, drawn by its weight; where losses count for much, the best one."""
    X, y = waves(80)
    model = model_of(0.999, combiner=kb.EXP(1e9))
    model.learn(X[:1], y[:1])
    assert progress_of(model).used.all()  # all predicted 0: their losses are equal
    for t in range(1, len(y)):
        model.learn(X[t : t + 1], y[t : t + 1])
        used = progress_of(model).used
        assert used.sum() == 1
        assert model.expert_weights_[used] > 1 - 1e-6
        assert model.expert_errors_[used] == model.expert_errors_.min()


def test_a_round_without_a_label_draws_nothing():
    X, y = waves(100)
    model = model_of(labels=kb.Disagreement(1e-3, window=3))
    skipped = 0
    for t in range(len(y)):
        before = progress_of(model).used.copy() if t else None
        if not model.learn(X[t : t + 1], y[t : t + 1])[1][0]:
            np.testing.assert_array_equal(progress_of(model).used, before)
            skipped += 1
    assert skipped > 20


def test_classes_against_the_twin():
    """Perceptrons vote, in the subset that was drawn after the last mistake or success."""
    from naive import budget
    from naive import kernels as naive_kernels

    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120) > 0).astype(int)
    gammas = (0.01, 0.05, 0.1, 0.5, 1.0, 3.0, 5.0)
    experts = [
        rounds.Binary(i, naive_kernels.gaussian(g), X, budget.rbp, tie="margin")
        for i, g in enumerate(gammas)
    ]
    seed = seed_of(2)
    combiner = naive_combiners.Hedge(7, 0.9)
    expected = rounds.run(y, experts, combiner, "mistakes", ratio=0.5, seed=seed)
    for size in (1, 50, 120):
        model = plain.classifier(
            [kb.Gaussian(gamma=g) for g in gammas], kb.Perceptron(), kb.Hedge(0.9),
            kb.AdaptiveSelection(0.5), random_state=2,
        )  # fmt: skip
        said = [
            model.learn(X[a : a + size], y[a : a + size], classes=[0, 1])[0]
            for a in range(0, 120, size)
        ]
        np.testing.assert_array_equal(np.concatenate(said), expected.predictions)
        np.testing.assert_array_equal(progress_of(model).used, expected.used)
        np.testing.assert_allclose(model.kernel_weights_, expected.weights, rtol=1e-9)
        assert model.n_support_active_ == sum(
            len(expert.expert.rows)
            for expert, there in zip(experts, expected.used, strict=True)
            if there
        )


def test_one_expert():
    X, y = waves(30)
    alone = plain.regressor(POOL[:1], selection=kb.AdaptiveSelection(), random_state=0)
    usual = plain.regressor(POOL[:1], random_state=0)
    np.testing.assert_array_equal(alone.learn(X, y)[0], usual.learn(X, y)[0])


@pytest.mark.parametrize("ratio", [1.0, -0.1, np.nan, None, "0.8"])
def test_wrong_ratios(ratio):
    with pytest.raises(InputError, match=r"AdaptiveSelection: ratio must be a number in \[0, 1\)"):
        model_of(ratio).fit(*waves(10))
