"""The classifier with more than two classes: what it shows, saves, refuses and promises."""

import hard_streams
import numpy as np
import plain
import pytest

import kernbrook as kb

X, Y = hard_streams.of_scikit_learn("digits", 200)
POOL = [kb.Linear(), kb.Gaussian(gamma=0.01), kb.Polynomial(2, 1.0), kb.Cauchy(gamma=0.05)]
GAUSSIANS = [kb.Gaussian(gamma=0.01), kb.Gaussian(gamma=0.05)]
DRAWN = kb.Selection(update="drawn", vote="drawn", smoothing=0.1)
HINGE = kb.Hedge(loss="hinge", cap=10)
MODELS = {
    "default": lambda: plain.classifier(POOL),
    "perceptron, drawn": lambda: plain.classifier(POOL, selection=DRAWN, random_state=3),
    "SPA": lambda: plain.classifier(POOL, kb.SparsePA(), HINGE, DRAWN, random_state=3),
    "GroupNorm": lambda: plain.classifier(POOL, combiner=kb.GroupNorm()),
    "prefix": lambda: plain.classifier(POOL, selection=kb.BestOfPrefix(rounds=60)),
    "BPAS": lambda: plain.classifier(POOL, kb.BPAS(15), HINGE),
    "projectron++": lambda: plain.classifier(POOL, kb.ProjectronPlusPlus(15)),
    "pegasos, merge": lambda: plain.classifier(GAUSSIANS, kb.Pegasos(15), HINGE),
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
    if name in ("BPAS", "pegasos, merge"):
        np.testing.assert_allclose(
            decisions, np.tensordot(model.kernel_weights_, scores, 1), rtol=1e-7, atol=1e-7
        )
    elif name in ("default", "projectron++"):
        votes = np.eye(10)[scores.argmax(axis=2)]
        expected = np.tensordot(model.kernel_weights_, votes, 1)
        np.testing.assert_allclose(decisions, expected, atol=1e-9)


def test_classes_that_have_not_come_yet():
    """Named beforehand they are predicted by nobody until they come; the first wins ties."""
    model = plain.classifier(POOL, kb.Perceptron())
    said, _ = model.learn(X[:1], NAMES[Y[:1]], classes=NAMES)
    assert said[0] == min(NAMES)
    few = np.isin(Y, (3, 5))
    model.learn(X[few], NAMES[Y[few]])
    assert set(model.predict(X[few])) <= {"three", "five"}
    assert model.decision_function(X).shape == (200, 10)


@pytest.mark.parametrize("name", ["GroupNorm", "pegasos, merge"])
def test_it_learns(name):
    """Digits, each predicted before it is learned from: most of the second half are right."""
    A, y = hard_streams.of_scikit_learn("digits", 1500)
    model = MODELS[name]()
    if name == "pegasos, merge":
        model.set_params(learner__budget=100)
    said, _ = model.learn(A, y)
    assert (said != y)[750:].mean() < 0.15
    assert (model.predict(A) == y).mean() > 0.9
