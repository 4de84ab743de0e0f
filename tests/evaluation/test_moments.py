"""Mean and deviation as rows come: those of all rows at once, however they are cut."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kernbrook.evaluation.moments import Moments

RNG = np.random.default_rng(0)


def moments_of(X, cuts, storage=np.asarray):
    moments = Moments(X.shape[1])
    for rows in np.split(np.arange(len(X)), cuts):
        if len(rows):
            moments.add(storage(X[rows]))
    return moments


@pytest.mark.parametrize("storage", [np.asarray, csr_array])
@pytest.mark.parametrize("cuts", [[], range(1, 60), [1, 7, 7, 40]])
def test_moments_of_all_rows(storage, cuts):
    X = RNG.normal(size=(60, 5)) * [1, 1, 0, 1e-3, 1e200] + [0, 3, 0, 5, 0]
    X[np.abs(X) < 0.5] = 0
    found = moments_of(X[:, :4], cuts, storage)
    np.testing.assert_allclose(found.means(), X[:, :4].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.deviations(), X[:, :4].std(axis=0), rtol=1e-12)
    found = moments_of(X, cuts, storage)  # the squares of the last column overflow
    assert not np.isfinite(found.deviations()[4])


@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_far_from_zero(storage):
    """Where the mean of the squares less the square of the mean would be noise."""
    X = 1e9 + RNG.normal(size=(500, 3))
    found = moments_of(X, range(1, 500, 3), storage)
    np.testing.assert_allclose(found.deviations(), (X - 1e9).std(axis=0), rtol=1e-6)


def test_before_any_row():
    assert (Moments(2).means().tolist(), Moments(2).deviations().tolist()) == ([0, 0], [0, 0])
