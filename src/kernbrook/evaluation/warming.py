"""Compiled code before the clock: compiled once for a machine, loaded once for a process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba.core.event import Listener, install_listener
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook import recipes as book
from kernbrook.checks import each_name
from kernbrook.compiler.compiling import first_use
from kernbrook.engine.scalers import LARGEST_FILLED
from kernbrook.errors import InputError, KernbrookError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.confidence import intervals_of
from kernbrook.estimators.outside import OutsideMachine
from kernbrook.estimators.pool import MANY, pool_of
from kernbrook.estimators.tasks import predict_outputs, task_of
from kernbrook.evaluation.measures import COVERAGE
from kernbrook.evaluation.parallel import Crew, Jobs, Result, crew_of, results
from kernbrook.streams import open_stream

ROWS = 8  # that a trial learns at most

# Parameters of a learner that choose compiled code by their type; an upkeep by its name.
TELLING = ("budget", "features", "upkeep")
PARTS = ("combiner", "selection", "labels")
SILENCE = 0.2  # seconds between two looks


Family = frozenset[str]
Trials = Mapping[Family, Callable[[], Any]]


class Compiling(NamedTuple):
    """How far compiling is."""

    seconds: float  # since it began
    ready: int  # parts that are compiled, out of `parts`
    parts: int  # what is compiled one by one, by one process each


Reporter = Callable[[Compiling | None], None]


def few_rows(y: NDArray[Any]) -> NDArray[np.int64]:
    """Row numbers for a trial: different labels, so that something is learned from them."""
    told_apart = y.astype(str) if y.dtype.kind == "O" else y  # None and text have no order
    _, first = np.unique(told_apart, return_index=True)
    return np.sort(first)[:ROWS]


def warm_up(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    classes: Any = None,
    late: bool = False,
    coverage: float | None = None,
) -> None:
    """A copy of one of our learners learns some rows: all that it runs on is compiled, and loaded.

    Where labels come late it predicts them, too. So does a copy of a model of another library. What
    else has `learn` passes as it is: it compiles nothing that we know of.

    coverage : of its intervals, where they are wanted
    """
    if not isinstance(estimator, (OnlineMachine, OutsideMachine)):
        return
    trial, labels = _trial(estimator, classes)
    outside = isinstance(estimator, OutsideMachine)  # which may raise or warn of anything
    # The run itself will say it again.
    refused = suppress(Exception if outside else KernbrookError)
    with warnings.catch_warnings(), intervals_of(coverage), refused:
        if outside:
            warnings.simplefilter("ignore")
        for _ in range(2):  # the second time with support vectors
            trial.learn(X, y, **labels)
        if late:
            predict_outputs(trial, X)


def try_out(estimator: Any, X: Any, y: NDArray[Any], classes: Any = None) -> None:
    """As `warm_up`, for all else that the learner can do: ask, predict, take a row alone."""
    warm_up(estimator, X, y, classes)
    if not isinstance(estimator, OnlineMachine):
        return
    trial, labels = _trial(estimator, classes)
    with suppress(KernbrookError):
        for i in range(X.shape[0]):
            trial.learn(X[i : i + 1], lambda x, i=i: y[i], **labels)
        trial.should_ask(X)
        with intervals_of(COVERAGE):
            predict_outputs(trial, X)
        if not sp.issparse(X):
            trial.learn_one(X[0], y[0])
            trial.predict_one(X[0])


def family_of(estimator: Any, sparse: bool) -> Family | None:
    """What tells apart what runs on other compiled code, in words; None where nothing compiles.

    sparse : whether rows are CSR
    """
    if not isinstance(estimator, OnlineMachine):
        return None
    drawn = getattr(estimator.selection, "draws_updates", False)
    words = ["sparse" if sparse else "dense", "updates drawn" if drawn else "all updated"]
    words += [f"{part} {_kind(getattr(estimator, part))}" for part in PARTS]
    pool = pool_of(
        estimator.kernels, estimator.learner, estimator.combiner, estimator._of_numbers,
        MANY + 1 if sparse else 1, estimator.scaling,
    )  # fmt: skip
    for member in pool.members:
        words.append(_kind(member.learner))
        words += [f"{name} {_kind(getattr(member.learner, name, None))}" for name in TELLING]
    return frozenset(words)


def trials_of(estimators: Iterable[Any], X: Any, y: NDArray[Any], classes: Any) -> Trials:
    """What compiles each family of some learners, on a few of the rows; classes None of numbers."""
    few = few_rows(y)
    trials: dict[Family, Callable[[], None]] = {}
    for estimator in estimators:
        kind = family_of(estimator, sp.issparse(X))
        if kind is not None:
            trials.setdefault(kind, partial(warm_up, estimator, X[few], y[few], classes))
    return trials


def next_family(left: Iterable[Family], being_compiled: Collection[Family]) -> Family:
    """What to compile next: what has least in common with what is being compiled, else the longest.

    Two processes then seldom compile the same at the same time. What names more parts is taken to
    compile longer.
    """

    def rank(family: Family) -> tuple[int, int]:
        common = sum(len(family & other) for other in being_compiled)
        return common, -sum(not word.endswith("None") for word in family)

    return min(left, key=rank)


def _kind(part: Any) -> str:
    return part if isinstance(part, str) else "None" if part is None else type(part).__name__


def compile_trials(trials: Trials, crew: Crew, report: Reporter | None) -> int:
    """Run the trials, so that all is compiled and on disk; how many functions were compiled.

    Where all is in the disk cache, nothing is told. Else it is told several times a second, or
    here with each function, and None at the end.
    """
    order = list[Family]()
    while left := trials.keys() - order:
        order.append(next_family(left, order[len(order) - crew.size + 1 :] if order else ()))
    begun, reported, count = time.monotonic(), False, 0
    if crew.here:
        for number, family in enumerate(order):
            count += run_reported(trials[family], report, number, len(order))
        return count
    with TemporaryDirectory(prefix="kernbrook-", ignore_cleanup_errors=True) as folder:
        mark = Path(folder) / "compiling"  # which the first process leaves that compiles
        waiting = {
            call
            for family in order
            for call in crew.everywhere(partial(run_counted, trials[family], mark.touch))
        }
        parts = len(waiting)
        while waiting:
            done, waiting = wait(waiting, SILENCE if report else None, FIRST_COMPLETED)
            count += sum(call.result() for call in done)
            if report is not None and waiting and mark.exists():
                reported = True
                report(Compiling(time.monotonic() - begun, parts - len(waiting), parts))
    if reported and report is not None:
        report(None)
    return count


def run_reported(
    trial: Callable[[], Any], report: Reporter | None, ready: int = 0, parts: int = 1
) -> int:
    """Run a trial in this process; how many functions of ours it compiled. See `compile_trials`."""
    begun = time.monotonic()

    def announce() -> None:
        if report is not None:
            report(Compiling(time.monotonic() - begun, ready, parts))

    count = run_counted(trial, announce)
    if count and report is not None:
        report(None)
    return count


def run_counted(trial: Callable[[], Any], announce: Callable[[], Any]) -> int:
    """Run a trial; how many of our functions it compiled. `announce` is called before each."""
    listener = _Listener(announce)
    with install_listener("numba:compile", listener), first_use.reported_by_others():
        trial()
    return listener.compiled


class _Listener(Listener):
    def __init__(self, announce: Callable[[], Any]):
        self.compiled, self._announce = 0, announce

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.partition(".")[0] == "kernbrook":
            self.compiled += 1
            with suppress(OSError):  # whoever waited for it has gone
                self._announce()

    def on_end(self, event: Any) -> None:
        pass


def _trial(estimator: Any, classes: Any) -> tuple[Any, dict[str, Any]]:
    """A copy that draws from nobody else's generator, and what its `learn` is told of classes."""
    trial = clone(estimator)
    if isinstance(trial, OnlineMachine):
        trial.set_params(random_state=0)
    return trial, {} if task_of(estimator) == "regression" else {"classes": classes}


def in_order(
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    rounds: Callable[[Result], int],
    jobs: Jobs,
    advance: Callable[[int], None] | None,
    trials: Trials | None = None,
    report: Reporter | None = None,
) -> Iterator[Result]:
    """The results of some calls, in their order; several processes where there are several calls.

    function : of a call's arguments and `progress`, which is called with the rounds done since
    rounds : the number of rounds that a result took
    trials, report : what compiles first, see `compile_trials`
    """
    with crew_of(jobs, len(calls)) as crew:
        compile_trials(trials or {}, crew, report)
        for _, result in results(crew, function, calls, advance, rounds, ordered=True):
            yield result


AHEAD_ROWS = 12  # a grid's five folds need as many of each class


def compile_ahead(
    recipes: str | Sequence[str] = "all",
    jobs: int | None = None,
    compiling: Reporter | None = None,
) -> int:
    """Compile what recipes run on: dense and sparse rows, two classes and more, numbers.

    Parameters
    ----------
    recipes : names, in a list or in a text with commas, or "all"
    jobs : processes; one a core by default
    compiling : as `compare` has it

    Returns
    -------
    The number of functions compiled, by all processes; 0 where all was in the disk cache.
    """
    names = book.names() if recipes == "all" else each_name(recipes)
    if not names:
        raise InputError("recipes: expected one or more names, got none")
    trials: dict[Family, Callable[[], Any]] = {frozenset({"svmlight"}): _read}
    for name in names:
        machine = book.make(name)
        if book.batch(name):
            trials[frozenset({name})] = partial(_fit, machine)
            continue
        for sparse in (False, True):
            kind = family_of(machine, sparse)
            if kind is not None:
                trials.setdefault(kind, partial(_try, machine, sparse, book.task(name)))
    with crew_of(jobs, len(trials)) as crew:
        return compile_trials(trials, crew, compiling)


def _try(machine: Any, sparse: bool, task: str) -> None:
    for n_classes in (2, 3) if task == "classification" else (0,):
        X, y = _rows(n_classes)
        if sparse:  # so wide that they stay sparse where they are scaled
            X = sp.hstack([sp.csr_array(X), sp.csr_array((AHEAD_ROWS, LARGEST_FILLED))]).tocsr()
        try_out(machine, X, y, np.unique(y) if n_classes else None)


def _fit(machine: Any) -> None:
    X, y = _rows(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows are learned badly
        machine.fit(X, y).predict(X)


def _read() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "some.svm"
        path.write_text("1 1:0.5\n-1 2:0.5\n")
        open_stream(path).read()


def _rows(n_classes: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(AHEAD_ROWS, 3))
    return X, np.arange(AHEAD_ROWS) % n_classes if n_classes else X.sum(axis=1)
