"""Pegasos and its budgets against the naive twin; the norm, blocks, files, pools of kernels."""

from functools import cache, partial

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import says, seed_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inside import expert_slots, slots_of, threads_of
from naive import kernels as naive_kernels
from naive import pegasos

import kernbrook as kb
from kernbrook.errors import ModelFileError
from kernbrook.learners.pegasos import AFRESH, TINY

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


def learner_of(upkeep, budget, **settings_):
    return kb.Pegasos(None if upkeep == "free" else budget, **ALL[upkeep][0], **settings_)


def make(upkeep, budget, gamma, seed=SEED, **settings_):
    kernels = [kb.Gaussian(gamma=gamma)]
    return plain.classifier(kernels, learner_of(upkeep, budget, **settings_), random_state=seed)


def twin(X, y, C, upkeep, budget, gamma, seed=SEED, importance=None, **settings_):
    """The twin; of two classes kernbrook lets the second win ties."""
    order = [1, 0] if C == 2 else range(C)
    return pegasos.run(
        X, y, naive_kernels.gaussian(gamma), C, ALL[upkeep][1], budget, seed=seed_of(seed),
        importance=importance, order=order, **settings_,
    )  # fmt: skip


def held(model, e=0):
    """Points, (n, C) coefficients and rounds of arrival of an expert's slots."""
    slots, points = expert_slots(model, e)
    n = slots.filled[0]
    alphas = (slots.scale[0] * slots.alpha[:, :n]).T
    if alphas.shape[1] == 1:  # half the margin: the score of class 1
        alphas = np.hstack([-alphas, alphas])
    return points[slots.place[:n]], alphas, slots.born[:n]


def assert_expansion(model, e, points, alphas, births, rtol=1e-8):
    """By age, coefficients beside the largest, points beside the longest."""
    mine, ours = held(model, e), (points, alphas, births)
    first, second = (np.argsort(each[2], kind="stable") for each in (mine, ours))
    np.testing.assert_array_equal(mine[2][first], births[second])
    for found, wanted in ((mine[0][first], points[second]), (mine[1][first], alphas[second])):
        np.testing.assert_allclose(
            found, wanted, rtol=0, atol=rtol * np.abs(wanted).max(initial=1e-300)
        )


def assert_same(model, predictions, expected, ball=True, rtol=1e-8):
    np.testing.assert_array_equal(predictions, expected.predictions)
    assert_expansion(model, 0, expected.points, expected.alphas, expected.births, rtol)
    if ball:
        norm = np.sqrt(slots_of(model).memory[0, 1])
        assert norm == pytest.approx(expected.norms[-1], rel=max(rtol, 1e-8))


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
    chosen = {"seed": seed, "regularization": regularization, "ball": ball}
    expected = twin(X, y, C, upkeep, budget, 0.4, importance=importance, **chosen)
    model = make(upkeep, budget, 0.4, **chosen)
    said = says(model, X, y, C, size, importance)
    np.testing.assert_array_equal(said, expected.predictions)
    assert_expansion(model, 0, expected.points, expected.alphas, expected.births, 1e-7)


# -- what is kept beside the coefficients -------------------------------------------------------


def squared_norm(model, kernel, e=0):
    points, alphas, _ = held(model, e)
    return pegasos.squared_norm(kernel, points, alphas)


@cache
def many():
    X, y = hard_streams.real("letter", 3000)
    return hard_streams.scaled(X.toarray()), y.astype(int) - 1


@pytest.mark.data
@pytest.mark.parametrize(("upkeep", "C"), [(name, (2, 7)[i % 2]) for i, name in enumerate(ALL)])
def test_the_norm_is_that_of_the_expansion(upkeep, C):
    """Tracked, and summed afresh, over more than 1024 learned examples."""
    X, _ = many()
    y, kernel = hard_streams.classes_of(X, C), naive_kernels.gaussian(0.25)
    model = make(upkeep, 25, 0.25)
    learned, before = 0, 0
    for start in range(0, 3000, 375):
        model.learn(X[start : start + 375], y[start : start + 375], np.arange(C))
        _, tracked, now = slots_of(model).memory[0]
        assert tracked == pytest.approx(squared_norm(model, kernel), rel=1e-9)
        assert tracked <= 1e4 * (1 + 1e-12)
        learned += now - before if now > before else now - before + AFRESH
        before = now
    assert learned > AFRESH
    assert (before == learned) == (upkeep == "free")


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


@pytest.mark.data
@pytest.mark.parametrize(("upkeep", "C"), [(name, (2, 7)[i % 2]) for i, name in enumerate(UPKEEPS)])
def test_what_is_kept_of_the_slots(upkeep, C):
    """The Gram matrix, its factor, diagonal and norms are those of the points held."""
    X, y = many()
    y, kernel = y % C, naive_kernels.gaussian(0.05)
    model = make(upkeep, 25, 0.05)
    model.learn(X[:1500], y[:1500], np.arange(C))
    slots, (points, _, births) = slots_of(model), held(model)
    n = len(points)
    assert n == 25 == len(set(births))
    K = pegasos.gram(kernel, points, points)
    np.testing.assert_allclose(slots.gram[0, :n, :n], K, atol=1e-12)
    np.testing.assert_allclose(slots.diagonal[0, :n], 1.0, rtol=1e-15)
    if upkeep == "project":
        R, order = np.triu(slots.factor[0, :n, :n]), slots.order[0, :n]
        np.fill_diagonal(R, 1 / np.diag(R))
        np.testing.assert_allclose(R.T @ R, K[np.ix_(order, order)], atol=1e-12)
    if upkeep.startswith("merge"):
        norms = (points**2).sum(axis=1)
        np.testing.assert_allclose(slots.norms[0, :n], norms, rtol=1e-12)
    else:
        rows = {tuple(row) for row in X[:1500]}
        assert {tuple(row) for row in points} <= rows


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
    expected = twin(X, y, C, upkeep, 9, 0.3)
    assert_same(model, np.concatenate(said), expected, rtol=1e-7)


def state(model, predictions, X):
    parts = [predictions, model.support_vectors_, model.dual_coef_, model.expert_mistakes_]
    parts += [model.kernel_weights_, model.decision_function(X), slots_of(model).memory]
    return [array.tobytes() for array in parts]


@pytest.mark.data
@pytest.mark.parametrize("upkeep", ["merge", "project"])
def test_blocks_of_a_longer_stream(upkeep, monkeypatch):
    """Enough slots for threads; blocks end within the chunks, and merged points meet later ones."""
    X, y = hard_streams.real("covtype", 400)
    X, y = hard_streams.scaled(X.toarray()), y.astype(int) - 1
    selection = kb.Selection(update="drawn", vote="drawn", smoothing=0.1)
    wanted = None
    for threads, size in ((1, 400), (2, 400), (2, 256), (2, 37), (1, 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        model = plain.classifier(
            "omkc16", learner_of(upkeep, 60), selection=selection, random_state=SEED
        )
        found = state(model, says(model, X, y, 7, size), X[:100])
        wanted = wanted or found
        assert found == wanted, (threads, size)
        assert threads_of(model, 128) == threads


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
        model = plain.classifier([kb.Linear()], learner_of(upkeep, 5))
        model.fit(np.zeros((6, 3)), [0, 1, 2, 1, 1, 0])
        assert slots_of(model).filled[0] == 0
        assert slots_of(model).memory[0, 0] == 6


@pytest.mark.parametrize(("upkeep", "scale"), pairwise(UPKEEPS, [1e-6, 1e20]))
def test_kernels_of_any_size(upkeep, scale):
    """k(x, x) up to 1e120, far beyond what the step is meant for: everything stays finite."""
    X, y = hard_streams.many_classes("duplicates", 300, 4)
    pool = [kb.Linear(), kb.Polynomial(3), kb.Gaussian(gamma=1 / scale**2)]
    model = plain.classifier(pool, learner_of(upkeep, 10)).fit(scale * X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.decision_function(scale * X)).all()
    assert (slots_of(model).scale > 0).all()
