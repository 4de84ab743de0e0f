"""Calls with arrays that make no sense: words, and the model is as it was."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import hard_streams
import numpy as np
import scipy.sparse as sp
from fuzz.cases import ACCEPTED, ODD, REFUSED, one_of, said_in_a_line
from sklearn.base import clone

import kernbrook as kb

X, Y = hard_streams.gaussian_clouds(40, 3)
LEARNERS = {
    "perceptron": kb.Perceptron(),
    "budget": kb.BPAS(9),
    "pegasos": kb.Pegasos(9),
    "features": kb.Ridge(features=kb.RandomFeatures(4)),
    "window": kb.GradientDescent(features=None, budget=20, loss="hinge"),
    "cells": kb.Cells([kb.RandomBinning(6, [2, None], cells=99), kb.GrownPartitions(3, 30, 2, 5)]),
    "boosted trees": kb.BoostedTrees(3, 4, 40, work=90),
}
SAYING = "predict", "decision_function", "predict_proba"
VERBS = "fit", "partial_fit", "learn", "learn_one", *SAYING


def odd_matrix(rng: np.random.Generator) -> Any:
    """Rows as nobody should give them, or almost right."""
    rows = X.copy()
    where = int(rng.integers(len(X))), int(rng.integers(3))
    match int(rng.integers(16)):
        case 0:
            rows[where] = one_of(rng, [np.nan, np.inf, -np.inf, 1e154, 1e160, 1e308, 5e-324])
        case 1:
            rows = rows[:, : int(rng.integers(3))]
        case 2:
            rows = one_of(rng, [rows[0], rows[None], rows[:0], rows.T, rows[:1], rows[:, :, None]])
        case 3:
            kinds = [object, str, complex, np.float16, np.int8, bool, ">f8"]
            rows = rows.astype(one_of(rng, kinds))
        case 4:
            rows = rows.astype(object)
            rows[where] = one_of(rng, ODD)
        case 5:
            return one_of(rng, ODD)
        case 6:
            return [*rows.tolist()[:-1], [1.0]]
        case 7:
            rows = np.asfortranarray(rows)[::-1]
        case 8:
            return np.ma.masked_array(rows, mask=rows > 1)
        case _:
            return odd_csr(rng)
    return rows


def odd_csr(rng: np.random.Generator) -> Any:
    """A CSR matrix whose arrays do not say what one should."""
    whole = sp.csr_matrix(np.where(X > 0, X, 0.0))
    data, indices, indptr = whole.data.copy(), whole.indices.copy(), whole.indptr.copy()
    at = int(rng.integers(len(indices)))
    match int(rng.integers(9)):
        case 0:
            indices[at] = one_of(rng, [-1, 3, 1000, 2**31 - 1, -(2**31)])
        case 1:
            indices += 1
        case 2:
            indptr[int(rng.integers(len(indptr)))] = one_of(rng, [-1, 0, 5, 10**6, len(data)])
        case 3:
            rng.shuffle(indices)
        case 4:
            data[at] = one_of(rng, [np.nan, np.inf, 0.0, 1e200])
        case 5:
            data = data[:-1]
        case 6:
            indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        case 7:
            return one_of(rng, [whole.tocsc(), whole.tocoo(), sp.csr_array(whole), whole.tolil()])
        case _:
            data = data.astype(one_of(rng, [np.float32, np.int64, bool, complex, object]))
    found = sp.csr_matrix(whole.shape)
    found.data, found.indices, found.indptr = data, indices, indptr
    return found


def odd_labels(rng: np.random.Generator) -> Any:
    y = Y.copy()
    match int(rng.integers(9)):
        case 0:
            return one_of(rng, ODD)
        case 1:
            y[int(rng.integers(len(y)))] = one_of(rng, [np.nan, np.inf, 7.0, 1e308, 0.5])
        case 2:
            return one_of(rng, [y[:-1], y[:0], y[None], y[:, None], y[:, None, None]])
        case 3:
            y = y.astype(object)
            y[int(rng.integers(len(y)))] = one_of(rng, ODD)
        case 4:
            return y.astype(one_of(rng, [str, bytes, bool, complex, np.int8, object]))
        case 5:
            return np.ones(len(y))
        case 6:
            return y.tolist()
    return y


def arrays(rng: np.random.Generator, folder: Path) -> str:
    """Odd X, y and weights for each verb; the model goes on as if the call had not been."""
    learner = one_of(rng, list(LEARNERS.values()))
    make = kb.OnlineMKRegressor if rng.random() < 0.2 else kb.OnlineMKClassifier
    if getattr(learner, "only_classes", False):
        make = kb.OnlineMKClassifier
    kernels = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=3)]
    model = make(kernels, learner, scaling=None, random_state=0)
    if make is kb.OnlineMKRegressor:
        model.set_params(learner=kb.Ridge(features=kb.RandomFeatures(4)))
    begun = rng.random() < 0.7
    if begun:
        model.fit(X, Y)
    verb = one_of(rng, [name for name in VERBS if hasattr(model, name)])
    rows = odd_matrix(rng) if rng.random() < 0.7 else X
    labels = odd_labels(rng) if rng.random() < 0.6 else Y
    others: dict[str, Any] = {}
    if verb in ("fit", "partial_fit") and rng.random() < 0.3:
        others["sample_weight"] = one_of(
            rng, [*ODD, np.full(40, -1.0), np.full(40, np.nan), np.full(40, 1e308), np.zeros(40)]
        )
    if verb in ("partial_fit", "learn") and make is kb.OnlineMKClassifier and rng.random() < 0.5:
        others["classes"] = one_of(rng, [[-1, 1], [-1.0, 1.0], [1], [1, 1], ["a", 1], *ODD])
    given = (rows,) if verb in SAYING else (rows, labels)
    if verb == "learn_one":
        given = (one_of(rng, [rows, X[0]]), one_of(rng, [labels, 1.0, *ODD]))
    with warnings.catch_warnings(), np.errstate(all="ignore"), said_in_a_line() as refused:
        warnings.simplefilter("ignore")
        found = getattr(model, verb)(*given, **others)
        if verb in ("decision_function", "predict_proba"):
            assert np.isfinite(found).all()
    if refused and begun and verb != "fit":
        twin = clone(model).fit(X, Y)
        said = f"{verb}: {refused[0]}"
        np.testing.assert_array_equal(model.predict(X), twin.predict(X), err_msg=said)
    return REFUSED if refused else ACCEPTED
