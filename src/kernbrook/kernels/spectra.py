"""The spectra of shift-invariant kernels: what random features draw their frequencies from."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.kernels.base import Kernel

Floats = NDArray[np.float64]

WAYS = ("random", "orthogonal", "halton")  # to draw frequencies, see `RandomFeatures`


class ShiftInvariant(Kernel):
    """A kernel of x - z that is 1 at 0, and so the mean of cos v . (x - z) over frequencies v."""

    isotropic: ClassVar[bool] = True  # the same in every direction; else no orthogonal frequencies

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        """(n, width) frequencies v with E exp(i v . delta) = k(delta), drawn in one of `WAYS`."""
        raise NotImplementedError


def normal_frequencies(
    n: int, width: int, way: str, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """(n, width) normal numbers, and (n,) uniform ones from which rows may be lengthened.

    A mixture of Gaussians over their widths has as frequencies normal ones, each lengthened by a
    random factor. Beside orthogonal rows the uniform numbers are stratified.
    """
    if way == "halton":
        uniform = halton(n, width + 1, generator)
        return _normal(uniform[:, :-1]), uniform[:, -1]
    if way == "orthogonal":
        normal = _orthogonal(n, width, generator)
        return normal, (generator.permutation(n) + generator.random(n)) / n  # one in each n-th part
    return generator.standard_normal((n, width)), generator.random(n)


def halton(n: int, dimensions: int, generator: np.random.Generator) -> Floats:
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
