"""Kernels: formulas, values, parameters, and their sums in the engine."""

import pickle

import kernel_sums
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from every_kernel import CASES, OF_VECTORS, city_block
from naive import kernels as naive

import kernbrook as kb
from kernbrook.compiler import links
from kernbrook.errors import InputError, NonFiniteError, UnknownNameError
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
        runs.append(
            np.concatenate(
                [
                    model.learn(A[i : i + size], y[i : i + size], [-1, 1])[0]
                    for i in range(0, 80, size)
                ]
            )
        )
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


def test_kernels_are_values():
    assert kb.Gaussian(sigma=2) == kb.Gaussian(sigma=2) != kb.Gaussian(sigma=3)
    assert kb.Gaussian(sigma=2) != kb.Cauchy(sigma=2)
    assert kb.Precomputed(np.eye(2)) == kb.Precomputed(np.eye(2)) != kb.Precomputed(np.ones((2, 2)))
    assert len(set(OF_VECTORS)) == len(OF_VECTORS)


BAD = [
    (lambda: kb.Gaussian(), "Gaussian: give either sigma or gamma"),
    (lambda: kb.Gaussian(sigma=1, gamma=1), "either sigma or gamma, got sigma=1, gamma=1"),
    (lambda: kb.Gaussian(sigma=0), "sigma must be None or a positive number, got 0"),
    (lambda: kb.Gaussian(gamma=-1), "gamma must be None or a positive number, got -1"),
    (lambda: kb.Gaussian(gamma=np.nan), "gamma must be None or a positive number, got nan"),
    (lambda: kb.Gaussian(sigma=np.inf), "sigma must be None or a positive number, got inf"),
    (lambda: kb.Gaussian(sigma="2"), "sigma must be None or a positive number, got '2'"),
    (lambda: kb.Gaussian(sigma=1e-200), "Gaussian: "),  # gamma would be infinite
    (lambda: kb.Gaussian(sigma=1e200), "Gaussian: "),  # gamma would be 0
    (lambda: kb.Laplacian(gamma=0), "Laplacian: gamma must be None or a positive number"),
    (lambda: kb.Cauchy(sigma=-2), "Cauchy: sigma must be None or a positive number, got -2"),
    (lambda: kb.Polynomial(0), "degree must be an integer from 1 to 1,000, got 0"),
    (lambda: kb.Polynomial(1.5), "degree must be an integer from 1 to 1,000, got 1.5"),
    (lambda: kb.Polynomial(1001), "degree must be an integer from 1 to 1,000, got 1001"),
    (lambda: kb.Polynomial(2**62), "degree must be an integer from 1 to 1,000, got 46116860"),
    (lambda: kb.Polynomial(10**30), "degree must be an integer from 1 to 1,000, got 10000000"),
    (lambda: kb.Polynomial(2, 10**400), "offset must be a finite number, got 10000000"),
    (lambda: kb.Sigmoid(10**400), "gamma must be a positive number, got 10000000"),
    (lambda: kb.Polynomial(2, offset=np.inf), "offset must be a finite number, got inf"),
    (lambda: kb.Sigmoid(gamma=0), "Sigmoid: gamma must be a positive number, got 0"),
    (lambda: kb.Sigmoid(offset="1"), "offset must be a finite number, got '1'"),
    (lambda: kb.Callable(3), "expected a function of two arrays, got 3"),
    (lambda: kb.Callable(lambda A, B: A)(X, Z), r"expected an array of shape \(23, 14\)"),
    (lambda: kb.Precomputed(np.ones((2, 3))), r"expected a square matrix, got shape \(2, 3\)"),
    (lambda: kb.Precomputed(np.full((2, 2), np.nan)), "NaN or infinite"),
    (lambda: kb.Precomputed(np.eye(2))([[0]], [[2]]), "2 is no row of a 2 x 2 matrix"),
    (lambda: kb.Precomputed(np.eye(2))([[0.5]], [[0]]), "0.5 is no row"),
    (lambda: kb.Precomputed(np.eye(2))([[-1]], [[0]]), "-1 is no row"),
    (lambda: kb.Precomputed(np.eye(2))([[0, 1]], [[0]]), "one column of row numbers"),
    (lambda: kb.Mean([]), "one or more kernels"),
    (lambda: kb.Mean([3]), "one or more kernels"),
    (lambda: resolve([]), "kernels: expected"),
    (lambda: resolve([3]), "expected a kernel or a function of two arrays, got 3"),
    (lambda: resolve([kb.Gaussian]), "expected a kernel or a function"),
    (lambda: resolve(None), "kernels: expected"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), BAD, ids=lambda part: part if isinstance(part, str) else ""
)
def test_bad_parameters(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong()


def test_unknown_dictionary():
    with pytest.raises(UnknownNameError, match="did you mean omkc16"):
        resolve("omkc-16")


def test_a_custom_kernel_that_gives_nan():
    kernel = kb.Callable(lambda A, B: np.full((len(A), len(B)), np.nan), name="broken")
    with pytest.raises(NonFiniteError, match="broken"):
        plain.classifier(kernel).fit(X, np.arange(len(X)) % 2)


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
