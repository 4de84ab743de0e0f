"""Learners of any stores in one pool, and BestOfPrefix with any of them."""

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from inside import arrays_of, progress_of

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
    return plain.classifier(KERNELS, learners, kb.AdaHedge("hinge"), random_state=3, **choices)


def learn(model, X, y, size):
    of = {} if isinstance(model, kb.OnlineMKRegressor) else {"classes": [-1, 1]}
    parts = [slice(start, start + size) for start in range(0, len(y), size)]
    return np.concatenate([model.learn(X[part], y[part], **of)[0] for part in parts])


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
