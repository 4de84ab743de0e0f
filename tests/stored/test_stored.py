"""Model files of earlier commits: each is loaded, says what it said then, and goes on."""

import json
import zipfile
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fuzz.zoo import labels, rows
from stored.make import said_by

import kernbrook as kb
from kernbrook.errors import InputError, KernbrookWarning, ModelFileError

GONE = {
    "learner stoptron": "Stoptron", "learner tighter perceptron": "TighterPerceptron",
    "combiner AdaHedge": "AdaHedge", "combiner AdaHedge, numbers": "AdaHedge",
    "sketch": "TensorSketch", "labels variance": "VarianceSampling",
}  # fmt: skip
TRAINED = Path(__file__).with_name("0.1.0, trained.zip")  # by commands, the history beside a model
PLACES = sorted({*Path(__file__).parent.glob("*.zip")} - {TRAINED})
STORED = [
    (place, name)
    for place in PLACES
    for name in zipfile.ZipFile(place).namelist()
    if name != "said.json"
]


@cache
def said_then(place):
    return json.loads(zipfile.ZipFile(place).read("said.json"))


@pytest.mark.parametrize(("place", "name"), STORED, ids=[f"{p.stem}, {n}" for p, n in STORED])
def test_stored_files(place, name, tmp_path):
    """Up to the last bits of the processor."""
    path = tmp_path / "model"
    path.write_bytes(zipfile.ZipFile(place).read(name))
    if name in GONE:
        with pytest.raises(ModelFileError, match=f"kernbrook has no {GONE[name]} any more; "):
            kb.load(path)
        return
    single = name.startswith("float32")
    told = pytest.warns(KernbrookWarning, match="dtype='float32'") if single else nullcontext()
    with told as warned:
        model = kb.load(path)
    assert not single or warned[0].filename == __file__
    if name not in said_then(place):
        return
    close = {"rtol": 1e-4, "atol": 1e-4} if single else {"rtol": 1e-6, "atol": 1e-9}
    for verb, said in said_by(model, name).items():
        then = said_then(place)[name][verb]
        if isinstance(said[0], (float, list)):
            np.testing.assert_allclose(said, then, **close, err_msg=verb)
        else:
            assert said == then
    if isinstance(model, (kb.OnlineMKClassifier, kb.OnlineMKRegressor)):
        numbers = isinstance(model, kb.OnlineMKRegressor)
        known = labels(20, 0) if numbers else model.classes_[labels(20, 2)]
        model.learn(rows(20, model._model.sparse), known)
    kb.save(model, path)
    kb.load(path)


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    zipfile.ZipFile(TRAINED).extractall()


def test_a_trained_table_of_before_is_one_of_now(trained):
    """`--categorical auto --dates auto --missing mean --positive yes`, and another day."""
    table = kb.load("table.kb")
    assert (table.label_, table.positive_, table.n_rounds_) == ("late", "yes", 120)
    assert table.encoder_.columns_ == ["when", "wind", "carrier"]
    assert table.encoder.categorical["auto"] == table.encoder.dates["auto"] == "auto"
    (said, _), *_ = kb.evaluation.predict_stream("table.kb", "feb.csv")
    assert said.tolist() == table.predict("feb.csv").tolist() == [-1] * 40
    with pytest.raises(InputError, match="feb: its 40 rows are those of 'feb', which"):
        kb.evaluation.go_on("feb.csv", "table.kb")
    found = kb.evaluation.go_on("feb.csv", "table.kb", anyway=True)
    assert [(one.name, one.rows) for one in found.past] == [("jan", 80), ("feb", 40)]
    assert kb.load("table.kb").n_rounds_ == 160


def test_a_trained_table_of_before_keeps_its_classes(trained):
    table = kb.load("named.kb")
    assert table.named_classes_.tolist() == ["maybe", "never", "no", "yes"]
    assert table.encoder_.drop == ["when"]
    Path("new.csv").write_text("when,wind,carrier,late\n2024-03-01 07:00,1,UA,other\n")
    with pytest.raises(InputError, match="'other' is none of maybe, never, no, yes, which were"):
        kb.evaluation.go_on("new.csv", "named.kb")


def test_a_training_on_arrays_of_before(trained):
    """Cut short it would go on; whole it has nothing new."""
    stream = kb.open_stream("wdbc")
    X, y = stream.read()
    assert kb.load("arrays.kb").score(X, y) == np.mean(kb.load("arrays.kb").model.predict(X) == y)
    again = kb.evaluation.train(
        stream, kb.recipes.make("majority", random_state=None), "arrays.kb", resume=True
    )
    assert (again.rows, again.resumed_at) == (569, 569)
