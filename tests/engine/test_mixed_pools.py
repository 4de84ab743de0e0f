"""Learners of any stores in one pool, and BestOfPrefix with any of them."""

import math

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import SIGNS, says, seed_of
from every_learner import (
    SEED,
    SHIFTING,
    TWINS,
    WAVES,
    of_features,
    of_gradients,
    of_steps,
)
from inside import arrays_of, progress_of
from naive import budget, combiners, multiclass, policies, regression, rounds
from sklearn.tree import DecisionTreeClassifier

import kernbrook as kb

KERNELS = [kb.Gaussian(gamma=0.05), kb.Laplacian(gamma=0.1), kb.Gaussian(gamma=0.4)]
EXPANSION = kb.GradientDescent(0.2, features=None)
WINDOW = kb.GradientDescent(0.2, features=None, budget=25, regularization=0.1)
FEATURES = kb.RandomFeatures(7)
# name -> (learners, whether of numbers)
POOLS = {
    "all and slots": ([kb.Perceptron(), kb.Forgetron(9)], False),
    "slots of two sizes": ([kb.Forgetron(9), kb.Forgetron(8)], False),
    "slots of many rules": (
        [kb.BPAS(9), kb.Projectron(8), kb.Pegasos(7, upkeep="smallest"), kb.Pegasos()],
        False,
    ),
    "merged points": ([kb.Pegasos(9, upkeep="merge"), kb.Perceptron()], False),
    "slots and features": ([kb.Ridge(features=FEATURES), kb.Ahpatron(9)], False),
    "every store of classes": (
        [EXPANSION, kb.BPAS(9), WINDOW, kb.Ridge(features=FEATURES), kb.PassiveAggressive()],
        False,
    ),
    "every store of numbers": ([WINDOW, kb.Ridge(features=FEATURES), EXPANSION], True),
}


def stream(numbers):
    X, y = hard_streams.gaussian_clouds(300)
    return X, y * (1 + X[:, 0] ** 2) if numbers else y


def make(learners, numbers, **choices):
    if numbers:
        return plain.regressor(KERNELS, learners, random_state=3, **choices)
    return plain.classifier(KERNELS, learners, kb.MLPoly("hinge"), random_state=3, **choices)


def learn(model, X, y, size):
    return says(model, X, y, None if isinstance(model, kb.OnlineMKRegressor) else SIGNS, size)


@pytest.mark.parametrize("name", POOLS)
def test_everyone_learns_as_if_alone(name):
    """Where nothing is drawn: what an expert learns is the same in every pool."""
    learners, numbers = POOLS[name]
    X, y = stream(numbers)
    model = make(learners, numbers)
    learn(model, X, y, 300)
    losses = progress_of(model).losses.reshape(len(learners), len(KERNELS))
    for learner, own in zip(learners, losses, strict=True):
        alone = make(learner, numbers)
        learn(alone, X, y, 300)
        np.testing.assert_allclose(own, progress_of(alone).losses, rtol=1e-9)


@pytest.mark.thinned
@pytest.mark.parametrize("update", ["all", "drawn"])
@pytest.mark.parametrize("name", POOLS)
def test_chunks_sparsity_and_files_change_nothing(name, update, tmp_path):
    learners, numbers = POOLS[name]
    X, y = stream(numbers)
    selection = kb.Selection(update=update, smoothing=0.3)
    whole = make(learners, numbers, selection=selection)
    said = learn(whole, X, y, 300)
    chunks = make(learners, numbers, selection=selection)
    np.testing.assert_array_equal(learn(chunks, X, y, 7), said)
    loaded = make(learners, numbers, selection=selection)
    first = learn(loaded, X[:130], y[:130], 130)
    kb.save(loaded, tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    np.testing.assert_array_equal(first, said[:130])
    np.testing.assert_array_equal(learn(loaded, X[130:], y[130:], 170), said[130:])
    wanted = arrays_of(whole)
    for model in (chunks, loaded):
        for field, array in arrays_of(model).items():
            np.testing.assert_array_equal(array, wanted[field], err_msg=field)
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    sparse = make(learners, numbers, selection=selection)
    np.testing.assert_array_equal(learn(sparse, sp.csr_matrix(X), y, 60), said)
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(X)), whole.predict(X))


@pytest.mark.parametrize("name", POOLS)
def test_support_vectors_of_all_stores(name):
    """The scores of experts that have support vectors are sums over them."""
    learners, numbers = POOLS[name]
    X, y = stream(numbers)
    model = make(learners, numbers)
    learn(model, X, y, 300)
    counts = np.count_nonzero(model.dual_coef_, axis=0)
    assert model.n_support_stored_ == counts.sum()
    for e, learner in enumerate(learners):
        alone = make(learner, numbers)
        learn(alone, X, y, 300)
        own = slice(e * len(KERNELS), (e + 1) * len(KERNELS))
        if isinstance(learner, kb.Ridge):
            assert not counts[own].any()
            continue
        np.testing.assert_array_equal(counts[own], np.count_nonzero(alone.dual_coef_, axis=0))
        mine = np.sort(model.dual_coef_[:, own][model.dual_coef_[:, own] != 0])
        np.testing.assert_allclose(
            mine, np.sort(alone.dual_coef_[alone.dual_coef_ != 0]), rtol=1e-9
        )


LEARNERS = {
    "forgetron": (kb.Forgetron(9), False),
    "bpas": (kb.BPAS(9), False),
    "projectron": (kb.Projectron(9), False),
    "ahpatron": (kb.Ahpatron(9), False),
    "pegasos": (kb.Pegasos(), False),
    "pegasos, smallest": (kb.Pegasos(9, upkeep="smallest"), False),
    "window": (WINDOW, False),
    "window of numbers": (WINDOW, True),
    "landmarks": (kb.Ridge(features=kb.Nystroem(landmarks=np.eye(4))), False),
    "landmarks, numbers": (kb.Ridge(features=kb.Nystroem(landmarks=np.eye(4))), True),
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
    (kb.Perceptron(), of_steps(budget.rbp, multiclass.perceptron, tie="margin"), False),
    (kb.RBP(6), of_steps(budget.rbp, multiclass.perceptron, 6, "margin"), False),
    (kb.BPAS(20), of_steps(budget.bpas, multiclass.bpas, 20), False),
    (kb.BPAS(5), of_steps(budget.bpas, multiclass.bpas, 5), False),
    (
        kb.GradientDescent(0.3, "constant", features=WAVES),
        of_features(regression.Descent, step=0.3, schedule="constant"),
        True,
    ),
    (kb.Ridge(features=WAVES), of_features(regression.Ridge), True),
    (kb.GradientDescent(features=None, **BUDGETED), of_gradients(**BUDGETED), False),
]
OF_NUMBERS = [
    (kb.GradientDescent(0.2, features=None), of_gradients(step=0.2), False),
    (kb.GradientDescent(0.1, features=None, budget=15), of_gradients(step=0.1, budget=15), False),
    *OF_CLASSES[4:6],
]
COMBINERS = {
    "FixedShare": (
        lambda loss: kb.FixedShare(0.8, 0.05, loss),
        lambda m: combiners.FixedShare(m, 0.8, 0.05),
        ("mistakes", "absolute"),
    ),
    "Hedge": (
        lambda loss: kb.Hedge(0.9, loss, cap=20.0),
        lambda m: combiners.Hedge(m, 0.9),
        ("hinge", "squared"),
    ),
    "MLPoly": (lambda loss: kb.MLPoly(loss), combiners.MLPoly, ("hinge", "absolute")),
}
RUNS = {
    "all": ({}, {}),
    "drawn updates": (
        {"selection": kb.Selection(update="drawn", smoothing=0.3)},
        {"update": "drawn", "smoothing": 0.3},
    ),
    "disagreement": (
        {"labels": kb.Disagreement(1.0, 3)},
        {"policy": policies.disagreement(1.0, 3)},
    ),
}


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("run", "combiner"),
    [
        *(("all", combiner) for combiner in COMBINERS),
        ("drawn updates", "FixedShare"),
        ("disagreement", "Hedge"),
    ],
)
@pytest.mark.parametrize("C", [2, 4, None])
def test_a_pool_equals_naive_experts(C, combiner, run):
    X, y = hard_streams.gaussian_clouds(80, 4)
    numbers, m = C is None, len(SHIFTING)
    if numbers:
        y = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    else:
        y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
    pool = OF_NUMBERS if numbers else OF_CLASSES
    own, of_twin, losses = COMBINERS[combiner]
    loss = losses[numbers]
    experts = [
        twin(i if on_features else j * m + i, kernel, X, C)
        for j, (_, twin, on_features) in enumerate(pool)
        for i, kernel in enumerate(TWINS[1:])
    ]
    expected = rounds.run(
        y, experts, of_twin(len(experts)), loss, numbers, seed=seed_of(SEED),
        cap=20.0 if combiner == "Hedge" else np.inf, **RUNS[run][1],
    )  # fmt: skip
    assert expected.asked.all() == (run != "disagreement")
    kind = plain.regressor if numbers else plain.classifier
    more = {} if numbers else {"classes": np.arange(C)}
    for size in (80, 1):
        learners = [learner for learner, _, _ in pool]
        model = kind(SHIFTING, learners, own(loss), random_state=SEED, **RUNS[run][0])
        told = [model.learn(X[a : a + size], y[a : a + size], **more) for a in range(0, 80, size)]
        said, asked = map(np.concatenate, zip(*told, strict=True))
        np.testing.assert_array_equal(asked, expected.asked)
        if numbers:
            np.testing.assert_allclose(said, expected.predictions, rtol=0, atol=1e-8)
        else:
            np.testing.assert_array_equal(said, expected.predictions)
        np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=1e-8)
        np.testing.assert_allclose(progress_of(model).losses, expected.losses, rtol=1e-6)


# -- bounds, on real streams -----------------------------------------------------------------------

ORDERS = {"elec2": "as it is", "covtype": "as it is", "magic04": "shuffled", "a9a": "as it is"}


def losses_and_weights(name, combiner, rows=500):
    """(T, e) mistakes of the experts of a pool, and their weights before each label."""
    shuffled = ORDERS[name] == "shuffled"
    X, y = hard_streams.real(name, None if shuffled else rows)
    order = np.random.default_rng(0).permutation(len(y)) if shuffled else np.arange(len(y))
    X, y = hard_streams.scaled(X[order[:rows]].toarray()), y[order[:rows]]
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    pool = [kb.Perceptron(), kb.Ridge(features=WAVES), kb.External(tree, every=100, window=300)]
    kernels = [kb.Gaussian(gamma=0.02), kb.Gaussian(gamma=0.2)]
    model = plain.classifier(kernels, pool, combiner, random_state=0)
    weights, mistakes = [], [np.zeros(5)]
    for t in range(len(y)):
        weights.append(model.expert_weights_ if t else np.full(5, 0.2))
        model.learn(X[t : t + 1], y[t : t + 1], classes=np.unique(y))
        mistakes.append(model.expert_mistakes_)
    return np.diff(mistakes, axis=0), np.array(weights)


@pytest.mark.thinned
@pytest.mark.data
@pytest.mark.parametrize("name", ORDERS)
def test_the_pool_is_within_its_bound_of_the_best(name):
    """Freund, Schapire (1997), theorem 2."""
    discount = 0.8
    losses, weights = losses_and_weights(name, kb.Hedge(discount))
    loss, best, m = (losses * weights).sum(), losses.sum(axis=0).min(), losses.shape[1]
    assert best < 0.5 * len(losses)
    bound = (math.log(1 / discount) * best + math.log(m)) / (1 - discount)
    assert loss <= bound + 1e-9
