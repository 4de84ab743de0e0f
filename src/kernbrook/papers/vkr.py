"""Cortes, Goyal, Kuznetsov, Mohri (2015), Voted kernel regularization, arXiv 1509.04340."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from kernbrook import recipes as book
from kernbrook.errors import InputError
from kernbrook.estimators.pool import COSTS
from kernbrook.estimators.voted import of_unit_length, pools_of, settings_of
from kernbrook.evaluation.comparing import Progress
from kernbrook.evaluation.parallel import state_of
from kernbrook.evaluation.warming import in_order
from kernbrook.kernels import Gaussian, Kernel, Polynomial
from kernbrook.kernels.base import dense
from kernbrook.papers import published
from kernbrook.papers.figures import Figure, plots
from kernbrook.papers.published import (
    SECONDS,
    SUPPORT,
    Job,
    Plan,
    PrintedRow,
    Published,
    names_of,
)
from kernbrook.recipes.vkr import PATIENCE
from kernbrook.reports.table import Column, Table, of_cells
from kernbrook.results import Cell, Curve, Estimate, Measure, Results
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.builtin import Waveform
from kernbrook.voted.examples import Examples, Floats
from kernbrook.voted.kernel_pool import values

PAPER = "Cortes, Goyal, Kuznetsov, Mohri (2015), Voted kernel regularization"
ERROR = Measure("error", "error %")
Setting = dict[str, float]  # lam and beta, or degree or gamma with beta or C
STARS = {5: "**", 10: "*"}  # per cent
NOTES = (
    "p: of a paired t-test that it errs less than the better of L1 SVM and L2 SVM, ** at 5 %, * at "
    "10 %",
    "chosen: of least mean validation error",
    "seconds: of the whole grid, five runs",
)
FAMILIES: dict[str, tuple[Kernel, ...]] = {
    "polynomial": tuple(Polynomial(degree, offset=1) for degree in range(1, 11)),
    "gaussian": tuple(Gaussian(gamma=10.0**power) for power in range(-6, 1)),
}
VOTED = ("vkr-pdim", "vkr-trace")
UNIT = 100.0  # of the errors, as printed
RUNS = 5  # of a draw
SHARED = 1 / 3  # examples of the test part, to those of the training part
GRID = (
    "every example has length 1, as the printed errors demand; five random folds a draw, one "
    "setting for all five runs; deviations are over the runs\n"
    "p: the paper's test is not stated; here a paired t-test over the runs, one-sided, of each "
    "VKR row against the better of L1 SVM and L2 SVM; corrected where several draws share "
    "examples\n"
    "linear programs: solved to a gap of 1e-7 of the objective, of 1e-3 at most where the solver's "
    "precision ends\n"
    "Gaussians: the paper prints no numbers; lemma 4 (VKR2) is for polynomials"
)


# -- the protocol -----------------------------------------------------------------------------

Parts = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class FoldErrors:
    """What the paper's protocol gives, of r runs: five, or some of them.

    Attributes
    ----------
    settings : the grid, in the order of preference between equals
    validation, test : (settings, r) share of wrong labels
    n_support : (settings, r)
    weights : (settings, r, p) share of each kernel of the pool in the sum of |alpha|
    unfinished : (settings, r) where libsvm stopped at its limit of steps, or where a linear program
        is beyond its solver's precision; errors are infinite then, and the setting is never chosen
    seconds : that all of it took
    """

    settings: list[Any]
    validation: Floats
    test: Floats
    n_support: NDArray[np.int64]
    weights: Floats
    unfinished: NDArray[np.bool_]
    seconds: float = 0.0

    @classmethod
    def joined(cls, parts: Sequence[FoldErrors]) -> FoldErrors:
        names = ("validation", "test", "n_support", "weights", "unfinished")
        arrays = {name: np.concatenate([getattr(p, name) for p in parts], 1) for name in names}
        return cls(parts[0].settings, **arrays, seconds=sum(part.seconds for part in parts))

    @property
    def best(self) -> int:
        """The setting of least mean validation error: one for all runs."""
        return int(self.validation.mean(axis=1).argmin())

    @property
    def solvable(self) -> bool:
        """Whether any setting can be solved in all runs."""
        return bool(np.isfinite(self.validation).all(axis=1).any())


def paper_folds(n: int, random_state: Any = None) -> list[Parts]:
    """Five times (train, validation, test): fold i tests, fold i + 1 validates, three train.

    Examples
    --------
    >>> [[len(part) for part in run] for run in paper_folds(11, 0)][:2]
    [[6, 2, 3], [7, 2, 2]]
    """
    if n < 5:
        raise InputError(f"X: expected five examples or more for five folds, got {n}")
    folds = np.array_split(check_random_state(random_state).permutation(n), 5)
    return [
        (
            np.sort(np.concatenate([folds[(i + j) % 5] for j in (2, 3, 4)])),
            np.sort(folds[(i + 1) % 5]),
            np.sort(folds[i]),
        )
        for i in range(5)
    ]


def paper_run(recipe: str, kernels: Sequence[Kernel], X: Any, y: Any, run: Parts) -> FoldErrors:
    """One of the five runs of table 1 (section 6 of the paper), over the whole grid: no refit.

    recipe : "l2-svm", or one of voted kernel regularization
    kernels : of equals an SVM takes the earlier kernel, then the earlier C
    X, y : (n, d) examples, as they are, and (n,) labels
    run : of `paper_folds`
    """
    settings: list[Any]
    if recipe == "l2-svm":
        settings = [(kernel, cost) for kernel in kernels for cost in COSTS]
        found = zip(*_svm_grid(kernels, X, y, run), strict=True)
        errors, support, weights, unfinished = map(np.array, found)
    else:
        model = book.make(recipe, kernels=list(kernels), unit_length=False)
        examples, codes = model._labelled(X, y)
        pools = pools_of(model._pool(), model.one_kernel)
        settings = settings_of(len(pools), model.lams, model.betas)
        train, *others = run
        errors, support, weights, refused = model._errors(
            examples, codes, train, others, settings, pools
        )
        unfinished = np.isin(np.arange(len(settings)), list(refused))
    n_support, weights, unfinished = (of[:, None] for of in (support, weights, unfinished))
    return FoldErrors(settings, errors[:, :1], errors[:, 1:], n_support, weights, unfinished)


def _svm_grid(
    kernels: Sequence[Kernel], X: Any, y: Any, run: Parts
) -> Iterator[tuple[list[Any], int, list[float], bool]]:
    """Of each kernel and cost the errors, the support vectors, its weight, whether it gave up."""
    examples, y = Examples(X), np.asarray(y)
    learned, *asked = (examples.take(part) for part in run)
    grams = (values(kernels, part, learned) for part in (learned, *asked))
    for gram, *others in zip(*grams, strict=True):
        for cost in COSTS:
            machine = SVC(kernel="precomputed", C=cost, max_iter=PATIENCE)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine.fit(gram, y[run[0]])
            errors = [
                np.mean(machine.predict(block) != y[part])
                for block, part in zip(others, run[1:], strict=True)
            ]
            yield errors, len(machine.support_), [1.0], machine.fit_status_ != 0


# -- the table --------------------------------------------------------------------------------


def waveform01(rows: int, seed: int) -> Stream:
    """Examples of the classes 0 and 1 of the waveform data as they are distributed.

    There the waves are numbered by their peaks at 7, 15 and 11, so that these are the classes 2
    and 1 of our generator, which takes the book's order.
    """
    X, y = Waveform(2 * rows, seed).read()  # two thirds are of these classes
    taken = np.flatnonzero(y > 0)[:rows]
    return open_stream((X[taken], 2 - y[taken]))


def find(rows: Sequence[PrintedRow], plan: Plan) -> Stream | None:
    """The data of printed rows; None where they are missing."""
    if rows[0].data == "waveform01":
        return waveform01(int(rows[0].number("n_rows")), plan.seed)
    return published.find(rows, plan)


def _data(job: Job, name: str) -> tuple[Floats, NDArray[Any]]:
    """A data set in memory, every example of length 1."""
    X, y = job.present[name].read()
    if job.plan.rows is not None and job.plan.rows < len(y):
        order = np.random.default_rng(job.plan.seed).permutation(len(y))
        some = np.sort(order[: job.plan.rows])
        X, y = X[some], y[some]
    job.note_rows(name, len(y))
    return of_unit_length(dense(X)), y


def _runs(
    job: Job, name: str, rows: Sequence[tuple[PrintedRow, str]]
) -> Iterator[list[FoldErrors]]:
    """Of each row, with its family of kernels, the runs: one a draw of the folds."""
    X, y = _data(job, name)
    draws = [
        paper_folds(len(y), state_of(job.plan.seed, draw)) for draw in range(job.plan.permutations)
    ]
    calls = [
        (f"{name}, {row.title}", row.recipe, FAMILIES[family], X, y, parts)
        for row, family in rows
        for folds in draws
        for parts in folds
    ]
    done = in_order(_run, calls, lambda run: 1, job.plan.jobs, job.bar(name, len(calls)))
    for row, _ in rows:
        runs = [FoldErrors.joined(list(islice(done, len(folds)))) for folds in draws]
        if not all(run.solvable for run in runs):
            raise InputError(
                f"{name}, {row.title}: every setting of the grid is beyond the solver's precision"
            )
        yield runs


def _run(title: str, *arguments: Any, progress: Progress | None = None) -> FoldErrors:
    """`paper_run` on one thread, so that sums are those of any machine."""
    begin = time.perf_counter()
    try:
        with threadpool_limits(1):
            found = paper_run(*arguments)
    except InputError as error:
        raise InputError(f"{title}: {error}") from error
    if progress is not None:
        progress(1)
    return replace(found, seconds=time.perf_counter() - begin)


def _cells(job: Job) -> Iterator[Cell]:
    every = []
    for name in job.present:
        wanted = [
            (row, family)
            for family in FAMILIES
            for row in job.of(name)
            if family == "polynomial" or row.recipe != "vkr-pdim"  # it has no pseudo-dimension
        ]
        results = list(zip(wanted, _runs(job, name, wanted), strict=True))
        for (row, family), runs in results:
            others = [
                _errors(those)
                for (other, times), those in results
                if times == family and other.recipe not in VOTED
            ]
            every.append(_cell(row, family, runs, min(others, key=np.mean)))
            yield every[-1]
    job.remarks.extend(_unfinished(every))


def _errors(runs: Sequence[FoldErrors]) -> Floats:
    """Of all runs, each at its chosen setting, on the test parts."""
    return UNIT * np.concatenate([run.test[run.best] for run in runs])


def _cell(row: PrintedRow, family: str, runs: Sequence[FoldErrors], others: Floats) -> Cell:
    """One algorithm with one family of kernels.

    Facts: chosen, a setting a draw; fits, and how many are unfinished; of voted kernel
    regularization p_value, None where all differences are 0. Curves: the frontier, see `_frontier`,
    and of voted kernel regularization the mean share of each kernel in the sum of |alpha|.
    """
    errors, kernels = _errors(runs), FAMILIES[family]
    settings = [_setting(at, kernels) for at in runs[0].settings]
    facts: dict[str, Any] = {
        "chosen": tuple(settings[run.best] for run in runs),
        "unfinished": int(sum(run.unfinished.sum() for run in runs)),
        "fits": int(sum(run.unfinished.size for run in runs)),
    }
    curves = {"frontier": _frontier(FoldErrors.joined(runs))}
    if row.recipe in VOTED:
        weights = np.concatenate([run.weights[run.best] for run in runs])
        values = [value for kernel in kernels for value in _kernel(kernel).values()]
        curves["weights"] = Curve(tuple(values), tuple(weights.mean(axis=0).tolist()))
        facts["p_value"] = _p_value(errors, others)
    ours = {
        "error": Estimate.of(errors),
        "n_support": Estimate.of(np.concatenate([run.n_support[run.best] for run in runs])),
        "seconds": Estimate.of([run.seconds for run in runs]),
    }
    of_paper = row.estimates("error", "n_support") if family == "polynomial" else {}
    return Cell(row.key | {"family": family}, ours, of_paper, curves, facts)


def _setting(at: Any, kernels: Sequence[Kernel]) -> Setting:
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


def _frontier(found: FoldErrors) -> Curve:
    """The settings that err less on the validation part than every one with fewer support vectors.

    By rising number of these: their test errors, means over all runs.
    """
    sizes = found.n_support.mean(axis=1)
    validation, test = (part.mean(axis=1) for part in (found.validation, found.test))
    kept: list[int] = []
    for i in np.lexsort((validation, sizes)):
        if np.isfinite(validation[i]) and (not kept or validation[i] < validation[kept[-1]]):
            kept.append(i)
    return Curve(tuple(sizes[kept].tolist()), tuple((UNIT * test[kept]).tolist()))


def _unfinished(cells: Sequence[Cell]) -> list[str]:
    """What is to be said of fits that did not come to their end."""
    counts: dict[bool, list[str]] = {True: [], False: []}
    for cell in cells:
        if cell.facts["unfinished"]:
            counts[cell["recipe"] == "l2-svm"].append(
                f"{cell['data']}, {cell['family']}, {cell['title']} "
                f"{cell.facts['unfinished']:,} of {cell.facts['fits']:,}"
            )
    reasons = {
        True: f"fits that libsvm ended after {PATIENCE:,} steps",
        False: "fits beyond the precision of the linear programs' solver, their settings left out",
    }
    return [f"{reasons[which]}: {'; '.join(lines)}" for which, lines in counts.items() if lines]


# -- how it is shown --------------------------------------------------------------------------


def level(cell: Cell) -> int | None:
    """5 or 10: the per cent at which it errs less than the other algorithms, if so."""
    p = cell.facts.get("p_value")
    return None if p is None or p > 0.1 else 5 if p <= 0.05 else 10


def _table(results: Results) -> Table:
    cells = results.cells
    tests = tuple(cell.facts.get("p_value") for cell in cells)
    stars = tuple(STARS.get(level(cell) or 0, "") for cell in cells)
    chosen = tuple(chosen_text(cell.facts["chosen"]) for cell in cells)
    columns = [
        names_of(cells),
        *of_cells(cells, ERROR, "printed ours"),
        Column("p", tests, "{:.2f}".format, marks=stars, group=ERROR.header),
        *of_cells(cells, SUPPORT, "printed ours", rough=2),
        Column("chosen", chosen, kind="code", spare=1),
        *of_cells(cells, SECONDS, spare=2),
    ]
    groups = tuple(f"{cell['data']}, {cell['family']}" for cell in cells)
    strong = frozenset(i for i, cell in enumerate(cells) if level(cell) == 5)
    return Table(tuple(columns), groups, strong, NOTES)


def chosen_text(chosen: Sequence[Setting]) -> str:
    """The setting that was chosen, the most frequent one of several draws.

    Examples
    --------
    >>> chosen_text([{"lam": 0.01, "beta": 1e-6}])
    'lam 0.01, beta 1e-6'
    >>> chosen_text([{"degree": 3.0, "C": 100.0}, {"degree": 2.0, "C": 1.0}] * 2)
    'degree 3, C 100 (2 of 4)'
    """
    texts = [", ".join(f"{name} {_short(v)}" for name, v in setting.items()) for setting in chosen]
    text, times = Counter(texts).most_common(1)[0]
    return text if times == len(texts) else f"{text} ({times} of {len(texts)})"


def _short(value: float) -> str:
    text, power = f"{value:g}", f"{value:.0e}"
    text = power if len(power) < len(text) and float(power) == value else text
    return text.replace("e-0", "e-").replace("e+0", "e")


SPARSITY = (
    "A line goes through the settings of the grid that err less on the validation part than every "
    "one with fewer support vectors, and shows their errors on the test part. Lower errs less, "
    "further left is sparser."
)
WEIGHTS = (
    "How the sum of the coefficients' sizes is shared between the kernels, at the chosen setting. "
    "Complex kernels cost more, so that they are used where they pay."
)
FIGURES = [
    Figure(heading + of_family, text, label, drawn, family, key="family", log=log)
    for family, of_family, kernel in (
        ("polynomial", ", polynomial kernels", "degree"),
        ("gaussian", ", Gaussian kernels", "gamma (log scale)"),
    )
    for heading, text, label, drawn, log in (
        ("Sparsity against error", SPARSITY, "support vectors (log scale)",
         {Measure("frontier", "error %"): "test error (%, log scale)"}, True),
        ("Weights", WEIGHTS, kernel,
         {Measure("weights", "weight"): "share of the coefficients"}, kernel != "degree"),
    )
]  # fmt: skip
PUBLISHED = (
    Published.of(
        PAPER, "vkr", "table 1", "errors and numbers of support vectors", permutations=1,
        find=find, run=_cells, measures=(ERROR, SUPPORT, SECONDS), tabled=_table,
        heading="Voted kernel regularization",
        below="Test errors in per cent, and training points in use; means over the runs ± one "
        "standard deviation.",
        plots=partial(plots, figures=FIGURES), order="drawn", runs=RUNS,
        remarks={
            "": GRID,
            "ocr49": "ocr49: all 4s and 9s of another sample of digits than the paper's",
            "waveform01": "waveform01: drawn anew; classes 0 and 1 as the data are distributed, "
            "with waves that peak at 7 and 15, and at 7 and 11",
        },
    ),
)  # fmt: skip
