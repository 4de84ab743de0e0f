"""Random features of few inputs, which approximate means over sets of inputs."""

import math
from collections import Counter

import hard_streams
import numpy as np
import pytest
import scipy.sparse as sp
from naive import features as naive_features
from naive import kernels as naive
from sklearn.base import clone

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows
from kernbrook.kernels.planning import Layout

rng = np.random.default_rng(0)
X = np.where(rng.random((40, 6)) < 0.3, 0.0, rng.normal(size=(40, 6)))
X[5] = 0.0
WAYS = kb.RandomFeatures.FREQUENCIES


def by_engine(kernel, rows, points):
    """(points, rows) values."""
    return rows.pairs(Layout([kernel]), points)[0]


# -- random features of few inputs -----------------------------------------------------------------


def frequencies(kernel, width=6, seed=0, **parameters):
    recipe = kb.RandomFeatures(**parameters)
    return draw(kernel, recipe, width, seed).arrays()["frequencies"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("inputs", "width"), [(1, 6), (2, 5), (3, 7), (4, 6), (5, 6)])
def test_naive_twin(way, inputs, width):
    """Frequencies of the kernel in k dimensions, at inputs that are dealt."""
    kernel = kb.Matern(1.5, sigma=2)
    generator = np.random.default_rng([3, 0])
    own = kernel.frequencies(31, inputs, way, generator)
    block = inputs if way == "orthogonal" else 1
    shuffled = lambda width: generator.permutation(width).tolist()  # noqa: E731
    hands = naive_features.deal(math.ceil(31 / block), inputs, width, shuffled)
    expected = [[0.0] * width for _ in range(31)]
    for i in range(31):
        for k, place in enumerate(hands[i // block]):
            expected[i][place] = own[i, k]
    found = frequencies(kernel, width, 3, n_components=31, frequencies=way, inputs=inputs)
    assert found.tolist() == expected


@pytest.mark.parametrize("inputs", [1, 2, 4, 5])
def test_all_inputs_are_as_frequent(inputs):
    for seed in range(20):
        V = frequencies(kb.Gaussian(sigma=1), 6, seed, n_components=13, inputs=inputs)
        assert ((V != 0).sum(axis=1) == inputs).all()
        counts = (V != 0).sum(axis=0)
        assert counts.max() - counts.min() <= 1
        V = frequencies(
            kb.Gaussian(sigma=1), 6, seed, n_components=13, frequencies="orthogonal", inputs=inputs
        )
        counts = (V != 0).sum(axis=0)
        assert counts.max() - counts.min() <= inputs


def test_every_set_is_as_likely():
    """Of any frequency, so that nothing is biased: also where a deck comes to its end."""
    found = {place: Counter() for place in (0, 1, 2, 6)}
    for seed in range(1500):
        V = frequencies(kb.Gaussian(sigma=1), 5, seed, n_components=7, inputs=3)
        for place, sets in found.items():
            sets[tuple(np.flatnonzero(V[place]))] += 1
    for sets in found.values():
        assert len(sets) == 10
        # Chi-squared with 9 degrees of freedom is above 30 once in 2,300 times.
        assert sum((count - 150) ** 2 / 150 for count in sets.values()) < 30


@pytest.mark.parametrize("kernel", [kb.Gaussian(gamma=0.3), kb.Laplacian(sigma=1)], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_all_inputs_or_more_are_all(kernel, way):
    if way == "orthogonal" and not kernel.isotropic:
        pytest.skip("it has none")
    whole = frequencies(kernel, n_components=20, frequencies=way)
    for inputs in (6, 7, 1000):
        found = frequencies(kernel, n_components=20, frequencies=way, inputs=inputs)
        np.testing.assert_array_equal(found, whole)


MEANS = [
    (kb.Gaussian(gamma=0.5), 1, naive.anova(1, 0.5)),
    (kb.Gaussian(gamma=0.5), 2, naive.anova(2, 0.5)),
    (kb.Gaussian(gamma=0.5), 4, naive.anova(4, 0.5)),
    (
        *(kb.Laplacian(gamma=1), 1),
        naive.mean([lambda Z, x, i=i: np.exp(-np.abs(Z[:, i] - x[i])) for i in range(6)]),
    ),
]


@pytest.mark.thinned
@pytest.mark.parametrize(("kernel", "inputs", "exact"), MEANS)
@pytest.mark.parametrize("way", WAYS)
def test_the_mean_of_maps_approaches_the_mean_over_sets(kernel, inputs, exact, way):
    """500 small maps: each errs, their mean hardly, so they are not biased."""
    if way == "orthogonal" and not kernel.isotropic:
        pytest.skip("it has none")
    A = X[:15]
    K = np.array([exact(A, x) for x in A])
    recipe = kb.RandomFeatures(10, way, inputs=inputs)
    grams = []
    for seed in range(500):
        Z = draw(kernel, recipe, 6, seed).transform(DenseRows.of(A))
        grams.append(Z @ Z.T)
    errors = [np.sqrt(np.mean((gram - K) ** 2)) for gram in grams]
    assert np.abs(np.mean(grams, axis=0) - K).max() < 0.04
    assert np.sqrt(np.mean((np.mean(grams, axis=0) - K) ** 2)) < 0.08 * np.mean(errors)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_in_a_model_and_in_a_file(storage, tmp_path):
    A, y = hard_streams.gaussian_clouds(120, 5)
    pool = [kb.Gaussian(sigma=2), kb.Cauchy(sigma=1)]
    learner = [kb.Ridge(features=kb.RandomFeatures(8, inputs=2)), kb.BPAS(budget=10)]
    model = kb.OnlineMKClassifier(pool, learner, random_state=0)
    assert clone(model).get_params()["learner"][0].features.inputs == 2
    model.partial_fit(storage(A[:70]), y[:70], classes=np.unique(y))
    kb.save(model, tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    assert repr(loaded) == repr(model)
    for one in (model, loaded):
        one.partial_fit(storage(A[70:]), y[70:])
    np.testing.assert_array_equal(loaded.decision_function(A), model.decision_function(A))


@pytest.mark.parametrize("inputs", [0, -1, 1.5, True, "2"])
def test_bad_inputs(inputs):
    with pytest.raises(InputError, match="inputs must be None or an integer from 1"):
        draw(kb.Gaussian(sigma=1), kb.RandomFeatures(5, inputs=inputs), 6, 0)
