"""The feature maps of a pool of kernels at work: from rows to features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import ask_for, check, shown
from kernbrook.compiler.checking import check_verbs
from kernbrook.compiler.compiling import is_theirs
from kernbrook.errors import InputError
from kernbrook.features.base import TILE, Features, Map, write_rows
from kernbrook.gram.arrays import Floats, check_array
from kernbrook.gram.rows import Rows
from kernbrook.kernels import Kernel

PANEL = 1024  # features of a row computed together, where a map has no more: what the caches hold


def draw(kernel: Kernel, features: Features, width: int, seed: int, index: int = 0) -> Map:
    """A map with fresh draws, which depend on the seed and the index alone.

    InputError where the recipe has no features for this kernel, or a parameter is not sound.

    width : number of input features
    index : the kernel's number in its pool, so that each has its own draws
    """
    check(features)
    if width < 1:
        raise InputError(f"{type(features).__name__}: expected examples with features, got none")
    features.dim(kernel, width)  # is there such a map?
    ask_for(numbers_of(kernel, features, width), f"{shown(features)} of {width:,} inputs")
    generator = np.random.default_rng([seed, index])
    return features.map(kernel, features, width, features.draw(kernel, width, generator))


def widen(held: Map, width: int, seed: int, index: int = 0) -> Map | None:
    """A map of more inputs, with the same features of rows that are 0 there; None: there is none.

    seed, index : as of `draw`
    """
    kernel, features = held.kernel, held.features
    generator = np.random.default_rng([seed, index, width])
    arrays = features.with_features(kernel, held.arrays(), width, generator)
    return None if arrays is None else features.map(kernel, features, width, arrays)


def numbers_of(kernel: Kernel, features: Features, width: int) -> int:
    """How many numbers a map holds."""
    return sum(math.prod(shape) for shape, _ in features.shapes(kernel, width).values())


def restore(kernel: Kernel, features: Features, width: int, arrays: Mapping[str, Any]) -> Map:
    """The map whose `arrays()` these are.

    InputError where one is missing or can be none of this map; compiled code trusts them later.
    """
    features.dim(kernel, width)
    expected = features.shapes(kernel, width)
    for name, (shape, kind) in expected.items():
        check_array(name, arrays.get(name), shape, kind)
    given = {name: arrays[name] for name in expected}
    features.check(given)
    return features.map(kernel, features, width, given)


class PoolMap:
    """The features of several maps of one width, for blocks of rows.

    The features of b rows are one flat array of b * offsets[m] numbers, map after map: those of
    map i begin at b * offsets[i], a C-contiguous (b, dims[i]) block.

    dims : (m,) int, features of each map
    offsets : (m + 1,) int, sums of the dims before each
    """

    def __init__(self, maps: Sequence[Map]):
        self.maps = tuple(maps)
        for drawn in maps:
            if is_theirs(type(drawn)) and (rule := drawn.rule(0)) is not None:
                check_verbs(drawn, rule, (write_rows,))
        self.dims = np.array([drawn.dim for drawn in maps], dtype=np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.dims)])
        self._panels: list[tuple[NDArray[np.int64], Any]] = []
        for kind in {drawn.panel for drawn in maps if drawn.panel is not None}:
            held: list[int] = []
            for i, drawn in enumerate(maps):
                if drawn.panel is kind:
                    held.append(i)
                if held and (drawn is maps[-1] or self.dims[held].sum() >= PANEL):
                    self._panels.append((np.array(held), kind([maps[j] for j in held])))
                    held = []

    def __deepcopy__(self, memo: object) -> PoolMap:
        """The maps do not change once they are drawn."""
        return self

    def empty(self, b: int) -> Floats:
        """Room for the features of b rows."""
        features = int(self.offsets[-1])
        return ask_for(b * features, f"a block of {b:,} rows of {features:,} features")

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
        for which, panel in self._panels:
            panel.fill(rows, b * self.offsets[which] + start * self.dims[which], out)
        for drawn, block in zip(self.maps, self.views(out), strict=True):
            if drawn.panel is None:
                for lo in range(0, len(rows), TILE):
                    part = rows.part(lo, min(lo + TILE, len(rows)))
                    drawn.fill(part, block[start + lo : start + lo + len(part)])

    def rules(self, n: int) -> list[Any]:
        """Rules that write the features of n rows; None among them where some map has none."""
        panels = [panel.rule(n * self.offsets[which], n) for which, panel in self._panels]
        pairs = zip(self.maps, (n * self.offsets).tolist(), strict=False)
        return panels + [drawn.rule(start) for drawn, start in pairs if drawn.panel is None]
