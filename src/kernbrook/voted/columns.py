"""The base functions K_k(., x_j) on the training points: p n columns of length n.

What fits into the given memory is kept; the rest is computed again, block by block, whenever it is
needed. So p Gram matrices never have to be held at once. Powers are not kept at all, but the bases
that they share: powers are cheaper than memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kernbrook.kernels import Kernel
from kernbrook.voted.examples import (
    Examples,
    Floats,
    Indices,
    base_name,
    base_of,
    check_sizes,
    inner,
    is_power,
    power,
    values,
)
from kernbrook.voted.powers import add_powers

TILE = 2**20  # values of one kernel computed together
WIDEST = 512


class Columns:
    """p n columns; column k n + j holds K_k(x_i, x_j), i = 0 ... n-1.

    Parameters
    ----------
    kernels : p kernels
    examples : n examples
    memory : bytes of bases and kernel values that may be kept

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
        self.memory = self._room = memory
        self._bases: dict[tuple[int, int], Floats] = {}  # by group and block
        self._kept: dict[tuple[int, int], Floats] = {}  # by kernel and block
        self.sizes = np.empty((len(self.kernels), self.n))
        self.diagonals = np.empty((len(self.kernels), self.n))
        powers: dict[Any, dict[int, int]] = {}
        for k, kernel in enumerate(self.kernels):
            if is_power(kernel) and not examples.are_objects:
                powers.setdefault(base_name(kernel), {})[k] = int(kernel.degree)
        self._groups = list(powers.values())  # the degrees of powers of one base
        self._group = {k: g for g, group in enumerate(self._groups) for k in group}
        self._others = [k for k in range(len(self.kernels)) if k not in self._group]
        everyone = np.arange(self.n)
        for b in range(len(self._blocks)):
            self._measure_powers(b)
        for b, (lo, hi) in enumerate(self._blocks):
            for k, block in self._values(b, everyone):
                self.sizes[k, lo:hi] = np.abs(block).max(axis=0)
                self.diagonals[k, lo:hi] = block[np.arange(lo, hi), np.arange(hi - lo)]
                if self._has_room(block):
                    self._kept[k, b] = block

    def __len__(self) -> int:
        return len(self.kernels) * self.n

    def part(self, which: Indices) -> Columns:
        """The base functions of some of the examples, on these examples; with their share of the
        memory, which comes on top."""
        share = self.memory * len(which) / self.n
        return Columns(self.kernels, self.examples.take(which), share)

    def scores(self, weights: Floats) -> Floats:
        """(p, n) sums over i of weights_i K_k(x_i, x_j).

        Rows of weight 0 are left out, and cost nothing.
        """
        rows = np.flatnonzero(weights)
        weights = weights[rows]
        result = np.zeros((len(self.kernels), self.n))
        if len(rows) == 0:
            return result
        for b, (lo, hi) in enumerate(self._blocks):
            for k, sums in self._power_sums(b, rows, weights):
                result[k, lo:hi] = sums
            for k, block in self._values(b, rows):
                result[k, lo:hi] = weights @ block
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
                elif (g := self._group.get(k, -1), b) in self._bases:
                    base = self._bases[g, b][:, example[here] - lo].T
                    result[here] = power(base, self._groups[g][k])
                else:
                    missing.append((k, here))
            if missing:
                points = np.unique(example[np.concatenate([here for _, here in missing])])
                pool = [self.kernels[k] for k, _ in missing]
                computed = values(pool, self.examples, self.examples.take(points))
                for (_, here), block in zip(missing, computed, strict=True):
                    result[here] = block[:, np.searchsorted(points, example[here])].T
        return result

    def _has_room(self, block: Floats) -> bool:
        if block.nbytes > self._room:
            return False
        self._room -= block.nbytes
        return True

    def _measure_powers(self, b: int) -> None:
        """Sizes and diagonals of the powers: a power is greatest where its base is."""
        lo, hi = self._blocks[b]
        bases = self._computed_bases(b, np.arange(self.n), range(len(self._groups)))
        for g, base in bases.items():
            largest, own = np.abs(base).max(axis=0), np.diagonal(base, -lo)[: hi - lo]
            for k, degree in self._groups[g].items():
                self.sizes[k, lo:hi] = power(largest.copy(), degree)
                self.diagonals[k, lo:hi] = power(own.copy(), degree)
                check_sizes(self.kernels[k], self.sizes[k, lo:hi], of_vectors=True)
            if self._has_room(base):
                self._bases[g, b] = base

    def _power_sums(self, b: int, rows: Indices, weights: Floats) -> Iterator[tuple[int, Floats]]:
        """The powers, each with its scores in block b; those of one base are one pass."""
        here = np.arange(len(rows))
        missing = [g for g in range(len(self._groups)) if (g, b) not in self._bases]
        computed = self._computed_bases(b, rows, missing)
        for g, group in enumerate(self._groups):
            base, at = (computed[g], here) if g in computed else (self._bases[g, b], rows)
            sums = np.zeros((max(group.values()), base.shape[1]))
            add_powers(base, at, weights, sums)
            for k, degree in group.items():
                yield k, sums[degree - 1]

    def _computed_bases(self, b: int, rows: Indices, groups: Sequence[int]) -> dict[int, Floats]:
        """The bases of powers, by group, of some examples and block b."""
        if not groups:
            return {}
        lo, hi = self._blocks[b]
        some = self.examples if len(rows) == self.n else self.examples.take(rows)
        block = self.examples.take(slice(lo, hi))
        products, norms = inner(some, block), (some.norms, block.norms)
        firsts = {g: self.kernels[next(iter(self._groups[g]))] for g in groups}
        return {g: base_of(kernel, products, *norms) for g, kernel in firsts.items()}

    def _values(self, b: int, rows: Indices) -> Iterator[tuple[int, Floats]]:
        """The kernels that are no powers, each with its values between rows and block b."""
        lo, hi = self._blocks[b]
        whole = len(rows) == self.n
        missing = []
        for k in self._others:
            if (k, b) in self._kept:
                yield k, self._kept[k, b] if whole else self._kept[k, b][rows]
            else:
                missing.append(k)
        if missing:
            some = self.examples if whole else self.examples.take(rows)
            pool = [self.kernels[k] for k in missing]
            yield from zip(
                missing, values(pool, some, self.examples.take(slice(lo, hi))), strict=True
            )
