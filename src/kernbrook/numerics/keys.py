"""Keys of rows: by them a row is known again, in whatever form and however scaled since."""

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.draws import STRIDE, mix


@njit(cache=True, nogil=True)
def dense_keys(rows):
    """(n,) a number for each row, of its features that are not 0 and their values."""
    keys = np.empty(rows.shape[0], dtype=np.int64)
    bits = rows.view(np.uint64)
    for i in range(rows.shape[0]):
        key = np.uint64(0)
        for k in range(rows.shape[1]):
            if rows[i, k] != 0.0:
                key += mix(bits[i, k] + np.uint64(k + 1) * STRIDE)
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
                key += mix(bits[entry] + np.uint64(indices[entry] + 1) * STRIDE)
        keys[i] = np.int64(key)
    return keys


@njit(cache=True, nogil=True)
def mark_known(keys, stored, inside, out):
    """out[t] = is keys[t] one of the stored keys, or if `inside` of the keys before it?

    By a table of the keys, each at the first free place from its last bits on.
    """
    size = 2
    while size < 4 * len(keys):
        size *= 2
    table, taken = np.empty(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    held, place = np.zeros(size, dtype=np.bool_), np.empty(len(keys), dtype=np.int64)
    for t in range(len(keys)):
        at = _place(table, taken, keys[t])
        out[t] = inside and taken[at]
        table[at], taken[at], place[t] = keys[t], True, at
    for s in range(len(stored)):
        at = _place(table, taken, stored[s])
        held[at] |= taken[at]
    for t in range(len(keys)):
        out[t] |= held[place[t]]


@njit(cache=True, nogil=True)
def _place(table, taken, key):
    """The place of a key in a table, or a free one for it."""
    last = table.shape[0] - 1
    at = key & last
    while taken[at] and table[at] != key:
        at = (at + 1) & last
    return at
