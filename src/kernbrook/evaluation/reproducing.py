"""The papers' tables again: printed value, our value, difference."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook import recipes as book
from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.evaluation.comparing import (
    Progress,
    best_rows,
    compare,
    load_orders,
    manifest,
    orders_of,
)
from kernbrook.evaluation.held_out_tables import Announce, Plan, find, tested
from kernbrook.evaluation.published import PUBLISHED, PrintedRow, Published
from kernbrook.evaluation.records import Comparison, Row
from kernbrook.evaluation.regression_records import ErrorCurves, LabelStudy, RegressionTable
from kernbrook.evaluation.regression_tables import run_again
from kernbrook.evaluation.reproduction_records import (
    AccuracyCurves,
    AccuracyTable,
    Cell,
    DiscountCurves,
    ParameterStudy,
    Reproduction,
    StudyPoint,
    TimeRatio,
    TimeReproduction,
    deviation,
)
from kernbrook.evaluation.voted_records import VotedTable
from kernbrook.evaluation.voted_tables import run_grids, waveform01
from kernbrook.evaluation.warming import Tell
from kernbrook.kernels import resolve
from kernbrook.streams import Stream, open_stream

Result = (
    Reproduction
    | TimeReproduction
    | DiscountCurves
    | ParameterStudy
    | AccuracyTable
    | AccuracyCurves
    | RegressionTable
    | LabelStudy
    | ErrorCurves
    | VotedTable
)

OTHER_NAMES = {"codrna": "cod-rna", "pima": "diabetes"}  # the paper's name: the file's
DRAWN_VOTES = ("omkc-ds", "omkc-ss")  # the tables count the kernels of the last vote for these
DISCOUNTS = tuple(round(0.05 * i, 2) for i in range(1, 21))
CAPS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
CAPS_AT = (3.0, 6.0)  # the divisors at which they are tried
DIVISORS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)  # at cap 1


def tables() -> tuple[str, ...]:
    """What `reproduce` can reproduce.

    Examples
    --------
    >>> tables()[:4]
    ('omkc-table-3', 'omkc-table-4', 'omkc-table-5', 'omkc-figure-4')
    >>> tables()[4:7]
    ('bomkl-table-1', 'bomkl-table-2', 'bomkl-figure-1')
    >>> tables()[7:11]
    ('bpegasos-table-1', 'bpegasos-figure-1', 'bpegasos-figure-2', 'bpegasos-figure-3')
    >>> tables()[11:]
    ('amkl-table-2', 'amkl-table-3', 'amkl-figure-2', 'amkl-figure-3', 'vkr-table-1')
    """
    return tuple(PUBLISHED)


def reproduce(
    table: str,
    data: Sequence[str] | None = None,
    permutations: int | None = None,
    seed: int = 0,
    orders: str | Path | None = None,
    jobs: int | None = None,
    announce: Announce | None = None,
    rows: int | None = None,
    compiling: Tell | None = None,
) -> Result:
    """Run a published table on every data set that is present.

    Parameters
    ----------
    table : one of `tables()`
    data : names of data sets of that table; by default all that are built in or lie in the
        folder KERNBROOK_DATA
    permutations : as many as in the paper by default, 20, 10 or 5; 5 for bomkl-figure-1, 1 for
        the figures of bpegasos. For amkl the draws of the random features, 5 by default; for vkr
        of the folds, 1 by default
    seed : of the stochastic recipes, and of the orders where the authors' own are not known
    orders : .npz file of orders by data name; by default, for the tables of the OMKC paper, the
        file omkc_permutations.npz of the folder KERNBROOK_DATA, where it is present
    jobs : processes; one a core by default, always 1 where times are compared
    announce : called with each data set's name and number of rounds to come; gives what is
        called as they are done
    rows : examples to learn from at most, for bpegasos, amkl and vkr only: to try it out
    compiling : as `compare` has it

    Raises
    ------
    UnknownNameError
        No such table, or no such data set in it.
    InputError
        None of its data sets is present, or the table does not go with an argument.
    """
    if table not in PUBLISHED:
        raise UnknownNameError("table", table, PUBLISHED)
    published = PUBLISHED[table]
    printed = published.printed()
    names = list(dict.fromkeys(row.data for row in printed))
    for name in data or ():
        if name not in names:
            raise UnknownNameError(f"data set of {table}", name, names)
    printed = [row for row in printed if data is None or row.data in data]
    names = list(dict.fromkeys(row.data for row in printed))
    if permutations is None:
        permutations = published.permutations
    plan = Plan(permutations, seed, jobs, rows, announce, compiling)
    present = _present(table, printed, plan, orders)
    runs = _Runs(published, plan, orders)
    for name, text in published.remarks.items():
        if name in ("", *present):
            runs.remarks += text.splitlines()
    common: dict[str, Any] = {
        "table": table, "description": published.description,
        "missing": tuple(name for name in names if name not in present),
        "permutations_by_data": {name: runs.origin(name) for name in present},
        "manifest": manifest(seed) | {"permutations": runs.permutations},
    }  # fmt: skip
    if published.held_out:
        return tested(published, present, printed, plan, runs.remarks, common)
    if published.regression:
        return run_again(published, present, printed, plan, runs.remarks, common)
    if published.grids:
        return run_grids(present, printed, plan, runs.remarks, common)
    if table == "omkc-figure-4":
        return DiscountCurves(curves=_discount_curves(present, runs), **common)
    if table == "omkc-table-5":
        runs.jobs = 1
        return TimeReproduction(ratios=tuple(_time_ratios(present, printed, runs)), **common)
    if table == "bomkl-figure-1":
        points = tuple(_study(present, printed, runs))
        return ParameterStudy(points=points, remarks=tuple(runs.remarks), **common)
    cells = tuple(_cells(present, printed, runs))
    if runs.best_kernels:
        chosen = "; ".join(f"{kernel} on {name}" for name, kernel in runs.best_kernels.items())
        runs.remarks.append(f"Perceptron(*) takes {chosen}")
    return Reproduction(cells=cells, remarks=tuple(runs.remarks), **common)


def _present(
    table: str, printed: Sequence[PrintedRow], plan: Plan, orders: str | Path | None
) -> dict[str, Any]:
    """The data sets that are present: streams, or what gives training and test parts."""
    published = PUBLISHED[table]
    held_out = published.held_out is not None
    in_order = published.regression is not None
    if (held_out or published.grids) and orders is not None:
        raise InputError(f"orders: {table} draws its own")
    if in_order and orders is not None:
        raise InputError(f"orders: {table} takes the rows in the data's own order")
    if not (held_out or in_order or published.grids) and plan.rows is not None:
        raise InputError(f"rows: {table} runs on all rows of its data")
    found: Mapping[str, Any]
    if held_out:
        found = find(printed, plan)
    else:
        found = {row.data: row for row in printed}
        found = {name: _find(name, row.values, plan.seed) for name, row in found.items()}
    present = {name: source for name, source in found.items() if source is not None}
    if not present:
        raise InputError(
            f"{table}: none of its data sets is present ({', '.join(found)}); set KERNBROOK_DATA "
            "to a folder of NAME.libsvm or NAME.libsvm.xz files"
        )
    return present


class _Runs:
    """How the data sets of a table are run, and what is to be said of them."""

    def __init__(self, published: Published, plan: Plan, orders: str | Path | None):
        self.scaled, self.in_order = published.scaled, published.regression is not None
        self.remarks: list[str] = []
        self.best_kernels: dict[str, str] = {}
        self.permutations, self.seed, self.jobs = plan.permutations, plan.seed, plan.jobs
        self.announce, self.compiling = plan.announce, plan.compiling
        self.given = orders is not None
        self.orders = Path(orders) if orders is not None else _own_orders(published)

    def _orders(self, name: str) -> NDArray[np.int64] | None:
        if self.orders is None:
            return None
        try:
            return load_orders(self.orders, name)
        except DataFileError as error:
            if "no orders named" in error.problem:
                return None
            raise

    def origin(self, name: str) -> str:
        if self.in_order:
            return "none, the data's own order"
        if self._orders(name) is None:
            return "seeded"
        return "given" if self.given else "the authors' own"

    def read(self, name: str, stream: Stream) -> Stream:
        """The data in memory, as the table had it."""
        X, y = stream.read()
        if name in self.scaled:
            X, y = _scaled(X), _frequent_first(y)
        return open_stream((X, y))

    def first_order(self, name: str, n: int) -> NDArray[np.int64]:
        return orders_of(self._orders(name), self.permutations, self.seed, n)[0]

    def bar(self, name: str, stream: Stream, recipes: int) -> Progress | None:
        """What is told of rounds done, out of those of so many recipes."""
        if self.announce is None:
            return None
        assert stream.n_rows is not None
        return self.announce(name, recipes * self.permutations * stream.n_rows)

    def run(
        self,
        name: str,
        stream: Stream,
        recipes: Sequence[str],
        advance: Progress | None,
        **overrides: Any,
    ) -> Comparison:
        return compare(
            stream,
            recipes,
            permutations=self.permutations,
            seed=self.seed,
            orders=self._orders(name),
            jobs=self.jobs,
            progress=None if advance is None else lambda rounds: advance,
            compiling=self.compiling,
            **overrides,
        )

    def one(
        self, name: str, stream: Stream, advance: Progress | None, recipe: str, **overrides: Any
    ) -> Row:
        return self.run(name, stream, [recipe], advance, **overrides).rows[0]


def _own_orders(published: Published) -> Path | None:
    """The authors' own orders, where they are known and present."""
    folder = os.environ.get("KERNBROOK_DATA")
    if not folder or published.orders is None:
        return None
    path = Path(folder) / published.orders
    return path if path.exists() else None


def _find(name: str, printed: Mapping[str, float | None], seed: int) -> Stream | None:
    """A data set of the paper, of the printed number of features where there is one."""
    width = printed.get("n_features")
    if name == "waveform01":
        rows = printed["n_rows"]
        assert rows is not None
        return waveform01(int(rows), seed)
    for known in (name, OTHER_NAMES.get(name)):
        try:
            if known is not None:
                return open_stream(known, n_features=None if width is None else int(width))
        except UnknownNameError:
            continue
    return None


def _scaled(X: Any) -> NDArray[np.float64]:
    """Every feature from -1 at its least value to 1 at its greatest."""
    X = X if isinstance(X, np.ndarray) else X.toarray()
    least, greatest = X.min(axis=0), X.max(axis=0)
    width = np.where(greatest > least, greatest - least, 1.0)
    return np.asarray(2.0 * (X - least) / width - 1.0)


def _frequent_first(y: NDArray[Any]) -> NDArray[np.int64]:
    """Labels -1 for the more frequent class and 1 for the other."""
    classes, counts = np.unique(y, return_counts=True)
    return np.where(y == classes[counts.argmax()], -1, 1)


def _cells(
    present: dict[str, Stream], printed: Sequence[PrintedRow], runs: _Runs
) -> Iterator[Cell]:
    for name, found in present.items():
        wanted = [row for row in printed if row.data == name]
        stream = runs.read(name, found)
        rows_printed = wanted[0].values.get("n_rows")
        if rows_printed is not None and stream.n_rows != rows_printed:
            runs.remarks.append(
                f"{name}: {stream.n_rows:,} rows here, {rows_printed:,.0f} in the paper: "
                "other data, the numbers need not agree"
            )
        rows = _rows(name, stream, wanted, runs)
        best = best_rows(rows)
        for row, ours in zip(wanted, rows, strict=True):
            sizes = ours.values(size_counted(ours.recipe))
            values = row.values
            marked = values.get("best")
            yield Cell(
                data=name,
                recipe=row.recipe,
                title=row.title,
                error_printed=row.number("error"),
                error_printed_std=values["error_std"],
                error=float(ours.errors.mean()),
                error_std=deviation(ours.errors),
                n_support_printed=row.number("n_support"),
                n_support_printed_std=values["n_support_std"],
                n_support=float(sizes.mean()),
                n_support_std=deviation(sizes),
                best_printed=None if marked is None else bool(marked),
                best=row.recipe in best,
                seconds_printed=values.get("seconds"),
                seconds=float(ours.values("seconds").mean()),
            )


def _rows(name: str, stream: Stream, wanted: Sequence[PrintedRow], runs: _Runs) -> list[Row]:
    """Our runs of the wanted rows; those of the same settings go side by side."""
    advance = runs.bar(name, stream, len(wanted))
    groups: dict[tuple[tuple[str, Any], ...], list[str]] = {}
    for row in wanted:
        groups.setdefault(tuple(row.settings.items()), []).append(row.recipe)
    found: dict[str, Row] = {}
    for items, recipes in groups.items():
        settings = dict(items)
        if settings.get("kernels") == "best":
            settings["kernels"] = [_best_kernel(name, stream, settings["tie"], runs)]
        result = runs.run(name, stream, recipes, advance, **settings)
        found.update({ours.recipe: ours for ours in result.rows})
    return [found[row.recipe] for row in wanted]


def _best_kernel(name: str, stream: Stream, tie: str, runs: _Runs) -> Any:
    """The kernel whose perceptron errs least in one pass over the first order."""
    X, y = stream.read()
    order = runs.first_order(name, len(y))
    perceptrons = book.make("perceptron-best", tie=tie)
    best = perceptrons.choose_kernel(X[order], y[order], classes=np.unique(y))
    kernel = perceptrons.kernels_[best]
    runs.best_kernels[name] = str(kernel)
    return kernel


def size_counted(recipe: str) -> str:
    """The model size that the paper's tables count: stored, or active where votes are drawn."""
    return "n_support_active" if recipe in DRAWN_VOTES else "n_support_stored"


def _time_ratios(
    present: dict[str, Stream], printed: Sequence[PrintedRow], runs: _Runs
) -> Iterator[TimeRatio]:
    """Ratios of the mean times; every run alone on the machine, one after the other."""
    for name, found in present.items():
        wanted = [row for row in printed if row.data == name]
        stream = runs.read(name, found)
        recipes = ["omkc-dd", *(row.recipe for row in wanted)]
        result = runs.run(name, stream, recipes, runs.bar(name, stream, len(recipes)))
        whole = float(result.rows[0].values("seconds").mean())
        for row, ours in zip(wanted, result.rows[1:], strict=True):
            ratio = 100.0 * float(ours.values("seconds").mean()) / whole
            ratio_printed = row.number("time_ratio")
            yield TimeRatio(name, result.n_rows, row.recipe, row.title, ratio_printed, ratio)


def _discount_curves(
    present: dict[str, Stream], runs: _Runs
) -> dict[str, dict[str, tuple[list[float], list[float], list[float]]]]:
    recipes = ["omkc-dd", "omkc-ds", "omkc-sd", "omkc-ss"]
    curves: dict[str, dict[str, tuple[list[float], list[float], list[float]]]] = {}
    for name, found in present.items():
        stream = runs.read(name, found)
        advance = runs.bar(name, stream, len(recipes) * len(DISCOUNTS))
        points: list[tuple[Row, ...]] = []
        for discount in DISCOUNTS:
            points.append(runs.run(name, stream, recipes, advance, discount=discount).rows)
        curves[name] = {}
        for i, recipe in enumerate(recipes):
            errors = [rows[i].errors for rows in points]
            means = [float(values.mean()) for values in errors]
            deviations = [deviation(values) or 0.0 for values in errors]
            curves[name][book.title(recipe)] = (list(DISCOUNTS), means, deviations)
    return curves


def _study(
    present: dict[str, Stream], printed: Sequence[PrintedRow], runs: _Runs
) -> Iterator[StudyPoint]:
    """SPA at every cap and divisor; beside it, the others with budgets that add up to its size."""
    budgeted = {row.recipe: row.title for row in printed if "budget" in row.settings}
    kernels = len(resolve(book.make("spa").kernels))
    for name, found in present.items():
        stream = runs.read(name, found)
        count = len(CAPS) * len(CAPS_AT) + len(DIVISORS) * (1 + len(budgeted))
        run = partial(runs.one, name, stream, runs.bar(name, stream, count))

        for divisor in CAPS_AT:
            for cap in CAPS:
                row = run("spa", cap=cap, divisor=divisor)
                yield _point(name, "cap", cap, f"divisor {divisor:g}", row)
        for divisor in DIVISORS:
            spa = _point(name, "divisor", divisor, "SPA", run("spa", cap=1.0, divisor=divisor))
            yield spa
            budget = max(1, round(spa.n_support / kernels))
            for recipe, title in budgeted.items():
                yield _point(name, "divisor", divisor, title, run(recipe, budget=budget))


def _point(data: str, parameter: str, value: float, curve: str, row: Row) -> StudyPoint:
    sizes = row.values("n_support_stored")
    return StudyPoint(
        data=data,
        parameter=parameter,
        value=value,
        curve=curve,
        recipe=row.recipe,
        error=float(row.errors.mean()),
        error_std=deviation(row.errors),
        n_support=float(sizes.mean()),
        n_support_std=deviation(sizes),
        seconds=float(row.values("seconds").mean()),
    )
