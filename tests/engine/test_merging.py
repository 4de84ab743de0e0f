"""Merging: the best h, the loss and the partner, against the naive twin and dense grids."""

import numpy as np
import pytest
from covering import pairwise
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import pegasos

from kernbrook.learners.merged_slots import (
    _coarse_shares,
    best_share,
    choose_partner,
    lightest_slot,
    merge_loss,
)

LONG = np.longdouble
FINE, ROUNDING = 1e-12, 1e-12
ratios = st.floats(1e-12, 1.0) | st.just(1.0)
cosines = st.floats(-1.0, 1.0) | st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
kappas = st.floats(0.0, 1.0) | st.floats(0, 600).map(lambda L: float(np.exp(-L)))
extended = pytest.mark.skipif(np.finfo(LONG).eps > 2e-19, reason="no extended precision here")


def exact_loss(a, b, g, kappa, h):
    """a + b + 2 kappa g - J(h), as it stands, in extended precision."""
    a, b, g, h, L = LONG(a), LONG(b), LONG(g), LONG(h), -np.log(LONG(kappa))
    u, v = np.exp(-L * (1 - h) ** 2), np.exp(-L * h * h)
    return a + b + 2 * g * np.exp(-L) - (a * u * u + b * v * v + 2 * g * u * v)


# ---- the best h ----


@settings(max_examples=200, deadline=None)
@given(ratios, cosines, kappas, st.integers(-400, 400))
@example(1.0, 1.0, 0.0, 0)
@example(1.0, 1.0, 1.0, 0)
@example(1.0, -1.0, 1 - 1e-16, 0)
@example(1.0, 1.0, float(np.exp(-2)), 0)  # the two humps part here: a triple root
@example(1e-12, 1.0, 5e-324, 0)
def test_best_share_is_the_twins(a, cosine, kappa, scale):
    """Whatever the scale of the coefficients; h itself where J is not flat at its top."""
    g, b = cosine * np.sqrt(a), 2.0**scale
    h = best_share(a * b, b, g * b, kappa, FINE)
    assert 0.0 <= h <= 0.5
    wanted = pegasos.best_h(a, 1.0, g, kappa, 0.0, 0.5)
    loss = pegasos.lost(wanted, a, 1.0, g, kappa)
    found = merge_loss(a * b, b, g * b, kappa, h)
    assert found == pytest.approx(b * loss, rel=1e-11, abs=b * a * 1e-14)
    if 0 < wanted < 0.4999:
        around = np.array([wanted, wanted + 1e-4])
        slopes = pegasos.rises(around, a, 1.0, g, kappa) / pegasos.kept(around, a, 1.0, g, kappa)
        if slopes[0] - slopes[1] > 1e-5:
            assert h == pytest.approx(wanted, abs=1e-10)


@extended
@settings(max_examples=300, deadline=None)
@given(ratios, cosines, st.floats(1e-300, 1.0), st.floats(0.0, 1.0))
def test_loss(a, cosine, kappa, h):
    """Rounded beside the lighter coefficient, whatever the heavier one; on either side of 1/2."""
    g = cosine * np.sqrt(a)
    L = -np.log(kappa)
    here = a + abs(g) * min(1.0, 2 * L * h) + min(1.0, 2 * L * h * h)
    room = 2e-15 * (here if h <= 0.5 else 1.0)
    wanted = max(exact_loss(a, 1.0, g, kappa, h), 0)
    found = merge_loss(a, 1.0, g, kappa, h)
    assert abs(found - wanted) <= room + 5e-19
    assert found == pytest.approx(pegasos.lost(h, a, 1, g, kappa), abs=room)


@pytest.mark.parametrize(
    ("a", "cosine", "kappa"),
    pairwise([1.0, 0.3, 1e-16], [-1.0, -0.3, 0.0, 1.0], [0.0, 5e-324, 1e-310, 1e-300, 1.0]),
)
def test_extreme_kernel_values(a, cosine, kappa):
    """Equal points merge at no loss; points that do not see each other cost the lighter one."""
    g = cosine * np.sqrt(a)
    h = best_share(a, 1.0, g, kappa, FINE)
    assert 0 <= h <= 0.5
    assert merge_loss(a, 1.0, g, kappa, h) == pytest.approx(0 if kappa == 1 else a, abs=1e-15)
    assert merge_loss(a, 1.0, g, kappa, 1.0) == pytest.approx(0 if kappa == 1 else 1, abs=1e-15)


def test_denormal_and_no_coefficients():
    """Squares of which a few digits or none are left: still an h and a loss that are ones."""
    tiny = 5e-324
    for a, b, g in [(0, 0, 0), (0, tiny, 0), (tiny, tiny, tiny), (tiny, tiny, 2 * tiny)]:
        for g_or_opposite in (g, -g):
            for kappa in (0.0, 0.5, 1.0):
                h = best_share(float(a), float(b), float(g_or_opposite), kappa, FINE)
                assert 0 <= h <= 0.5
                assert 0 <= merge_loss(float(a), float(b), float(g_or_opposite), kappa, h) <= 1e-320


def test_a_coarse_search_tells_the_loss():
    """Well within what is equal, also where the two humps part."""
    rng, n = np.random.default_rng(2), 3000
    cosine, a = rng.uniform(-0.95, 1, n), 1 - 10 ** rng.uniform(-14, -2, n)
    kappa = np.exp(-(1 + cosine) * (1 + rng.uniform(-0.1, 0.1, n)))
    g, (shares, scratch) = cosine * np.sqrt(a), np.empty((2, n))
    _coarse_shares(a, g, kappa, shares, scratch)
    for i, share in enumerate(shares):
        pair = a[i], 1.0, g[i], kappa[i]
        fine = merge_loss(*pair, best_share(*pair, FINE))
        assert abs(merge_loss(*pair, share) - fine) <= 1e-14 * a[i]


# ---- the partner ----


class Slots:
    """C coefficients of `filled` slots and their kernel values with the lightest, m.

    New ones are +eta and -eta, as an example comes; merged ones are any; copies repeat others.
    """

    def __init__(self, C, filled, seed, new=0.5, copies=0.2, near=1.0, scale=1.0):
        rng = np.random.default_rng(seed)
        self.filled, self.alpha = filled, rng.normal(size=(C, filled)) * rng.exponential(5, filled)
        for n in np.flatnonzero(rng.random(filled) < new):
            self.alpha[:, n] = 0
            label, rival = rng.permutation(C)[:2] if C > 1 else (0, 0)
            self.alpha[rival, n], self.alpha[label, n] = -1.0, rng.choice([-1.0, 1.0])
        # The twin's search by slopes sees none where kernel values of 0 make them all 0.
        self.kappas = np.maximum(np.exp(-rng.exponential(near, filled)), 1e-300)
        for n in np.flatnonzero(rng.random(filled) < copies):
            other = rng.integers(filled)
            self.alpha[:, n], self.kappas[n] = self.alpha[:, other], self.kappas[other]
        self.alpha *= scale
        self.born = rng.permutation(3 * filled)[:filled]
        self.find()

    def find(self):
        self.squares = (self.alpha**2).sum(axis=0)
        self.m = lightest_slot(self.squares, np.ones(self.filled), self.born, self.filled)

    def choose(self, printed=False):
        arguments = (self.alpha, self.filled, self.m, self.squares, self.kappas, self.born)
        return choose_partner(*arguments, printed)

    def expected(self, search):
        """(n, h, losses of all slots, NaN for m), slot by slot."""
        light = self.alpha[:, self.m]
        others = [n for n in range(self.filled) if n != self.m]
        found = [search(light, self.alpha[:, n], self.kappas[n]) for n in others]
        losses = np.full(self.filled, np.nan)
        losses[others] = [loss for _, loss in found]
        room = ROUNDING * (light @ light)
        i = pegasos.oldest_of_the_least(losses[others], self.born[others], room)
        return others[i], found[i][0], losses

    def loss(self, n, h):
        """By the twin's formula."""
        a, b, g = self.squares[self.m], self.squares[n], self.alpha[:, self.m] @ self.alpha[:, n]
        return pegasos.lost(h, a, b, g, self.kappas[n])


def assert_twins_choice(slots, printed):
    n, h = slots.choose(printed)
    search = pegasos.printed_merge if printed else pegasos.best_merge
    wanted, wanted_h, losses = slots.expected(search)
    assert n == wanted
    assert h == pytest.approx(wanted_h, abs=1e-5)
    if not printed:
        light, heavy = slots.alpha[:, slots.m], slots.alpha[:, n]
        pair = light @ light, heavy @ heavy, light @ heavy, slots.kappas[n]
        assert h == pytest.approx(best_share(*pair, FINE), abs=1e-11)
    room = 1e-13 * slots.squares[slots.m]
    assert slots.loss(n, h) == pytest.approx(losses[n], rel=1e-9, abs=room)


@settings(max_examples=150, deadline=None)
@given(
    C=st.sampled_from([1, 2, 7, 26]),
    filled=st.sampled_from([*range(2, 31), 120]),
    seed=st.integers(0, 10**6),
    new=st.sampled_from([0.0, 0.5, 1.0]),
    copies=st.sampled_from([0.0, 0.3, 1.0]),
    near=st.sampled_from([1e-5, 1e-3, 0.3, 1.0, 5.0, 100.0]),
    printed=st.booleans(),
)
def test_the_partner_is_the_twins(C, filled, seed, new, copies, near, printed):
    assert_twins_choice(Slots(C, filled, seed, new, copies, near), printed)


@pytest.mark.parametrize(("C", "special"), [(1, 1.0), (2, 0.0), (7, 1e-310)])
def test_kernel_values_of_0_and_1(C, special):
    for seed in range(20):
        slots = Slots(C, 12, seed)
        slots.kappas[np.random.default_rng(seed).random(12) < 0.4] = special
        assert_twins_choice(slots, False)
        slots.kappas[:] = special
        assert_twins_choice(slots, False)


@pytest.mark.parametrize("C", [2, 7])
def test_opposite_coefficients_have_no_weight_in_equation_21(C):
    """Class sums of 0, to rounding; and where all are 0, x_m vanishes."""
    for seed in range(20):
        slots = Slots(C, 10, seed, new=0.0, copies=0.0)
        light = slots.alpha[:, slots.m]
        for n in range(10):
            if n != slots.m:
                opposite = np.random.default_rng(n).random(C) < 0.6
                slots.alpha[opposite, n] = -light[opposite] * (1 + 1e-15 * n)
        slots.find()
        assert_twins_choice(slots, True)
    slots = Slots(C, 2, 0)
    slots.alpha[:, 1] = -slots.alpha[:, 0]
    slots.find()
    assert slots.choose(True) == (1 - slots.m, 0.0)


@pytest.mark.parametrize("C", [1, 2, 7])
def test_equal_partners(C):
    """Copies, and copies but for rounding: the oldest, wherever it lies."""
    for seed in range(30):
        slots = Slots(C, 30, seed, copies=0.0)
        best, _ = slots.choose()
        twins = [n for n in np.random.default_rng(seed).permutation(30)[:8] if n != slots.m]
        for i, n in enumerate(twins):
            slots.alpha[:, n] = slots.alpha[:, best] * (1 + 1e-15 * i)
            slots.kappas[n] = slots.kappas[best]
        slots.find()
        assert slots.choose()[0] == min([best, *twins], key=lambda n: slots.born[n])
        assert_twins_choice(slots, False)


@pytest.mark.parametrize(("exponent", "printed"), [(-450, False), (450, True)])
def test_the_scale_of_the_coefficients_is_free(exponent, printed):
    for seed in range(10):
        plain, scaled = Slots(7, 25, seed), Slots(7, 25, seed, scale=2.0**exponent)
        assert plain.choose(printed) == scaled.choose(printed)


def test_no_numbers():
    """A slot all the same: compiled code indexes by it."""
    slots = Slots(2, 8, 0)
    for values in (slots.kappas, slots.squares):
        values[:] = np.nan
        for printed in (False, True):
            assert 0 <= slots.choose(printed)[0] < 8
    assert 0 <= lightest_slot(slots.squares, np.ones(8), slots.born, 8) < 8


# ---- the lightest ----


@settings(max_examples=100, deadline=None)
@given(
    filled=st.integers(1, 40),
    seed=st.integers(0, 10**6),
    values=st.sampled_from([1, 3, 1000]),
)
def test_the_smallest_is_the_twins(filled, seed, values):
    """Products of which many are equal, but for rounding; slots not in use do not count."""
    rng = np.random.default_rng(seed)
    squares, diagonal = np.zeros(50), np.zeros(50)
    diagonal[:filled] = 10 ** rng.uniform(-3, 3, filled)
    costs = rng.integers(1, values + 1, filled) * (1 + 1e-15 * rng.integers(0, 9, filled))
    squares[:filled] = costs / diagonal[:filled]
    born = rng.permutation(50)
    costs = (squares * diagonal)[:filled]
    wanted = pegasos.oldest_of_the_least(costs, born[:filled])
    assert lightest_slot(squares, diagonal, born, filled) == wanted
