"""Kernels: formulas, values, parameters, and their sums in the engine."""

import pickle

import kernel_sums
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import SIGNS, says
from every_kernel import CASES, OF_VECTORS, city_block
from naive import kernels as naive

import kernbrook as kb
from kernbrook.compiler import links
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.kernels import amkl17, omkc16, resolve
from kernbrook.kernels.planning import Layout

rng = np.random.default_rng(0)
X = rng.normal(size=(23, 6))
Z = np.concatenate([rng.normal(size=(11, 6)), X[:3]])
MATRIX = rng.normal(size=(40, 40))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.kernel))
def test_formula_and_values(case):
    kernel, formula, values, rows = case
    A, B = (X, Z) if rows is None else (rows, rows[:14])
    assert str(kernel) == formula
    expected = values(A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        kernel(sp.csr_matrix(A), sp.csr_matrix(B)), expected, rtol=1e-12, atol=1e-14
    )


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.kernel))
def test_properties(case):
    kb.testing.check_kernel(case.kernel, case.X)


def test_no_kernel_is_missing():
    """In the list that these tests run over."""
    ours = [getattr(kb.kernels, name) for name in kb.kernels.__all__]
    kinds = {one for one in ours if isinstance(one, type) and issubclass(one, kb.kernels.Kernel)}
    assert kinds - {kb.kernels.Kernel} == {type(case.kernel) for case in CASES}


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_all_kernels_in_one_pool(storage):
    """scores = K(X, Z) @ coefficients, sizes = |K(X, Z)| @ |coefficients|, for all at once.

    Shared exponentials, shared parts, several channels, several tiles, rows of zeros.
    """
    rng = np.random.default_rng(0)
    A = np.where(rng.random((300, 6)) < 0.5, 0.0, rng.normal(size=(300, 6)))
    A[7] = 0.0
    B = np.concatenate([A[:40], rng.normal(size=(520, 6))])
    kernels = [*OF_VECTORS, *omkc16(), *amkl17()]
    coefficients = rng.normal(size=(len(B), len(kernels)))
    coefficients *= rng.random(coefficients.shape) < 0.5
    scores, sizes = kernel_sums.sums(kernels, storage(B), coefficients, storage(A))
    for i, kernel in enumerate(kernels):
        K = kernel(A, B)
        scale = np.abs(K) @ np.abs(coefficients[:, i])
        error = np.abs(scores[i] - K @ coefficients[:, i])
        np.testing.assert_array_less(error, 1e-12 * scale + 1e-20)
        if len(list(kernel.parts())) == 1:
            np.testing.assert_allclose(sizes[i], scale, rtol=1e-11, atol=1e-20)
        else:  # the terms of a mean are its parts
            assert (sizes[i] >= scale * (1 - 1e-12)).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed(sparse):
    """X is one column of row numbers; the matrix need not be symmetric."""
    rows, points = rng.integers(40, size=(300, 1)), rng.integers(40, size=(25, 1))
    kernel = kb.Precomputed(MATRIX)
    np.testing.assert_array_equal(kernel(rows, points), MATRIX[rows[:, 0]][:, points[:, 0]])
    assert str(kernel) == "K[x, z]"
    A, B = rows.astype(float), points.astype(float)
    if sparse:
        A, B = sp.csr_matrix(A), sp.csr_matrix(B)
    coefficients = rng.normal(size=(25, 1))
    scores, _ = kernel_sums.sums([kernel], B, coefficients, A)
    # A score is sum_j alpha_j K[x, z_j]: the example first, the support vector second.
    expected = MATRIX[np.ix_(rows[:, 0], points[:, 0])] @ coefficients[:, 0]
    np.testing.assert_allclose(scores[0], expected, rtol=1e-10, atol=1e-12)


def test_a_kernel_that_is_not_symmetric():
    """f(x) = sum_j alpha_j k(x, z_j), within a block and from stored points alike."""

    def tilted(A, B):
        return A @ B.T + 3.0 * A[:, :1] - B[:, 1:2].T

    kernel = kb.Callable(tilted)
    A, y = rng.normal(size=(80, 3)), rng.choice([-1, 1], size=80)
    runs = []
    for size in (1, 9, 80):
        model = plain.classifier([kernel], kb.Perceptron(tie="label"))
        runs.append(says(model, A, y, SIGNS, size))
        scores = tilted(A, model.support_vectors_) @ model.dual_coef_[:, 0]
        np.testing.assert_array_equal(model.predict(A), np.where(scores >= 0, 1, -1))
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


def test_near_equal_rows_keep_their_distance():
    """1e-9 apart at an offset of 1e5: 1e-18 is lost in ||x||^2 + ||z||^2 - 2 x.z = 1e11."""
    A = rng.normal(size=(50, 5)) + 1e5
    B = np.nextafter(A, np.inf)
    kernel = kb.Gaussian(gamma=1e20)
    for storage in (np.asarray, sp.csr_matrix):
        for i in range(5):
            alone = storage(B[i : i + 1])
            scores, _ = kernel_sums.sums([kernel], alone, [[1.0]], storage(A[i : i + 1]))
            np.testing.assert_allclose(scores, kernel(A[i : i + 1], B[i : i + 1]), rtol=1e-12)
        same, _ = kernel_sums.sums([kernel], storage(A), np.eye(50)[:, :1], storage(A))
        assert same[0, 0] == 1.0


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_over_the_whole_range(nu):
    """Against the closed form; exactly 0 where the exponential is, and never NaN."""
    kernel = kb.Matern(nu, gamma=0.3)
    squares = np.concatenate([[0.0], 10.0 ** rng.uniform(-12, 9, 3000), [1e150, 1e300]])
    values = kernel_sums.values([kernel], squares)[0]
    s = np.sqrt(4 * nu * 0.3) * np.sqrt(squares)
    with np.errstate(over="ignore", invalid="ignore"):
        factor = {0.5: np.ones_like(s), 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu]
        expected = np.where(s > 746, 0.0, factor * np.exp(-s))
    normal = expected > 1e-300
    np.testing.assert_allclose(values[normal], expected[normal], rtol=1e-12)
    assert (values[s > 746] == 0).all()
    assert not np.isnan(values).any()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_far_tails_far_from_the_origin(storage):
    """20 apart at an offset of 1e5: exp(-50) needs the distance itself, to all its digits."""
    a = np.full((1, 6), 1e5)
    b = a + rng.normal(size=(1, 6))
    b = a + (b - a) * (20.0 / np.linalg.norm(b - a))
    for pool in ([kb.Matern(0.5, sigma=0.4)], [kb.Gaussian(sigma=0.1), kb.Matern(0.5, sigma=0.4)]):
        values, _ = kernel_sums.sums(pool, storage(b), np.ones((1, len(pool))), storage(a))
        np.testing.assert_allclose(values[-1], pool[-1](a, b)[0], rtol=1e-12)


def test_dictionaries():
    for pool, twins in ((omkc16(), naive.omkc16()), (amkl17(), naive.amkl17())):
        assert len(pool) == len(twins)
        for kernel, twin in zip(pool, twins, strict=True):
            expected = np.array([twin(Z, x) for x in X])
            np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-11)
    assert resolve("omkc16") == omkc16()
    assert resolve(kb.Linear()) == (kb.Linear(),)
    assert [str(kernel) for kernel in resolve([kb.Linear(), city_block])] == [
        "x.z",
        "city_block(x, z)",
    ]


BAD = [
    (lambda: kb.Gaussian(), "Gaussian: give either sigma or gamma"),
    (lambda: kb.Gaussian(sigma=1, gamma=1), "either sigma or gamma, got sigma=1, gamma=1"),
    (lambda: kb.Gaussian(sigma=0), "sigma must be None or a positive number, got 0"),
    (lambda: kb.Gaussian(sigma=1e-200), "Gaussian: "),  # gamma would be infinite
    (lambda: kb.Gaussian(sigma=1e200), "Gaussian: "),  # gamma would be 0
    (lambda: kb.Polynomial(10**30), "degree must be an integer from 1 to 1,000, got 10000000"),
    (lambda: kb.Polynomial(2, 10**400), "offset must be a finite number, got 10000000"),
    (lambda: kb.Callable(3), "expected a function of two arrays, got 3"),
    (lambda: kb.Precomputed(np.eye(2))([[0, 1]], [[0]]), "one column of row numbers"),
    (lambda: kb.Mean([]), "one or more kernels"),
    (lambda: resolve([]), "kernels: expected"),
    (lambda: resolve([3]), "expected a kernel or a function of two arrays, got 3"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), BAD, ids=lambda part: part if isinstance(part, str) else ""
)
def test_bad_parameters(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong()
    with pytest.raises(UnknownNameError, match="did you mean omkc16"):
        resolve("omkc-16")


def test_a_layout_is_made_again_where_it_is_loaded(monkeypatch):
    """In another process what is compiled has other addresses."""
    pool = [kb.Gaussian(sigma=1), kb.Polynomial(3), kb.Mean([kb.Linear(), kb.Cauchy(gamma=2)])]
    layout = Layout(pool, 2)
    held, pickled = (layout.plan, layout.parts), pickle.dumps(layout)
    monkeypatch.setattr(links, "_links", {})
    again = pickle.loads(pickled)
    for one, other in zip(held, (again.plan, again.parts), strict=True):
        assert (one.links != other.links).any(axis=1).all()
        for a, b in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(a, b)
