"""What a comparison says: its table, its verdict, its page, its JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reports.showing import check, printed
from reports.synthetic import make_comparison, make_numbers

from kernbrook.errors import InputError
from kernbrook.reports import comparison_json, comparison_table, verdict, write_report


def shown(comparison, width=80, **options):
    return printed(comparison_table(comparison), width, **options)


def test_the_means_and_deviations_are_printed():
    comparison = make_comparison(("omkc-dd", "perceptron"), best=("perceptron",))
    text = shown(comparison)
    for row in comparison.rows:
        errors, stored = row.errors, row.values("n_support_stored")
        assert f"{errors.mean():.2f} ± {errors.std(ddof=1):.2f}" in text
        assert f"{stored.mean():.1f} ± {stored.std(ddof=1):.1f}" in text
        assert f"{row.values('seconds').mean():.3f}" in text
        assert row.title in text
        assert row.recipe in text
    assert "a3a: 3,185 rows x 123 features, 5 permutations" in text
    assert "active" not in text
    assert "labels" not in text
    assert "active" in shown(make_comparison(("omkc-dd", "omkc-ds")))
    some = shown(make_comparison(asked=0.5, permutations=1))
    assert "asked" in some
    assert "* fewest mistakes; one permutation allows no test" in some
    assert "±" not in some
    assert "…" not in some
    assert all(row.recipe in some for row in make_comparison().rows)


def test_the_best_rows_have_a_star_without_colour_and_are_bold_with_it():
    comparison = make_comparison()
    plain = shown(comparison, no_color=True)
    assert "\x1b" not in plain
    starred = [line.split()[0] for line in plain.splitlines() if "* " in line and "±" in line]
    assert starred == ["OMKC(S,D)", "OM-2"]
    assert "* not told from the least mean by a paired t-test at 5 %" in plain
    coloured = shown(comparison, force_terminal=True, color_system="standard").splitlines()
    bold = ["\x1b[1m" in line for line in coloured if "omkc-sd" in line or "omkc-dd" in line]
    assert bold == [False, True]


def test_a_comparison_without_rows_or_runs_is_refused(tmp_path):
    comparison = make_comparison(("omkc-dd",))
    empty = replace(comparison, rows=())
    without = replace(comparison, rows=(replace(comparison.rows[0], runs=()),))
    for say in (comparison_table, verdict, lambda found: write_report(found, tmp_path / "r.html")):
        with pytest.raises(InputError, match="found no rows"):
            say(empty)
        with pytest.raises(InputError, match=r"'omkc-dd', found none"):
            say(without)


def test_numbers():
    comparison = make_numbers()
    text = shown(comparison)
    assert "…" not in text
    assert "MSE x 1e-3" in text
    assert "mistakes" not in text
    for row in comparison.rows:
        line = next(line for line in text.splitlines() if row.recipe in line)
        errors = 1000 * row.values("error")
        assert f"{errors.mean():.2f} ± {errors.std(ddof=1):.2f}" in line
        assert f"{100 * row.values('labels_asked').mean() / 3185:.1f}" in line
        assert ("*" in line) == (row.recipe == "kernbrook-active")
    assert "paired t-test of the logarithms" in text
    assert "#SV" not in shown(make_numbers(("raker", "mean")))


@pytest.mark.parametrize(
    ("scale", "header", "value"),
    [(10, "MSE", "0.1281"), (1e-4, "MSE x 1e-6", "1.281"), (1e6, "MSE x 1e3", "12.81")],
)
def test_four_digits_of_the_least_error(scale, header, value):
    comparison = make_numbers(("kernbrook-active", "mean"), permutations=1, scale=scale)
    active, mean = (
        replace(row, runs=(replace(row.runs[0], error=scale * error),))
        for row, error in zip(comparison.rows, (0.01281, 0.0283), strict=True)
    )
    lines = shown(replace(comparison, rows=(active, mean))).splitlines()
    assert f" {header} " in lines[1]
    assert f" {value}*" in next(line for line in lines if "kernbrook-active" in line)


def test_errors_of_any_size_keep_the_table_in_shape():
    comparison = make_numbers()
    wild = [1e300, 1e299, 3e300, np.inf, 5.0]
    for errors, part in ((wild, " inf "), ([1e300] * 5, "1.00e+303")):
        first = comparison.rows[0]
        runs = tuple(replace(r, error=e) for r, e in zip(first.runs, errors, strict=True))
        text = shown(replace(comparison, rows=(replace(first, runs=runs), *comparison.rows[1:])))
        assert part in text
        assert f" {1000 * comparison.rows[2].errors.mean():.2f} ±" in text


def test_the_verdict_in_plain_words():
    text = verdict(make_comparison())
    assert text.startswith("OMKC(S,D) makes the fewest mistakes over 5 permutations of a3a: 20.")
    assert "t-test at 5 % does not tell it from OM-2." in text
    assert "always saying the label seen most often so far errs on 24." in text
    assert "repeating the last label errs on 36." in text
    assert "beats" not in text
    alone = make_comparison(("omkc-u", "majority"), best=())
    runs = tuple(replace(run, error=0.6) for run in alone.rows[0].runs)
    text = verdict(replace(alone, rows=(replace(alone.rows[0], runs=runs), alone.rows[1])))
    assert "errs on 60.00 % of the rounds" in text
    assert text.endswith("so nothing here beats the trivial rules.")
    assert "t-test" not in verdict(make_comparison(permutations=1))


def test_the_verdict_on_numbers():
    comparison = make_numbers()
    means = {row.recipe: 1000 * row.errors.mean() for row in comparison.rows}
    assert verdict(comparison) == (
        "kernbrook, half of the labels has the least mean squared error over 5 permutations of "
        f"energy: {means['kernbrook-active']:.2f}e-3. It asked for 48.0 % of the labels. For "
        "scale: always saying the mean of the labels so far makes "
        f"{means['mean']:.2f}e-3 and repeating the last value makes {means['last-value']:.2f}e-3."
    )
    both = verdict(make_numbers(("raker", "kernbrook-active"), best=("raker", "kernbrook-active")))
    assert "; a paired t-test of the logarithms at 5 % does not tell it from Raker." in both


@pytest.fixture
def page(tmp_path):
    def written(comparison):
        write_report(comparison, tmp_path / "report.html")
        return check((tmp_path / "report.html").read_text("utf-8"))

    return written


def test_a_page(page):
    found = page(make_comparison(asked=0.5))
    assert found.tags["svg"] == 3
    for part in ("OMKC(S,D)", "Final weights of", "kernbrook compare a3a", "9f2c9f2c", "labels",
                 "makes the fewest mistakes"):  # fmt: skip
        assert part in found.text
    few = page(make_comparison(("perceptron", "majority"), best=()))
    assert few.tags["svg"] == 2
    assert "Final weights" not in few.text


def test_a_page_of_numbers(page):
    found = page(replace(make_numbers(), left_out={"omkl": "a learner diverged"}))
    assert found.tags["svg"] == 3
    for part in (
        *("Error over time", "MSE x 1e-3", "asked %", "mean squared error", "left out: omkl: a"),
        *("Support vectors over time", "Final weights of kernbrook, half of the labels"),
    ):
        assert part in found.text
    assert "istake" not in found.text
    found = page(make_numbers(("raker", "mean"), best=()))
    assert found.tags["svg"] == 2
    for part in ("upport vectors", "asked %", "#SV", "left out"):
        assert part not in found.text


# -- as JSON: strict, complete, in per cent --------------------------------------------------------


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
