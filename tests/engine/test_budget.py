"""Learners under a budget: what goes where room is made, huge kernels, overflows."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import says, seed_of
from every_learner import SEED
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import compiled, slots_of
from naive import budget as naive
from naive import kernels as naive_kernels
from naive import multiclass, regression, rounds
from twins import assert_same

import kernbrook as kb
from kernbrook.engine.stores.slots import Slots
from kernbrook.engine.verbs import Clock, Seen
from kernbrook.errors import NonFiniteError
from kernbrook.learners.forgetron import tune_scale

OF_SCIKIT_LEARN = ["iris", "wine", "digits"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("stream", "C"),
    [
        *((name, (2, 5)[i % 2]) for i, name in enumerate([*hard_streams.DRAWN, "wdbc"])),
        *zip(OF_SCIKIT_LEARN, (3, 3, 10), strict=True),
    ],
)
def test_bpas_removes_what_costs_least(stream, C):
    """Where several removals cost the same but for rounding, the twin follows the choice made."""
    (X, y), kernels = hard_streams.with_classes(stream, C, 120), naive_kernels.omkc16()
    learner = kb.BPAS(8, aggressiveness=0.5)
    model = plain.classifier("omkc16", learner, kb.Uniform(), random_state=SEED)
    said, held, followed = [], [], 0
    for t in range(len(y)):
        said.append(says(model, X[t : t + 1], y[t : t + 1], C))
        slots = slots_of(model)
        held.append([set(slots.born[e, : slots.filled[e]]) for e in range(len(kernels))])

    def gone(expert, t, costs, scale):
        nonlocal followed
        (slot,) = [i for i, row in enumerate(expert.rows) if row not in held[t][expert.number]]
        assert costs[slot] <= min(costs) + 1e-9 * scale
        followed += 1
        return slot

    def of_two(expert, t, loss, costs, scale):
        if t not in held[t][expert.number]:
            assert loss < 1e-9
            return None
        assert loss > -1e-9
        return gone(expert, t, costs, scale) if expert.full() else len(expert.rows)

    def of_many(expert, seen, costs, scale):
        return gone(expert, seen.t, costs, scale)

    if C == 2:
        step = partial(naive.bpas, aggressiveness=0.5, choose=of_two)
        experts = [rounds.Binary(i, kernel, X, step, 8) for i, kernel in enumerate(kernels)]
    else:
        step = partial(multiclass.bpas, aggressiveness=0.5, choose=of_many)
        experts = [
            rounds.Multi(multiclass.Expert(i, kernel, X, C, 8), C, step)
            for i, kernel in enumerate(kernels)
        ]
    uniform = regression.Uniform(len(kernels))
    expected = rounds.run(y, experts, uniform, "mistakes", seed=seed_of(SEED))
    # The twin takes the better coefficient by its objective: good to the root of the rounding.
    everyone = np.ones(len(y), dtype=bool)
    assert_same(model, np.concatenate(said), everyone, expected, X, y, C, 1e-7)
    assert followed > 20


@pytest.mark.parametrize(
    ("learner", "other"),
    [
        (kb.RBP(5), kb.RBP(7, tie="label")),
        (kb.BOGD(5), kb.BOGD(7, step=1, regularization=0)),
        (kb.SparsePA(budget=5), kb.SparsePA(2, divisor=3, unit_diagonal=True, budget=7)),
        (kb.Projectron(5), kb.Projectron(7, threshold=0.5)),
        (kb.Ahpatron(5), kb.Ahpatron(7, margin=1, radius=2)),
        (kb.Pegasos(5, upkeep="smallest"), kb.Pegasos(7, upkeep="smallest", regularization=0.1)),
        (kb.Pegasos(5, upkeep="merge"), kb.Pegasos(7, upkeep="merge", merging="printed")),
    ],
    ids=repr,
)
def test_other_parameters_compile_nothing_anew(learner, other):
    """Nor do other kernels, with which Pegasos projects what it merges of Gaussians."""
    X, y = hard_streams.gaussian_clouds(40)
    pool = [kb.Gaussian(sigma=1), kb.Linear()]
    plain.classifier(pool, learner).fit(X, y).predict(X)
    before = compiled()
    plain.classifier([kb.Linear(), kb.Gaussian(sigma=2)], other).fit(X, y).predict(X)
    assert compiled() == before


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-8, 1e-10, 3e-12, 0.0, -1e-9, -1e-5])
def test_phi_to_the_last_digits(eps):
    """s = 1 and mu = 1/2 + eps: the quadratic term of Psi all but vanishes."""
    slots = Slots(
        alpha=np.array([[1.0, eps - 0.5]]),
        diagonal=np.ones(2),
        born=np.array([0, 1]),
        place=np.zeros(2, int),
        filled=np.array([2]),
        gram=np.ones((2, 2)),
        factor=np.zeros((0, 0)),
        order=np.zeros(0, int),
        memory=np.array([0.3, 2.0, 0.0]),
        scale=np.ones(1),
        points=np.zeros((0, 0)),
        norms=np.zeros(0),
    )
    clock = Clock(seed=0, round=2, number=3)
    seen = Seen(1, 1.0, 1.0, -1.0, 1.0, 0, True, 1.0, False, clock, 0)
    found = tune_scale(slots, 0, seen, np.zeros(2), 1.0)
    mu = 1.0 + (eps - 0.5)
    np.testing.assert_allclose(found, naive.greatest_phi(1.0, mu, 15 / 32 * 2 - 0.3), rtol=1e-14)


@settings(max_examples=100, deadline=None)
@given(s=st.floats(1e-3, 10), mu=st.floats(-20, 20), room=st.floats(1e-3, 10))
def test_the_twins_phi_on_a_grid(s, mu, room):
    """By its definition: no grid point above phi is allowed, and phi is."""
    phi = naive.greatest_phi(s, mu, room)
    grid = np.linspace(0, 1, 20_001)[1:]
    allowed = grid[naive.damage(s, mu, grid) <= room - 1e-9 * (1 + room)]
    assert naive.damage(s, mu, phi) <= room * (1 + 1e-9) + 1e-9
    assert phi >= allowed.max(initial=0.0)
    forbidden = grid[(grid > phi + 1e-6) & (naive.damage(s, mu, grid) <= room - 1e-6)]
    assert not len(forbidden)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31 - 1))
def test_the_twins_bpas_coefficients_are_the_best(seed):
    """No coefficients near them, for any of the classes, have a lower objective."""
    rng = np.random.default_rng(seed)
    C, cap = int(rng.integers(2, 6)), rng.choice([0.05, 1.0, 20.0])
    alpha, difference = rng.normal(size=C), np.zeros(C)
    difference[:2] = rng.permutation([1.0, -1.0])
    points = rng.normal(size=(2, 3))
    kernel = naive_kernels.polynomial(2, 1.0)
    own, square = kernel(points[:1], points[0])[0], kernel(points[1:], points[1])[0]
    between, margin = kernel(points[:1], points[1])[0], 1 - rng.exponential()
    given_ = margin, difference, cap
    beta, least = multiclass.bpas_coefficients(alpha, own, between, square, *given_)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(30):
            other = beta + scale * rng.normal(size=C)
            moved = multiclass.bpas_objective(alpha, own, between, square, other, *given_)
            assert moved >= least * (1 - 1e-12)


UNDER_A_BUDGET = [
    *(kb.RBP(10), kb.Forgetron(10), kb.BOGD(10), kb.BPAS(10), kb.SparsePA(budget=10)),
    *(kb.Projectron(10), kb.ProjectronPlusPlus(10), kb.Ahpatron(10)),
    *(kb.Pegasos(10, upkeep=upkeep) for upkeep in ("random", "smallest", "project", "merge")),
]


@pytest.mark.parametrize(
    ("learner", "scale", "C"), pairwise(UNDER_A_BUDGET, [1e-6, 0.1, 1e6, 1e20], [2, 4]), ids=str
)
def test_kernels_of_any_size_and_sign(learner, scale, C):
    """k(x, x) up to 1e120, and a kernel that is no inner product: everything stays finite."""
    X, y = hard_streams.many_classes("duplicates", 300, C)
    pool = [kb.Linear(), kb.Polynomial(3), kb.Sigmoid(gamma=0.3 / scale**2, offset=-0.3)]
    model = plain.classifier([*pool, kb.Gaussian(gamma=1 / scale**2)], learner, random_state=SEED)
    model.fit(scale * X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.decision_function(scale * X)).all()
    assert (slots_of(model).scale > 0).all()


def test_sums_that_overflow_are_refused_and_nothing_is_learned():
    """Infinite terms would cancel to a score of 0, and the expert would vote on."""

    def huge(A, B):
        return np.full((len(A), len(B)), 1e308) * np.sign(A @ B.T)

    X, y = hard_streams.gaussian_clouds(300, 3, 0)
    model = plain.classifier([kb.Callable(huge), kb.Gaussian(sigma=1)], kb.BOGD(100, step=1.0))
    with pytest.raises(NonFiniteError, match="its sums overflowed"):
        model.learn(X, y)
    assert not hasattr(model, "classes_")
