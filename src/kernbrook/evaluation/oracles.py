"""What the best expert, or the best sequence of experts, would have lost: known afterwards only.

Losses add up, so a fixed convex combination of experts loses no less than the best of them: for
a matrix of losses there is no third oracle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import is_whole
from kernbrook.errors import InputError


class Oracle(NamedTuple):
    """A choice of one expert for every round.

    Attributes
    ----------
    loss : total loss of the chosen experts
    experts : (T,) int, the expert chosen at each round
    """

    loss: float
    experts: NDArray[np.int64]

    @property
    def shifts(self) -> int:
        """Rounds whose expert is not that of the round before."""
        return int(np.count_nonzero(np.diff(self.experts)))


def best_fixed(losses: Any) -> Oracle:
    """The expert with the least total loss; the lowest index if several.

    Parameters
    ----------
    losses : (T, m) of m experts over T rounds

    Examples
    --------
    >>> best_fixed([[0, 1], [1, 0], [1, 0]]).loss
    1.0
    """
    losses = _matrix("best_fixed", losses)
    totals = losses.sum(axis=0)
    best = int(totals.argmin())
    return Oracle(float(totals[best]), np.full(len(losses), best, dtype=np.int64))


def best_shifting(losses: Any, shifts: int) -> Oracle:
    """The sequence of experts with the least total loss among those with at most `shifts` shifts.

    By dynamic programming, in time and memory proportional to T m (shifts + 1).

    Parameters
    ----------
    losses : (T, m) of m experts over T rounds
    shifts : 0 or more

    References
    ----------
    Herbster and Warmuth (1998), Tracking the best expert: the comparator of their bounds.

    Examples
    --------
    >>> oracle = best_shifting([[0, 1], [0, 1], [1, 0], [1, 0]], shifts=1)
    >>> oracle.loss, oracle.experts
    (0.0, array([0, 0, 1, 1]))
    """
    losses = _matrix("best_shifting", losses)
    if not is_whole(shifts) or shifts < 0:
        raise InputError(f"best_shifting: shifts must be an integer from 0, got {shifts!r}")
    rounds, m = losses.shape
    k = min(int(shifts), rounds - 1)
    # least[j, e]: of the sequences so far that end with expert e after at most j shifts
    least = np.tile(losses[0], (k + 1, 1))
    came_from = np.zeros((rounds, k + 1, m), dtype=np.int32)
    stay = np.arange(m, dtype=np.int32)
    for t in range(1, rounds):
        came_from[t] = stay
        sources = least[:-1].argmin(axis=1)
        switched = least[np.arange(k), sources][:, None]
        better = switched < least[1:]
        came_from[t, 1:][better] = np.broadcast_to(sources[:, None], better.shape)[better]
        least[1:] = np.where(better, switched, least[1:])
        least += losses[t]
    expert = int(least[k].argmin())
    experts = np.empty(rounds, dtype=np.int64)
    j = k
    for t in range(rounds - 1, -1, -1):
        experts[t] = expert
        before = int(came_from[t, j, expert])
        if before != expert:
            expert, j = before, j - 1
    return Oracle(float(losses[np.arange(rounds), experts].sum()), experts)


def _matrix(name: str, losses: Any) -> NDArray[np.float64]:
    matrix = np.asarray(losses, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{name}: losses must have shape (T, m), at least (1, 1), got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise InputError(f"{name}: losses must be finite")
    return matrix
