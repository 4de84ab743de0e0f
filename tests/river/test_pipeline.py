"""A worked pipeline: River's scaler, our machine, River's metrics, drift detector and delays."""

import numpy as np
import pytest
from river import compose, datasets, drift, evaluate, linear_model, metrics, preprocessing
from river.datasets import synth

import kernbrook as kb

FEW = {"kernels": [kb.Gaussian(sigma=s) for s in (1, 2, 4)], "learner": kb.BPAS(50)}


def pipeline(**choices):
    machine = kb.river.MKClassifier(**FEW, seed=0, **choices)
    return preprocessing.StandardScaler() | machine


def test_progressive_validation_is_prequential():
    """The same mistakes as our own run makes on the rows that River's scaler gives."""
    rows = [*datasets.Phishing()]
    metric = evaluate.progressive_val_score(rows, pipeline(scaling=None), metrics.Accuracy())
    scaler, scaled, seen = preprocessing.StandardScaler(), [], []
    for x, _ in rows:
        seen.append([*scaler.transform_one(x).values()])
        scaler.learn_one(x)
        scaled.append([*scaler.transform_one(x).values()])
    order = np.argsort([*rows[0][0]])
    model = kb.OnlineMKClassifier(**FEW, scaling=None, random_state=0)
    right = 0
    for i, (_, y) in enumerate(rows):
        if i:
            right += model.predict_one(np.array(seen[i])[order]) == y
        model.learn_one(np.array(scaled[i])[order], y, classes=None if i else [False, True])
    assert metric.get() == pytest.approx(right / (len(rows) - 1))
    assert metric.get() > 0.85


def test_labels_that_come_100_rows_late():
    """What is said of a row is said before the labels of the 100 rows before it are known."""
    rows = [*datasets.Phishing().take(400)]
    late = evaluate.progressive_val_score(rows, pipeline(), metrics.Accuracy(), delay=100)
    model, said = pipeline(), []
    for t, (x, _) in enumerate(rows):
        if t >= 100:
            model.learn_one(*rows[t - 100])
        said.append(model.predict_one(x))
    known = [(answer, y) for answer, (_, y) in zip(said, rows, strict=True) if answer is not None]
    assert late.get() == pytest.approx(np.mean([answer == y for answer, y in known]))
    assert len(known) == 300
    assert late.get() > 0.7


def test_metrics_of_probabilities():
    both = metrics.ROCAUC() + metrics.LogLoss()
    found = evaluate.progressive_val_score(datasets.Phishing(), pipeline(), both)
    area, loss = found.get()
    assert area > 0.92
    assert loss < 0.45


def test_many_classes():
    rows = [*datasets.ImageSegments().take(800)]
    scaler = preprocessing.StandardScaler()
    machine = kb.river.MKClassifier(**FEW | {"learner": kb.BPAS(300)}, seed=0)
    found = evaluate.progressive_val_score(rows, scaler | machine, metrics.Accuracy())
    linear = scaler.clone() | linear_model.SoftmaxRegression()
    assert found.get() > evaluate.progressive_val_score(rows, linear, metrics.Accuracy()).get()
    assert len(machine.predict_proba_one({})) == 7


def test_a_drift_detector_sees_the_change():
    """And a machine that begins anew then does better than before the change was seen."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] * X[:, 1] > 0) ^ (np.arange(1200) >= 600)
    model, detector, seen, right = pipeline(), drift.ADWIN(delta=0.01), [], []
    for t, row in enumerate(X.tolist()):
        x = dict(zip("abc", row, strict=True))
        right.append(model.predict_one(x) == y[t])
        if t >= 200:  # it has learned something
            detector.update(int(not right[-1]))
        if detector.drift_detected:
            seen.append(t)
            model = model.clone()
        model.learn_one(x, bool(y[t]))
    assert len(seen) == 1
    assert 600 < seen[0] < 750
    assert np.mean(right[400:600]) > 0.75
    assert np.mean(right[-200:]) > 0.75
    assert np.mean(right[600 : seen[0]]) < 0.6


def test_numbers():
    model = preprocessing.StandardScaler() | kb.river.MKRegressor(
        kernels=kb.Gaussian(sigma=4.0), learner=kb.Ridge(features=kb.RandomFeatures(50)), seed=0
    )
    rows = synth.Friedman(seed=0).take(500)
    found = evaluate.progressive_val_score(rows, model, metrics.R2())
    assert found.get() > 0.6


def test_text_grows_word_by_word():
    """One column for each word: a machine under a budget, behind bags of words."""
    from river import feature_extraction

    spam = ["win money now", "free money offer", "win a free prize now", "cheap offer for you"]
    ham = ["see you at lunch", "the meeting is at noon", "lunch at home", "home by noon then"]
    rng = np.random.default_rng(0)
    model = feature_extraction.BagOfWords() | kb.river.MKClassifier(
        kernels=[kb.Linear(), kb.Gaussian(sigma=2)], learner=kb.BPAS(20), scaling=None, seed=0
    )
    right = []
    for _ in range(120):
        kind, texts = [("spam", spam), ("ham", ham)][int(rng.integers(2))]
        words = f"{texts[int(rng.integers(4))]} {rng.integers(1000)}"
        right.append(model.predict_one(words) == kind)
        model.learn_one(words, kind)
    assert np.mean(right[20:]) > 0.95
    assert model["MKClassifier"].estimator.n_features_in_ > 120


def test_active_learning_in_the_documented_loop():
    machine = pipeline(labels=kb.LabelBudget(0.2))
    model, metric, used = kb.river.PolicySampler(machine), metrics.Accuracy(), 0
    for x, y in datasets.Phishing():
        said, ask = model.predict_one(x)
        metric.update(y, said)
        if ask:
            used += 1
            model.learn_one(x, y)
    assert 0.15 < used / 1250 <= 0.2
    assert metric.get() > 0.8
    late = evaluate.progressive_val_score(
        datasets.Phishing().take(300), model.clone(), metrics.Accuracy(), delay=20
    )
    assert late.get() > 0.6


def test_beside_other_transformers():
    maps = kb.river.KernelFeatures(kb.Gaussian(sigma=4), kb.RandomFeatures(30), seed=0)
    both = compose.TransformerUnion(compose.Select("age_of_domain"), maps)
    model = preprocessing.StandardScaler() | both | linear_model.LogisticRegression()
    x, y = next(iter(datasets.Phishing()))
    model.learn_one(x, y)
    assert len(model["LogisticRegression"].weights) == 61
