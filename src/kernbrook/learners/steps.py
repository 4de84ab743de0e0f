"""Functions that the steps of several learners share."""

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.scores_of_classes import copies
from kernbrook.numerics.zero import ZERO

SMALLEST_DIAGONAL = 1e-12  # an example with k(x, x) below it is a zero vector: nothing to add


@njit(cache=True, nogil=True)
def hinge_loss(seen):
    """max(0, 1 - margin), and 0 within the rounding of the margin's terms.

    Or an example that comes again would be added for ever.
    """
    loss = 1.0 - seen.margin
    return loss if loss > ZERO * (1.0 + seen.size) else 0.0


@njit(cache=True, nogil=True)
def weigh_step(weight, step, lacks, reach):
    """The step of an example of a weight, `step` with weight 1: as many as it weighs in a row.

    But, beyond the first, none goes past the margin that it lacks; reach : what 1 adds to it.
    """
    whole = weight * step
    if not weight > 1.0 or lacks >= whole * reach:
        return whole
    return max(step, lacks / reach) if reach > 0.0 else step


@njit(cache=True, nogil=True)
def mistaken_step(seen, scores):
    """The step of an example that was a mistake: 1 with weight 1.

    scores : how many there are
    """
    reach = copies(scores) * seen.diagonal
    return weigh_step(seen.weight, 1.0, reach - seen.margin, reach)


@njit(cache=True, nogil=True)
def errs(strict, seen):
    """Is it a mistake? strict : whether a margin of 0 is one."""
    return seen.margin <= 0.0 if strict else seen.wrong


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def product(a, i, b, k):
    """a[i] . b[k], in an order fixed by their length."""
    total = 0.0
    for j in range(np.uintp(a.shape[1])):
        total += a[i, j] * b[k, j]
    return total


@njit(cache=True, nogil=True)
def sign_of(scores, c, label):
    """The sign that score c of so many should have for a label: 1 or -1."""
    right = label == 1 if scores == 1 else label == c
    return 1.0 if right else -1.0
