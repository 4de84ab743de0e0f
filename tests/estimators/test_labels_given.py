"""Labels as users give them: some missing, whole numbers of any size, of several types."""

import json

import numpy as np
import pandas as pd
import plain
import pytest
from safetensors import safe_open
from scipy.sparse import csr_matrix

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.evaluation.classes import as_label

X = np.random.default_rng(0).normal(size=(120, 3))
SIDE = X[:, 0] > 0
Y = SIDE.astype(int)
LOST = np.random.default_rng(1).random(120) < 0.4
LOST[:3], LOST[3:5] = True, False
POOL = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=4), kb.Laplacian(sigma=2)]
WAVES = kb.RandomFeatures(10)


def classifier(learner=kb.Perceptron(), combiner=kb.Hedge(0.8), **parameters):  # noqa: B008
    parameters = {"random_state": 0, "scaling": None, **parameters}
    return plain.classifier(POOL, learner, combiner, **parameters)


def regressor(learner=None, **parameters):
    learner = learner or kb.Ridge(features=WAVES)
    parameters = {"random_state": 0, "scaling": None, **parameters}
    return plain.regressor(POOL, learner, **parameters)


VARIANTS = {
    "perceptrons": classifier,
    "drawn": lambda: classifier(selection=kb.Selection(update="drawn", vote="drawn")),
    "features": lambda: classifier(kb.Ridge(features=WAVES), kb.Hedge(0.8, "logistic")),
    "label budget": lambda: classifier(kb.BPAS(8), scaling="moments", labels=kb.LabelBudget(0.3)),
    "centred": lambda: regressor(center=True, scaling="maximum"),
    "numbers asked for": lambda: regressor(labels=kb.Disagreement(0.01, 5), center=True),
}
each = pytest.mark.parametrize("name", VARIANTS)


def of_numbers(name):
    return isinstance(VARIANTS[name](), kb.OnlineMKRegressor)


def labels_of(name):
    return 3 + X[:, 0] if of_numbers(name) else Y


def named(name):
    return {} if of_numbers(name) else {"classes": [0, 1]}


def state_of(model, folder):
    """The digest of all that was learned, and of the parameters."""
    kb.save(model, folder / "model")
    with safe_open(folder / "model", framework="np") as file:
        return json.loads(file.metadata()["kernbrook"])["sha256"]


# -- missing labels ----------------------------------------------------------------------------


@pytest.mark.thinned
@each
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
def test_a_missing_label_is_an_answer_that_cannot_be_had(name, missing, tmp_path):
    """Bit for bit what an oracle without an answer gives; the label is not counted as asked for."""
    y = labels_of(name)
    answers = {x.tobytes(): None if LOST[i] else y[i] for i, x in enumerate(X)}
    silent, model = VARIANTS[name](), VARIANTS[name]()
    expected = silent.learn(X, lambda row: answers[row.tobytes()], **named(name))
    given = y.astype(float if missing is np.nan else object)
    given[LOST] = missing
    parts = [slice(start, start + 7) for start in range(0, 120, 7)]
    said = [model.learn(X[part], given[part], **named(name)) for part in parts]
    predictions, asked = (np.concatenate(part) for part in zip(*said, strict=True))
    np.testing.assert_array_equal(predictions, expected[0])
    np.testing.assert_array_equal(asked, expected[1])
    assert not asked[LOST].any()
    assert model.labels_asked_ == asked.sum() > 0
    assert model.n_rounds_ == 120
    assert state_of(model, tmp_path) == state_of(silent, tmp_path)


def test_classes_come_from_the_labels_that_are_there():
    for given in (
        ["a", np.nan, "b", "a"],
        pd.Series(["a", pd.NA, "b", "a"]),
        pd.Series(["a", None, "b", "a"]).astype("category"),
    ):
        model = classifier()
        predictions, asked = model.learn(X[:4], given)
        assert model.classes_.tolist() == ["a", "b"]
        assert asked.tolist() == [True, False, True, True]
        assert set(predictions) <= {"a", "b"}
    for given in ([None] * 4, np.full(4, np.nan), None):
        model = classifier()
        with pytest.raises(InputError, match="no row has a label yet; name all classes"):
            model.learn(X[:4], given)
        assert not hasattr(model, "classes_")
        assert model.learn(X[:4], given, classes=["a", "b"])[0].tolist() == ["b"] * 4
    with pytest.raises(InputError, match="one class, 'a'"):
        classifier().learn(X[:4], ["a", None, None, "a"])


@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_fit_needs_every_label_and_says_who_does_not(make, verb):
    for missing, row in ((None, 7), (np.nan, 7), (pd.NA, 7)):
        given = Y.astype(object)
        given[7] = missing
        with pytest.raises(InputError, match=f"y: row {row} has no label; `learn` takes rows with"):
            getattr(make(), verb)(X, given)
    with pytest.raises(InputError, match=r"requires y to be passed, .* None; `learn` takes rows"):
        getattr(make(), verb)(X, None)


# -- no rows -----------------------------------------------------------------------------------

EMPTY = {
    "array": np.empty((0, 3)),
    "list": [],
    "frame": pd.DataFrame(),
    "matrix": csr_matrix((0, 3)),
}


@pytest.mark.thinned
@each
@pytest.mark.parametrize("form", EMPTY)
def test_a_chunk_without_rows_is_nothing(name, form, tmp_path):
    A, y = EMPTY[form], labels_of(name)
    model, plain = VARIANTS[name](), VARIANTS[name]()
    begun = vars(model).keys()
    for step in range(3):
        for given in ([], np.empty(0), None, lambda row: 1 / 0):
            predictions, asked = model.learn(A, given)
            assert predictions.shape == asked.shape == (0,)
            assert asked.dtype == bool
        assert model.partial_fit(A, []) is model
        if step == 0:
            assert vars(model).keys() == begun
        else:
            assert model.learn(A, [])[0].dtype == model.predict(X).dtype
            assert model.predict(A).dtype == model.predict(X).dtype
            assert model.predict(A).shape == model.should_ask(A).shape == (0,)
            if not of_numbers(name):
                assert model.decision_function(A).shape == (0,)
        part = slice(40 * step, 40 * step + 40)
        for one in (model, plain):
            one.learn(X[part], y[part], **named(name))
        assert state_of(model, tmp_path) == state_of(plain, tmp_path)


# -- whole numbers -----------------------------------------------------------------------------

LARGE = 2**53  # the next whole number is no float


@pytest.mark.parametrize(
    "form",
    [
        lambda labels: np.array(labels, dtype=np.uint64),
        lambda labels: np.array(labels, dtype=object),
        list,
        lambda labels: pd.Series([None, *labels[1:]], dtype="Int64"),
    ],
    ids=["uint64", "object", "list", "series with a missing one"],
)
def test_large_whole_numbers_stay_apart(form, tmp_path):
    y = [LARGE + int(side) for side in SIDE]
    model, small = classifier(), classifier()
    said, asked = model.learn(X, form(y))
    expected = small.learn(X, np.where(asked, Y, np.nan))[0]
    assert model.classes_.tolist() == [LARGE, LARGE + 1]
    assert said.tolist() == [LARGE + int(code) for code in expected]
    kb.save(model, tmp_path / "m")
    loaded = kb.load(tmp_path / "m")
    assert loaded.classes_.tolist() == [LARGE, LARGE + 1]
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    for others in (np.array(y), np.array(y, dtype=np.uint64), y):  # one type meets another
        before = model.labels_asked_
        model.learn(X, others)
        assert model.labels_asked_ == before + 120
    refitted = classifier()
    if form(y)[0] is not None and not pd.isna(form(y)[0]):
        assert refitted.fit(X, form(y)).classes_.tolist() == [LARGE, LARGE + 1]
        assert refitted.partial_fit(X, form(y)).labels_asked_ == 240


def test_a_large_number_is_not_taken_for_its_neighbour():
    for classes in ([0, LARGE], [0.0, float(LARGE)], np.array([0, LARGE], dtype=np.uint64)):
        model = classifier()
        model.learn(X, np.where(Y, LARGE, 0), classes=classes)
        with pytest.raises(InputError, match=rf"label {LARGE + 1} \(row 1 of the chunk\)"):
            model.learn(X[:2], [0, LARGE + 1], classes=classes)
        with pytest.raises(InputError, match="is not the same as on last call"):
            model.learn(X[:2], [0, 0], classes=[0, LARGE + 1])
    with pytest.raises(InputError, match=rf"below 2\^63, got {2**63}"):
        kb.open_stream((X[:2], np.array([1, 2**63], dtype=np.uint64)))
    classes = np.array([LARGE, LARGE + 1])
    assert [as_label(text, classes) for text in map(str, classes)] == classes.tolist()
    with pytest.raises(InputError, match="expected one of"):
        as_label(str(LARGE + 2), classes)
    assert type(as_label("3", None)) is float


@pytest.mark.parametrize("missing", [-1.0, "?"])
def test_what_stands_for_a_missing_label(missing, tmp_path):
    """As None does, in lists, arrays, series, oracles, and row by row."""
    names = np.where(SIDE, "yes", "no").astype(object) if missing == "?" else Y.astype(object)
    given, lost = names.copy(), names.copy()
    given[LOST], lost[LOST] = missing, None
    plainly, named = classifier(), classifier(missing_label=missing)
    said, asked = plainly.learn(X, lost)
    forms = [given, given.tolist(), pd.Series(given.tolist()), np.array(given.tolist())]
    for form in forms:
        model = classifier(missing_label=missing)
        others, whose = model.learn(X, form)
        np.testing.assert_array_equal(others, said)
        np.testing.assert_array_equal(whose, asked)
    kinds = names[:1].tolist() + names[SIDE[0] != SIDE][:1].tolist()
    rows, answers = classifier(missing_label=missing), iter(given)
    np.testing.assert_array_equal(rows.learn(X, lambda x: next(answers), classes=kinds)[0], said)
    named.learn(X[:40], given[:40], classes=kinds)
    for x, label in zip(X[40:], given[40:], strict=True):
        named.learn_one(x, label)
    np.testing.assert_array_equal(named.decision_function(X), plainly.decision_function(X))
    with pytest.raises(InputError, match="row 0 has no label; `learn` takes rows without"):
        named.fit(X, given)
    kb.save(plainly.set_params(missing_label=missing), tmp_path / "model")
    assert kb.load(tmp_path / "model").missing_label == missing
    with pytest.raises(InputError, match="missing_label: expected a number, text or None, got"):
        classifier(missing_label=[1]).learn(X, Y)
