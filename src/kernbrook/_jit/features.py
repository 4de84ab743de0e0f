"""Features that are not sines and cosines: monomials, count sketches, kernel values."""

import numpy as np
from numba import njit

from kernbrook._jit.sums import add_points


@njit(cache=True, nogil=True)
def fill_monomials(rows, chosen, factors, out):
    """out[s, f] = factors[f] times the product of the inputs chosen[f]; input d stands for 1.

    rows : (b, d); chosen : (f, degree) int from 0 to d; factors : (f,); out : (b, f)
    """
    b, d = rows.shape
    inputs = np.ones(d + 1)
    for s in range(b):
        inputs[:d] = rows[s]
        for f in range(chosen.shape[0]):
            value = factors[f]
            for k in range(chosen.shape[1]):
                value *= inputs[chosen[f, k]]
            out[s, f] = value


@njit(cache=True, nogil=True)
def count_sketches(rows, constant, buckets, signs, out):
    """out[j, s] = the sketch j of row s: signs[j, k] x_k added to the bucket buckets[j, k].

    A last column of buckets and signs, after those of the inputs, is that of the constant.

    rows : (b, d); buckets, signs : (degree, d or d + 1); out : (degree, b, n)
    """
    b, d = rows.shape
    out[:] = 0.0
    for j in range(buckets.shape[0]):
        for s in range(b):
            for k in range(d):
                out[j, s, buckets[j, k]] += signs[j, k] * rows[s, k]
            for k in range(d, buckets.shape[1]):
                out[j, s, buckets[j, k]] += signs[j, k] * constant


@njit(cache=True, nogil=True)
def multiply_spectra(spectra):
    """spectra[0] *= spectra[1] * ...; not by NumPy, which may round by the place in the array."""
    for j in range(1, spectra.shape[0]):
        for s in range(spectra.shape[1]):
            for k in range(spectra.shape[2]):
                spectra[0, s, k] *= spectra[j, s, k]


@njit(cache=True, nogil=True)
def kernel_values(plan, pairs, out):
    """out[j, s] = the kernel of example j and point s, for the plan of one kernel.

    pairs : (channels, points, b); out : (b, points)
    """
    points, b = pairs.shape[1:]
    coefficients = np.ones((points, 1))
    sums, sizes, values = np.empty((1, b)), np.empty((1, b)), np.empty((2, b))
    for s in range(points):
        sums[:] = 0.0
        add_points(plan, pairs, s, s + 1, 0, b, coefficients, sums, sizes, values)
        out[:, s] = sums[0]
