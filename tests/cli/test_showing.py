"""`kernbrook show` of every kind of saved model, and `kernbrook recipes NAME` of every recipe."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from expected_failures import OF_EACH_KIND
from sklearn import model_selection, pipeline, preprocessing, svm
from sklearn.base import BaseEstimator

import kernbrook as kb
from kernbrook import recipes
from kernbrook.estimators.tasks import task_of
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor
from kernbrook.evaluation import label, train
from kernbrook.evaluation import training as sessions
from kernbrook.evaluation.labelling import with_policy
from kernbrook.evaluation.locking import locked
from kernbrook.recipes.catalogue import RECIPES
from kernbrook.recipes.describing import describe
from kernbrook.reports.model import as_python

SCREEN = 45  # lines


@pytest.fixture
def show(kernbrook):
    """What is printed of a file, and the JSON."""

    def call(path):
        code, out, err = kernbrook("show", path)
        assert (code, err) == (0, "")
        assert len(out.splitlines()) <= SCREEN
        code, text, err = kernbrook("show", path, "--json", "-")
        assert (code, err) == (0, "")
        return out, json.loads(text)

    return call


def line(out, name):
    """The value of one of the facts."""
    (found,) = [row for row in out.splitlines() if row.startswith(f"{name}  ")]
    return found.removeprefix(name).strip()


def drawn(n=300, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)


# -- trainings --------------------------------------------------------------------------------


def test_a_training(kernbrook, show):
    assert kernbrook("train", "wdbc", "--recipe", "bpas", "--model", "m")[0] == 0
    out, found = show("m")
    record = kb.prequential(kb.recipes.make("bpas", random_state=0), kb.open_stream("wdbc"))
    model = kb.load("m").model
    assert (found["data"], found["n_rows"], found["labels_asked"]) == (["wdbc"], 569, 569)
    assert found["finished"] is True
    assert (found["bytes"], found["memory_bytes"]) == (
        Path("m").stat().st_size, model.memory_bytes_
    )  # fmt: skip
    assert found["error"] == pytest.approx(100 * record.error)
    assert (found["error_rows"], found["window_rows"]) == (569, 64)
    parts = np.split(record.mistakes, range(64, 569, 64))
    assert found["window_errors"] == pytest.approx([100 * part.mean() for part in parts])
    weights = [one["weight"] for one in found["kernels"]]
    assert weights == sorted(model.kernel_weights_, reverse=True)
    best = model.kernels_[model.kernel_weights_.argmax()]
    assert found["kernels"][0]["kernel"] == str(best)
    assert [one["mistakes"] for one in found["experts"]] == model.expert_mistakes_.tolist()
    assert {one["learner"] for one in found["experts"]} == {"kb.BPAS()"}
    assert repr(eval(found["machine"], {"kb": kb})) == repr(model)
    trivial = kb.prequential(kb.recipes.make("last-label"), kb.open_stream("wdbc"))
    beside = f"{100 * trivial.error:.2f} % of repeating the last label"
    assert line(out, "online error") == f"{100 * record.error:.2f} % of 569 rows; {beside}"
    assert f"of the first 64, {100 * parts[-1].mean():.2f} % of the last 57" in out
    row = next(text for text in out.splitlines() if text.startswith(str(best)))
    alone = 100 * model.expert_mistakes_[model.kernel_weights_.argmax()] / 569
    assert row.split()[-3:] == [f"{max(weights):.3f}", 16 * "█", f"{alone:.2f}"]
    assert f"... and 6 more, {100 * sum(weights[10:]):.0f} % together" in out


def test_a_training_of_numbers_from_columns(kernbrook, show, tmp_path):
    rows = [f"{a},{b},{c},{a + 2 * b}" for a, b, c in drawn()[0]]
    (tmp_path / "heat.csv").write_text("\n".join(["sun,wind,rain,heat", *rows]) + "\n")
    assert kernbrook("train", "heat.csv", "--recipe", "raker", "--model", "m")[0] == 0
    out, found = show("m")
    assert "classes" not in found
    assert (found["columns"], found["source"]["features"]) == (["sun", "wind", "rain"], None)
    assert line(out, "trained on") == "heat, 3 features, labels in 'heat'"
    assert line(out, "columns") == "sun, wind, rain"
    trivial = kb.prequential(kb.recipes.make("mean"), kb.open_stream("heat.csv"))
    assert line(out, "mean squared error") == (
        f"{found['error']:.4g} of 300 rows; {trivial.error:.4g} of always saying the mean of the "
        "labels so far"
    )
    errors = kb.load("m").expert_errors_.tolist()
    assert [one["squared_error"] for one in found["experts"]] == errors


def test_a_training_that_runs(show, tmp_path, monkeypatch):
    """The last checkpoint is shown, and no lock is needed."""
    monkeypatch.setattr(sessions, "CHUNK", 100)
    stream = kb.open_stream(drawn())
    model = kb.recipes.make("bpas", random_state=0)
    train(stream, model, tmp_path / "m", stop=lambda: True)
    with locked(tmp_path / "m"):
        out, found = show("m")
        assert line(out, "rows") == "100 so far: a checkpoint"
        assert (found["finished"], found["n_rows"], found["error_rows"]) == (False, 100, 100)


def test_a_labelling(show, tmp_path):
    X, y = drawn()
    stream = kb.open_stream((X, y))
    model = with_policy(kb.recipes.make("bpas", random_state=0))

    def ask(question, state):
        if question.row > 250:
            raise sessions.Quit
        return int(y[question.row - 1])

    told = label(stream, model, tmp_path / "m", ask, classes=[-1, 1])
    out, found = show("m")
    assert told.given < told.rows < 300
    assert (found["n_rows"], found["labels_asked"]) == (told.rows, told.given)
    assert (found["data"], found["error_rows"]) == ([stream.name], told.given - 1)
    assert found["error"] == pytest.approx(100 * told.loss / told.judged)
    assert line(out, "labels") == f"{told.given} ({100 * told.given / told.rows:.1f} %)"
    assert f"of {told.given - 1} labels" in line(out, "online error")


# -- everything that can be saved -------------------------------------------------------------


def named():
    model = kb.NamedColumns(kb.OnlineMKRegressor([kb.Linear()]), spare=1)
    model.learn([{"rain": 1, "wind": 5}, {"wind": -4}], [3, 2])
    return model


def waiting():
    late = kb.LateLabels(named(), limit=2)
    late.predict([{"rain": 1}, {"rain": 2}, {"wind": 3}], keys=[1, 2, 3])
    return late


X, Y = drawn(40)
OTHERS = {
    "not fitted": lambda: kb.OnlineMKClassifier(learner=kb.BPAS(budget=9)),
    "voted": lambda: kb.VotedKernelClassifier().fit(X, Y),
    "voted, not fitted": lambda: kb.VotedKernelClassifier(beta=0.5),
    "voted, three classes": lambda: kb.VotedKernelClassifier().fit(X, np.arange(40) % 3),
    "voted strings": lambda: kb.VotedKernelClassifier([kb.voted.edit_similarity]).fit(
        ["ab", "abc", "xy", "xyz"], [0, 0, 1, 1]
    ),
    "a grid": lambda: kb.VotedKernelClassifierCV(lams=[0.1], betas=[0.1, 0.01], cv=2).fit(X, Y),
    "named columns": named,
    "late labels": waiting,
    "nothing waits": lambda: kb.LateLabels(kb.OnlineMKClassifier()),
    "skipped rows": lambda: kb.OnlineMKClassifier(
        [kb.Linear()], kb.Perceptron(), on_bad_rows="skip"
    ).partial_fit(np.where(X > 1.5, np.nan, X), Y),
    "text": lambda: kb.OnlineMKClassifier([kb.Linear()]).fit(X, np.where(Y > 0, "a\x1b[2J", "b")),
}


@pytest.mark.parametrize("name", [*OF_EACH_KIND, *OTHERS])
def test_saved_models(show, tmp_path, name):
    if name == "voted strings":
        pytest.importorskip("rapidfuzz")
    if name in OTHERS:
        model = OTHERS[name]()
    else:
        model = recipes.make(name, random_state=0)
        model.partial_fit(X, Y if recipes.task(name) == "classification" else X[:, 0])
    kb.save(model, tmp_path / "m")
    out, found = show("m")
    inner = model
    while isinstance(inner, (kb.LateLabels, kb.NamedColumns)):
        inner = inner.model
    assert (found["estimator"], found["task"]) == (type(model).__name__, task_of(inner))
    assert found["learned"] == (not name.endswith("not fitted") and name != "nothing waits")
    assert line(out, "written").endswith("by kernbrook 0.1.0")
    assert line(out, "trained on").startswith("not recorded")
    assert "\x1b" not in out
    if name == "late labels":
        held = found["n_waiting"], found["n_dropped"], found["columns"]
        assert held == (2, 1, ["rain", "wind"])
        assert line(out, "waiting") == "2 rows for labels, 1 row dropped"
    if not found["learned"]:
        assert line(out, "learned") == "nothing yet"
        return
    assert found["n_support_stored"] == inner.n_support_stored_
    assert len(found["kernels"]) == len(inner.kernels_)
    kernels = [one["kernel"] for one in found["kernels"]]
    assert sorted(kernels) == sorted(map(str, inner.kernels_))
    if hasattr(inner, "expert_weights_"):
        assert [one["weight"] for one in found["experts"]] == inner.expert_weights_.tolist()
        numbers = {str(kernel): k for k, kernel in enumerate(inner.kernels_)}
        sums = np.zeros(len(numbers))
        for one in found["experts"]:
            if one["kernel"] is not None:
                sums[numbers[one["kernel"]]] += one["weight"]
        np.testing.assert_allclose(sums, inner.kernel_weights_, atol=1e-12)


# -- recipes ----------------------------------------------------------------------------------

NAMES = {
    "kb": kb, "TrivialClassifier": TrivialClassifier, "TrivialRegressor": TrivialRegressor,
    "GridSearchCV": model_selection.GridSearchCV, "Pipeline": pipeline.Pipeline,
    "Normalizer": preprocessing.Normalizer, "SVC": svm.SVC,
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe(kernbrook, name):
    code, out, err = kernbrook("recipes", name)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= SCREEN
    entry, model = RECIPES[name], recipes.make(name)
    assert out.startswith(f"{name}: {entry.title}, for {entry.task}")
    told = " ".join(out.split())
    for text in (entry.what, entry.paper, entry.take, entry.leave):
        assert text.endswith(".") or text is entry.paper
        assert " ".join(text.split()) in told
    made = eval(as_python(model, few=math.inf), NAMES)
    assert repr(made) == repr(model)
    held = [name for name in recipes.parameters(name) if name != "random_state"]
    trivial = isinstance(model, (TrivialClassifier, TrivialRegressor))
    parameters = describe(name)
    assert [one.name for one in parameters] == ([] if trivial else held)
    for one in parameters:
        assert one.words
        assert f"{one.name} " in out


class Odd(BaseEstimator):
    def __init__(self, scale=1.0, names=(), options=None):
        self.scale, self.names, self.options = scale, names, options


def test_python_of_an_estimator():
    odd = Odd(1 / 3, ("a",), {"b": np.float64(2.5)})
    assert as_python(odd) == "Odd(scale=0.333333, names=('a',), options={'b': 2.5})"
    assert eval(as_python(odd, few=math.inf), {"Odd": Odd}).scale == 1 / 3
    many = Odd(names=list(range(9)))
    assert as_python(many) == "Odd(names=[0, 1, ..., 8])"
    assert as_python(many, few=1) == "Odd(names=[0, ...])"
    assert as_python(many, few=9) == f"Odd(names={list(range(9))})"
    assert max(map(len, as_python(recipes.make("spa"), width=50).split("\n"))) <= 50
