"""What `decision_function` gives: the score of one expert, the vote of several."""

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from naive import kernels as naive_kernels
from sklearn.metrics import roc_auc_score

import kernbrook as kb

KERNEL = kb.Gaussian(sigma=2)
LEARNERS = [
    kb.Perceptron(),
    kb.PassiveAggressive(),
    kb.BPAS(budget=20),
    kb.Projectron(budget=20),
]


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
