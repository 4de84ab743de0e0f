"""Stack: against its twin, on what the experts say of each example before its label."""

import hard_streams
import numpy as np
import pytest
from driving import says
from inside import progress_of, scores_of
from naive import combiners, regression, stack
from naive.weights import relative

import kernbrook as kb
from kernbrook.combiners.stack import split
from kernbrook.errors import InputError

KERNELS = [kb.Gaussian(gamma=0.05), kb.Linear(), kb.Gaussian(gamma=0.4)]
LANDMARKS = kb.Nystroem(landmarks=np.random.default_rng(7).normal(size=(5, 4)))
EXPERTS = {
    2: [kb.PassiveAggressive(), kb.BPAS(9), kb.LastLabel()],
    4: [kb.PassiveAggressive(), kb.BPAS(9), kb.LastLabel()],
    None: [kb.Ridge(features=LANDMARKS), kb.LastLabel()],
}


def stream(C, n=250):
    X, y = hard_streams.clouds_of(C, n)
    if C is None:
        y[::50] += 40.0  # rare great labels
    return X, y


def machine(C, combiner=None, **choices):
    kind = kb.OnlineMKRegressor if C is None else kb.OnlineMKClassifier
    combiner = kb.Stack() if combiner is None else combiner
    return kind(KERNELS, EXPERTS[C], combiner, random_state=0, judge_stored=True, **choices)


def said(model, x):
    """(e, c) the scores of the experts on a row, before its label."""
    return scores_of(model, x[None])[0]


def base_vote(weights, scores, C):
    if C is None:
        return weights @ scores[:, 0]
    if C == 2:
        return np.array([weights @ np.where(scores[:, 0] >= 0, 1.0, -1.0)])
    return weights @ np.eye(C)[scores.argmax(axis=1)]


@pytest.mark.parametrize("C", [2, 4, None])
def test_naive_twin(C):
    X, y = stream(C)
    weights = np.where(np.arange(len(y)) % 5 == 3, 0.0, 1.0 + (np.arange(len(y)) % 3))
    model, counted = machine(C, kb.Stack(regularization=3.0)), relative(weights, len(y))
    m = 7 if C else 4
    twin = stack.Numbers(m, 3.0) if C is None else stack.Classes(m, 3.0)
    base = regression.MLPoly(m) if C is None else combiners.FixedShare(m, 0.9, 0.015, True)
    says(model, X[:1], y[:1], C, 1, weights)  # nobody has said anything yet
    for t in range(len(y)):
        if t > 0:
            scores, offset = said(model, X[t]), getattr(model, "offset_", 0.0)
            B = base_vote(np.asarray(base.weights(), dtype=float), scores, C)
            ours = model._decide(X[t : t + 1]).decisions[0]
            expected = twin.decide(B, scores[:, 0] if C is None else scores)
            np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-9)
            if C is not None and twin.v.any():
                # Probabilities come from two votes, by scores and by classes.
                by_scores = twin.decide(np.asarray(base.weights(), dtype=float) @ scores, scores)
                leaning = model._decide(X[t : t + 1])[1][0]
                np.testing.assert_allclose(
                    leaning, np.append(by_scores, expected), rtol=1e-7, atol=1e-9
                )
            says(model, X[t : t + 1], y[t : t + 1], C, 1, weights[t : t + 1])
        else:
            scores, offset = (
                np.zeros((m, 1 if C in (None, 2) else C)),
                getattr(model, "offset_", 0.0),
            )
            B = base_vote(np.asarray(base.weights(), dtype=float), scores, C)
        if counted[t] == 0:
            continue
        if C is None:
            twin.learn(B, scores[:, 0], y[t] - offset, counted[t])
            base.learn(counted[t] * 2 * (B - (y[t] - offset)) * scores[:, 0])
        else:
            twin.learn(B, scores, y[t], counted[t])
            named = scores[:, 0] >= 0 if C == 2 else scores.argmax(axis=1)
            base.learn(counted[t] * (named != y[t]))


def test_it_adds_up_what_no_expert_knows_alone():
    """The label is the sum of two forecasts: a vote cannot say it."""
    X = np.random.default_rng(1).uniform(-1, 1, size=(4000, 2))
    advice, y = kb.Advice([0, 1]), X.sum(axis=1)
    wrong = {}
    for combiner in (kb.FixedShare(), kb.Stack()):
        model = kb.OnlineMKClassifier(learner=advice, combiner=combiner, scaling=None)
        said = model.learn(X, y > 0, classes=[False, True])[0]
        wrong[type(combiner)] = np.mean(said[3000:] != (y > 0)[3000:])
    assert wrong[kb.Stack] < 0.1 < wrong[kb.FixedShare]


@pytest.mark.parametrize("bad", [kb.GroupNorm(), kb.FixedShare, 3.0, kb.Stack()])
def test_the_base_learns_from_losses(bad):
    with pytest.raises(InputError, match="base must be None or a combiner of losses"):
        machine(2, kb.Stack(bad)).fit(*stream(2))


def test_the_least_curvature_bounds_what_a_sure_stream_can_do():
    """Experts that are sure and right: steps stay as small as the definition has them."""
    X = np.tile([[3.0, 0.0, 0.0, 0.0], [-3.0, 0.0, 0.0, 0.0]], (150, 1))
    y = np.tile([1, 0], 150)
    model = machine(2, kb.Stack(regularization=0.01))
    model.partial_fit(X[:6], y[:6], classes=[0, 1])
    own = stack.Classes(len(model.expert_weights_), 0.01)
    state = progress_of(model).state
    m = len(model.expert_weights_)
    parts = split(state, m)
    own.v, own.A = parts[2].copy(), np.linalg.inv(parts[3])
    for i in range(6, 300):
        scores = said(model, X[i])
        own.learn(base_vote(model.expert_weights_, scores, 2), scores, y[i])
        model.learn_one(X[i], int(y[i]))
    np.testing.assert_allclose(split(progress_of(model).state, m)[2], own.v, rtol=1e-6)
    assert min(own.curvatures) == 1e-3  # the bound was met
