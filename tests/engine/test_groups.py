"""Learners with kernels and scaling of their own, and the last label as an expert."""

import hard_streams
import numpy as np
import pytest
from driving import says
from inside import scores_of

import kernbrook as kb
from kernbrook.engine.scalers import OnlineScaler
from kernbrook.errors import InputError

KERNELS = [kb.Gaussian(gamma=0.05), kb.Gaussian(gamma=0.4)]
OWN = [kb.Gaussian(gamma=0.4), kb.Linear()]
WAVES = kb.Nystroem(landmarks=np.random.default_rng(7).normal(size=(6, 4)))


def stream(n=300):
    X, y = hard_streams.clouds_of(2, n)
    return np.exp(X), y


def machine(learner, **choices):
    return kb.OnlineMKClassifier(KERNELS, learner, kb.MLPoly("hinge"), random_state=3, **choices)


@pytest.mark.parametrize(
    "learner",
    [
        kb.Perceptron(),
        kb.BPAS(9),
        kb.Ridge(features=WAVES),
        kb.GradientDescent(budget=20, features=None),
    ],
    ids=["expansion", "slots", "features", "window"],
)
@pytest.mark.parametrize("scaling", [None, "ranks", "maximum"])
def test_a_group_learns_as_a_machine_of_its_own(learner, scaling):
    X, y = stream()
    model = machine([kb.BPAS(7), kb.Group(learner, OWN, scaling), kb.LastLabel()])
    says(model, X, y, 2)
    own = OnlineScaler(scaling or "moments", 4)
    alone = kb.OnlineMKClassifier(OWN, learner, random_state=3, scaling=None)
    says(alone, own.learn(X), y, 2)
    expected = scores_of(alone, own.transform(X[:20]))
    np.testing.assert_allclose(scores_of(model, X[:20])[:, 2:4], expected, rtol=1e-9, atol=1e-9)
    assert [str(k) for k in model.kernels_] == [str(k) for k in [*KERNELS, kb.Linear()]]
    kernel_weights, weights = model.kernel_weights_, model.expert_weights_
    np.testing.assert_allclose(kernel_weights[1], weights[1] + weights[2])
    np.testing.assert_allclose(kernel_weights.sum() + weights[-1], 1.0)


def test_a_pool_whose_learners_all_have_kernels_has_these_alone():
    X, y = stream()
    model = machine([kb.Group(kb.BPAS(5), OWN)]).fit(X, y)
    assert model.kernels_ == tuple(OWN)


@pytest.mark.parametrize("C", [2, 3])
def test_last_label(C):
    labels = np.random.default_rng(0).integers(0, C, 90)
    model = kb.OnlineMKClassifier(learner=kb.LastLabel(), combiner=kb.FixedShare())
    told = np.concatenate(
        [
            model.learn(np.ones((7, 2)), part, classes=np.arange(C))[0]
            for part in np.split(labels[:84], 12)
        ]
    )
    np.testing.assert_array_equal(told[1:], labels[:83])
    assert model.predict([[5.0, 5.0]])[0] == labels[83]
    model.learn(np.ones((2, 2)), None)  # no label: nothing new
    model.partial_fit([[1.0, 1.0]], [(labels[83] + 1) % C], sample_weight=[0.0])
    assert model.predict([[5.0, 5.0]])[0] == labels[83]


def test_what_is_no_group():
    X, y = stream(20)
    for wrong, said in (
        (kb.Group([]), "learner must be a learner such as Ridge"),
        (kb.Group(kb.Group(kb.BPAS())), "learner must be a learner such as Ridge"),
        (kb.Group(kb.BPAS(), scaling="rank"), "scaling must be None or one of maximum"),
        (kb.Group(kb.LastLabel(), scaling="ranks"), "has neither kernels nor scaling"),
        (kb.Group(kb.BPAS(), "omkc17"), "omkc17"),
    ):
        with pytest.raises((InputError, ValueError), match=said):
            machine([wrong]).fit(X, y)
