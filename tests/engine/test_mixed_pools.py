"""Learners of any stores in one pool, and BestOfPrefix with any of them."""

import hard_streams
import numpy as np
import plain
import pytest
from driving import SIGNS, says, seed_of
from driving import learn as driven
from every_learner import LEARNERS as LEARNERS_WITH_TWINS
from every_learner import SEED, SHIFTING, TWINS, of_gradients, of_steps
from inside import progress_of
from naive import budget, combiners, multiclass, policies, rounds
from twins import assert_same

import kernbrook as kb

KERNELS = [kb.Gaussian(gamma=0.05), kb.Laplacian(gamma=0.1), kb.Gaussian(gamma=0.4)]
WINDOW = kb.GradientDescent(0.2, features=None, budget=25, regularization=0.1)


def stream(numbers):
    X, y = hard_streams.gaussian_clouds(300)
    return X, y * (1 + X[:, 0] ** 2) if numbers else y


def make(learners, numbers, **choices):
    if numbers:
        return plain.regressor(KERNELS, learners, random_state=3, **choices)
    return plain.classifier(KERNELS, learners, kb.MLPoly("hinge"), random_state=3, **choices)


def learn(model, X, y, size):
    return says(model, X, y, None if isinstance(model, kb.OnlineMKRegressor) else SIGNS, size)


LEARNERS = {
    "forgetron": (kb.Forgetron(9), False),
    "ahpatron": (kb.Ahpatron(9), False),
    "pegasos": (kb.Pegasos(), False),
    "window": (WINDOW, False),
    "window of numbers": (WINDOW, True),
    "landmarks": (kb.Ridge(features=kb.Nystroem(landmarks=np.eye(4))), False),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_best_of_a_prefix_goes_on_alone(name):
    """From then on it decides and learns as a model of its kernel alone, and so from a file."""
    learner, numbers = LEARNERS[name]
    X, y = stream(numbers)
    model = make(learner, numbers, selection=kb.BestOfPrefix(40))
    learn(model, X[:40], y[:40], 40)
    best = int(np.argmin(progress_of(model).losses))
    alone = make(learner, numbers).set_params(kernels=[KERNELS[best]])
    learn(alone, X[:40], y[:40], 40)
    np.testing.assert_allclose(
        learn(model, X[40:], y[40:], 99), learn(alone, X[40:], y[40:], 99), rtol=1e-9
    )
    np.testing.assert_array_equal(model.expert_weights_, np.arange(len(KERNELS)) == best)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-9)
    assert model.n_support_stored_ == alone.n_support_stored_


# -- against one naive pool ------------------------------------------------------------------------

BUDGETED = {"step": 0.5, "loss": "hinge", "regularization": 0.02, "budget": 15}
# Of classes, of numbers: (learner, its twin, whether it is on features).
OF_CLASSES = [
    *((*LEARNERS_WITH_TWINS[name], False) for name in ("perceptron", "rbp", "bpas")),
    (kb.BPAS(5), of_steps(budget.bpas, multiclass.bpas, 5), False),
    (*LEARNERS_WITH_TWINS["gradients on features, squared"], True),
    (*LEARNERS_WITH_TWINS["ridge"], True),
    (kb.GradientDescent(features=None, **BUDGETED), of_gradients(**BUDGETED), False),
]
OF_NUMBERS = [
    (kb.GradientDescent(0.2, features=None), of_gradients(step=0.2), False),
    (kb.GradientDescent(0.1, features=None, budget=15), of_gradients(step=0.1, budget=15), False),
    *OF_CLASSES[4:6],
]
# (C, combiner, its twin, choices of the model, of the naive run)
DRAWN = {"update": "drawn", "smoothing": 0.3}
ASKING = {"labels": kb.Disagreement(1.0, 3)}, {"policy": policies.disagreement(1.0, 3)}
RUNS = [
    (2, kb.FixedShare(0.8, 0.05), lambda m: combiners.FixedShare(m, 0.8, 0.05), {}, {}),
    (4, kb.MLPoly("hinge"), combiners.MLPoly, {"selection": kb.Selection(**DRAWN)}, DRAWN),
    (4, kb.Hedge(0.9, "hinge", cap=20.0), lambda m: combiners.Hedge(m, 0.9), *ASKING),
    (None, kb.MLPoly("absolute"), combiners.MLPoly, {"selection": kb.Selection(**DRAWN)}, DRAWN),
    (None, kb.Hedge(0.9, "squared", cap=20.0), lambda m: combiners.Hedge(m, 0.9), *ASKING),
]


@pytest.mark.parametrize("size", [80, 1])
@pytest.mark.parametrize(("C", "combiner", "twin", "choices", "own"), RUNS)
def test_a_pool_equals_naive_experts(C, combiner, twin, choices, own, size):
    X, y = hard_streams.clouds_of(C, 80)
    numbers, m = C is None, len(SHIFTING)
    pool = OF_NUMBERS if numbers else OF_CLASSES
    experts = [
        naive(i if on_features else j * m + i, kernel, X, C)
        for j, (_, naive, on_features) in enumerate(pool)
        for i, kernel in enumerate(TWINS[1:])
    ]
    expected = rounds.run(
        y, experts, twin(len(experts)), combiner.loss, numbers, seed=seed_of(SEED),
        cap=getattr(combiner, "cap", None) or np.inf, **own,
    )  # fmt: skip
    assert expected.asked.all() == ("labels" not in choices)
    kind = plain.regressor if numbers else plain.classifier
    model = kind(SHIFTING, [one for one, *_ in pool], combiner, random_state=SEED, **choices)
    said, asked = driven(model, X, y, C, size)
    assert_same(model, said, asked, expected, X, y, C)
