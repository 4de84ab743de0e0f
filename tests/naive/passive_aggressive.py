"""Passive-aggressive learners, one example at a time: a step for `budget.Expert`.

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), Online passive-aggressive algorithms.
"""

from .budget import SMALLEST_DIAGONAL
from .weights import weighed


def pa_step(variant, aggressiveness, loss, square):
    """tau of Crammer et al. (2006), figure 1; square is ||x||^2, here k(x, x)."""
    if variant == "PA":
        return loss / square
    if variant == "PA-I":
        return min(aggressiveness, loss / square)
    return loss / (square + 1 / (2 * aggressiveness))


def passive_aggressive(expert, t, f, y, weight, seed, variant="PA-I", aggressiveness=1.0):
    """Figure 1; an example with k(x, x) <= 1e-12 is not added."""
    loss, square = max(0.0, 1 - y * f), expert.k(t, t)
    if loss > 0 and square > SMALLEST_DIAGONAL:
        step = pa_step(variant, aggressiveness, loss, square)
        expert.add(t, weighed(weight, step, loss, square) * y)
