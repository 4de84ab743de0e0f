"""Feature maps as recipes: what is drawn or solved once, so that <z(x), z(x')> is near k(x, x').

A recipe has parameters only. `draw` gives the arrays of one map, of a kernel and a width; what
they do to rows is in `models.feature_maps`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import whole_number
from kernbrook.errors import InputError
from kernbrook.kernels.functions import Cauchy, Gaussian, Kernel, Laplacian
from kernbrook.kernels.matern import Matern

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
Shapes = dict[str, tuple[tuple[int, ...], Any]]

SHIFT_INVARIANT = (Gaussian, Laplacian, Cauchy, Matern)


class Features(BaseEstimator):
    """A recipe for the map of one kernel."""

    choice = "features"

    def dim(self, kernel: Kernel, width: int) -> int:
        """How many features the map gives; raises InputError where there is no such map."""
        raise NotImplementedError

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        """The arrays of a map."""
        raise NotImplementedError

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        """Shape and type of each array that `draw` gives."""
        return {}

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise InputError unless arrays of these shapes and types can be those of a map."""
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise InputError(f"{name}: NaN or infinity")


class RandomFeatures(Features):
    """z(x) = [sin V x, cos V x] / sqrt(D), D frequencies V drawn from the kernel's own spectrum.

    For the shift-invariant kernels Gaussian, Laplacian, Cauchy and Matern. z(x) . z(x') is then
    the mean of cos v . (x - x') over the frequencies, whose expectation is k(x, x'); its error
    falls like 1 / sqrt(D).

    Parameters
    ----------
    n_components : int, D
        Frequencies; there are 2 D features, the sines first.
    frequencies : "random", "orthogonal" or "halton"
        Independent; orthogonal in blocks of as many as there are input features, each of the
        length that an independent one has; or from a scrambled Halton sequence. The last two are
        nearer to the kernel with as many frequencies. A Laplacian has no orthogonal ones.
    normalize : bool
        Divide by sqrt(D). Without, as in the tables of Chae and Hong (2021), z(x) . z(x') is near
        D k(x, x'), and gradient steps are D times as long.

    Notes
    -----
    Frequencies v with E exp(i v . delta) = k(delta): for a Gaussian, normal with variance
    2 gamma; for the Laplacian, of the distance ||x - z||_1, Cauchy with scale gamma in each
    coordinate; Cauchy and Matern kernels are mixtures of Gaussians over gamma, so theirs are
    normal ones, each lengthened by a random factor: sqrt(e), e exponential with mean 1, for the
    Cauchy kernel, sqrt(nu / g), g of the gamma distribution with shape nu, for Matern. Beside
    orthogonal directions these factors are stratified, which the paper, of Gaussians, has no need
    for; it lowers the error by a tenth.

    Which are nearest depends on the inputs. Root mean square error of a Gaussian with 50
    frequencies (random, orthogonal, Halton; 20 draws): 2 inputs .065, .050, .019; 5 inputs .070,
    .049, .042; 20 inputs .085, .055, .080; 96 inputs .084, .067, .084.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines. Yu, Suresh,
    Choromanski, Holtmann-Rice, Kumar (2016), Orthogonal random features, section 3. Avron,
    Sindhwani, Yang, Mahoney (2016), Quasi-Monte Carlo feature maps for shift-invariant kernels,
    section 3.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.RandomFeatures(100, frequencies="orthogonal")
    RandomFeatures(frequencies='orthogonal', n_components=100)
    """

    FREQUENCIES: ClassVar = ("random", "orthogonal", "halton")

    def __init__(self, n_components: int = 50, frequencies: str = "random", normalize: bool = True):
        self.n_components = n_components
        self.frequencies = frequencies
        self.normalize = normalize

    def scale(self) -> float:
        """What sines and cosines are multiplied by."""
        return 1.0 / math.sqrt(self.n_components) if self.normalize else 1.0

    def dim(self, kernel: Kernel, width: int) -> int:
        if not isinstance(kernel, SHIFT_INVARIANT):
            names = ", ".join(kind.__name__ for kind in SHIFT_INVARIANT)
            raise InputError(
                f"RandomFeatures: expected a shift-invariant kernel ({names}), got {kernel!r}; "
                "Nystroem has features for any kernel, Monomials and TensorSketch for polynomials"
            )
        if self.frequencies not in self.FREQUENCIES:
            raise InputError(
                f"RandomFeatures: frequencies must be one of {', '.join(self.FREQUENCIES)}, "
                f"got {self.frequencies!r}"
            )
        if self.frequencies == "orthogonal" and isinstance(kernel, Laplacian):
            raise InputError(
                "RandomFeatures: a Laplacian has no orthogonal frequencies, its spectrum is not "
                "the same in every direction; take 'random' or 'halton'"
            )
        return 2 * whole_number(self, "n_components")

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        return {"frequencies": ((self.n_components, width), np.float64)}

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        n = self.dim(kernel, width) // 2
        if isinstance(kernel, Laplacian):
            if self.frequencies == "random":
                return {"frequencies": kernel.gamma * generator.standard_cauchy((n, width))}
            uniform = _halton(n, width, generator)
            return {"frequencies": kernel.gamma * np.tan(np.pi * (uniform - 0.5))}
        if self.frequencies == "halton":
            uniform = _halton(n, width + 1, generator)
            normal, last = _normal(uniform[:, :-1]), uniform[:, -1]
        elif self.frequencies == "orthogonal":
            normal = _orthogonal(n, width, generator)
            last = (generator.permutation(n) + generator.random(n)) / n  # one in each n-th part
        else:
            normal, last = generator.standard_normal((n, width)), generator.random(n)
        assert isinstance(kernel, SHIFT_INVARIANT)
        lengths = math.sqrt(2.0 * kernel.gamma) * _lengthening(kernel, last)
        return {"frequencies": lengths[:, None] * normal}


def _lengthening(kernel: Kernel, uniform: Floats) -> Floats:
    """(n,) factors by which normal frequencies become the kernel's, from uniform numbers."""
    if isinstance(kernel, Cauchy):
        return np.sqrt(-np.log1p(-uniform))
    if isinstance(kernel, Matern):
        from scipy.special import gammaincinv

        smallest = np.finfo(np.float64).tiny
        return np.sqrt(kernel.nu / np.maximum(gammaincinv(kernel.nu, uniform), smallest))
    return np.ones(len(uniform))


def _halton(n: int, dimensions: int, generator: np.random.Generator) -> Floats:
    """(n, dimensions) points of a scrambled Halton sequence, inside the unit cube."""
    from scipy.stats.qmc import Halton  # slow to import

    points = Halton(dimensions, scramble=True, rng=generator).random(n)
    edge = 2.0**-53
    return np.clip(points, edge, 1.0 - edge)


def _normal(uniform: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform))


def _orthogonal(n: int, width: int, generator: np.random.Generator) -> Floats:
    """(n, width) rows of the lengths of normal ones, orthogonal within blocks of `width`."""
    rows = np.empty((n, width))
    for start in range(0, n, width):
        size = min(width, n - start)
        directions, triangle = np.linalg.qr(generator.standard_normal((width, size)))
        directions *= np.sign(np.diagonal(triangle))  # uniform: not what QR prefers
        rows[start : start + size] = directions.T
    return rows * np.sqrt(generator.chisquare(width, (n, 1)))
