"""Exact block processing: blocks in, decisions out, support vectors kept.

The result is that of one example at a time, whatever the sizes of the blocks.
"""

from __future__ import annotations

import os
from collections.abc import Callable as Function
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .._jit.sums import add_points
from ..errors import NonFiniteError
from ..kernels import Kernel
from ..kernels.planning import Layout
from .points import Block, Floats, Rows, SupportVectors

BLOCK = 256  # examples processed together
TILE = 1024  # support vectors processed together: with a block, what a cache holds
LANES = 128  # examples a thread takes: their sums stay in its first-level cache
WORTH_A_THREAD = 1 << 15  # pairs in a tile below which threads cost more than they save


@cache
def _pool(process: int) -> ThreadPoolExecutor | None:
    """Threads for the kernel sums: OMP_NUM_THREADS of them if set, else one a core."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    threads = int(wished) if wished.isdigit() else len(os.sched_getaffinity(0)) \
        if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ThreadPoolExecutor(threads) if threads > 1 else None


class Engine:
    """Support vectors, the kernels between them and a block, and a sequential pass.

    Parameters
    ----------
    kernels : (o,) the kernel of each output, for error messages
    layout : of these kernels
    columns : number of coefficients a support vector has
    support : the support vectors
    """

    def __init__(self, kernels: tuple[Kernel, ...], layout: Layout, support: SupportVectors):
        self.kernels = kernels
        self.layout = layout
        self.support = support

    def sums(self, block: Block) -> tuple[Floats, Floats]:
        """Kernel sums of the stored support vectors, and of their terms' sizes, (o, b) each."""
        b = len(block)
        scores = np.zeros((len(self.kernels), b))
        sizes = np.zeros_like(scores)
        n = self.support.n
        points = self.support.rows
        coefficients = self.support.coefficients
        tile = np.empty((len(self.layout.channels), min(n, TILE), b))
        for start in range(0, n, TILE):
            stop = min(start + TILE, n)
            part = points.part(start, stop)
            pairs = tile[:, : stop - start]
            block.prepare(part, pairs)

            def lanes(lo: int, part: Rows = part, pairs: Floats = pairs, start: int = start) -> None:
                hi = min(lo + LANES, b)
                block.complete(part, lo, hi, pairs)
                own = coefficients[start : start + len(part)]
                values = np.empty((2, b))
                add_points(
                    self.layout.plan, pairs, 0, len(own), lo, hi, own, scores, sizes, values
                )

            pool = _pool(os.getpid()) if (stop - start) * b >= WORTH_A_THREAD else None
            if pool is not None and b > LANES:
                list(pool.map(lanes, range(0, b, LANES)))
            else:
                for lo in range(0, b, LANES):
                    lanes(lo)
        return scores, sizes

    def learn(
        self, rows: Rows, round_pass: Function[[Floats, Floats, Floats, Floats, slice], None]
    ) -> None:
        """Run `round_pass(pairs, scores, sizes, coefficients, where)` over the rows by blocks.

        `where` is the block's slice of the rows; `coefficients` (b, columns), zeros, is filled
        in, and the examples with a coefficient that is not 0 become support vectors.

        Raises
        ------
        NonFiniteError
            A kernel overflowed; what was learned before this block stays.
        """
        for start in range(0, len(rows), BLOCK):
            where = slice(start, min(start + BLOCK, len(rows)))
            part = rows.part(where.start, where.stop)
            block = Block(part, self.layout)
            scores, sizes = self.sums(block)
            pairs = block.own_pairs()
            self._check_finite(sizes, pairs)
            coefficients = np.zeros((len(part), self.support.coefficients.shape[1]))
            round_pass(pairs, scores, sizes, coefficients, where)
            self._check_finite(sizes, pairs)
            added = np.flatnonzero(coefficients.any(axis=1))
            if len(added):
                self.support.append(part, added, coefficients[added])

    def _check_finite(self, sizes: Floats, pairs: Floats) -> None:
        wrong: NDArray[np.bool_] = ~np.isfinite(sizes).all(axis=1)
        if wrong.any():
            kernel = self.kernels[int(wrong.argmax())]
            raise NonFiniteError(
                f"kernel {kernel}: its sums overflowed; scale the features, or lower its degree"
            )
