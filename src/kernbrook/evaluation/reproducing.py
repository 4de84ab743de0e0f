"""The papers' tables again: printed value, our value, difference."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.evaluation.comparing import best_rows, compare, load_orders, manifest
from kernbrook.evaluation.records import Comparison, Row
from kernbrook.evaluation.reproduction_records import (
    Cell,
    DiscountCurves,
    Reproduction,
    TimeRatio,
    TimeReproduction,
)
from kernbrook.models import recipes as book
from kernbrook.streams import Stream, open_stream

Result = Reproduction | TimeReproduction | DiscountCurves

ORDERS = "omkc_permutations.npz"
DRAWN_VOTES = ("omkc-ds", "omkc-ss")  # the tables count the kernels of the last vote for these
DISCOUNTS = tuple(round(0.05 * i, 2) for i in range(1, 21))

_PAPER = "Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification"
DESCRIPTIONS = {
    "omkc-table-3": f"{_PAPER}, table 3: OMKC(D,D), OM-2 and the perceptrons",
    "omkc-table-4": f"{_PAPER}, table 4: the four OMKC algorithms and OM-2",
    "omkc-table-5": f"{_PAPER}, table 5: time of the stochastic variants over (D,D)",
    "omkc-figure-4": f"{_PAPER}, figure 4: mistakes against the discount",
}


@dataclass(frozen=True)
class _Printed:
    """One printed row; see evaluation/printed/omkc.tsv."""

    table: str
    data: str
    recipe: str
    title: str
    values: dict[str, float | None]


def tables() -> tuple[str, ...]:
    """What `reproduce` can reproduce.

    Examples
    --------
    >>> tables()
    ('omkc-table-3', 'omkc-table-4', 'omkc-table-5', 'omkc-figure-4')
    """
    return tuple(DESCRIPTIONS)


def reproduce(
    table: str,
    data: Sequence[str] | None = None,
    permutations: int | None = None,
    seed: int = 0,
    orders: str | Path | None = None,
    jobs: int | None = None,
    announce: Callable[[str, int], Callable[[int], None]] | None = None,
) -> Result:
    """Run a published table on every data set that is present.

    Parameters
    ----------
    table : one of `tables()`
    data : names of data sets of that table; by default all that are built in or lie in the
        folder KERNBROOK_DATA
    permutations : 20 by default, as in the paper
    seed : of the stochastic recipes, and of the orders where the authors' own are not known
    orders : .npz file of orders by data name; by default the file omkc_permutations.npz of the
        folder KERNBROOK_DATA, where it is present
    jobs : processes; one a core by default, always 1 for times
    announce : called with each data set's name and number of rounds to come; gives what is
        called as they are done

    Raises
    ------
    UnknownNameError
        No such table, or no such data set in it.
    InputError
        None of its data sets is present.
    """
    if table not in DESCRIPTIONS:
        raise UnknownNameError("table", table, DESCRIPTIONS)
    printed = _printed(table)
    names = list(dict.fromkeys(row.data for row in printed))
    for name in data or ():
        if name not in names:
            raise UnknownNameError(f"data set of {table}", name, names)
    names = [name for name in names if data is None or name in data]
    present = {name: stream for name in names if (stream := _find(name)) is not None}
    if not present:
        raise InputError(
            f"{table}: none of its data sets is present ({', '.join(names)}); set KERNBROOK_DATA "
            "to a folder of NAME.libsvm or NAME.libsvm.xz files"
        )
    missing = tuple(name for name in names if name not in present)
    runs = _Runs(permutations or 20, seed, orders, 1 if table == "omkc-table-5" else jobs, announce)
    common: dict[str, Any] = {
        "table": table, "description": DESCRIPTIONS[table], "missing": missing,
        "permutations_by_data": {name: runs.origin(name) for name in present},
        "manifest": manifest(seed) | {"permutations": runs.permutations},
    }  # fmt: skip
    if table == "omkc-figure-4":
        return DiscountCurves(curves=_discount_curves(present, runs), **common)
    if table == "omkc-table-5":
        return TimeReproduction(ratios=tuple(_time_ratios(present, printed, runs)), **common)
    return Reproduction(cells=tuple(_cells(present, printed, runs)), **common)


class _Runs:
    """How each data set of a table is run."""

    def __init__(
        self,
        permutations: int,
        seed: int,
        orders: str | Path | None,
        jobs: int | None,
        announce: Callable[[str, int], Callable[[int], None]] | None,
    ):
        self.permutations = permutations
        self.seed = seed
        self.jobs = jobs
        self.announce = announce
        folder = os.environ.get("KERNBROOK_DATA")
        found = Path(folder) / ORDERS if folder else None
        self.orders = Path(orders) if orders else found if found and found.exists() else None

    def _orders(self, name: str) -> Any:
        if self.orders is None:
            return None
        try:
            return load_orders(self.orders, name)
        except DataFileError as error:
            if "no orders named" in error.problem:
                return None
            raise

    def origin(self, name: str) -> str:
        return "seeded" if self._orders(name) is None else "the authors' own"

    def run(
        self, name: str, stream: Stream, recipes: Sequence[str], **overrides: Any
    ) -> Comparison:
        announce = self.announce
        return compare(
            stream,
            recipes,
            permutations=self.permutations,
            seed=self.seed,
            orders=self._orders(name),
            jobs=self.jobs,
            progress=None if announce is None else lambda rounds: announce(name, rounds),
            **overrides,
        )


def _find(name: str) -> Stream | None:
    try:
        return open_stream(name)
    except UnknownNameError:
        return None


def _cells(present: dict[str, Stream], printed: Sequence[_Printed], runs: _Runs) -> Iterator[Cell]:
    for name, stream in present.items():
        wanted = [row for row in printed if row.data == name]
        result = runs.run(name, stream, [row.recipe for row in wanted])
        best = best_rows(result.rows)
        for row, ours in zip(wanted, result.rows, strict=True):
            sizes = ours.values(size_counted(ours.recipe))
            values = row.values
            yield Cell(
                data=name,
                recipe=row.recipe,
                title=row.title,
                error_printed=_number(values["error"]),
                error_printed_std=values["error_std"],
                error=float(ours.errors.mean()),
                error_std=_deviation(ours.errors),
                n_support_printed=_number(values["n_support"]),
                n_support_printed_std=values["n_support_std"],
                n_support=float(sizes.mean()),
                n_support_std=_deviation(sizes),
                best_printed=bool(values["best"]),
                best=row.recipe in best,
            )


def size_counted(recipe: str) -> str:
    """The model size that the paper's tables count: stored, or active where votes are drawn."""
    return "n_support_active" if recipe in DRAWN_VOTES else "n_support_stored"


def _time_ratios(
    present: dict[str, Stream], printed: Sequence[_Printed], runs: _Runs
) -> Iterator[TimeRatio]:
    """Ratios of the mean times; every run alone on the machine, one after the other."""
    for name, stream in present.items():
        wanted = [row for row in printed if row.data == name]
        result = runs.run(name, stream, ["omkc-dd", *(row.recipe for row in wanted)])
        whole = float(result.rows[0].values("seconds").mean())
        for row, ours in zip(wanted, result.rows[1:], strict=True):
            ratio = 100.0 * float(ours.values("seconds").mean()) / whole
            ratio_printed = _number(row.values["time_ratio"])
            yield TimeRatio(name, result.n_rows, row.recipe, row.title, ratio_printed, ratio)


def _discount_curves(
    present: dict[str, Stream], runs: _Runs
) -> dict[str, dict[str, tuple[list[float], list[float], list[float]]]]:
    recipes = ["omkc-dd", "omkc-ds", "omkc-sd", "omkc-ss"]
    curves: dict[str, dict[str, tuple[list[float], list[float], list[float]]]] = {}
    for name, stream in present.items():
        points: list[tuple[Row, ...]] = []
        for discount in DISCOUNTS:
            points.append(runs.run(name, stream, recipes, discount=discount).rows)
        curves[name] = {}
        for i, recipe in enumerate(recipes):
            errors = [rows[i].errors for rows in points]
            means = [float(values.mean()) for values in errors]
            deviations = [_deviation(values) or 0.0 for values in errors]
            curves[name][book.title(recipe)] = (list(DISCOUNTS), means, deviations)
    return curves


def _deviation(values: Any) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _number(value: float | None) -> float:
    assert value is not None
    return value


def _printed(table: str) -> list[_Printed]:
    """The printed rows of a table; those of figure 4, which prints no numbers, are table 4's."""
    source = "omkc-table-4" if table == "omkc-figure-4" else table
    printed = (files("kernbrook.evaluation") / "printed" / "omkc.tsv").read_text(encoding="utf-8")
    found = []
    for row in csv.DictReader(printed.splitlines(), delimiter="\t"):
        if row["table"] == source:
            names = {key: row.pop(key) for key in ("table", "data", "recipe", "title")}
            values = {key: float(text) if text else None for key, text in row.items()}
            found.append(_Printed(values=values, **names))
    return found
