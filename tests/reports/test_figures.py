"""Figures: what is drawn, labelled and left out."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.synthetic import (
    make_comparison,
    make_curves,
    make_discounts,
    make_numbers,
    make_study,
)

from kernbrook.errors import InputError
from kernbrook.reports import (
    discount_curve,
    kernel_weights,
    learning_curves,
    parameter_curves,
    stream_length_curves,
    support_vectors,
)
from kernbrook.reports.drawing import spread, svg

DRAW = [learning_curves, support_vectors, kernel_weights]


def labels(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def painted(figure):
    figure.savefig(io.BytesIO(), format="png")
    return figure


@pytest.mark.parametrize("samples", [1, 2, 40])
@pytest.mark.parametrize("permutations", [1, 3])
@pytest.mark.parametrize("draw", DRAW)
def test_every_shape_of_history_is_drawn(draw, samples, permutations):
    painted(draw(make_comparison(samples=samples, permutations=permutations)))


def test_axes_are_labelled_with_units():
    comparison = make_comparison()
    for draw, words in ((learning_curves, "%"), (support_vectors, "number")):
        axes = draw(comparison).axes[0]
        assert axes.get_xlabel() == "rounds"
        assert words in axes.get_ylabel()
    weights, curves = kernel_weights(comparison), discount_curve(make_discounts())
    assert weights.get_supxlabel() == "rounds"
    assert "sum 1" in weights.axes[0].get_ylabel()
    assert "discount" in curves.get_supxlabel()
    assert "%" in curves.get_supylabel()


def test_the_curve_is_the_mean_of_the_runs_in_per_cent():
    comparison = make_comparison(("perceptron",), best=())
    line = learning_curves(comparison).axes[0].lines[0]
    expected = 100 * np.mean([run.history.error for run in comparison.rows[0].runs], axis=0)
    np.testing.assert_allclose(line.get_ydata(), expected)


@pytest.mark.parametrize("samples", [1, 2, 40])
@pytest.mark.parametrize("permutations", [1, 3])
@pytest.mark.parametrize("draw", DRAW)
def test_numbers_are_drawn(draw, samples, permutations):
    painted(draw(make_numbers(samples=samples, permutations=permutations)))


def test_squared_errors_are_drawn_in_the_unit_of_the_table():
    comparison = make_numbers()
    axes = learning_curves(comparison).axes[0]
    assert axes.get_ylabel() == "mean squared error so far (x 1e-3)"
    assert axes.get_yscale() == "linear"
    for row, line in zip(comparison.rows, axes.lines[::1], strict=False):
        drawn = line.get_ydata()
        assert drawn[-1] == pytest.approx(1000 * row.errors.mean())


def test_squared_errors_far_apart_have_a_logarithmic_axis():
    comparison = make_numbers()
    runs = tuple(
        replace(run, history=replace(run.history, error=run.history.error * factor))
        for run, factor in zip(comparison.rows[0].runs, (1e30, 1e40, 1.0, 1e200, 2.0), strict=True)
    )
    rows = (replace(comparison.rows[0], runs=runs), *comparison.rows[1:])
    figure = painted(learning_curves(replace(comparison, rows=rows)))
    axes = figure.axes[0]
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel().endswith("log scale")
    low, high = axes.get_ylim()
    assert 0 < low < 13
    assert high < 13_000  # what diverged does not flatten the others
    endless = tuple(
        replace(run, history=replace(run.history, error=np.full(40, np.inf))) for run in runs
    )
    rows = (replace(comparison.rows[0], runs=endless), *comparison.rows[1:])
    painted(learning_curves(replace(comparison, rows=rows)))


def test_every_recipe_has_a_name_and_the_names_do_not_touch():
    comparison = make_comparison()
    figure = painted(learning_curves(comparison))
    assert {text.removesuffix(" *") for text in labels(figure)} == {
        row.title for row in comparison.rows
    }
    assert {text for text in labels(figure) if text.endswith(" *")} == {"OMKC(S,D) *", "OM-2 *"}
    boxes = sorted(text.get_window_extent().y0 for text in figure.axes[0].texts)
    assert min(np.diff(boxes)) > 10


def test_bands_only_where_lines_are_few():
    few, many = make_comparison(("omkc-dd", "perceptron")), make_comparison()
    assert len(learning_curves(few).axes[0].collections) == 2
    assert len(learning_curves(many).axes[0].collections) == 0


def test_active_support_vectors_are_shown_where_they_differ():
    figure = support_vectors(make_comparison())
    assert [text for text in labels(figure) if "active" in text] == [
        "OMKC(D,S) active",
        "OMKC(S,S) active",
    ]
    assert figure.axes[0].get_yscale() == "log"
    assert "Majority" not in labels(figure)  # nothing stored: no place on a logarithmic axis
    assert support_vectors(make_comparison(("omkc-dd", "omkc-sd"))).axes[0].get_yscale() == "linear"


def test_recipes_that_store_nothing_are_drawn_alone():
    painted(support_vectors(make_comparison(("majority", "last-label"), best=())))


def test_a_panel_for_each_recipe_with_several_kernels():
    comparison = make_comparison()
    figure = kernel_weights(comparison)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        row.title for row in comparison.rows if len(row.runs[0].history.kernels) > 1
    ]
    assert all(len(axes.lines) == 16 for axes in figure.axes)
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named[-1] == "the other kernels"
    assert 1 < len(named) <= 7
    with pytest.raises(InputError, match="more than one kernel"):
        kernel_weights(make_comparison(("perceptron", "majority")))


def test_runs_sampled_at_other_rounds_are_interpolated():
    comparison = make_comparison(("omkc-dd",), permutations=1)
    other = make_comparison(("omkc-dd",), permutations=1, samples=7).rows[0].runs
    row = replace(comparison.rows[0], runs=comparison.rows[0].runs + other)
    for draw in DRAW:
        painted(draw(replace(comparison, rows=(row,))))


def test_hostile_names_are_drawn_as_they_are():
    comparison = make_comparison(("omkc-dd",), kernels=(r"$\frac", "_x", "核\x00\n", "a" * 300))
    row = replace(comparison.rows[0], title=r"_$\undefined$ <b> " + "x" * 300)
    for draw in DRAW:
        text = svg(draw(replace(comparison, rows=(row,), data="$")), "f", "<>&\"'")
        assert "<b>" not in text


def test_discounts_need_a_curve():
    with pytest.raises(InputError, match="at least one algorithm"):
        discount_curve({})
    figure = painted(discount_curve(make_discounts([f"d{i}" for i in range(16)])))
    assert len(figure.axes) == 16


@pytest.mark.parametrize("permutations", [1, 3])
def test_a_parameter_has_a_panel_for_each_quantity(permutations):
    points = [p for p in make_study(permutations).points if p.parameter == "divisor"]
    figure = painted(parameter_curves(points))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["mistakes (%)", "support vectors", "seconds"]
    assert figure.get_supxlabel() == "divisor of SPA"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["SPA", "RBP", "BPAS"]
    for axes, values in zip(figure.axes, ("error", "n_support", "seconds"), strict=True):
        spa = axes.lines[-1]  # drawn last, so on top
        own = [point for point in points if point.curve == "SPA"]
        np.testing.assert_allclose(spa.get_xdata(), [point.value for point in own])
        np.testing.assert_allclose(spa.get_ydata(), [getattr(point, values) for point in own])
        banded = permutations > 1 and values != "seconds"
        assert len(axes.collections) == (3 if banded else 0)
    with pytest.raises(InputError, match="at least one point"):
        parameter_curves([])


@pytest.mark.parametrize("shown", ["accuracy", "seconds"])
def test_curves_over_the_length_of_the_stream(shown):
    result = make_curves(shown, budgets=(None, 100, 500))
    figure = painted(stream_length_curves(result))
    (axes,) = figure.axes
    assert labels(figure) == ["PegasosM", "BPM+random, B = 100", "BPM+merging, B = 500"]
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == ("log" if shown == "seconds" else "linear")
    assert axes.get_xlim() == (1000 if shown == "seconds" else 100, 20000)
    drawn = [line for line in axes.lines if line.get_transform() == axes.transData]
    whole = [line for line in drawn if len(line.get_xdata()) > 2]
    for line, curve in zip(whole, result.curves, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), curve.rows)
        np.testing.assert_array_equal(line.get_ydata(), getattr(curve, shown))
    end = getattr(result.curves[0], shown)[-1]
    dot, dotted = (line for line in drawn if len(line.get_xdata()) <= 2)
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (5000, end)
    assert dotted.get_xdata().tolist() == [5000, 20000]
    assert dotted.get_ydata().tolist() == [end, end]
    low, high = axes.get_ylim()
    for curve in result.curves:
        values = np.array(getattr(curve, shown))[np.array(curve.rows) >= 1000]
        assert low <= values.min() <= values.max() <= high


def test_curves_of_any_length_are_drawn():
    for stopped in (50, 100, 20000):
        for shown in ("accuracy", "seconds"):
            painted(stream_length_curves(make_curves(shown, stopped=stopped)))
    same = stream_length_curves(make_curves(stopped=20000))
    assert len([line for line in same.axes[0].lines if len(line.get_xdata()) == 1]) == 0
    one = replace(make_curves(), curves=make_curves(stopped=50).curves[:1])
    for shown in ("accuracy", "seconds"):
        painted(stream_length_curves(replace(one, shown=shown)))
    with pytest.raises(InputError, match="at least one curve"):
        stream_length_curves(replace(one, curves=()))


def test_the_readers_settings_are_neither_used_nor_changed():
    comparison = make_comparison()
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "xtick.color": "blue"}):
        before = dict(matplotlib.rcParams)
        odd = svg(learning_curves(comparison), "f", "")
        assert dict(matplotlib.rcParams) == before
    assert odd == svg(learning_curves(comparison), "f", "")


def test_the_import_is_light_and_pyplot_stays_out(tmp_path):
    code = (
        "import sys, kernbrook.reports as r\n"
        "heavy = {'matplotlib', 'rich', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from reports.synthetic import make_comparison\n"
        "r.write_report(make_comparison(('omkc-dd',)), sys.argv[1])\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    path = [entry for entry in sys.path if entry]
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}", tmp_path / "r.html"],
        check=True,
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.03))
def test_labels_are_spread_in_order_and_within_the_axes(wanted, gap):
    places = np.array(spread(wanted, gap))
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9
    ordered = np.sort(places)
    assert np.all(np.diff(ordered) >= gap - 1e-9)
    assert np.all(np.diff(np.array(wanted)[np.argsort(places)]) >= 0)
