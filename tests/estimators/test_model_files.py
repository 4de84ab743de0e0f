"""Files that are no model, or a damaged or dishonest one: each is refused in words."""

import copy
import hashlib
import json
import pickle
import struct
import warnings
from contextlib import suppress
from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.numpy import save_file

import kernbrook as kb
from kernbrook.errors import KernbrookWarning, ModelFileError, NonFiniteError
from kernbrook.estimators import pool

X, Y = hard_streams.gaussian_clouds(160, 4)
POOL = [kb.Linear(), kb.Polynomial(2, 1.0), kb.Gaussian(sigma=1.5), kb.Gaussian(gamma=0.1)]


@pytest.fixture
def saved(tmp_path):
    kb.save(plain.classifier(POOL, random_state=0).fit(X, Y), tmp_path / "model")
    return tmp_path / "model"


def rewrite(path, change):
    """Change what a file says, with a checksum that is right."""
    with safe_open(path, framework="np") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header = json.loads(metadata["kernbrook"])
    text = change(header["model"], tensors, header)
    if not isinstance(text, str):
        header.pop("sha256", None)
        digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for name in sorted(tensors):
            array = tensors[name]
            digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode() + array.tobytes())
        header["sha256"] = digest.hexdigest()
        text = json.dumps(header)
    save_file(tensors, path, metadata={"kernbrook": text})


def at(name, index, value):
    """Change one number of a tensor."""

    def change(model, tensors, header):
        tensors[name][index] = value

    return change


def put(name, function):
    """Replace a tensor by a function of it."""

    def change(model, tensors, header):
        tensors[name] = np.ascontiguousarray(function(tensors[name]))

    return change


def say(*keys, value):
    """Change what the JSON says under these keys."""

    def change(model, tensors, header):
        for key in keys[:-1]:
            model = model[key]
        model[keys[-1]] = value

    return change


def assert_lives(path, X, y):
    """Of a changed file: the model predicts, learns, is saved and loaded, or refuses in words."""
    model = kb.load(path)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", KernbrookWarning)
        for call in (model.predict, lambda X: model.learn(X, y)):
            with suppress(NonFiniteError):
                call(X)
    kb.save(model, path)
    kb.load(path)


LABELS = {"labels": {"dtype": "object", "values": [1, "a"]}}  # an array
WRONG = [
    (lambda m, t, d: d.update(format="other"), "not a model that kernbrook saved"),
    (
        lambda m, t, d: d.update(version=5, written_by="9.1"),
        r"format version 5, written by kernbrook '9\.1'; this is .*, which reads versions 3 and 4",
    ),
    (lambda m, t, d: m.pop("run") and None, "run is missing"),
    (lambda m, t, d: d.pop("version"), "expected a format version from 1, got None"),
    (lambda m, t, d: t.pop("progress.losses") * 0, "progress.losses is missing"),
    (lambda m, t, d: t.update(extra=np.zeros(2)), "'extra' belongs to nothing"),
    (put("progress.losses", lambda a: a.astype("f4")), "expected float64 .* got float32"),
    (at("progress.counters", 1, -1), "no state that a run can be in"),
    (at("stores.0.X", (3, 2), np.nan), "stores.0.X: NaN or infinity"),
    (put("stores.0.coefficients", lambda a: a[:, 1:]), r"coefficients: expected .*, 4\)"),
    (put("classes_", lambda a: a[:1]), "expected two labels"),
    (say("run", "sparse", value=True), "is missing"),
    (say("fitted", "n_features_in_", value=3), "expected 4 features, as the run has"),
    (
        say("fitted", "feature_names_in_", value={"array": "classes_"}),
        "feature_names_in_: expected 4 names",
    ),
    (say("estimator", value=["Pipeline"]), r"estimator: expected a string, got \['Pipeline'\]"),
    (say("parameters", "on_bad_rows", value=LABELS), "on_bad_rows must be 'error' or 'skip', got"),
    (say("parameters", "kernel", value=1), "unknown parameter of OnlineMKClassifier 'kernel'"),
    (say("parameters", "kernels", value=[{"os.system": {}}]), "unknown class .*'os.system'"),
    (say("parameters", "kernels", value=[{"function": "eval"}]), "unknown function .*'eval'"),
    (say("parameters", "kernels", value=[{"kernels.Linear": {}, "b": 1}]), "one key"),
    (say("parameters", "learner", value={"combiners.Hedge": {}}), "learner: expected an object"),
    (say("parameters", "random_state", value={"labels": {}}), "None is no type of labels"),
    (lambda m, t, d: "[]", "not a model that kernbrook saved"),
    (lambda m, t, d: json.dumps({**d, "model": None}), "do not match their checksum"),
    (lambda m, t, d: json.dumps(d)[:-1], r"not a description of a model: no JSON \(Expecting"),
    (lambda m, t, d: "[" * 99_999, "recursion"),
    (say("parameters", "random_state", value=float("nan")), "NaN in the JSON text"),
]


@pytest.mark.parametrize("number", range(len(WRONG)), ids=lambda i: f"{i} {WRONG[i][1][:40]}")
def test_a_file_that_says_something_wrong(number, saved):
    """Each with a right checksum, so that it is the content that is judged."""
    change, message = WRONG[number]
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=message) as caught:
        kb.load(saved)
    assert str(saved) in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        at("stores.0.indptr", 0, 1),
        at("stores.0.indptr", -1, 10**9),
        at("stores.0.indptr", 2, 2**63 - 1),
        at("stores.0.indices", 5, 4),
        at("stores.0.indices", 5, -1),
        at("stores.0.indices", slice(0, 4), [0, 2, 1, 3]),
        put("stores.0.indices", lambda a: a[:-1]),
        put("stores.0.indices", lambda a: a.astype("i4")),
        put("stores.0.data", lambda a: a[:-1]),
    ],
)
def test_rows_that_are_no_csr_matrix(change, saved):
    """Compiled code goes by these numbers without looking."""
    kb.save(plain.classifier(POOL).fit(sp.csr_matrix(X), Y), saved)
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=r"stores\.0\."):
        kb.load(saved)


def test_every_truncation(saved):
    data = saved.read_bytes()
    places = {*range(0, len(data), 97), *range(40), *range(len(data) - 20, len(data))}
    for size in sorted(places):
        saved.write_bytes(data[:size])
        with pytest.raises(ModelFileError, match=r"empty, damaged or not a saved model"):
            kb.load(saved)


def test_files_that_are_something_else(tmp_path, saved):
    other = tmp_path / "other"
    other.write_bytes(struct.pack("<Q", 2) + b"{}")
    with pytest.raises(ModelFileError, match="not a model that kernbrook saved"):
        kb.load(other)
    other.write_bytes(pickle.dumps(kb.recipes.make("omkc-dd")))
    with pytest.raises(ModelFileError, match="not a saved model"):
        kb.load(str(other))
    with pytest.raises(ModelFileError, match="there is no such file"):
        kb.load(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="not an ordinary file"):
        kb.load(tmp_path)
    for metadata in (None, {"format": "pt"}):
        save_file({"weight": np.zeros(3)}, other, metadata=metadata)
        with pytest.raises(ModelFileError, match="a safetensors file, but not a model"):
            kb.load(other)


def test_the_error_travels(tmp_path):
    with pytest.raises(ModelFileError) as caught:
        kb.load(tmp_path / "absent")
    for twin in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert str(twin) == str(caught.value)
        assert twin.path == tmp_path / "absent"


# -- arrays without their zeros --------------------------------------------------------------------


@pytest.fixture
def mostly_zeros(tmp_path):
    model = kb.OnlineMKClassifier(learner=kb.BoostedTrees(), random_state=0)
    model.partial_fit(X, Y, classes=[*np.unique(Y), *range(90, 130)])
    kb.save(model, tmp_path / "model")
    return model, tmp_path / "model"


def test_many_classes_take_the_room_that_they_fill(mostly_zeros):
    model, path = mostly_zeros
    loaded, size = kb.load(path), sum(array.nbytes for array in model.state().values())
    assert size > 4 * path.stat().st_size
    for _ in "ab":
        for name, array in model.state().items():
            assert array.tobytes() == loaded.state()[name].tobytes()
        for one in (model, loaded):
            one.partial_fit(X, Y)
    kb.save(loaded, path)
    assert kb.load(path).n_rounds_ == 3 * len(Y)


SUMS = "stores.0.window.sums"
NO_BLOCKS = {
    "a shape of text": lambda m, t, d: d["sparse"].update({SUMS: "long"}),
    "another shape": lambda m, t, d: d["sparse"].update({SUMS: [16384, 3]}),
    "a shape that takes all memory": lambda m, t, d: d["sparse"].update({SUMS: [2**40, 512]}),
    "an array that is not there": lambda m, t, d: d["sparse"].update({"other": [512]}),
    "no blocks": lambda m, t, d: t.pop(f"{SUMS}/blocks") is None,
    "a block beyond": at(f"{SUMS}/blocks", 0, 2**40),
    "blocks as floats": put(f"{SUMS}/blocks", lambda blocks: blocks.astype(float)),
    "fewer blocks": put(f"{SUMS}/blocks", lambda blocks: blocks[1:]),
    "NaN": at(SUMS, 0, np.nan),
    "no sparse arrays": lambda m, t, d: d.pop("sparse") and None,
}


@pytest.mark.parametrize("name", NO_BLOCKS)
def test_blocks_of_no_array_are_refused(mostly_zeros, name):
    rewrite(mostly_zeros[1], NO_BLOCKS[name])
    with pytest.raises(ModelFileError):
        kb.load(mostly_zeros[1])


@pytest.mark.parametrize(("classes", "before"), [(2, 1), (2, 2), (3, 1), (3, 2), (None, 2)])
def test_a_file_of_before_the_default_was_another(tmp_path, monkeypatch, classes, before):
    """It goes on with all experts that it has, also from its own files."""
    made = kb.OnlineMKClassifier if classes else kb.OnlineMKRegressor
    y = np.digitize(X[:, 0], np.arange(classes - 1) / 2) if classes else X[:, 0]
    with monkeypatch.context() as then:
        then.setattr(pool, "default_pool", partial(pool.default_pool, before=before))
        model = made(random_state=0).partial_fit(X[:100], y[:100])
        kb.save(model, tmp_path / "before")
        model.partial_fit(X[100:], y[100:])
        wanted = model.predict(X)
    loaded = kb.load(tmp_path / "before")
    assert len(loaded.experts_) != len(made().partial_fit(X[:100], y[:100]).experts_)
    kb.save(loaded, tmp_path / "again")
    for one in (loaded, kb.load(tmp_path / "again")):
        np.testing.assert_array_equal(one.partial_fit(X[100:], y[100:]).predict(X), wanted)
