"""Published errors of regression beside our own: plain data, JSON-able.

All errors are mean squared errors over all rounds, times 1,000; all labels are shares of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class _RegressionRow:
    """A row of a table or a line of a figure.

    Attributes
    ----------
    data, recipe, title : the data set, our recipe, the algorithm as the paper prints it
    runs : one a draw of the features; 1 where nothing is drawn
    """

    data: str
    recipe: str
    title: str
    runs: int


@dataclass(frozen=True)
class RegressionCell(_RegressionRow):
    """One algorithm on one data set; other attributes as in `_RegressionRow`.

    Attributes
    ----------
    error_printed, labels_printed : of the paper; None where it prints none
    error, error_std : ours; the deviation (ddof = 1) is None of one run
    labels, labels_std : ours
    seconds : of one run
    """

    error_printed: float | None
    labels_printed: float | None
    error: float
    error_std: float | None
    labels: float
    labels_std: float | None
    seconds: float


@dataclass(frozen=True)
class RegressionTable:
    """A table of errors and labels, printed and ours; other attributes as in `Reproduction`.

    Attributes
    ----------
    cells : grouped by data set, in the order of the paper; trivial rules and our own recipes,
        of which nothing is printed, at the end of each
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    cells: tuple[RegressionCell, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelPoint(_RegressionRow):
    """One algorithm at one setting of its criterion; other attributes as in `_RegressionRow`.

    Attributes
    ----------
    window : after so many labels in a row not asked for, the next one is (M of the paper)
    threshold : of the disagreement (eta_c of the paper)
    error, error_std, labels, labels_std : as in `RegressionCell`
    error_random, error_random_std : of the same algorithm where the labels asked for are drawn,
        as large a share of them
    """

    window: int
    threshold: float
    error: float
    error_std: float | None
    labels: float
    labels_std: float | None
    error_random: float
    error_random_std: float | None


@dataclass(frozen=True)
class LabelStudy:
    """What the criterion's threshold and window do; other attributes as in `Reproduction`.

    Attributes
    ----------
    points : those of one algorithm and window stand together, by rising threshold
    trivial : title -> error of the trivial rules, which see every label
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    points: tuple[LabelPoint, ...]
    trivial: dict[str, float]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ErrorCurve(_RegressionRow):
    """One algorithm over time; other attributes as in `_RegressionRow`.

    Attributes
    ----------
    rounds : (k,) rising; the last is T
    error : (k,) of the rounds so far; means over the runs
    error_std : (k,) standard deviations (ddof = 1); None of one run
    labels : of all rounds
    """

    rounds: tuple[int, ...]
    error: tuple[float, ...]
    error_std: tuple[float, ...] | None
    labels: float


@dataclass(frozen=True)
class ErrorCurves:
    """A figure of errors over time; other attributes as in `Reproduction`.

    Attributes
    ----------
    curves : grouped by data set, in the order of `RegressionTable`
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    curves: tuple[ErrorCurve, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
