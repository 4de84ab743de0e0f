"""A saved model goes on as if nothing had happened; a file that is none is refused in words."""

import errno
import os

import hard_streams
import numpy as np
import plain
import pytest

import kernbrook as kb
from kernbrook.checks import COUNTED
from kernbrook.errors import InputError, KernbrookError

X, Y = hard_streams.gaussian_clouds(160, 4)
POOL = [kb.Linear(), kb.Polynomial(2, 1.0), kb.Gaussian(sigma=1.5), kb.Gaussian(gamma=0.1)]


def through_a_file(model, tmp_path):
    kb.save(model, tmp_path / "model")
    return kb.load(tmp_path / "model")


def test_more_rows_than_can_be_counted(tmp_path):
    """Refused as a whole, so that the file of the last model is read again."""
    model = kb.recipes.make("mean").fit([[1.0]], [1.0])
    model.labels_asked_ = COUNTED
    kb.save(model, tmp_path / "before")
    with pytest.raises(InputError, match="y: 4611686018427387904 rows and 1 more are to"):
        model.learn([[1.0]], [1.0])
    kb.save(model, tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    kb.load(tmp_path / "after")


LABELS = {
    "int": np.array([3, -5]),
    "int that no type of NumPy holds": np.array([2**70, 2**70 + 1]),
    "big-endian": np.array([0, 1], dtype=">i4"),
    "float": np.array([3.0, -2.0]),
    "str": np.array(["grün", "no\n\0'"]),
    "object": np.array(["a", "longer"], dtype=object),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_types_of_labels(kind, tmp_path):
    recipe = "majority" if kind in ("float", "bool") else "omkc-dd"
    labels = LABELS[kind][(Y > 0).astype(int)]
    model = kb.recipes.make(recipe).fit(X, labels)
    loaded = through_a_file(model, tmp_path)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.classes_.dtype == model.classes_.dtype.newbyteorder("=")
    assert loaded.learn(X, labels)[0].tolist() == model.learn(X, labels)[0].tolist()


def test_names_of_features(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "ç", ""])
    model = through_a_file(plain.classifier(POOL).fit(frame, Y), tmp_path)
    assert model.feature_names_in_.tolist() == ["a", "b", "ç", ""]
    assert model.feature_names_in_.dtype == object
    model.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "ç", ""]])


def test_parameters_of_every_kind(tmp_path):
    """What a parameter holds is not judged before learning begins: it comes back as it was."""
    given = plain.classifier(
        (kb.Linear(), kb.Polynomial(np.int64(2), np.float32(0.1))), kb.Perceptron(tie=None),
        kb.Hedge(discount=float("inf")), kb.Selection(smoothing=np.float64(0.1), weighted=False),
        random_state=np.int32(5),
    )  # fmt: skip
    model = through_a_file(given, tmp_path)
    assert type(model.kernels) is tuple
    assert model.kernels == given.kernels
    assert (model.learner.tie, model.combiner.discount) == (None, float("inf"))
    assert model.selection.get_params() == given.selection.get_params()
    assert model.random_state == 5
    nan = through_a_file(plain.classifier(combiner=kb.Hedge(float("nan"))), tmp_path)
    assert np.isnan(nan.combiner.discount)


def test_precomputed_kernels(tmp_path):
    gram = X @ X.T
    first, second = kb.Precomputed(gram), kb.Precomputed(gram**2, name="squares")
    kernels = [first, kb.Mean([first, second]), second, first]
    rows = np.arange(160.0)[:, None]
    whole = plain.classifier(kernels).fit(rows[:80], Y[:80])
    model = through_a_file(whole, tmp_path)
    assert (tmp_path / "model").stat().st_size < 2 * gram.nbytes + 20_000  # each matrix once
    assert model.kernels[0] is model.kernels[3] is model.kernels[1].kernels[0]
    assert (model.kernels[2].name, str(model.kernels[0])) == ("squares", str(first))
    assert model.kernels[2].matrix.tobytes() == second.matrix.tobytes()
    assert (model.learn(rows[80:], Y[80:])[0] == whole.learn(rows[80:], Y[80:])[0]).all()
    assert model.dual_coef_.tobytes() == whole.dual_coef_.tobytes()
    assert model.kernel_weights_.tobytes() == whole.kernel_weights_.tobytes()


def test_random_states(tmp_path):
    generator = np.random.RandomState(7)
    model = kb.recipes.make("omkc-ss", random_state=generator)
    with pytest.raises(InputError, match=r"random_state is RandomState.*use an int"):
        kb.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    model.learn(X[:50], Y[:50])
    loaded = through_a_file(model, tmp_path)
    assert loaded.random_state is None
    assert model.random_state is generator
    assert (loaded.learn(X[50:], Y[50:])[0] == model.learn(X[50:], Y[50:])[0]).all()
    assert loaded.dual_coef_.tobytes() == model.dual_coef_.tobytes()


# -- what is refused on saving ----------------------------------------------------------------


def dot(A, B):
    return A @ B.T


class MyModel(kb.OnlineMKClassifier):
    """A model of somebody's own."""


REFUSED = [
    (plain.classifier([kb.Linear(), dot]), r"kernels\[1\] is the Python function dot"),
    (plain.classifier(kb.Callable(dot, "mine")), "kernels is the Python function mine"),
    (
        plain.classifier([kb.Mean([kb.Linear(), kb.Callable(dot)])]),
        r"kernels\[0\].kernels\[1\] is the Python function dot",
    ),
    (plain.classifier(learner=kb.Perceptron), "learner is <class .*Perceptron"),
    (plain.classifier(random_state=b"7"), "random_state is b'7', which a file cannot hold"),
    (MyModel(), r"expected one of OnlineMKClassifier, OnlineMKRegressor, .*, got MyModel\(\)"),
    (None, "expected one of .*, got None"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED, ids=lambda part: str(part)[:40])
def test_what_no_file_can_hold(model, message, tmp_path):
    with pytest.raises(InputError, match=message):
        kb.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"kernels": [*POOL[:3], kb.Gaussian(gamma=0.2)]},
        {"learner": kb.Perceptron("label")},
        {"combiner": kb.GroupNorm(), "learner": None},
        {"selection__weighted": False},
    ],
    ids=str,
)
def test_parameters_changed_after_learning_had_begun(change, tmp_path):
    """They take effect with the next fit; a file could not tell them from the ones in use."""
    model = plain.classifier(list(POOL), kb.Perceptron(), kb.Hedge(), kb.Selection())
    model.fit(X, Y).set_params(**change)
    with pytest.raises(InputError, match=r"parameters were changed.*fit again"):
        kb.save(model, tmp_path / "model")
    kb.save(model.fit(X, Y), tmp_path / "model")


# -- writing whole or not at all --------------------------------------------------------------


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(call, tmp_path, monkeypatch):
    kb.save(kb.recipes.make("omkc-dd").fit(X, Y), tmp_path / "model")
    before = (tmp_path / "model").read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(KernbrookError, match=r"cannot write '.*model': No space left on device"):
        kb.save(kb.recipes.make("majority"), tmp_path / "model")
    monkeypatch.undo()
    assert (tmp_path / "model").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
