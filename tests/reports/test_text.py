"""Tables for the terminal: figures, stars, widths."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from reports.synthetic import (
    make_accuracies,
    make_comparison,
    make_curves,
    make_numbers,
    make_ratios,
    make_reproduction,
    make_study,
)
from rich.console import Console

from kernbrook.errors import InputError
from kernbrook.reports import (
    accuracy_table,
    comparison_table,
    curve_table,
    ratio_table,
    reproduction_table,
    study_table,
)


def printed(table, width=80, **options):
    stream = io.StringIO()
    Console(file=stream, width=width, **options).print(table)
    return stream.getvalue()


def test_the_means_and_deviations_are_printed():
    comparison = make_comparison(("omkc-dd", "perceptron"), best=("perceptron",))
    text = printed(comparison_table(comparison))
    for row in comparison.rows:
        errors, stored = row.errors, row.values("n_support_stored")
        assert f"{errors.mean():.2f} ± {errors.std(ddof=1):.2f}" in text
        assert f"{stored.mean():.1f} ± {stored.std(ddof=1):.1f}" in text
        assert f"{row.values('seconds').mean():.3f}" in text
        assert row.title in text
        assert row.recipe in text
    assert "a3a: 3,185 rows x 123 features, 5 permutations" in text


def test_the_best_rows_have_a_star_without_colour_and_are_bold_with_it():
    table = comparison_table(make_comparison())
    plain = printed(table, no_color=True)
    assert "\x1b" not in plain
    starred = [line.split()[0] for line in plain.splitlines() if "* " in line and "±" in line]
    assert starred == ["OMKC(S,D)", "OM-2"]
    assert "* not told from the least mean by a Student t-test at 5 %" in plain
    coloured = printed(table, force_terminal=True, color_system="standard").splitlines()
    assert ["\x1b[1m" in line for line in coloured if "omkc-sd" in line or "omkc-dd" in line] == [
        False,
        True,
    ]


@pytest.mark.parametrize("asked", [1.0, 0.37])
@pytest.mark.parametrize("permutations", [1, 20])
def test_eleven_recipes_fit_eighty_columns(asked, permutations):
    comparison = make_comparison(asked=asked, permutations=permutations)
    lines = printed(comparison_table(comparison)).splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    assert len(lines) == 3 + len(comparison.rows) + 1
    assert all(row.recipe in "".join(lines) for row in comparison.rows)


def test_a_wide_terminal_shows_decimals_and_titles():
    text = printed(comparison_table(make_comparison(), width=120), width=120)
    assert "Perceptron(*)" in text
    assert "16048.6 ± 723.4" in text


def test_the_signs_of_a_column_stand_under_each_other():
    lines = printed(comparison_table(make_comparison())).splitlines()
    rows = [line for line in lines if "±" in line]
    assert len({tuple(np.flatnonzero([c == "±" for c in line])) for line in rows}) == 1


def test_columns_that_say_nothing_are_left_out():
    text = printed(comparison_table(make_comparison(("omkc-dd", "perceptron"))))
    assert "active" not in text
    assert "labels" not in text
    assert "active" in printed(comparison_table(make_comparison(("omkc-dd", "omkc-ds"))))
    some = printed(comparison_table(make_comparison(("omkc-dd",), asked=0.5)))
    assert "labels asked  asked %" in some
    assert " 1592     50.0 " in some


def test_one_permutation_has_no_deviation_and_no_test():
    text = printed(comparison_table(make_comparison(permutations=1)))
    assert "±" not in text
    assert text.splitlines()[0].rstrip().endswith(", 1 permutation")
    assert "one permutation allows no test" in text


def test_names_are_not_markup():
    comparison = replace(make_comparison(("omkc-dd",)), data="[red]x[/red] [")
    assert "[red]x[/red] [:" in printed(comparison_table(comparison))


def test_long_names_are_cut_before_numbers():
    comparison = make_comparison(("omkc-dd", "omkc-ds"))
    rows = (replace(comparison.rows[0], recipe="r" * 120), comparison.rows[1])
    text = printed(comparison_table(replace(comparison, rows=rows)))
    assert max(map(len, text.splitlines())) <= 80
    errors = comparison.rows[0].errors
    assert f"{errors.mean():.2f} ± {errors.std(ddof=1):.2f}" in text


def test_a_comparison_without_rows_or_runs_is_refused():
    comparison = make_comparison(("omkc-dd",))
    with pytest.raises(InputError, match="found no rows"):
        comparison_table(replace(comparison, rows=()))
    with pytest.raises(InputError, match=r"'omkc-dd', found none"):
        comparison_table(replace(comparison, rows=(replace(comparison.rows[0], runs=()),)))


@pytest.mark.parametrize("permutations", [1, 5])
@pytest.mark.parametrize("width", [80, 120])
def test_numbers(width, permutations):
    comparison = make_numbers(permutations=permutations)
    text = printed(comparison_table(comparison, width=width), width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in text
    assert "MSE x 1e-3" in text
    assert "mistakes" not in text
    for row in comparison.rows:
        line = next(line for line in lines if row.recipe in line)
        errors = 1000 * row.values("error")
        std = f" ± {errors.std(ddof=1):.2f}" if permutations > 1 else ""
        assert f"{errors.mean():.2f}{std}" in line
        assert f"{100 * row.values('labels_asked').mean() / 3185:.1f}" in line
    star = next(line for line in lines if "kernbrook-active" in line)
    assert "*" in star
    assert ("Student t-test of the logarithms" in text) == (permutations > 1)
    assert ("least error; one permutation allows no test" in text) == (permutations == 1)


@pytest.mark.parametrize(
    ("scale", "header", "shown"),
    [
        (1e4, "MSE", "128.1"),
        (1e2, "MSE", "1.281"),
        (10, "MSE", "0.1281"),
        (0.1, "MSE x 1e-3", "1.281"),
        (1e-4, "MSE x 1e-6", "1.281"),
        (1e6, "MSE x 1e3", "12.81"),
    ],
)
def test_four_digits_of_the_least_error(scale, header, shown):
    comparison = make_numbers(("kernbrook-active", "mean"), permutations=1, scale=scale)
    active, mean = (
        replace(row, runs=(replace(row.runs[0], error=scale * error),))
        for row, error in zip(comparison.rows, (0.01281, 0.0283), strict=True)
    )
    lines = printed(comparison_table(replace(comparison, rows=(active, mean)))).splitlines()
    assert f" {header} " in lines[1]
    assert f" {shown}*" in next(line for line in lines if "kernbrook-active" in line)


def test_errors_of_any_size_keep_the_table_in_shape():
    comparison = make_numbers()
    wild = [1e300, 1e299, 3e300, np.inf, 5.0]
    runs = tuple(replace(r, error=e) for r, e in zip(comparison.rows[0].runs, wild, strict=True))
    rows = (replace(comparison.rows[0], runs=runs), *comparison.rows[1:])
    text = printed(comparison_table(replace(comparison, rows=rows)))
    assert " inf " in text
    assert f" {1000 * comparison.rows[2].errors.mean():.2f} ±" in text
    runs = tuple(replace(run, error=1e300) for run in runs)
    rows = (replace(comparison.rows[0], runs=runs), *comparison.rows[1:])
    assert "1.00e+303" in printed(comparison_table(replace(comparison, rows=rows)))


def test_support_vectors_of_numbers_only_where_there_are_any():
    assert "#SV" not in printed(comparison_table(make_numbers(("raker", "mean"))))
    assert "#SV" in printed(comparison_table(make_numbers(("raker", "kl-poly"))))
    assert "#SV" in printed(comparison_table(make_comparison(("majority",))))


def test_what_is_left_out_stands_below():
    why = "a learner diverged"
    comparison = replace(make_numbers(), left_out={"kl-rbf": why, "omkl": "no", "amkl": why})
    lines = printed(comparison_table(comparison)).splitlines()
    below = [line.strip() for line in lines[-2:]]
    assert below == ["left out: kl-rbf, amkl: a learner diverged", "left out: omkl: no"]


@pytest.mark.parametrize("width", [80, 87, 120])
def test_a_reproduction_stands_beside_the_paper(width):
    text = printed(reproduction_table(make_reproduction(), width=width), width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in text
    row = next(line for line in lines if "OMKC(D,D)" in line and "16.07" in line)
    assert "16.07 ± 1.42*" in row
    assert "16.19 ± 1.31*" in row
    assert "+0.12" in row
    assert row.rstrip().endswith("+0.2")
    assert "1551" in row
    assert "not present: dorothea, w5a" in text
    assert "the authors' own for ionosphere; seeded for spambase" in text
    assert [line.strip() for line in lines].index("ionosphere") < lines.index(row)


def test_a_wide_reproduction_has_the_deviations_of_the_support_vectors():
    text = printed(reproduction_table(make_reproduction(), width=120), width=120)
    assert "1547.5 ± 53.0" in text
    assert "1551.2 ± 49.8" in text


def test_a_star_is_only_where_ours_is_best():
    reproduction = make_reproduction()
    cells = tuple(replace(cell, best=False, best_printed=None) for cell in reproduction.cells)
    text = printed(reproduction_table(replace(reproduction, cells=cells)))
    assert "1.42*" not in text
    assert "1.31*" not in text


def test_time_ratios():
    text = printed(ratio_table(make_ratios()))
    row = next(line for line in text.splitlines() if line.startswith("w5a"))
    assert row.split() == ["w5a", "9888", "98.6", "99.1", "37.5", "41.0", "18.8", "22.4"]
    assert "not present: a3a" in text
    assert max(map(len, text.splitlines())) <= 80


def test_differences_beyond_two_printed_deviations_are_marked():
    reproduction = make_reproduction()
    assert "!" not in printed(reproduction_table(reproduction))
    first, second, *rest = reproduction.cells  # printed 17.41 ± 1.20 and 128.5 ± 4.4
    far = replace(second, error=19.83, n_support=119.6)
    text = printed(reproduction_table(replace(reproduction, cells=(first, far, *rest))))
    row = next(line for line in text.splitlines() if "OM-2" in line)
    assert "+2.42!" in row
    assert row.rstrip().endswith("-6.9!")
    assert text.count("!") == 3
    assert "! more than two printed deviations" in text
    near = replace(second, error=19.81, n_support=119.7)
    assert "!" not in printed(reproduction_table(replace(reproduction, cells=(first, near, *rest))))


def test_seconds_stand_where_the_paper_prints_them_and_there_is_room():
    reproduction = make_reproduction()
    assert "seconds" not in printed(reproduction_table(reproduction, width=140), width=140)
    cells = (replace(reproduction.cells[0], seconds_printed=1178.5, seconds=9.85),)
    timed = replace(reproduction, cells=(*cells, *reproduction.cells[1:]), remarks=("a remark",))
    text = printed(reproduction_table(timed, width=140), width=140)
    row = next(line for line in text.splitlines() if "16.07" in line)
    assert row.split()[-2:] == ["1178", "9.85"]
    assert "a remark" in text
    for width in (80, 100):
        lines = printed(reproduction_table(timed, width=width), width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert ("seconds" in lines[1] + lines[2]) == (width == 100)


def test_one_permutation_of_a_reproduction_allows_no_test():
    reproduction = make_reproduction()
    cells = tuple(replace(cell, error_std=None) for cell in reproduction.cells)
    assert "allows no test" in printed(reproduction_table(replace(reproduction, cells=cells)))
    assert "allows no test" not in printed(reproduction_table(reproduction))


def test_a_study_groups_by_divisor():
    text = printed(study_table(make_study()))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines.index("a9a, divisor 3") < lines.index("a9a, divisor 6")
    assert lines.index("a9a, divisor 1") < lines.index("a9a, divisor 12")
    at = lines.index("a9a, divisor 4")
    assert lines[at + 1] == "SPA 16.50 ± 0.12 5000.0 ± 150.5 1.25"
    assert lines[at + 2].startswith("RBP 21.00")
    assert lines[lines.index("a9a, divisor 6") + 1].startswith("cap 0.5 19.00 ± 0.12 1666.7")
    assert "no numbers are printed" in text
    alone = printed(study_table(make_study(permutations=1)))
    assert "±" not in alone
    assert " 5000 " in alone


def squeezed(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_accuracies_stand_beside_the_paper():
    lines = squeezed(printed(accuracy_table(make_accuracies(), width=110), width=110))
    assert "PegasosM 16 15,000 95.7 ± 0.1 95.5 ± 0.9 -0.2 10000 10045 1.25" in lines
    assert "BPM+merging 100 1 15,000 72.0 ± 1.3 77.1 ± 0.9 +5.1! 100 1.25" in lines
    assert "BPM+merging (21) 500 4 15,000 89.5 ± 0.3 89.5 ± 0.9 +0.0 500 1.25" in lines
    assert "BPM+merging 500 64 10,000,000 99.8 ± 0.0 99.8 ± 0.9 +0.0 500 1.25" in lines
    assert lines.index("letter") < lines.index("checkerboard")
    for note in ("! more than two printed deviations", "not present: usps", "a remark"):
        assert note in lines


@pytest.mark.parametrize("permutations", [1, 5])
@pytest.mark.parametrize("width", [80, 100])
def test_accuracies_lose_columns_but_no_numbers(width, permutations):
    table = accuracy_table(make_accuracies(permutations), width=width)
    lines = printed(table, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    assert ("10,000,000" in "".join(lines)) == (width == 100)
    assert any("99.8 ± 0.0" in line and "1.25" in line for line in lines)


def test_accuracies_that_agree_have_no_mark():
    table = make_accuracies()
    agreeing = replace(table, cells=(table.cells[0], table.cells[3]))
    assert "!" not in printed(accuracy_table(agreeing))
    far = replace(table.cells[3], accuracy=99.86)  # no printed deviation, but 99.8 is rounded
    assert "+0.1!" in printed(accuracy_table(replace(table, cells=(far,))))


def test_curves_at_powers_of_ten_and_at_their_ends():
    text = printed(curve_table(make_curves()), width=100)
    lines = squeezed(text)
    assert "accuracy % seconds" in lines
    assert "algorithm 100 1k 10k end examples #SV printed ours" in lines
    assert "PegasosM 60.00 61.00 63.00 5,000 5000 1.50" in lines
    assert "BPM+merging 70.00 71.00 73.00 74.00 20,000 100 360 2.00" in lines
    assert "a remark" in lines
    assert "another" in lines
    several = squeezed(printed(curve_table(make_curves(permutations=3)), width=100))
    assert any("73.00 74.00 ± 0.50 20,000" in line for line in several)


def test_curves_of_seconds_name_the_budgets_where_they_differ():
    curves = make_curves("seconds", budgets=(None, 100, 500))
    lines = squeezed(printed(curve_table(curves), width=100))
    assert "algorithm 100 1k 10k end examples #SV end" in lines
    assert "BPM+random, B = 100 0.020 0.200 2.00 4.00 20,000 100 69.00" in lines
    assert "BPM+merging, B = 500 0.010 0.100 1.00 2.00 20,000 500 74.00" in lines
    assert "seconds accuracy %" in lines
