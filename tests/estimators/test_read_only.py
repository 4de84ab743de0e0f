"""Models and data in memory that cannot be written to, as joblib gives them to workers.

And what else may not make a model compile anew.
"""

import sys

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor

import kernbrook as kb
from kernbrook.compiler.inner import Compiled

rng = np.random.default_rng(0)
X = rng.normal(size=(110, 4))
SCORES = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=110)
KERNELS = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=3.0)]
WAVES = kb.RandomFeatures(9)


def dot(A, B):
    return A @ B.T


MODELS = {
    "default": kb.OnlineMKClassifier(random_state=0),
    "budget": kb.OnlineMKClassifier(KERNELS, kb.BPAS(20), random_state=0),
    "merging": kb.recipes.make("bpegasos-merge", budget=20, random_state=0),
    "called": kb.OnlineMKClassifier([dot], kb.BPAS(20), random_state=0),
    "numbers": kb.OnlineMKRegressor(random_state=0),
    "ranks": kb.OnlineMKRegressor(KERNELS, kb.Ridge(features=WAVES), scaling="ranks"),
    "landmarks": kb.OnlineMKRegressor(
        KERNELS, kb.Ridge(features=kb.Nystroem(landmarks=X[:7])), random_state=0
    ),
}


def read_only(array):
    array = array.copy()
    parts = (array.data, array.indices, array.indptr) if sp.issparse(array) else (array,)
    for part in parts:
        part.setflags(write=False)
    return array


def merged(model, X, y):
    return model.merge(clone(model).fit(X, y))


def saved(model, X, y):
    kb.save(model, saved.path)
    return kb.load(saved.path).learn(X, y)[0]


def outcome(call, *given):
    try:
        return call(*given)
    except kb.errors.InputError as error:
        return str(error)


CALLS = {
    "learn": lambda m, X, y: m.learn(X, y)[0],
    "learn without labels": lambda m, X, y: m.learn(X, None)[0],
    "partial_fit": lambda m, X, y: m.partial_fit(X, y, sample_weight=read_only(np.ones(len(y)))),
    "rows": lambda m, X, y: [m.learn_one(x, label) for x, label in zip(X, y, strict=True)],
    "predict": lambda m, X, y: m.predict(X),
    "sure": lambda m, X, y: (m.predict_interval if is_regressor(m) else m.predict_proba)(X),
    "ask": lambda m, X, y: m.should_ask(X),
    "merge": merged,
    "save": saved,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", MODELS)
def test_a_model_in_a_file_and_read_only_rows(name, tmp_path):
    storage = sp.csr_matrix if list(MODELS).index(name) % 2 else np.asarray
    model, saved.path = clone(MODELS[name]), tmp_path / "saved"
    labels = SCORES if is_regressor(model) else (SCORES > 0).astype(int)
    rows = storage(np.where(np.abs(X) > 0.5, X, 0.0))
    joblib.dump(model.fit(rows[:80], labels[:80]), tmp_path / "model")
    for what, call in CALLS.items():
        if (what == "rows" and storage is sp.csr_matrix) or (what == "save" and name == "called"):
            continue
        mapped, usual = (joblib.load(tmp_path / "model", mmap_mode=mode) for mode in ("r", None))
        expected = outcome(call, usual, rows[80:], labels[80:])
        said = outcome(call, mapped, read_only(rows[80:]), read_only(labels[80:]))
        if what not in ("partial_fit", "merge"):
            np.testing.assert_array_equal(said, expected, err_msg=what)
        np.testing.assert_array_equal(mapped.predict(rows), usual.predict(rows), err_msg=what)
        mapped.partial_fit(read_only(rows[:20]), read_only(labels[:20]))
        usual.partial_fit(rows[:20], labels[:20])
        np.testing.assert_array_equal(mapped.predict(rows), usual.predict(rows), err_msg=what)
    assert np.array_equal(*(joblib.load(tmp_path / "model").predict(rows) for _ in "ab"))


# -- nothing is compiled again ---------------------------------------------------------------------


def forms():
    """All that was compiled, or loaded, for Python to call: functions, and types of arguments."""
    modules = [module for name, module in sys.modules.items() if name.startswith("kernbrook.")]
    functions = {
        id(one): one for module in modules for one in vars(module).values()
        if isinstance(one, Compiled)
    }  # fmt: skip
    found = functions.values()
    return {(one.py_func.__qualname__, kinds) for one in found for kinds in one.overloads}


BOTH = [(name, form) for name in ("default", "numbers") for form in (np.asarray, sp.csr_matrix)]
OTHERS = [(name, (sp.csr_matrix, np.asarray)[i % 2]) for i, name in enumerate(MODELS)]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "storage"), dict.fromkeys([*BOTH, *OTHERS]))
def test_nothing_is_compiled_for_rows_that_are_read_only(name, storage, tmp_path):
    labels = SCORES if is_regressor(MODELS[name]) else (SCORES > 0).astype(int)
    rows = storage(np.where(np.abs(X) > 0.5, X, 0.0))

    def life(rows, labels):
        model = clone(MODELS[name]).set_params(random_state=0).fit(rows, labels)
        model.partial_fit(rows[:50], labels[:50])
        sure = model.predict_interval if is_regressor(model) else model.predict_proba
        return [model.predict(rows), sure(rows[:7]), model.should_ask(rows)]

    said, before = life(rows, labels), forms()
    for found, wanted in zip(life(read_only(rows), read_only(labels)), said, strict=True):
        np.testing.assert_array_equal(found, wanted)
    if storage is np.asarray:
        np.save(tmp_path / "rows.npy", rows)
        life(np.load(tmp_path / "rows.npy", mmap_mode="r"), labels)
    assert forms() == before


@pytest.mark.parametrize("kind", [kb.OnlineMKClassifier, kb.OnlineMKRegressor])
def test_no_call_in_a_stream_has_to_compile(kind):
    """After one of each, rows one by one, short chunks and the ends of laps have all they need."""
    model, more = kind(random_state=0), np.random.default_rng(1).normal(size=(1100, 4))
    labels = more[:, 0] if kind is kb.OnlineMKRegressor else (more[:, 0] > 0).astype(int)

    def both(i):
        model.predict(more[i : i + 1])
        model.predict_one(more[i])
        model.learn(more[i : i + 1], labels[i : i + 1])
        model.learn_one(more[i + 1], labels[i + 1])

    model.fit(more[:20], labels[:20])
    model.partial_fit(more[:40], labels[:40])
    both(40)
    before = forms()
    for i in range(42, 600, 2):
        both(i)
    model.predict(more[:100])
    model.partial_fit(more[600:], labels[600:])
    assert forms() == before
