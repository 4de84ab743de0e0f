"""Kernel sums: what support vectors add to the scores of a block of examples.

Examples lie along the vector lanes and support vectors follow one another, so every score is one
sequential sum in the order in which its support vectors were added. The order, and so the result,
does not depend on the block size, on the number of threads or on sparsity.

Lanes are counted with unsigned integers: numba then leaves out its test for negative indices, and
LLVM makes vector instructions of the loops.
"""

import math

import numpy as np
from numba import njit

from kernbrook._jit.arithmetic import exp_negative, fma, matern
from kernbrook._jit.plan import CAUCHY, EXPONENTIAL, GIVEN, MATERN, POLYNOMIAL, POWER, TANH

UNDERFLOW = 745.2  # exp(-x) is exactly 0 for every x above


@njit(inline="always")
def _last_needed(plan, coefficients, point, first, end):
    """The step after the last one in first..end-1 that some nonzero coefficient uses."""
    for i in range(end - 1, first - 1, -1):
        for term in range(plan.first_term[i], plan.first_term[i + 1]):
            if coefficients[point, plan.column[term]] != 0.0:
                return i + 1
    return first


@njit(inline="always")
def _raise_to(values, lo, hi, power):
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
def _exponential(values, pairs, channel, point, lo, hi, parameter):
    """values[0] = exp(-parameter * row); False if all of them are 0."""
    alive = 0
    for j in range(lo, hi):
        alive += pairs[channel, point, j] * parameter <= UNDERFLOW
    if alive == 0:
        return False
    for j in range(lo, hi):
        values[0, j] = exp_negative(-parameter * pairs[channel, point, j])
    return True


@njit(cache=True, nogil=True)
def add_points(plan, pairs, first, last, lo, hi, coefficients, scores, sizes, values):
    """Add the support vectors first..last-1 in turn to the scores of the examples lo..hi-1.

    Parameters
    ----------
    plan : the pool of kernels
    pairs : (channels, points, b) pair values of points and examples
    coefficients : (points, columns) of the support vectors
    scores : (outputs, b) sums of coefficient * kernel, changed in place
    sizes : (outputs, b) sums of |coefficient * kernel|: the measure of what counts as zero
    values : (2, b) scratch
    """
    lo, hi = np.uintp(lo), np.uintp(hi)
    steps = plan.code.shape[0]
    for point in range(np.uintp(first), np.uintp(last)):
        i = 0
        while i < steps:
            end = plan.chain_end[i]
            needed = _last_needed(plan, coefficients, point, i, end)
            channel = np.uintp(plan.channel[i])
            for step in range(i, needed):
                code = plan.code[step]
                parameter, power = plan.parameter[step], plan.power[step]
                if code == EXPONENTIAL:
                    if not _exponential(values, pairs, channel, point, lo, hi, parameter):
                        break
                elif code == POWER:
                    _raise_to(values, lo, hi, power)
                elif code == POLYNOMIAL:
                    for j in range(lo, hi):
                        values[0, j] = pairs[channel, point, j] + parameter
                    _raise_to(values, lo, hi, power)
                elif code == CAUCHY:
                    for j in range(lo, hi):
                        values[0, j] = 1.0 / (1.0 + parameter * pairs[channel, point, j])
                elif code == MATERN:
                    for j in range(lo, hi):
                        values[0, j] = matern(parameter * pairs[channel, point, j], power)
                elif code == TANH:
                    for j in range(lo, hi):
                        x = fma(parameter, pairs[channel, point, j], plan.offset[step])
                        values[0, j] = math.tanh(x)
                elif code == GIVEN:
                    for j in range(lo, hi):
                        values[0, j] = pairs[channel, point, j]
                for term in range(plan.first_term[step], plan.first_term[step + 1]):
                    a = coefficients[point, plan.column[term]] * plan.factor[term]
                    if a != 0.0:
                        size = abs(a)
                        o = np.uintp(plan.output[term])
                        for j in range(lo, hi):
                            scores[o, j] = fma(a, values[0, j], scores[o, j])
                            sizes[o, j] = fma(size, abs(values[0, j]), sizes[o, j])
            i = end
