"""Published errors of voted kernel regularization beside our own: plain data, JSON-able.

All errors are shares of wrong labels, in per cent; numbers of support vectors are training points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kernbrook.evaluation.reproduction_records import agrees

Setting = dict[str, float]  # lam and beta, or degree or gamma with beta or C


@dataclass(frozen=True)
class GridPoint:
    """One setting of the grid; means over all runs.

    Attributes
    ----------
    setting : its values by name
    n_support : training points in use
    validation, error : on the validation part and on the test part
    """

    setting: Setting
    n_support: float
    validation: float
    error: float


@dataclass(frozen=True)
class VotedCell:
    """One algorithm on one data set with one family of kernels.

    Attributes
    ----------
    data, recipe, title : the data set, our recipe, the algorithm as the paper prints it
    family : "polynomial" or "gaussian"
    chosen : one setting a draw of the folds, the same for its five runs
    error_printed, error_printed_std, n_support_printed, n_support_printed_std : of the paper,
        which prints polynomials only
    error, error_std : ours, over the five runs of each draw (ddof = 1)
    n_support, n_support_std : the same of the training points in use
    p_value : of voted kernel regularization: that its errors are no less than those of the better
        of the two other algorithms (paired one-sided t-test over the runs, of several draws
        with the correction of Nadeau and Bengio, 2003, for what they share); None where all
        differences are 0
    weights : (p,) mean share of each kernel in the sum of |alpha|, of voted kernel regularization
    frontier : settings that err less on the validation part than every one with fewer support
        vectors, by rising number of support vectors
    unfinished, fits : fits that libsvm ended at its limit of steps, or that are beyond the
        precision of the linear programs' solver, whose settings are left out; of so many
    seconds : of the whole grid, all five runs; mean over the draws
    """

    data: str
    recipe: str
    title: str
    family: str
    chosen: tuple[Setting, ...]
    error_printed: float | None
    error_printed_std: float | None
    error: float
    error_std: float
    n_support_printed: float | None
    n_support_printed_std: float | None
    n_support: float
    n_support_std: float
    p_value: float | None
    weights: tuple[float, ...] | None
    frontier: tuple[GridPoint, ...]
    unfinished: int
    fits: int
    seconds: float

    @property
    def error_agrees(self) -> bool | None:
        """Whether ours is within two printed deviations; None where nothing is printed."""
        if self.error_printed is None:
            return None
        return agrees(self.error, self.error_printed, self.error_printed_std, 0.005)

    @property
    def n_support_agrees(self) -> bool | None:
        """The same of the number of support vectors."""
        if self.n_support_printed is None:
            return None
        return agrees(self.n_support, self.n_support_printed, self.n_support_printed_std, 0.05)

    @property
    def level(self) -> int | None:
        """5 or 10: the per cent at which it errs less than the other algorithms, if so."""
        if self.p_value is None or self.p_value > 0.1:
            return None
        return 5 if self.p_value <= 0.05 else 10


@dataclass(frozen=True)
class VotedTable:
    """Errors and support vectors, printed and ours; other attributes as in `Reproduction`.

    Attributes
    ----------
    cells : grouped by data set and family, in the order of the paper
    pools : family -> degree or gamma of each kernel, as `weights` counts them
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    cells: tuple[VotedCell, ...]
    pools: dict[str, tuple[float, ...]]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
