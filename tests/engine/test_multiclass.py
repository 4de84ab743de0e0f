"""More than two classes, a score for each: the rules' own promises; and two as a special case."""

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import says, seed_of
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import sums_of, support_of
from naive import kernels as naive_kernels
from naive import multiclass as naive

import kernbrook as kb
from kernbrook.engine.blocks import slices
from kernbrook.engine.learning import Examples, learn_block
from kernbrook.engine.scalers import Scalers
from kernbrook.engine.stores.base import Setting
from kernbrook.estimators.confidence import Calibration
from kernbrook.estimators.pool import make_model, pool_of
from kernbrook.gram.rows import DenseRows

SEED = 5
B = 9
STREAMS = hard_streams.DRAWN | {"wdbc": hard_streams.wdbc}


GAUSSIANS = [kb.Gaussian(gamma=g) for g in (0.02, 0.1)]
OWN = [naive_kernels.gaussian(g) for g in (0.02, 0.1)]


# -- the twins' own promises --------------------------------------------------------------------


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
    beta, least = naive.bpas_coefficients(alpha, own, between, square, *given_)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(30):
            other = beta + scale * rng.normal(size=C)
            moved = naive.bpas_objective(alpha, own, between, square, other, *given_)
            assert moved >= least * (1 - 1e-12)


@pytest.mark.parametrize(("kernel", "own"), list(zip(GAUSSIANS, OWN, strict=True)))
def test_pa_meets_the_margin(kernel, own):
    """After an update the label is 1 ahead of its rival, and the others are where they were."""
    X, y = hard_streams.of_scikit_learn("wine", 60)
    model = plain.classifier([kernel], kb.PassiveAggressive("PA"), kb.Hedge(loss="hinge"))
    model.learn(X[:1], y[:1], np.arange(3))
    met = 0
    for x, label in zip(X[1:, None], y[1:], strict=True):
        before = model.decision_function(x)[0]
        rival = max((c for c in range(3) if c != label), key=lambda c: before[c])
        (other,) = {0, 1, 2} - {label, rival}
        model.learn(x, [label])
        after = model.decision_function(x)[0]
        if before[label] - before[rival] < 1 - 1e-9:
            assert after[label] - after[rival] == pytest.approx(1, abs=1e-9)
            assert after[other] == before[other]
            step = (1 - before[label] + before[rival]) / (2 * own(x, x[0])[0])
            assert model.dual_coef_[-1, 0, label] == pytest.approx(step, rel=1e-9)
            met += 1
        else:
            np.testing.assert_array_equal(after, before)
    assert met > 10


def test_margins_and_ties():
    """Which class is predicted, which is the best other one, and what is a mistake."""
    terms = np.array([[0.1, 0.3, 0.0], [0.2, 0.0, 0.3]])
    assert 0.1 + 0.2 > 0.3  # equal but for rounding
    for y, r, wrong in ((0, 1, False), (1, 0, True), (2, 0, True)):
        _, _, seen = naive.see(terms, y, range(3))
        assert (seen.r, seen.margin, seen.wrong) == (r, 0.0, wrong)
        assert seen.errs("margin")
        assert seen.errs("label") == wrong


# -- two classes as two scores ------------------------------------------------------------------

# name -> (of one score, the same for two scores, coefficients of the first over the second's)
PAIRS = {
    "perceptron": (kb.Perceptron(), kb.Perceptron(), 1.0),
    "perceptron, label": (kb.Perceptron("label"), kb.Perceptron("label"), 1.0),
    "PA": (kb.PassiveAggressive("PA"), kb.PassiveAggressive("PA"), 2.0),
    "PA-I": (kb.PassiveAggressive("PA-I", 0.5), kb.PassiveAggressive("PA-I", 0.25), 2.0),
    "PA-II": (kb.PassiveAggressive("PA-II", 0.5), kb.PassiveAggressive("PA-II", 0.25), 2.0),
    "spa": (kb.SparsePA(0.5, divisor=1.5), kb.SparsePA(0.25, divisor=1.5), 2.0),
    "spa, budget": (
        *(kb.SparsePA(0.5, divisor=1.5, budget=B), kb.SparsePA(0.25, divisor=1.5, budget=B), 2.0),
    ),
    "rbp": (kb.RBP(B), kb.RBP(B), 1.0),
    "rbp, label": (kb.RBP(B, "label"), kb.RBP(B, "label"), 1.0),
    "forgetron": (kb.Forgetron(B), kb.Forgetron(B), 1.0),
    "bogd": (kb.BOGD(B, 0.5, 0.0), kb.BOGD(B, 0.25, 0.0), 2.0),
    "bpas": (kb.BPAS(B, 0.5), kb.BPAS(B, 0.25), 2.0),
    "projectron": (kb.Projectron(B), kb.Projectron(B), 1.0),
    "pegasos": (kb.Pegasos(), kb.Pegasos(), 1.0),
    **{
        f"pegasos, {upkeep}": (kb.Pegasos(B, upkeep=upkeep), kb.Pegasos(B, upkeep=upkeep), 1.0)
        for upkeep in ("random", "smallest", "project", "merge")
    },
}


def run_of(X, y, scores, kernels, *choices):
    """Decisions and the run; class 0 wins ties of two scores, so it is the positive one there."""
    setting = Setting(X.shape[1], sparse=False, scores=scores, seed=seed_of(SEED))
    learner, combiner, selection = choices
    pool = pool_of(kernels, learner, combiner, False, X.shape[1], None)
    run = make_model(pool, combiner, selection, "all", setting)
    labels = (y > 0).astype(np.int64)
    labels = labels if scores == 1 else 1 - labels
    run.scaler, run.calibration = Scalers([None], X.shape[1]), Calibration(scores, run.inputs)
    rows, ones, decisions = DenseRows.of(X), np.ones(len(y)), []
    for where in slices(len(y), run.block_rows):
        own = rows.part(where.start, where.stop)
        told = Examples(own, X[where], labels[where], ones[where], False, {})
        decisions.append(learn_block(run, told).decisions)
    return np.concatenate(decisions), run


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "stream", "selection"),
    pairwise(PAIRS, ["gaussian_clouds", "binary_features", "wdbc"], ["all", "drawn"]),
)
def test_two_classes_as_two_scores(name, stream, selection):
    """The same decisions and support vectors; f of one score is f^(1) - f^(0), or f^(1)."""
    X, y = STREAMS[stream](200)
    X = hard_streams.scaled(X)
    pool = [kb.Gaussian(gamma=g / X.shape[1]) for g in (0.5, 2)]
    pool += [] if name == "pegasos, merge" else [kb.Linear()]
    one, two, factor = PAIRS[name]
    hedge, selected = kb.Hedge(0.9), kb.Selection(update=selection, vote=selection, smoothing=0.1)
    single, first = run_of(X, y, 1, pool, one, hedge, selected)
    double, second = run_of(X, y, 2, pool, two, hedge, selected)
    np.testing.assert_array_equal(single[:, 0] >= 0, double.argmax(axis=1) == 0)
    (points, ours), (others, alphas) = first.expansion(), second.expansion()
    np.testing.assert_array_equal(points, others)
    np.testing.assert_array_equal(alphas[:, :, 0], -alphas[:, :, 1])
    np.testing.assert_allclose(ours[:, :, 0], factor * alphas[:, :, 0], rtol=1e-9)
    np.testing.assert_allclose(first.weights(), second.weights(), rtol=1e-12)
    np.testing.assert_array_equal(first.progress.losses, second.progress.losses)


# -- blocks of the engine's own size -----------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    "learner", [kb.Perceptron(), kb.PassiveAggressive(), kb.RBP(B), kb.Projectron(B)], ids=repr
)
def test_more_than_a_block(learner, monkeypatch):
    """They end within the chunks and at their ends; one thread and two."""
    X, y = hard_streams.real("letter", 1100)
    y, selection = y.astype(int) - 1, kb.Selection("drawn", "drawn", smoothing=0.05)
    wanted = None
    for threads, form, size in (
        *((1, X, 1100), (2, X.toarray(), 1100), (2, X, 129), (1, X.toarray(), 512)),
    ):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        model = plain.classifier("omkc16", learner, None, selection, random_state=SEED)
        found = [says(model, form, y, 26, size), model.decision_function(form)]
        found = [array.tobytes() for array in (*found, model.dual_coef_, model.kernel_weights_)]
        wanted = wanted or found
        assert found == wanted, (threads, size, type(form))
    if learner.__class__ in (kb.Perceptron, kb.PassiveAggressive):
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert sums_of(model).threads(support_of(model).n * 512) == 2
