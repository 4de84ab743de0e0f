"""Adaptive kernel selection: the subset that is drawn, against its twin and its distribution."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import subsets
from scipy.stats import chi2

from kernbrook.selection.adaptive import binomial, draw_subset


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
