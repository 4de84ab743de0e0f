"""Random features: their spectra, their errors, and the maps that compute them."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from naive import features as naive
from naive import kernels as naive_kernels

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.features.base import Features
from kernbrook.features.pools import PoolMap, draw, restore
from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.kernels.spectra import WAYS

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 6))
X[5] = 0.0
X[6] = X[7]
SPARSE = np.where(rng.random((70, 6)) < 0.6, 0.0, X)

KERNELS = [
    kb.Gaussian(sigma=1.5),
    kb.Gaussian(gamma=0.1),
    kb.Laplacian(sigma=4),
    kb.Cauchy(sigma=2),
    *(kb.Matern(nu, sigma=2) for nu in (0.5, 1.5, 2.5)),
]
PAIRS = [
    (kernel, frequencies)
    for kernel in KERNELS
    for frequencies in WAYS
    if kernel.isotropic or frequencies != "orthogonal"
]


def frequencies_of(kernel, recipe, width, seed=0):
    return draw(kernel, recipe, width, seed).arrays()["frequencies"]


def approximate(kernel, recipe, points, seed=0):
    Z = draw(kernel, recipe, points.shape[1], seed).transform(DenseRows.of(points))
    return Z @ Z.T


def error(kernel, recipe, points, seeds):
    """Root mean square over pairs and seeds."""
    exact = kernel(points, points)
    squares = [np.mean((approximate(kernel, recipe, points, s) - exact) ** 2) for s in seeds]
    return math.sqrt(np.mean(squares))


@pytest.mark.parametrize("kernel", KERNELS[::3], ids=str)
def test_the_error_falls_like_one_over_the_root(kernel):
    few = error(kernel, kb.RandomFeatures(25), X[:20], range(40))
    many = error(kernel, kb.RandomFeatures(2500), X[:20], range(40))
    assert 7 < few / many < 14


def test_orthogonal_frequencies_are_nearer():
    """At as many, on average."""
    points = np.random.default_rng(3).normal(size=(40, 20)) * math.sqrt(6 / 20)
    plain = error(KERNELS[0], kb.RandomFeatures(60), points, range(30))
    assert error(KERNELS[0], kb.RandomFeatures(60, "orthogonal"), points, range(30)) < 0.97 * plain


def test_orthogonal_in_blocks():
    V = frequencies_of(kb.Matern(1.5, sigma=1), kb.RandomFeatures(20, "orthogonal"), 8)
    directions = V / np.linalg.norm(V, axis=1, keepdims=True)
    for start in (0, 8, 16):
        block = directions[start : start + 8]
        np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-12)
    assert np.abs(directions[:8] @ directions[8:16].T).max() > 0.1
    # Uniform directions: every coordinate is as often negative.
    first = [
        frequencies_of(KERNELS[0], kb.RandomFeatures(3, "orthogonal"), 3, s) for s in range(300)
    ]
    assert np.abs(np.mean(np.sign(first), axis=0)).max() < 0.25


@pytest.mark.thinned
@pytest.mark.parametrize(("kernel", "frequencies"), PAIRS, ids=str)
def test_frequencies_have_the_spectrum_of_the_kernel(kernel, frequencies):
    """Quartiles of |v_1|, against the law of one coordinate."""
    V = frequencies_of(kernel, kb.RandomFeatures(20_000, frequencies), 6)
    from scipy import stats

    scale = math.sqrt(2 * kernel.gamma)
    if isinstance(kernel, kb.Laplacian):
        law = stats.cauchy(scale=kernel.gamma)
    elif isinstance(kernel, kb.Gaussian):
        law = stats.norm(scale=scale)
    elif isinstance(kernel, kb.Matern):
        law = stats.t(2 * kernel.nu, scale=scale)
    else:  # normal with an exponential variance: Laplace
        law = stats.laplace(scale=scale / math.sqrt(2))
    for k in range(6):
        for share in (0.25, 0.5, 0.75, 0.9):
            assert abs(np.mean(law.cdf(V[:, k]) < share) - share) < 0.02


@pytest.mark.parametrize(("kernel", "frequencies"), PAIRS, ids=str)
def test_naive_twin(kernel, frequencies):
    normalize = frequencies != "orthogonal"
    recipe = kb.RandomFeatures(13, frequencies, normalize)
    one = draw(kernel, recipe, 6, 1)
    V = one.arrays()["frequencies"]
    assert one.dim == 26
    for points in (X, SPARSE, 1e5 * X):
        expected = [naive.random_features(V, x, normalize) for x in points]
        angles = np.abs(V) @ np.abs(points).T
        for rows in (DenseRows.of(points), SparseRows.of(sp.csr_matrix(points))):
            np.testing.assert_allclose(
                one.transform(rows), expected, rtol=0, atol=1e-15 * max(angles.max(), 1)
            )


def pool_maps(width=6, seed=4):
    """Every kind of map, in an order that mixes them; more angles than one panel holds."""
    landmarks = np.random.default_rng(9).normal(size=(7, width))
    pairs = [
        (kb.Gaussian(sigma=1), kb.RandomFeatures(5)),
        (kb.Polynomial(3, offset=0.5), kb.Monomials()),
        (kb.Gaussian(sigma=30), kb.RandomFeatures(700)),
        (kb.Cauchy(sigma=1), kb.RandomFeatures(33, "orthogonal", False)),
        (kb.Linear(), kb.Monomials()),
        *((kernel, kb.Nystroem(landmarks=landmarks)) for kernel in NYSTROEM),
        (kb.Laplacian(sigma=3), kb.RandomFeatures(1)),
        (kb.Laplacian(gamma=1e12), kb.RandomFeatures(9)),  # angles beyond the fast range
        (kb.Matern(2.5, sigma=1), kb.RandomFeatures(64)),
        (kb.Matern(0.5, sigma=1), kb.RandomFeatures(20, "orthogonal", inputs=2)),
    ]
    return [draw(*pair, width, seed, i) for i, pair in enumerate(pairs)]


def test_no_map_is_missing():
    """In the list that the tests of maps run over."""
    ours = [getattr(kb.features, name) for name in kb.features.__all__]
    recipes = {one for one in ours if isinstance(one, type) and issubclass(one, Features)}
    assert recipes == {type(one.features) for one in pool_maps()}


NYSTROEM = [
    *(
        kb.Gaussian(sigma=2),
        kb.Polynomial(2, offset=1),
        kb.Laplacian(sigma=3),
        kb.Sigmoid(0.1, 0.2),
    ),
    *(kb.Matern(1.5, sigma=2), kb.Mean([kb.Linear(), kb.Gaussian(sigma=1), kb.Cauchy(gamma=2)])),
]


def test_bits_do_not_depend_on_the_block_nor_on_sparsity():
    maps = pool_maps()
    pool = PoolMap(maps)
    assert pool.dims.tolist() == [one.dim for one in maps]
    for points in (X, SPARSE, np.zeros((70, 6))):
        dense, sparse = DenseRows.of(points), SparseRows.of(sp.csr_matrix(points))
        whole = pool.blocks(dense)
        for one, block in zip(maps, whole, strict=True):
            assert block.shape == (70, one.dim)
            assert block.flags.c_contiguous
            np.testing.assert_array_equal(one.transform(dense), block)
        for rows, size in ((dense, 1), (dense, 64), (sparse, 1), (sparse, 7), (sparse, 70)):
            for lo in range(0, 70, size):
                part = pool.blocks(rows.part(lo, min(lo + size, 70)))
                for block, expected in zip(part, whole, strict=True):
                    np.testing.assert_array_equal(block, expected[lo : lo + size])


def test_parts_of_a_block_are_filled_in_place():
    """As threads do: each its rows, the rest left alone."""
    pool, rows = PoolMap(pool_maps()), DenseRows.of(X)
    out = pool.empty(70)
    out[:] = np.nan
    for lo, hi in ((20, 50), (50, 70)):
        pool.fill(rows.part(lo, hi), out, lo)
    for block, whole in zip(pool.views(out), pool.blocks(rows), strict=True):
        np.testing.assert_array_equal(block[20:], whole[20:])
        assert np.isnan(block[:20]).all()


def test_state_is_arrays():
    for one in pool_maps():
        arrays = {name: array.copy() for name, array in one.arrays().items()}
        again = restore(one.kernel, one.features, 6, arrays)
        np.testing.assert_array_equal(
            again.transform(DenseRows.of(X)), one.transform(DenseRows.of(X))
        )
        for name, array in arrays.items():
            for wrong in (array[:-1], array.astype(np.float32), None):
                with pytest.raises(InputError, match=name):
                    restore(one.kernel, one.features, 6, {**arrays, name: wrong})


@pytest.mark.parametrize(
    ("kernel", "recipe", "name", "value"),
    [
        (kb.Gaussian(sigma=1), kb.RandomFeatures(3), "frequencies", np.nan),
        (kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X), "root", np.inf),
    ],
)
def test_arrays_that_can_be_none_of_a_map(kernel, recipe, name, value):
    arrays = {key: array.copy() for key, array in draw(kernel, recipe, 6, 0).arrays().items()}
    arrays[name].flat[1] = value
    with pytest.raises(InputError, match=name):
        restore(kernel, recipe, 6, arrays)


BAD = [
    (kb.Polynomial(2), kb.RandomFeatures(), "expected a shift-invariant kernel"),
    (kb.Sigmoid(), kb.RandomFeatures(), r"\.*Gaussian.*\), got Sigmoid"),
    (kb.Laplacian(sigma=1), kb.RandomFeatures(5, "orthogonal"), "no orthogonal frequencies"),
    (kb.Gaussian(sigma=1), kb.Monomials(), "expected a Polynomial or Linear kernel"),
    (kb.Polynomial(2, offset=-1), kb.Monomials(), "an offset from 0, got -1"),
    (kb.Gaussian(sigma=1), kb.Nystroem(), "landmarks must be given here"),
    (kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X[:, :5]), r"of shape \(m, 6\), got \(70, 5\)"),
    (kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X[:0]), r"got \(0, 6\)"),
    (kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X * np.nan), "NaN or infinite"),
    (kb.Polynomial(400), kb.Nystroem(landmarks=X * 1e3), "gave NaN or infinity"),
]


@pytest.mark.parametrize(("kernel", "recipe", "message"), BAD)
def test_bad_parameters(kernel, recipe, message):
    with pytest.raises(InputError, match=message):
        draw(kernel, recipe, 6, 0)


def test_examples_without_features():
    with pytest.raises(InputError, match="examples with features, got none"):
        draw(kb.Gaussian(sigma=1), kb.RandomFeatures(), 0, 0)


# -- features of few inputs, which approximate means over sets of inputs -------------------------


def frequencies(kernel, width=6, seed=0, **parameters):
    return frequencies_of(kernel, kb.RandomFeatures(**parameters), width, seed)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("inputs", "width"), [(1, 6), (3, 7), (5, 6)])
def test_naive_twin_of_few_inputs(way, inputs, width):
    """Frequencies of the kernel in k dimensions, at inputs that are dealt."""
    kernel = kb.Matern(1.5, sigma=2)
    generator = np.random.default_rng([3, 0])
    own = kernel.frequencies(31, inputs, way, generator)
    block = inputs if way == "orthogonal" else 1
    shuffled = lambda width: generator.permutation(width).tolist()  # noqa: E731
    hands = naive.deal(math.ceil(31 / block), inputs, width, shuffled)
    expected = [[0.0] * width for _ in range(31)]
    for i in range(31):
        for k, place in enumerate(hands[i // block]):
            expected[i][place] = own[i, k]
    found = frequencies(kernel, width, 3, n_components=31, frequencies=way, inputs=inputs)
    assert found.tolist() == expected


@pytest.mark.parametrize("way", WAYS)
def test_all_inputs_or_more_are_all(way):
    kernel = kb.Gaussian(gamma=0.3)
    whole = frequencies(kernel, n_components=20, frequencies=way)
    for inputs in (6, 7, 1000):
        found = frequencies(kernel, n_components=20, frequencies=way, inputs=inputs)
        np.testing.assert_array_equal(found, whole)


MEANS = [
    (kb.Gaussian(gamma=0.5), 1, naive_kernels.anova(1, 0.5)),
    (kb.Gaussian(gamma=0.5), 2, naive_kernels.anova(2, 0.5)),
    (kb.Gaussian(gamma=0.5), 4, naive_kernels.anova(4, 0.5)),
    (
        *(kb.Laplacian(gamma=1), 1),
        naive_kernels.mean([lambda Z, x, i=i: np.exp(-np.abs(Z[:, i] - x[i])) for i in range(6)]),
    ),
]


@pytest.mark.parametrize(
    ("kernel", "inputs", "exact", "way"),
    [(*case, WAYS[i % 3 == 1]) for i, case in enumerate(MEANS)],
)
def test_the_mean_of_maps_approaches_the_mean_over_sets(kernel, inputs, exact, way):
    """500 small maps: each errs, their mean hardly, so they are not biased."""
    A = SPARSE[:15]
    K = np.array([exact(A, x) for x in A])
    recipe = kb.RandomFeatures(10, way, inputs=inputs)
    grams = []
    for seed in range(500):
        Z = draw(kernel, recipe, 6, seed).transform(DenseRows.of(A))
        grams.append(Z @ Z.T)
    errors = [np.sqrt(np.mean((gram - K) ** 2)) for gram in grams]
    assert np.abs(np.mean(grams, axis=0) - K).max() < 0.04
    assert np.sqrt(np.mean((np.mean(grams, axis=0) - K) ** 2)) < 0.08 * np.mean(errors)
