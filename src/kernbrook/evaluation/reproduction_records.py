"""A published table beside our own numbers: plain data, JSON-able."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Cell:
    """One algorithm on one data set: what the paper prints and what we measure.

    Attributes
    ----------
    data, recipe, title : the data set, our recipe, the algorithm as the paper prints it
    error_printed, error_printed_std : the paper's mistakes, in per cent
    error, error_std : ours; the standard deviation (ddof = 1) is None with one permutation
    n_support_printed, n_support_printed_std : the paper's number of support vectors
    n_support, n_support_std : ours
    best_printed : whether the paper marks it as best on its data set; None where it marks nothing
    best : whether ours is best, or not told from the best by a Student t-test
    seconds_printed, seconds : of one run, on the paper's machine and on ours
    """

    data: str
    recipe: str
    title: str
    error_printed: float
    error_printed_std: float | None
    error: float
    error_std: float | None
    n_support_printed: float
    n_support_printed_std: float | None
    n_support: float
    n_support_std: float | None
    best_printed: bool | None
    best: bool
    seconds_printed: float | None = None
    seconds: float | None = None

    @property
    def error_agrees(self) -> bool | None:
        """Whether ours is within two printed deviations; None where no deviation is printed."""
        return agrees(self.error, self.error_printed, self.error_printed_std, 0.005)

    @property
    def n_support_agrees(self) -> bool | None:
        """The same of the number of support vectors."""
        printed, std = self.n_support_printed, self.n_support_printed_std
        return agrees(self.n_support, printed, std, 0.05)


def deviation(values: Any) -> float | None:
    """Standard deviation (ddof = 1) of (r,) values; None of one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def agrees(ours: float, printed: float, std: float | None, rounding: float) -> bool | None:
    return None if std is None else abs(ours - printed) <= 2 * std + rounding


@dataclass(frozen=True)
class Reproduction:
    """A table of mistakes and support vectors, printed and ours.

    Attributes
    ----------
    table : its name, such as "omkc-3"
    description : what it shows and where it is printed
    permutations_by_data : for each data set "the authors' own", "given" or "seeded"
    cells : grouped by data set, in the order of the paper
    missing : data sets of the paper that are not present here
    remarks : what differs from the paper's protocol or data
    manifest : versions, seed, command: what it takes to run it again
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    cells: tuple[Cell, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class TimeRatio:
    """Time of one algorithm over the time of the reference, on one data set.

    Attributes
    ----------
    data, n_rows : the data set and its size
    recipe, title : our recipe, the column as the paper prints it, such as "(S,S)/(D,D)"
    ratio_printed, ratio : in per cent
    """

    data: str
    n_rows: int
    recipe: str
    title: str
    ratio_printed: float
    ratio: float


@dataclass(frozen=True)
class TimeReproduction:
    """A table of time ratios, printed and ours; the attributes are those of `Reproduction`."""

    table: str
    description: str
    permutations_by_data: dict[str, str]
    ratios: tuple[TimeRatio, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DiscountCurves:
    """Mistakes against the discount, as in figure 4; other attributes as in `Reproduction`.

    Attributes
    ----------
    curves : data -> title -> (discounts, mean mistakes in per cent, standard deviations)
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    curves: dict[str, dict[str, tuple[list[float], list[float], list[float]]]]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPoint:
    """One algorithm at one value of a parameter that is varied.

    Attributes
    ----------
    data : the data set
    parameter : the one that is varied: "cap" or "divisor" of SPA, alpha and beta of the paper
    value : its value
    curve : what the points of one line share: "divisor 3" where the cap is varied, else the
        algorithm; those with a budget have SPA's support vectors at that divisor
    recipe : ours
    error, error_std : mistakes in per cent; the deviation (ddof = 1) is None with one permutation
    n_support, n_support_std : stored support vectors over all kernels
    seconds : of one run
    """

    data: str
    parameter: str
    value: float
    curve: str
    recipe: str
    error: float
    error_std: float | None
    n_support: float
    n_support_std: float | None
    seconds: float


@dataclass(frozen=True)
class ParameterStudy:
    """What SPA's cap and divisor do; other attributes as in `Reproduction`.

    Attributes
    ----------
    points : those of one line stand together, or at least in the order of their values
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    points: tuple[StudyPoint, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _TestedRow:
    """A row of a table or figure of test accuracy.

    Attributes
    ----------
    data, recipe, title : the data set, our recipe, the algorithm as the paper prints it
    budget : support vectors at most; None without a budget
    width : of the Gaussian kernel exp(-width / d ||x - z||^2)
    n_rows_printed, n_rows : examples learned from, in the paper and here
    n_support_printed : the paper's number of support vectors, where it prints one
    """

    data: str
    recipe: str
    title: str
    budget: int | None
    width: float
    n_rows_printed: int
    n_rows: int
    n_support_printed: float | None


@dataclass(frozen=True)
class AccuracyCell(_TestedRow):
    """One algorithm at one budget on one data set; other attributes as in `_TestedRow`.

    Attributes
    ----------
    accuracy_printed, accuracy_printed_std : of the paper, in per cent of the test part
    accuracy, accuracy_std : ours; the deviation (ddof = 1) is None with one permutation
    n_support : ours, at the end
    seconds : of one run, learning alone
    """

    accuracy_printed: float
    accuracy_printed_std: float | None
    accuracy: float
    accuracy_std: float | None
    n_support: float
    seconds: float

    @property
    def agrees(self) -> bool | None:
        """Whether ours is within two printed deviations; None where no deviation is printed."""
        return agrees(self.accuracy, self.accuracy_printed, self.accuracy_printed_std, 0.05)


@dataclass(frozen=True)
class AccuracyTable:
    """A table of test accuracy, printed and ours; other attributes as in `Reproduction`.

    Attributes
    ----------
    cells : grouped by data set, in the order of the paper
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    cells: tuple[AccuracyCell, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class AccuracyCurve(_TestedRow):
    """One algorithm as it learns; other attributes as in `_TestedRow`.

    Attributes
    ----------
    rows : (k,) examples learned from at each test
    accuracy : (k,) right predictions of the test part, in per cent; means
    accuracy_std : (k,) standard deviations (ddof = 1); None with one permutation
    n_support : (k,) support vectors; means
    seconds : (k,) spent learning so far; means
    seconds_printed : the paper's for all rows, where it prints them
    """

    rows: tuple[int, ...]
    accuracy: tuple[float, ...]
    accuracy_std: tuple[float, ...] | None
    n_support: tuple[float, ...]
    seconds: tuple[float, ...]
    seconds_printed: float | None


@dataclass(frozen=True)
class AccuracyCurves:
    """A figure of test accuracy or of time; other attributes as in `Reproduction`.

    Attributes
    ----------
    shown : what the figure draws against the examples learned from
    curves : of one data set
    """

    table: str
    description: str
    permutations_by_data: dict[str, str]
    shown: Literal["accuracy", "seconds"]
    curves: tuple[AccuracyCurve, ...]
    missing: tuple[str, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
