"""Tables: texts of columns, groups, marks, what goes where room is short; on a terminal."""

from __future__ import annotations

import pytest
from reports.showing import printed

from kernbrook.reports.table import (
    Column,
    Table,
    agreement,
    agreement_notes,
    fixed,
    of_cells,
    seconds,
)
from kernbrook.results import Cell, Estimate, Measure

ERROR = Measure("error", "mistakes %")


def test_numbers_of_a_column_stand_under_each_other():
    values = (Estimate(9.5, 1.25), Estimate(16.25), 3, None)
    column = Column("x", values, marks=("*", "", "!", ""))
    assert column.texts() == [" 9.50 ± 1.25*", "16.25        ", "    3       !", "             "]
    texts = Column("x", ("a", "long", None), kind="text").texts()
    assert texts == ["a", "long", ""]
    assert Column("x", ()).texts() == []


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (16.246, 2, "16.25"), (9_999_999.0, 2, "9999999.00"), (1e7, 2, "1.00e+07"),
        (-1e300, 2, "-1.00e+300"), (1e8, 0, "100000000"), (float("inf"), 2, "inf"),
    ],
)  # fmt: skip
def test_digits(value, digits, text):
    assert fixed(value, digits) == text
    assert [seconds(value) for value in (0.0004, 0.5, 12.34, 1234.5)] == [
        "0.000", "0.500", "12.3", "1234"
    ]  # fmt: skip


def test_a_column_gets_rougher_as_far_as_it_may():
    values = (Estimate(16.25, 1.5), 3)
    column = Column("x", values, rough=2)
    assert column.rougher(0) == column
    assert column.rougher(1).texts() == ["16 ± 2", " 3    "]
    assert column.rougher(2).texts() == ["16", " 3"]
    assert Column("x", values, rough=1).rougher(2).texts() == ["16 ± 2", " 3    "]
    assert Column("x", values).rougher(2).texts() == ["16.25 ± 1.50", "    3       "]


def test_rows_of_a_group_stand_below_its_name():
    names = Column("name", ("a", "b", "c"), kind="text")
    table = Table((names, Column("x", (1, 2, 3))), ("g", "g", "h"), frozenset({1}))
    lines, heads = table.lines()
    assert lines == [["g", ""], ["  a", "1"], ["  b", "2"], ["h", ""], ["  c", "3"]]
    assert heads == [0, 3]
    assert table.emphasised() == {0, 2, 3}
    alone = Table(table.columns, strong=frozenset({1}))
    assert alone.lines() == ([["a", "1"], ["b", "2"], ["c", "3"]], [])
    assert alone.emphasised() == {1}


def test_a_group_of_columns_is_named_once():
    columns = (Column("name", ()), Column("x", (), group="A"), Column("y", (), group="A"),
               Column("z", (), group="B"))  # fmt: skip
    assert Table(columns).headers() == ["\nname", "A\nx", "\ny", "B\nz"]
    assert Table(columns[:1]).headers() == ["name"]


def test_widths_are_of_the_widest_part():
    table = Table((Column("名前", ("a",), kind="text"), Column("x", (1000,), group="grouped")))
    assert table.widths() == [4, 7]  # two columns of a terminal each
    assert table.width() == 4 + 2 + 7


def test_what_goes_where_room_is_short():
    table = Table((
        Column("name", ("a", "b"), kind="text"),
        Column("x", (Estimate(1.25, 0.5), Estimate(2.5, 0.25)), rough=2),  # 11, 5 and 1 wide
        Column("first", (1, 2), spare=2),
        Column("second", (1, 2), spare=1),
        Column("third", (1, 2), spare=1),
    ))  # fmt: skip

    def shape(width):
        narrow = table.within(width)
        return [c.header for c in narrow.columns], narrow.columns[1].texts()[0].strip()

    every = ["name", "x", "first", "second", "third"]
    assert table.width() == 39
    assert table.within(39) is table
    assert shape(38) == (every, "1 ± 0")
    assert shape(32) == (every, "1")
    assert shape(28) == (["name", "x", "second", "third"], "1")
    assert shape(21) == shape(1) == (["name", "x"], "1")


def cell(ours, printed=None, measure="error"):
    return Cell({}, {measure: ours}, {} if printed is None else {measure: printed})


PRINTED = Estimate(10.0, 2.0, 4)


def test_columns_of_a_measure():
    cells = [cell(Estimate(11.0, 2.0, 4), PRINTED), cell(Estimate(5.0))]
    of_paper, ours, difference = of_cells(cells, ERROR, rough=1)
    assert [c.header for c in (of_paper, ours, difference)] == ["printed", "ours", "diff."]
    assert {c.group for c in (of_paper, ours, difference)} == {"mistakes %"}
    assert {c.rough for c in (of_paper, ours, difference)} == {1}
    assert of_paper.texts() == ["10.00 ± 2.00", "            "]
    assert ours.texts() == ["11.00 ± 2.00", " 5.00       "]
    assert difference.texts() == ["+1.00", "     "]
    percent, ratio = of_cells(cells, ERROR, "percent ratio")
    assert (percent.header, percent.texts()) == ("diff. %", ["+10.0", "     "])
    assert (ratio.header, ratio.texts()) == ("ratio", ["1.10", "    "])
    (ours,) = of_cells([cell(Estimate(1234.5, 1.0, 3))], Measure("error", "x", 2, "count"))
    assert ours.texts() == ["1,234"]
    (zero,) = of_cells([cell(Estimate(5.0), Estimate(0.0))], ERROR, "ratio")
    assert zero.texts() == [""]


@pytest.mark.parametrize(
    ("ours", "mark"),
    [
        (Estimate(11.0, 2.0, 4), ""),
        (Estimate(13.0, 2.0, 4), "~"),
        (Estimate(14.1, 2.0, 4), "!"),
        (Estimate(14.1), "!"),  # one run may agree: 2 * sqrt(5)
        (Estimate(5.9, 2.0, 4), "!"),
    ],
)
def test_marks_of_agreement(ours, mark):
    cells = [cell(ours, PRINTED), cell(Estimate(10.0, 2.0, 4), PRINTED), cell(Estimate(1.0))]
    assert agreement(cells[0], ERROR) == mark
    columns = of_cells(cells, ERROR)
    marks = (mark, "", "") if mark else ()
    assert [c.marks for c in columns] == [(), (), marks]
    assert of_cells(cells, ERROR, "printed ours")[1].marks == marks
    assert of_cells(cells, ERROR, "ours ratio")[0].marks == marks
    notes = agreement_notes(columns)
    assert [note[0] for note in notes] == ([mark] if mark else [])


# -- on a terminal ---------------------------------------------------------------------------------

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


def test_names_are_not_markup():
    hostile = "[red]x[/red] ["
    column = Column(hostile, (hostile,), kind="text")
    text = printed(Table((column,), (f"group {hostile}",), notes=(hostile,), title=hostile))
    assert text.count(hostile) == 5
    assert "\\x1b[31m" in printed(Table((column,), title="\x1b[31m"))
