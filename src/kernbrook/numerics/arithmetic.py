"""The arithmetic that decides labels: fused multiply-add and the exponential.

No fast-math flag is set here: every operation is written out, so that a value is the same whether
it is computed in a tile of thousands or alone.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kernbrook.compiler.compiling import njit


@intrinsic
def fma(typing_context, a, b, c):
    """a * b + c, rounded once."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def float_bits(typing_context, value):
    """The bits of a float, as an integer."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(value), generate


@intrinsic
def bits_float(typing_context, value):
    """The float whose bits are the integer's."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(value), generate


UNDERFLOW = 745.2  # exp(-x) is exactly 0 for every x above
LOWEST = -800.0  # exp is 0 below -745.13; the argument is held here so that its exponent fits
LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer held in the low bits
ROUND_BITS = 0x4338000000000000


@njit(inline="always")
def exp_series(r):
    """(exp(r) - 1) / r for |r| <= ln 2 / 2, by the Taylor series of exp to degree 13."""
    p = 1.0 / 6227020800.0
    p = fma(p, r, 1.0 / 479001600.0)
    p = fma(p, r, 1.0 / 39916800.0)
    p = fma(p, r, 1.0 / 3628800.0)
    p = fma(p, r, 1.0 / 362880.0)
    p = fma(p, r, 1.0 / 40320.0)
    p = fma(p, r, 1.0 / 5040.0)
    p = fma(p, r, 1.0 / 720.0)
    p = fma(p, r, 1.0 / 120.0)
    p = fma(p, r, 1.0 / 24.0)
    p = fma(p, r, 1.0 / 6.0)
    p = fma(p, r, 0.5)
    return fma(p, r, 1.0)


@njit(inline="always")
def exp_negative(x):
    """exp(x) for x <= 0, to 2 units in the last place; exactly 0 where exp is.

    x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) by its Taylor series to degree 13 (remainder
    4e-18); 2^n in two factors, so that results below 2^-1022 are rounded once, as they should be.
    Branch-free, so that LLVM makes vector instructions of a loop over it.
    """
    x = max(x, LOWEST)
    shifted = fma(x, LOG2_E, ROUND)
    n = float_bits(shifted) - ROUND_BITS
    whole = shifted - ROUND
    r = fma(-whole, LN2_LOW, fma(-whole, LN2_HIGH, x))
    p = fma(exp_series(r), r, 1.0)
    half = n >> 1
    return p * bits_float((half + 1023) << 52) * bits_float((n - half + 1023) << 52)
