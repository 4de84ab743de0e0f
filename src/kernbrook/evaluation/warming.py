"""Compiled code before the clock: compiled once for a machine, loaded once for a process."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook._jit.freshness import functions_on_disk
from kernbrook.errors import NonFiniteError
from kernbrook.models.machine import OnlineMachine
from kernbrook.models.tasks import task_of

ROWS = 8  # that a trial learns at most

COMPILING = 16  # processor seconds to compile what a learner runs on


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


def warm_up(estimator: Any, X: Any, y: NDArray[Any], classes: Any = None) -> None:
    """A copy of one of our learners learns some rows: all that it runs on is compiled, and loaded.

    Those of others pass as they are: they compile nothing that we know of.
    """
    if not isinstance(estimator, OnlineMachine):
        return
    trial, labels = _trial(estimator, classes)
    with suppress(NonFiniteError):  # the run itself will say it again
        for _ in range(2):  # the second time with support vectors
            trial.learn(X, y, **labels)


def compile_together(
    estimators: Sequence[Any],
    X: Any,
    y: NDArray[Any],
    classes: Any,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """Compile what several learners run on, each part once, by several processes.

    Parameters
    ----------
    X, y, classes : a few rows of the data, and all labels; None of numbers
    say : called with one line, as soon as there is anything to compile
    """
    leaders: dict[Any, tuple[int, Any]] = {}
    for estimator in estimators:
        if isinstance(estimator, OnlineMachine):
            code, seconds = _compiled_for(estimator, X.shape[1], classes)
            leaders.setdefault(code, (seconds, estimator))
    # The longest first: it is on its way when the others come to what they share with it.
    in_turn = sorted(leaders.values(), key=lambda leader: -leader[0])
    if not in_turn:
        return
    from joblib import Parallel, delayed

    jobs = min(jobs, len(in_turn))
    costs = [seconds for seconds, _ in in_turn]
    expected = max(costs[0], sum(costs) / jobs)
    with _watching(lambda: say(f"compiling, once for this machine: about {expected:.0f} s")):
        calls = (delayed(warm_up)(estimator, X, y, classes) for _, estimator in in_turn)
        Parallel(n_jobs=jobs, batch_size=1)(calls)


def _compiled_for(estimator: OnlineMachine, width: int, classes: Any) -> tuple[Hashable, int]:
    """What tells apart what runs on other compiled code, and the seconds that compiling takes."""
    trial, labels = _trial(estimator, classes)
    if labels:
        trial.classes_ = classes
    trial._new_run(width, False, 0)
    return "model", COMPILING


def _trial(estimator: OnlineMachine, classes: Any) -> tuple[OnlineMachine, dict[str, Any]]:
    """A copy that draws from nobody else's generator, and what its `learn` is told of classes."""
    trial: OnlineMachine = clone(estimator).set_params(random_state=0)
    return trial, {} if task_of(estimator) == "numbers" else {"classes": classes}


@contextmanager
def _watching(say: Callable[[], None]) -> Iterator[None]:
    """Says so once when compiled code arrives in the disk cache, from whatever process."""
    before, over = functions_on_disk(), Event()

    def watch() -> None:
        while not over.wait(0.2):
            if functions_on_disk() > before:
                say()
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
