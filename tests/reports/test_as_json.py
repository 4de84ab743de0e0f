"""JSON: strict, complete, in per cent."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reports.synthetic import make_comparison, make_numbers

from kernbrook.reports import comparison_json


def strict(value):
    text = json.dumps(value, allow_nan=False)
    assert json.loads(text) == value
    return text


def test_a_comparison_round_trips():
    comparison = make_comparison(("omkc-dd", "majority"))
    value = comparison_json(comparison)
    strict(value)
    assert value["task"] == "classification"
    assert list(value) == [
        "data", "task", "n_rows", "n_features", "permutations", "best", "left_out", "manifest",
        "measure", "rows",
    ]  # fmt: skip
    for row, result in zip(comparison.rows, value["rows"], strict=True):
        assert result["recipe"] == row.recipe
        assert result["mean"] == pytest.approx(100 * np.mean([run.error for run in row.runs]))
        assert result["std"] == pytest.approx(row.errors.std(ddof=1))
        assert result["n_support_active_std"] == pytest.approx(
            row.values("n_support_active").std(ddof=1)
        )
        assert result["seconds_mean"] == pytest.approx(row.values("seconds").mean())
        for run, found in zip(row.runs, result["runs"], strict=True):
            assert found["error"] == pytest.approx(100 * run.error)
            assert found["labels_asked"] == run.labels_asked
            np.testing.assert_array_equal(found["kernel_weights"], run.history.kernel_weights[-1])
        history = result["history"]
        first = row.runs[0].history
        assert history["rounds"] == first.rounds.tolist()
        assert history["kernels"] == list(first.kernels)
        errors = [run.history.error for run in row.runs]
        assert history["error"] == pytest.approx(100 * np.mean(errors, axis=0))
        weights = [run.history.kernel_weights for run in row.runs]
        np.testing.assert_allclose(history["kernel_weights"], np.mean(weights, axis=0))


def test_numbers_are_as_they_are():
    comparison = make_numbers()
    value = comparison_json(replace(comparison, left_out={"omkl": "a learner diverged"}))
    strict(value)
    assert value["task"] == "regression"
    assert value["left_out"] == {"omkl": "a learner diverged"}
    for row, result in zip(comparison.rows, value["rows"], strict=True):
        errors = [run.error for run in row.runs]
        assert result["mean"] == pytest.approx(np.mean(errors))
        assert result["std"] == pytest.approx(np.std(errors, ddof=1))
        assert [run["error"] for run in result["runs"]] == errors
        assert result["labels_asked_mean"] == np.mean([run.labels_asked for run in row.runs])
        over = result["history"]
        assert over["error"][-1] == pytest.approx(np.mean(errors))
        assert over["labels_asked"][-1] == result["labels_asked_mean"]


def test_one_run_has_null_deviations():
    row = comparison_json(make_comparison(("omkc-dd",), permutations=1))["rows"][0]
    assert row["std"] is row["n_support_stored_std"] is row["n_support_active_std"] is None


def test_what_is_not_finite_becomes_null():
    comparison = make_comparison(("omkc-dd",), permutations=2)
    row = comparison.rows[0]
    runs = (replace(row.runs[0], error=float("nan"), seconds=float("inf")), row.runs[1])
    manifest = {"seed": np.int64(3), "path": Path("a/b"), "scale": np.float64("nan"), 1: {"x"}}
    value = comparison_json(replace(comparison, rows=(replace(row, runs=runs),), manifest=manifest))
    strict(value)
    assert value["rows"][0]["mean"] is None
    assert value["rows"][0]["runs"][0]["seconds"] is None
    assert value["manifest"] == {"seed": 3, "path": str(Path("a/b")), "scale": None, "1": ["x"]}
