"""The ANOVA kernel, and random features of few inputs, which approximate it."""

import math
from collections import Counter
from decimal import Decimal, getcontext

import hard_streams
import kernel_sums
import numpy as np
import pytest
import scipy.sparse as sp
from naive import features as naive_features
from naive import kernels as naive
from sklearn.base import clone

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.kernels.planning import Layout

rng = np.random.default_rng(0)
X = np.where(rng.random((40, 6)) < 0.3, 0.0, rng.normal(size=(40, 6)))
X[5] = 0.0
WAYS = kb.RandomFeatures.FREQUENCIES


def by_engine(kernel, rows, points):
    """(points, rows) values."""
    return rows.pairs(Layout([kernel]), points)[0]


# -- the kernel ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 6, 100])
@pytest.mark.parametrize("stream", ["random", "wdbc"])
def test_the_mean_over_sets(stream, order):
    A = X if stream == "random" else np.ascontiguousarray(hard_streams.wdbc(40)[0][:, :8])
    gamma = 0.5 if stream == "random" else 1e-3  # raw features of wdbc: up to 4,254
    expected = np.array([naive.anova(order, gamma)(A[:9], x) for x in A]).T
    found = by_engine(kb.ANOVA(order, gamma=gamma), DenseRows.of(A), DenseRows.of(A[:9]))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    called = kb.ANOVA(order, gamma=gamma)(A[:9], A)
    np.testing.assert_allclose(called, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("order", [1, 7, 100])
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_many_inputs(order, scale):
    """C(400, 100) = 2e96 sets, values down to 2e-75: against sums to 50 digits."""
    getcontext().prec = 50
    x, z = scale * np.random.default_rng(1).normal(size=(2, 1, 400))
    sums = [Decimal(1)] + [Decimal(0)] * order
    for u in np.exp(-0.5 * (x[0] - z[0]) ** 2):
        for j in range(order, 0, -1):
            sums[j] += sums[j - 1] * Decimal(float(u))
    expected = float(sums[order] / math.comb(400, order))
    assert 1e-290 < expected < 1
    kernel = kb.ANOVA(order, gamma=0.5)
    found = by_engine(kernel, DenseRows.of(x), DenseRows.of(z))
    np.testing.assert_allclose([found[0, 0], kernel(x, z)[0, 0]], expected, rtol=1e-12)


def test_equal_rows_give_exactly_one():
    for width in (1, 3, 49, 300):  # 49 * (1 / 49) < 1
        A = np.random.default_rng(2).normal(size=(3, width))
        for order in (1, 2, 48, 49, 100):
            kernel = kb.ANOVA(order, sigma=0.01)
            assert (np.diagonal(kernel(A, A)) == 1).all()
            assert (np.diagonal(by_engine(kernel, DenseRows.of(A), DenseRows.of(A))) == 1).all()


def test_far_apart_it_is_zero():
    A = np.array([[0.0, 0.0], [1e153, 0.0], [1e153, -1e153]])
    rows = DenseRows.of(A)
    assert by_engine(kb.ANOVA(2, gamma=1e9), rows, rows).tolist() == np.eye(3).tolist()
    additive = by_engine(kb.ANOVA(1, gamma=1e9), rows, rows)
    assert additive.tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]


def test_bits_do_not_depend_on_the_block_nor_on_sparsity():
    kernel = kb.ANOVA(3, sigma=1)
    dense, sparse = DenseRows.of(X), SparseRows.of(sp.csr_matrix(X))
    whole = by_engine(kernel, dense, dense)
    np.testing.assert_array_equal(whole, whole.T)
    for rows in (dense, sparse):
        for size in (1, 7, 40):
            for lo in range(0, 40, size):
                part = rows.part(lo, min(lo + size, 40))
                np.testing.assert_array_equal(
                    by_engine(kernel, part, rows), whole[:, lo : lo + size]
                )
                np.testing.assert_array_equal(by_engine(kernel, rows, part), whole[lo : lo + size])


def test_sums_by_threads(monkeypatch):
    """As many pairs as threads are worth; beside kernels with a step, and in a mean."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    A = np.random.default_rng(3).normal(size=(600, 4))
    kernels = [kb.ANOVA(1, sigma=1), kb.Gaussian(sigma=1), kb.ANOVA(2, sigma=1)]
    kernels.append(kb.Mean([kernels[0], kernels[2]]))
    coefficients = np.random.default_rng(4).normal(size=(600, 4))
    scores, _ = kernel_sums.sums(kernels, A, coefficients, A)
    for i, kernel in enumerate(kernels):
        np.testing.assert_allclose(scores[i], kernel(A, A) @ coefficients[:, i], atol=1e-11)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: kb.ANOVA(2), "ANOVA: give either sigma or gamma"),
        (lambda: kb.ANOVA(2, 1.0), "ANOVA: say which width it is, sigma=1.0 or gamma=1.0"),
        (lambda: kb.ANOVA(2, sigma=0), "ANOVA: sigma must be None or a positive number, got 0"),
        (lambda: kb.ANOVA(0, sigma=1), "ANOVA: order must be an integer from 1 to 100, got 0"),
        (lambda: kb.ANOVA(101, sigma=1), "from 1 to 100, got 101"),
        (lambda: kb.ANOVA(1.5, sigma=1), "order must be an integer from 1 to 100, got 1.5"),
        (lambda: kb.ANOVA("2", sigma=1), "order must be an integer from 1 to 100, got '2'"),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong()


# -- random features of few inputs -----------------------------------------------------------------


def frequencies(kernel, width=6, seed=0, **parameters):
    recipe = kb.RandomFeatures(**parameters)
    return draw(kernel, recipe, width, seed).arrays()["frequencies"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("inputs", "width"), [(1, 6), (2, 5), (3, 7), (4, 6), (5, 6)])
def test_naive_twin(way, inputs, width):
    """Frequencies of the kernel in k dimensions, at inputs that are dealt."""
    kernel = kb.Matern(1.5, sigma=2)
    generator = np.random.default_rng([3, 0])
    own = kernel.frequencies(31, inputs, way, generator)
    block = inputs if way == "orthogonal" else 1
    shuffled = lambda width: generator.permutation(width).tolist()  # noqa: E731
    hands = naive_features.deal(math.ceil(31 / block), inputs, width, shuffled)
    expected = [[0.0] * width for _ in range(31)]
    for i in range(31):
        for k, place in enumerate(hands[i // block]):
            expected[i][place] = own[i, k]
    found = frequencies(kernel, width, 3, n_components=31, frequencies=way, inputs=inputs)
    assert found.tolist() == expected


@pytest.mark.parametrize("inputs", [1, 2, 4, 5])
def test_all_inputs_are_as_frequent(inputs):
    for seed in range(20):
        V = frequencies(kb.Gaussian(sigma=1), 6, seed, n_components=13, inputs=inputs)
        assert ((V != 0).sum(axis=1) == inputs).all()
        counts = (V != 0).sum(axis=0)
        assert counts.max() - counts.min() <= 1
        V = frequencies(
            kb.Gaussian(sigma=1), 6, seed, n_components=13, frequencies="orthogonal", inputs=inputs
        )
        counts = (V != 0).sum(axis=0)
        assert counts.max() - counts.min() <= inputs


def test_every_set_is_as_likely():
    """Of any frequency, so that nothing is biased: also where a deck comes to its end."""
    found = {place: Counter() for place in (0, 1, 2, 6)}
    for seed in range(1500):
        V = frequencies(kb.Gaussian(sigma=1), 5, seed, n_components=7, inputs=3)
        for place, sets in found.items():
            sets[tuple(np.flatnonzero(V[place]))] += 1
    for sets in found.values():
        assert len(sets) == 10
        # Chi-squared with 9 degrees of freedom is above 30 once in 2,300 times.
        assert sum((count - 150) ** 2 / 150 for count in sets.values()) < 30


@pytest.mark.parametrize("kernel", [kb.Gaussian(gamma=0.3), kb.Laplacian(sigma=1)], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_all_inputs_or_more_are_all(kernel, way):
    if way == "orthogonal" and not kernel.isotropic:
        pytest.skip("it has none")
    whole = frequencies(kernel, n_components=20, frequencies=way)
    for inputs in (6, 7, 1000):
        found = frequencies(kernel, n_components=20, frequencies=way, inputs=inputs)
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("way", WAYS)
def test_few_inputs_of_a_gaussian_are_the_kernel(way):
    for order in (1, 2, 6, 9):
        np.testing.assert_array_equal(
            frequencies(kb.ANOVA(order, gamma=0.3), n_components=20, frequencies=way),
            frequencies(
                kb.Gaussian(gamma=0.3), n_components=20, frequencies=way, inputs=order
            ),
        )  # fmt: skip


MEANS = [
    (kb.Gaussian(gamma=0.5), 1, naive.anova(1, 0.5)),
    (kb.Gaussian(gamma=0.5), 2, naive.anova(2, 0.5)),
    (kb.Gaussian(gamma=0.5), 4, naive.anova(4, 0.5)),
    (kb.ANOVA(2, gamma=0.5), 3, naive.anova(2, 0.5)),
    (kb.ANOVA(3, gamma=0.5), 2, naive.anova(2, 0.5)),
    (
        *(kb.Laplacian(gamma=1), 1),
        naive.mean([lambda Z, x, i=i: np.exp(-np.abs(Z[:, i] - x[i])) for i in range(6)]),
    ),
]


@pytest.mark.thinned
@pytest.mark.parametrize(("kernel", "inputs", "exact"), MEANS)
@pytest.mark.parametrize("way", WAYS)
def test_the_mean_of_maps_approaches_the_mean_over_sets(kernel, inputs, exact, way):
    """500 small maps: each errs, their mean hardly, so they are not biased."""
    if way == "orthogonal" and not kernel.isotropic:
        pytest.skip("it has none")
    A = X[:15]
    K = np.array([exact(A, x) for x in A])
    recipe = kb.RandomFeatures(10, way, inputs=inputs)
    grams = []
    for seed in range(500):
        Z = draw(kernel, recipe, 6, seed).transform(DenseRows.of(A))
        grams.append(Z @ Z.T)
    errors = [np.sqrt(np.mean((gram - K) ** 2)) for gram in grams]
    assert np.abs(np.mean(grams, axis=0) - K).max() < 0.04
    assert np.sqrt(np.mean((np.mean(grams, axis=0) - K) ** 2)) < 0.08 * np.mean(errors)


def test_nystroem_is_exact_on_its_landmarks():
    kernel = kb.ANOVA(2, sigma=1)
    Z = kb.KernelFeatures(kernel, kb.Nystroem(landmarks=X)).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel(X, X), atol=1e-8)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_in_a_model_and_in_a_file(storage, tmp_path):
    A, y = hard_streams.gaussian_clouds(120, 5)
    pool = [kb.Gaussian(sigma=2), kb.ANOVA(2, sigma=1)]
    learner = [kb.Ridge(features=kb.RandomFeatures(8, inputs=2)), kb.BPAS(budget=10)]
    model = kb.OnlineMKClassifier(pool, learner, random_state=0)
    assert clone(model).get_params()["learner"][0].features.inputs == 2
    model.partial_fit(storage(A[:70]), y[:70], classes=np.unique(y))
    kb.save(model, tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    assert repr(loaded) == repr(model)
    for one in (model, loaded):
        one.partial_fit(storage(A[70:]), y[70:])
    np.testing.assert_array_equal(loaded.decision_function(A), model.decision_function(A))


@pytest.mark.parametrize("inputs", [0, -1, 1.5, True, "2"])
def test_bad_inputs(inputs):
    with pytest.raises(InputError, match="inputs must be None or an integer from 1"):
        draw(kb.Gaussian(sigma=1), kb.RandomFeatures(5, inputs=inputs), 6, 0)
