# mypy: ignore-errors
"""The svmlight parser, compiled: bytes in, arrays out.

Floats are rounded correctly. A decimal is m * 10^e with an integer m of up to 18 digits. For
m < 2^53 and |e| <= 22 both factors are exact, and the quotient or product rounds once. Otherwise
each is split into two doubles, the result is carried in two with a bound on its error, and what
that bound leaves open is left to the caller (`slow`), as are longer m and further e.
"""

from __future__ import annotations

import numpy as np

from kernbrook.compiler.compiling import njit

# What stopped the parser.
DONE, BAD_LABEL, BAD_PAIR, BAD_VALUE, INDEX_ZERO, INDEX_ORDER, INDEX_WIDE = range(7)
# Places in `state`.
ROWS, PAIRS, SLOW, WIDEST, STOPPED_AT, INDEX, PREVIOUS, N_STATE = range(8)

_EXACT, _SLOW, _BAD = 0, 1, 2
_MAX_DIGITS = 18
_MAX_WHOLE = 15  # digits: below 2^53
_MAX_EXACT = 22
_MAX_EXPONENT = 270
# 10^e as a double and the double nearest to what it leaves out.
_POWER = np.array([float(10**e) for e in range(_MAX_EXPONENT + 1)])
_POWER_REST = np.array([float(10**e - int(float(10**e))) for e in range(_MAX_EXPONENT + 1)])
_SPLITTER = 134217729.0  # 2^27 + 1
_MAX_INDEX = 2**31 - 1

_NEWLINE, _SPACE, _HASH, _PLUS, _MINUS, _POINT = 10, 32, 35, 43, 45, 46
_ZERO, _NINE, _COLON, _CAPITAL_E, _SMALL_E = 48, 57, 58, 69, 101

_compiled = njit(cache=True, nogil=True)


@_compiled
def _at(text, p):
    """text[p] without numba's test for a negative p."""
    return text[np.uintp(p)]


@_compiled
def _is_space(c):
    """Blank, tab, newline, vertical tab, form feed or carriage return."""
    return c == _SPACE or 9 <= c <= 13


@_compiled
def _is_gap(c):
    """White space within a line."""
    return c == _SPACE or (9 <= c <= 13 and c != _NEWLINE)


@_compiled
def _ends_token(text, p):
    if p == text.size:
        return True
    c = _at(text, p)
    return _is_space(c) or c == _HASH


@_compiled
def _product_error(a, b, product):
    """a * b - product exactly, where product = fl(a * b) (Dekker 1971)."""
    t = _SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = _SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@_compiled
def _scaled(mantissa, exponent):
    """(mantissa * 10^exponent correctly rounded, _EXACT), or (0, _SLOW)."""
    high = float(mantissa)
    exact = mantissa < 9007199254740992
    if exponent < 0:
        power = _POWER[-exponent]
        result = high / power
        if exact and exponent >= -_MAX_EXACT:
            return result, _EXACT
        product = result * power
        first = (high - product) - _product_error(result, power, product)
        second = float(mantissa - np.int64(high))
        third = -result * _POWER_REST[-exponent]
        rest = (first + second + third) / power
        error = (abs(first) + abs(second) + abs(third)) / power
    else:
        power = _POWER[exponent]
        result = high * power
        if exact and exponent <= _MAX_EXACT:
            return result, _EXACT
        first = _product_error(high, power, result)
        second = float(mantissa - np.int64(high)) * power
        third = high * _POWER_REST[exponent]
        rest = first + second + third
        error = abs(first) + abs(second) + abs(third)
    # The terms are good to a few 2^-53 of themselves, the terms left out to 2^-104 of the result.
    # If both ends of a wider interval round to the same number, so does the truth (Ziv 1991).
    error = error * 2.0**-49 + result * 2.0**-102
    value = result + (rest - error)
    if value == result + (rest + error):
        return value, _EXACT
    return 0.0, _SLOW


@_compiled
def _number(text, p):
    """Read a decimal number at p: (end, value, _EXACT | _SLOW | _BAD)."""
    n = text.size
    negative = False
    if p < n and (_at(text, p) == _MINUS or _at(text, p) == _PLUS):
        negative = _at(text, p) == _MINUS
        p += 1
    mantissa = np.int64(0)
    digits = 0  # significant ones
    exponent = 0
    seen = False
    while p < n and _ZERO <= _at(text, p) <= _NINE:
        seen = True
        if digits < _MAX_DIGITS:
            mantissa = mantissa * 10 + (np.int64(_at(text, p)) - _ZERO)
        digits += mantissa > 0
        p += 1
    if p < n and _at(text, p) == _POINT:
        p += 1
        while p < n and _ZERO <= _at(text, p) <= _NINE:
            seen = True
            if digits < _MAX_DIGITS:
                mantissa = mantissa * 10 + (np.int64(_at(text, p)) - _ZERO)
                exponent -= 1
            digits += mantissa > 0
            p += 1
    if not seen:
        return p, 0.0, _BAD
    if p < n and (_at(text, p) == _SMALL_E or _at(text, p) == _CAPITAL_E):
        p += 1
        below = False
        if p < n and (_at(text, p) == _MINUS or _at(text, p) == _PLUS):
            below = _at(text, p) == _MINUS
            p += 1
        if p == n or not _ZERO <= _at(text, p) <= _NINE:
            return p, 0.0, _BAD
        power = 0
        while p < n and _ZERO <= _at(text, p) <= _NINE:
            if power < 100000:
                power = power * 10 + (np.int64(_at(text, p)) - _ZERO)
            p += 1
        exponent += -power if below else power
    if mantissa == 0:
        return p, -0.0 if negative else 0.0, _EXACT
    if digits > _MAX_DIGITS or not -_MAX_EXPONENT <= exponent <= _MAX_EXPONENT:
        return p, 0.0, _SLOW
    value, status = _scaled(mantissa, exponent)
    return p, -value if negative else value, status


@_compiled
def _whole(text, p):
    """A short number of digits alone, with a blank or newline behind it: the commonest value by
    far. (end, value), or (p, 0) where it is something else."""
    number = np.int64(0)
    end = p
    while end < text.size and _ZERO <= _at(text, end) <= _NINE:
        number = number * 10 + (np.int64(_at(text, end)) - _ZERO)
        end += 1
    ends = end < text.size and (_at(text, end) == _SPACE or _at(text, end) == _NEWLINE)
    if ends and end - p <= _MAX_WHOLE:
        return end, float(number)
    return p, 0.0


@_compiled
def _is_query_id(text, p):
    """Whether the token at p begins with "qid:"."""
    return (
        p + 3 < text.size
        and _at(text, p) == 113
        and _at(text, p + 1) == 105
        and _at(text, p + 2) == 100
        and _at(text, p + 3) == _COLON
    )


@_compiled
def parse_lines(text, width, labels, indptr, indices, values, slow_start, slow_target, state):
    """Parse whole lines up to the end or the first error. Returns DONE, or the error's code.

    text : (b,) uint8
    width : the greatest index allowed
    labels : (r,), indptr : (r + 1,), indices : (z,) int32, values : (z,)
        Filled; r and z are at least the numbers of lines and of colons. Indices count from 0.
    slow_start, slow_target : (r + z,) int64
        Where the numbers left to the caller begin, and where they go: a place in `values`, or
        -1 - row for a label.
    state : (N_STATE,) int64, filled
        What was found so far; at an error also where, and the indices that disagree.
    """
    n = text.size
    rows = 0
    pairs = 0
    slow = 0
    widest = 0
    code = DONE
    p = 0
    indptr[0] = 0
    while p < n:
        c = _at(text, p)
        if _is_space(c):
            p += 1
            continue
        if c == _HASH:
            while p < n and _at(text, p) != _NEWLINE:
                p += 1
            continue
        start = p
        p, value, status = _number(text, p)
        if status == _BAD or not _ends_token(text, p):
            code = BAD_LABEL
            state[STOPPED_AT] = start
            break
        labels[rows] = value
        if status == _SLOW:
            slow_start[slow] = start
            slow_target[slow] = -1 - rows
            slow += 1
        previous = np.int64(0)
        while True:
            while p < n and _is_gap(_at(text, p)):
                p += 1
            if p == n or _at(text, p) == _NEWLINE or _at(text, p) == _HASH:
                break
            start = p
            index = np.int64(0)
            while p < n and _ZERO <= _at(text, p) <= _NINE:
                if index <= _MAX_INDEX:
                    index = index * 10 + (np.int64(_at(text, p)) - _ZERO)
                p += 1
            if not start < p < n or _at(text, p) != _COLON:
                if p == start and _is_query_id(text, p):
                    while not _ends_token(text, p):
                        p += 1
                    continue
                code = BAD_PAIR
            elif index == 0:
                code = INDEX_ZERO
            elif index <= previous:
                code = INDEX_ORDER
            elif index > width:
                code = INDEX_WIDE
            else:
                number = p + 1
                p, value = _whole(text, number)
                status = _EXACT
                if p == number:
                    p, value, status = _number(text, number)
                if status == _BAD or not _ends_token(text, p):
                    code = BAD_VALUE
                elif status == _SLOW:
                    slow_start[slow] = number
                    slow_target[slow] = pairs
                    slow += 1
            if code != DONE:
                state[STOPPED_AT] = start
                state[INDEX] = index
                state[PREVIOUS] = previous
                break
            indices[pairs] = index - 1
            values[pairs] = value
            pairs += 1
            previous = index
        if code != DONE:
            break
        widest = max(widest, previous)
        rows += 1
        indptr[rows] = pairs
    state[ROWS] = rows
    state[PAIRS] = pairs
    state[SLOW] = slow
    state[WIDEST] = widest
    return code
