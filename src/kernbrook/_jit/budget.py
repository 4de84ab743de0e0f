"""Kernels one by one, without ladders: values of points and examples."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernbrook._jit.arithmetic import exp_negative, fma, matern
from kernbrook._jit.plan import CAUCHY, EXPONENTIAL, GIVEN, MATERN, POLYNOMIAL, TANH


class Parts(NamedTuple):
    """The experts' kernels one by one: parts first[e] .. first[e+1]-1 are expert e's.

    code, channel, power : (p,) int; parameter, offset, factor : (p,) float; first : (e+1,) int
    """

    code: NDArray[np.int64]
    channel: NDArray[np.int64]
    power: NDArray[np.int64]
    parameter: NDArray[np.float64]
    offset: NDArray[np.float64]
    factor: NDArray[np.float64]
    first: NDArray[np.int64]


@njit(cache=True, nogil=True)
def kernel_rows(parts, e, pairs, points, lo, hi, out):
    """out[s, lo:hi] = expert e's kernel of points[s] and the examples lo..hi-1."""
    n, lo, hi = np.uintp(points.shape[0]), np.uintp(lo), np.uintp(hi)
    for s in range(n):
        for j in range(lo, hi):
            out[s, j] = 0.0
    for part in range(parts.first[e], parts.first[e + 1]):
        code = parts.code[part]
        values = pairs[parts.channel[part]]
        parameter, factor = parts.parameter[part], parts.factor[part]
        for s in range(n):
            point = np.uintp(points[s])
            if code == EXPONENTIAL:
                for j in range(lo, hi):
                    value = exp_negative(-parameter * values[point, j])
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == POLYNOMIAL:
                for j in range(lo, hi):
                    base = values[point, j] + parameter
                    value = base
                    for _ in range(parts.power[part] - 1):
                        value *= base
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == CAUCHY:
                for j in range(lo, hi):
                    value = 1.0 / (1.0 + parameter * values[point, j])
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == MATERN:
                for j in range(lo, hi):
                    value = matern(parameter * values[point, j], parts.power[part])
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == TANH:
                for j in range(lo, hi):
                    value = math.tanh(fma(parameter, values[point, j], parts.offset[part]))
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == GIVEN:
                for j in range(lo, hi):
                    out[s, j] = fma(factor, values[point, j], out[s, j])
