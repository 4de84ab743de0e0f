"""Pegasos and its budgets against the naive twin; the norm, blocks, files, pools of kernels."""

from functools import cache, partial

import hard_streams
import numpy as np
import plain
import pytest
from driving import seed_of
from every_learner import of_pegasos
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inside import expert_slots, slots_of
from naive import combiners, pegasos, regression, rounds
from naive import kernels as naive_kernels
from twins import assert_equals_its_twin, assert_same

import kernbrook as kb
from kernbrook.errors import ModelFileError
from kernbrook.learners.pegasos import TINY

SEED = 5
# name -> (parameters of the learner beside its budget, the twin's upkeep)
UPKEEPS = {
    "random": ({"upkeep": "random"}, pegasos.remove_random),
    "smallest": ({"upkeep": "smallest"}, pegasos.remove_smallest),
    "project": ({"upkeep": "project"}, pegasos.project),
    "merge": ({"upkeep": "merge"}, pegasos.merge),
    "merge, printed": (
        {"upkeep": "merge", "merging": "printed"},
        partial(pegasos.merge, search=pegasos.printed_merge),
    ),
}
ALL = {"free": ({}, None)} | UPKEEPS


def learner_of(upkeep, budget, **more):
    """And its twin."""
    (given, own), budget = ALL[upkeep], None if upkeep == "free" else budget
    more = {"regularization": 1e-4, **more}
    return kb.Pegasos(budget, **given, **more), of_pegasos(own, budget, **more)


def make(upkeep, budget, gamma, **more):
    learner, _ = learner_of(upkeep, budget, **more)
    return plain.classifier([kb.Gaussian(gamma=gamma)], learner, random_state=SEED)


def held(model, e=0):
    """Points, (n, C) coefficients and rounds of arrival of an expert's slots."""
    slots, points = expert_slots(model, e)
    n = slots.filled[0]
    alphas = (slots.scale[0] * slots.alpha[:, :n]).T
    if alphas.shape[1] == 1:  # half the margin: the score of class 1
        alphas = np.hstack([-alphas, alphas])
    return points[slots.place[:n]], alphas, slots.born[:n]


@settings(max_examples=60, deadline=None)
@given(
    upkeep=st.sampled_from(list(ALL)),
    C=st.integers(2, 6),
    budget=st.integers(1, 12),
    regularization=st.sampled_from([1e-6, 1e-4, 1e-2, 1.0, 30.0]),
    ball=st.booleans(),
    n=st.integers(1, 80),
    size=st.integers(1, 80),
    seed=st.integers(0, 2**31 - 1),
)
@example("merge, printed", 5, 1, 1e-6, False, 4, 1, 1)
def test_random_streams(upkeep, C, budget, regularization, ball, n, size, seed):
    """Sample weights, 0 among them, and labels at random."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(C, size=n)
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    importance[::size] = 1.0
    pair = learner_of(upkeep, budget, regularization=regularization, ball=ball)
    assert_equals_its_twin(
        *pair, X, y, C, kb.Uniform(), regression.Uniform, importance=importance, size=size,
        seed=seed, kernels=([kb.Gaussian(gamma=0.4)], [naive_kernels.gaussian(0.4)]), rtol=1e-7,
    )  # fmt: skip


# -- what is kept beside the coefficients -------------------------------------------------------


def squared_norm(model, kernel, e=0):
    points, alphas, _ = held(model, e)
    return pegasos.squared_norm(kernel, points, alphas)


@cache
def many():
    X, y = hard_streams.real("letter", 3000)
    return hard_streams.scaled(X.toarray()), y.astype(int) - 1


@pytest.mark.data
@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_an_error_in_the_norm_does_not_last(upkeep):
    """It is gone when the norm is summed afresh, at the latest 1024 learned examples on."""
    X, y = many()
    kernel = naive_kernels.gaussian(0.25)
    model = make(upkeep, 25, 0.25, regularization=1e-2)
    model.learn(X[:500], y[:500], np.arange(26))
    slots_of(model).memory[0, 1] *= 0.9
    wrong = squared_norm(model, kernel)
    assert abs(slots_of(model).memory[0, 1] / wrong - 1) > 0.05
    model.learn(X[500:1700], y[500:1700])
    tracked = slots_of(model).memory[0, 1]
    assert tracked == pytest.approx(squared_norm(model, kernel), rel=1e-9)
    assert tracked <= 1e2 * (1 + 1e-12)  # 1 / regularization


@pytest.mark.parametrize(("upkeep", "C"), [(name, (2, 4)[i % 2]) for i, name in enumerate(ALL)])
def test_the_scale_never_underflows(upkeep, C):
    """It moves into the coefficients, and grows, each time it gets below TINY."""
    X, y = hard_streams.many_classes("gaussian_clouds", 120, C)
    model = make(upkeep, 9, 0.3)
    scales, said = [1.0], []
    for t in range(len(y)):
        part = slice(t, t + 1)
        said.append(model.learn(X[part], y[part], np.arange(C))[0])
        if t % 30 == 9:  # the same model, of a scale that is nearly TINY
            slots = slots_of(model)
            factor = 1.001 * TINY / slots.scale[0]
            slots.scale[0] *= factor
            slots.alpha[0] /= factor
        scales.append(slots_of(model).scale[0])
    assert min(scales) < 1.01 * TINY
    assert np.count_nonzero(np.diff(scales) > 0) >= 3
    experts = [learner_of(upkeep, 9)[1](0, naive_kernels.gaussian(0.3), X, C)]
    expected = rounds.run(y, experts, combiners.FixedShare(1), "mistakes", seed=seed_of(SEED))
    assert_same(model, np.concatenate(said), expected.asked, expected, X, y, C, 1e-7)


@pytest.mark.parametrize(("upkeep", "more"), [("merge", 99), ("smallest", -99), ("free", 999)])
def test_a_file_that_points_outside(upkeep, more, tmp_path):
    """Compiled code indexes by these: a file that lies about them is not loaded."""
    X, y = hard_streams.many_classes("gaussian_clouds", 100, 4)
    model = make(upkeep, 9, 0.3).fit(X, y)
    slots_of(model).place[:] += more
    kb.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"stores\.0\.place"):
        kb.load(tmp_path / "model")


def test_a_zero_vector_adds_nothing():
    for upkeep in ALL:
        model = plain.classifier([kb.Linear()], learner_of(upkeep, 5)[0])
        model.fit(np.zeros((6, 3)), [0, 1, 2, 1, 1, 0])
        assert slots_of(model).filled[0] == 0
        assert slots_of(model).memory[0, 0] == 6
