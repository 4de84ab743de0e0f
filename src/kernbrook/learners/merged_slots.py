"""Merging two support vectors of one Gaussian kernel: with which, and where the new one lies.

Wang, Crammer, Vucetic (2010), section 4.3. x_m and x_n become z = h x_m + (1 - h) x_n, equation 20,
with the coefficients u alpha_m + v alpha_n, equation 22; with kappa = k(x_m, x_n) and
L = -ln kappa, u = k(x_m, z) = exp(-L (1 - h)^2) and v = k(x_n, z) = exp(-L h^2). Of

    a = ||alpha_m||^2, b = ||alpha_n||^2, g = alpha_m . alpha_n  (a <= b: x_m is the lighter)

J(h) = a u^2 + b v^2 + 2 g u v is kept, and a + b + 2 kappa g - J is lost. With s = u / v,

    (ln J)' = 4 L (phi - h), phi = (a s^2 + g s) / (a s^2 + 2 g s + b), s = exp(-L (1 - 2 h)):

one exponential per step. The greatest J on [0, 1] is at h <= 1/2, as J(h) - J(1 - h) =
(b - a)(v^2 - u^2). On [0, 1/2] it is at 0 where phi(0) <= 0. Otherwise phi is convex there and
phi(1/2) <= 1/2: it has one root, and Newton's steps from h = 0 rise to it and never pass it.
"""

import math

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.arithmetic import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    ROUND,
    ROUND_BITS,
    bits_float,
    exp_negative,
    exp_series,
    float_bits,
    fma,
)
from kernbrook.numerics.vectors import least

EQUAL = 1e-9  # costs within this share of the least are equal
ROUNDING = 1e-12  # of a: what rounding may leave of a loss of 0
COARSE = 1e-4  # a last step in h after which the loss is known to 1e-14 of a
FINE = 1e-12
STEPS = 100  # where J is flat at its top, steps shrink by a third only, down to the rounding
SMALLEST = 1e-300  # kernel values below count as this
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@njit(inline="always")
def _minus_log(x):
    """-log(x) for 0 < x <= 1, to 3 units in the last place; x normal.

    x = m 2^n with m in [sqrt(1/2), sqrt(2)); log(m) = 2 artanh((m - 1) / (m + 1)) by its Taylor
    series (remainder 2e-17). Branch-free, as `exp_negative` is.
    """
    bits = float_bits(x)
    n = (bits - SQRT_HALF_BITS) >> 52
    whole = bits_float(n + ROUND_BITS) - ROUND
    m = bits_float(bits - (n << 52))
    t = (m - 1.0) / (m + 1.0)
    z = t * t
    p = 1.0 / 19.0
    p = fma(p, z, 1.0 / 17.0)
    p = fma(p, z, 1.0 / 15.0)
    p = fma(p, z, 1.0 / 13.0)
    p = fma(p, z, 1.0 / 11.0)
    p = fma(p, z, 1.0 / 9.0)
    p = fma(p, z, 1.0 / 7.0)
    p = fma(p, z, 1.0 / 5.0)
    p = fma(p, z, 1.0 / 3.0)
    p = fma(p, z, 1.0)
    return -fma(whole, LN2_HIGH, fma(whole, LN2_LOW, 2.0 * t * p))


@njit(inline="always")
def _exp_less_one(x):
    """(exp(x), exp(x) - 1) for x <= 0, both to 2 units in the last place; exp(-700) below that."""
    x = max(x, -700.0)
    shifted = fma(x, LOG2_E, ROUND)
    whole = shifted - ROUND
    r = fma(-whole, LN2_LOW, fma(-whole, LN2_HIGH, x))
    p = exp_series(r) * r
    power = bits_float((float_bits(shifted) - ROUND_BITS + 1023) << 52)
    return fma(power, p, power), fma(power, p, power - 1.0)


@njit(inline="always")
def _climb(ratio, cross, L, h, s):
    """A step of Newton's from h; s = exp(-L (1 - 2 h)), ratio = a/b, cross = g/b."""
    top = s * (ratio * s + cross)
    bottom = top + cross * s + 1.0
    slope = bottom * bottom - 2.0 * L * s * (cross * (ratio * s * s + 1.0) + 2.0 * ratio * s)
    step = (top - h * bottom) * bottom / slope if slope > 0.0 else 0.0  # nor where b = 0: NaN
    return min(max(h + step, 0.0), 0.5)


@njit(inline="always")
def _merge_loss(a, b, g, L, h):
    """a (1 - u^2) + b (1 - v^2) - 2 g (u v - kappa), without the cancellation."""
    over = h > 0.5  # the same with x_m and x_n the other way round
    light, heavy, h = b if over else a, a if over else b, 1.0 - h if over else h
    s, s_less = _exp_less_one(-L * (1.0 - 2.0 * h))
    vv, vv_less = _exp_less_one(-2.0 * L * h * h)
    _, less = _exp_less_one(-2.0 * L * h)  # kappa = s exp(-2 L h)
    slope = -light * (vv_less + vv * s_less * (s + 1.0)) - heavy * vv_less
    return max(slope - 2.0 * g * s * (vv_less - less), 0.0)


@njit(cache=True, nogil=True)
def merge_loss(a, b, g, kappa, h):
    """||alpha_m k(x_m, .) + alpha_n k(x_n, .) - alpha_z k(z, .)||^2 for h in [0, 1]."""
    return _merge_loss(a, b, g, _minus_log(max(kappa, SMALLEST)), h)


@njit(cache=True, nogil=True)
def best_share(a, b, g, kappa, tolerance):
    """The h in [0, 1/2] of the greatest J, for a <= b; stops after a step <= tolerance."""
    ratio, cross = a / b, g / b
    s = max(kappa, SMALLEST)
    L, h = _minus_log(s), 0.0
    for _ in range(STEPS):
        last = h
        h = _climb(ratio, cross, L, h, s)
        if h - last <= tolerance:
            break
        s = exp_negative(-L * (1.0 - 2.0 * h))
    return h


@njit(cache=True, nogil=True)
def _coarse_shares(ratio, cross, kappas, shares, moves):
    """shares = `best_share` of each pair, to COARSE; moves is scratch.

    Three steps for all at once, and `best_share` for the few that take more.
    """
    for i in range(np.uintp(len(kappas))):
        s = max(kappas[i], SMALLEST)
        L = _minus_log(s)
        h = _climb(ratio[i], cross[i], L, 0.0, s)
        h = _climb(ratio[i], cross[i], L, h, exp_negative(-L * (1.0 - 2.0 * h)))
        shares[i] = _climb(ratio[i], cross[i], L, h, exp_negative(-L * (1.0 - 2.0 * h)))
        moves[i] = shares[i] - h
    for i in range(len(kappas)):
        if moves[i] > COARSE:
            shares[i] = best_share(ratio[i], 1.0, cross[i], kappas[i], COARSE)


@njit(cache=True, nogil=True)
def _printed_weights(alpha, filled, m):
    """Equation 21: the greatest first u + second v, on [0, 1], for every slot.

    first, second : sums over the classes of alpha_m and alpha_n over alpha_m + alpha_n; a class
    whose sum is 0 has no weight. Its square is the J of one class, with the same best h.

    Returns (filled,) the lesser over the greater, and whether the lesser is second's.
    """
    stop = np.uintp(filled)
    first, second = np.zeros(filled), np.zeros(filled)
    weight, over = np.empty(filled), np.empty(filled, dtype=np.bool_)
    for c in range(alpha.shape[0]):
        light = alpha[c, m]
        for n in range(stop):
            total = light + alpha[c, n]
            counts = abs(total) > EQUAL * max(abs(light), abs(alpha[c, n]))
            first[n] += light / total if counts else 0.0
            second[n] += alpha[c, n] / total if counts else 0.0
    for n in range(stop):
        low, high = min(first[n], second[n]), max(first[n], second[n])
        weight[n] = low / high
        over[n] = first[n] > second[n] * (1.0 + ROUNDING)
    return weight, over


@njit(cache=True, nogil=True)
def _oldest_of_the_least(costs, born, room):
    """The oldest of the places that cost the least, up to a share of EQUAL and the room."""
    limit = least(costs) * (1.0 + EQUAL) + room
    found = -1
    for i in range(len(costs)):
        if costs[i] <= limit and (found < 0 or born[i] < born[found]):
            found = i
    return max(found, 0)


@njit(cache=True, nogil=True)
def lightest_slot(squares, diagonal, born, filled):
    """The slot of the least ||alpha||^2 k(x, x); of equal ones, the oldest."""
    costs = np.empty(filled)
    for n in range(np.uintp(filled)):
        costs[n] = squares[n] * diagonal[n]
    return _oldest_of_the_least(costs, born, 0.0)


@njit(cache=True, nogil=True)
def _collect_promising(a, m, products, kappas, index):
    """Puts the slots that can be the best partner first in `index`; their number.

    As u^2 and u v are at most sqrt(kappa), no slot loses less than its floor, a (1 - sqrt(kappa))
    - 2 max(g, 0) (sqrt(kappa) - kappa); with h = 0 it loses a (1 - kappa^2).
    """
    stop = np.uintp(len(products))
    costs, floors = np.empty(stop), np.empty(stop)
    for n in range(stop):
        kappa, g = kappas[n], products[n]
        root = math.sqrt(kappa)
        costs[n] = a * (1.0 - kappa * kappa)
        floor = a * (1.0 - root) - 2.0 * max(g, 0.0) * (root - kappa)
        floors[n] = floor if a * kappa + g > 0.0 else costs[n]
    costs[m] = floors[m] = np.inf
    limit = least(costs) * (1.0 + EQUAL) + ROUNDING * a
    count = 0
    for n in range(stop):
        index[count] = n
        count += floors[n] <= limit
    return max(count, 1)  # none where they are not finite


@njit(cache=True, nogil=True)
def choose_partner(alpha, filled, m, squares, kappas, born, printed):
    """(n, h): the slot with which merging slot m loses least, the oldest of equal ones, and h.

    alpha : (C, B) coefficients of the slots, of which the first `filled` >= 2 are in use
    m : the slot of the least ||alpha||^2, but for a share of EQUAL
    squares, kappas, born : (B,) ||alpha||^2, kernel values with slot m, round of arrival
    printed : whether h is that of equation 21
    """
    a = squares[m]
    products, index = np.zeros(filled), np.empty(filled, dtype=np.int64)
    for c in range(alpha.shape[0]):
        light = alpha[c, m]
        if light != 0.0:  # of a new support vector's, two are not 0
            for n in range(np.uintp(filled)):
                products[n] = fma(light, alpha[c, n], products[n])
    if printed:
        count = filled - 1
        for i in range(count):
            index[i] = i if i < m else i + 1
    else:
        count = _collect_promising(a, m, products, kappas, index)
    near, b, g = np.empty(count), np.empty(count), np.empty(count)
    ages, over = np.empty(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    ratio, cross = np.empty(count), np.empty(count)
    shares, losses = np.empty(count), np.empty(count)
    for i in range(count):
        n = index[i]
        near[i], b[i], g[i], ages[i] = kappas[n], squares[n], products[n], born[n]
    if printed:
        weight, exceeds = _printed_weights(alpha, filled, m)
        for i in range(count):
            cross[i], over[i] = weight[index[i]], exceeds[index[i]]
            ratio[i] = cross[i] * cross[i]
    else:
        for i in range(np.uintp(count)):
            ratio[i], cross[i] = a / b[i], g[i] / b[i]
    _coarse_shares(ratio, cross, near, shares, losses)
    for i in range(np.uintp(count)):
        L = _minus_log(max(near[i], SMALLEST))
        losses[i] = _merge_loss(a, b[i], g[i], L, 1.0 - shares[i] if over[i] else shares[i])
    i = _oldest_of_the_least(losses, ages, ROUNDING * a)
    h = best_share(ratio[i], 1.0, cross[i], near[i], FINE)
    return index[i], 1.0 - h if over[i] else h
