"""Loops over vectors say what NumPy says."""

import numpy as np
import pytest

from kernbrook.numerics import vectors

rng = np.random.default_rng(0)
DRAWN = [np.round(rng.normal(size=n), 1).astype(kind) for n in (0, 1, 2, 9, 300) for kind in "fd"]


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: f"{len(drawn)} {drawn.dtype}")
def test_vectors(drawn):
    ordered, other, marks = drawn.copy(), np.empty_like(drawn), drawn > 0
    vectors.put_in_order(ordered)
    vectors.copy(drawn, other)
    np.testing.assert_array_equal(ordered, np.sort(drawn))
    np.testing.assert_array_equal(other, drawn)
    vectors.fill_with(other, 0.5)
    np.testing.assert_array_equal(other, np.full_like(drawn, 0.5))
    np.testing.assert_array_equal(vectors.places_of(marks), np.flatnonzero(marks))
    assert vectors.any_of(marks) == marks.any()
    assert vectors.greatest_of(drawn) == drawn.max(initial=-np.inf)
    for number in (*drawn[:9], -9.0, 9.0, 0.05):
        for up_to, side in ((False, "left"), (True, "right")):
            found = vectors.how_many(ordered, float(number), up_to)
            assert found == np.searchsorted(ordered, float(number), side)


def test_the_greatest_of_numbers_with_nan():
    assert np.isnan(vectors.greatest_of(np.array([1.0, np.nan, 2.0])))
