"""What the best expert, or the best sequence of experts, would have lost: known afterwards only.

Losses add up, so a fixed convex combination of experts loses no less than the best of them: for
a matrix of losses there is no third oracle.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import check_count
from kernbrook.combiners import Hedge
from kernbrook.errors import InputError
from kernbrook.selection import Selection


class Oracle(NamedTuple):
    """A choice of one expert for every round."""

    loss: float  # in all, of the chosen experts
    experts: NDArray[np.int64]  # (T,) the expert chosen at each round

    @property
    def shifts(self) -> int:
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
    check_count("shifts", shifts, 0)
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


class Hindsight(NamedTuple):
    """What is known of a classifier's run once it is over."""

    expert: int  # the one that would have erred least alone, of `expert_mistakes_`
    mistakes: float  # its own
    regret: float  # mistakes of the run beyond those; below 0 where the experts together err less
    bound: float | None  # the most mistakes of a run whose best expert makes so many, where known


def hindsight(model: Any, mistakes: float) -> Hindsight | None:
    """The best expert of a run in which all labels were seen, beside the run's own mistakes.

    None where there is nothing to compare: of numbers, of one expert, or where not all experts
    learn from each label. The bound is that of a weighted vote of signs: 2 (ln(1/b) M + ln m) /
    (1 - b), with b the discount of `Hedge`, M the mistakes of the best of m experts.

    Parameters
    ----------
    model : a classifier that has learned
    mistakes : of its run

    References
    ----------
    Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, theorem 1.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:300").read()
    >>> model = kb.recipes.make("omkc-dd")
    >>> predicted, _ = model.learn(X, y)
    >>> found = hindsight(model, (predicted != y).sum())
    >>> found.mistakes + found.regret <= found.bound
    True
    """
    counted = getattr(model, "expert_mistakes_", None)
    if counted is None or len(counted) < 2 or model.labels_asked_ < model.n_rounds_:
        return None
    selection = model.selection
    if selection is not None and not (
        isinstance(selection, Selection) and selection.update == "all"
    ):
        return None
    best, combiner = int(counted.argmin()), model.combiner
    least, bound = float(counted[best]), None
    if isinstance(combiner, Hedge) and combiner.loss == "mistakes" and combiner.discount < 1:
        rate = math.log(1 / combiner.discount)
        bound = 2 * (rate * least + math.log(len(counted))) / (1 - combiner.discount)
    return Hindsight(best, least, float(mistakes) - least, bound)


def _matrix(name: str, losses: Any) -> NDArray[np.float64]:
    matrix = np.asarray(losses, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{name}: losses must have shape (T, m), at least (1, 1), got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise InputError(f"{name}: losses must be finite")
    return matrix
