"""The classifier with more than two classes: what it shows, saves, refuses and promises."""

import hard_streams
import numpy as np
import plain
import pytest

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError

X, Y = hard_streams.of_scikit_learn("digits", 200)
POOL = [kb.Linear(), kb.Gaussian(gamma=0.01), kb.Polynomial(2, 1.0), kb.Cauchy(gamma=0.05)]
GAUSSIANS = [kb.Gaussian(gamma=0.01), kb.Gaussian(gamma=0.05)]
DRAWN = kb.Selection(update="drawn", vote="drawn", smoothing=0.1)
HINGE = kb.Hedge(loss="hinge", cap=10)
MODELS = {
    "default": lambda: plain.classifier(POOL),
    "perceptron, drawn": lambda: plain.classifier(POOL, selection=DRAWN, random_state=3),
    "PA": lambda: plain.classifier(POOL, kb.PassiveAggressive(), HINGE),
    "SPA": lambda: plain.classifier(POOL, kb.SparsePA(), HINGE, DRAWN, random_state=3),
    "MLPoly": lambda: plain.classifier(POOL, combiner=kb.MLPoly()),
    "GroupNorm": lambda: plain.classifier(POOL, combiner=kb.GroupNorm()),
    "prefix": lambda: plain.classifier(POOL, selection=kb.BestOfPrefix(rounds=60)),
    "RBP": lambda: plain.classifier(POOL, kb.RBP(15), random_state=3),
    "Forgetron": lambda: plain.classifier(POOL, kb.Forgetron(15), selection=DRAWN),
    "BPAS": lambda: plain.classifier(POOL, kb.BPAS(15), HINGE),
    "projectron++": lambda: plain.classifier(POOL, kb.ProjectronPlusPlus(15)),
    "ahpatron": lambda: plain.classifier(POOL, kb.Ahpatron(15), HINGE),
    "pegasos": lambda: plain.classifier(POOL, kb.Pegasos(), HINGE),
    "pegasos, random": lambda: plain.classifier(
        POOL, kb.Pegasos(15, upkeep="random"), selection=DRAWN, random_state=3
    ),
    "pegasos, project": lambda: plain.classifier(POOL, kb.Pegasos(15, upkeep="project")),
    "pegasos, merge": lambda: plain.classifier(GAUSSIANS, kb.Pegasos(15), HINGE),
    "pegasos, mixed": lambda: plain.classifier(POOL, kb.Pegasos(15), selection=DRAWN),
}
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])


@pytest.mark.parametrize("name", MODELS)
def test_shapes(name):
    """One vote a class; the greatest is predicted, and decides as its kernels say."""
    model = MODELS[name]().fit(X, Y)
    decisions = model.decision_function(X[:30])
    assert decisions.shape == (30, 10)
    np.testing.assert_array_equal(model.predict(X[:30]), decisions.argmax(axis=1))
    assert model.decision_function(X[:1]).shape == (1, 10)
    n, m, C = model.dual_coef_.shape
    assert (n, C) == (len(model.support_vectors_), 10)
    assert m == (1 if name == "GroupNorm" else len(model.kernels_))
    assert model.kernel_weights_.shape == model.expert_mistakes_.shape == (len(model.kernels_),)
    assert model.kernel_weights_.sum() == pytest.approx(1)
    # A step is added to one class and taken from another.
    sizes = np.abs(model.dual_coef_).sum(axis=(0, 2))
    assert (np.abs(model.dual_coef_.sum(axis=2)) <= 1e-9 * sizes.max()).all()
    held = np.count_nonzero(model.dual_coef_.any(axis=2), axis=0)
    assert model.n_support_stored_ == held.sum()
    scores = np.array(
        [
            kernel(X[:30], model.support_vectors_) @ model.dual_coef_[:, i % m]
            for i, kernel in enumerate(model.kernels_)
        ]
    )
    if name in ("PA", "BPAS", "ahpatron", "pegasos", "pegasos, merge"):
        np.testing.assert_allclose(
            decisions, np.tensordot(model.kernel_weights_, scores, 1), rtol=1e-7, atol=1e-7
        )
    elif name in ("RBP", "default", "MLPoly", "projectron++"):
        votes = np.eye(10)[scores.argmax(axis=2)]
        expected = np.tensordot(model.kernel_weights_, votes, 1)
        np.testing.assert_allclose(decisions, expected, atol=1e-9)


def test_a_file_of_another_number_of_classes(tmp_path):
    """Arrays for ten classes under the names of nine are refused."""
    for name in ("default", "pegasos, merge", "GroupNorm"):
        model = MODELS[name]().fit(X, Y)
        model.classes_ = model.classes_[:9]
        path = tmp_path / "model"
        with pytest.raises((InputError, ModelFileError), match=r"expected|parameters were changed"):
            kb.load(kb.save(model, path) or path)


def test_classes_that_have_not_come_yet():
    """Named beforehand they are predicted by nobody until they come; the first wins ties."""
    model = plain.classifier(POOL, kb.Perceptron())
    said, _ = model.learn(X[:1], NAMES[Y[:1]], classes=NAMES)
    assert said[0] == min(NAMES)
    few = np.isin(Y, (3, 5))
    model.learn(X[few], NAMES[Y[few]])
    assert set(model.predict(X[few])) <= {"three", "five"}
    assert model.decision_function(X).shape == (200, 10)


def test_choosing_a_kernel_beforehand():
    """The one with the fewest mistakes on the prefix, then from scratch and alone."""
    model = plain.classifier(POOL, selection=kb.BestOfPrefix())
    trial = plain.classifier(POOL, combiner=kb.Uniform())
    trial.learn(X[:60], Y[:60], np.arange(10))
    best = model.choose_kernel(X[:60], Y[:60], np.arange(10))
    assert best == trial.expert_mistakes_.argmin()
    alone = plain.classifier([POOL[best]])
    np.testing.assert_array_equal(model.learn(X, Y)[0], alone.learn(X, Y)[0])
    np.testing.assert_array_equal(model.dual_coef_[:, best], alone.dual_coef_[:, 0])
    assert model.n_support_stored_ == alone.n_support_stored_


def test_a_weight_scales_the_step():
    """Over the mean weight: 1.5 over 1.25."""
    for learner, unit in ((kb.Perceptron(), 1.0), (kb.RBP(50), 1.0), (kb.BOGD(50, 0.1, 0.0), 0.1)):
        model = plain.classifier([kb.Gaussian(gamma=0.01)], learner)
        model.learn(X[:2], [3, 5], np.arange(10), sample_weight=[1.0, 1.5])
        expected = np.zeros(10)
        expected[5], expected[3] = 1.2 * unit, -1.2 * unit
        np.testing.assert_allclose(model.dual_coef_[1, 0], expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["default", "GroupNorm", "pegasos, merge"])
def test_it_learns(name):
    """Digits, each predicted before it is learned from: most of the second half are right."""
    A, y = hard_streams.of_scikit_learn("digits", 1500)
    model = MODELS[name]()
    if name == "pegasos, merge":
        model.set_params(learner__budget=100)
    said, _ = model.learn(A, y)
    assert (said != y)[750:].mean() < 0.15
    assert (model.predict(A) == y).mean() > 0.9
