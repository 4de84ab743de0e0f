"""The base functions K_k(., x_j) on the training points: p n columns of length n.

What fits into the given memory is kept; the rest is computed again, block by block, whenever it is
needed. So p Gram matrices never have to be held at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kernbrook.kernels import Kernel
from kernbrook.voted.examples import Examples, Floats, Indices, values

TILE = 2**20  # values of one kernel computed together
WIDEST = 512


class Columns:
    """p n columns; column k n + j holds K_k(x_i, x_j), i = 0 ... n-1.

    Parameters
    ----------
    kernels : p kernels
    examples : n examples
    memory : bytes of kernel values that may be kept

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
        width = max(1, min(WIDEST, TILE // self.n))
        self._blocks = [(lo, min(lo + width, self.n)) for lo in range(0, self.n, width)]
        self._kept: dict[tuple[int, int], Floats] = {}
        self.sizes = np.empty((len(self.kernels), self.n))
        self.diagonals = np.empty((len(self.kernels), self.n))
        room = memory
        everyone = np.arange(self.n)
        for b, (lo, hi) in enumerate(self._blocks):
            for k, block in self._block(b, everyone):
                self.sizes[k, lo:hi] = np.abs(block).max(axis=0)
                self.diagonals[k, lo:hi] = block[np.arange(lo, hi), np.arange(hi - lo)]
                if block.nbytes <= room:
                    self._kept[k, b] = block
                    room -= block.nbytes

    def __len__(self) -> int:
        return len(self.kernels) * self.n

    def scores(self, weights: Floats, absolute: bool = False) -> Floats:
        """(p, n) sums over i of weights_i K_k(x_i, x_j), or of weights_i |K_k(x_i, x_j)|.

        Rows of weight 0 are left out, and cost nothing.
        """
        rows = np.flatnonzero(weights)
        weights = weights[rows]
        result = np.zeros((len(self.kernels), self.n))
        if len(rows):
            for b, (lo, hi) in enumerate(self._blocks):
                for k, block in self._block(b, rows):
                    result[k, lo:hi] = weights @ (np.abs(block) if absolute else block)
        return result

    def take(self, which: Indices) -> Floats:
        """(len(which), n) columns, by number k n + j."""
        result = np.empty((len(which), self.n))
        kernel, example = np.divmod(which, self.n)
        of_block = example // (self._blocks[0][1])
        for b in np.unique(of_block):
            lo = self._blocks[b][0]
            missing = []
            for k in np.unique(kernel[of_block == b]):
                here = np.flatnonzero((of_block == b) & (kernel == k))
                if (k, b) in self._kept:
                    result[here] = self._kept[k, b][:, example[here] - lo].T
                else:
                    missing.append((k, here))
            if missing:
                points = np.unique(example[np.concatenate([here for _, here in missing])])
                pool = [self.kernels[k] for k, _ in missing]
                computed = values(pool, self.examples, self.examples.take(points))
                for (_, here), block in zip(missing, computed, strict=True):
                    result[here] = block[:, np.searchsorted(points, example[here])].T
        return result

    def _block(self, b: int, rows: Indices) -> Iterator[tuple[int, Floats]]:
        """The kernels in turn, each with its values between some rows and block b."""
        lo, hi = self._blocks[b]
        whole = len(rows) == self.n
        missing = [k for k in range(len(self.kernels)) if (k, b) not in self._kept]
        for k in range(len(self.kernels)):
            if (k, b) in self._kept:
                yield k, self._kept[k, b] if whole else self._kept[k, b][rows]
        if missing:
            some = self.examples if whole else self.examples.take(rows)
            pool = [self.kernels[k] for k in missing]
            yield from zip(
                missing, values(pool, some, self.examples.take(slice(lo, hi))), strict=True
            )
