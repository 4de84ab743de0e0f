"""A published table beside our own numbers: plain data, JSON-able."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
        return _agrees(self.error, self.error_printed, self.error_printed_std, 0.005)

    @property
    def n_support_agrees(self) -> bool | None:
        """The same of the number of support vectors."""
        printed, std = self.n_support_printed, self.n_support_printed_std
        return _agrees(self.n_support, printed, std, 0.05)


def _agrees(ours: float, printed: float, std: float | None, rounding: float) -> bool | None:
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
