"""Learners, combiners and label policies of other people, compiled or in plain Python."""

import hard_streams
import numpy as np
import plain
import pytest
import their_parts as theirs
from covering import pairwise

import kernbrook as kb
from kernbrook.engine.passes import COMPILED, PLAIN

KERNELS = [kb.Gaussian(gamma=0.05), kb.Gaussian(gamma=0.4)]
WAVES = kb.RandomFeatures(5)
# ours -> (theirs, the same in plain Python)
LEARNERS = {
    kb.RBP(9): (theirs.Forgetful(9), theirs.PlainForgetful(9)),
    kb.Perceptron(): (theirs.Growing(), theirs.PlainGrowing()),
}
OF_NUMBERS = kb.GradientDescent(0.2, "constant", features=WAVES)
THEIRS_OF_NUMBERS = theirs.Descending(0.2, WAVES), theirs.PlainDescending(0.2, WAVES)
COMBINER = kb.Hedge(0.7)
COMBINERS = theirs.Discounting(0.7), theirs.PlainDiscounting(0.7)
POLICY = kb.MarginSampling(0.3)
POLICIES = theirs.Doubting(0.3), theirs.PlainDoubting(0.3)
# Without either of them, who learns does not depend on the others.
RUNS = {
    "alone": {},
    "drawn updates": {"selection": kb.Selection(update="drawn", smoothing=0.3)},
    "asking": {"labels": POLICY},
}


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


@pytest.mark.parametrize(("learner", "C", "run"), pairwise(LEARNERS, [2, 4], RUNS))
def test_learners(learner, C, run):
    wanted = outcome(C, learner=learner, combiner=COMBINER, **RUNS[run])
    for own in LEARNERS[learner]:
        assert_same(outcome(C, learner=own, combiner=COMBINER, **RUNS[run]), wanted)


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(0.5)], ids=str)
def test_learners_of_numbers_on_features(labels):
    wanted = outcome(None, learner=OF_NUMBERS, labels=labels)
    for own in THEIRS_OF_NUMBERS:
        assert_same(outcome(None, learner=own, labels=labels), wanted)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("C", [2, 4])
def test_combiners(C, run):
    wanted = outcome(C, learner=kb.RBP(9), combiner=COMBINER, **RUNS[run])
    for own in COMBINERS:
        assert_same(outcome(C, learner=kb.RBP(9), combiner=own, **RUNS[run]), wanted)


@pytest.mark.parametrize("C", [2, 4])
def test_policies(C):
    wanted = outcome(C, learner=kb.RBP(9), combiner=COMBINER, labels=POLICY)
    assert 5 < wanted[1].sum() < 95
    for own in POLICIES:
        assert_same(outcome(C, learner=kb.RBP(9), combiner=COMBINER, labels=own), wanted)


@pytest.mark.parametrize("C", [2, 4])
def test_everything_of_theirs_beside_ours(C):
    """In one pool with learners in every store, which run as Python then."""
    beside = [kb.BPAS(9), kb.Ridge(features=WAVES), kb.Projectron(9)]
    beside.append(kb.GradientDescent(features=None, budget=20))
    wanted = outcome(C, learner=[kb.RBP(9), *beside], combiner=COMBINER, labels=POLICY)
    found = outcome(
        C, learner=[theirs.PlainForgetful(9), *beside], combiner=COMBINERS[1], labels=POLICIES[1]
    )
    assert_same(found[:2], wanted[:2])
    for one, other in zip(found[2:], wanted[2:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_kernels_that_share_their_points():
    """`GroupNorm` under a plain policy."""
    choices = {"learner": None, "combiner": kb.GroupNorm()}
    wanted = outcome(2, labels=POLICY, **choices)
    assert_same(outcome(2, labels=POLICIES[1], **choices), wanted)


@pytest.mark.parametrize("choice", ["learner", "combiner", "labels"])
def test_one_plain_part_makes_all_of_them_run_as_python(choice):
    X, y = stream(2, 20)
    choices = {"learner": kb.RBP(9), "combiner": COMBINER, "labels": POLICY}
    own = {"learner": theirs.PlainForgetful(9), "combiner": COMBINERS[1], "labels": POLICIES[1]}
    model = plain.classifier(KERNELS, **choices).fit(X, y)
    assert model._model.passes is COMPILED
    model = plain.classifier(KERNELS, **{**choices, choice: own[choice]}).fit(X, y)
    assert model._model.passes is PLAIN


@pytest.mark.parametrize("learner", [theirs.Forgetful(9), THEIRS_OF_NUMBERS[1]], ids=str)
def test_learners_have_all_properties(learner):
    """One is compiled, one plain; so are combiners and policies below."""
    kb.testing.check_learner(learner)


def test_combiners_have_all_properties():
    kb.testing.check_combiner(COMBINERS[1])


def test_policies_have_all_properties():
    kb.testing.check_policy(POLICIES[0])
