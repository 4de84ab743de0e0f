"""Feature maps at work: from rows to the features of one kernel, or of a pool.

A map's value for a row does not depend on the rows beside it, nor on sparsity, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernbrook._jit.features import (
    count_sketches,
    fill_monomials,
    kernel_values,
    multiply_spectra,
)
from kernbrook._jit.pairs import dense_inner, sparse_inner
from kernbrook._jit.trigonometry import fill_waves
from kernbrook.engine.points import Block, DenseRows, Floats, Rows, SparseRows, check_array
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel, Monomials, Nystroem, Polynomial, RandomFeatures, TensorSketch
from kernbrook.kernels.features import Arrays, Features
from kernbrook.kernels.planning import lay_out
from kernbrook.kernels.polynomial_features import monomials

TILE = 64  # rows taken together
PANEL = 512  # angles of a row computed together, where kernels have no more: what the caches hold


class Map:
    """The features z(x) of one kernel.

    Parameters
    ----------
    kernel : the kernel
    features : the recipe
    width : number of input features
    arrays : what the recipe drew

    Attributes
    ----------
    dim : number of features
    """

    def __init__(self, kernel: Kernel, features: Features, width: int, arrays: Arrays):
        self.kernel = kernel
        self.features = features
        self.width = width
        self.dim = features.dim(kernel, width)
        self._arrays = arrays

    def arrays(self) -> Arrays:
        """All that was drawn or solved, by name; `restore` makes the map again."""
        return self._arrays

    def transform(self, rows: Rows) -> Floats:
        """(n, dim) features of the rows."""
        return PoolMap([self]).blocks(rows)[0]

    def fill(self, rows: Rows, out: Floats) -> None:
        """Write the features of a few rows in `out`, (n, dim)."""
        raise NotImplementedError


class WaveMap(Map):
    """[sin V x, cos V x], which a pool computes for all its kernels together."""


class MonomialMap(Map):
    """The monomials of a polynomial kernel, each a product of inputs."""

    def __init__(self, kernel: Kernel, features: Features, width: int, arrays: Arrays):
        super().__init__(kernel, features, width, arrays)
        assert isinstance(kernel, Polynomial)
        self._chosen, self._factors = monomials(kernel, width)

    def fill(self, rows: Rows, out: Floats) -> None:
        fill_monomials(rows.dense(), self._chosen, self._factors, out)


class SketchMap(Map):
    """Count sketches of a row, convolved."""

    def fill(self, rows: Rows, out: Floats) -> None:
        assert isinstance(self.kernel, Polynomial)
        buckets, signs = self._arrays["buckets"], self._arrays["signs"]
        sketches = np.empty((len(buckets), *out.shape))
        count_sketches(rows.dense(), math.sqrt(self.kernel.offset), buckets, signs, sketches)
        spectra = np.fft.rfft(sketches)
        multiply_spectra(spectra)
        out[:] = np.fft.irfft(spectra[0], self.dim)


class NystroemMap(Map):
    """Kernel values with the landmarks, times the inverse root of those among them."""

    def __init__(self, kernel: Kernel, features: Features, width: int, arrays: Arrays):
        super().__init__(kernel, features, width, arrays)
        assert isinstance(features, Nystroem)
        points = features.points(width)
        self._dense = DenseRows.of(points)
        self._sparse = SparseRows.of(sp.csr_matrix(points))
        self._layout = lay_out([kernel])

    def fill(self, rows: Rows, out: Floats) -> None:
        points = self._sparse if isinstance(rows, SparseRows) else self._dense
        pairs = np.empty((len(self._layout.channels), len(points), len(rows)))
        Block(rows, self._layout).pairs(points, pairs)
        values = np.empty((len(rows), len(points)))
        kernel_values(self._layout.plan, pairs, values)
        dense_inner(values, self._arrays["root"], out)


def draw(kernel: Kernel, features: Features, width: int, seed: int, index: int = 0) -> Map:
    """A map with fresh draws, which depend on the seed and the index alone.

    Parameters
    ----------
    kernel : the kernel
    features : the recipe
    width : number of input features
    seed : int from 0
    index : int from 0; the kernel's number in its pool, so that each has its own draws

    Raises
    ------
    InputError
        The recipe has no features for this kernel, or a parameter is not what was expected.
    """
    if width < 1:
        raise InputError(f"{type(features).__name__}: expected examples with features, got none")
    generator = np.random.default_rng([seed, index])
    return _KINDS[type(features)](kernel, features, width, features.draw(kernel, width, generator))


def restore(kernel: Kernel, features: Features, width: int, arrays: Mapping[str, Any]) -> Map:
    """The map whose `arrays()` these are.

    Raises
    ------
    InputError
        An array is missing or can be none of this map; compiled code trusts them later.
    """
    features.dim(kernel, width)
    expected = features.shapes(kernel, width)
    for name, (shape, kind) in expected.items():
        check_array(name, arrays.get(name), shape, kind)
    own = {name: arrays[name] for name in expected}
    features.check(own)
    return _KINDS[type(features)](kernel, features, width, own)


_KINDS: dict[type[Features], type[Map]] = {
    RandomFeatures: WaveMap,
    Monomials: MonomialMap,
    TensorSketch: SketchMap,
    Nystroem: NystroemMap,
}


class PoolMap:
    """The features of several maps of one width, for blocks of rows.

    The features of b rows are one flat array of b * offsets[m] numbers, map after map: those of
    map i begin at b * offsets[i], a C-contiguous (b, dims[i]) block.

    Parameters
    ----------
    maps : the m maps

    Attributes
    ----------
    dims : (m,) int, features of each map
    offsets : (m + 1,) int, sums of the dims before each
    """

    def __init__(self, maps: Sequence[Map]):
        self.maps = tuple(maps)
        self.dims = np.array([one.dim for one in maps], dtype=np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.dims)])
        self._panels: list[_Panel] = []
        held: list[int] = []
        for i, one in enumerate(maps):
            if isinstance(one, WaveMap):
                held.append(i)
                if sum(self.dims[j] for j in held) >= 2 * PANEL:
                    self._panels.append(_Panel(self, held))
                    held = []
        if held:
            self._panels.append(_Panel(self, held))

    def empty(self, b: int) -> Floats:
        """Room for the features of b rows."""
        return np.empty(b * int(self.offsets[-1]))

    def views(self, out: Floats) -> list[Floats]:
        """The block (b, dim) of each map in a flat array."""
        b = len(out) // int(self.offsets[-1])
        edges = b * self.offsets
        return [
            out[edges[i] : edges[i + 1]].reshape(b, int(dim)) for i, dim in enumerate(self.dims)
        ]

    def blocks(self, rows: Rows) -> list[Floats]:
        """(n, dim) features of the rows by each map: parts of one array."""
        out = self.empty(len(rows))
        self.fill(rows, out)
        return self.views(out)

    def fill(self, rows: Rows, out: Floats, start: int = 0) -> None:
        """Write the features of the rows, which are start.. of the block that `out` is for.

        Several threads may do so at once, each with its own part of the block's rows.
        """
        b = len(out) // int(self.offsets[-1])
        for panel in self._panels:
            panel.fill(rows, out, b, start)
        for one, block in zip(self.maps, self.views(out), strict=True):
            if not isinstance(one, WaveMap):
                for lo in range(0, len(rows), TILE):
                    part = rows.part(lo, min(lo + TILE, len(rows)))
                    one.fill(part, block[start + lo : start + lo + len(part)])


class _Panel:
    """Random features of some maps of a pool, computed together."""

    def __init__(self, pool: PoolMap, which: Sequence[int]):
        frequencies = [pool.maps[i].arrays()["frequencies"] for i in which]
        self.columns = np.ascontiguousarray(np.concatenate(frequencies).T)
        self.first = np.concatenate([[0], np.cumsum(pool.dims[which] // 2)])
        self.scale = np.array([pool.maps[i].features.scale() for i in which])
        self.dims, self.offsets = pool.dims[which], pool.offsets[which]
        self.place = np.arange(len(self.columns))

    def fill(self, rows: Rows, out: Floats, b: int, start: int) -> None:
        memory = np.empty((min(TILE, len(rows)), self.columns.shape[1]))
        for lo in range(0, len(rows), TILE):
            part = rows.part(lo, min(lo + TILE, len(rows)))
            angles = memory[: len(part)]
            if isinstance(part, DenseRows):
                dense_inner(part.X, self.columns, angles)
            else:
                csr = part.data, part.indices, part.indptr, part.start
                sparse_inner(*csr, self.columns, self.place, angles)
            starts = b * self.offsets + (start + lo) * self.dims
            fill_waves(angles, self.first, self.scale, starts, out)
