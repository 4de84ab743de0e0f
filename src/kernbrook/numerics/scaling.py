"""Scaling that never looks ahead: each row by what is known when it comes, itself included."""

import math

import numpy as np

from kernbrook.checks import COUNTED
from kernbrook.compiler.compiling import njit
from kernbrook.numerics.vectors import count_below

MAXIMUM, MOMENTS, RANKS = 0, 1, 2
METHODS = {"maximum": MAXIMUM, "moments": MOMENTS, "ranks": RANKS}
WINDOW = 1000  # rows that a rank is among
GREAT = 2.0**200  # a unit of features whose squares overflow; dividing by it is exact
MOST_SQUARE = 1e300  # sums of squares from here on are in units
LEAP = 1e6  # of a deviation, of which something is said
SETTLED = 10  # rows before a deviation can leap
NO_LEAP = -1


@njit(cache=True, nogil=True)
def scale_rows(method, X, seen, first, second, out):
    """Bring the state up to date with each row, and scale the row by it.

    Returns the number of the first value, counted row by row, that has made the deviation of its
    feature `LEAP` times what it was: all others of the feature are almost 0 from then on. NO_LEAP
    where none has.

    X, out : (n, d)
    seen : (1,) rows so far; changed
    first, second : (d,) changed. MAXIMUM: the greatest absolute values, and nothing. MOMENTS: the
        means, and the sums of squared deviations from them (Welford, 1962). A sum below 0 is in
        units of GREAT squared, and its mean in units of GREAT: squares would overflow.
    """
    leap = NO_LEAP
    for t in range(X.shape[0]):
        seen[0] = min(seen[0] + 1, COUNTED)
        n = seen[0]
        for j in range(X.shape[1]):
            value = X[t, j]
            if method == MAXIMUM:
                first[j] = max(first[j], abs(value))
                out[t, j] = value / first[j] if first[j] > 0.0 else 0.0
                continue
            in_units, square_before = second[j] < 0.0, abs(second[j])
            varied = square_before > 0.0
            if in_units:
                value /= GREAT
            mean, square, after = move_moments(value, first[j], square_before, n)
            if not (in_units or square < MOST_SQUARE):
                in_units = True
                value /= GREAT
                square_before = square_before / GREAT / GREAT
                mean, square, after = move_moments(value, first[j] / GREAT, square_before, n)
            leaps = square / LEAP / LEAP * (n - 1) > square_before * n
            if leaps and varied and leap == NO_LEAP and n > SETTLED:
                leap = t * X.shape[1] + j
            first[j], second[j] = mean, -square if in_units else square
            # A deviation of the size of rounding is none.
            small = 1e-12 * max(abs(value), abs(mean))
            deviation = math.sqrt(square / n)
            out[t, j] = after / deviation if deviation > small else 0.0
    return leap


@njit(cache=True, nogil=True, forceinline=True)
def move_moments(value, mean, square, n):
    """(mean, sum of squared deviations, deviation of the value) once the n-th value has come."""
    before = value - mean
    mean += before / n
    after = value - mean
    return mean, square + before * after, after


@njit(cache=True, nogil=True)
def scale_sparse(data, indices, indptr, largest, out):
    """`scale_rows` by MAXIMUM of rows in CSR: zeros stay zeros."""
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


@njit(cache=True, nogil=True)
def rank_of(ordered, value, oldest):
    """The rank of a value among others and itself; how many others are below it, and not above.

    ordered : the others in order, and if `oldest` is a number, that one too, which leaves
    rank : the share of smaller values and half of equal ones, less 1/2, by sqrt(12): of a uniform
        feature the deviation is 1
    """
    below, up_to = count_below(ordered, value, False), count_below(ordered, value, True)
    n = len(ordered) + (1 if oldest != oldest else 0)
    less = below - (1 if oldest < value else 0)
    equal = up_to - below - (1 if oldest == value else 0)
    return ((less + 0.5 * (equal + 1)) / n - 0.5) * math.sqrt(12.0), below, up_to


@njit(cache=True, nogil=True)
def rank_rows(X, seen, recent, ordered, out):
    """Each feature by its rank among the last `WINDOW` rows, itself included.

    X, out : (n, d)
    seen : (1,) rows so far; changed
    recent, ordered : (WINDOW, d) the last rows, row t at t modulo WINDOW, and (d, WINDOW) the same
        in order, feature by feature; changed
    """
    for t in range(X.shape[0]):
        at, held = seen[0] % WINDOW, min(seen[0], WINDOW)
        for j in range(X.shape[1]):
            value, in_order = X[t, j], ordered[j]
            oldest = recent[at, j] if held == WINDOW else math.nan
            out[t, j], below, up_to = rank_of(in_order[:held], value, oldest)
            place = below
            if oldest < value:  # of equal numbers, the nearest one moves
                place -= 1
                for k in range(count_below(in_order, oldest, True) - 1, place):
                    in_order[k] = in_order[k + 1]
            elif oldest != value:
                place = up_to
                free = count_below(in_order, oldest, False) if held == WINDOW else held
                for k in range(free, place, -1):
                    in_order[k] = in_order[k - 1]
            in_order[place] = value
            recent[at, j] = value
        seen[0] = min(seen[0] + 1, COUNTED)


@njit(cache=True, nogil=True)
def rank_each(X, seen, recent, ordered, out):
    """Rank each row as `rank_rows` would if it came next; nothing changes but `out`.

    recent : may be the row alone that would leave, (1, d)
    """
    at, held = seen[0] % recent.shape[0], min(seen[0], WINDOW)
    for t in range(X.shape[0]):
        for j in range(X.shape[1]):
            oldest = recent[at, j] if held == WINDOW else math.nan
            out[t, j] = rank_of(ordered[j, :held], X[t, j], oldest)[0]
