"""Learners, combiners and label policies of other people."""

import hard_streams
import numpy as np
import plain
import pytest
import their_parts as theirs

import kernbrook as kb

KERNELS = [kb.Gaussian(gamma=0.05), kb.Gaussian(gamma=0.4)]
WAVES = kb.RandomFeatures(5)
COMBINER, THEIR_COMBINER = kb.Hedge(0.7), theirs.Discounting(0.7)
POLICY, THEIR_POLICY = kb.MarginSampling(0.3), theirs.Doubting(0.3)


def stream(C, n=100):
    X, y = hard_streams.gaussian_clouds(n, 4)
    if C is None:
        return X, np.sin(X[:, 0]) + 0.3 * X[:, 1]
    return X, (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)


def outcome(C, **choices):
    """All that a model says, and what it has learned."""
    X, y = stream(C)
    kind = plain.regressor if C is None else plain.classifier
    model = kind(KERNELS, random_state=3, **choices)
    more = {} if C is None else {"classes": np.arange(C)}
    said = [model.learn(X[a : a + 30], y[a : a + 30], **more) for a in range(0, len(y), 30)]
    held = [model.expert_weights_, model.predict(X), model.should_ask(X)]
    if hasattr(model, "dual_coef_"):
        held += [model.support_vectors_, model.dual_coef_]
    return [*map(np.concatenate, zip(*said, strict=True)), *held]


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(0.5)], ids=str)
def test_learners_of_numbers_on_features(labels):
    ours = kb.GradientDescent(0.2, "constant", features=WAVES)
    found = outcome(None, learner=theirs.Descending(0.2, WAVES), labels=labels)
    assert_same(found, outcome(None, learner=ours, labels=labels))


@pytest.mark.parametrize("C", [2, 4])
def test_everything_of_theirs_beside_ours(C):
    """In one pool with learners in every store."""
    beside = [kb.BPAS(9), kb.Ridge(features=WAVES), kb.Projectron(9)]
    beside.append(kb.GradientDescent(features=None, budget=20))
    wanted = outcome(
        C, learner=[kb.RBP(9), kb.Perceptron(), *beside], combiner=COMBINER, labels=POLICY
    )
    found = outcome(
        C,
        learner=[theirs.Forgetful(9), theirs.Growing(), *beside],
        combiner=THEIR_COMBINER,
        labels=THEIR_POLICY,
    )
    assert_same(found, wanted)


@pytest.mark.parametrize("learner", [theirs.Forgetful(9), theirs.Descending(0.2, WAVES)], ids=str)
def test_learners_have_all_properties(learner):
    kb.testing.check_learner(learner)


def test_combiners_have_all_properties():
    kb.testing.check_combiner(THEIR_COMBINER)


def test_policies_have_all_properties():
    kb.testing.check_policy(THEIR_POLICY)
