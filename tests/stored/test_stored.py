"""Model files of earlier commits: each is loaded, says what it said then, and goes on."""

import json
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fuzz.zoo import labels, rows
from stored.make import said_by

import kernbrook as kb
from kernbrook.errors import ModelFileError

GONE = {
    "learner stoptron": "Stoptron", "learner tighter perceptron": "TighterPerceptron",
    "combiner AdaHedge": "AdaHedge", "combiner AdaHedge, numbers": "AdaHedge",
    "sketch": "TensorSketch",
}  # fmt: skip
PLACES = sorted(Path(__file__).parent.glob("*.zip"))
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
    model = kb.load(path)
    if name not in said_then(place):
        return
    for verb, said in said_by(model, name).items():
        then = said_then(place)[name][verb]
        if isinstance(said[0], (float, list)):
            np.testing.assert_allclose(said, then, rtol=1e-6, atol=1e-9, err_msg=verb)
        else:
            assert said == then
    if isinstance(model, (kb.OnlineMKClassifier, kb.OnlineMKRegressor)):
        numbers = isinstance(model, kb.OnlineMKRegressor)
        known = labels(20, 0) if numbers else model.classes_[labels(20, 2)]
        model.learn(rows(20, model._model.sparse), known)
    kb.save(model, path)
    kb.load(path)
