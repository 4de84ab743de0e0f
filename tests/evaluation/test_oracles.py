"""The oracles against every sequence of experts there is."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.errors import InputError
from kernbrook.evaluation.oracles import best_fixed, best_shifting


def by_brute_force(losses, shifts):
    T, m = losses.shape
    return min(
        losses[np.arange(T), path].sum()
        for path in product(range(m), repeat=T)
        if np.count_nonzero(np.diff(path)) <= shifts
    )


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 3), T=st.integers(1, 6), shifts=st.integers(0, 7), seed=st.integers(0, 10**6)
)
def test_best_shifting(m, T, shifts, seed):
    losses = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], (T, m))
    oracle = best_shifting(losses, shifts)
    assert oracle.loss == pytest.approx(by_brute_force(losses, shifts))
    assert oracle.shifts <= shifts
    assert oracle.loss == pytest.approx(losses[np.arange(T), oracle.experts].sum())


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 8), T=st.integers(1, 200), seed=st.integers(0, 10**6))
def test_more_shifts_lose_no_more(m, T, seed):
    losses = np.random.default_rng(seed).random((T, m))
    totals = [best_shifting(losses, k).loss for k in range(5)]
    assert best_fixed(losses).loss == pytest.approx(totals[0])
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(totals))
    assert best_shifting(losses, T).loss == pytest.approx(losses.min(axis=1).sum())
    assert (best_fixed(losses).experts == losses.sum(axis=0).argmin()).all()


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([1.0, 2.0], r"shape \(T, m\), at least \(1, 1\), got \(2,\)"),
        (np.zeros((0, 3)), r"got \(0, 3\)"),
        ([[np.nan]], "must be finite"),
    ],
)
def test_wrong_losses(losses, message):
    for oracle in (best_fixed, lambda losses: best_shifting(losses, 1)):
        with pytest.raises(InputError, match=message):
            oracle(losses)


@pytest.mark.parametrize("shifts", [-1, 1.5, None])
def test_wrong_shifts(shifts):
    with pytest.raises(InputError, match="shifts: expected an integer from 0"):
        best_shifting([[0.0]], shifts)
