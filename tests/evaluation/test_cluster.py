"""The same runs on a Dask cluster: the same numbers, whatever happens to its workers."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.evaluation import compare
from kernbrook.evaluation.parallel import client_of, in_order
from kernbrook.papers import reproduce

pytest.importorskip("distributed")
LOCAL = "local:2"


def numbers(comparison):
    """What does not depend on the clock."""
    return [
        (row.title, [(run.predictions.tolist(), run.n_support_stored) for run in row.runs])
        for row in comparison.rows
    ]


def test_a_comparison_is_the_same():
    X, y = kb.open_stream("checkerboard:400").read()
    recipes = {"a": "omkc-dd", "b": "bpas(budget=20)", "c": kb.OnlineMKClassifier("omkc16")}
    told = []
    alone, together = (
        compare(X, y, recipes, permutations=3, jobs=jobs, progress=lambda rounds: told.append)
        for jobs in (1, LOCAL)
    )
    assert numbers(alone) == numbers(together)
    assert sum(told) == 2 * 3 * 3 * 400


def _slow(number, progress=None):
    time.sleep(0.05)
    return number, os.getpid()


def test_calls_come_in_order_from_workers():
    found = list(in_order(_slow, [(i,) for i in range(12)], lambda _: 1, LOCAL, None))
    assert [number for number, _ in found] == list(range(12))
    assert os.getpid() not in {process for _, process in found}


def test_a_worker_killed_in_mid_run_costs_no_result():
    X, y = kb.open_stream("checkerboard:3000").read()
    recipes = ["omkc-dd", "spa", "bpas", "majority"]
    client = client_of(LOCAL)
    before = client.run(os.getpid)
    done = threading.Event()

    def kill(part):  # at the first recipe that is done
        if not done.is_set():
            done.set()
            os.kill(next(iter(before.values())), signal.SIGKILL)

    found = compare(X, y, recipes, permutations=4, jobs=LOCAL, so_far=kill)
    assert done.is_set()
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(before.values())
    assert numbers(found) == numbers(compare(X, y, recipes, permutations=4, jobs=1))


def test_a_published_table_is_the_same(monkeypatch):
    monkeypatch.delenv("KERNBROOK_DATA", raising=False)
    alone, together = (
        reproduce("bpegasos-table-1", ["checkerboard"], 1, rows=150, jobs=jobs)
        for jobs in (1, LOCAL)
    )
    assert len(alone.cells) == len(together.cells) == 13
    for cell, other in zip(alone.cells, together.cells, strict=True):
        assert (cell["title"], cell.ours["accuracy"]) == (other["title"], other.ours["accuracy"])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:x", "local:N with N from 1"),
        ("local:0", "local:N with N from 1"),
        ("here", "tcp://HOST:PORT"),
    ],
)
def test_what_is_no_address(address, message):
    with pytest.raises(InputError, match=f"scheduler: expected .*{message}"):
        compare("checkerboard:50", ["majority"], jobs=address)


def test_without_dask_it_says_what_to_install():
    program = (
        "import sys; sys.modules['dask'] = sys.modules['distributed'] = None\n"
        "import kernbrook.cli.main as cli; cli.run()"
    )
    command = [sys.executable, "-c", program, "compare", "checkerboard:50", "--scheduler", LOCAL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "pip install 'kernbrook[dask]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
