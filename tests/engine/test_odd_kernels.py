"""Kernels of others: merged by what is computed, and odd values are refused by name."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import plain
import pytest
from inside import scores_of

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.kernels.base import Kernel, Step, Width, squared_distances
from kernbrook.numerics.plan import SQUARED
from kernbrook.numerics.values import fill

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] > 0).astype(int)
LEARNERS = [kb.BPAS(9), kb.Perceptron(), kb.Ridge(features=kb.Nystroem(landmarks=X[:20]))]


class Rational(Width):
    """(1 + gamma ||x - z||^2 / power)^-power: with a parameter that no dataclass knows of."""

    def __init__(self, power, *unnamed, sigma=None, gamma=None):
        super().__init__(*unnamed, sigma=sigma, gamma=gamma)
        object.__setattr__(self, "power", power)

    @staticmethod
    def _gamma_of(sigma):
        return 0.5 / (sigma * sigma)

    def __call__(self, A, Z):
        return (1.0 + self.gamma * squared_distances(A, Z) / self.power) ** -self.power

    def step(self):
        return Step(RationalStep, SQUARED, self.gamma, self.power)


class RationalStep(NamedTuple):
    pass


@fill.of(RationalStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = (1.0 + parameter * source[j] / offset) ** -offset
    return True


class Alike(Kernel):
    """A kernel that is equal to every other of its class, whatever it computes."""

    def __init__(self, gamma):
        object.__setattr__(self, "gamma", gamma)

    def __call__(self, A, Z):
        return np.exp(-self.gamma * squared_distances(A, Z))

    def __eq__(self, other):
        return type(other) is Alike

    def __hash__(self):
        return 1


POOLS = {
    "a parameter that equality leaves out": [Rational(0.1, gamma=1.0), Rational(50.0, gamma=1.0)],
    "equal to all": [Alike(0.1), Alike(5.0)],
}


@pytest.mark.parametrize(
    ("pool", "learner"),
    [*(("equal to all", learner) for learner in LEARNERS), (next(iter(POOLS)), LEARNERS[0])],
)
def test_each_kernel_of_a_pool_is_itself(pool, learner):
    """What an expert says in a pool is what it says alone."""
    kernels = POOLS[pool]
    together = plain.classifier(kernels, learner, random_state=0, combiner=kb.Uniform())
    together.fit(X, Y)
    alone = [plain.classifier([kernel], learner, random_state=0).fit(X, Y) for kernel in kernels]
    said = [model.decision_function(X) for model in alone]
    assert np.abs(said[0] - said[1]).max() > 0.1
    np.testing.assert_allclose(scores_of(together, X)[:, :, 0].T, said, atol=1e-9)


@dataclass(frozen=True)
class Plain(Kernel):
    """A kernel that is called, without a check of its own."""

    function: object

    def __call__(self, A, Z):
        return self.function(A, Z)


def gaussian(A, Z):
    return np.exp(-squared_distances(A, Z))


def masked(A, Z):
    return np.ma.masked_less(gaussian(A, Z), 0.5)


ODD = {
    "one column": (lambda A, Z: gaussian(A, Z)[:, :1], "expected an array of shape"),
    "a number": (lambda A, Z: 1.0, r"expected an array of shape .* got shape \(\)"),
    "complex": (lambda A, Z: gaussian(A, Z) + 0j, "expected an array of numbers"),
    "None": (lambda A, Z: None, "expected an array of numbers of shape .* got None"),
    "masked": (masked, "got a masked array"),
    "NaN": (lambda A, Z: gaussian(A, Z) * np.nan, "it gave NaN or infinity"),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_odd_values(odd):
    function, message = ODD[odd]
    for kind, learner in ((Plain, kb.BPAS(9)), (kb.Callable, kb.Perceptron())):
        with pytest.raises(InputError, match=f"kernel .*{message}"):
            plain.classifier([kind(function)], learner).fit(X, Y)


def test_values_under_a_budget_are_symmetric():
    """Slots keep one value for two points; sums without a budget take either order as it comes."""

    def lopsided(A, Z):
        return gaussian(A, Z) * (1.0 + A[:, :1] ** 2)

    with pytest.raises(InputError, match="expected symmetric values, but"):
        plain.classifier([kb.Callable(lopsided)], kb.BPAS(9)).fit(X, Y)
    plain.classifier([kb.Callable(lopsided)], kb.Perceptron()).fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "learner"), [(Plain, kb.BPAS(9)), (kb.Callable, kb.Perceptron())], ids=str
)
def test_a_function_that_writes_on_its_arrays_changes_nothing(learner, kind):
    """Nor does one whose values are read-only."""

    def writes(A, Z):
        values = gaussian(A, Z)
        values.setflags(write=False)
        A[:], Z[:] = 7.0, 7.0
        return values

    before = X.copy()
    model = plain.classifier([kind(writes)], learner).fit(X, Y)
    usual = plain.classifier([kind(gaussian)], learner).fit(X, Y)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(model.decision_function(X), usual.decision_function(X))
    np.testing.assert_array_equal(X, before)


K = gaussian(X, X)
MATRICES = {
    "ragged": ([[1.0], [1.0, 2.0]], "expected a square matrix of numbers"),
    "masked": (np.ma.masked_less(K, 0.5), "a masked array"),
    "not square": (K[:, :3], "expected a square matrix, got shape"),
    "NaN": (K * np.nan, "NaN or infinite"),
}


@pytest.mark.parametrize("odd", MATRICES)
def test_odd_matrices(odd):
    matrix, message = MATRICES[odd]
    with pytest.raises(InputError, match=f"Precomputed: .*{message}"):
        kb.Precomputed(matrix)


@pytest.mark.parametrize("number", [-1, 0.5, np.nan])
def test_odd_row_numbers(number):
    with pytest.raises(InputError, match="no row of a 80 x 80 matrix"):
        kb.Precomputed(K)([[0.0], [number]], [[1.0]])


def test_a_matrix_that_changes_later_does_not_change_the_kernel():
    own = K.copy()
    kernel = kb.Precomputed(own)
    own[:] = 0.0
    np.testing.assert_array_equal(kernel([[0]], [[1]]), K[:1, 1:2])
