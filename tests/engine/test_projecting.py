"""Projectron, Projectron++ and Ahpatron: every step on hard streams, and what their slots keep."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
from driving import SIGNS, says
from every_learner import LEARNERS as EVERY
from inside import slots_of
from naive import budget, combiners, projecting
from naive import kernels as naive_kernels
from naive.omkc import zero_or
from twins import assert_equals_its_twin

import kernbrook as kb

GAMMAS = (0.05, 0.2, 0.5, 2.0)
SEED = 5
BOLD = {"margin": 0.9, "radius": 2.0, "ridge": 0.05}
# name -> (the learner with a budget, its naive step)
LEARNERS = {
    "projectron": (kb.Projectron, projecting.projectron),
    "projectron, label": (
        lambda B: kb.Projectron(B, threshold=0.6, tie="label"),
        partial(projecting.projectron, threshold=0.6, tie="label"),
    ),
    "projectron++": (
        kb.ProjectronPlusPlus,
        partial(projecting.projectron, margin_errors=True),
    ),
    "ahpatron": (kb.Ahpatron, projecting.ahpatron),
    "ahpatron, bold": (lambda B: kb.Ahpatron(B, **BOLD), partial(projecting.ahpatron, **BOLD)),
}
PLAIN = ("projectron", "projectron++", "ahpatron")
SOME = slice(1, None, 3)  # of omkc16: a polynomial, Gaussians from narrow to wide
STREAMS = hard_streams.DRAWN | {"wdbc": hard_streams.wdbc}


def make(learner, size, kernels="omkc16"):
    return plain.classifier(kernels, LEARNERS[learner][0](size), kb.Hedge(0.9), random_state=SEED)


def held(model, e):
    """{round of arrival: coefficient} of an expert's slots."""
    slots = slots_of(model)
    n = slots.filled[e]
    return dict(zip(slots.born[e, :n].tolist(), slots.alpha[e, 0, :n].tolist(), strict=True))


@pytest.mark.thinned
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("stream", STREAMS)
def test_every_step_of_hard_streams(stream, learner):
    """From what the model held before a round, the twin comes to what it holds after it.

    Where rounding decides on which side of 0 or of a margin the score is, either will do.
    """
    X, y = STREAMS[stream]()
    n = 110 if stream == "one_class_prefix" else 70  # the other class comes late
    X, y = X[:n], y[:n]
    twins = naive_kernels.omkc16()[SOME]
    model, size, steps = make(learner, 10, kernels=kb.kernels.resolve("omkc16")[SOME]), 10, 0
    step = LEARNERS[learner][1]
    before = [{}] * len(twins)
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], [-1, 1])
        for e, kernel in enumerate(twins):
            after = held(model, e)
            terms = expert_of(e, kernel, X, size, before[e]).terms(t)
            score, slack = zero_or(terms), 1e-9 * np.abs(terms).sum()
            near = 0.0 if abs(score) <= slack else score
            apart = []
            for f in (near, score, score - slack, score + slack):
                trial = expert_of(e, kernel, X, size, before[e])
                step(trial, t, f, y[t], 1.0, SEED)
                if trial.rows == list(after):
                    apart.append(distance(trial, after, before[e]))
                    if apart[-1] <= 1e-8:
                        break
            assert apart, (t, e)
            assert min(apart) <= 1e-8, (t, e, apart)
            steps += after != before[e]
            before[e] = after
    assert steps > 8 * len(twins)


def expert_of(number, kernel, X, size, alphas):
    expert = budget.Expert(number, kernel, X, size)
    expert.rows, expert.alphas = list(alphas), list(alphas.values())
    return expert


def distance(expert, alphas, before):
    """|f - g| over the norms of the terms held and held before: f an expert's, g of `alphas`."""
    if not alphas:
        return 0.0
    ours, theirs = np.array(expert.alphas), np.array(list(alphas.values()))
    steps = np.abs(ours) + [abs(before.get(row, 0.0)) for row in expert.rows]
    K = projecting.gram(expert, expert.rows, expert.rows)
    sizes = np.sqrt(np.diag(K))
    if not steps @ sizes > 0:
        return np.abs(theirs).max(initial=0.0)
    apart = (ours - theirs) * sizes / (steps @ sizes)
    return np.sqrt(max(apart @ (K / np.outer(sizes, sizes)) @ apart, 0.0))


@pytest.mark.parametrize("learner", PLAIN)
def test_what_is_kept_of_the_slots(learner):
    """The Gram matrix, its diagonal, the norm and the factor are those of the points held."""
    X, y = hard_streams.gaussian_clouds(300)
    model = make(learner, 15)
    says(model, X, y, SIGNS, 70)
    slots = slots_of(model)
    for e, kernel in enumerate(naive_kernels.omkc16()):
        n = slots.filled[e]
        expert = expert_of(e, kernel, X, 15, held(model, e))
        K = projecting.gram(expert, expert.rows, expert.rows)
        np.testing.assert_allclose(slots.diagonal[e, :n], np.diag(K), rtol=1e-9)
        scale = np.sqrt(np.outer(np.diag(K), np.diag(K)))
        if learner == "ahpatron":
            np.testing.assert_allclose(slots.gram[e, :n, :n] / scale, K / scale, atol=1e-12)
            norm = projecting.squared_norm(expert)
            np.testing.assert_allclose(slots.memory[e, 0], norm, rtol=1e-7)
        else:
            R = np.triu(slots.factor[e, :n, :n])
            np.fill_diagonal(R, 1 / np.diag(R))
            np.testing.assert_allclose(R.T @ R / scale, K / scale, atol=1e-12)


@pytest.mark.parametrize("stream", ["duplicates", "near_duplicates"])
def test_threshold_0_adds_no_point_twice(stream):
    """Whatever is left of a distance by rounding: 25 points, and what is 1e-9 from them."""
    X, y = STREAMS[stream]()
    model = plain.classifier([kb.Gaussian(gamma=0.5)], kb.Projectron(60, threshold=0))
    model.fit(X, y)
    assert 20 < slots_of(model).filled[0] <= 25
    assert np.abs(model.dual_coef_).max() < 300


@pytest.mark.parametrize("seed", range(6))
def test_what_is_taken_back_is_gone(seed):
    """Two points added, each taken back by its projection: 0 is left, and not its rounding."""
    rows = np.random.default_rng(seed).normal(size=(2, 3))
    pool = [kb.Gaussian(gamma=g) for g in GAMMAS] + [kb.Cauchy(gamma=g) for g in GAMMAS]
    model = plain.classifier(pool, kb.Projectron(5, threshold=0))
    model.learn(rows, [1, -1], [-1, 1])
    assert np.array_equal(np.abs(model.dual_coef_), np.ones((2, 8)))
    model.learn(rows, [-1, 1])
    assert not model.dual_coef_.any()


@pytest.mark.parametrize("scale", [0.01, 0.003])
@pytest.mark.parametrize("learner", PLAIN)
def test_features_of_small_size(learner, scale):
    """What counts as dependent is said beside k(x, x), which is small where features are."""
    X, y = hard_streams.gaussian_clouds(140)
    X[50:140:3] = X[:30] + 1e-3 * X[30:60]  # near those before
    kernels = [kb.Linear(), kb.Polynomial(2)], [naive_kernels.linear(), naive_kernels.polynomial(2)]
    assert_equals_its_twin(
        *EVERY[learner], scale * X, (y > 0).astype(int), 2, kb.Hedge(0.9),
        lambda m: combiners.Hedge(m, 0.9), kernels=kernels, rtol=1e-6,
    )  # fmt: skip
