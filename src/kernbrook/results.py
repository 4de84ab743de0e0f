"""What experiments leave behind: tidy cells, each with its key, and what was measured there.

A table, a figure, a page and JSON are made from the same `Results`: see `kernbrook.reports`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import numpy as np

from kernbrook.errors import InputError

BACKENDS = ("pandas", "polars", "pyarrow")
Form = Literal["fixed", "seconds", "count"]


@dataclass(frozen=True)
class Estimate:
    """A quantity over runs.

    Attributes
    ----------
    mean, runs : of the runs, and their number
    std : the deviation (ddof = 1); None of one run, or where it is not known

    Examples
    --------
    >>> Estimate.of([1.0, 3.0])
    Estimate(mean=2.0, std=1.4142135623730951, runs=2)
    >>> Estimate.of([5.0])
    Estimate(mean=5.0, std=None, runs=1)
    """

    mean: float
    std: float | None = None
    runs: int = 1

    @classmethod
    def of(cls, values: Any) -> Estimate:
        """Of (r,) values."""
        values = np.asarray(values, dtype=float)
        with np.errstate(invalid="ignore", over="ignore"):  # an infinite value has no deviation
            std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), std, len(values))


@dataclass(frozen=True)
class Curve:
    """A quantity along another one, such as rounds.

    Attributes
    ----------
    x, mean, std : (k,) places, means and deviations there, see `Estimate`

    Examples
    --------
    >>> Curve.of([1, 2], [[1.0, 2.0], [3.0, 2.0]])
    Curve(x=(1, 2), mean=(2.0, 2.0), std=(1.4142135623730951, 0.0))
    """

    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...] | None = None

    @classmethod
    def of(cls, x: Iterable[Any], values: Any) -> Curve:
        """Of (r, k) values at (k,) places."""
        values = np.asarray(values, dtype=float)
        with np.errstate(invalid="ignore", over="ignore"):
            std = tuple(values.std(axis=0, ddof=1).tolist()) if len(values) > 1 else None
        return cls(tuple(np.asarray(x).tolist()), tuple(values.mean(axis=0).tolist()), std)

    def at(self, x: float) -> float | None:
        """The mean at one of the places; None elsewhere."""
        return dict(zip(self.x, self.mean, strict=True)).get(x)


@dataclass(frozen=True)
class Measure:
    """What is measured, and how it is shown.

    Attributes
    ----------
    name : of it in the cells
    header : of its columns
    digits : behind the point; of a published number those that are printed
    form : "fixed" has `digits`; "seconds" three significant digits; "count" is an integer with
        commas
    """

    name: str
    header: str
    digits: int = 2
    form: Form = "fixed"


@dataclass(frozen=True)
class Cell:
    """One algorithm in one setting on one data set.

    Attributes
    ----------
    key : what tells it from the others: data, recipe, title, and such as budget or threshold
    ours : what we measure, by the measure's name
    printed : what a paper prints of it
    curves : what is measured along the way
    facts : other things to be said of it, such as the setting that was chosen
    """

    key: Mapping[str, Any]
    ours: Mapping[str, Estimate] = field(default_factory=dict)
    printed: Mapping[str, Estimate] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.key.get(name)

    def mean(self, measure: str) -> float:
        """Ours, of a measure."""
        return self.ours[measure].mean

    def difference(self, measure: str) -> float | None:
        """Ours less what is printed; None where nothing is."""
        printed = self.printed.get(measure)
        return None if printed is None else self.ours[measure].mean - printed.mean

    def agrees(self, measure: str, digits: int) -> bool | None:
        """Whether ours is within two deviations of the mean's difference from what is printed.

        Of R runs the mean deviates by the runs' deviation over the root of R; where we made one run
        it is taken to deviate as the printed ones. What is printed is rounded to `digits`. None
        where no deviation is printed.
        """
        printed, ours = self.printed.get(measure), self.ours[measure]
        if printed is None or printed.std is None:
            return None
        std = printed.std if ours.std is None else ours.std
        of_mean = math.sqrt(printed.std**2 / printed.runs + std**2 / ours.runs)
        return abs(ours.mean - printed.mean) <= 2 * of_mean + 0.5 * 10.0**-digits

    def near(self, measure: str, digits: int) -> bool | None:
        """Whether ours is within two printed deviations of single runs: weaker than `agrees`."""
        printed = self.printed.get(measure)
        if printed is None or printed.std is None:
            return None
        distance = abs(self.ours[measure].mean - printed.mean)
        return distance <= 2 * printed.std + 0.5 * 10.0**-digits


@dataclass(frozen=True)
class Results:
    """All cells of an experiment.

    Attributes
    ----------
    name, title : such as "omkc-table-3", and what it shows and where it is printed
    measures : what is measured
    cells : in the order in which they are shown
    origins : for each data set where the orders of its rows come from
    missing : data sets that are not present here
    remarks : what a reader has to know
    manifest : versions, seed, command: what it takes to run it again

    Examples
    --------
    >>> ours, printed = Estimate(9.5, 1.0, 20), Estimate(9.25, 0.5, 10)
    >>> cell = Cell({"data": "wdbc", "title": "SPA"}, {"error": ours}, {"error": printed})
    >>> Results("x", "a table", (Measure("error", "mistakes %"),), (cell,)).to_frame()
       data title measure  mean  std  runs  printed  printed_std
    0  wdbc   SPA   error   9.5  1.0    20     9.25          0.5
    """

    name: str
    title: str
    measures: tuple[Measure, ...]
    cells: tuple[Cell, ...]
    origins: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def where(self, **key: Any) -> list[Cell]:
        """The cells whose keys have these values."""
        return [c for c in self.cells if all(c[name] == value for name, value in key.items())]

    def cell(self, **key: Any) -> Cell:
        """The cell whose key has these values; InputError where there are none or several."""
        found = self.where(**key)
        if len(found) != 1:
            raise InputError(f"{self.name}: expected one cell of {key}, found {len(found)}")
        return found[0]

    one = cell  # its name until the next release

    def to_frame(self, backend: Any = "pandas") -> Any:
        """A data frame with a row for each cell and measure.

        Its columns are those of the keys, then measure, mean, std, runs, printed, printed_std.

        backend : "pandas", "polars" or "pyarrow"; InputError where that is not installed
        """
        import narwhals as nw

        _check_installed(backend)
        names = list(dict.fromkeys(name for cell in self.cells for name in cell.key))
        rows = []
        for cell in self.cells:
            for measure in self.measures:
                ours, printed = cell.ours.get(measure.name), cell.printed.get(measure.name)
                if ours is None:
                    continue
                of_paper = (None, None) if printed is None else (printed.mean, printed.std)
                key = [cell[name] for name in names]
                rows.append([*key, measure.name, ours.mean, ours.std, ours.runs, *of_paper])
        columns = [*names, "measure", "mean", "std", "runs", "printed", "printed_std"]
        values = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
        numbers = nw.col("mean", "std", "printed", "printed_std").cast(nw.Float64)
        return nw.from_dict(values, backend=backend).with_columns(numbers).to_native()


def _check_installed(backend: Any) -> None:
    """InputError where a text names no backend, or one that is not there."""
    if not isinstance(backend, str):  # a module, or narwhals' own name of one
        return
    if backend not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise InputError(f"backend: expected one of {known}, got {backend!r:.60}")
    try:
        import_module(backend)
    except ModuleNotFoundError as error:
        raise InputError(
            f"backend: {backend} is not installed; run pip install {backend}, or name another of "
            f"{', '.join(BACKENDS)}"
        ) from error


def grouped(cells: Iterable[Cell], by: Callable[[Cell], Any]) -> dict[Any, list[Cell]]:
    """The cells of each value, in their order.

    Parameters
    ----------
    cells, by : of `Results`, and what gives the value of a cell
    """
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        found.setdefault(by(cell), []).append(cell)
    return found
