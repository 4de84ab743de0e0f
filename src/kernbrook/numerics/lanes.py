"""Sums of products for many examples at once, which stay in vector registers.

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


def _sums_of(lanes):
    """`sums` of `sum_products`, for the examples first .. first + lanes - 1."""

    @intrinsic
    def sums(typing_context, values, where, n, columns, first, out, s):
        arrays = [kind for kind in (values, where, columns, out) if kind != types.none]
        if any(array.layout != "C" for array in arrays):
            raise TypingError("expected arrays whose rows follow each other in memory")
        number = types.uintp
        return types.void(values, where, number, columns, number, out, number), generate

    def generate(context, builder, signature, arguments):
        kinds = signature.args

        def data(i):
            return context.make_array(kinds[i])(context, builder, arguments[i]).data

        def vector(array, row, i):
            """Where vector i of these examples lies in a row of `columns` or `out`."""
            first = builder.add(arguments[4], _INT(i * WIDTH))
            at = builder.gep(array, [builder.add(builder.mul(row, b), first)])
            return builder.bitcast(at, _VECTOR.as_pointer())

        columns = context.make_array(kinds[3])(context, builder, arguments[3])
        b = builder.extract_value(columns.shape, 1)
        product = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(
            builder.module, product, f"llvm.fma.v{WIDTH}f64"
        )
        none, every = _VECTOR(ir.Undefined), ir.VectorType(_PLACE, WIDTH)([0] * WIDTH)
        zero = _VECTOR([0.0] * WIDTH)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(lanes // WIDTH)]
        with cgutils.for_range(builder, arguments[2], intp=_INT) as loop:
            value = builder.load(builder.gep(data(0), [loop.index]))
            value = builder.insert_element(none, value, _PLACE(0))
            value = builder.shuffle_vector(value, none, every)
            row = loop.index
            if kinds[1] != types.none:
                row = builder.load(builder.gep(data(1), [row]))
            for i, total in enumerate(totals):
                other = builder.load(vector(columns.data, row, i), align=WIDTH)
                new = builder.call(multiply_add, [value, other, builder.load(total)])
                builder.store(new, total)
        for i, total in enumerate(totals):
            builder.store(builder.load(total), vector(data(5), arguments[6], i), align=WIDTH)
        return context.get_dummy_value()

    return sums


_eight, _sixteen, _thirty_two, _sixty_four = map(_sums_of, (8, 16, 32, 64))


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
