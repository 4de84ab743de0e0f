"""Training in stretches comes to the file of one training, whatever is trained on whatever."""

from __future__ import annotations

import os
import warnings

import driving
import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.errors import InputError, KernbrookWarning, ModelFileError, NonFiniteError
from kernbrook.evaluation import training
from kernbrook.evaluation.checkpoint import load_checkpoint, save_checkpoint
from kernbrook.evaluation.labelling import label
from kernbrook.evaluation.training import train

RECIPES = ["omkc-ss", "om2", "perceptron-best", "forgetron", "majority"]
OF_NUMBERS = ["kernbrook-active", "omkl", "last-value"]


def sparse_text(n=700):
    X, y = hard_streams.sparse_counts(n)
    return kb.open_stream((sp.csr_array(X), np.where(y > 0, "plus", "minus")))


def dense(n=700):
    return kb.open_stream(hard_streams.gaussian_clouds(n))


def numbers(n=700):
    return kb.open_stream(driving.waves(n))


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch):
    monkeypatch.setattr(training, "CHUNK", 64)


def stopping_after(chunks):
    """A question that is answered with yes after so many chunks."""
    left = iter(range(chunks, 0, -1))
    return lambda: next(left) == 1


@pytest.mark.parametrize(
    ("recipe", "stream"),
    [
        *((recipe, (dense, sparse_text)[i % 2]) for i, recipe in enumerate(RECIPES)),
        *((recipe, numbers) for recipe in OF_NUMBERS),
    ],
)
def test_stretches_come_to_the_same_file(recipe, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHUNK", 32)

    def machine():
        return kb.recipes.make(recipe, random_state=3)

    whole = train(stream(350), machine(), tmp_path / "whole")
    rng = np.random.default_rng(0)
    stretches = 0
    part = None
    while part is None or not part.finished:
        stop = stopping_after(int(rng.integers(1, 4)))
        part = train(stream(350), machine(), tmp_path / "m", resume=True, stop=stop, every=0)
        stretches += 1
    assert stretches > 3
    assert (part.rows, part.loss) == (whole.rows, whole.loss) == (350, whole.loss)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    record = kb.prequential(machine(), stream(350))
    assert whole.error == record.error
    if stream is not numbers:
        assert type(whole.loss) is int
        assert whole.loss == record.mistakes.sum()
    loaded = kb.load(tmp_path / "m").model
    assert loaded.n_support_stored_ == record.n_support_stored
    assert loaded.labels_asked_ == record.labels_asked
    assert (loaded.labels_asked_ < 350) == (recipe == "kernbrook-active")


def test_checkpoints_by_the_clock(tmp_path, monkeypatch):
    """One is due after each stretch of `every` seconds, and only then."""
    now, saved, path = [0.0], [], tmp_path / "m"
    monkeypatch.setattr(training.time, "monotonic", lambda: now[0])

    def tick(state):
        now[0] += 4.0
        saved.append(load_checkpoint(path)[1].rows if path.exists() else 0)

    train(dense(), kb.recipes.make("majority"), path, every=10.0, progress=tick)
    assert saved == [0, 0, 0, 192, 192, 192, 384, 384, 384, 576, 576]


def test_a_model_that_no_file_can_hold_is_refused_before_work(tmp_path):
    machine = plain.classifier(lambda A, B: A @ B.T)
    with pytest.raises(InputError, match="Python function"):
        train(dense(), machine, tmp_path / "m", progress=lambda state: pytest.fail("work"))


def test_an_account_that_is_not_the_models(tmp_path):
    path = tmp_path / "m"
    train(dense(), kb.recipes.make("majority"), path)
    model, checkpoint = load_checkpoint(path)
    save_checkpoint(model.set_params(model=kb.recipes.make("majority")), checkpoint, path)
    with pytest.raises(ModelFileError, match="not an account of a training"):
        load_checkpoint(path)


@pytest.mark.parametrize("entry", [[], [1, 2], [10**6, 1, 1]])
def test_an_account_of_a_curve_that_is_none(tmp_path, entry):
    path = tmp_path / "m"
    train(dense(), kb.recipes.make("majority"), path)
    table = kb.load(path)
    table.history_["judge"]["measures"]["model"]["roc"] = [entry]
    kb.save(table, path)
    with pytest.raises(ModelFileError, match="roc: expected numbers of bins, and two counts"):
        load_checkpoint(path)


def test_a_model_that_was_fitted_anew_has_no_account(tmp_path):
    """It is no reason to refuse its file: it predicts, and goes on."""
    path, (X, y) = tmp_path / "m", hard_streams.gaussian_clouds(100)
    train(dense(), kb.recipes.make("majority"), path)
    table = kb.load(path)
    table.model.fit(X, y)
    kb.save(table, path)
    assert load_checkpoint(path)[1] is None
    (said, _), *_ = kb.evaluation.predict_stream(path, (X, y))
    assert said.tolist() == table.model.predict(X).tolist()
    assert [data.rows for data in training.go_on((X, y), path).past] == [100]


def test_rows_that_were_learned_in_python_are_data_of_their_own(tmp_path):
    """Of these nothing was written down."""
    frame = kb.open_stream("checkerboard:600").read()
    train(kb.open_stream(frame), kb.recipes.make("bpas", random_state=0), tmp_path / "m")
    model = kb.load(tmp_path / "m").partial_fit(frame[0][:50], frame[1][:50])
    kb.save(model, tmp_path / "m")
    table, known = load_checkpoint(tmp_path / "m")
    assert ([one.rows for one in known.past], table.n_rounds_) == ([600, 50], 650)
    found = kb.evaluation.go_on(kb.open_stream("checkerboard:90", seed=1), tmp_path / "m")
    assert [one.rows for one in found.past] == [600, 50]
    assert load_checkpoint(tmp_path / "m")[1].rows == 740


def test_what_is_refused_before_work(tmp_path):
    def refused(stream, model, message, **options):
        with pytest.raises(InputError, match=message):
            train(stream, model, tmp_path / "m", **options)
        assert not list(tmp_path.iterdir())

    X, _ = numbers().read()
    text = kb.open_stream((X, np.where(X[:, 0] > 0, "yes", "no")))
    make = kb.recipes.make
    refused(
        text, make("mean"), "numbers as labels, found (yes|no); recipes for classification: kern"
    )
    refused(
        numbers(), make("spa"), "labels of classes, found the number .*; recipes for regression"
    )
    refused(numbers(), make("mean"), "TrivialRegressor predicts numbers", classes=[0, 1])
    refused(dense(), make("bpas"), "classes: expected a list of labels, got the text", classes="ab")
    refused(numbers(), None, "classes: the labels are numbers, got a, b", classes=["a", "b"])
    unread = dense()
    unread._pieces = lambda: pytest.fail("read")
    refused(unread, make("spa", discount=7.0), "discount must be a number in")
    unread.chunks = lambda rows: pytest.fail("read")
    refused(unread, kb.VotedKernelClassifierCV(), "learns from all data at once, not from a stre")
    refused(unread, make("l2-svm"), r"GridSearchCV learns .*: use its fit\(X, y\)")
    refused(unread, plain.regressor(learner=kb.Ridge(-1.0)), "regularization must be")
    refused("a.csv", None, "expected a stream, got 'a.csv'; kb.open_stream makes one of it")


class Diverging(kb.OnlineMKRegressor):
    """Predicts what cannot be squared."""

    def learn(self, X, y):
        return np.full(len(y), 1e200), np.ones(len(y), dtype=bool)


def test_squared_errors_that_overflow(tmp_path):
    with pytest.raises(NonFiniteError, match="the squared errors of 64 rows overflow"):
        train(numbers(), Diverging(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_one_training_at_a_time(tmp_path):
    """Another one of the same model is refused, however it begins; of another model it is not."""
    path, done = tmp_path / "m", []

    def nested(state):
        if done:
            return
        told = "m is in use: this model is being trained or labelled already"
        if os.name == "posix":
            told += f", by process {os.getpid()}"
        for options in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(InputError, match=told):
                train(dense(), kb.recipes.make("majority"), path, **options)
        with pytest.raises(InputError, match="m is in use: this model is being trained or labelle"):
            label(dense(), plain.classifier(), path, lambda *_: None, classes=[-1, 1])
        done.append(train(dense(), kb.recipes.make("majority"), tmp_path / "other"))

    assert train(dense(), kb.recipes.make("majority"), path, progress=nested).finished
    assert done[0].finished
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m", "other"]
    train(dense(), kb.recipes.make("majority"), path, overwrite=True)


def test_a_file_that_comes_meanwhile_is_left_alone(tmp_path):
    """Somebody saved a model there after the training had begun."""
    path = tmp_path / "m"

    def somebody(state):
        if not path.exists():
            kb.save(kb.recipes.make("omkc-u"), path)

    for options in ({}, {"resume": True}):
        for every in (0.0, 60.0):
            path.unlink(missing_ok=True)
            with pytest.raises(InputError, match=r"m was written by something else meanwhile"):
                train(
                    dense(), kb.recipes.make("majority"), path, progress=somebody, every=every,
                    **options,
                )  # fmt: skip
            assert type(kb.load(path)) is kb.OnlineMKClassifier
    path.unlink()
    train(dense(), kb.recipes.make("majority"), path, progress=somebody, overwrite=True)
    assert kb.load(path).n_rounds_ == 700


@pytest.mark.parametrize("first", [{}, {"resume": True}])
def test_two_trainings_never_write_over_each_other(tmp_path, first):
    """The second one begins once somebody has removed the first one's lock."""
    path = tmp_path / "m"
    if first:
        train(dense(), kb.recipes.make("majority"), path, stop=lambda: True)
    others = []

    def second(state):
        if others or state.rows < 300:
            return
        for lock in tmp_path.glob(".*.lock"):
            lock.unlink()
        others.append(train(dense(), kb.recipes.make("bpas"), path, overwrite=True))

    with pytest.raises(InputError, match="m was written by something else meanwhile"):
        train(dense(), kb.recipes.make("majority"), path, progress=second, every=0.0, **first)
    assert others[0].finished
    assert type(kb.load(path).model) is kb.OnlineMKClassifier


def test_a_warning_that_is_an_error_comes_before_the_rows_are_learned(monkeypatch):
    monkeypatch.setattr("kernbrook.engine.blocks.LARGE", 90)
    model = kb.recipes.make("omkc-dd", random_state=0)
    X, y = dense().read()
    with pytest.raises(KernbrookWarning, match="examples are kept"):
        model.fit(X, y)
    assert "_model" not in vars(model) or model.n_rounds_ == 0


@pytest.mark.parametrize("recipe", ["omkc-dd", "bpas"])
def test_a_model_without_a_bound_says_so_once_it_is_large(recipe, tmp_path, monkeypatch):
    monkeypatch.setattr("kernbrook.engine.blocks.LARGE", 90)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        state = train(dense(), kb.recipes.make(recipe, random_state=0), tmp_path / "m")
    assert len(state.estimator.support_vectors_) > 90
    if recipe == "bpas":
        assert told == []
        return
    (one,) = told
    assert one.category is KernbrookWarning
    assert "examples are kept, and their number has no bound" in str(one.message)


@pytest.mark.parametrize(
    ("data", "classes", "kind"),
    [
        ("checkerboard:60", None, kb.OnlineMKClassifier),
        ("friedman:60", None, kb.OnlineMKRegressor),
        ("checkerboard:60", ["-1", "1"], kb.OnlineMKClassifier),
    ],
)
def test_without_a_model_the_labels_say_which(tmp_path, data, classes, kind):
    """With the settings of `kernbrook train`: the files are the same."""
    stream, own = kb.open_stream(data), kind(random_state=0)
    result = train(stream, None, tmp_path / "m", classes=classes)
    train(kb.open_stream(data), own, tmp_path / "own", classes=classes)
    assert type(result.estimator) is kind
    assert (tmp_path / "m").read_bytes() == (tmp_path / "own").read_bytes()
