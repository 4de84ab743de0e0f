"""Sums for many examples at once, which stay in vector registers.

What numba makes of such a loop keeps the sums in memory, and asks before each feature whether
arrays overlap: twice the time where a point has few features, or a block few examples.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.compiling import njit

WIDTH = 8  # numbers of a vector; where a machine's are shorter, it takes several

_INT, _PLACE = ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_ONE, _EIGHT, _SIXTEEN, _THIRTY_TWO, _SIXTY_FOUR = map(np.uintp, (1, 8, 16, 32, 64))


def _arrays(context, builder, signature, arguments, *which):
    """Some of the arguments, which are arrays."""
    return (context.make_array(signature.args[i])(context, builder, arguments[i]) for i in which)


def _check_order(*arrays):
    if any(array.layout != "C" for array in arrays if array != types.none):
        raise TypingError("expected arrays whose rows follow each other in memory")


def _place(builder, array, row, first, i=0):
    """Where vector i from column `first` on lies in a row of an array."""
    columns = builder.extract_value(array.shape, 1)
    at = builder.add(builder.mul(row, columns), builder.add(first, _INT(i * WIDTH)))
    return builder.bitcast(builder.gep(array.data, [at]), _VECTOR.as_pointer())


def _spread(builder, value):
    """A vector of one number."""
    none, every = _VECTOR(ir.Undefined), ir.VectorType(_PLACE, WIDTH)([0] * WIDTH)
    return builder.shuffle_vector(builder.insert_element(none, value, _PLACE(0)), none, every)


def _products_of(lanes):
    """`sum_products` for the examples first .. first + lanes - 1."""

    @intrinsic
    def products(typing_context, values, where, n, columns, first, out, s):
        _check_order(values, where, columns, out)
        number = types.uintp
        return types.void(values, where, number, columns, number, out, number), generate

    def generate(context, builder, signature, arguments):
        values, columns, out = _arrays(context, builder, signature, arguments, 0, 3, 5)
        n, first, s = (arguments[i] for i in (2, 4, 6))
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{WIDTH}f64")
        zero = _VECTOR([0.0] * WIDTH)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(lanes // WIDTH)]
        with cgutils.for_range(builder, n, intp=_INT) as loop:
            row = loop.index
            value = _spread(builder, builder.load(builder.gep(values.data, [row])))
            if signature.args[1] != types.none:
                (where,) = _arrays(context, builder, signature, arguments, 1)
                row = builder.load(builder.gep(where.data, [row]))
            for i, total in enumerate(totals):
                other = builder.load(_place(builder, columns, row, first, i), align=WIDTH)
                builder.store(builder.call(fma, [value, other, builder.load(total)]), total)
        for i, total in enumerate(totals):
            builder.store(builder.load(total), _place(builder, out, s, first, i), align=WIDTH)
        return context.get_dummy_value()

    return products


_eight, _sixteen, _thirty_two, _sixty_four = map(_products_of, (8, 16, 32, 64))


@njit(cache=True, nogil=True)
def sum_products(values, where, n, columns, lo, out, s):
    """out[s, j] = sum over k < n of values[k] * columns[where[k], j], one after the other.

    values, where : (n or more,) float and unsigned int; where may be None: it is k
    columns : (features, b); lo : from which example on; some before it are written, too
    out : (rows, b)
    """
    n, s, b = np.uintp(n), np.uintp(s), np.uintp(columns.shape[1])
    j = np.uintp(lo) & ~(_EIGHT - _ONE)
    while j + _SIXTY_FOUR <= b:
        _sixty_four(values, where, n, columns, j, out, s)
        j += _SIXTY_FOUR
    if j + _THIRTY_TWO <= b:
        _thirty_two(values, where, n, columns, j, out, s)
        j += _THIRTY_TWO
    if j + _SIXTEEN <= b:
        _sixteen(values, where, n, columns, j, out, s)
        j += _SIXTEEN
    if j + _EIGHT <= b:
        _eight(values, where, n, columns, j, out, s)
        j += _EIGHT
    while j < b:
        total = 0.0
        for k in range(n):
            total = fma(values[k], columns[k if where is None else where[k], j], total)
        out[s, j] = total
        j += _ONE


@intrinsic
def add_powers_of_four(typing_context, bases, rows, weights, first, sums):
    """sums[e - 1, j] += the sum over four rows of weights[a] bases[rows[a], j]^e, e = 1, 2, ...

    j = first .. first + WIDTH - 1, for which there must be room

    bases, sums : (m, b) and (top, b)
    rows, weights : four unsigned ints, four floats
    """
    _check_order(bases, sums)
    signature = types.void(
        bases, types.UniTuple(types.uintp, 4), types.UniTuple(types.float64, 4), types.uintp, sums
    )

    def generate(context, builder, signature, arguments):
        bases, sums = _arrays(context, builder, signature, arguments, 0, 4)
        rows, weights = (cgutils.unpack_tuple(builder, arguments[i], 4) for i in (1, 2))
        first = arguments[3]
        base = [builder.load(_place(builder, bases, row, first), align=WIDTH) for row in rows]
        terms = [cgutils.alloca_once_value(builder, _spread(builder, one)) for one in weights]
        with cgutils.for_range(builder, builder.extract_value(sums.shape, 0), intp=_INT) as loop:
            new = [
                builder.fmul(builder.load(term), one) for term, one in zip(terms, base, strict=True)
            ]
            for value, term in zip(new, terms, strict=True):
                builder.store(value, term)
            pairs = builder.fadd(new[0], new[1]), builder.fadd(new[2], new[3])
            where = _place(builder, sums, loop.index, first)
            total = builder.fadd(builder.load(where, align=WIDTH), builder.fadd(*pairs))
            builder.store(total, where, align=WIDTH)
        return context.get_dummy_value()

    return signature, generate
