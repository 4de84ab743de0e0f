"""Calls in several processes, each as soon as what it runs on is compiled."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from kernbrook.evaluation.warming import Family, Tell, Trials, Watch, next_family
from kernbrook.gram.sums import available_cores

Result = TypeVar("Result")

THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


class Call(NamedTuple):
    """A function without arguments, the name of its result, and what has to be compiled for it."""

    name: Hashable
    function: Callable[[], Any]
    family: Family | None


def run_all(
    trials: Trials,
    calls: Sequence[Call],
    jobs: int,
    tell: Tell | None,
) -> Iterator[tuple[Hashable, Any]]:
    """The results of calls by name, as they come, and by family what `heard` gives of its trial.

    Parameters
    ----------
    trials : by family. A family without a trial is ready
    calls : those of a family wait for its trial. In one process they keep their order
    jobs : processes; 1 for this one alone
    tell : see `Watch`
    """
    jobs = max(1, min(jobs, max(len(trials), len(calls))))
    with Watch(tell, len(trials)) as watch:
        yield from (_here if jobs == 1 else _elsewhere)(trials, calls, jobs, watch)


def in_order(
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    rounds: Callable[[Result], int],
    jobs: int | None,
    advance: Callable[[int], None] | None,
    trials: Trials | None = None,
    tell: Tell | None = None,
) -> Iterator[Result]:
    """The results of some calls, in their order; several processes where there are several calls.

    Parameters
    ----------
    function : of a call's arguments and `progress`
    calls : the arguments of each
    rounds : the number of rounds that a result took
    jobs : processes; one a core where None
    advance : called with the number of rounds done since its last call
    trials : what compiles first
    tell : see `Watch`
    """
    jobs = max(1, min(jobs or available_cores(), len(calls)))
    trials = trials or {}
    with Watch(tell, len(trials)) as watch:
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


def _here(
    trials: Trials, calls: Sequence[Call], jobs: int, watch: Watch
) -> Iterator[tuple[Hashable, Any]]:
    left = dict(trials)

    def tried(family: Family) -> tuple[Hashable, Any]:
        return family, watch.run(left.pop(family))

    for name, function, family in calls:
        if family in left:
            yield tried(family)
        yield name, function()
    while left:
        yield tried(next_family(left, ()))


def _elsewhere(
    trials: Trials, calls: Sequence[Call], jobs: int, watch: Watch
) -> Iterator[tuple[Hashable, Any]]:
    """A free process takes a call that is ready, else the next trial."""
    executor = _executor(jobs)
    to_try = list(trials)
    ready = deque(call for call in calls if call.family not in trials)
    running: dict[Future[Any], Hashable] = {}
    trying: dict[Future[Any], Family] = {}
    try:
        while to_try or ready or running:
            while len(running) < jobs and (ready or to_try):
                if ready:
                    call = ready.popleft()
                    running[executor.submit(call.function)] = call.name
                else:
                    family = next_family(to_try, trying.values())
                    to_try.remove(family)
                    future = executor.submit(watch.begin(trials[family]))
                    running[future] = trying[future] = family
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                if future in trying:
                    del trying[future]
                    watch.end()
                    ready.extend(call for call in calls if call.family == name)
                yield name, future.result()
    except BaseException:
        _wait_until_begun(running)
        executor.shutdown(wait=True, kill_workers=True)
        raise


def _wait_until_begun(calls: Iterable[Future[Any]]) -> None:
    """A thread of joblib's prints a KeyError where calls are dropped before it has seen them."""
    end = time.monotonic() + 1.0
    while time.monotonic() < end and not all(one.running() or one.done() for one in calls):
        time.sleep(0.001)


def _executor(jobs: int) -> Any:
    """Processes that stay for the next call, joblib's own; together they have a thread a core."""
    from joblib.executor import get_memmapping_executor

    threads = str(max(1, available_cores() // jobs))
    inside = {name: os.environ.get(name, threads) for name in THREADS}
    return get_memmapping_executor(jobs, timeout=300, env=inside)
