"""Tables on a terminal: widths, bold rows, names as they are."""

from __future__ import annotations

import pytest
from reports.showing import printed

from kernbrook.reports.table import Column, Table
from kernbrook.results import Estimate

NAMES = Column("name", ("one", "two", "three"), kind="text")
VALUES = Column("x", (Estimate(9.5, 0.25), Estimate(16.25, 10.5), None), marks=("", "*", ""))


def test_a_table_as_it_is_seen():
    table = Table((NAMES, VALUES), ("a", "a", "b"), notes=("first", "second"), title="title")
    assert [line.rstrip() for line in printed(table).splitlines()] == [
        "title",
        "name                  x",
        "───────────────────────",
        "a",
        "  one     9.50 ± 0.25",
        "  two    16.25 ± 10.50*",
        "",
        "b",
        "  three",
        "first",
        "second",
    ]


def test_strong_rows_and_groups_are_bold_where_there_is_colour():
    table = Table((NAMES, VALUES), ("a", "a", "b"), frozenset({1}))
    assert "\x1b" not in printed(table, no_color=True)
    lines = printed(table, force_terminal=True, color_system="standard").splitlines()
    bold = {
        line.split("m", 1)[1].split()[0].split("\x1b")[0] for line in lines if "\x1b[1m" in line
    }
    assert bold == {"a", "b", "two"}


def test_names_are_not_markup():
    hostile = "[red]x[/red] ["
    column = Column(hostile, (hostile,), kind="text")
    text = printed(Table((column,), (f"group {hostile}",), notes=(hostile,), title=hostile))
    assert text.count(hostile) == 5
    assert "\\x1b[31m" in printed(Table((column,), title="\x1b[31m"))


@pytest.mark.parametrize("width", [30, 80])
def test_long_names_are_cut_before_numbers(width):
    names = Column("name", ("n" * 120, "two", "three"), kind="text")
    text = printed(Table((names, VALUES)), width)
    assert "16.25 ± 10.50*" in text
    assert "nn…" in text


def test_the_signs_of_a_column_stand_under_each_other():
    lines = printed(Table((NAMES, VALUES))).splitlines()
    assert len({line.index("±") for line in lines if "±" in line}) == 1
