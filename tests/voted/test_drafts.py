"""The first solution: its interior point method, its base functions, the vertex that is near."""

import numpy as np
import pytest
from naive import voted as naive
from scipy.optimize import linprog
from voted_problems import PROBLEMS, columns_of

from kernbrook.voted import Program, complexities, drafts, penalties, program
from kernbrook.voted.interior import interior
from kernbrook.voted.powers import add_powers

NAMES = [name for name in PROBLEMS if "ionosphere" not in name]


@pytest.mark.parametrize(("width", "count"), [(1, 10), (63, 1), (64, 11), (130, 0)])
def test_sums_of_powers(width, count):
    rng = np.random.default_rng(width)
    source, rows = rng.normal(size=(20, width + 3)), rng.permutation(20)[:count]
    weights, found, expected = rng.normal(size=count), np.ones((6, width)), np.ones((6, width))
    for first in (0, 3):
        add_powers(source, 0.5, rows, weights, first, found)
        naive.add_powers(source, 0.5, rows, weights, first, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(3, 40), (30, 40), (60, 20)])
@pytest.mark.parametrize("start", ["cold", "warm"])
def test_the_interior_point_method(shape, start):
    q, n = shape
    rng = np.random.default_rng(q)
    rows = rng.uniform(-1, 1, shape)
    rows[0] = np.abs(rows[0])
    limits = rng.uniform(0.5, 3, q)
    u, alpha = np.full(n, 0.5), np.zeros(q)
    if start == "warm":
        u, alpha = interior(rows, limits, u, alpha, 0.3)
        limits *= 0.8
    u, alpha = interior(rows, limits, u, alpha, 1e-6)
    least = linprog(-np.ones(n), np.concatenate([rows, -rows]), np.tile(limits, 2), bounds=(0, 1))
    objective = np.maximum(1 - alpha @ rows, 0).sum() + limits @ np.abs(alpha)
    assert ((u > 0) & (u < 1)).all()
    assert (np.abs(rows @ u) <= limits * (1 + 1e-9)).all()
    assert u.sum() <= -least.fun * (1 + 1e-9)
    assert -least.fun * (1 - 1e-9) <= objective <= u.sum() * (1 + 2e-6)


@pytest.mark.thinned
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("lam", "beta"), [(1e-3, 0.0), (1e-6, 1e-6)])
def test_a_draft_changes_no_optimum(name, lam, beta, monkeypatch):
    (X, y), kernels = PROBLEMS[name][0](), PROBLEMS[name][1]
    columns = columns_of(kernels, X)
    prices = penalties(complexities("max", columns), lam, beta)
    alone = Program(columns, y).solve(prices)
    monkeypatch.setattr(program, "FEW", 0)
    monkeypatch.setattr(drafts, "SMALL", 30)  # so that there is a part
    solution = Program(columns, y).solve(prices)
    assert solution.objective == pytest.approx(alone.objective, rel=2e-7)
    assert solution.gap <= 1e-7 * solution.objective


@pytest.mark.parametrize("n", [0, 5])
def test_examples_that_no_function_tells_apart(n):
    u, alpha = interior(np.zeros((2, n)), np.ones(2), np.full(n, 0.5), np.array([1.0, -2.0]), 1e-6)
    np.testing.assert_allclose(u, np.ones(n), atol=1e-5)
    np.testing.assert_allclose(alpha, 0, atol=1e-5)
