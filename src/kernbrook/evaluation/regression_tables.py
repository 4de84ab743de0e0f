"""Published tables and figures of regression, run again in the order of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook import recipes as book
from kernbrook.evaluation.comparing import Progress, state_of
from kernbrook.evaluation.held_out_tables import Plan, each, other_lengths
from kernbrook.evaluation.prequential import prequential
from kernbrook.evaluation.published import PrintedRow, Published
from kernbrook.evaluation.records import Record
from kernbrook.evaluation.regression_records import (
    ErrorCurve,
    ErrorCurves,
    LabelPoint,
    LabelStudy,
    RegressionCell,
    RegressionTable,
)
from kernbrook.evaluation.reproduction_records import deviation
from kernbrook.evaluation.tasks import losses
from kernbrook.evaluation.warming import trials_of
from kernbrook.kernels import Gaussian, Polynomial
from kernbrook.labels import RandomLabels
from kernbrook.streams import Stream

TRIVIAL = ("mean", "last-value")
OWN = ("kernbrook-regression", "kernbrook-active")
PASSIVE = {"amkl": "raker", "amkl-aks": "omkl-aks"}  # the same without a criterion
THRESHOLDS = (1e-5, 3e-5, 1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
WINDOWS = (1, 2, 5)
UNIT = 1000.0  # of the errors, as printed
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Wanted:
    """A recipe to run, and the row of the paper that it stands beside, if any."""

    recipe: str
    title: str
    settings: dict[str, Any]
    printed: PrintedRow | None = None


def run_again(
    published: Published,
    present: dict[str, Stream],
    wanted: Sequence[PrintedRow],
    plan: Plan,
    remarks: Sequence[str],
    common: dict[str, Any],
) -> RegressionTable | LabelStudy | ErrorCurves:
    """Run the rows; `common` are the attributes that every reproduction has."""
    data = {name: _Data(name, stream, plan) for name, stream in present.items()}
    lengths = other_lengths({name: len(one.y) for name, one in data.items()}, wanted, plan)
    common = common | {"remarks": (*lengths, *remarks)}
    if published.regression == "labels":
        points: list[LabelPoint] = []
        trivial: dict[str, float] = {}
        for name, one in data.items():
            points += _points(one, [row for row in wanted if row.data == name])
            trivial |= {cell.title: cell.error for cell in _cells(one, _extra(TRIVIAL))}
        return LabelStudy(points=tuple(points), trivial=trivial, **common)
    rows = {
        name: [_of_paper(row) for row in wanted if row.data == name] + _extra(TRIVIAL + OWN)
        for name in data
    }
    if published.regression == "time":
        curves = (curve for name, one in data.items() for curve in _curves(one, rows[name]))
        return ErrorCurves(curves=tuple(curves), **common)
    cells = (cell for name, one in data.items() for cell in _cells(one, rows[name]))
    return RegressionTable(cells=tuple(cells), **common)


class _Data:
    """A data set in memory, in its own order."""

    def __init__(self, name: str, stream: Stream, plan: Plan):
        X, y = stream.read()
        self.name, self.plan = name, plan
        self.X, self.y = X[: plan.rows], y[: plan.rows]

    def runs(self, rows: Sequence[_Wanted]) -> Iterator[tuple[_Wanted, list[Record]]]:
        """Each row with its runs: one a draw of the features, or one alone."""
        estimators = [self._estimators(row) for row in rows]
        calls = [(self.X, self.y, one) for several in estimators for one in several]
        trials = trials_of((one for several in estimators for one in several), self.X, self.y, None)
        advance = self._bar(len(calls))
        done = each(_run, calls, lambda run: len(run.predictions), self.plan, advance, trials)
        for row, several in zip(rows, estimators, strict=True):
            yield row, [next(done) for _ in several]

    def _estimators(self, row: _Wanted) -> list[Any]:
        several = [
            book.make(row.recipe, random_state=state_of(self.plan.seed, run), **row.settings)
            for run in range(self.plan.permutations)
        ]
        return several if _draws(several[0]) else several[:1]

    def _bar(self, runs: int) -> Progress | None:
        announce = self.plan.announce
        return None if announce is None else announce(self.name, runs * len(self.y))


def _run(X: Any, y: Floats, estimator: Any, progress: Progress | None = None) -> Record:
    return prequential(estimator, X, y, progress=progress)


def _draws(estimator: Any) -> bool:
    """Whether the seed matters: where it learns in features, as the default does."""
    learners = getattr(estimator, "learner", [])
    learners = learners if isinstance(learners, list) else [learners]
    return any(learner is None or learner.features is not None for learner in learners)


def _of_paper(row: PrintedRow, **settings: Any) -> _Wanted:
    """A row of the paper, whose algorithms know T."""
    settings |= row.settings | {"horizon": int(row.number("n_rows"))}
    width, degree = row.values["sigma"], row.values["degree"]
    if width is not None:
        settings["kernels"] = [Gaussian(sigma=width)]
    if degree is not None:
        settings["kernels"] = [Polynomial(int(degree))]
    return _Wanted(row.recipe, row.title, settings, row)


def _extra(recipes: Sequence[str]) -> list[_Wanted]:
    """Rows that are not the paper's."""
    return [_Wanted(recipe, book.title(recipe), {}) for recipe in recipes]


def _cells(data: _Data, rows: Sequence[_Wanted]) -> Iterator[RegressionCell]:
    for row, runs in data.runs(rows):
        printed = {} if row.printed is None else row.printed.values
        errors, labels = _errors(runs), _labels(runs)
        yield RegressionCell(
            **_facts(data, row, runs),
            error_printed=printed.get("error"),
            labels_printed=printed.get("labels"),
            error=float(errors.mean()),
            error_std=deviation(errors),
            labels=float(labels.mean()),
            labels_std=deviation(labels),
            seconds=float(np.mean([run.seconds for run in runs])),
        )


def _curves(data: _Data, rows: Sequence[_Wanted]) -> Iterator[ErrorCurve]:
    rounds = _on_the_way(len(data.y))
    for row, runs in data.runs(rows):
        lost = np.array([losses(run.predictions, data.y, "regression") for run in runs])
        errors = UNIT * lost.cumsum(axis=1)[:, rounds - 1] / rounds
        yield ErrorCurve(
            **_facts(data, row, runs),
            rounds=tuple(rounds.tolist()),
            error=tuple(errors.mean(axis=0).tolist()),
            error_std=tuple(errors.std(axis=0, ddof=1).tolist()) if len(runs) > 1 else None,
            labels=float(_labels(runs).mean()),
        )


def _points(data: _Data, printed: Sequence[PrintedRow]) -> Iterator[LabelPoint]:
    """Each setting of the criterion, and drawn labels at the rate that it came to."""
    asking = [
        _of_paper(row, threshold=threshold, window=window)
        for row in printed
        if row.recipe in PASSIVE
        for window in WINDOWS
        for threshold in THRESHOLDS
    ]
    found = list(data.runs(asking))
    drawing = [_by_chance(row, float(_labels(runs).mean())) for row, runs in found]
    for (row, runs), (_, drawn) in zip(found, data.runs(drawing), strict=True):
        errors, labels, errors_random = _errors(runs), _labels(runs), _errors(drawn)
        yield LabelPoint(
            **_facts(data, row, runs),
            window=row.settings["window"],
            threshold=row.settings["threshold"],
            error=float(errors.mean()),
            error_std=deviation(errors),
            labels=float(labels.mean()),
            labels_std=deviation(labels),
            error_random=float(errors_random.mean()),
            error_random_std=deviation(errors_random),
        )


def _by_chance(row: _Wanted, rate: float) -> _Wanted:
    """The same algorithm, without its criterion."""
    settings = {"horizon": row.settings["horizon"], "labels": RandomLabels(rate)}
    return _Wanted(PASSIVE[row.recipe], row.title, settings)


def _facts(data: _Data, row: _Wanted, runs: Sequence[Record]) -> dict[str, Any]:
    return {"data": data.name, "recipe": row.recipe, "title": row.title, "runs": len(runs)}


def _errors(runs: Sequence[Record]) -> Floats:
    return np.array([UNIT * run.error for run in runs])


def _labels(runs: Sequence[Record]) -> Floats:
    return np.array([run.labels_asked / len(run.predictions) for run in runs])


def _on_the_way(rounds: int) -> NDArray[np.int64]:
    """The ends of a hundred equal parts, and the powers of ten from 100."""
    parts = {rounds * part // 100 for part in range(1, 101)}
    decades = {10**power for power in range(2, 10) if 10**power < rounds}
    return np.array(sorted((parts | decades) - {0}))
