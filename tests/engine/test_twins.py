"""The machines of the OMKC and OM-2 papers against their naive twins; the draws."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
from driving import SIGNS, learn, says, seed_of
from every_policy import POLICIES, fresh
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import combiners, draws, om2, rounds
from naive import kernels as naive_kernels
from naive import omkc as naive
from naive.budget import rbp
from twins import assert_same

import kernbrook as kb
from kernbrook.numerics import draws as compiled_draws

RECIPES = {  # update, vote
    "omkc-dd": ("all", "all"),
    "omkc-ds": ("all", "drawn"),
    "omkc-sd": ("drawn", "all"),
    "omkc-ss": ("drawn", "drawn"),
}
SEED = 11


@pytest.mark.sampled
@pytest.mark.parametrize(("recipe", "size"), [*zip(RECIPES, [1, 7, 256, 569], strict=True)])
def test_omkc_on_wdbc(recipe, size):
    X, y = hard_streams.wdbc()
    y = (y > 0).astype(int)
    model = kb.recipes.make(recipe, random_state=SEED)
    step, kernels = partial(rbp, tie="label"), naive_kernels.omkc16()
    experts = [rounds.Binary(i, kernel, X, step) for i, kernel in enumerate(kernels)]
    hedge, (update, vote) = combiners.Hedge(16, 0.8), RECIPES[recipe]
    expected = rounds.run(
        y, experts, hedge, "mistakes", update=update, vote_of=vote, seed=seed_of(SEED)
    )
    assert_same(model, *learn(model, X, y, 2, size), expected, X, y, 2)


def test_log_weights_never_underflow():
    """3,000 rounds at a discount of 1e-3: beta^T is far below the smallest float."""
    X, y = hard_streams.gaussian_clouds(3000, 2)
    y = np.random.default_rng(0).permutation(y)  # nothing to learn: every expert keeps erring
    model = plain.classifier(
        [kb.Linear(), kb.Polynomial(2)], kb.Perceptron("label"), kb.Hedge(discount=1e-3)
    )
    model.learn(X, y)
    least, most = np.sort(model.expert_mistakes_)
    assert least > 400  # 1e-3^400 would be 0
    expected = 1e-3 ** (most - least)
    weights = np.sort(model.kernel_weights_)
    np.testing.assert_allclose(weights[0] / weights[1], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("stream", "rounds"),
    [("wdbc", 1), ("binary_features", 40), ("one_class_prefix", 256), ("wdbc", 1000)],
)
def test_best_of_prefix(stream, rounds):
    """In chunks that end before the prefix does, at its end, and after it."""
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[stream](300)
    predictions, best, coefficients = naive.best_of_prefix(
        X, y, naive_kernels.omkc16(), rounds, "label"
    )
    for size in (1, 33, 300):
        model = kb.recipes.make("perceptron-best", fraction=None, rounds=rounds)
        np.testing.assert_array_equal(says(model, X, y, SIGNS, size), predictions)
        assert model.kernel_weights_.argmax() == best
        assert model.kernel_weights_.sum() == 1
        if rounds <= len(y):
            kept = coefficients != 0
            assert model.n_support_stored_ == np.count_nonzero(kept)
            np.testing.assert_array_equal(model.support_vectors_, X[kept])
            np.testing.assert_array_equal(model.dual_coef_[:, best], coefficients[kept])


def test_best_of_a_known_fraction():
    """The protocol of the paper: choose on the first tenth, then run from scratch on everything."""
    X, y = hard_streams.wdbc()
    order = np.random.default_rng(3).permutation(len(y))
    prefix = order[:57]
    twins = naive_kernels.omkc16()
    best = naive.best_kernel(X[prefix], y[prefix], twins, "label")
    predictions, coefficients = naive.perceptron(X[order], y[order], twins[best], "label")
    record = kb.prequential(kb.recipes.make("perceptron-best"), X, y, order)
    np.testing.assert_array_equal(record.predictions, predictions)
    assert record.n_support_stored == np.count_nonzero(coefficients)


@pytest.mark.parametrize(
    ("stream", "C", "q", "policy"),
    [
        ("gaussian_clouds", 2, None, "disagreement"),
        ("binary_features", 2, 2, "margin"),
        ("wdbc", 2, 1000, "all"),
        ("gaussian_clouds", 5, 10, "random"),
        ("binary_features", 5, 2, "all"),
        ("with_zero_rows", 5, None, "budget"),
    ],
)
def test_om2(stream, C, q, policy):
    X, y = hard_streams.many_classes(stream, 130, C)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=len(y))
    importance = weights if policy == "all" else None  # relative to those whose label is asked for
    exponent, (labels, of_policy) = 2 * np.log(16) if q is None else q, POLICIES[policy]
    kernels = naive_kernels.omkc16()
    for size in (1, 40, 130):
        predictions, asked, coefficients = om2.om2(
            X, y, kernels, C, exponent, fresh(of_policy), seed_of(SEED), importance
        )
        model = plain.classifier(
            "omkc16", combiner=kb.GroupNorm(q=q), labels=labels, random_state=SEED
        )
        found = learn(model, X, y, C, size, importance)
        np.testing.assert_array_equal(found, (predictions, asked))
        kept, own = coefficients.any(axis=1), coefficients[:, 1] if C == 2 else coefficients
        np.testing.assert_array_equal(model.support_vectors_, X[kept])
        np.testing.assert_array_equal(model.dual_coef_[:, 0], own[kept])
        assert model.n_support_stored_ == kept.sum()
    squares = [np.sum(own * (np.array([kernel(X, x) for x in X]) @ own)) for kernel in kernels]
    weights = om2.group_weights(np.array(squares), exponent)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), round_=st.integers(0, 2**62), slot=st.integers(0, 2**21 - 1))
def test_draws(seed, round_, slot):
    assert compiled_draws.uniform(seed, round_, slot) == draws.uniform(seed, round_, slot)


def test_draws_are_uniform():
    """Rounds and slots side by side: mean and variance of a uniform number, no correlation."""
    values = np.array([[draws.uniform(5, t, slot) for slot in range(16)] for t in range(2000)])
    n = values.size
    assert abs(values.mean() - 1 / 2) < 5 * np.sqrt(1 / 12 / n)
    assert abs(values.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / n)
    assert np.abs(np.corrcoef(values.T) - np.eye(16)).max() < 5 / np.sqrt(len(values))
