"""Compiled code before the clock: compiled once for a machine, loaded once for a process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba.core.event import Listener, install_listener
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.compiler.compiling import first_use
from kernbrook.errors import KernbrookError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.confidence import intervals_of
from kernbrook.estimators.outside import OutsideMachine
from kernbrook.estimators.pool import MANY, pool_of
from kernbrook.estimators.tasks import read, task_of
from kernbrook.evaluation.measures import COVERAGE

ROWS = 8  # that a trial learns at most

# Parameters of a learner that choose compiled code by their type; an upkeep by its name.
TELLING = ("budget", "features", "upkeep")
PARTS = ("combiner", "selection", "labels")
SILENCE = 0.2  # seconds between two looks


Family = frozenset[str]
Trials = Mapping[Family, Callable[[], Any]]


class Compiling(NamedTuple):
    """How far compiling is.

    Attributes
    ----------
    seconds : since it began
    ready : parts that are compiled, out of `parts`
    parts : what is compiled one by one, by one process each
    """

    seconds: float
    ready: int
    parts: int


Tell = Callable[[Compiling | None], None]


def few_rows(y: NDArray[Any]) -> NDArray[np.int64]:
    """Row numbers for a trial: different labels, so that something is learned from them.

    Examples
    --------
    >>> few_rows(np.array(["a", "a", "b", "a"]))
    array([0, 2])
    """
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
            read(trial, X)


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
            read(trial, X)
        if not sp.issparse(X):
            trial.learn_one(X[0], y[0])
            trial.predict_one(X[0])


def family(estimator: Any, sparse: bool) -> Family | None:
    """What tells apart what runs on other compiled code, in words; None where nothing compiles.

    Parameters
    ----------
    estimator : any, by its public parameters
    sparse : whether rows are CSR

    Examples
    --------
    >>> import kernbrook as kb
    >>> one, other = kb.recipes.make("omkc-dd"), kb.recipes.make("omkc-ds")
    >>> family(one, False) == family(other, False)
    True
    >>> family(one, False) == family(one, True)
    False
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
        one = family(estimator, sp.issparse(X))
        if one is not None:
            trials.setdefault(one, partial(warm_up, estimator, X[few], y[few], classes))
    return trials


def next_family(left: Iterable[Family], being_compiled: Collection[Family]) -> Family:
    """What to compile next: what has least in common with what is being compiled, else the longest.

    Two processes then seldom compile the same at the same time. What names more parts is taken to
    compile longer.
    """

    def rank(one: Family) -> tuple[int, int]:
        common = sum(len(one & other) for other in being_compiled)
        return common, -sum(not word.endswith("None") for word in one)

    return min(left, key=rank)


def _kind(part: Any) -> str:
    """Its type, or the text itself."""
    return part if isinstance(part, str) else "None" if part is None else type(part).__name__


class Watch:
    """Tells how far compiling is, several times a second, and None as soon as it has stopped.

    It begins with the first function that a trial compiles, in whatever process: where all is in
    the disk cache, nothing is told.

    Parameters
    ----------
    tell : called from another thread; None to tell nobody
    parts : the number of trials
    """

    def __init__(self, tell: Tell | None, parts: int = 1):
        self._tell, self._parts = tell, parts
        self._ready = self._working = 0
        self._over = Event()
        self._folder = TemporaryDirectory(prefix="kernbrook-", ignore_cleanup_errors=True)
        self._mark = Path(self._folder.name) / "compiling"
        self._thread = Thread(target=self._watch, daemon=True)

    def begin(self, trial: Callable[[], Any]) -> Callable[[], int]:
        """The trial, as it is to be called in some process: `heard`. `end` follows."""
        self._working += 1
        return partial(heard, trial, self._mark)

    def end(self) -> None:
        self._working -= 1
        self._ready += 1

    def run(self, trial: Callable[[], Any]) -> int:
        """Run a trial here, as `heard` does."""
        try:
            return self.begin(trial)()
        finally:
            self.end()

    def __enter__(self) -> Watch:
        if self._tell is not None and self._parts:
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._folder.cleanup()

    def _watch(self) -> None:
        assert self._tell is not None
        begun, told, seconds, last = False, False, 0.0, 0.0
        while not self._over.wait(SILENCE):
            now = time.monotonic()
            if self._working and (begun or self._mark.exists()):
                seconds += now - last if begun else 0.0
                begun = told = True
                self._tell(Compiling(seconds, self._ready, self._parts))
            elif told:
                told = False
                self._tell(None)
            last = now
        if told:
            self._tell(None)


def watched(trial: Callable[[], Any], tell: Tell | None) -> None:
    """Run one trial in this process; see `Watch`."""
    with Watch(tell) as watch:
        watch.run(trial)


def heard(trial: Callable[[], Any], mark: Path) -> int:
    """Run a trial; how many of our functions it compiled. The first one leaves a mark, a file."""
    listener = _Listener(mark)
    with install_listener("numba:compile", listener), first_use.told_by_others():
        trial()
    return listener.compiled


class _Listener(Listener):
    def __init__(self, mark: Path):
        self.compiled, self._mark = 0, mark

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.partition(".")[0] == "kernbrook":
            self.compiled += 1
            with suppress(OSError):  # whoever waited for it has gone
                self._mark.touch()

    def on_end(self, event: Any) -> None:
        pass


def _trial(estimator: Any, classes: Any) -> tuple[Any, dict[str, Any]]:
    """A copy that draws from nobody else's generator, and what its `learn` is told of classes."""
    trial = clone(estimator)
    if isinstance(trial, OnlineMachine):
        trial.set_params(random_state=0)
    return trial, {} if task_of(estimator) == "regression" else {"classes": classes}
