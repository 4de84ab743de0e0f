"""Code is compiled and loaded before the clock starts, and once."""

import math
import time
from functools import partial
from importlib import import_module

import hard_streams
import numpy as np
import pytest
from joblib import Parallel, delayed

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation import warming
from kernbrook.evaluation.parallel import crew_of, results
from kernbrook.evaluation.warming import (
    compile_ahead,
    compile_trials,
    family_of,
    next_family,
    trials_of,
    warm_up,
)
from kernbrook.streams.arrays import ArrayStream


@pytest.mark.parametrize("as_stream", [False, True])
@pytest.mark.parametrize("name", ["omkc-dd", "kernbrook-regression"])
def test_seconds_count_no_loading(monkeypatch, name, as_stream):
    """A clock on which only the first two calls in a process, which load the code, take long."""
    machine = kb.recipes.make(name, random_state=0)
    kind, now, calls = type(machine), [0.0], []
    learn = kind._learn_rows

    def loading(self, X, y, *rest, **labels):
        calls.append(self)
        now[0] += 100.0 if len(calls) <= 2 else 0.001
        return learn(self, X, y, *rest, **labels)

    monkeypatch.setattr(kind, "_learn_rows", loading)
    run = import_module("kernbrook.evaluation.run")
    monkeypatch.setattr(run, "_clocks", lambda: (now[0], now[0]))
    monkeypatch.setattr(run, "_warmed", set())
    X, y = hard_streams.gaussian_clouds(50)
    y = y.astype(float)
    record = (
        kb.prequential(machine, ArrayStream(X, y)) if as_stream else kb.prequential(machine, X, y)
    )
    assert record.seconds == pytest.approx(0.001 * (len(calls) - 2))
    assert machine not in calls[:2]
    assert machine.n_rounds_ == 50


def words(name, **changes):
    return family_of(kb.recipes.make(name).set_params(**changes), sparse=False)


def test_families():
    """Apart where other code runs: by the types of the parts, not by their numbers."""
    assert words("omkc-dd") == words("omkc-ds") == words("omkc-dd", combiner__discount=0.5)
    assert words("rbp") == words("rbp", learner__budget=7)
    parts = {"combiner": kb.MLPoly(), "labels": kb.MarginSampling(), "selection": kb.BestOfPrefix()}
    names = "rbp", "spa", "bpegasos-merge", "bpegasos-project", "omkc-ss", "omkl", "raker"
    others = [
        *(words("omkc-dd"), family_of(kb.recipes.make("omkc-dd"), sparse=True)),
        *(words("omkc-dd", **{part: own}) for part, own in parts.items()),
        *(words(name) for name in names),
    ]
    assert len(set(others)) == len(others)
    assert words("omkc-dd", random_state=3) == others[0]
    assert family_of(kb.recipes.make("majority"), sparse=False) is None


def test_the_next_family_shares_least_with_those_in_work():
    long, like, other = map(frozenset, ("abc", "ab", "d"))
    assert next_family([other, like, long], []) == long
    assert next_family([like, other], [long]) == other
    assert next_family([like], [long, other]) == like


def test_one_trial_a_family(monkeypatch):
    monkeypatch.setattr(warming, "warm_up", lambda machine, X, *labels: machine)
    machines = [kb.recipes.make(name) for name in ("omkc-dd", "majority", "omkc-ds", "rbp")]
    X, y = hard_streams.gaussian_clouds(20)
    for classes in (np.array([-1, 1]), np.array([-1, 0, 1])):
        trials = trials_of(machines, X, y, classes)
        assert [trial() for trial in trials.values()] == [machines[0], machines[3]]
        assert list(trials) == [family_of(one, False) for one in machines[::3]]


A, B = frozenset("ab"), frozenset("c")


def run(trials, jobs, report=None):
    with crew_of(jobs, len(trials)) as crew:
        return compile_trials(trials, crew, report)


def test_it_tells_how_far_it_is_and_only_where_something_is_compiled():
    told = []
    assert run({A: a_function(), B: a_function()}, 1, told.append) == 2
    assert [None if state is None else state[1:] for state in told] == [
        (0, 2), None, (1, 2), None,
    ]  # fmt: skip
    told.clear()
    assert run({A: time.time}, 1, told.append) == run({}, 1, told.append) == 0
    assert told == []


def a_function():
    """What compiles one function of its own each time, which pretends to be ours."""

    def compiling():
        import numba

        def double(x):
            return 2 * x

        double.__module__ = "kernbrook.double"
        assert numba.njit(double)(2) == 4

    return compiling  # a local function goes to other processes whole


def test_loading_is_no_compiling():
    X, y = hard_streams.gaussian_clouds(20)
    machine, said = kb.recipes.make("omkc-dd"), []
    warm_up(machine, X, y, [-1, 1])
    say = partial(said.append, 1)
    assert warming.run_counted(partial(warm_up, machine, X, y, [-1, 1]), say) == len(said) == 0
    assert warming.run_counted(a_function(), say) == len(said) == 1


def test_processes_serve_joblib_afterwards():
    """They are joblib's own: who uses joblib in the same process has them."""
    with crew_of(2, 2) as crew:
        assert dict(results(crew, math.sqrt, [(4.0,), (9.0,)])) == {0: 2.0, 1: 3.0}
    assert Parallel(n_jobs=2)(delayed(math.sqrt)(number) for number in (4.0, 9.0)) == [2.0, 3.0]


def test_a_text_names_recipes():
    """One text is no list of its letters."""
    assert compile_ahead("majority", jobs=1) == compile_ahead("majority, mean", jobs=1) == 0
    with pytest.raises(UnknownNameError, match="unknown recipe 'majorty'"):
        compile_ahead("majorty")
    for none in ("", []):
        with pytest.raises(InputError, match="recipes: expected one or more names, got none"):
            compile_ahead(none)
