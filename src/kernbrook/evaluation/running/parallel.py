"""Calls in this process, in several processes, or on a Dask cluster: one place decides.

Each call begins as soon as what it runs on is compiled. Seeds and results do not depend on who
makes a call.
"""

from __future__ import annotations

import atexit
import os
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kernbrook.errors import InputError
from kernbrook.evaluation.running.orders import check_count
from kernbrook.evaluation.running.warming import Family, Tell, Trials, Watch, next_family
from kernbrook.gram.sums import available_cores

Result = TypeVar("Result")
Jobs = int | str | None

THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
PATIENCE = 60  # seconds that a cluster has to show its first worker
LARGE = 1 << 20  # bytes of an array that several calls may have
AHEAD = 2  # calls for each process that are handed over before they can begin


class Call(NamedTuple):
    """A function with its arguments, the name of its result, and what has to be compiled for it."""

    name: Hashable
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    family: Family | None


class Crew:
    """This process: whoever makes calls.

    Attributes
    ----------
    size : calls at a time
    here : whether they are made by this process, as they are asked for
    """

    size, here = 1, True
    begun: tuple[Future[Any], ...] = ()  # and not known to be done

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        pass

    def share(self, value: Any) -> Any:
        """What to give as an argument instead of a large value, to each of many calls."""
        return value

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a call."""
        raise NotImplementedError

    def everywhere(self, function: Callable[[], Any]) -> list[Future[Any]]:
        """Begin a call on each machine: each has compiled code of its own."""
        return [self.submit(function)]

    def _noted(self, call: Future[Any]) -> Future[Any]:
        self.begun = (*(one for one in self.begun if not one.done()), call)
        return call


class Processes(Crew):
    """Processes that stay for the next call, joblib's own; together they have a thread a core."""

    here = False

    def __init__(self, jobs: int):
        from joblib.executor import get_memmapping_executor

        threads = str(max(1, available_cores() // jobs))
        inside = {name: os.environ.get(name, threads) for name in THREADS}
        self.size = jobs
        self._executor = get_memmapping_executor(jobs, timeout=300, env=inside)
        self._folder = TemporaryDirectory(prefix="kernbrook-", ignore_cleanup_errors=True)
        self._shared = 0
        self._filters = warnings.catch_warnings()

    def __enter__(self) -> Processes:
        self._filters.__enter__()
        # Compiling takes memory, and loky replaces a process that takes much more than before.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            _wait_until_begun(self.begun)
            self._executor.shutdown(wait=True, kill_workers=True)
        self._folder.cleanup()
        self._filters.__exit__(kind, error, trace)

    def share(self, value: Any) -> Any:
        from joblib import dump

        self._shared += 1  # a process may still hold what is in the file before
        path = Path(self._folder.name) / f"shared-{self._shared}"
        dump(value, path)
        return Stored(str(path))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._noted(self._executor.submit(_called, function, arguments))


class Stored(NamedTuple):
    """A value in a file."""

    path: str


@lru_cache(maxsize=1)
def _held(path: str) -> Any:
    """What is in a file, shared by the processes that use it."""
    from joblib import load

    return load(path, mmap_mode="r")


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*(_held(one.path) if isinstance(one, Stored) else one for one in arguments))


def _wait_until_begun(calls: Iterable[Future[Any]]) -> None:
    """A thread of joblib's prints a KeyError where calls are dropped before it has seen them."""
    end = time.monotonic() + 1.0
    while time.monotonic() < end and not all(one.running() or one.done() for one in calls):
        time.sleep(0.001)


class Cluster(Crew):
    """The workers of a Dask cluster. What a killed worker was to do, others do.

    Parameters
    ----------
    address : such as tcp://10.0.0.1:8786, or local:4 for so many processes of this machine; or a
        client of Dask
    """

    here = False

    def __init__(self, address: Any):
        self.client = client_of(address) if isinstance(address, str) else address
        workers: dict[str, int] = self.client.nthreads()
        self.size = sum(workers.values())
        self._sent: dict[int, tuple[Any, Any]] = {}
        self._machines: dict[str, list[str]] = {}
        for name in workers:
            self._machines.setdefault(name.rpartition(":")[0], []).append(name)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        for one in self.begun:
            one.cancel()

    def share(self, value: Any) -> Any:
        """As a result that the scheduler can make again: what is scattered goes with a worker."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(_same, value, pure=False)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._submit({}, function, *map(self._once, arguments))

    def _once(self, value: Any) -> Any:
        """A large array goes to the cluster once, whatever calls have it."""
        if not isinstance(value, np.ndarray) or value.nbytes < LARGE:
            return value
        if id(value) not in self._sent:  # which keeps the array, and so its id
            self._sent[id(value)] = value, self.share(value)
        return self._sent[id(value)][1]

    def everywhere(self, function: Callable[[], Any]) -> list[Future[Any]]:
        return [
            self._submit({"workers": own, "allow_other_workers": True}, function)
            for own in self._machines.values()
        ]

    def _submit(self, where: Any, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        executor = self.client.get_executor(pure=False, **where)
        return self._noted(executor.submit(function, *arguments))


def _same(value: Any) -> Any:
    return value


_clients: dict[str, Any] = {}


def client_of(address: str) -> Any:
    """A client of a Dask cluster, for as long as it is connected; see `Cluster`.

    Raises
    ------
    InputError
        Dask is not installed, the address is none, or nobody answers there.
    """
    known = _clients.get(address)
    if known is not None and known.status == "running":
        return known
    _clients[address] = _connected(address)
    return _clients[address]


def _connected(address: str) -> Any:
    kind, _, number = address.partition(":")
    if kind == "local" and not (number.isdigit() and int(number) > 0):
        raise InputError(f"scheduler: expected local:N with N from 1, got {address!r}")
    if not number:
        raise InputError(f"scheduler: expected local:N or an address like tcp://HOST:PORT, got "
                         f"{address!r}")  # fmt: skip
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError(
            'scheduler: Dask is not installed; run pip install ".[dask]" in kernbrook\'s folder'
        ) from error
    local = None
    if kind == "local":
        local = LocalCluster(
            n_workers=int(number), threads_per_worker=1, dashboard_address="127.0.0.1:0"
        )
        atexit.register(local.close)
    try:
        client = Client(local or address, timeout=PATIENCE, set_as_default=False)
        client.wait_for_workers(1, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"scheduler: no cluster with workers at {address}: {error}") from error
    atexit.register(client.close)
    return client


def crew_of(jobs: Jobs, calls: int) -> Crew:
    """Who makes so many calls; jobs : processes, one a core where None, or a cluster's address."""
    if isinstance(jobs, str):
        return Cluster(jobs)
    size = max(1, min(jobs or available_cores(), calls))
    return Crew() if size == 1 else Processes(size)


def check_jobs(jobs: Jobs) -> None:
    """InputError where it is no number of processes, nor text."""
    if jobs is not None and not isinstance(jobs, str):
        check_count("jobs", jobs, 1)


def run_all(
    trials: Trials, calls: Sequence[Call], crew: Crew, tell: Tell | None
) -> Iterator[tuple[Hashable, Any]]:
    """The results of calls by name, as they come, and by family what `heard` gives of its trial.

    Parameters
    ----------
    trials : by family. A family without a trial is ready
    calls : those of a family wait for its trial. In this process they keep their order
    crew : who makes them
    tell : see `Watch`
    """
    with Watch(tell, len(trials)) as watch:
        yield from (
            _here(trials, calls, watch) if crew.here else _elsewhere(trials, calls, crew, watch)
        )


def in_order(
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    rounds: Callable[[Result], int],
    jobs: Jobs,
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
    jobs : see `crew_of`
    advance : called with the number of rounds done since its last call
    trials : what compiles first
    tell : see `Watch`
    """
    with crew_of(jobs, len(calls)) as crew:
        for _ in run_all(trials or {}, [], crew, tell):
            pass
        if crew.here:
            for call in calls:
                yield function(*call, progress=advance)
            return
        left = iter(calls)
        begun = deque(crew.submit(function, *call) for call in islice(left, AHEAD * crew.size))
        while begun:
            result = begun.popleft().result()
            begun.extend(crew.submit(function, *call) for call in islice(left, 1))
            if advance is not None:
                advance(rounds(result))
            yield result


def _here(trials: Trials, calls: Sequence[Call], watch: Watch) -> Iterator[tuple[Hashable, Any]]:
    left = dict(trials)

    def tried(family: Family) -> tuple[Hashable, Any]:
        return family, watch.run(left.pop(family))

    for name, function, arguments, family in calls:
        if family in left:
            yield tried(family)
        yield name, function(*arguments)
    while left:
        yield tried(next_family(left, ()))


def _elsewhere(
    trials: Trials, calls: Sequence[Call], crew: Crew, watch: Watch
) -> Iterator[tuple[Hashable, Any]]:
    """A free process takes a call that is ready, else the next trial."""
    to_try = list(trials)
    ready = deque(call for call in calls if call.family not in trials)
    running: dict[Future[Any], Hashable] = {}
    trying: dict[Future[Any], Family] = {}  # some families on several machines
    compiled: Counter[Family] = Counter()
    while to_try or ready or running:
        while len(running) < crew.size and (ready or to_try):
            if ready:
                call = ready.popleft()
                running[crew.submit(call.function, *call.arguments)] = call.name
            else:
                family = next_family(to_try, trying.values())
                to_try.remove(family)
                for future in crew.everywhere(watch.begin(trials[family])):
                    running[future] = trying[future] = family
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            name, result = running.pop(future), future.result()
            if future not in trying:
                yield name, result
                continue
            family = trying.pop(future)
            compiled[family] += result
            if family not in trying.values():
                watch.end()
                ready.extend(call for call in calls if call.family == family)
                yield family, compiled[family]
