"""Kernels of other people: by NumPy alone, or with compiled values; and what the checks find."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.compiler.compiling import from_outside
from kernbrook.kernels import Kernel
from kernbrook.kernels.base import Step
from kernbrook.kernels.planning import Layout
from kernbrook.kernels.spectra import ShiftInvariant, normal_frequencies
from kernbrook.numerics.plan import MANHATTAN, SQUARED
from kernbrook.numerics.values import fill


@dataclass(frozen=True)
class Slow(Kernel):
    """1 / (1 + rate ||x - z||_1)."""

    rate: float

    def __post_init__(self):
        if not self.rate > 0:
            raise ValueError("rate must be positive")

    def __call__(self, X, Z):
        return 1.0 / (1.0 + self.rate * np.abs(X[:, None] - Z[None]).sum(axis=2))


class QuickStep(NamedTuple):
    """1 / (1 + parameter * source)."""


@fill.of(QuickStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = 1.0 / (1.0 + parameter * source[j])
    return True


@dataclass(frozen=True)
class Quick(Slow):
    """The same, compiled."""

    def step(self):
        return Step(QuickStep, MANHATTAN, self.rate)


@pytest.mark.parametrize("kernel", [Slow(0.5), Quick(0.5)], ids=repr)
def test_they_have_all_properties(kernel):
    kb.testing.check_kernel(kernel)


def test_the_width_is_named_last_wherever_a_class_has_it_among_its_parameters():
    class Named(kb.Gaussian):
        def parameters(self):
            return {**super().parameters(), "name": "mine"}

    assert repr(Named(sigma=2)) == "Named('mine', sigma=2)"


def test_powers_of_one_cosine_share_it():
    layout = Layout([kb.NormalizedPolynomial(degree) for degree in (1, 2, 7)])
    assert len(layout.given) == 1
    assert len(Layout([kb.NormalizedPolynomial(2, offset) for offset in (0, 1)]).given) == 2


def test_types_from_outside():
    """Alone or within a record, not where they are this package's, numba's or numbers."""
    from numba import typeof

    from kernbrook.kernels.cauchy import CauchyStep

    class Record(NamedTuple):
        kinds: tuple

    for inside in (1.0, np.zeros(2), CauchyStep(), (CauchyStep(), 1), ()):
        assert not from_outside(typeof(inside))
    for outside in (QuickStep(), (CauchyStep(), QuickStep()), ((1, (QuickStep(),)),), Record(())):
        assert from_outside(typeof(outside))


# -- what the checks find ---------------------------------------------------------------------


def broken(**methods):
    """A kernel as `Slow`, with other methods."""
    return dataclass(frozen=True, eq="__eq__" not in methods)(type("Broken", (Slow,), methods))


class LongerSpectrum(ShiftInvariant, Slow):
    """A Gaussian, but with the frequencies of a narrower one."""

    def __call__(self, X, Z):
        return kb.Gaussian(gamma=self.rate)(X, Z)

    def frequencies(self, n, width, way, generator):
        return 2.0 * np.sqrt(2.0 * self.rate) * normal_frequencies(n, width, way, generator)[0]


def _settable(self, name, value):
    object.__setattr__(self, name, value)


class Settable(Slow):
    __setattr__ = _settable


BROKEN = [
    (broken(__call__=lambda self, X, Z: X @ Z.T + X[:, :1]), "not symmetric"),
    (broken(__call__=lambda self, X, Z: np.full((len(X), len(Z)), np.nan)), "NaN or infinity"),
    (
        broken(__call__=lambda self, X, Z: X @ Z.T if len(Z) else np.zeros(len(X))),
        r"expected shape \(40, 0\), got \(40,\)",
    ),
    (broken(step=lambda self: Step(QuickStep, SQUARED, self.rate)), "the engine's sums of dense"),
    (broken(__eq__=lambda self, other: self is other, __hash__=lambda self: 1), "what its param"),
    (broken(__hash__=object.__hash__), "of another hash than what its parameters make"),
    (broken(__post_init__=lambda self: None), "takes NaN for rate"),
    (Settable, "its rate can be set"),
    (LongerSpectrum, "inner products of features from random frequencies"),
]


@pytest.mark.parametrize(("kind", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_what_the_checks_find(kind, message):
    with pytest.raises(AssertionError, match=message):
        kb.testing.check_kernel(kind(0.5))
