"""Figures of comparisons: what is drawn, labelled and left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from covering import pairwise
from reports.showing import drawn, labels, painted
from reports.synthetic import RECIPES, make_comparison, make_numbers

from kernbrook.reports import draw
from kernbrook.reports.comparison import kernel_weights, learning_curves, support_vectors
from kernbrook.reports.plot import GREY

FIGURES = [learning_curves, support_vectors, kernel_weights]


def figure(plot):
    return painted(draw(plot))


def with_runs(comparison, runs, **changes):
    row = replace(comparison.rows[0], runs=tuple(runs))
    return replace(comparison, rows=(row, *comparison.rows[1:]), **changes)


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("make", "plot", "permutations", "samples"),
    pairwise([make_comparison, make_numbers], FIGURES, [1, 3], [1, 2, 40]),
)
def test_every_shape_of_history_is_drawn(make, plot, samples, permutations):
    figure(plot(make(samples=samples, permutations=permutations)))


def test_the_curve_is_the_mean_of_the_runs_in_per_cent():
    comparison = make_comparison(("perceptron",), best=())
    (line,) = learning_curves(comparison).panels[0].lines
    errors = np.array([run.history.error for run in comparison.rows[0].runs])
    np.testing.assert_allclose(line.y, 100 * errors.mean(axis=0))
    np.testing.assert_allclose(line.std, 100 * errors.std(axis=0, ddof=1))
    np.testing.assert_array_equal(line.x, comparison.rows[0].runs[0].history.rounds)
    # Bands are drawn where lines are few.
    assert all(line.std is None for line in learning_curves(make_comparison()).panels[0].lines)


def test_squared_errors_are_drawn_in_the_unit_of_the_table():
    comparison = make_numbers()
    plot = learning_curves(comparison)
    (panel,) = plot.panels
    assert (panel.x_label, panel.y_label) == ("rounds", "mean squared error so far (x 1e-3)")
    assert panel.y_scale == "linear"
    for row, line in zip(comparison.rows, panel.lines, strict=True):
        assert line.name == row.recipe
        assert line.y[-1] == pytest.approx(1000 * row.errors.mean())


def test_squared_errors_far_apart_have_a_logarithmic_axis():
    comparison = make_numbers()
    runs = [
        replace(run, history=replace(run.history, error=run.history.error * factor))
        for run, factor in zip(comparison.rows[0].runs, (1e30, 1e40, 1.0, 1e200, 2.0), strict=True)
    ]
    (axes,) = figure(learning_curves(with_runs(comparison, runs))).axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel().endswith("log scale")
    low, high = axes.get_ylim()
    assert 0 < low < 13
    assert high < 13_000  # what diverged does not flatten the others
    endless = [
        replace(run, history=replace(run.history, error=np.full(40, np.inf))) for run in runs
    ]
    figure(learning_curves(with_runs(comparison, endless)))


TEN = [recipe[0] for recipe in RECIPES if recipe[0] != "omkc-u"]


def test_active_support_vectors_are_shown_where_they_differ():
    picture = figure(support_vectors(make_comparison(TEN)))
    names = labels(picture)
    active = [text for text in names if "active" in text]
    assert sorted(active) == ["OMKC(D,S) active", "OMKC(S,S) active"]
    assert picture.axes[0].get_yscale() == "log"
    assert "Majority" not in names  # nothing stored: no place on a logarithmic axis
    alike = support_vectors(make_comparison(("omkc-dd", "omkc-sd")))
    assert alike.panels[0].y_scale == "linear"


def test_a_panel_for_each_recipe_with_several_kernels():
    comparison = make_comparison()
    picture = figure(kernel_weights(comparison))
    many = [row for row in comparison.rows if len(row.runs[0].history.kernels) > 1]
    assert len(many) == 7  # the figure shows the six that err least
    best = sorted(many, key=lambda row: row.errors.mean())[:6]
    assert [axes.get_title(loc="left") for axes in picture.axes] == [row.title for row in best]
    for axes, row in zip(picture.axes, best, strict=True):
        final = np.mean([run.history.kernel_weights[-1] for run in row.runs], axis=0)
        assert sorted(line.get_ydata()[-1] for line in axes.lines) == pytest.approx(sorted(final))
    named = [text.get_text() for text in picture.legends[0].get_texts()]
    assert named[-1] == "the other kernels"
    assert 1 < len(named) <= 7


def many_recipes(count=24, **options):
    """As many recipes, the first of the least error, and a trivial one."""
    one = make_comparison(("omkc-dd", "majority"), best=(), **options)
    rows = []
    for place in range(count - 1):
        runs = tuple(
            replace(run, error=0.2 + 0.01 * place,
                    history=replace(run.history, error=run.history.error + 0.01 * place))
            for run in one.rows[0].runs
        )  # fmt: skip
        rows.append(replace(one.rows[0], recipe=f"r{place}", title=f"R {place}", runs=runs))
    return replace(one, rows=(*rows[::-1], one.rows[1]))


def test_of_many_recipes_the_five_best_and_the_trivial_have_names():
    comparison = many_recipes()
    picture = figure(learning_curves(comparison))
    assert set(labels(picture)) == {"R 0", "R 1", "R 2", "R 3", "R 4", "Majority"}
    lines = drawn(picture.axes[0])
    assert len(lines) == 24
    colours = [line.get_color() for line in lines]
    assert sum(colour != GREY for colour in colours) == 5
    assert all(colour == GREY for colour in colours[:18])  # below those with a name
    assert {line.get_linewidth() for line in lines[:18]} == {0.6}
    ten = make_comparison(TEN)
    named = labels(figure(learning_curves(ten)))
    assert {text.removesuffix(" *") for text in named} == {row.title for row in ten.rows}
    assert {text for text in named if text.endswith(" *")} == {"OMKC(S,D) *", "OM-2 *"}
