"""Predictions of a whole stream, chunk by chunk."""

import numpy as np
import pytest

import kernbrook as kb


@pytest.fixture
def model():
    X, y = kb.open_stream("checkerboard:1500").read()
    return kb.OnlineMKClassifier([kb.Gaussian(sigma=0.5)], kb.Perceptron(), kb.Uniform()).fit(X, y)


def test_it_is_predicting_at_once(model):
    X, y = kb.open_stream("checkerboard:2500", seed=1).read()
    chunks = list(kb.evaluation.predict_stream(model, (X, y), scores=True))
    assert [len(labels) for labels, _ in chunks] == [1024, 1024, 452]
    np.testing.assert_array_equal(np.concatenate([c[0] for c in chunks]), model.predict(X))
    scores = np.concatenate([scores for _, scores in chunks])
    np.testing.assert_array_equal(scores, model.decision_function(X))


def test_a_file_of_a_model_takes_a_file_without_labels(model, tmp_path):
    kb.save(model, tmp_path / "model.kb")
    X = kb.open_stream("checkerboard:20", seed=2).read()[0]
    np.savetxt(tmp_path / "new.csv", X, delimiter=",", header="x1,x2", comments="")
    ((labels, scores),) = kb.evaluation.predict_stream(tmp_path / "model.kb", tmp_path / "new.csv")
    assert scores is None
    np.testing.assert_array_equal(labels, model.predict(X))


def test_scores_that_are_not_there():
    trivial = kb.recipes.make("majority").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(kb.errors.InputError, match="scores"):
        next(kb.evaluation.predict_stream(trivial, ([[0.0]], [1]), scores=True))
