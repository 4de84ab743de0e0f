"""Calls in this process, in several processes, or on a Dask cluster: one place decides.

Seeds and results do not depend on who makes a call.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import check_count
from kernbrook.errors import DataFileError, InputError, cut
from kernbrook.gram.sums import available_cores
from kernbrook.telling import in_words


def state_of(seed: int, run: int) -> int:
    """The random_state of the recipes in that run."""
    return int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0] >> 1)


def orders_of(
    given: NDArray[np.int64] | None, permutations: int | None, seed: int, n: int
) -> NDArray[np.int64]:
    """(p, n) the orders that `compare` takes the n rows in: those given, or seeded ones."""
    if given is None:
        rngs = [np.random.default_rng([seed, run]) for run in range(permutations or 20)]
        return np.array([rng.permutation(n) for rng in rngs])
    given = np.atleast_2d(given)
    if (
        given.dtype.kind not in "iu"
        or given.shape[1:] != (n,)
        or not (np.sort(given, axis=1) == np.arange(n)).all()
    ):
        raise InputError(
            f"orders: expected permutations of 0..{n - 1}, one a row, got shape {given.shape} "
            f"of {given.dtype}"
        )
    if permutations is not None and permutations > len(given):
        raise InputError(f"orders: {permutations} permutations wanted, only {len(given)} given")
    return given[:permutations]


def load_orders(path: str | Path, name: str) -> NDArray[np.int64]:
    """The orders of one data set in an .npz file of (p, n) integer arrays by name."""
    if not Path(path).is_file():
        exists = Path(path).exists()
        raise DataFileError(path, "it is not an ordinary file" if exists else "no such file")
    if not zipfile.is_zipfile(path):
        raise DataFileError(path, "expected an .npz file of orders, found something else")
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {key: archive[key] if key == name else None for key in archive.files}
    except Exception as error:
        raise DataFileError(path, f"not a readable .npz file: {error}") from None
    if (orders := found.get(name)) is None:
        raise DataFileError(path, f"no orders named {name!r}; it has {cut(', '.join(found), 1000)}")
    if orders.ndim != 2 or orders.dtype.kind not in "iu":
        raise DataFileError(
            path, f"{name}: expected a (p, n) integer array, got {orders.shape} {orders.dtype}"
        )
    return orders.astype(np.int64)


Result = TypeVar("Result")
Jobs = int | str | None

THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
PATIENCE = 60  # seconds that a cluster has to show its first worker
LARGE = 1 << 20  # bytes of an array that several calls may have
AHEAD = 2  # calls for each process that are handed over before they can begin


class Crew:
    """Workers that make calls, `size` at a time; here the process itself, as results are asked."""

    size, here = 1, True

    def __init__(self) -> None:
        self.begun: list[Future[Any]] = []  # and not known to be done
        self._sent: dict[int, tuple[Any, Any]] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        pass

    def share(self, value: Any) -> Any:
        """What to give as an argument instead of a large value, to each of many calls."""
        return value

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a call; a large array is handed over once, whatever calls have it."""
        call = self._submit(function, *map(self._once, arguments))
        self.begun = [*(call for call in self.begun if not call.done()), call]
        return call

    def everywhere(self, function: Callable[[], Any]) -> list[Future[Any]]:
        """Begin a call on each machine: each has compiled code of its own."""
        return [self.submit(function)]

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        raise NotImplementedError

    def _once(self, value: Any) -> Any:
        held = value.data if sp.issparse(value) else value
        if not isinstance(held, np.ndarray) or held.nbytes < LARGE:
            return value
        if id(value) not in self._sent:  # which keeps the array, and so its id
            self._sent[id(value)] = value, self.share(value)
        return self._sent[id(value)][1]


class Processes(Crew):
    """Processes that stay for the next call, joblib's own; together they have a thread a core."""

    here = False

    def __init__(self, jobs: int):
        from joblib.executor import get_memmapping_executor

        super().__init__()
        threads = str(max(1, available_cores() // jobs))
        inside = {name: os.environ.get(name, threads) for name in THREADS}
        self.size = jobs
        self._executor = get_memmapping_executor(jobs, timeout=300, env=inside, max_nbytes=None)
        self._folder = TemporaryDirectory(prefix="kernbrook-", ignore_cleanup_errors=True)
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

        path = Path(self._folder.name) / f"shared-{len(self._sent)}"
        dump(value, path)
        return Stored(str(path))

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._executor.submit(_called, function, arguments)


class Stored(NamedTuple):
    """A value in a file, which the processes that use it share."""

    path: str


@lru_cache(maxsize=4)
def _held(path: str) -> Any:
    from joblib import load

    return load(path, mmap_mode="r")


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.showwarning = _show
        return function(*(_held(arg.path) if isinstance(arg, Stored) else arg for arg in arguments))


@cache
def _say(line: str) -> None:
    """Once in a process: of many runs each would say it."""
    print(line, file=sys.stderr)


def _show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    for line in in_words(message, category):
        _say(line)


def _wait_until_begun(calls: Sequence[Future[Any]]) -> None:
    """A thread of joblib's prints a KeyError where calls are dropped before it has seen them."""
    end = time.monotonic() + 1.0
    while time.monotonic() < end and not all(call.running() or call.done() for call in calls):
        time.sleep(0.001)


class Cluster(Crew):
    """The workers of a Dask cluster. What a killed worker was to do, others do.

    address : such as tcp://10.0.0.1:8786, or local:4 for so many processes of this machine; or a
        client of Dask
    """

    here = False

    def __init__(self, address: Any):
        super().__init__()
        self.client = client_of(address) if isinstance(address, str) else address
        workers: dict[str, int] = self.client.nthreads()
        self.size = sum(workers.values())
        self._machines: dict[str, list[str]] = {}
        for name in workers:
            self._machines.setdefault(name.rpartition(":")[0], []).append(name)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        for call in self.begun:
            call.cancel()

    def share(self, value: Any) -> Any:
        """As a result that the scheduler can make again: what is scattered goes with a worker."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(_same, value, pure=False)

    def everywhere(self, function: Callable[[], Any]) -> list[Future[Any]]:
        return [
            self._submit(function, workers=machine, allow_other_workers=True)
            for machine in self._machines.values()
        ]

    def _submit(self, function: Callable[..., Any], *arguments: Any, **where: Any) -> Future[Any]:
        return self.client.get_executor(pure=False, **where).submit(function, *arguments)


def _same(value: Any) -> Any:
    return value


_clients: dict[str, Any] = {}


def client_of(address: str) -> Any:
    """A client of a Dask cluster, for as long as it is connected; see `Cluster`."""
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
        raise InputError(
            f"scheduler: expected local:N or an address like tcp://HOST:PORT, got {address!r}"
        )
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


def results(
    crew: Crew,
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    advance: Callable[[int], None] | None = None,
    rounds: Callable[[Result], int] = lambda _: 0,
    ordered: bool = False,
) -> Iterator[tuple[int, Result]]:
    """The results of a function, each with its call's number: as they come, or in their order.

    advance : called with the rounds done since its last call: here by the function itself, as its
        `progress`, else with the rounds that a result took
    """
    if crew.here:
        inside = function if advance is None else partial(function, progress=advance)
        yield from ((number, inside(*call)) for number, call in enumerate(calls))
        return
    left, running = iter(enumerate(calls)), dict[Future[Any], int]()

    def begin(count: int) -> None:
        for number, call in islice(left, count):
            running[crew.submit(function, *call)] = number

    begin(AHEAD * crew.size)
    while running:
        done = {next(iter(running))} if ordered else wait(running, None, FIRST_COMPLETED).done
        for future in done:
            result = future.result()
            number = running.pop(future)
            begin(1)
            if advance is not None:
                advance(rounds(result))
            yield number, result
