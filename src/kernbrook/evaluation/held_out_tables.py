"""Published tables and figures of test accuracy, run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from kernbrook import recipes as book
from kernbrook.evaluation.comparing import Progress, state_of
from kernbrook.evaluation.held_out import HeldOut, Parts, Split, held_out, parts, standardised
from kernbrook.evaluation.published import PrintedRow, Published
from kernbrook.evaluation.reproduction_records import (
    AccuracyCell,
    AccuracyCurve,
    AccuracyCurves,
    AccuracyTable,
    deviation,
)
from kernbrook.evaluation.warming import ROWS, Tell, Trials, Watch, trials_of
from kernbrook.gram.sums import available_cores
from kernbrook.kernels import Gaussian
from kernbrook.streams.base import FirstRows, positive_integer

Announce = Callable[[str, int], Progress]
Result = TypeVar("Result")

FIRST_TEST = 100  # examples; of the curves
TESTS_A_DECADE = 4


@dataclass(frozen=True)
class Plan:
    """How the rows of a table are run; the attributes are the arguments of `reproduce`."""

    permutations: int
    seed: int
    jobs: int | None
    rows: int | None
    announce: Announce | None
    compiling: Tell | None = None

    def __post_init__(self) -> None:
        for name in ("permutations", "jobs", "rows"):
            value = getattr(self, name)
            if value is not None:
                positive_integer(value, name)


def find(wanted: Sequence[PrintedRow], plan: Plan) -> dict[str, Parts | None]:
    """The data sets of these rows; None where one is not present."""
    longest: dict[str, int] = {}
    for row in wanted:
        longest[row.data] = max(longest.get(row.data, 0), _length(row))
    return {name: parts(name, rows, plan.seed) for name, rows in longest.items()}


def tested(
    published: Published,
    present: dict[str, Parts],
    wanted: Sequence[PrintedRow],
    plan: Plan,
    remarks: Sequence[str],
    common: dict[str, Any],
) -> AccuracyTable | AccuracyCurves:
    """Run the rows; `common` are the attributes that every reproduction has."""
    if published.held_out == "table":
        cells = tuple(_cells(present, wanted, plan))
        return AccuracyTable(cells=cells, remarks=(*_shortened(cells, plan), *remarks), **common)
    assert published.held_out is not None
    if published.held_out == "seconds":
        plan = replace(plan, jobs=1)
    curves = tuple(_curves(present, wanted, plan))
    said = (*_shortened(curves, plan), *remarks)
    return AccuracyCurves(shown=published.held_out, curves=curves, remarks=said, **common)


def _shortened(rows: Sequence[AccuracyCell | AccuracyCurve], plan: Plan) -> list[str]:
    """What is to be said where fewer examples were learned from than in the paper."""
    fewer = {row.data: row for row in rows if row.n_rows < row.n_rows_printed}
    if fewer and plan.rows is not None:
        return [f"at most {plan.rows:,} examples are learned from: the numbers need not agree"]
    return [
        f"{name}: {row.n_rows:,} rows to learn from here, {row.n_rows_printed:,} in the paper"
        for name, row in fewer.items()
    ]


def _cells(
    present: dict[str, Parts], wanted: Sequence[PrintedRow], plan: Plan
) -> Iterator[AccuracyCell]:
    """The rows of a table, tested at their end."""
    for row, runs in _runs(present, wanted, plan, lambda rows: [rows]):
        accuracy = np.array([run.accuracy[-1] for run in runs])
        yield AccuracyCell(
            **_facts(row, runs),
            accuracy_printed=row.number("accuracy"),
            accuracy_printed_std=row.values["accuracy_std"],
            accuracy=float(accuracy.mean()),
            accuracy_std=deviation(accuracy),
            n_support=float(np.mean([run.n_support[-1] for run in runs])),
            seconds=float(np.mean([run.seconds[-1] for run in runs])),
        )


def _curves(
    present: dict[str, Parts], wanted: Sequence[PrintedRow], plan: Plan
) -> Iterator[AccuracyCurve]:
    """The rows of a figure, tested on the way."""
    for row, runs in _runs(present, wanted, plan, _on_the_way):
        accuracy = np.array([run.accuracy for run in runs])
        yield AccuracyCurve(
            **_facts(row, runs),
            rows=tuple(runs[0].rows.tolist()),
            accuracy=tuple(accuracy.mean(axis=0).tolist()),
            accuracy_std=tuple(accuracy.std(axis=0, ddof=1).tolist()) if len(runs) > 1 else None,
            n_support=tuple(np.mean([run.n_support for run in runs], axis=0).tolist()),
            seconds=tuple(np.mean([run.seconds for run in runs], axis=0).tolist()),
            seconds_printed=row.values["seconds"],
        )


def _facts(row: PrintedRow, runs: Sequence[HeldOut]) -> dict[str, Any]:
    return {
        "data": row.data,
        "recipe": row.recipe,
        "title": row.title,
        "budget": row.settings.get("budget"),
        "width": row.number("width"),
        "n_rows_printed": _length(row),
        "n_rows": int(runs[0].rows[-1]),
        "n_support_printed": row.values["n_support"],
    }


def _runs(
    present: dict[str, Parts],
    wanted: Sequence[PrintedRow],
    plan: Plan,
    tests: Callable[[int], list[int]],
) -> Iterator[tuple[PrintedRow, list[HeldOut]]]:
    """Each row with its runs, one a permutation; `tests` of the number of examples says when."""
    for name, of_run in present.items():
        rows = [row for row in wanted if row.data == name]
        splits = [_split(of_run, run, plan) for run in range(plan.permutations)]
        most = splits[0].train.n_rows
        assert most is not None
        lengths = [min(_length(row), most) for row in rows]
        advance = None
        if plan.announce is not None:
            advance = plan.announce(name, sum(lengths) * plan.permutations)
        calls = [
            (_estimator(row, split, state_of(plan.seed, run)), split, tests(length))
            for row, length in zip(rows, lengths, strict=True)
            for run, split in enumerate(splits)
        ]
        X, y = next(splits[0].train.chunks(ROWS))
        trials = trials_of([call[0] for call in calls], X, y, splits[0].classes)
        done = each(held_out, calls, lambda run: int(run.rows[-1]), plan, advance, trials)
        for row in rows:
            yield row, [next(done) for _ in splits]


def each(
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    rounds: Callable[[Result], int],
    plan: Plan,
    advance: Progress | None,
    trials: Trials | None = None,
) -> Iterator[Result]:
    """The results of some calls, in their order; several processes where there are several calls.

    Parameters
    ----------
    function : of a call's arguments and `progress`
    calls : the arguments of each
    rounds : the number of rounds that a result took
    plan : says in how many processes, and who is told of compiling
    advance : called with the number of rounds done since its last call
    trials : what compiles first
    """
    jobs = min(plan.jobs or available_cores(), len(calls))
    trials = trials or {}
    with Watch(plan.compiling, len(trials)) as watch:
        if jobs == 1:
            for trial in trials.values():
                watch.run(trial)
            for call in calls:
                yield function(*call, progress=advance)
            return
        from joblib import Parallel, delayed

        first = [delayed(watch.begin(trial))() for trial in trials.values()]
        then = (delayed(function)(*call) for call in calls)
        results = Parallel(n_jobs=jobs, return_as="generator")(chain(first, then))
        for _ in trials:
            next(results)
            watch.end()
    for result in results:
        if advance is not None:
            advance(rounds(result))
        yield result


def other_lengths(rows: Mapping[str, int], wanted: Sequence[PrintedRow], plan: Plan) -> list[str]:
    """What is to be said of data sets of so many rows, where the paper has another number."""
    printed = {row.data: _length(row) for row in wanted}
    other = {name: count for name, count in rows.items() if count != printed[name]}
    if other and plan.rows is not None:
        return [f"at most {plan.rows:,} rows are learned from: the numbers need not agree"]
    return [
        f"{name}: {count:,} rows here, {printed[name]:,} in the paper"
        for name, count in other.items()
    ]


def _split(of_run: Parts, run: int, plan: Plan) -> Split:
    train, test = of_run(run)
    assert train.n_rows is not None
    if plan.rows is not None and plan.rows < train.n_rows:
        train = FirstRows(train, plan.rows)
    return standardised(train, test)


def _estimator(row: PrintedRow, split: Split, state: int) -> Any:
    kernel = Gaussian(gamma=row.number("width") / split.train.n_features)
    return book.make(row.recipe, kernels=[kernel], random_state=state, **row.settings)


def _on_the_way(rows: int) -> list[int]:
    """Numbers of examples in equal ratios, and the last."""
    decades = np.log10(max(rows, FIRST_TEST) / FIRST_TEST)
    places = np.arange(int(decades * TESTS_A_DECADE) + 1) / TESTS_A_DECADE
    tests = np.round(FIRST_TEST * 10.0**places).astype(int)
    return [*tests[tests < rows].tolist(), rows]


def _length(row: PrintedRow) -> int:
    return int(row.number("n_rows"))
