"""Models with parts of other people's classes, as files."""

import sys

import numpy as np
import plain
import pytest
import their_parts as theirs
from sklearn.base import BaseEstimator

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError

NAMES = ["Forgetful", "Discounting", "Doubting"]
ALLOWED = [f"their_parts.{name}" for name in NAMES]
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture
def saved(tmp_path):
    """A model, and the path of its file."""
    model = plain.classifier(
        [kb.Gaussian(sigma=1), kb.Gaussian(sigma=4)],
        [kb.RBP(5), theirs.Forgetful(7)], theirs.Discounting(0.9), None, theirs.Doubting(0.3),
        random_state=0,
    )  # fmt: skip
    model.learn(X[:30], Y[:30])
    kb.save(model, tmp_path / "model")
    return model, tmp_path / "model"


def test_it_goes_on_as_if_nothing_had_happened(saved):
    model, path = saved
    loaded = kb.load(path, allow=ALLOWED)
    assert repr(loaded) == repr(model)
    assert type(loaded.learner[1]) is theirs.Forgetful
    for _ in range(2):
        assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        said, others = (one.learn(X[30:], Y[30:]) for one in (model, loaded))
        np.testing.assert_array_equal(said, others)
    assert loaded.dual_coef_.tobytes() == model.dual_coef_.tobytes()


@pytest.mark.parametrize("missing", range(3))
def test_each_class_must_be_allowed(saved, missing):
    others = [name for i, name in enumerate(ALLOWED) if i != missing]
    message = rf"class {ALLOWED[missing]}, which is not kernbrook's; .*allow=\['{ALLOWED[missing]}'"
    with pytest.raises(ModelFileError, match=message):
        kb.load(saved[1], allow=others)
    with pytest.raises(ModelFileError, match="which is not kernbrook's"):
        kb.load(saved[1], allow="their_parts.ForgetfulDiscountingDoubting")


def test_nothing_is_imported_that_is_not_allowed(saved, monkeypatch):
    """Nor is what is allowed but not in the file."""
    for name in ("their_parts", "this"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for allow in ((), ["their_parts"], ["their_parts.Growing"], ["this.Zen"]):
        with pytest.raises(ModelFileError, match="which is not kernbrook's"):
            kb.load(saved[1], allow=allow)
        assert not {"their_parts", "this"} & sys.modules.keys()
    monkeypatch.setitem(sys.modules, "their_parts", theirs)
    assert repr(kb.load(saved[1], allow=[*ALLOWED, "this.Zen"]).combiner) == repr(saved[0].combiner)
    assert "this" not in sys.modules  # it would have printed a poem


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.Forgetful", "'nowhere.Forgetful' cannot be imported"),
        ("their_parts.Forgotten", "'their_parts.Forgotten' cannot be imported"),
        ("Forgetful", "'Forgetful' cannot be imported"),
        ("subprocess.Popen", "'subprocess.Popen' is no class of kernels, learners"),
        ("their_parts.from_0_to_1", "'their_parts.from_0_to_1' is no class of kernels, learners"),
    ],
)
def test_what_is_allowed_must_be_there_and_be_a_part(name, message, saved, monkeypatch):
    model, path = saved
    monkeypatch.setattr("kernbrook.persistence.encoding._name_outside", lambda value: name)
    kb.save(model, path)
    with pytest.raises(ModelFileError, match=message):
        kb.load(path, allow=[name])


def test_classes_that_cannot_be_imported(tmp_path):
    class Inner(theirs.Forgetful):
        pass

    message = "which a file cannot hold: its class must stand in a module that can be imported"
    with pytest.raises(InputError, match=message):
        kb.save(plain.classifier(learner=Inner()), tmp_path / "model")
    Main = type("Main", (theirs.Forgetful,), {"__module__": "__main__"})
    with pytest.raises(InputError, match=message):
        kb.save(plain.classifier(learner=Main()), tmp_path / "model")
    Other = type("Other", (BaseEstimator,), {"__module__": __name__})
    with pytest.raises(InputError, match=r"which a file cannot hold$"):
        kb.save(plain.classifier(learner=Other()), tmp_path / "model")
    assert not list(tmp_path.iterdir())
