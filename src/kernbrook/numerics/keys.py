"""Keys of rows: by them a row is known again, in whatever form and however scaled since."""

import numpy as np

from kernbrook.numerics.compiling import njit
from kernbrook.numerics.draws import mix

_STRIDE = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: far apart for near features


@njit(cache=True, nogil=True)
def dense_keys(rows):
    """(n,) a number for each row, of its features that are not 0 and their values."""
    keys = np.empty(rows.shape[0], dtype=np.int64)
    bits = rows.view(np.uint64)
    for i in range(rows.shape[0]):
        key = np.uint64(0)
        for k in range(rows.shape[1]):
            if rows[i, k] != 0.0:
                key += mix(bits[i, k] + np.uint64(k + 1) * _STRIDE)
        keys[i] = np.int64(key)
    return keys


@njit(cache=True, nogil=True)
def sparse_keys(data, indices, indptr):
    """`dense_keys` of CSR rows: a sum, so that the order of the features is nothing."""
    keys = np.empty(len(indptr) - 1, dtype=np.int64)
    bits = data.view(np.uint64)
    for i in range(len(keys)):
        key = np.uint64(0)
        for entry in range(indptr[i], indptr[i + 1]):
            if data[entry] != 0.0:
                key += mix(bits[entry] + np.uint64(indices[entry] + 1) * _STRIDE)
        keys[i] = np.int64(key)
    return keys


@njit(cache=True, nogil=True)
def met_before(keys, stored, inside, out):
    """out[t] = is keys[t] one of the stored keys, or if `inside` of the keys before it?"""
    for t in range(len(keys)):
        key, found = keys[t], False
        for s in range(len(stored)):
            found |= stored[s] == key
        if inside:
            for s in range(t):
                found |= keys[s] == key
        out[t] = found
