"""Kernel features as a scikit-learn transformer."""

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import seed_of
from inside import pool_of

import kernbrook as kb
from kernbrook.engine.blocks import rows_of
from kernbrook.errors import InputError
from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 5))


def test_several_kernels_side_by_side():
    """Each has its own draws, those of `draw` with the same seed, and its own recipe."""
    kernels = [kb.Gaussian(sigma=1), kb.Polynomial(2), kb.Gaussian(sigma=1)]
    recipes = [kb.RandomFeatures(4), kb.Monomials(), kb.RandomFeatures(6)]
    model = kb.KernelFeatures(kernels, recipes, random_state=7).fit(X)
    Z = model.transform(X)
    assert model.dims_.tolist() == [8, 15, 12]
    assert model.kernels_ == tuple(kernels)
    seed = seed_of(7)
    expected = [
        draw(kernel, recipe, 5, seed, i).transform(DenseRows.of(X))
        for i, (kernel, recipe) in enumerate(zip(kernels, recipes, strict=True))
    ]
    np.testing.assert_array_equal(Z, np.hstack(expected))
    assert list(model.get_feature_names_out()[[0, 34]]) == ["kernelfeatures0", "kernelfeatures34"]
    twice = kb.KernelFeatures([kernels[0]] * 2, recipes[0], random_state=7).fit_transform(X)
    assert (twice[:, :8] != twice[:, 8:]).any(axis=0).all()


def test_landmarks_drawn_from_the_data():
    kernel = kb.Gaussian(sigma=1)
    for storage in (np.asarray, sp.csr_matrix):
        model = kb.KernelFeatures(kernel, kb.Nystroem(12), random_state=0).fit(storage(X))
        Z = model.transform(X)
        exact = np.abs(Z @ Z.T - kernel(X, X)).max(axis=1) < 1e-10
        assert exact.sum() == 12  # rows of X, none twice
    assert not exact[:12].all()  # nor the first of them
    all_rows = kb.KernelFeatures(kernel, kb.Nystroem(500)).fit_transform(X)
    np.testing.assert_allclose(all_rows @ all_rows.T, kernel(X, X), atol=1e-9)
    two = kb.KernelFeatures([kernel, kernel], kb.Nystroem(12), random_state=0).fit_transform(X)
    assert (two[:, :12] != two[:, 12:]).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": kb.Linear()}, "RandomFeatures: expected a shift-invariant kernel"),
        ({"kernel": 3}, "kernels: expected a dictionary's name"),
        ({"features": "random"}, "features: expected RandomFeatures, Monomials"),
        ({"features": [kb.RandomFeatures()] * 2}, "features: got 2 of them for 1 kernels"),
        ({"features": kb.Nystroem(0)}, "Nystroem: n_components must be an integer from 1 to"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        kb.KernelFeatures(**parameters).fit(X)


def test_landmarks_that_differ_in_the_middle_have_features_of_their_own():
    """NumPy prints the first and the last of many numbers alone."""
    A, y = hard_streams.gaussian_clouds(160, 4)
    first = np.random.default_rng(0).normal(size=(300, 4))
    second = first.copy()
    second[100:200] += 1.0
    recipes = [kb.Nystroem(landmarks=points) for points in (first, second, first.copy())]
    assert repr(recipes[0]) == repr(recipes[1])
    model = plain.classifier(
        [kb.Gaussian(sigma=2)], [kb.Ridge(features=recipe) for recipe in recipes], random_state=0
    )
    model.fit(A, y)
    assert len(pool_of(model).maps) == 2
    for i in range(2):
        own = kb.KernelFeatures(kb.Gaussian(sigma=2), recipes[i]).fit_transform(A)
        np.testing.assert_array_equal(pool_of(model).blocks(rows_of(model._model, A))[i], own)
