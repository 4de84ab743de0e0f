"""Symmetric matrices in half of the memory: products, and squares taken off, in vector registers.

Of a matrix (d, d) the first m = d // 8 * 8 rows lie in squares of 8 x 8 numbers, row of squares
after row of squares, up to the diagonal; whose squares are whole. Then come the other rows, (d,)
each, up to the diagonal. So all is read and written in the order of memory.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.lanes import WIDTH, _arrays, _check_order, _spread

SIDE = 8  # of a square
TOGETHER = min(SIDE, WIDTH)  # rows of a square, as many as registers hold
_INT, _LANE, _NUMBER = ir.IntType(64), ir.IntType(32), ir.DoubleType()
_VECTOR = ir.VectorType(_NUMBER, SIDE)
_ONE, _SIDE, _TOGETHER = (np.uintp(n) for n in (1, SIDE, TOGETHER))


@njit(cache=True, nogil=True, plain=True)
def halves(d):
    """How many numbers half of a matrix (d, d) takes."""
    rows = d // SIDE
    return SIDE * SIDE * rows * (rows + 1) // 2 + (d - rows * SIDE) * d


@njit(cache=True, nogil=True)
def diagonal(half, d, j):
    """The number on the diagonal of row j of d."""
    even = d - d % SIDE
    if j < even:
        square, row = j // SIDE, j % SIDE
        return half[SIDE * SIDE * (square * (square + 1) // 2 + square) + (SIDE + 1) * row]
    return half[halves(even) + (j - even) * d + j]


def pack(matrix):
    """(halves(d),) of a symmetric matrix, (d, d)."""
    d, parts = len(matrix), []
    even = d - d % SIDE
    for row in range(0, even, SIDE):
        squares = matrix[row : row + SIDE, : row + SIDE].reshape(SIDE, -1, SIDE)
        parts.append(squares.swapaxes(0, 1).ravel())
    return np.concatenate([*parts, np.tril(matrix)[even:].ravel()])


def unpack(half, d):
    """The symmetric matrix, (d, d)."""
    matrix, at, even = np.zeros((d, d)), 0, d - d % SIDE
    for row in range(0, even, SIDE):
        end = at + SIDE * (row + SIDE)
        squares = half[at:end].reshape(-1, SIDE, SIDE)
        matrix[row : row + SIDE, : row + SIDE] = squares.swapaxes(0, 1).reshape(SIDE, -1)
        at = end
    matrix[even:] = half[at : at + (d - even) * d].reshape(-1, d)
    below = np.tril(matrix, -1)
    return below + below.T + np.diag(np.diagonal(matrix))


def _at(builder, array, *places):
    """A vector of an array, whose last axes are as long as the others say."""
    where = places[0]
    for axis, place in enumerate(places[1:], start=1):
        where = builder.add(builder.mul(where, builder.extract_value(array.shape, axis)), place)
    return builder.bitcast(builder.gep(array.data, [where]), _VECTOR.as_pointer())


def _load(builder, place):
    return builder.load(place, align=8)


def _fma(builder, *values):
    took = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    name = f"llvm.fma.v{SIDE}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, took, name), values)


def _sum(builder, vector):
    """The sum of a vector's numbers: halves are added up."""
    width = SIDE // 2
    while width:
        none, shape = ir.VectorType(_NUMBER, 2 * width)(ir.Undefined), ir.VectorType(_LANE, width)
        parts = (
            builder.shuffle_vector(vector, none, shape(list(range(first, first + width))))
            for first in (0, width)
        )
        vector, width = builder.fadd(*parts), width // 2
    return builder.extract_element(vector, _LANE(0))


def _rows_of(builder, row, at):
    """The numbers of the rows taken together, and their first places in a square."""
    rows = [builder.add(row, _INT(i)) for i in range(TOGETHER)]
    begin = builder.add(at, builder.mul(builder.and_(row, _INT(SIDE - 1)), _INT(SIDE)))
    return rows, begin


@intrinsic
def _multiply_rows(typing_context, half, at, row, z, t, out):
    """Add to out = matrix . z[t] the part of TOGETHER rows of squares that begin at `at`.

    out : (d,) up to the row's square added to, then, for these rows, set
    """
    _check_order(half, z, out)

    def generate(context, builder, signature, arguments):
        half, z, out = _arrays(context, builder, signature, arguments, 0, 3, 5)
        at, row, t = arguments[1], arguments[2], arguments[4]
        rows, begin = _rows_of(builder, row, at)
        end = builder.and_(row, _INT(-SIDE))
        of_rows = [
            builder.load(builder.gep(z.data, [builder.add(
                builder.mul(t, builder.extract_value(z.shape, 1)), row)]))
            for row in rows
        ]  # fmt: skip
        factors = [_spread(builder, value, SIDE) for value in of_rows]
        zero = _VECTOR([0.0] * SIDE)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in rows]
        with cgutils.for_range_slice(builder, _INT(0), end, _INT(SIDE), intp=_INT) as (first, _):
            square = builder.add(begin, builder.mul(first, _INT(SIDE)))
            other, where = _load(builder, _at(builder, z, t, first)), _at(builder, out, first)
            parts = [_load(builder, where), zero]
            for i, (total, factor) in enumerate(zip(totals, factors, strict=True)):
                value = _load(builder, _at(builder, half, builder.add(square, _INT(i * SIDE))))
                builder.store(_fma(builder, value, other, builder.load(total)), total)
                parts[i % 2] = _fma(builder, value, factor, parts[i % 2])
            builder.store(builder.fadd(*parts), where, align=8)
        square = builder.add(begin, builder.mul(end, _INT(SIDE)))
        other = _load(builder, _at(builder, z, t, end))
        for i, (source, total) in enumerate(zip(rows, totals, strict=True)):
            value = _load(builder, _at(builder, half, builder.add(square, _INT(i * SIDE))))
            whole = _sum(builder, _fma(builder, value, other, builder.load(total)))
            builder.store(whole, builder.gep(out.data, [source]))
        return context.get_dummy_value()

    number = types.uintp
    return types.void(half, number, number, z, number, out), generate


@intrinsic
def _take_off_rows(typing_context, half, at, row, others, n, factor):
    """TOGETHER rows of squares that begin at `at` become those of (M - others' others) factor.

    n : of the others
    """
    _check_order(half, others)

    def generate(context, builder, signature, arguments):
        half, others = _arrays(context, builder, signature, arguments, 0, 3)
        at, row, n = arguments[1], arguments[2], arguments[4]
        factor = _spread(builder, arguments[5], SIDE)
        rows, begin = _rows_of(builder, row, at)
        end = builder.add(builder.and_(row, _INT(-SIDE)), _INT(SIDE))
        long = builder.extract_value(others.shape, 1)
        with cgutils.for_range_slice(builder, _INT(0), end, _INT(SIDE), intp=_INT) as (first, _):
            square = builder.add(begin, builder.mul(first, _INT(SIDE)))
            places = [
                _at(builder, half, builder.add(square, _INT(i * SIDE))) for i in range(TOGETHER)
            ]
            totals = [cgutils.alloca_once_value(builder, _load(builder, place)) for place in places]
            with cgutils.for_range(builder, n, intp=_INT) as loop:
                value = builder.fneg(_load(builder, _at(builder, others, loop.index, first)))
                line = builder.mul(loop.index, long)
                for one, total in zip(rows, totals, strict=True):
                    element = builder.load(builder.gep(others.data, [builder.add(line, one)]))
                    new = _fma(builder, _spread(builder, element, SIDE), value, builder.load(total))
                    builder.store(new, total)
            for place, total in zip(places, totals, strict=True):
                builder.store(builder.fmul(builder.load(total), factor), place, align=8)
        return context.get_dummy_value()

    number = types.uintp
    return types.void(half, number, number, others, number, types.float64), generate


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def multiply(half, z, t, out):
    """out = matrix . z[t], in an order fixed by the length.

    half : the matrix; z : (any, d); out : (d,)
    """
    d, at, row = np.uintp(out.shape[0]), np.uintp(0), np.uintp(0)
    even = d & ~(_SIDE - _ONE)
    while row < even:
        _multiply_rows(half, at, row, z, t, out)
        row += _TOGETHER
        if row & (_SIDE - _ONE) == 0:
            at += _SIDE * row
    while row < d:
        factor, total = z[t, row], 0.0
        for j in range(row):
            total += half[at + j] * z[t, j]
            out[j] += half[at + j] * factor
        out[row] = total + half[at + row] * factor
        at, row = at + d, row + _ONE


@njit(cache=True, nogil=True, fastmath={"contract"})
def take_off(half, others, n, factor):
    """matrix <- (matrix - sum over k < n of others[k] others[k]') factor.

    half : the matrix; others : (n or more, d)
    """
    d, at, row, n = np.uintp(others.shape[1]), np.uintp(0), np.uintp(0), np.uintp(n)
    even = d & ~(_SIDE - _ONE)
    while row < even:
        _take_off_rows(half, at, row, others, n, factor)
        row += _TOGETHER
        if row & (_SIDE - _ONE) == 0:
            at += _SIDE * row
    while row < d:
        for k in range(n):
            element = others[k, row]
            for j in range(row + _ONE):
                half[at + j] -= element * others[k, j]
        for j in range(row + _ONE):
            half[at + j] *= factor
        at, row = at + d, row + _ONE
