"""Coordinate descent: its steps, its honest gap, base functions without end."""

import hard_streams
import numpy as np
import pytest
from naive import voted as naive
from voted_problems import NAMES, PRICES, PROBLEMS, clouds, columns_of, matrices

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.voted import Program, complexities, descend, descend_over, penalties
from kernbrook.voted.steps import exact_step


def test_the_line_search():
    rng = np.random.default_rng(0)
    for trial in range(300):
        n = int(rng.integers(1, 12))
        margins = rng.normal(size=n).round(1 if trial % 2 else 9)
        moves = rng.normal(size=n).round(1 if trial % 3 else 9) * (rng.random(n) < 0.8)
        coefficient = 0.0 if trial % 4 == 0 else rng.normal()
        penalty = float(10.0 ** rng.uniform(-3, 0.5))
        least, value = naive.exact_step(margins, moves, coefficient, penalty)
        step = exact_step(margins, moves, coefficient, penalty)
        assert value(step) == pytest.approx(least, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("lam", "beta"), PRICES)
def test_above_the_least_by_no_more_than_its_gap(name, lam, beta):
    (X, y), kernels = PROBLEMS[name][0](), PROBLEMS[name][1]
    if "z-scores" in name:
        kernels = kernels[:3]
    columns, grams = columns_of(kernels, X), matrices(kernels, X)
    prices = penalties(complexities("max", columns), lam, beta)
    found, least = descend(columns, y, prices, 150), Program(columns, y).solve(prices)
    alpha = np.zeros(len(columns))
    alpha[found.columns] = found.coefficients
    value = naive.objective(grams, y, alpha.reshape(len(kernels), -1), prices)
    assert found.objective == pytest.approx(value, rel=1e-9)
    excess = found.objective - least.objective
    assert excess >= -1e-7 * least.objective
    assert found.gap >= excess - 1e-7 * least.objective
    assert found.gap == pytest.approx(found.objective - found.dual.sum(), abs=1e-12)
    assert ((found.dual >= 0) & (found.dual <= 1 / len(y))).all()
    for gram, price in zip(grams, prices, strict=True):
        assert (np.abs((found.dual * y) @ gram) <= price * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", ["gaussian_clouds", "duplicates", "with_zero_rows", "wdbc"])
def test_the_steps_are_the_papers(name):
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[name]()
    X, y = hard_streams.scaled(X[:24]), y[:24]
    kernels = [kb.Gaussian(sigma=1), kb.Polynomial(2, offset=1), kb.Linear()]
    columns = columns_of(kernels, X)
    prices = penalties(complexities("max", columns), 0.01, 0.01)
    flat = np.concatenate([gram.T for gram in matrices(kernels, X)])
    alpha, objectives = naive.descend(flat, y, np.repeat(prices, len(y)), 12)
    assert len(objectives) >= 3
    assert (np.diff(objectives) < 0).all()
    for rounds in (1, 3, 12):
        found = descend(columns, y, prices, rounds)
        last = objectives[:rounds][-1]
        assert found.objective == pytest.approx(last, rel=1e-10)
    used = np.flatnonzero(alpha)
    np.testing.assert_array_equal(found.columns, used)
    np.testing.assert_allclose(found.coefficients, alpha[used], rtol=1e-8)


def test_the_optimum_of_an_easy_problem():
    """One coordinate in use leads all the way."""
    X, y = clouds(80, 3, 1)
    columns = columns_of([kb.Gaussian(gamma=0.01)], X)
    for price in (0.3, 2.0):
        prices = np.array([price])
        found, least = descend(columns, y, prices), Program(columns, y).solve(prices)
        assert len(least.columns) == (price < 1)
        assert found.objective == pytest.approx(least.objective, rel=1e-9)
        assert found.gap < 1e-6


def waves(X, asked):
    """cos(w.x + b) with w, b drawn from the number i: as many as one likes."""

    def source(i):
        asked.append(i)
        rng = np.random.default_rng(i)
        w, b = rng.normal(size=X.shape[1]), rng.uniform(0, 2 * np.pi)
        return np.cos(X @ w + b), 0.02 + 0.01 * (i % 3)

    return source


def test_base_functions_without_end():
    X, y = clouds(70, 3, 1)
    asked = []
    found = descend_over(waves(X, asked), y, count=400, max_rounds=60)
    assert set(asked) == set(range(400))
    values, prices = zip(*(waves(X, [])(i) for i in range(400)), strict=True)
    flat, prices = np.array(values), np.array(prices)
    alpha = np.zeros(400)
    alpha[found.columns] = found.coefficients
    hinge = np.maximum(0, 1 - y * (alpha @ flat)).mean()
    assert found.objective == pytest.approx(hinge + np.abs(alpha) @ prices, rel=1e-9)
    assert (np.abs(flat @ (found.dual * y)) <= prices * (1 + 1e-9)).all()
    assert found.gap == pytest.approx(found.objective - found.dual.sum(), abs=1e-12)
    # More functions find more, and an end after one round finds what one round can.
    fewer = descend_over(waves(X, []), y, count=50, max_rounds=60)
    assert found.objective < fewer.objective < 1.0
    one = descend_over(waves(X, []), y, count=400, max_rounds=1)
    assert len(one.columns) == 1
    assert one.columns[0] < 50


def test_drawn_all_at_once_is_descent_over_a_pool():
    """Where the first round sees all functions, the two descents are the same."""
    X, y = clouds(40, 3, 2)
    kernel = kb.Gaussian(sigma=1)
    columns, gram = columns_of([kernel], X), kernel(X, X)
    a = descend(columns, y, np.array([0.02]), 60)
    b = descend_over(lambda i: (gram[:, i], 0.02), y, count=40, max_rounds=60)
    np.testing.assert_array_equal(a.columns, b.columns)
    np.testing.assert_allclose(a.coefficients, b.coefficients, rtol=1e-8)
    assert a.objective == pytest.approx(b.objective, rel=1e-9)
    assert a.rounds == b.rounds


def test_what_a_source_must_give():
    y = np.array([1.0, -1.0])
    for source, words in [
        (lambda i: (np.ones(3), 1.0), r"base function 0: expected \(2,\) values"),
        (lambda i: (np.ones(2), 0.0), "base function 0: expected .* a positive penalty"),
    ]:
        with pytest.raises(InputError, match=words):
            descend_over(source, y, 3)
    with pytest.raises(NonFiniteError, match="base function 0"):
        descend_over(lambda i: (np.array([1.0, np.nan]), 1.0), y, 3)
    with pytest.raises(InputError, match="count"):
        descend_over(lambda i: (np.ones(2), 1.0), y, 0)
