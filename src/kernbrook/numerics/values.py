"""The values of kernels, and their sums: what support vectors add to the scores of a block.

Examples lie along the vector lanes and support vectors follow one another, so every score is one
sequential sum in the order in which its support vectors were added. The order, and so the result,
does not depend on the block size, on the number of threads or on sparsity.

Lanes are counted with unsigned integers: numba then leaves out its test for negative indices, and
LLVM makes vector instructions of the loops.
"""

from typing import Any

import numpy as np

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import Matrix, Vector, family, through
from kernbrook.numerics.arithmetic import fma


@Verb
def fill(
    kind: Any, source: Vector, values: Matrix, lo: np.uintp, hi: np.uintp, parameter: float,
    offset: float, power: int,
) -> bool:  # fmt: skip
    """Write a step's values of the examples lo..hi-1 in values[0]; False where all of them are 0.

    After False the values are not looked at, nor the later steps of the chain.

    kind : of the step, by whose class the implementation is chosen
    source : (b,) float, the channel's pair values of one point and the examples
    values : (2, b) float; the second row is scratch
    lo, hi : unsigned int
    parameter, offset : float, power : int, of the step
    """
    raise NotImplementedError


family(fill)


@njit(cache=True, nogil=True)
def raise_to(values, lo, hi, power):
    """values[0] **= power, by squaring; relative errors grow by the factor `power`."""
    if power == 4:
        for j in range(lo, hi):
            square = values[0, j] * values[0, j]
            values[0, j] = square * square
    elif power > 1:
        for j in range(lo, hi):
            values[1, j] = values[0, j]
        bit = 1
        while bit * 2 <= power:
            bit *= 2
        bit //= 2
        while bit > 0:
            for j in range(lo, hi):
                values[0, j] *= values[0, j]
            if power & bit:
                for j in range(lo, hi):
                    values[0, j] *= values[1, j]
            bit //= 2


@njit(inline="always")
def _last_needed(plan, coefficients, point, first, end):
    """The step after the last one in first..end-1 that some nonzero coefficient uses."""
    for i in range(end - 1, first - 1, -1):
        for term in range(plan.first_term[i], plan.first_term[i + 1]):
            if coefficients[point, plan.column[term]] != 0.0:
                return i + 1
    return first


@njit(cache=True, nogil=True)
def add_points(plan, pairs, first, last, lo, hi, coefficients, scores, sizes, values):
    """Add the support vectors first..last-1 in turn to the scores of the examples lo..hi-1.

    plan : the pool of kernels
    pairs : (channels, points, b) pair values of points and examples
    coefficients : (points, columns) of the support vectors
    scores : (outputs, b) sums of coefficient * kernel, changed in place
    sizes : (outputs, b) sums of |coefficient * kernel|: the measure of what counts as zero
    values : (2, b) scratch
    """
    plan, pairs, values = borrowed(plan), borrowed(pairs), borrowed(values)
    lo, hi = np.uintp(lo), np.uintp(hi)
    steps = plan.links.shape[0]
    for point in range(np.uintp(first), np.uintp(last)):
        i = 0
        while i < steps:
            end = plan.chain_end[i]
            needed = _last_needed(plan, coefficients, point, i, end)
            source = pairs[np.uintp(plan.channel[i]), point]
            for step in range(i, needed):
                if not through(
                    fill, plan.links[step], source, values, lo, hi, plan.parameter[step],
                    plan.offset[step], plan.power[step],
                ):  # fmt: skip
                    break
                for term in range(plan.first_term[step], plan.first_term[step + 1]):
                    a = coefficients[point, plan.column[term]] * plan.factor[term]
                    if a != 0.0:
                        size = abs(a)
                        o = np.uintp(plan.output[term])
                        for j in range(lo, hi):
                            scores[o, j] = fma(a, values[0, j], scores[o, j])
                            sizes[o, j] = fma(size, abs(values[0, j]), sizes[o, j])
            i = end


@njit(cache=True, nogil=True)
def kernel_rows(parts, e, pairs, points, lo, hi, values, out):
    """out[s, lo:hi] = expert e's kernel of points[s] and the examples lo..hi-1.

    parts : see `Parts`; pairs : (channels, points, b); points : (n,) int
    values : (2, b or more) scratch; out : (n, b or more)
    """
    parts, pairs = borrowed(parts), borrowed(pairs)
    n, lo, hi = np.uintp(points.shape[0]), np.uintp(lo), np.uintp(hi)
    for part in range(parts.first[e], parts.first[e + 1]):
        channel, factor = np.uintp(parts.channel[part]), parts.factor[part]
        begins = part == parts.first[e]
        for s in range(n):
            found = through(
                fill, parts.links[part], pairs[channel, np.uintp(points[s])], values, lo, hi,
                parts.parameter[part], parts.offset[part], parts.power[part],
            )  # fmt: skip
            if found and begins:
                for j in range(lo, hi):
                    out[s, j] = factor * values[0, j]
            elif found:
                for j in range(lo, hi):
                    out[s, j] = fma(factor, values[0, j], out[s, j])
            elif begins:
                for j in range(lo, hi):
                    out[s, j] = 0.0


@njit(cache=True, nogil=True)
def kernel_values(plan, pairs, out):
    """out[j, s] = the kernel of example j and point s, for the plan of one kernel.

    pairs : (channels, points, b); out : (b, points)
    """
    points, b = pairs.shape[1:]
    coefficients = np.ones((points, 1))
    sums, sizes, values = np.empty((1, b)), np.empty((1, b)), np.empty((2, b))
    for s in range(points):
        for j in range(b):
            sums[0, j] = 0.0
        add_points(plan, pairs, s, s + 1, 0, b, coefficients, sums, sizes, values)
        for j in range(b):
            out[j, s] = sums[0, j]
