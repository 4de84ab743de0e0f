"""Models and data in memory that cannot be written to, as joblib gives them to workers.

And what else may not make a model compile anew.
"""

import copy
import pickle
import sys

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from numba.core.event import install_recorder
from sklearn.base import clone, is_regressor

import kernbrook as kb
from kernbrook.compiler.inner import Compiled
from kernbrook.errors import NonFiniteError

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


@pytest.mark.parametrize("name", ["budget", "landmarks"])
def test_nothing_is_compiled_for_a_model_in_a_file(name, tmp_path):
    """Compiled code knows arrays that cannot be written to as another type."""
    model = clone(MODELS[name])
    labels = SCORES if is_regressor(model) else (SCORES > 0).astype(int)
    joblib.dump(model.fit(X, labels), tmp_path / "model")
    calls = [
        lambda m: m.predict(X),
        lambda m: m.learn_one(X[0], labels[0]),
        lambda m: m.predict_one(X[0]),
        lambda m: m.partial_fit(X, labels),
        lambda m: m.expert_weights_,
    ]
    usual = joblib.load(tmp_path / "model")
    for call in calls:
        call(usual)
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    with install_recorder("numba:compile") as compiled:
        for call in calls:
            call(mapped)
    assert compiled.buffer == []


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


def refused_a_block(model, labels):
    """A learner of its pool overflows; the others go back."""
    with pytest.raises(NonFiniteError):
        model.partial_fit(np.concatenate([X[:9], np.full((1, 4), 1e153)]), labels[:10])
    return model


AGAIN = {
    "pickled": lambda model, labels: pickle.loads(pickle.dumps(model)),
    "refused a block": refused_a_block,
    "copied, refused a block": lambda model, labels: refused_a_block(copy.deepcopy(model), labels),
}


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        (kb.OnlineMKClassifier, "pickled"),
        (kb.OnlineMKClassifier, "refused a block"),
        (kb.OnlineMKRegressor, "copied, refused a block"),
    ],
)
def test_nothing_is_compiled_for_a_model_that_goes_back(kind, way):
    labels = SCORES if kind is kb.OnlineMKRegressor else (SCORES > 0).astype(int)
    steps = kb.GradientDescent(1.0, features=kb.Monomials())
    pool = [kb.Cells(), kb.BoostedTrees(), steps]
    models = [
        kind([kb.Polynomial(3)], pool, scaling=None, random_state=0).fit(X, labels) for _ in "ab"
    ]
    models[0].partial_fit(X[:20], labels[:20]).predict(X)
    before = forms()
    models[0] = AGAIN[way](models[0], labels)
    models[1].partial_fit(X[:20], labels[:20])
    for model in models:
        model.partial_fit(X, labels)
    assert forms() == before
    for name, array in models[0].state().items():
        np.testing.assert_array_equal(array, models[1].state()[name], err_msg=name)


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
