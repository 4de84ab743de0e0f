"""Code is compiled and loaded before the clock starts, and once."""

import math
import os
import threading
from functools import partial
from importlib import import_module

import hard_streams
import numpy as np
import pytest
from joblib import Parallel, delayed

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation.running import warming
from kernbrook.evaluation.running.ahead import compile_ahead
from kernbrook.evaluation.running.parallel import Call, crew_of, run_all
from kernbrook.evaluation.running.warming import family, few_rows, next_family, trials_of, warm_up
from kernbrook.streams.array_stream import ArrayStream


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
    monkeypatch.setattr(
        import_module("kernbrook.evaluation.run"), "_clocks", lambda: (now[0], now[0])
    )
    X, y = hard_streams.gaussian_clouds(50)
    y = y.astype(float)
    record = (
        kb.prequential(machine, ArrayStream(X, y)) if as_stream else kb.prequential(machine, X, y)
    )
    assert record.seconds == pytest.approx(0.001 * (len(calls) - 2))
    assert machine not in calls[:2]
    assert machine.n_rounds_ == 50


@pytest.mark.parametrize("state", [None, "generator"])
def test_a_trial_takes_no_draws_from_the_learner(state):
    X, y = hard_streams.gaussian_clouds(120)
    found = []
    for watched in (True, False):
        np.random.seed(7)  # noqa: NPY002
        given = np.random.RandomState(3) if state else None
        machine = kb.recipes.make("omkc-ss", random_state=given)
        if watched:
            found.append(kb.prequential(machine, X, y).predictions)
        else:
            found.append(machine.learn(X, y, classes=[-1, 1])[0])
    np.testing.assert_array_equal(*found)


def test_few_rows():
    assert few_rows(np.array([1, 1, 1, -1, 1])).tolist() == [0, 3]
    assert few_rows(np.array([0.5, 0.5, 0.25])).tolist() == [0, 2]
    assert few_rows(np.arange(100)[::-1]).tolist() == list(range(8))
    assert few_rows(np.array(["b", None, "a", "b"], dtype=object)).tolist() == [0, 1, 2]
    assert few_rows(np.empty(0)).tolist() == []


def test_other_learners_are_left_alone():
    class Constant:
        n_support_stored_ = n_support_active_ = labels_asked_ = 0
        kernel_weights_ = np.empty(0)
        rows = 0

        def learn(self, X, y, classes=None):
            self.rows += len(y)
            return np.ones(len(y)), np.ones(len(y), dtype=bool)

    X, y = hard_streams.gaussian_clouds(30)
    other = Constant()
    kb.prequential(other, X, y)
    assert other.rows == 30


def words(name, **changes):
    return family(kb.recipes.make(name).set_params(**changes), sparse=False)


def test_families():
    """Apart where other code runs: by the types of the parts, not by their numbers."""
    assert words("omkc-dd") == words("omkc-ds") == words("omkc-dd", combiner__discount=0.5)
    assert words("rbp") == words("rbp", learner__budget=7)
    others = [
        words("omkc-dd"),
        words("omkc-dd", combiner=kb.MLPoly()),
        words("omkc-dd", labels=kb.MarginSampling()),
        words("omkc-dd", selection=kb.BestOfPrefix()),
        words("omkc-dd", learner=[kb.Perceptron(), kb.PassiveAggressive()]),
        words("rbp"),
        words("spa"),
        words("spa", learner__budget=7),
        words("bpegasos-merge"),
        words("bpegasos-project"),
        words("omkc-ss"),
        family(kb.recipes.make("omkc-dd"), sparse=True),
        family(kb.recipes.make("omkl"), sparse=False),
        family(kb.recipes.make("raker"), sparse=False),
    ]
    assert len(set(others)) == len(others)
    assert words("omkc-dd", random_state=3) == others[0]
    assert family(kb.recipes.make("majority"), sparse=False) is None


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
        assert list(trials) == [family(one, False) for one in machines[::3]]


A, B = frozenset("ab"), frozenset("c")


def run(trials, calls, jobs, tell=None):
    with crew_of(jobs, max(len(trials), len(calls))) as crew:
        return list(run_all(trials, calls, crew, tell))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_calls_wait_for_the_trial_of_their_family(tmp_path, jobs):
    trials = {one: partial((tmp_path / name).touch) for one, name in ((A, "a"), (B, "b"))}
    calls = [
        Call(1, os.path.exists, (tmp_path / "a",), A),
        Call(2, os.path.exists, (tmp_path / "b",), B),
        Call(3, int, ("3",), None),
        Call(4, os.path.exists, (tmp_path / "a",), A),
    ]
    found = run(trials, calls, jobs)
    assert dict(found) == {A: 0, B: 0, 1: True, 2: True, 3: 3, 4: True}
    order = [name for name, _ in found]
    assert order.index(A) < order.index(1)
    assert order.index(B) < order.index(2)
    if jobs == 1:
        assert order == [A, 1, B, 2, 3, 4]
    assert {name for name, _ in run(trials, [], jobs)} == {A, B}


def test_it_tells_how_far_it_is_and_only_where_something_is_compiled():
    told, heard, unheard = [], threading.Event(), threading.Event()

    def tell(state):
        told.append(state)
        heard.set()

    def compiling():
        a_function()()
        heard.wait(60)
        heard.clear()

    found = run({A: compiling, B: compiling}, [], 1, tell)
    assert found == [(A, 1), (B, 1)]
    states = [state for state in told if state is not None]
    assert told[-1] is None
    assert states[0] == (0.0, 0, 2)
    assert [state.ready for state in states] == sorted(state.ready for state in states)
    assert {state.ready for state in states} == {0, 1}
    told.clear()
    assert run({A: partial(unheard.wait, 0.5)}, [], 1, tell) == [(A, 0)]
    assert run({}, [Call(1, unheard.wait, (0.5,), None)], 1, tell) == [(1, False)]
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


@pytest.mark.slow
def test_what_another_process_compiles_is_heard():
    trials = {A: a_function(), B: a_function()}
    assert dict(run(trials, [], 2, lambda state: None)) == {A: 1, B: 1}


def test_loading_is_no_compiling(tmp_path):
    X, y = hard_streams.gaussian_clouds(20)
    machine = kb.recipes.make("omkc-dd")
    warm_up(machine, X, y, [-1, 1])
    mark = tmp_path / "mark"
    assert warming.heard(partial(warm_up, machine, X, y, [-1, 1]), mark) == 0
    assert not mark.exists()
    assert warming.heard(a_function(), mark) == 1
    assert mark.exists()


def test_processes_serve_joblib_afterwards():
    """They are joblib's own: `reproduce` after `compare`, in one process, uses them again."""
    calls = [Call(number, math.sqrt, (number,), None) for number in (4.0, 9.0)]
    assert dict(run({}, calls, 2)) == {4.0: 2.0, 9.0: 3.0}
    assert Parallel(n_jobs=2)(delayed(math.sqrt)(number) for number in (4.0, 9.0)) == [2.0, 3.0]


def test_a_text_names_recipes():
    """One text is no list of its letters."""
    assert compile_ahead("majority", jobs=1) == compile_ahead("majority, mean", jobs=1) == 0
    with pytest.raises(UnknownNameError, match="unknown recipe 'majorty'"):
        compile_ahead("majorty")
    for none in ("", []):
        with pytest.raises(InputError, match="recipes: expected one or more names, got none"):
            compile_ahead(none)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_process_is_raised_here(jobs):
    """The last one here: after an error others do the work."""
    calls = [Call(1, int, ("x",), None), Call(2, int, ("2",), None)]
    with pytest.raises(ValueError, match="invalid literal"):
        run({}, calls, jobs)
    assert run({}, calls[1:], jobs) == [(2, 2)]
