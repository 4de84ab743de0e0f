"""Models that several threads use at once, and models that are called while they learn."""

import copy
import multiprocessing
import pickle
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.outside import online
from kernbrook.gram.sums import share
from kernbrook.turns import turn_of

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
SCORES = X[:, 0] * X[:, 1]
y = (SCORES > 0).astype(int)
FEW = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=3.0)]
ROWS = [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def classifier(**parameters):
    return kb.OnlineMKClassifier(FEW, kb.BPAS(20), random_state=0, **parameters)


def at_once(*works):
    """Call all of them, each in its thread; the first error is raised."""
    begin, errors = threading.Barrier(len(works)), []

    def one(work):
        begin.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=one, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "two wait for each other"
    if errors:
        raise errors[0]


def while_in_use(model, done, *works):
    """Begin all of them while another thread uses the model: nothing is done before that ends."""
    begun, end = threading.Event(), threading.Event()

    def use():
        with turn_of(model).lock:
            begun.set()
            end.wait(60)

    threads = [threading.Thread(target=work, daemon=True) for work in (use, *works)]
    threads[0].start()
    begun.wait(60)
    for thread in threads[1:]:
        thread.start()
    threads[1].join(0.05)
    assert not done
    end.set()
    for thread in threads:
        thread.join(60)


def test_the_first_rows_of_two_threads():
    for _ in range(10):
        model = classifier()
        at_once(*[lambda m=model: m.partial_fit(X[:60], y[:60])] * 2)
        assert model.n_rounds_ == 120


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def kinds():
    """Everything that waits: what learns from a row; what says how many it has learned from."""
    late, trivial = kb.LateLabels(classifier(), classes=[0, 1]), kb.recipes.make("majority")
    late.model.learn(X[:20], y[:20], classes=[0, 1])
    trivial.learn(X[:20], y[:20])
    encoder = kb.TableEncoder(missing="mean").fit(pd.DataFrame(ROWS[:20]))
    alone = classifier().fit(X[:20], y[:20])

    def learn_late(i):
        late.predict(X[i : i + 1], keys=[i])
        late.learn([i], y[i : i + 1])

    return {
        "machine": (alone, lambda i: alone.learn_one(X[i], y[i]), lambda m: m.n_rounds_),
        "late": (late, learn_late, lambda m: m.model.n_rounds_),
        "trivial": (
            trivial, lambda i: trivial.learn(X[i : i + 1], y[i : i + 1]), lambda m: m.n_rounds_
        ),
        "encoder": (
            encoder, lambda i: encoder.learn(pd.DataFrame(ROWS[i : i + 1])),
            lambda m: m.counts_[0],
        ),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "way"), [("late", "pickle"), ("trivial", "deepcopy"), ("encoder", "copy")]
)
def test_copies_wait_for_who_learns(name, way):
    model, _, count = kinds()[name]
    copies = []
    while_in_use(model, copies, lambda: copies.append(COPIES[way](model)))
    assert [count(other) for other in copies] == [20]


def test_a_file_of_a_model_in_others_waits_from_outside_in(tmp_path):
    """As calls do: else two threads wait for each other."""
    late = kb.LateLabels(kb.NamedColumns(classifier()), classes=[0, 1])
    late.predict(ROWS[:20], keys=range(20))
    late.learn(range(20), y[:20])

    def learn():
        for i in range(20, 300):
            late.predict(ROWS[i : i + 1], keys=[i])
            late.learn([i], y[i : i + 1])

    def save():
        for _ in range(20):
            kb.save(late, tmp_path / "model")
            named = kb.load(tmp_path / "model").model
            assert named.counts_[0] == named.n_rounds_ == named.model.labels_asked_

    at_once(learn, save)


def test_models_that_are_merged_with_each_other():
    models = [classifier().fit(X[i::2], y[i::2]) for i in (0, 1)]
    at_once(*(lambda i=i: models[i].merge(models[1 - i]) for i in (0, 1)))
    assert sorted(model.n_rounds_ for model in models) == [600, 900]


def test_what_a_model_calls_cannot_make_it_learn():
    refused = []

    def kernel(A, B):
        if hasattr(model, "classes_"):
            for call in (
                lambda: model.learn_one(X[0], 1),
                lambda: model.partial_fit(X[:2], y[:2]),
                lambda: model.fit(X[:2], y[:2]),
                lambda: model.merge(other),
            ):
                try:
                    call()
                except InputError as error:
                    refused.append(str(error))
        return A @ B.T

    model = kb.OnlineMKClassifier([kernel], kb.BPAS(5), scaling=None, random_state=0)
    other = kb.OnlineMKClassifier([kernel], kb.BPAS(5), scaling=None, random_state=0)
    plain = kb.OnlineMKClassifier([lambda A, B: A @ B.T], kb.BPAS(5), scaling=None, random_state=0)
    model.fit(X[:60], y[:60])
    model.predict(X)
    np.testing.assert_array_equal(
        model.decision_function(X), plain.fit(X[:60], y[:60]).decision_function(X)
    )
    assert len(refused) >= 8
    assert refused[0] == (
        "OnlineMKClassifier.learn_one: the model learns or predicts at this moment, and what it "
        "calls meanwhile, such as a kernel function or an oracle, cannot change it"
    )


def test_a_thread_of_the_library_does_not_wait_for_who_waits_for_it():
    model, refused = classifier().fit(X[:60], y[:60]), []

    def inside(i):
        with pytest.raises(InputError, match="cannot change it"):
            model.partial_fit(X[:2], y[:2])
        refused.append(model.predict(X[:1])[0])

    def oracle(x):
        share(2, inside, range(4))
        return 1

    done = threading.Thread(target=lambda: model.learn(X[60:61], oracle), daemon=True)
    done.start()
    done.join(60)
    assert not done.is_alive()
    assert len(refused) == 4


class OneAtATime(SGDClassifier):
    """A model of another library that sees whether two threads teach it at once."""

    busy = False

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        assert not self.busy
        self.busy = True
        time.sleep(1e-4)  # another thread goes on
        self.busy = False
        return super().partial_fit(X, y, classes, sample_weight)


def test_a_model_of_another_library_learns_from_one_thread_at_a_time():
    model = online(OneAtATime(random_state=0))
    model.learn(X[:4], y[:4], classes=[0, 1])
    parts = [slice(4 + 30 * i, 34 + 30 * i) for i in range(4)]
    at_once(*(lambda part=part: model.learn(X[part], y[part]) for part in parts))
    assert model.n_rounds_ == model.labels_asked_ == 124


# -- a process that is forked ----------------------------------------------------------------------

FORK = "fork" in multiprocessing.get_all_start_methods()
forks = pytest.mark.skipif(not FORK, reason="no process can be forked here")


def in_a_child(work):
    """What a child says, which is forked in this thread."""

    def say(end):
        try:
            end.send(work())
        except InputError as error:
            end.send(str(error))

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=say, args=(theirs,), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, from Python 3.12 on
        child.start()
    assert ours.poll(60), "the child waits for ever"
    child.join(60)
    return ours.recv()


@forks
def test_a_model_that_another_thread_uses_is_refused_in_the_child():
    """One in use within a call that forks goes on; one that nobody uses is as it was."""
    other, own, free = (classifier().fit(X[:60], y[:60]) for _ in range(3))
    begun, end, said = threading.Event(), threading.Event(), []

    def use():
        with turn_of(other).lock:
            begun.set()
            end.wait(60)

    def work():
        free.learn_one(X[0], 1)
        return own.predict(X[:1]).tolist(), free.n_rounds_, in_words(other)

    def in_words(model):
        with pytest.raises(InputError) as refused:
            model.learn_one(X[0], 1)
        return str(refused.value)

    def oracle(x):
        share(1, lambda _: said.append(in_a_child(work)), range(1))
        share(2, lambda _: said.append(in_a_child(work)), range(2))
        return 1

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    begun.wait(60)
    own.learn(X[60:61], oracle)
    said.append(in_a_child(work))
    end.set()
    thread.join(60)
    told = (
        "another thread was using this model when the process was forked, so that this copy of it "
        "may be half changed: fork between two calls of the model, or load it from a file"
    )
    assert said == [(own.predict(X[:1]).tolist(), 61, told)] * 4
    assert other.learn_one(X[0], 1) is not None
