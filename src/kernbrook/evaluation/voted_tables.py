"""The published table of voted kernel regularization, run again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kernbrook import recipes as book
from kernbrook.errors import InputError
from kernbrook.estimators.voted import of_unit_length
from kernbrook.estimators.voted_grid import FoldErrors, Parts, paper_folds, paper_run
from kernbrook.evaluation.comparing import Progress, state_of
from kernbrook.evaluation.held_out_tables import Plan, each, other_lengths
from kernbrook.evaluation.published import PrintedRow
from kernbrook.evaluation.voted_records import GridPoint, Setting, VotedCell, VotedTable
from kernbrook.kernels import Gaussian, Kernel, Polynomial
from kernbrook.recipes.vkr import PATIENCE
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.generators import Waveform

FAMILIES: dict[str, tuple[Kernel, ...]] = {
    "polynomial": tuple(Polynomial(degree, offset=1) for degree in range(1, 11)),
    "gaussian": tuple(Gaussian(gamma=10.0**power) for power in range(-6, 1)),
}
VOTED = ("vkr-pdim", "vkr-trace")
UNIT = 100.0  # of the errors, as printed
RUNS = 5  # of a draw
SHARED = 1 / 3  # examples of the test part, to those of the training part
Floats = NDArray[np.float64]


def waveform01(rows: int, seed: int) -> Stream:
    """Examples of the classes 0 and 1 of the waveform data as they are distributed.

    There the waves are numbered by their peaks at 7, 15 and 11, so that these are the classes 2
    and 1 of our generator, which takes the book's order.

    Examples
    --------
    >>> X, y = waveform01(1000, seed=0).read()
    >>> X.shape, np.unique(y)
    ((1000, 21), array([0, 1]))
    """
    X, y = Waveform(2 * rows, seed).read()  # two thirds are of these classes
    taken = np.flatnonzero(y > 0)[:rows]
    return open_stream((X[taken], 2 - y[taken]))


def run_grids(
    present: dict[str, Stream],
    wanted: Sequence[PrintedRow],
    plan: Plan,
    remarks: Sequence[str],
    common: dict[str, Any],
) -> VotedTable:
    """Run the rows; `common` are the attributes that every reproduction has."""
    data = {name: _Data(name, stream, plan) for name, stream in present.items()}
    cells = tuple(
        cell
        for name, one in data.items()
        for cell in _cells(one, [row for row in wanted if row.data == name])
    )
    lengths = other_lengths({name: len(one.y) for name, one in data.items()}, wanted, plan)
    return VotedTable(
        cells=cells,
        pools={
            family: tuple(value for kernel in kernels for value in _kernel(kernel).values())
            for family, kernels in FAMILIES.items()
        },
        remarks=(*lengths, *remarks, *_unfinished(cells)),
        **common,
    )


class _Data:
    """A data set in memory, every example of length 1, and the folds of each draw."""

    def __init__(self, name: str, stream: Stream, plan: Plan):
        X, y = stream.read()
        if plan.rows is not None and plan.rows < len(y):
            order = np.random.default_rng(plan.seed).permutation(len(y))
            some = np.sort(order[: plan.rows])
            X, y = X[some], y[some]
        self.name, self.plan = name, plan
        self.X, self.y = of_unit_length(X if isinstance(X, np.ndarray) else X.toarray()), y

    def runs(self, rows: Sequence[_Wanted]) -> Iterator[tuple[_Wanted, list[_Run]]]:
        """Each row with its runs, one a draw of the folds."""
        draws = [
            paper_folds(len(self.y), state_of(self.plan.seed, draw))
            for draw in range(self.plan.permutations)
        ]
        calls = [
            (f"{self.name}, {row.printed.title}", row.model, self.X, self.y, parts, row.kernels)
            for row in rows
            for folds in draws
            for parts in folds
        ]
        announce = self.plan.announce
        advance = None if announce is None else announce(self.name, len(calls))
        done = each(_run, calls, lambda run: 1, self.plan, advance)
        for row in rows:
            runs = [_Run.joined([next(done) for _ in folds]) for folds in draws]
            if not all(run.found.solvable for run in runs):
                raise InputError(
                    f"{self.name}, {row.printed.title}: every setting of the grid is beyond the "
                    "solver's precision"
                )
            yield row, runs


@dataclass(frozen=True)
class _Wanted:
    """An algorithm to run, with one family of kernels."""

    printed: PrintedRow
    family: str

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return FAMILIES[self.family]

    @property
    def model(self) -> Any:
        if self.printed.recipe == "l2-svm":
            return SVC(max_iter=PATIENCE)
        kernels = list(self.kernels)
        return book.make(
            self.printed.recipe, kernels=kernels, unit_length=False
        )  # the data have it


@dataclass(frozen=True)
class _Run:
    """What a grid gives, and the seconds that it took."""

    found: FoldErrors
    seconds: float

    @classmethod
    def joined(cls, runs: Sequence[_Run]) -> _Run:
        found = FoldErrors.joined([run.found for run in runs])
        return cls(found, sum(run.seconds for run in runs))

    @property
    def errors(self) -> Floats:
        """(5,) at the chosen setting, on the test parts."""
        return UNIT * self.found.test[self.found.best]

    @property
    def n_support(self) -> NDArray[np.int64]:
        sizes: NDArray[np.int64] = self.found.n_support[self.found.best]
        return sizes


def _run(
    what: str, model: Any, X: Floats, y: NDArray[Any], parts: Parts, kernels: Sequence[Kernel],
    progress: Progress | None = None,
) -> _Run:  # fmt: skip
    """The whole grid on one training part; on one thread, so that sums are those of any machine."""
    begin = time.perf_counter()
    try:
        with threadpool_limits(1):
            found = paper_run(model, X, y, parts, kernels)
    except InputError as error:
        raise InputError(f"{what}: {error}") from error
    if progress is not None:
        progress(1)
    return _Run(found, time.perf_counter() - begin)


def _cells(data: _Data, printed: Sequence[PrintedRow]) -> Iterator[VotedCell]:
    wanted = [
        _Wanted(row, family)
        for family in FAMILIES
        for row in printed
        if family == "polynomial" or row.recipe != "vkr-pdim"  # it has no pseudo-dimension
    ]
    results = list(data.runs(wanted))
    for row, runs in results:
        others = [
            _pooled(those)
            for other, those in results
            if other.family == row.family and other.printed.recipe not in VOTED
        ]
        yield _cell(row, runs, min(others, key=np.mean))


def _pooled(runs: Sequence[_Run]) -> Floats:
    return np.concatenate([run.errors for run in runs])


def _cell(row: _Wanted, runs: Sequence[_Run], others: Floats) -> VotedCell:
    voted = row.printed.recipe in VOTED
    values = row.printed.values if row.family == "polynomial" else {}
    errors, sizes = _pooled(runs), np.concatenate([run.n_support for run in runs])
    weights = np.concatenate([run.found.weights[run.found.best] for run in runs]).mean(axis=0)
    settings = [_setting(at, row.kernels) for at in runs[0].found.settings]
    return VotedCell(
        data=row.printed.data,
        recipe=row.printed.recipe,
        title=row.printed.title,
        family=row.family,
        chosen=tuple(settings[run.found.best] for run in runs),
        error_printed=values.get("error"),
        error_printed_std=values.get("error_std"),
        error=float(errors.mean()),
        error_std=float(errors.std(ddof=1)),
        n_support_printed=values.get("n_support"),
        n_support_printed_std=values.get("n_support_std"),
        n_support=float(sizes.mean()),
        n_support_std=float(sizes.std(ddof=1)),
        p_value=_p_value(errors, others) if voted else None,
        weights=tuple(weights.tolist()) if voted else None,
        frontier=_frontier(settings, FoldErrors.joined([run.found for run in runs])),
        unfinished=int(sum(run.found.unfinished.sum() for run in runs)),
        fits=int(sum(run.found.unfinished.size for run in runs)),
        seconds=float(np.mean([run.seconds for run in runs])),
    )


def _setting(at: Any, kernels: Sequence[Kernel]) -> Setting:
    """A point of the grid by the names that a reader knows."""
    if isinstance(at, tuple):
        kernel, cost = at
        return _kernel(kernel) | {"C": float(cost)}
    if at.lam == 0.0:
        return _kernel(kernels[at.pool]) | {"beta": at.beta}
    return {"lam": at.lam, "beta": at.beta}


def _kernel(kernel: Kernel) -> Setting:
    if isinstance(kernel, Polynomial):
        return {"degree": float(kernel.degree)}
    assert isinstance(kernel, Gaussian)
    return {"gamma": kernel.gamma}


def _p_value(errors: Floats, others: Floats) -> float | None:
    """Of a paired t-test, one-sided: that the errors are no less than the others.

    The runs of several draws share their examples: Nadeau and Bengio (2003) add the ratio of test
    to training examples to the variance of the mean.
    """
    differences = errors - others
    mean, runs = differences.mean(), len(differences)
    if np.ptp(differences) == 0:
        return None if mean == 0 else float(mean > 0)
    share = 1 / runs + (SHARED if runs > RUNS else 0.0)
    return float(stats.t.cdf(mean / np.sqrt(share * differences.var(ddof=1)), runs - 1))


def _frontier(settings: Sequence[Setting], found: FoldErrors) -> tuple[GridPoint, ...]:
    """The settings that no smaller model is as good as."""
    sizes = found.n_support.mean(axis=1)
    validation, test = (UNIT * part.mean(axis=1) for part in (found.validation, found.test))
    kept: list[GridPoint] = []
    for i in np.lexsort((validation, sizes)):
        if not np.isfinite(validation[i]):
            continue
        if not kept or validation[i] < kept[-1].validation:
            numbers = (float(values[i]) for values in (sizes, validation, test))
            kept.append(GridPoint(settings[i], *numbers))
    return tuple(kept)


def _unfinished(cells: Sequence[VotedCell]) -> list[str]:
    """What is to be said of fits that did not come to their end."""
    counts: dict[bool, list[str]] = {True: [], False: []}
    for cell in cells:
        if cell.unfinished:
            counts[cell.recipe == "l2-svm"].append(
                f"{cell.data}, {cell.family}, {cell.title} {cell.unfinished:,} of {cell.fits:,}"
            )
    said = {
        True: f"fits that libsvm ended after {PATIENCE:,} steps",
        False: "fits beyond the precision of the linear programs' solver, their settings left out",
    }
    return [f"{said[of_libsvm]}: {'; '.join(own)}" for of_libsvm, own in counts.items() if own]
