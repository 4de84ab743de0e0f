"""Scaling that never looks ahead: each row by what is known when it comes, itself included."""

import math

import numpy as np

from kernbrook.numerics.compiling import njit

MAXIMUM, MOMENTS = 0, 1
METHODS = {"maximum": MAXIMUM, "moments": MOMENTS}


@njit(cache=True, nogil=True)
def scale_rows(method, X, seen, first, second, out):
    """Bring the state up to date with each row, and scale the row by it.

    Parameters
    ----------
    X, out : (n, d)
    seen : (1,) rows so far; changed
    first, second : (d,) changed. MAXIMUM: the greatest absolute values, and nothing. MOMENTS: the
        means, and the sums of squared deviations from them (Welford, 1962).
    """
    for t in range(X.shape[0]):
        seen[0] += 1
        n = seen[0]
        for j in range(X.shape[1]):
            value = X[t, j]
            if method == MAXIMUM:
                first[j] = max(first[j], abs(value))
                out[t, j] = value / first[j] if first[j] > 0.0 else 0.0
                continue
            before = value - first[j]
            first[j] += before / n
            after = value - first[j]
            second[j] += before * after
            # A deviation of the size of rounding is none.
            small = 1e-12 * max(abs(value), abs(first[j]))
            deviation = math.sqrt(second[j] / n)
            out[t, j] = after / deviation if deviation > small else 0.0


@njit(cache=True, nogil=True)
def scale_sparse(data, indices, indptr, largest, out):
    """As `scale_rows` by MAXIMUM, on rows in CSR: zeros stay zeros."""
    for t in range(indptr.shape[0] - 1):
        for k in range(indptr[t], indptr[t + 1]):
            j = indices[k]
            largest[j] = max(largest[j], abs(data[k]))
            out[k] = data[k] / largest[j] if largest[j] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def scale_each(method, X, seen, first, second, out):
    """Scale each row as `scale_rows` would if it came next; nothing changes but `out`."""
    n = np.empty(1, dtype=np.int64)
    for t in range(X.shape[0]):
        n[0] = seen[0]
        scale_rows(method, X[t : t + 1], n, first.copy(), second.copy(), out[t : t + 1])
