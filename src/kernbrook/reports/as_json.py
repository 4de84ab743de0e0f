"""Comparisons and reproductions as strict JSON: no NaN, no numpy scalars."""

from __future__ import annotations

import math
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.results import Cell, Curve, Estimate, Measure, Results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernbrook.evaluation.ranks import Ranking
    from kernbrook.evaluation.record import Comparison, Record, Row


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain values that `json.dumps(..., allow_nan=False)` takes.

    Errors are mistakes in per cent, or mean squared errors as they are where `task` is
    "regression"; coverage is a share. `best` goes by `measure`. Standard deviations have ddof = 1
    and are None with one run. A number that is not finite becomes None.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Returns
    -------
    dict with the keys data, task, n_rows, n_features, permutations, measure, best,
    left_out, manifest and rows
    """
    names = ("data", "task", "n_rows", "n_features", "permutations", "best", "left_out", "manifest")
    result = {name: plain(getattr(comparison, name)) for name in names}
    result["measure"] = comparison.by
    result["rows"] = [plain(_row(row)) for row in comparison.rows]
    return result


def ranking_json(ranking: Ranking) -> dict[str, Any]:
    """Ranks as plain values; the keys are their attributes, and mean and best."""
    values = {**asdict(ranking), "mean": ranking.mean, "best": ranking.best}
    return {name: plain(value) for name, value in values.items()}


def comparisons_json(comparisons: Sequence[Comparison], ranking: Ranking | None) -> dict[str, Any]:
    """Comparisons on several data sets as plain values, and where there are any, the ranks."""
    found: dict[str, Any] = {"comparisons": [comparison_json(one) for one in comparisons]}
    return found if ranking is None else found | {"ranks": ranking_json(ranking)}


def results_json(results: Results) -> dict[str, Any]:
    """Results as plain values; the keys are their attributes.

    Returns
    -------
    dict that `json.dumps(..., allow_nan=False)` takes
    """
    return {name: plain(value) for name, value in asdict(results).items()}


def results_of(values: Mapping[str, Any]) -> Results:
    """Results out of what `results_json` made of them.

    A mean that was not finite is NaN; tuples in keys and facts have become lists.

    Examples
    --------
    >>> cell = Cell({"data": "wdbc"}, {"error": Estimate(9.5, 1.0, 20)})
    >>> results = Results("x", "a table", (Measure("error", "mistakes %"),), (cell,))
    >>> results_of(results_json(results)) == results
    True
    """
    given = dict(values)
    given["measures"] = tuple(Measure(**measure) for measure in given["measures"])
    given["cells"] = tuple(map(_cell, given["cells"]))
    for name in ("missing", "remarks"):
        given[name] = tuple(given[name])
    return Results(**given)


def _cell(values: Mapping[str, Any]) -> Cell:
    estimates = {
        name: {
            measure: Estimate(**{**one, "mean": _number(one["mean"])})
            for measure, one in values[name].items()
        }
        for name in ("ours", "printed")
    }
    curves = {name: Curve(**_lists(one)) for name, one in values["curves"].items()}
    return Cell(values["key"], **estimates, curves=curves, facts=values["facts"])


def _lists(values: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: None if v is None else tuple(map(_number, v)) for name, v in values.items()}
    return {**numbers, "x": tuple(values["x"])}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def plain(value: Any) -> Any:
    """A value made of dicts, lists, strings, numbers, booleans and None only.

    Examples
    --------
    >>> plain({"a": (1.0, float("nan")), 2: np.arange(2)})
    {'a': [1.0, None], '2': [0, 1]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, PathLike):
        return str(value)
    return repr(value)


def _row(row: Row) -> dict[str, Any]:
    result: dict[str, Any] = {"recipe": row.recipe, "title": row.title}
    errors = Estimate.of(row.errors)
    result |= {"mean": errors.mean, "std": errors.std}
    for name in ("n_support_stored", "n_support_active"):
        size = Estimate.of(row.values(name))
        result |= {f"{name}_mean": size.mean, f"{name}_std": size.std}
    for name in ("labels_asked", "seconds"):
        result[f"{name}_mean"] = Estimate.of(row.values(name)).mean
    scale = 100.0 if row.task == "classification" else 1.0
    result["measures"] = {}
    for name in row.measures:
        one = Estimate.of(row.errors if name == "error" else row.measured(name))
        result["measures"][name] = {"mean": one.mean, "std": one.std}
    result["history"] = _mean_history(row, scale)
    result["runs"] = [_run(run, scale) for run in row.runs]
    return result | row.horizons()


def _mean_history(row: Row, scale: float) -> dict[str, Any]:
    """The means over the runs, at the rounds that all of them share."""
    histories = [run.history for run in row.runs]
    first = histories[0]
    result: dict[str, Any] = {"rounds": first.rounds, "kernels": first.kernels}
    names = ("error", "n_support_stored", "n_support_active", "labels_asked", "kernel_weights")
    for name in names:
        means = np.mean([getattr(history, name) for history in histories], axis=0)
        result[name] = scale * means if name == "error" else means
    result["measures"] = {
        name: np.mean([history.measures[name] for history in histories], axis=0)
        * (scale if name == "error" else 1.0)
        for name in row.measures
    }
    return result


def _run(run: Record, scale: float) -> dict[str, Any]:
    names = ("n_support_stored", "n_support_active", "labels_asked", "seconds")
    return {
        "error": scale * run.error,
        "measures": {k: scale * v if k == "error" else v for k, v in run.measures.items()},
        **{name: getattr(run, name) for name in names},
        "kernel_weights": run.history.kernel_weights[-1],
    }
