"""The base functions K_k(., x_j) on the training points: p n columns of length n.

What all kernels are functions of, inner products and distances, is kept as far as the given memory
goes; the rest is computed again, block by block, whenever it is needed. So p Gram matrices never
have to be held.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernbrook.kernels import Kernel
from kernbrook.voted.examples import Examples, Floats, Indices
from kernbrook.voted.kernel_pool import Pool, check_sizes

TILE = 2**20  # values of one kernel computed together
WIDEST = 512


class Columns:
    """p n columns; column k n + j holds K_k(x_i, x_j), i = 0 ... n-1.

    Parameters
    ----------
    kernels : p kernels
    examples : n examples
    memory : bytes of pair values that may be kept

    Attributes
    ----------
    sizes : (p, n), the greatest |K_k(x_i, x_j)| over i
    diagonals : (p, n), K_k(x_j, x_j)

    Notes
    -----
    Results do not depend on `memory`, bit for bit: blocks are the same whether kept or not.
    """

    def __init__(self, kernels: Sequence[Kernel], examples: Examples, memory: float):
        self.kernels = tuple(kernels)
        self.examples = examples
        self.n = len(examples)
        self.memory = memory
        self._pool = Pool(kernels)
        width = max(1, min(WIDEST, TILE // self.n))
        self._blocks = [(lo, min(lo + width, self.n)) for lo in range(0, self.n, width)]
        self._kept: dict[int, Floats] = {}  # pair values, by block
        self.sizes = np.empty((len(self.kernels), self.n))
        self.diagonals = np.empty((len(self.kernels), self.n))
        room = memory
        for b, (lo, hi) in enumerate(self._blocks):
            pairs = self._pool.pairs(examples, examples.take(slice(lo, hi)))
            self.sizes[:, lo:hi] = self._pool.sizes(pairs)
            diagonal = np.ascontiguousarray(np.diagonal(pairs, -lo, 1, 2))[:, None]
            for k, kernel in enumerate(self.kernels):
                check_sizes(kernel, self.sizes[k, lo:hi], of_vectors=not examples.are_objects)
                self.diagonals[k, lo:hi] = self._pool.values(k, diagonal)
            if pairs.nbytes <= room:
                self._kept[b] = pairs
                room -= pairs.nbytes

    def part(self, which: Indices) -> Columns:
        """The base functions of some of the examples, on these examples; with their share of the
        memory, which comes on top."""
        share = self.memory * len(which) / self.n
        return Columns(self.kernels, self.examples.take(which), share)

    def scores(self, weights: Floats) -> Floats:
        """(p, n) sums over i of weights_i K_k(x_i, x_j).

        Rows of weight 0 are left out, and cost nothing.
        """
        result = np.zeros((len(self.kernels), self.n))
        rows = np.flatnonzero(weights)
        if len(rows) == 0:
            return result
        weights = weights[rows]
        some = self.examples if len(rows) == self.n else self.examples.take(rows)
        for b, (lo, hi) in enumerate(self._blocks):
            if b in self._kept:
                result[:, lo:hi] = self._pool.sums(self._kept[b], rows, weights)
            else:
                pairs = self._pool.pairs(some, self.examples.take(slice(lo, hi)))
                result[:, lo:hi] = self._pool.sums(pairs, np.arange(len(rows)), weights)
        return result

    def take(self, which: Indices) -> Floats:
        """(len(which), n) columns, by number k n + j."""
        result = np.empty((len(which), self.n))
        kernel, example = np.divmod(which, self.n)
        of_block = example // self._blocks[0][1]
        for b in np.unique(of_block):
            here = of_block == b
            wanted = np.unique(kernel[here])
            if b in self._kept:
                pool, pairs, numbers = self._pool, self._kept[b], wanted
                place = example - self._blocks[b][0]
            else:
                points = np.unique(example[here])
                pool, numbers = Pool([self.kernels[k] for k in wanted]), np.arange(len(wanted))
                pairs = pool.pairs(self.examples, self.examples.take(points))
                place = np.searchsorted(points, example)
            for k, number in zip(wanted, numbers, strict=True):
                at = here & (kernel == k)
                result[at] = pool.values(number, pairs.take(place[at], axis=2)).T
        return result
