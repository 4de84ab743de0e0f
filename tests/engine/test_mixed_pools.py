"""Learners of any stores in one pool, and BestOfPrefix with any of them."""

import math

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import SIGNS, says, seed_of
from driving import learn as driven
from every_learner import LEARNERS as LEARNERS_WITH_TWINS
from every_learner import SEED, SHIFTING, TWINS, WAVES, of_gradients, of_steps
from inside import arrays_of, progress_of
from naive import budget, combiners, multiclass, policies, rounds
from sklearn.tree import DecisionTreeClassifier
from twins import assert_same

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
    """Where nothing is drawn: what an expert learns, and holds, is the same in every pool."""
    learners, numbers = POOLS[name]
    X, y = stream(numbers)
    model = make(learners, numbers)
    learn(model, X, y, 300)
    losses = progress_of(model).losses.reshape(len(learners), len(KERNELS))
    counts = np.count_nonzero(model.dual_coef_, axis=0)
    assert model.n_support_stored_ == counts.sum()
    for e, (learner, lost) in enumerate(zip(learners, losses, strict=True)):
        alone, own = make(learner, numbers), slice(e * len(KERNELS), (e + 1) * len(KERNELS))
        learn(alone, X, y, 300)
        np.testing.assert_allclose(lost, progress_of(alone).losses, rtol=1e-9)
        if isinstance(learner, kb.Ridge):
            assert not counts[own].any()
            continue
        np.testing.assert_array_equal(counts[own], np.count_nonzero(alone.dual_coef_, axis=0))
        mine, theirs = model.dual_coef_[:, own], alone.dual_coef_
        np.testing.assert_allclose(np.sort(mine[mine != 0]), np.sort(theirs[theirs != 0]), 1e-9)


@pytest.mark.parametrize(
    ("name", "update"), [(name, ("all", "drawn")[i % 2]) for i, name in enumerate(POOLS)]
)
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
    X, y = hard_streams.gaussian_clouds(80, 4)
    numbers, m = C is None, len(SHIFTING)
    if numbers:
        y = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    else:
        y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
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
