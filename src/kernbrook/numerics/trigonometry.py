"""Sines and cosines of many angles: branch-free, so that LLVM makes vector instructions of it.

The angle is reduced by multiples of pi / 2 held in two parts (Cody and Waite, 1980). With a fused
multiply-add the first subtraction is exact, and the second is off by less than 2^-53, for every
angle up to `LARGEST`. The polynomials are minimax in r^2 on |r| <= pi / 4 (Remez exchange).
"""

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.arithmetic import ROUND, bits_float, float_bits, fma

LARGEST = 1073741824.0  # 2^30: angles beyond it, if any, go to the library's functions
TWO_OVER_PI = 0.6366197723675814
HALF_PI_HIGH = 1.5707963267948966
HALF_PI_LOW = 6.123233995736766e-17


@njit(inline="always")
def sine_cosine(x):
    """(sin x, cos x) for |x| <= `LARGEST`, to 2e-16."""
    shifted = fma(x, TWO_OVER_PI, ROUND)
    quadrant = float_bits(shifted)  # its lowest bits count the quarter turns
    turns = shifted - ROUND
    r = fma(-turns, HALF_PI_LOW, fma(-turns, HALF_PI_HIGH, x))
    z = r * r
    # (sin r - r) / r^3, off by 4e-18 at most where it counts
    p = fma(1.5894710581634463e-10, z, -2.505073457106949e-08)
    p = fma(p, z, 2.755731365185318e-06)
    p = fma(p, z, -0.00019841269830144393)
    p = fma(p, z, 0.008333333333323662)
    p = fma(p, z, -0.1666666666666664)
    s = fma(p, z * r, r)
    # (cos r - 1 + r^2 / 2) / r^4, by 2e-19
    q = fma(-1.1367981880469046e-11, z, 2.0875897738682843e-09)
    q = fma(q, z, -2.7557315738613277e-07)
    q = fma(q, z, 2.4801587294628004e-05)
    q = fma(q, z, -0.001388888888888284)
    q = fma(q, z, 0.04166666666666665)
    c = fma(fma(q, z, -0.5), z, 1.0)
    odd = (quadrant & 1) != 0
    sine = c if odd else s
    cosine = s if odd else c
    sine = bits_float(float_bits(sine) ^ ((quadrant & 2) << 62))
    cosine = bits_float(float_bits(cosine) ^ (((quadrant + 1) & 2) << 62))
    return sine, cosine
