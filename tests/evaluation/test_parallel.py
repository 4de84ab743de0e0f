"""Results of calls in several processes, in the order of the calls."""

from __future__ import annotations

import os
import time
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from kernbrook.errors import InputError
from kernbrook.evaluation import parallel
from kernbrook.evaluation.parallel import THREADS, Processes, results
from kernbrook.evaluation.warming import in_order

FAMILY = frozenset({"a"})


def _work(rounds, wait, progress=None):
    time.sleep(wait)
    if progress is not None:
        progress(rounds)
    return rounds, os.getpid()


def _compiled(path, *arguments, progress=None):
    return path.exists()


def _refuse(number, progress=None):
    raise InputError(f"no {number}")


CALLS = [(3, 0.2), (1, 0.0), (2, 0.0)]  # the first is the last to end


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_calls(jobs):
    done = []
    found = list(in_order(_work, CALLS, lambda result: result[0], jobs, done.append))
    assert [rounds for rounds, _ in found] == done == [3, 1, 2]
    assert (os.getpid() in {process for _, process in found}) == (jobs == 1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_compiles_comes_first(jobs, tmp_path):
    path = tmp_path / "compiled"
    trials = {FAMILY: partial(path.write_text, "x")}
    calls = [(path, place) for place in range(3)]
    found = list(in_order(_compiled, calls, lambda _: 1, jobs, None, trials))
    assert found == [True] * 3


def test_no_calls_and_calls_that_fail():
    """Of several processes: `test_an_error_in_a_process_is_raised_here`."""
    assert list(in_order(_work, [], lambda _: 1, 1, None)) == []
    with pytest.raises(InputError, match="no 1"):
        list(in_order(_refuse, [(1,), (1,)], lambda _: 1, 1, None))


def _first(array):
    return float(array[0]), type(array).__name__


def test_a_large_array_is_handed_over_once():
    """In a file that the processes share; small ones go with each call."""
    large = [np.full(200_000, value) for value in (1.0, 2.0)]
    calls = [(large[i % 2],) for i in range(6)]
    with Processes(2) as crew:
        found = dict(results(crew, _first, calls))
        folder = crew._folder.name
        assert len(os.listdir(folder)) == 2
    assert not os.path.exists(folder)
    assert [found[i] for i in range(6)] == [(1.0, "memmap"), (2.0, "memmap")] * 3


def test_a_client_that_lost_its_cluster_is_replaced(monkeypatch):
    made = []

    def connected(address):
        made.append(SimpleNamespace(status="running", address=address))
        return made[-1]

    monkeypatch.setattr(parallel, "_connected", connected)
    monkeypatch.setattr(parallel, "_clients", {})
    first, other = parallel.client_of("tcp://a:1"), parallel.client_of("tcp://b:1")
    assert parallel.client_of("tcp://a:1") is first
    for status in ("connecting", "closed"):
        made[0].status = status
        again = parallel.client_of("tcp://a:1")
        assert again is made[-1] is not first
        assert parallel.client_of("tcp://a:1") is again
        made[0] = again
    assert parallel.client_of("tcp://b:1") is other


def test_a_warning_of_a_process_is_a_line_of_words(capsys):
    with warnings.catch_warnings(), np.errstate(divide="warn"):  # others may have interrupted one
        warnings.simplefilter("always")
        for _ in range(2):
            parallel._called(np.log, (np.zeros(1),))
    said = "kernbrook: divide by zero encountered in log (RuntimeWarning)\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(("jobs", "threads"), [(1, "7"), (2, "3")])
def test_processes_have_a_thread_a_core_together(monkeypatch, jobs, threads):
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(parallel, "available_cores", lambda: 7)
    monkeypatch.setattr("joblib.executor.get_memmapping_executor", lambda *_, env, **__: env)
    with Processes(jobs) as crew:
        assert crew._executor == dict.fromkeys(THREADS, threads)
