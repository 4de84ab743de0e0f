"""Sums of kernels between support vectors and a block, by threads."""

from __future__ import annotations

import os
from _thread import get_ident, start_new_thread
from collections.abc import Callable as Function
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from queue import SimpleQueue
from time import sleep
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import Block, Rows
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.values import add_points
from kernbrook.turns import caller, working_for

BLOCK = 512  # examples processed together
LANES = 256  # the most that a thread takes at a time: its sums stay in its caches
TILE = 256  # support vectors, and more of fewer lanes: together what a second-level cache holds
WORTH_A_THREAD = 1 << 17  # pairs in a block below which threads cost more than they save


@cache
def _linear_algebra() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_thread() -> AbstractContextManager[Any]:
    """NumPy's and SciPy's linear algebra on one thread, inside this.

    For small matrices several threads take 2 to 14 times as long, and 200 times where other
    processes are at work.
    """
    return _linear_algebra().limit(limits=1)


@cache
def _workers(process: int, threads: int) -> SimpleQueue[Function[[], None]]:
    """What threads do, one call after the other, as long as the process; a fork makes its own.

    Nothing here holds a lock in Python: Ctrl-C in an executor of the standard library can leave one
    locked, and the process never ends.
    """
    calls: SimpleQueue[Function[[], None]] = SimpleQueue()

    def work() -> None:
        while True:
            calls.get()()

    for _ in range(threads):
        start_new_thread(work, ())
    return calls


def _wished_threads() -> int:
    """OMP_NUM_THREADS if set, else one a core."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    return int(wished) if wished.isdigit() and int(wished) > 0 else available_cores()


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(work: int) -> int:
    """Threads for so many kernel values, or what takes as long."""
    return 1 if work < WORTH_A_THREAD else _wished_threads()


def share(
    threads: int, work: Function[[Any], Any], parts: Sequence[Any], to_the_end: bool = False
) -> list[Any]:
    """[work(part) for part in parts], by several threads; one of these shares no further.

    to_the_end : an interruption waits for what the threads have begun
    """
    if threads == 1 or len(parts) == 1 or caller() != get_ident():
        return [work(part) for part in parts]
    wanted, me = [True], caller()
    done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
    begun: list[int] = []
    ended: list[int] = []

    def one(i: int) -> None:
        begun.append(i)
        try:
            with working_for(me):  # whose model is in use
                done.put((i, work(parts[i]) if wanted else None, None))
        except BaseException as error:
            done.put((i, None, error))
        finally:
            ended.append(i)

    calls = _workers(os.getpid(), threads)
    results: list[Any] = [None] * len(parts)
    try:
        for i in range(len(parts)):
            calls.put(partial(one, i))
        for _ in parts:
            i, results[i], error = done.get()
            if error is not None:
                raise error
    finally:
        wanted.clear()
        while to_the_end and len(ended) < len(begun):  # no others begin
            sleep(1e-4)
    return results


class KernelSums:
    """The kernels between support vectors and a block.

    kernels : (o,) the kernel of each output, for error messages; layout : of these
    """

    def __init__(self, kernels: tuple[Kernel, ...], layout: Layout):
        self.kernels = kernels
        self.outputs = int(layout.plan.output.max()) + 1
        self.layout = layout

    def sums(self, support: StoredPoints, rows: Rows) -> tuple[Floats, Floats]:
        """Kernel sums of the support vectors, and of their terms' sizes, (o, b) each."""
        b = len(rows)
        threads = self.threads(support.n * b)
        lanes = min(-(-b // (16 * threads)) * 16, LANES)  # whole vectors
        parts = [rows.part(lo, min(lo + lanes, b)) for lo in range(0, b, lanes)]
        results = share(threads, partial(self._lane_sums, support), parts)
        scores, sizes = (np.concatenate(sums, axis=1) for sums in zip(*results, strict=True))
        return scores, sizes

    def threads(self, pairs: int) -> int:
        """Threads for work on so many pairs; Python kernels are computed in turn."""
        in_turn = not all(kernel.by_threads for kernel in self.layout.given)
        return 1 if in_turn else threads_for(pairs)

    def _lane_sums(self, support: StoredPoints, rows: Rows) -> tuple[Floats, Floats]:
        """`sums` for the examples that one thread takes."""
        b = len(rows)
        block = Block(rows, self.layout)
        n, points, coefficients = support.n, support.rows, support.coefficients
        scores = np.zeros((self.outputs, b))
        sizes = np.zeros_like(scores)
        channels, size = len(self.layout.channels), TILE * max(1, LANES // max(b, 1))
        memory = np.empty(channels * min(n, size) * b)
        values = np.empty((2, b))
        for start in range(0, n, size):
            part = points.part(start, min(start + size, n))
            tile = memory[: channels * len(part) * b].reshape(channels, len(part), b)
            block.pairs(part, tile)
            add_points(
                self.layout.plan, tile, 0, len(part), 0, b,
                coefficients[start : start + len(part)], scores, sizes, values,
            )  # fmt: skip
        return scores, sizes

    def check_finite(self, sizes: Floats) -> None:
        """Raise NonFiniteError, naming the kernel, where sums of sizes (o, b) have overflowed."""
        finite = np.isfinite(sizes).all(axis=1)
        if not np.all(finite):
            kernel = self.kernels[int(np.argmin(finite)) * len(self.kernels) // self.outputs]
            raise NonFiniteError(
                f"kernel {kernel}: its sums overflowed; scale the features, or lower its degree"
            )
