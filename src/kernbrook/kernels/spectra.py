"""The spectra of shift-invariant kernels: what random features draw their frequencies from."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.kernels.base import Kernel

Floats = NDArray[np.float64]

WAYS = ("random", "orthogonal")  # to draw frequencies, see `RandomFeatures`


class ShiftInvariant(Kernel):
    """A kernel of x - z that is 1 at 0, and so the mean of cos v . (x - z) over frequencies v."""

    # The same in every direction of the inputs that a frequency has; else no orthogonal ones.
    isotropic: ClassVar[bool] = True
    # A product of kernels of one input each: the frequencies' parts are independent.
    product: ClassVar[bool] = False

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        """(n, width) frequencies v with E exp(i v . delta) = k(delta), drawn in one of `WAYS`."""
        raise NotImplementedError


def over_subsets(
    kernel: ShiftInvariant,
    inputs: int,
    n: int,
    width: int,
    way: str,
    generator: np.random.Generator,
) -> Floats:
    """(n, width) frequencies of the kernel's mean over all sets of so many inputs.

    Each has at its own inputs a frequency of the kernel of these, elsewhere 0. Orthogonal ones
    have the same inputs within a block.
    """
    if inputs >= width:
        return kernel.frequencies(n, width, way, generator)
    block = inputs if way == "orthogonal" else 1
    drawn = kernel.frequencies(n, inputs, way, generator)
    chosen = np.repeat(_subsets(-(-n // block), inputs, width, generator), block, axis=0)[:n]
    frequencies = np.zeros((n, width))
    np.put_along_axis(frequencies, chosen, drawn, axis=1)
    return frequencies


def _subsets(n: int, inputs: int, width: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """(n, inputs) rising numbers below `width`: every set is as likely, all inputs as frequent.

    Dealt from one shuffled deck of the inputs after the other. Those that are left in a deck come
    last in the next, so that no set has an input twice.
    """
    chosen = np.empty((n, inputs), dtype=np.int64)
    deck = np.empty(0, dtype=np.int64)
    for i in range(n):
        if len(deck) < inputs:
            fresh = generator.permutation(width)
            late = np.isin(fresh, deck)
            deck = np.concatenate([deck, fresh[~late], fresh[late]])
        chosen[i], deck = deck[:inputs], deck[inputs:]
    return np.sort(chosen, axis=1)


def normal_frequencies(
    n: int, width: int, way: str, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """(n, width) normal numbers, and (n,) uniform ones from which rows may be lengthened.

    A mixture of Gaussians over their widths has as frequencies normal ones, each lengthened by a
    random factor. Beside orthogonal rows the uniform numbers are stratified.
    """
    if way == "orthogonal":
        normal = _orthogonal(n, width, generator)
        return normal, (generator.permutation(n) + generator.random(n)) / n  # one in each n-th part
    return generator.standard_normal((n, width)), generator.random(n)


def _orthogonal(n: int, width: int, generator: np.random.Generator) -> Floats:
    """(n, width) rows of the lengths of normal ones, orthogonal within blocks of `width`."""
    rows = np.empty((n, width))
    for start in range(0, n, width):
        size = min(width, n - start)
        directions, triangle = np.linalg.qr(generator.standard_normal((width, size)))
        directions *= np.sign(np.diagonal(triangle))  # uniform: not what QR prefers
        rows[start : start + size] = directions.T
    return rows * np.sqrt(generator.chisquare(width, (n, 1)))
