"""What counts as zero."""

from kernbrook.numerics.compiling import njit

ZERO = 1e-12  # a sum within this share of the sum of its terms' sizes is zero: exact cancellation


@njit(cache=True, nogil=True)
def zero_or(total, size):
    """The sum, or 0 where it is no more than the rounding of its terms."""
    return 0.0 if abs(total) <= ZERO * size else total
