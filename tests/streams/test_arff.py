"""ARFF: values as Weka and scipy have them, whatever quotes, comments and blanks are in a block."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbrook as kb
from kernbrook.errors import DataFileError
from kernbrook.streams import open_stream

MEAN = kb.TableEncoder(missing="mean")


def arff(kinds, rows):
    head = "".join(f"@attribute {kind}\n" for kind in kinds)
    return f"@relation r\n{head}@data\n{rows}"


def read(path, **options):
    stream = open_stream(path, encoder=kb.TableEncoder(missing="mean", **options))
    X, y = stream.read()
    return stream.feature_names, X.tolist(), y.tolist()


@pytest.mark.parametrize(
    ("kind", "cells", "levels"),
    [
        ("""{'5" pipe','6" pipe'}""", ["'5\" pipe'", '"6\\" pipe"', "5\" pipe"], [0, 1, 0]),
        ("{'x y', 'z w'}", [" 'x y'", "'z w' ", '"x y"', " \t'z w'\t"], [0, 1, 0, 1]),
        ("{a,b,}", ["a", " b ", "'a'", '"b"'], [0, 1, 0, 1]),
        (r"""{'it\'s', "o\"k", 'a''b', 'c\\d', 'e\tf'}""",
         [r'"it\'s"', "'o\"k'", '"a\'b"', r'c\d', r'"e\tf"'], [0, 1, 2, 3, 4]),
        ("{None,NA,'?',''}", ["?", "None", "NA", "'?'", '""'], [None, 0, 1, 2, 3]),
        ("{'50%',no}", ["'50%'", "no % 'a", "no%"], [0, 1, 1]),
        ("{é, ü}", ["é", "'ü'", " ü"], [0, 1, 1]),
    ],
)  # fmt: skip
def test_levels(write, monkeypatch, kind, cells, levels):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 30)
    names = open_stream(write("t.arff", arff([f"k {kind}", "c {x}"], "?,x\n")), encoder=MEAN)
    declared = [name.removeprefix("k=") for name in names.feature_names[:-1]]
    there = [(cell, level) for cell, level in zip(cells, levels, strict=True) if level is not None]
    text = arff(["n real", f"k {kind}"], "".join(f"1,{cell}\n" for cell, _ in there))
    y = open_stream(write("t.arff", text), label="k").read()[1]
    assert y.tolist() == [declared[level] for _, level in there]
    within = ["%" not in cell or cell[0] == "'" for cell in cells]  # else a comment follows
    rows = "".join(f"{cell},1\n" for cell, whole in zip(cells, within, strict=True) if whole)
    X = open_stream(write("t.arff", arff([f"k {kind}", "n real"], rows)), encoder=MEAN).read()[0]
    expected = [n for n, whole in zip(levels, within, strict=True) if whole]
    assert [row.index(1) if 1 in row else None for row in X.tolist()] == expected


@pytest.mark.parametrize(
    "line",
    ["1.5,2,no", "1.5, 2, no % by hand", "'1.5',\"2\",'no'", "1.5,2,no,",
     "  1.5 , 2 ,no", "1.5,2,no%x", "+1.5,2e0,'no' % 'a"],
)  # fmt: skip
def test_one_row_in_many_ways(write, line):
    text = arff(["a numeric % first", "b INTEGER [0, 5]", "c {yes,no}% last"], f"0,0,yes\n{line}\n")
    stream = open_stream(write("t.arff", text))
    assert stream.read()[0].tolist() == [[0, 0], [1.5, 2]]
    assert stream.read()[1].tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("kinds", "rows", "line", "problem"),
    [
        (["a real", "c {x,y}"], "1,x\n2,z\n", 6, "column 'c': .* its levels, found 'z'"),
        (["a real", "b real", "c {x}"], "1,,x\n", 6, "no value between two commas"),
        (["a real", "b real", "c {x}"], "1,2\n", 6, "expected 3 values, found 2"),
        (["a real", "c {x}"], "1,x,{2}\n", 5, "a weight in braces, which is not read"),
        (["a real", "c {x}"], "1,'x\n", 5, "a quote without an end"),
        (["a real", "c {x}"], "1,'x'y\n", 5, "a quote .* beside other text"),
        (["a real", "c {x}"], "1,x\n{0 1}\n", 6, "a sparse row"),
        (["a numeric {.5}", "c {x}"], "", 2, "'a' has a weight"),
        (["a {x,y % z}", "c {x}"], "", 2, "expected levels up to a }, found none"),
        (["a {x,' x'}", "c {x}"], "", 2, "'a' has the level 'x' 2 times"),
        (["a {}", "c {x}"], "", 2, "'a' has no level"),
        (["a", "c {x}"], "", 2, "'a' is of the type ''"),
        (["'a numeric", "c {x}"], "", 2, "expected @attribute NAME TYPE"),
    ],
)  # fmt: skip
def test_the_line_is_named(write, kinds, rows, line, problem):
    text = arff(kinds, rows)
    with pytest.raises(DataFileError, match=problem) as caught:
        open_stream(write("t.arff", text))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("form", "day", "days"),
    [
        ('"yyyy-MM-dd"', "2001-05-12", 11454),
        ('"yyyy-dd-MM"', "'2001-05-12'", 11661),
        ("'dd.MM.yyyy HH:mm'", "'12.5.2001 12:00'", 11454.5),
        ("\"yyyy-MM-dd'T'HH:mm:ss\"", "2001-05-12T06:00:00", 11454.25),
        ("\"dd 'of' MM, yyyy\"", "'12 of 05, 2001'", 11454),
    ],
)
def test_dates_by_their_form(write, form, day, days):
    text = arff([f"d date {form} % when", "c {x,y}"], f"{day},x\n?,y\n")
    assert read(write("t.arff", text), dates={"d": ["days"]})[1] == [[days], [days]]


def test_dates_that_are_not_read(write):
    text = arff(['d date "dd/MMM/yy"', "a real", "c {x,y}"], "12/JAN/01,1,x\n")
    assert read(write("t.arff", text), drop=["d"])[1] == [[1]]
    form = "'d': dates of the form 'dd/MMM/yy', of which yyyy, MM"
    with pytest.raises(DataFileError, match=form):
        read(write("t.arff", text), dates=["d"])
    text = arff(['d date "yyyy-dd-MM"', "c {x,y}"], "2001-01-02,x\n2001-02-31,x\n2001-31-02,x\n")
    with pytest.raises(DataFileError, match="line 6: column 'd': expected a date as yyyy-dd-MM"):
        read(write("t.arff", text), dates=["d"])


def quoted_by(mark, text):
    return mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark


@pytest.mark.filterwarnings("ignore:.*write them alike:kernbrook.errors.DataFileWarning")
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text("ab,'\"%{}?\\ é", min_size=1).map(str.strip).filter(bool), min_size=1,
             max_size=5, unique=True),
    st.data(),
    st.integers(20, 100),
)  # fmt: skip
def test_what_is_quoted_comes_back(tmp_path_factory, levels, data, block_bytes):
    marks = st.sampled_from("'\"")
    rows = data.draw(st.lists(st.tuples(st.sampled_from(levels), marks, marks), min_size=1))
    kind = ",".join(quoted_by(data.draw(marks), level) for level in levels)
    lines = [f"{quoted_by(mark, v)}, 1 ,{quoted_by(other, v)}\n" for v, mark, other in rows]
    path = tmp_path_factory.mktemp("arff") / "t.arff"
    path.write_text(arff([f"a {{{kind}}}", "n real", f"c {{{kind}}}"], "".join(lines)), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
        _, X, y = read(path)
    assert y == [value for value, _, _ in rows]
    assert [levels[row[:-2].index(1)] for row in X] == y
