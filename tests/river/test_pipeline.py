"""A worked pipeline: River's scaler, our machine, River's metrics, drift detector and delays."""

import numpy as np
import pytest
from river import datasets, evaluate, metrics, preprocessing

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
