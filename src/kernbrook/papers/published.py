"""What a published table or figure is: printed rows, how they are run again, how they are shown."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import is_whole
from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.evaluation.comparing import Progress
from kernbrook.evaluation.parallel import Jobs, check_jobs, load_orders
from kernbrook.evaluation.warming import Reporter
from kernbrook.reports.page import Page, Section, again
from kernbrook.reports.plot import (
    GREY,
    TRIVIAL_DASHES,
    Line,
    Panel,
    Pen,
    Plot,
    Scale,
    limits,
    pens_of,
)
from kernbrook.reports.table import Column, Table, agreement_notes
from kernbrook.results import Cell, Curve, Estimate, Measure, Results, grouped
from kernbrook.streams import Stream, open_stream

Announce = Callable[[str, int], Progress]

ERROR = Measure("error", "mistakes %")
SUPPORT = Measure("n_support", "#SV", 1)
SECONDS = Measure("seconds", "seconds", form="seconds")
WIDE = 20.0  # ratio from which an axis is logarithmic
OTHER_NAMES = {"codrna": "cod-rna", "pima": "diabetes"}  # the paper's name: the file's


@dataclass(frozen=True)
class Plan:
    """How the rows of a table are run; the attributes are the arguments of `reproduce`."""

    permutations: int
    seed: int = 0
    jobs: Jobs = None
    rows: int | None = None
    orders: Path | None = None
    announce: Announce | None = None
    compiling: Reporter | None = None

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        for name in ("permutations", "rows"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and value >= 1):
                raise InputError(f"{name}: expected an integer from 1, got {value!r}")


@dataclass(frozen=True)
class PrintedRow:
    """One printed row; see the files in papers/printed.

    Attributes
    ----------
    table, data, recipe, title : where it stands, our recipe, the algorithm as the paper prints it
    settings : parameters of the recipe that differ from its defaults; kernels "best" is the one
        of the pool with the fewest mistakes in one pass over the first order
    values : the numbers by column name, None where nothing is printed
    runs : of the paper, over which its means are
    """

    table: str
    data: str
    recipe: str
    title: str
    settings: dict[str, Any]
    values: dict[str, float | None]
    runs: int = 1

    def number(self, column: str) -> float:
        """A value that every row of the table has."""
        value = self.values[column]
        assert value is not None
        return value

    @property
    def key(self) -> dict[str, Any]:
        return {"data": self.data, "recipe": self.recipe, "title": self.title}

    def wanted(self, title: str | None = None) -> Variant:
        """Its algorithm, to be run beside it; title : where it is another one."""
        return Variant(self.recipe, title or self.title, self.settings, self)

    def estimates(self, *columns: str) -> dict[str, Estimate]:
        """What is printed in these columns, and in those of their deviations."""
        return {
            name: Estimate(mean, self.values.get(f"{name}_std"), self.runs)
            for name in columns
            if (mean := self.values.get(name)) is not None
        }


Before = Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True)
class Variant:
    """An algorithm to run.

    Attributes
    ----------
    recipe, title, settings : what is run
    printed : the row that it stands beside, if any
    varied : settings at a place of a figure's axis, by the place and by what the lines before
        measure there, by title; None where they are the same everywhere
    """

    recipe: str
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    printed: PrintedRow | None = None
    varied: Callable[[float, Before], dict[str, Any]] | None = None

    def at(self, place: float, before: Before) -> Variant:
        """The algorithm at a place of an axis."""
        more = {} if self.varied is None else self.varied(place, before)
        return replace(self, settings={**self.settings, **more}, varied=None)


# What is measured at the end, and on the way, and what else is known.
Found = tuple[dict[str, Estimate], dict[str, Curve], dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """A table that is run: its rows, its data, and what is to be said of them.

    Attributes
    ----------
    published, plan : what is run, and how
    rows : the printed ones of the data that are wanted
    present : data set -> what `Published.find` gives
    remarks : lines that a reader has to know, added to as they are found
    times : how often as much is run of a data set as at the first time
    """

    published: Published
    plan: Plan
    rows: Sequence[PrintedRow]
    present: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    times: float = 1.0
    bars: dict[str, Progress] = field(default_factory=dict)

    def of(self, data: str) -> list[PrintedRow]:
        return [row for row in self.rows if row.data == data]

    def remark(self, text: str) -> None:
        """What a reader has to know, said once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def note_rows(self, data: str, rows: int, printed: float | None = None) -> None:
        """Say it where a data set has other rows than the paper's, or than those of one line."""
        printed = self.of(data)[0].values.get("n_rows") if printed is None else printed
        if printed in (None, rows):
            return
        why = f"{data}: {rows:,} rows here, {printed:,.0f} in the paper"
        if self.plan.rows is not None:
            why = f"at most {self.plan.rows:,} rows are learned from"
        self.remark(f"{why}: the numbers need not agree")

    def bar(self, data: str, rounds: int) -> Progress | None:
        """What is told of rounds done, out of so many at the first time."""
        if data not in self.bars and self.plan.announce is not None:
            self.bars[data] = self.plan.announce(data, round(self.times * rounds))
        return self.bars.get(data)


Measured = Callable[[Job, str, Sequence[Variant]], Iterable[Found]]  # on a data set


def cells_of(
    job: Job,
    measured: Measured,
    wanted_of: Callable[[Sequence[PrintedRow]], list[Variant]] | None = None,
    *,
    curves: bool = False,
) -> Iterator[Cell]:
    """What algorithms come to on each data set, beside what is printed of them.

    wanted_of : the algorithms, of the printed rows of a data set; None: those of the rows
    """
    for name in job.present:
        rows = job.of(name)
        wanted = [row.wanted() for row in rows] if wanted_of is None else wanted_of(rows)
        found = measured(job, name, wanted)
        for variant, (ours, on_the_way, facts) in zip(wanted, found, strict=True):
            key: dict[str, Any] = {"data": name, "recipe": variant.recipe, "title": variant.title}
            printed: dict[str, Estimate] = {}
            if (row := variant.printed) is not None:
                printed = row.estimates(*ours)
                known = {**row.values, **row.settings}
                key |= {part: known.get(part) for part in job.published.keys}
            last = next((curve.x[-1] for curve in on_the_way.values()), None)
            facts |= {} if last is None else {"n_rows": int(last)}
            yield Cell(key, ours, printed, on_the_way if curves else {}, facts)


@dataclass(frozen=True)
class Published:
    """A table or figure that `reproduce` runs again.

    Attributes
    ----------
    name, title : such as "omkc-table-3"; what it shows and where it is printed
    file, table : of papers/printed, and the table in it whose rows say what to run; a figure may
        print none of its own
    permutations : of the paper; of amkl draws of the features, of vkr draws of the folds
    find : a row of a data set, all its rows and the plan to the data, None where not present
    run : the cells of a job
    measures : of the cells
    tabled : the results as a table, without title and last notes
    plots : heading, text and figure of the sections before the table of a page
    heading, below : of its page; what stands above the table there
    order : "given" where orders of the rows can be, "drawn" where it draws its own, "own" where the
        data's own order is taken; only of the last two fewer `rows` can be taken
    orders : the authors' own, a file of the folder KERNBROOK_DATA; None where they are not known
    data : the data sets, all those of the rows where None
    runs : over which the printed means are
    keys : settings and numbers of the printed rows that tell cells apart
    remarks : lines that a reader has to know of a data set, by its name, or of all, under ""
    """

    name: str
    title: str
    file: str
    table: str
    permutations: int
    find: Callable[[Sequence[PrintedRow], Plan], Any]
    run: Callable[[Job], Iterable[Cell]]
    measures: tuple[Measure, ...]
    tabled: Callable[[Results], Table]
    heading: str
    below: str = ""
    plots: Callable[[Results], list[Section]] | None = None
    order: Literal["given", "drawn", "own"] = "given"
    orders: str | None = None
    data: tuple[str, ...] | None = None
    runs: int = 1
    keys: tuple[str, ...] = ()
    remarks: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, paper: str, file: str, part: str, description: str, **more: Any) -> Published:
        """A part of a paper, such as "table 3"; `file` is of papers/printed, without its ending."""
        name = f"{file}-{part.replace(' ', '-')}"
        title = f"{paper}, {part}: {description}"
        return cls(**{"name": name, "title": title, "file": f"{file}.tsv", "table": name, **more})

    def printed(self) -> list[PrintedRow]:
        source = files("kernbrook.papers") / "printed" / self.file
        found = []
        for row in csv.DictReader(source.read_text("utf-8").splitlines(), delimiter="\t"):
            if row["table"] == self.table and (self.data is None or row["data"] in self.data):
                names = {key: row.pop(key) for key in ("table", "data", "recipe", "title")}
                settings = _settings(row.pop("settings", ""))
                values = {key: float(text) if text else None for key, text in row.items()}
                found.append(PrintedRow(**names, settings=settings, values=values, runs=self.runs))
        return found

    def as_table(self, results: Results) -> Table:
        table = self.tabled(results)
        notes = (*table.notes, *agreement_notes(table.columns), *footer(results))
        return replace(table, notes=notes, title=f"{self.name}: {self.title}")

    def as_page(self, results: Results) -> Page:
        """The results as a page: figures, the numbers, how to run it again."""
        plots = (self.plots or against_print)(results)
        numbers = Section("The numbers", self.below, table=self.as_table(results))
        return Page(self.heading, (*plots, numbers, again(results.manifest)), self.title)


def footer(results: Results) -> list[str]:
    """The orders of the data, what is not present, remarks."""
    by_kind: dict[str, list[str]] = {}
    for data, kind in results.origins.items():
        by_kind.setdefault(kind, []).append(data)
    parts = [*by_kind]
    if len(parts) > 1:
        parts = [f"{kind} for {', '.join(names)}" for kind, names in by_kind.items()]
    lines = [f"permutations: {'; '.join(parts)}"] if parts else []
    if results.missing:
        lines.append(f"not present: {', '.join(results.missing)}")
    return [*lines, *results.remarks]


def find(rows: Sequence[PrintedRow], plan: Plan) -> Stream | None:
    """A data set of a paper, of the printed number of features where there is one."""
    width, name = rows[0].values.get("n_features"), rows[0].data
    for known in filter(None, (name, OTHER_NAMES.get(name))):
        with suppress(UnknownNameError):
            return open_stream(known, n_features=None if width is None else int(width))
    return None


def orders_for(job: Job, name: str) -> NDArray[np.int64] | None:
    """Those that are given, or the authors' own; None where neither are known of the data set."""
    path, folder = job.plan.orders, os.environ.get("KERNBROOK_DATA")
    if path is None and folder and job.published.orders is not None:
        path = Path(folder) / job.published.orders
        path = path if path.exists() else None
    if path is None:
        return None
    try:
        return load_orders(path, name)
    except DataFileError as error:
        if "no orders named" in error.problem:
            return None
        raise


def origin(job: Job, name: str) -> str:
    """Where the orders of a data set come from."""
    if job.published.order == "own":
        return "none, the data's own order"
    if job.published.order == "drawn" or orders_for(job, name) is None:
        return "seeded"
    return "given" if job.plan.orders is not None else "the authors' own"


def names_of(cells: Sequence[Cell], key: str = "title", header: str = "algorithm") -> Column:
    """The first column."""
    return Column(header, tuple(str(cell[key]) for cell in cells), kind="text")


def against_print(results: Results) -> list[Section]:
    """Printed numbers and ours in a figure, a panel for each measure of which some are printed."""
    panels, pens = [], pens_of(cell["title"] for cell in results.cells)
    for measure in results.measures:
        both = [c for c in results.cells if {measure.name} <= c.printed.keys() & c.ours.keys()]
        if not both or measure.form == "seconds":  # of another machine
            continue
        by_title = grouped(both, lambda cell: cell["title"])
        pairs = {
            title: (
                [c.printed[measure.name].mean for c in cells],
                [c.mean(measure.name) for c in cells],
            )
            for title, cells in by_title.items()
        }
        every = [v for pair in pairs.values() for part in pair for v in part if math.isfinite(v)]
        log = max(every) > WIDE * min(every) > 0
        low, high = limits([every], log)
        lines = [Line("equal", (low, high), (low, high), EQUAL)]
        lines += [
            Line(title, of_paper, ours, pens[title], marker="o", joined=False)
            for title, (of_paper, ours) in pairs.items()
        ]
        scale: Scale = "log" if log else "linear"
        panels.append(
            Panel(
                lines, measure.header, x_scale=scale, y_scale=scale,
                x_limits=(low, high), y_limits=(low, high),
            )
        )  # fmt: skip
    if not panels:
        return []
    plot = Plot(panels, pens, x_label="printed", y_label="ours")
    text = "A dot is a cell of the table below: on the dotted line ours is what is printed."
    return [Section("Ours against print", text, plot)]


EQUAL = Pen(GREY, TRIVIAL_DASHES[0])


def _settings(text: str) -> dict[str, Any]:
    """Parameters out of "discount=0.99 tie=margin"."""
    pairs = (item.partition("=") for item in text.split())
    return {name: _value(value) for name, _, value in pairs}


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
