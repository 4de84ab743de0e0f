"""Random binning: grids of random widths, whose cells are hashed into one table."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import Number, Several, Whole, each_of, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.binning import check_ranges
from kernbrook.numerics.draws import DRAW_GRIDS, PURPOSE, STRIDE, mix, uniform

SMALLEST_WIDTH = 1e-3  # in ranks
MOST_GRIDS = 1000
DRAWN = 256  # rows after which inputs are drawn for good
LEAST_BITS = 0.05  # what the bin of a feature tells at least, where inputs are drawn


class Grids(NamedTuple):
    """n grids, which lie one after the other.

    first : (n + 1,) grid g cuts the inputs number first[g] .. first[g + 1] - 1
    inputs, inverse, shift : of each the feature, 1 / width, and where the bins begin
    factor, salt : odd factors of the hash, and (n,) what the hash of a grid begins with
    """

    first: NDArray[np.int32]
    inputs: NDArray[np.int32]
    inverse: NDArray[np.float32]
    shift: NDArray[np.float32]
    factor: NDArray[np.int32]
    salt: NDArray[np.int32]


@parameters
class RandomBinning(BaseEstimator):
    """A map for `Cells`: n grids, each of which cuts some inputs into bins.

    A row lies in one cell of each grid. The kernel of this map is the share of the grids in which
    two rows lie in one cell. Inputs are ranks, from 0 to 1, among a sample of the rows. The width
    of the bins of an input is drawn from a gamma distribution of shape 2, so the kernel of one
    input comes near a Laplacian one.

    Parameters
    ----------
    n : int
        Grids.
    inputs : int, None, or a list of these
        How many inputs a grid cuts, drawn at random; None: all. Grids take those of a list in turn.
        After 256 rows inputs are drawn once more, for good: features whose bins have told little of
        these rows, for most are in one bin, are drawn more seldom.
    width : float from 0 to 100, or a list of these
        The mean width of a bin, in ranks. Grids take those of a list in turn.
    cells : int or None
        Of the table. Cells are hashed: two that meet share a weight. None: 524,288, of many classes
        1,048,576, or fewer where these would take more than 32 MB.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines, section 4; Wu, Yen,
    Chen, Yan (2016), Revisiting random binning features. Draws with weights: Efraimidis and
    Spirakis (2006), Weighted random sampling with a reservoir.

    Examples
    --------
    >>> RandomBinning(50, inputs=[1, 2, None])
    RandomBinning(inputs=[1, 2, None], n=50)
    """

    choice = "cells"
    n: Annotated[int, Whole(most=MOST_GRIDS)] = 100
    inputs: Annotated[Any, Several(or_none(Whole()))] = (8, None)
    width: Annotated[Any, Several(Number(0, 100, "(]"))] = (1.5, 1.0, 0.5, 0.25)
    cells: Annotated[int | None, or_none(Whole())] = None

    def draw(self, d: int, rng: np.random.Generator) -> Grids:
        """Grids over d features."""
        some, widths = each_of(self.inputs), each_of(self.width)
        chosen: list[NDArray[np.int64]] = []
        inverse: list[float] = []
        for g in range(self.n):
            width = widths[(g // len(some)) % len(widths)]
            most = some[g % len(some)]
            chosen.append(rng.permutation(d)[: d if most is None else min(most, d)])
            drawn = rng.gamma(2.0, width / 2.0, len(chosen[-1]))
            inverse += (1.0 / np.maximum(drawn, SMALLEST_WIDTH)).tolist()
        counts = [len(columns) for columns in chosen]
        inputs = np.concatenate([*chosen, np.empty(0, np.int64)]).astype(np.int32)
        return Grids(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            inputs,
            np.array(inverse, np.float32),
            rng.random(len(inputs)).astype(np.float32),
            (2 * rng.integers(-(2**30), 2**30, len(inputs)) + 1).astype(np.int32),
            rng.integers(-(2**31), 2**31, self.n).astype(np.int32),
        )


def check(grids: Grids, d: int) -> None:
    """Raise InputError where these are no grids over d features."""
    ends = np.diff(grids.first) >= 0
    if not (ends.all() and grids.first[0] == 0 and grids.first[-1] == len(grids.inputs)):
        raise InputError("first: expected numbers in order, from 0 to those of the inputs")
    check_ranges(grids, inputs=(0, d - 1), inverse=(0, 1.0 / SMALLEST_WIDTH), shift=(0, 1))


@njit(cache=True, nogil=True)
def bits_of(bins, j):
    """The entropy, in bits, of the bin of feature j."""
    found, levels = 0.0, bins.levels[j]
    for b in range(bins.inner[j] + 1):
        share = float(levels[b + 1]) - float(levels[b])
        if share > 0.0:
            found -= share * math.log2(share)
    return found


@njit(cache=True, nogil=True)
def draw_inputs(grids, bins, keys, seed, number):
    """Draw the inputs anew of grids that cut some of all, features of more bits the likelier.

    keys : (d,) scratch; seed, number : of the draws
    Returns whether there are such grids.
    """
    d, some = keys.shape[0], False
    for g in range(grids.salt.shape[0]):
        first, last = grids.first[g], grids.first[g + 1]
        if last - first == d:
            continue
        some = True
        for j in range(d):
            draw = uniform(seed, number, DRAW_GRIDS * PURPOSE + g * d + j)
            keys[j] = -math.log(1.0 - draw) / max(bits_of(bins, j), LEAST_BITS)
        for k in range(first, last):
            least = 0
            for j in range(1, d):
                least = j if keys[j] < keys[least] else least
            grids.inputs[k], keys[least] = least, math.inf
    return some


@njit(cache=True, nogil=True)
def find_cells(grids, ranks, count, cells):
    """The cell of each grid in which a row of these ranks, (d,), lies; cells : (n,) out.

    count : of all cells
    """
    for g in range(cells.shape[0]):
        key = grids.salt[g]
        for k in range(grids.first[g], grids.first[g + 1]):
            bin_ = np.int32(ranks[grids.inputs[k]] * grids.inverse[k] + grids.shift[k])
            key = np.int32(key + np.int32(bin_ * grids.factor[k]))
        spread = mix(np.uint64(np.uint32(key)) * STRIDE) >> np.uint64(32)
        cells[g] = np.int64((spread * np.uint64(count)) >> np.uint64(32))
