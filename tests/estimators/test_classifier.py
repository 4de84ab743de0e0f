"""What the classifier keeps, tells and promises: votes and scores, of two classes and of more."""

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import kernels as naive_kernels
from sklearn.metrics import roc_auc_score

import kernbrook as kb


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 150),
    tie=st.sampled_from(["margin", "label"]),
    discount=st.sampled_from([0.05, 0.5, 0.8, 0.99]),
    noise=st.floats(0, 1),
)
def test_theorem_1(seed, n, tie, discount, noise):
    """M <= 2 ln(1/beta)/(1-beta) min_i M_i + 2 ln m/(1-beta), on any stream; (D,D)."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 3)).astype(float)
    y = np.where(X[:, 0] > X[:, 1], 1, -1) * np.where(rng.random(n) < noise, -1, 1)
    model = plain.classifier("omkc16", kb.Perceptron(tie), kb.Hedge(discount))
    predictions, _ = model.learn(X, y, classes=[-1, 1])
    least, m = model.expert_mistakes_.min(), len(model.kernels_)
    bound = 2 * np.log(1 / discount) / (1 - discount) * least + 2 * np.log(m) / (1 - discount)
    assert (predictions != y).sum() <= bound


def test_what_is_shown_is_not_the_state():
    """Writing to an attribute's array must not change the model behind its back."""
    X, y = hard_streams.gaussian_clouds(100)
    model = plain.classifier().fit(X, y)
    before = model.decision_function(X)
    for name in ("dual_coef_", "support_vectors_", "kernel_weights_", "expert_mistakes_"):
        shown = getattr(model, name)
        if shown.flags.writeable:
            shown *= -3.0
    np.testing.assert_array_equal(model.decision_function(X), before)


# -- more than two classes ------------------------------------------------------------------------

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
def test_votes_of_many_classes(name):
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
def test_digits_are_learned(name):
    """Digits, each predicted before it is learned from: most of the second half are right."""
    A, y = hard_streams.of_scikit_learn("digits", 1500)
    model = MODELS[name]()
    if name == "pegasos, merge":
        model.set_params(learner__budget=100)
    said, _ = model.learn(A, y)
    assert (said != y)[750:].mean() < 0.15
    assert (model.predict(A) == y).mean() > 0.9


# -- what `decision_function` gives: the score of one expert, the vote of several ------------------

KERNEL = kb.Gaussian(sigma=2)
LEARNERS = [kb.Perceptron(), kb.PassiveAggressive(), kb.BPAS(budget=20), kb.Projectron(budget=20)]


def stream(C, n=150):
    X, y = hard_streams.gaussian_clouds(n, 3)
    return X, (y > 0).astype(int) + (C - 2) * (X[:, 0] > 1)


def make(kernels, learner=LEARNERS[0], **parameters):
    return plain.classifier(
        kernels, learner, kb.Hedge(0.8), random_state=0, scaling=None, **parameters
    )


def score_of(model, expert, A):
    """f(x) of one expert, from what it holds: (n,), or (n, c)."""
    return model.kernels_[expert](A, model.support_vectors_) @ model.dual_coef_[:, expert]


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_one_expert_gives_its_score(learner, C):
    """f(x), and the label that two of the same, which vote, give."""
    X, y = stream(C)
    one, two = (make([KERNEL] * n, learner).fit(X, y) for n in (1, 2))
    assert two.n_support_stored_ == 2 * one.n_support_stored_
    A = np.concatenate([X, 1.5 * X[::-1], np.full((2, 3), 1e6)])  # the last score 0
    scores = one.decision_function(A)
    np.testing.assert_allclose(scores, score_of(one, 0, A), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(one.predict(A), two.predict(A))
    assert not scores[-1].any()
    if C == 2:
        assert one.predict(A)[-1] == 1  # the second class wins a tie
        np.testing.assert_array_equal(one.predict(A), scores >= 0)
        assert len(np.unique(scores)) > 100
        assert set(two.decision_function(A)) == {-1.0, 1.0}
        assert roc_auc_score(y, scores[:150]) > roc_auc_score(y, one.predict(X))
    else:
        assert one.predict(A)[-1] == 0  # of three, the first
        np.testing.assert_array_equal(one.predict(A), scores.argmax(axis=1))
        assert set(np.unique(two.decision_function(A))) == {0.0, 1.0}


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("rounds", [40, 1000], ids=["chosen", "not yet chosen"])
def test_the_best_of_a_prefix_votes_alone(rounds, C):
    X, y = stream(C)
    pool = [kb.Linear(), KERNEL, kb.Gaussian(sigma=0.1)]
    model = make(pool, selection=kb.BestOfPrefix(rounds=rounds)).fit(X, y)
    best = int(np.argmax(model.kernel_weights_))
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, score_of(model, best, X), rtol=1e-9, atol=1e-9)
    expected = scores >= 0 if C == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)


BOTH = [True, False]


@pytest.mark.parametrize(
    ("loss", "vote", "weighted", "spread"),
    pairwise(["hinge", "mistakes"], ["all", "drawn"], BOTH, BOTH),
)
def test_decisions_of_a_drawn_vote(loss, vote, weighted, spread):
    """sum theta_i f_i, or of signs where Hedge counts mistakes; a drawn vote by its chance p_i."""
    X, y = hard_streams.gaussian_clouds(120, 3)
    model = plain.classifier(
        "omkc16",
        kb.PassiveAggressive("PA-I", 0.2),
        kb.Hedge(0.95, loss),
        kb.Selection("drawn", vote, 0.2, weighted, spread),
        random_state=1,
    ).fit(X[:80], y[:80])
    Z, A = model.support_vectors_, X[80:]
    kernels = naive_kernels.omkc16()
    f = np.array(
        [[k(Z, x) @ a for x in A] for k, a in zip(kernels, model.dual_coef_.T, strict=True)]
    )
    voices = f if loss == "hinge" else np.where(f >= 0, 1.0, -1.0)
    q = model.kernel_weights_ / model.kernel_weights_.max()
    votes = q if weighted else np.ones(16)
    if vote == "drawn":
        votes = votes * (0.8 * q + 0.2 / (16 if spread else 1))
    expected = votes @ voices / votes.sum()
    np.testing.assert_allclose(model.decision_function(A), expected, rtol=1e-9, atol=1e-12)
