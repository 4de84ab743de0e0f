"""Work shared among threads: in order, with its errors, and Ctrl-C at any moment."""

import os
import signal
import threading
import tracemalloc

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.engine import deciding
from kernbrook.engine.learning import run_passes
from kernbrook.gram.sums import share


def test_results_come_in_the_order_of_the_parts():
    threads = set()

    def work(part):
        threads.add(threading.get_ident())
        return part * part

    assert share(2, work, range(100)) == [part * part for part in range(100)]
    assert threading.get_ident() not in threads


def test_what_is_shared_may_share_again():
    """All threads may be at work for it already."""
    done = []
    parts = [2, 2, 2, 2]

    def work():
        done.append(share(2, lambda _: share(2, lambda part: part + 1, parts), parts))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert done == [[[3, 3, 3, 3]] * 4]


def test_an_error_comes_out_and_the_threads_go_on():
    def work(part):
        if part == 3:
            raise ValueError("three")
        return part

    for _ in range(5):
        with pytest.raises(ValueError, match="three"):
            share(2, work, range(6))
    assert share(2, work, range(3)) == [0, 1, 2]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    share(2, str, range(4))
    child = os.fork()
    if child == 0:
        os._exit(share(2, str, range(4)) != ["0", "1", "2", "3"])
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer here")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupted_at_any_moment():
    """An error in a callback of the garbage collector, such as hypothesis has, goes nowhere."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    rng, interrupted = np.random.default_rng(0), 0
    try:
        for _ in range(500):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 3e-4))
                    for _ in range(20):
                        assert share(2, str, range(4)) == ["0", "1", "2", "3"]
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 50
    assert share(2, str, range(4)) == ["0", "1", "2", "3"]


@pytest.mark.parametrize(("kernels", "blocks"), [(1, 8), (20, 4)])
def test_many_threads_read_few_blocks_at_a_time(kernels, blocks, monkeypatch):
    """What a block is read with, such as features of all kernels, takes memory."""
    X = np.random.default_rng(0).normal(size=(5000, 2))
    pool = [kb.Gaussian(sigma=1 + i) for i in range(kernels)]
    model = kb.OnlineMKClassifier(pool, kb.Ridge(features=kb.RandomFeatures(2)), random_state=0)
    model.partial_fit(X[:20], X[:20, 0] > 0)
    monkeypatch.setattr(deciding, "threads_for", lambda work: 1)
    alone, found = model.decision_function(X), []
    monkeypatch.setattr(deciding, "threads_for", lambda work: 64)
    monkeypatch.setattr(
        deciding,
        "run_passes",
        lambda model, some, clock: found.append(len(some)) or run_passes(model, some, clock),
    )
    np.testing.assert_array_equal(model.decision_function(X), alone)
    assert max(found) == blocks


def test_blocks_that_were_read_take_no_memory(monkeypatch):
    monkeypatch.setattr(deciding, "threads_for", lambda work: 1)
    X = np.random.default_rng(0).normal(size=(4096, 2))
    model = kb.OnlineMKClassifier(
        [kb.Gaussian(sigma=1)], kb.Ridge(features=kb.RandomFeatures(200)), random_state=0
    )
    model.partial_fit(X[:20], X[:20, 0] > 0)
    peaks = []
    for n in (512, 4096):
        tracemalloc.start()
        boards = [board for _, board in deciding.read_boards(model._model, *model._seen(X[:n]))]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        del boards
    assert peaks[1] < 1.6 * peaks[0]
