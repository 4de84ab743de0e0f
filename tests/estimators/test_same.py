"""Whether two values say the same: it decides what a pool shares, and what may be saved."""

import hard_streams
import numpy as np
import pandas as pd
import plain
import pytest
import scipy.sparse as sp
from inside import pool_of

import kernbrook as kb
from kernbrook.engine.blocks import rows_of
from kernbrook.engine.same import same

X, Y = hard_streams.gaussian_clouds(160, 4)


def test_landmarks_that_differ_in_the_middle_have_features_of_their_own():
    """NumPy prints the first and the last of many numbers alone."""
    first = np.random.default_rng(0).normal(size=(300, 4))
    second = first.copy()
    second[100:200] += 1.0
    recipes = [kb.Nystroem(landmarks=points) for points in (first, second, first.copy())]
    assert repr(recipes[0]) == repr(recipes[1])
    model = plain.classifier(
        [kb.Gaussian(sigma=2)], [kb.Ridge(features=recipe) for recipe in recipes], random_state=0
    )
    model.fit(X, Y)
    assert len(pool_of(model).maps) == 2
    for i in range(2):
        own = kb.KernelFeatures(kb.Gaussian(sigma=2), recipes[i]).fit_transform(X)
        np.testing.assert_array_equal(pool_of(model).blocks(rows_of(model._model, X))[i], own)


ARRAYS = [
    (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
    (np.array([1.0, 2.0]), np.array([1.0, 3.0]), False),
    (np.array(["a", "b"]), np.array(["a", "b"]), True),
    (np.array(["a", None]), np.array(["a", "b"]), False),
    ([np.ones(2), 1], [np.ones(2), 1], True),
    ((np.ones(2), 1), [np.ones(2), 1], False),
    ([1, 2], [1, 2, 3], False),
    (kb.Gaussian(sigma=2), kb.Gaussian(sigma=2.0), True),
    (kb.Linear(), kb.Polynomial(1), False),
    (kb.Nystroem(landmarks=[[1.0]]), kb.Nystroem(landmarks=[[2.0]]), False),
    (kb.Ridge(features=kb.Monomials()), kb.Ridge(features=kb.Monomials()), True),
    (sp.csr_matrix(np.eye(3)), sp.csr_matrix(np.ones((3, 3))), False),
    (pd.DataFrame([1, 2]), pd.DataFrame([1, 3]), False),
]


@pytest.mark.parametrize("number", range(len(ARRAYS)))
def test_same(number):
    held, made, expected = ARRAYS[number]
    assert same(held, held)
    assert same(held, made) is expected
