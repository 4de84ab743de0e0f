"""Code is compiled and loaded before the clock starts, and once."""

import threading

import hard_streams
import numpy as np
import pytest

import kernbrook as kb
from kernbrook.evaluation import prequential as timed
from kernbrook.evaluation import warming
from kernbrook.evaluation.warming import compile_together, few_rows, warm_up
from kernbrook.streams.arrays import ArrayStream


@pytest.mark.parametrize("as_stream", [False, True])
@pytest.mark.parametrize("name", ["omkc-dd", "kernbrook-regression"])
def test_seconds_count_no_loading(monkeypatch, name, as_stream):
    """A clock on which only the first two calls in a process, which load the code, take long."""
    machine = kb.recipes.make(name, random_state=0)
    kind, now, calls = type(machine), [0.0], []
    learn = kind.learn

    def loading(self, X, y, **labels):
        calls.append(self)
        now[0] += 100.0 if len(calls) <= 2 else 0.001
        return learn(self, X, y, **labels)

    monkeypatch.setattr(kind, "learn", loading)
    monkeypatch.setattr(timed.time, "perf_counter", lambda: now[0])
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


def told(monkeypatch, recipes, warm):
    """What `compile_together` says while `warm` stands in for the work."""
    monkeypatch.setattr(warming, "warm_up", warm)
    lines, X = [], np.zeros((2, 3))
    machines = [kb.recipes.make(name) for name in recipes]
    classes = [0, 1] if kb.recipes.task(recipes[0]) == "classes" else None
    compile_together(machines, X, np.array([0, 1]), classes, 1, lines.append)
    return lines


@pytest.mark.parametrize(
    ("recipes", "learners"),
    [
        ("rbp omkc-dd bpegasos-merge spa bpas majority", ["Pegasos", "Perceptron", "RBP"]),
        ("raker kl-linear amkl-aks omkl mean", ["GradientDescent", "GradientDescent"]),
    ],
)
def test_one_of_each_kind_is_compiled_and_the_longest_first(monkeypatch, recipes, learners):
    done = []
    told(monkeypatch, recipes.split(), lambda machine, *data: done.append(machine.learner))
    assert [type(learner).__name__ for learner in done] == learners


def test_it_says_so_once_and_only_where_something_is_compiled(monkeypatch):
    on_disk, heard = [0], threading.Event()
    monkeypatch.setattr(warming, "functions_on_disk", lambda: on_disk[0])

    def compiling(*arguments):
        on_disk[0] += 1
        heard.wait(60)

    lines = []

    def say(line):
        lines.append(line)
        heard.set()

    monkeypatch.setattr(warming, "warm_up", compiling)
    X, y = np.zeros((2, 3)), np.array([0, 1])
    machines = [kb.recipes.make(name) for name in ("omkc-dd", "rbp", "spa", "majority")]
    compile_together(machines, X, y, y, 1, say)
    assert len(lines) == 1
    assert lines[0].startswith("compiling, once for this machine: about ")
    assert told(monkeypatch, ["omkc-dd", "rbp"], lambda *arguments: None) == []
    assert told(monkeypatch, ["majority"], compiling) == []


def test_the_disk_cache_is_looked_at():
    X, y = hard_streams.gaussian_clouds(20)
    warm_up(kb.recipes.make("omkc-dd"), X, y, [-1, 1])
    assert warming.functions_on_disk() > 0
