"""Sums for many examples at once, which stay in vector registers.

What numba makes of such a loop keeps the sums in memory, and asks before each feature whether
arrays overlap: twice the time where a point has few features, or a block few examples.
"""

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.errors import TypingError
from numba.extending import intrinsic

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.arithmetic import fma


def _vector_bytes():
    """The bytes of a vector of numba's machine; where vectors are shorter, it takes several."""
    features = config.CPU_FEATURES or llvm.get_host_cpu_features().flatten()
    return 64 if "+avx512f" in features else 32


BYTES = _vector_bytes()
WIDTH = BYTES // 8  # float64 numbers of a vector
POINTS = 6  # that are summed up together, ...
VECTORS = 4 if BYTES == 64 else 2  # ... each for so many vectors of examples: all the registers
CHAINS = 8  # points that are summed up together for one example: a sum waits for its last term

_INT, _PLACE = ir.IntType(64), ir.IntType(32)
_NUMBER = ir.DoubleType()
_ONE, _TWO, _FOUR, _EIGHT = map(np.uintp, (1, 2, 4, 8))


def _arrays(context, builder, signature, arguments, *which):
    """Some of the arguments, which are arrays."""
    return (context.make_array(signature.args[i])(context, builder, arguments[i]) for i in which)


def _check_order(*arrays):
    if any(array.layout != "C" for array in arrays if array != types.none):
        raise TypingError("expected arrays whose rows follow each other in memory")


def _place(builder, array, row, first, width=WIDTH):
    """The address of a vector from column `first` on in a row of an array."""
    columns = builder.extract_value(array.shape, 1)
    where = builder.gep(array.data, [builder.add(builder.mul(row, columns), first)])
    return builder.bitcast(where, ir.VectorType(where.type.pointee, width).as_pointer())


def _spread(builder, value, width=WIDTH):
    """A vector of one number."""
    none, every = ir.VectorType(value.type, width)(ir.Undefined), ir.VectorType(_PLACE, width)
    first = builder.insert_element(none, value, _PLACE(0))
    return builder.shuffle_vector(first, none, every([0] * width))


def _products_of(points, vectors):
    """Inner products of so many points from s on and the examples from `first` on: `vectors`
    vectors of them, or with 0 one example.

    values : (rows, n or more); of one point (n or more,), then s is only a row of `out`
    which : the points' rows in `values`, or None: one after the other
    """

    @intrinsic
    def products(typing_context, values, which, where, n, columns, first, out, s):
        _check_order(values, which, where, columns, out)
        number = types.uintp
        return types.void(values, which, where, number, columns, number, out, number), generate

    def generate(context, builder, signature, arguments):
        values, columns, out = _arrays(context, builder, signature, arguments, 0, 4, 6)
        n, first, s = (arguments[i] for i in (3, 5, 7))
        width = WIDTH if vectors else 1
        vector = ir.VectorType(_NUMBER, width)
        name, took = f"llvm.fma.v{width}f64", ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(builder.module, took, name)
        firsts = [builder.add(first, _INT(i * width)) for i in range(max(vectors, 1))]
        rows = [builder.add(s, _INT(i)) for i in range(points)]
        begins = [_INT(0)]
        if signature.args[0].ndim == 2:
            long = builder.extract_value(values.shape, 1)
            held = rows
            if signature.args[1] != types.none:
                (which,) = _arrays(context, builder, signature, arguments, 1)
                held = [builder.load(builder.gep(which.data, [row])) for row in rows]
            begins = [builder.mul(row, long) for row in held]
        zero = vector([0.0] * width)
        totals = [[cgutils.alloca_once_value(builder, zero) for _ in firsts] for _ in rows]
        with cgutils.for_range(builder, n, intp=_INT) as loop:
            feature = loop.index
            if signature.args[2] != types.none:
                (where,) = _arrays(context, builder, signature, arguments, 2)
                feature = builder.load(builder.gep(where.data, [feature]))
            places = [_place(builder, columns, feature, row, width) for row in firsts]
            others = [builder.load(place, align=8) for place in places]
            for begin, sums in zip(begins, totals, strict=True):
                value = builder.load(builder.gep(values.data, [builder.add(begin, loop.index)]))
                value = _spread(builder, value, width)
                for other, total in zip(others, sums, strict=True):
                    builder.store(builder.call(fma, [value, other, builder.load(total)]), total)
        for row, sums in zip(rows, totals, strict=True):
            for one, total in zip(firsts, sums, strict=True):
                place = _place(builder, out, row, one, width)
                builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    return products


_one, _two, _four, _eight = (_products_of(1, vectors) for vectors in (1, 2, 4, 8))
_wide, _slim = (_products_of(POINTS, vectors) for vectors in (VECTORS, 1))
_single = _products_of(CHAINS, 0)


@njit(cache=True, nogil=True)
def sum_products(values, where, n, columns, lo, out, s):
    """out[s, j] = sum over k < n of values[k] * columns[where[k], j], one after the other.

    values, where : (n or more,) float and unsigned int; where may be None: it is k
    columns : (features, b)
    lo : from which example on; others before it may be written, too
    out : (rows, b)
    """
    n, s, b = np.uintp(n), np.uintp(s), np.uintp(columns.shape[1])
    lanes = np.uintp(WIDTH)
    j = np.uintp(lo) & ~(lanes - _ONE)
    while j < b and lanes <= b:  # the fewest vectors that hold the rest: each takes as long
        rest = b - j
        if rest > _FOUR * lanes and b >= _EIGHT * lanes:
            j = min(j, b - _EIGHT * lanes)  # some are summed up once more
            _eight(values, None, where, n, columns, j, out, s)
            j += _EIGHT * lanes
        elif rest > _TWO * lanes and b >= _FOUR * lanes:
            j = min(j, b - _FOUR * lanes)
            _four(values, None, where, n, columns, j, out, s)
            j += _FOUR * lanes
        elif rest > lanes and b >= _TWO * lanes:
            j = min(j, b - _TWO * lanes)
            _two(values, None, where, n, columns, j, out, s)
            j += _TWO * lanes
        else:
            j = min(j, b - lanes)
            _one(values, None, where, n, columns, j, out, s)
            j += lanes
    while j < b:
        total = 0.0
        for k in range(n):
            total = fma(values[k], columns[k if where is None else where[k], j], total)
        out[s, j] = total
        j += _ONE


@njit(cache=True, nogil=True)
def dense_inner(points, which, columns, out):
    """out[s, j] = sum over k of points[which[s], k] * columns[k, j], in the order of the features.

    Not BLAS, which sums in an order that depends on the shapes, and so on the size of a chunk; as
    fast as that, measured.

    points : (rows, d); which : (n,) int, or None: all of them, one after the other
    columns, out : (d, b) and (n, b), as for `sum_products`
    """
    n, d = np.uintp(out.shape[0]), np.uintp(points.shape[1])
    b, lanes = np.uintp(columns.shape[1]), np.uintp(WIDTH)
    wide, slim = b >= np.uintp(VECTORS) * lanes, b >= lanes
    tall = np.uintp(POINTS if slim else CHAINS)
    across = np.uintp(VECTORS) * lanes if wide else lanes if slim else _ONE
    s = np.uintp(0)
    while n >= tall and s < n:
        s, j = min(s, n - tall), np.uintp(0)  # the last ones may be summed up once more, ...
        while j < b:
            first = min(j, b - across)  # ... both points and examples
            if wide:
                _wide(points, which, None, d, columns, first, out, s)
            elif slim:
                _slim(points, which, None, d, columns, first, out, s)
            else:
                _single(points, which, None, d, columns, first, out, s)
            j += across
        s += tall
    while s < n:
        point = points[s if which is None else np.uintp(which[s])]
        sum_products(point, None, d, columns, 0, out, s)
        s += _ONE


@intrinsic
def _lay_tile_across(typing_context, source, row, begin, target, to, column):
    """target[to + j, column + i] = source[row + i, begin + j], i and j below WIDTH."""
    _check_order(source, target)
    number = types.uintp

    def generate(context, builder, signature, arguments):
        source, target = _arrays(context, builder, signature, arguments, 0, 3)
        row, begin, to, column = (arguments[i] for i in (1, 2, 4, 5))
        lines = []
        for i in range(WIDTH):
            place = _place(builder, source, builder.add(row, _INT(i)), begin)
            lines.append(builder.load(place, align=8))
        width = WIDTH // 2
        while width:  # swaps the corners of squares of twice this width
            for i in range(WIDTH):
                if not i & width:
                    above, below = lines[i], lines[i + width]
                    for which, first in ((i, 0), (i + width, width)):
                        order = [
                            first + j if not j & width else WIDTH + first + j - width
                            for j in range(WIDTH)
                        ]
                        mask = ir.Constant(ir.VectorType(_PLACE, WIDTH), order)
                        lines[which] = builder.shuffle_vector(above, below, mask)
            width //= 2
        for j, line in enumerate(lines):
            place = _place(builder, target, builder.add(to, _INT(j)), column)
            builder.store(line, place, align=8)
        return context.get_dummy_value()

    return types.void(source, number, number, target, number, number), generate


@njit(cache=True, nogil=True)
def lay_across(source, first, n, target, column):
    """target[j, column + i] = source[first + i, j], i below n, for all rows j of the target."""
    first, n, column = np.uintp(first), np.uintp(n), np.uintp(column)
    width, length = np.uintp(WIDTH), np.uintp(target.shape[0])
    i, ends = np.uintp(0), length - length % width
    while i < n:
        j = np.uintp(0)
        if i + width <= n:
            while j < ends:
                _lay_tile_across(source, first + i, j, target, j, column + i)
                j += width
            step = width
        else:
            step = _ONE
        while j < length:
            for row in range(i, i + step):
                target[j, column + row] = source[first + row, j]
            j += _ONE
        i += step
