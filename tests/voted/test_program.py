"""The linear program: its optimum, its certificate, its path, its memory."""

import subprocess
import sys
import warnings

import hard_streams
import numpy as np
import pytest
from naive import voted as naive
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits
from voted_problems import (
    BASES,
    GAUSSIANS,
    MIXED,
    NAMES,
    NORMALIZED,
    POLYNOMIALS,
    PRICES,
    PROBLEMS,
    clouds,
    columns_of,
    matrices,
)

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.voted import Program, complexities, penalties
from kernbrook.voted.program import best_factor


def check_certificate(solution, grams, y, prices):
    """From outside: the objective, the feasible dual, and that they bound each other."""
    n, p = len(y), len(grams)
    alpha = np.zeros(p * n)
    alpha[solution.columns] = solution.coefficients
    value = naive.objective(grams, y, alpha.reshape(p, n), prices)
    assert solution.objective == pytest.approx(value, rel=1e-9)
    u = solution.dual
    assert u.shape == (n,)
    assert (u >= 0).all()
    assert (u <= 1 / n).all()
    for gram, price in zip(grams, prices, strict=True):
        assert (np.abs((u * y) @ gram) <= price * (1 + 1e-9)).all()
    assert solution.gap == pytest.approx(value - u.sum(), abs=1e-8 * value)
    assert (solution.coefficients != 0).all()
    assert (np.diff(solution.columns) > 0).all()


@pytest.mark.thinned
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("lam", "beta"), PRICES)
def test_the_least_objective(name, lam, beta):
    (X, y), kernels = PROBLEMS[name][0](), PROBLEMS[name][1]
    grams = matrices(kernels, X)
    columns = columns_of(kernels, X)
    prices = penalties(complexities("max", columns), lam, beta)
    if lam == 0 and "z-scores" in name:  # values of 1e13 at the price of values of 1
        with pytest.warns(ConvergenceWarning, match="beyond the solver's precision"):
            solution = Program(columns, y).solve(prices)
        check_certificate(solution, grams, y, prices)
        assert solution.gap < 1e-10
        return
    solution = Program(columns, y).solve(prices)
    check_certificate(solution, grams, y, prices)
    assert solution.gap < 1e-6
    assert solution.gap <= 1e-7 * solution.objective
    least, _ = naive.least_objective(grams, y, prices)
    assert solution.objective == pytest.approx(least, rel=1e-7)


def test_a_path_drops_idle_columns(monkeypatch):
    from kernbrook.voted import program

    monkeypatch.setattr(program, "ROOM", 20)
    X, y = clouds(150, 3)
    columns = columns_of(GAUSSIANS, X)
    sizes = complexities("trace", columns)
    path = Program(columns, y)
    for lam in (0.1, 0.01, 1.0, 0.001, 0.1):
        prices = penalties(sizes, lam, 1e-4)
        before = len(path._held)
        found = path.solve(prices)
        assert found.objective == pytest.approx(
            Program(columns, y).solve(prices).objective, rel=1e-7
        )
        assert len(path._held) <= max(before, 20) + program.BATCH * found.rounds
    assert len(path._held) < 4 * 150
    path._tidy()
    assert len(path._held) == len(path._rows) == path._model.getNumRow() <= 150


@pytest.mark.parametrize(("kernels", "memory"), [(BASES, 1e5), (GAUSSIANS, 0)])
def test_memory_changes_nothing(kernels, memory, monkeypatch):
    from kernbrook.voted import kernel_columns as module

    monkeypatch.setattr(module, "TILE", 7000)  # several blocks
    X, y = clouds(160, 3)
    whole, small = columns_of(kernels, X), columns_of(kernels, X, memory)
    assert len(whole._blocks) > 3
    assert len(whole._kept) == len(whole._blocks)
    assert len(small._kept) < len(whole._kept)
    assert sum(block.nbytes for block in small._kept.values()) <= memory
    for name in ("sizes", "diagonals"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(small, name))
    weights = np.random.default_rng(0).normal(size=160)
    weights[::3] = 0.0
    which = np.array([5, 400, 401, 161, 159])
    np.testing.assert_array_equal(whole.scores(weights), small.scores(weights))
    np.testing.assert_array_equal(whole.take(which), small.take(which))
    prices = penalties(complexities("trace", whole), 0.01, 0.001)
    a, b = (Program(columns, y).solve(prices) for columns in (whole, small))
    np.testing.assert_array_equal(a.columns, b.columns)
    np.testing.assert_array_equal(a.coefficients, b.coefficients)
    np.testing.assert_array_equal(a.dual, b.dual)


@pytest.mark.parametrize(
    "kernels",
    [POLYNOMIALS, NORMALIZED, BASES, GAUSSIANS, MIXED, [kb.Polynomial(1), kb.Polynomial(9)]],
)
def test_columns_are_kernel_values(kernels, monkeypatch):
    from kernbrook.voted import kernel_columns as module

    monkeypatch.setattr(module, "TILE", 1500)
    X, _ = hard_streams.near_duplicates(60)
    columns, grams = columns_of(kernels, X), np.stack(matrices(kernels, X))
    flat = np.concatenate([gram.T for gram in grams])
    which = np.random.default_rng(0).permutation(columns.sizes.size)[:50]
    np.testing.assert_allclose(columns.take(which), flat[which], rtol=1e-11)
    np.testing.assert_allclose(columns.sizes, np.abs(grams).max(axis=1), rtol=1e-11)
    np.testing.assert_allclose(columns.diagonals, np.einsum("kii->ki", grams), rtol=1e-11)
    weights = np.random.default_rng(1).normal(size=60) * (np.arange(60) % 2)
    expected = np.einsum("i,kij->kj", weights, grams)
    size = np.einsum("i,kij->kj", np.abs(weights), np.abs(grams))
    assert (np.abs(columns.scores(weights) - expected) <= 1e-12 * size).all()
    assert not columns.scores(np.zeros(60)).any()


def test_wild_sizes():
    """(x.z + 1)^10 on raw features: certified where lam r_k carries the size, refused where not."""
    X, y = hard_streams.wdbc(150)
    columns = columns_of(POLYNOMIALS, X)
    assert columns.sizes.max() > 1e60
    prices = penalties(complexities("trace", columns), 0.01, 1e-6)
    solution = Program(columns, y).solve(prices)
    check_certificate(solution, matrices(POLYNOMIALS, X), y, prices)
    assert solution.gap < 1e-6
    words = r"kernel .*x\.z \+ 1.* beyond the solver's precision; scale the examples, by unit_leng"
    with pytest.raises(InputError, match=words):
        Program(columns, y).solve(np.full(10, 1e-6))


def test_a_gap_above_tol_is_told():
    X, y = clouds(40, 3)
    columns = columns_of([kb.Gaussian(sigma=1)], X)
    with pytest.warns(ConvergenceWarning, match="duality gap .* at an objective of .*: kernel exp"):
        solution = Program(columns, y, tol=1e-18).solve(np.array([0.001]))
    assert solution.gap < 1e-10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Program(columns, y).solve(np.array([0.001]))


def test_the_best_factor():
    rng = np.random.default_rng(0)
    for trial in range(300):
        n = int(rng.integers(1, 12))
        margins = rng.normal(size=n).round(1 if trial % 2 else 9) * (rng.random(n) < 0.8)
        price = float(10.0 ** rng.uniform(-3, 0.5))
        least, value = naive.best_factor(margins, price)
        assert value(best_factor(margins, price)) == pytest.approx(least, abs=1e-13)


def test_linear_algebra_on_one_thread():
    """While a program is solved, and then as before."""
    seen = []

    def kernel(A, B):
        seen.append({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})
        return A @ B.T

    X, y = clouds(40)
    with threadpool_limits(2, user_api="blas"):
        kb.VotedKernelClassifier(kernel, complexity="max", cache_size=0).fit(X, y)
        kernel(X, X)
    assert seen[0] == seen[-1] == {2}
    assert {1} in seen


def test_solving_writes_nothing_to_standard_output():
    """`--json -` writes JSON there; what the solver says at its first use would stand before it."""
    code = (
        "import kernbrook as kb\n"
        "kb.VotedKernelClassifier([kb.Linear()]).fit([[0.0], [1.0]] * 9, [0, 1] * 9)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert ran.stdout == b""
