"""The compiled machine against its naive twin: predictions, support vectors, weights."""

from functools import cache

import hard_streams
import numpy as np
import plain
import pytest
from driving import SIGNS, says, seed_of
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import draws
from naive import kernels as naive_kernels
from naive import om2 as naive_om2
from naive import omkc as naive

import kernbrook as kb
from kernbrook.numerics import draws as compiled_draws

VARIANTS = [("all", "all"), ("all", "drawn"), ("drawn", "all"), ("drawn", "drawn")]
RECIPES = {
    "omkc-dd": {"update": "all", "vote": "all"},
    "omkc-ds": {"update": "all", "vote": "drawn"},
    "omkc-sd": {"update": "drawn", "vote": "all"},
    "omkc-ss": {"update": "drawn", "vote": "drawn"},
}
SEED = 11


def assert_same(model, predictions, expected, X):
    """A finished run equals the twin's: weights to 1e-9, coefficients to rounding, all else."""
    np.testing.assert_array_equal(predictions, expected.predictions)
    kept = np.flatnonzero(expected.coefficients.any(axis=1))
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    np.testing.assert_allclose(model.dual_coef_, expected.coefficients[kept], rtol=1e-12)
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    np.testing.assert_allclose(model.expert_mistakes_, expected.mistakes, rtol=1e-12)
    counts = np.count_nonzero(expected.coefficients, axis=0)
    assert model.n_support_stored_ == counts.sum()
    assert model.n_support_active_ == counts[expected.used].sum()


@pytest.mark.thinned
@pytest.mark.parametrize("tie", ["margin", "label"])
@pytest.mark.parametrize(("update", "vote"), VARIANTS)
@pytest.mark.parametrize("stream", hard_streams.DRAWN)
def test_omkc_on_hard_streams(stream, update, vote, tie):
    X, y = hard_streams.DRAWN[stream]()
    X, y = X[:150], y[:150]
    expected = naive.omkc(
        X, y, naive_kernels.omkc16(), tie, 0.8, 0.05, update, vote, seed=seed_of(SEED)
    )
    model = plain.classifier(
        "omkc16",
        kb.Perceptron(tie=tie),
        kb.Hedge(discount=0.8),
        kb.Selection(update=update, vote=vote, smoothing=0.05),
        random_state=SEED,
    )
    assert_same(model, says(model, X, y, SIGNS, 40), expected, X)


@cache
def wdbc_by_the_twin(recipe):
    X, y = hard_streams.wdbc()
    return naive.omkc(X, y, naive_kernels.omkc16(), "label", **RECIPES[recipe], seed=seed_of(SEED))


@pytest.mark.sampled
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("size", [1, 7, 256, 569])
def test_omkc_on_wdbc(recipe, size):
    X, y = hard_streams.wdbc()
    model = kb.recipes.make(recipe, random_state=SEED)
    predictions = says(model, X, y, SIGNS, size)
    assert_same(model, predictions, wdbc_by_the_twin(recipe), X)


@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    tie=st.sampled_from(["margin", "label"]),
    variant=st.sampled_from(VARIANTS),
    weighted=st.booleans(),
    discount=st.sampled_from([1e-3, 0.5, 0.99, 1.0]),
    smoothing=st.sampled_from([0.0, 0.01, 0.7, 1.0]),
    random_state=st.integers(0, 2**31 - 1),
    size=st.integers(1, 60),
)
def test_omkc_on_random_streams(
    data, tie, variant, weighted, discount, smoothing, random_state, size
):
    """Small integers: duplicates, zero rows, exact cancellations and label noise come of itself."""
    n = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)
    y = rng.choice([-1.0, 1.0], size=n)
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    importance[::size] = 1.0  # a chunk of zero weights only has its own test
    pool = [kb.Linear(), kb.Polynomial(2, offset=1), kb.Gaussian(gamma=0.5), kb.Cauchy(gamma=2)]
    twins = [
        *(naive_kernels.linear(), naive_kernels.polynomial(2, 1)),
        *(naive_kernels.gaussian(0.5), naive_kernels.cauchy(2)),
    ]
    update, vote = variant
    expected = naive.omkc(
        *(X, y, twins, tie, discount, smoothing, update, vote, weighted),
        seed=seed_of(random_state),
        importance=importance,
    )
    model = plain.classifier(
        pool,
        kb.Perceptron(tie=tie),
        kb.Hedge(discount=discount),
        kb.Selection(update=update, vote=vote, smoothing=smoothing, weighted=weighted),
        random_state=random_state,
    )
    predictions = []
    for start in range(0, n, size):
        part = slice(start, start + size)
        predicted, asked = model.learn(
            X[part], y[part], classes=[-1, 1], sample_weight=importance[part]
        )
        predictions.append(predicted)
        assert asked.all()
    assert_same(model, np.concatenate(predictions), expected, X)


def test_a_chunk_of_zero_weights_only():
    """It teaches nothing, and its rounds and draws count, as they do within a larger chunk."""
    X, y = hard_streams.gaussian_clouds(40)
    importance = np.where(np.arange(40) // 10 == 1, 0.0, 1.0)

    def dual_of(size):
        model = kb.recipes.make("omkc-ss", random_state=SEED)
        for i in range(0, 40, size):
            part = slice(i, i + size)
            model.learn(X[part], y[part], classes=[-1, 1], sample_weight=importance[part])
        return model.dual_coef_

    np.testing.assert_array_equal(dual_of(10), dual_of(40))


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


@pytest.mark.parametrize("tie", ["margin", "label"])
@pytest.mark.parametrize("stream", ["wdbc", "binary_features", "with_zero_rows", "offset"])
def test_mean_kernel_perceptron(stream, tie):
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[stream](250)
    predictions, coefficients = naive.perceptron(
        X, y, naive_kernels.mean(naive_kernels.omkc16()), tie
    )
    model = kb.recipes.make("perceptron-u", tie=tie)
    np.testing.assert_array_equal(says(model, X, y, SIGNS, 100), predictions)
    kept = coefficients != 0
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    np.testing.assert_array_equal(model.dual_coef_[:, 0], coefficients[kept])


@pytest.mark.thinned
@pytest.mark.parametrize("rounds", [1, 40, 256, 1000])
@pytest.mark.parametrize("stream", ["wdbc", "binary_features", "one_class_prefix"])
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


@pytest.mark.thinned
@pytest.mark.parametrize("q", [None, 2, 10, 1000])
@pytest.mark.parametrize("stream", ["gaussian_clouds", "binary_features", "with_zero_rows", "wdbc"])
def test_om2(stream, q):
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[stream](150)
    importance = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=150)
    exponent = 2 * np.log(16) if q is None else q
    predictions, _, coefficients = naive_om2.om2(X, y, naive_kernels.omkc16(), exponent, importance)
    kept = coefficients != 0
    for size in (1, 40, 150):
        model = plain.classifier("omkc16", combiner=kb.GroupNorm(q=q))
        said = [
            model.learn(X[i : i + size], y[i : i + size], [-1, 1], importance[i : i + size])[0]
            for i in range(0, 150, size)
        ]
        np.testing.assert_array_equal(np.concatenate(said), predictions)
        np.testing.assert_array_equal(model.support_vectors_, X[kept])
        np.testing.assert_array_equal(model.dual_coef_[:, 0], coefficients[kept])
    squares = [
        coefficients @ np.array([kernel(X, x) for x in X]) @ coefficients
        for kernel in naive_kernels.omkc16()
    ]
    weights = naive_om2.group_weights(np.array(squares), exponent)
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
