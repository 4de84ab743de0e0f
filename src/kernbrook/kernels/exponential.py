"""The exponential of a distance, which Gaussians and Laplacians are, as a step of the engine.

Kernels whose widths are in an integer ratio share one exponential: the others are powers of it.
"""

from typing import NamedTuple

from kernbrook.numerics.arithmetic import UNDERFLOW, exp_negative
from kernbrook.numerics.values import fill, raise_to


class ExponentialStep(NamedTuple):
    """exp(-parameter * source), of power 1; else that power of the previous step's values."""


@fill.of(ExponentialStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    if power > 1:
        raise_to(values, lo, hi, power)
        return True
    alive = False
    for j in range(lo, hi):
        alive |= source[j] * parameter <= UNDERFLOW
    if not alive:
        return False
    for j in range(lo, hi):
        values[0, j] = exp_negative(-parameter * source[j])
    return True
