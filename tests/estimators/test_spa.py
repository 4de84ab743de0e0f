"""Passive-aggressive learners and SPA in the classifier: parameters, recipe, looking, votes."""

import hard_streams
import numpy as np
import plain
import pytest
from naive import kernels as naive_kernels

import kernbrook as kb
from kernbrook.learners import PassiveAggressive, SparsePA

X, Y = hard_streams.gaussian_clouds(120, 3)


# -- the recipe -------------------------------------------------------------------------------


# -- looking and voting -----------------------------------------------------------------------


@pytest.mark.parametrize("spread", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("vote", ["all", "drawn"])
@pytest.mark.parametrize("loss", ["hinge", "mistakes"])
def test_decisions(loss, vote, weighted, spread):
    """sum theta_i f_i, or of signs where Hedge counts mistakes; a drawn vote by its chance p_i."""
    model = plain.classifier(
        "omkc16",
        PassiveAggressive("PA-I", 0.2),
        kb.Hedge(0.95, loss),
        kb.Selection("drawn", vote, 0.2, weighted, spread),
        random_state=1,
    ).fit(X[:80], Y[:80])
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


def test_smoothing_spread_or_not():
    """A kernel without weight is drawn with chance smoothing / m, or smoothing."""
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(4000, 3)) * 100, rng.choice([-1, 1], 4000)
    pool = [kb.Gaussian(sigma=s) for s in (1, 2)] + [kb.Polynomial(3), kb.Polynomial(3, offset=1)]
    for spread, chance in ((True, 0.1), (False, 0.4)):
        model = plain.classifier(
            pool,
            SparsePA(cap=1, divisor=1, unit_diagonal=True),
            kb.Hedge(0.5, "hinge"),
            kb.Selection("drawn", smoothing=0.4, spread=spread),
            random_state=0,
        )
        model.learn(A[:300], y[:300])
        assert (model.kernel_weights_[2:] == 0).all()
        before = np.count_nonzero(model.dual_coef_, axis=0)
        model.learn(A[300:], y[300:])
        added = (np.count_nonzero(model.dual_coef_, axis=0) - before)[2:]
        # Losses of the cubic kernels are 0 on about half of the rounds, else above the cap.
        wrong = model.expert_mistakes_[2:] / 4000
        expected = chance * wrong * 3700
        assert (np.abs(added - expected) < 4 * np.sqrt(expected) + 0.02 * expected).all()


# -- under other combiners and selections -----------------------------------------------------


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_a_sample_weight_scales_step_and_loss(factor):
    """Over the mean weight so far: that multiple of the loss, and of the step up to the loss."""
    model = plain.classifier(
        [kb.Linear(), kb.Gaussian(sigma=1)], PassiveAggressive("PA"), kb.Hedge(0.9, "hinge")
    )
    model.learn([[2.0]], [1], classes=[-1, 1], sample_weight=[2.0])
    np.testing.assert_allclose(model.dual_coef_, [[1 / 4, 1.0]], rtol=1e-12)
    # Scores of [1.0] are 1 / 2 and exp(-1/2).
    model.learn([[1.0]], [-1], sample_weight=[2.0 * factor])
    relative, losses = 2 * factor / (1 + factor), 1 + np.array([1 / 2, np.exp(-1 / 2)])
    np.testing.assert_allclose(model.dual_coef_[1], -min(relative, 1.0) * losses, rtol=1e-12)
    ratio = 0.9 ** (relative * (losses[1] - losses[0]))
    assert model.kernel_weights_[1] / model.kernel_weights_[0] == pytest.approx(ratio, rel=1e-9)
    model.learn([[5.0]], [-1], sample_weight=[0.0])
    assert model.n_support_stored_ == 4
    assert model.kernel_weights_[1] / model.kernel_weights_[0] == pytest.approx(ratio, rel=1e-9)
