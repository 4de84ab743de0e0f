"""The exact line search: where a hinge loss and one absolute value are least on a line."""

from __future__ import annotations

import numpy as np

from kernbrook.voted.examples import Floats


def exact_step(margins: Floats, moves: Floats, coefficient: float, penalty: float) -> float:
    """The eta that minimises (1/n) sum_i max(0, 1 - margins_i - eta moves_i) + penalty
    |coefficient + eta|.

    The function is convex and linear between its breakpoints (1 - margins_i) / moves_i and
    -coefficient: its slope grows by |moves_i| / n at each of the former and by 2 penalty at the
    latter, so the least value is where the sorted growths have used up the slope at -infinity.

    Examples
    --------
    >>> import numpy as np
    >>> exact_step(np.zeros(2), np.array([2.0, 1.0]), 0.0, 0.1)
    1.0
    """
    n = len(margins)
    moving = np.flatnonzero(moves)
    with np.errstate(over="ignore"):
        breaks = np.append((1.0 - margins[moving]) / moves[moving], -coefficient)
    growth = np.append(np.abs(moves[moving]) / n, 2.0 * penalty)
    order = np.argsort(breaks, kind="stable")
    left = np.maximum(moves[moving], 0.0).sum() / n + penalty
    reached = np.searchsorted(np.cumsum(growth[order]), left * (1 - 1e-15))
    return float(breaks[order[min(reached, len(order) - 1)]])
