"""Columns that are not declared: all in one message, with the call to copy; and what auto takes."""

import pickle
import shlex
import warnings

import numpy as np
import pyarrow as pa
import pytest

import kernbrook as kb
from kernbrook.errors import (
    DataFileError,
    DataFileWarning,
    InputError,
    KernbrookError,
    UndeclaredColumnsError,
)
from kernbrook.streams import open_stream

N = 60
HOURS = np.datetime64("2024-01-01T00") + np.arange(N).astype("timedelta64[h]") * 7
CYCLES = ["hour", "weekday", "yearday"]
QUOTES = "--categorical '" + '"a,b"="x ""1""","y=z"' + "'"
# A column, what it seems to be, and the option for it.
COLUMNS = {
    "sex": (["f", "m"] * 30, "2 levels: 'f', 'm'", "--categorical sex=f,m"),
    "a,b": (['x "1"', "y=z", "y=z"] * 20, "2 levels", QUOTES),
    "port": (
        [f"p{i % 40}" for i in range(N)],
        "40 different values, such as 'p0'",
        "--categorical port=hash:32",
    ),
    "id": ([f"c{i}" for i in range(N)], "60 different values in 60 rows", "--drop id"),
    "note": (
        [f"the {i} quick foxes jump over {i} dogs" for i in range(N)],
        "text, 8 words on average",
        "--words note",
    ),
    "iso": ([str(hour) for hour in HOURS], "dates, such as '2024-01-01T00'", "--dates iso"),
    "day": (
        [hour.item().strftime("%d.%m.%Y") for hour in HOURS],
        "dates as %d.%m.%Y",
        "--dates day=%d.%m.%Y",
    ),
    "rare": (
        [hour.item().strftime("%d %b %Y") for hour in HOURS],
        "dates as %d %b %Y",
        "--dates 'rare=%d %b %Y'",
    ),
    "clock": (
        [hour.item().strftime("%H:%M") for hour in HOURS],
        "dates as %H:%M",
        "--dates clock=hour,%H:%M",
    ),
    "price": ([f"{i}.5 EUR" for i in range(N)], "60 different values in 60 rows", "--drop price"),
    "-x": (["u", "v"] * 30, "2 levels", "--categorical=-x=u,v"),
    "moment": (pa.array(HOURS.astype("datetime64[us]")), "moments (timestamp", "--dates moment"),
    "parts": ([[1, 2]] * N, "which is not read", "--drop parts"),
}  # fmt: skip


def options_of(error):
    return shlex.join(error.options)


@pytest.mark.parametrize("column", COLUMNS)
def test_what_a_column_seems_to_be(column):
    """Beside another one, which makes it a message for all of them."""
    values, told, option = COLUMNS[column]
    table = pa.table({column: values, "other": ["u", "v"] * 30, "n": range(N), "y": [0, 1] * 30})
    with pytest.raises(UndeclaredColumnsError) as caught:
        open_stream(table)
    assert told in caught.value.listing
    assert options_of(caught.value) == f"{option} --categorical other=u,v"
    # What is told is enough: the stream opens with the encoder that is named.
    stream = open_stream(table, encoder=eval(caught.value.call, {"kb": kb}))
    assert stream.n_rows == N


def test_all_columns_in_one_message():
    table = pa.table({**{name: own[0] for name, own in COLUMNS.items()}, "label": [0, 1] * 30})
    with pytest.raises(UndeclaredColumnsError, match="13 columns to declare:") as caught:
        open_stream(table)
    error = caught.value
    assert isinstance(error, DataFileError)
    assert isinstance(error, InputError)
    for name, (_, told, option) in COLUMNS.items():
        assert any(repr(name) in line and told in line for line in str(error).split("\n"))
        assert option in options_of(error)
    stream = open_stream(table, encoder=eval(error.call, {"kb": kb}))
    assert stream.n_features > 2**18
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.options) == (str(error), error.options)


def test_what_is_declared_already_stands_in_the_call():
    table = pa.table(
        {"a": ["u", "v"] * 30, "b": ["x", "y"] * 30, "c": ["1", "2"] * 30, "d": ["q", "r"] * 30,
         "label": [0, 1] * 30}
    )  # fmt: skip
    encoder = kb.TableEncoder({"a": ["u", "v"]}, missing="mean", lags=[1])
    with pytest.raises(UndeclaredColumnsError, match="2 columns") as caught:
        open_stream(table, encoder=encoder)
    assert caught.value.call == (
        "kb.TableEncoder(\n"
        "    categorical={'a': ['u', 'v'], 'b': ['x', 'y'], 'd': ['q', 'r']},\n"
        "    missing='mean',\n    lags=[1],\n)"
    )
    assert options_of(caught.value) == "--categorical b=x,y --categorical d=q,r"


def test_gaps_are_told_beside_them(write):
    text = "a,b,c,label\n" + "u,1,,x\nv,,2,y\n" * 30
    with pytest.raises(UndeclaredColumnsError) as caught:
        open_stream(write("t.csv", text), label="label")
    assert "values are missing in 'b' (30 rows), 'c' (30 rows)" in caught.value.listing
    assert options_of(caught.value) == "--categorical a=u,v --missing mean"
    assert "the label is" not in str(caught.value)
    with pytest.raises(DataFileError, match="line 2: column 'c': missing value; missing"):
        open_stream(write("t.csv", text), encoder=kb.TableEncoder({"a": ["u", "v"]}))


def test_the_label_that_was_guessed_is_named(write):
    path = write("t.csv", "a,b,y\n" + "u,x,1\nv,y,2\n" * 30)
    with pytest.raises(UndeclaredColumnsError, match="the label is 'y', the last column; label"):
        open_stream(path)


def test_one_column_alone_is_told_as_before(write):
    path = write("t.csv", "a,b,label\n1,2,x\nu,2,x\n")
    with pytest.raises(DataFileError, match="line 3: column 'a': expected a number, found 'u'"):
        open_stream(path)


def test_numbers_but_for_a_few_cells():
    values = [str(i / 7) for i in range(N)]
    values[10], values[20] = "n/a?", "--"
    table = pa.table({"a": values[::-1], "b": values, "y": ["no", "yes"] * 30})
    with pytest.raises(UndeclaredColumnsError) as error:
        open_stream(table)
    assert "'b'  numbers, but for 'n/a?', '--' in 2 of 60 rows: mend them" in str(error.value)
    assert open_stream(table, on_bad_rows="skip").read()[0].shape == (56, 2)


def test_dates_in_two_ways_are_left_to_who_knows(write):
    path = write("t.csv", "a,b,label\n" + "03/04/2025,u,x\n05/06/2025,v,x\n" * 30)
    with pytest.raises(UndeclaredColumnsError, match="dates as %d/%m/%Y or as %m/%d/%Y") as caught:
        open_stream(path)
    with pytest.raises(DataFileError, match="which is it"):
        open_stream(path, encoder=eval(caught.value.call, {"kb": kb}))


def test_numbers_in_two_ways_are_left_to_who_knows(write):
    path = write("t.csv", "a,b,label\n" + '"1,200",u,x\n"2,500",v,x\n' * 30)
    with pytest.raises(UndeclaredColumnsError, match="in 2 ways") as caught:
        open_stream(path)
    assert options_of(caught.value) == "--categorical b=u,v"


def test_very_many_columns_are_not_all_listed():
    table = pa.table({f"c{i}": ["u", "v"] * 30 for i in range(60)} | {"label": [0, 1] * 30})
    with pytest.raises(UndeclaredColumnsError, match="  and 20 more") as caught:
        open_stream(table)
    assert len(caught.value.options) == 120


# -- auto ------------------------------------------------------------------------------------------


@pytest.fixture
def table():
    return pa.table(
        {"sex": ["f", "m"] * 30, "port": COLUMNS["port"][0], "when": list(map(str, HOURS)),
         "n": range(N), "label": [0, 1] * 30}
    )  # fmt: skip


AUTO = [
    ("auto", "auto"),
    (["auto"], ["auto"]),
    ({"auto": "auto"}, {"auto": "auto"}),
    ({"auto": "auto", "sex": ["f", "m"]}, ["auto", "when"]),
]


@pytest.mark.parametrize(("categorical", "dates"), AUTO)
def test_auto_takes_levels_and_dates(table, categorical, dates):
    encoder = kb.TableEncoder(categorical, dates)
    with pytest.warns(DataFileWarning) as told:
        stream = open_stream(table, encoder=encoder)
    said = {str(part) for one in told for part in one.message.parts}
    assert "table: 'port' is taken as levels, hashed to 32 columns" in said
    explicit = kb.TableEncoder({"sex": ["f", "m"], "port": 32}, ["when"])
    np.testing.assert_array_equal(stream.read()[0], open_stream(table, encoder=explicit).read()[0])
    assert stream.encoder.taken_["categorical"]["port"] == 32
    # A model's file says what was taken, and not that it was found.
    described = stream.encoder.described()
    assert described["categorical"] == {"sex": ["f", "m"], "port": 32}
    assert described["dates"] == {"when": CYCLES}
    again = kb.TableEncoder.from_description(described)
    assert again.described() == described


def test_auto_in_a_frame_of_scikit_learn(table):
    features = table.drop_columns(["label"])
    encoder = kb.TableEncoder("auto", "auto").fit(features)
    assert encoder.taken_ == {
        "categorical": {"sex": ["f", "m"], "port": 32},
        "dates": {"when": CYCLES},
    }
    explicit = kb.TableEncoder({"sex": ["f", "m"], "port": 32}, ["when"]).fit(features)
    np.testing.assert_array_equal(encoder.transform(features), explicit.transform(features))
    assert encoder.fit(features).taken_["dates"] == {"when": CYCLES}  # found anew
    assert "taken_" not in vars(kb.TableEncoder("auto"))


def test_auto_of_one_of_them_leaves_the_other(table):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(InputError, match=r"column 'when': .* a date\? dates"):
            open_stream(table, encoder=kb.TableEncoder("auto"))
    assert len(told[0].message.parts) == 2


def test_what_auto_does_not_take_is_told_with_the_call(table):
    more = table.append_column("id", pa.array([f"c{i}" for i in range(N)]))
    more = more.append_column("note", pa.array([f"a {i} b {i} c d" for i in range(N)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataFileWarning)
        with pytest.raises(UndeclaredColumnsError, match="2 columns") as caught:
            open_stream(more, encoder=kb.TableEncoder("auto", "auto"))
        assert "categorical='auto', dates='auto', drop=['id'], words=['note']" in caught.value.call
        assert open_stream(more, encoder=eval(caught.value.call, {"kb": kb})).n_rows == N


def test_a_column_called_auto():
    table = pa.table({"auto": ["u", "v"] * 30, "label": [0, 1] * 30})
    stream = open_stream(table, encoder=kb.TableEncoder({"auto": ["u", "v"]}))
    assert stream.feature_names == ["auto=u", "auto=v", "auto=other"]
    with pytest.warns(DataFileWarning, match="'auto' is taken as levels"):
        assert open_stream(table, encoder=kb.TableEncoder("auto")).n_features == 3


@pytest.mark.parametrize("given", [{"auto": "yes"}, {"auto": 0}, {"auto": []}])
def test_what_is_neither_auto_nor_a_column(given):
    with pytest.raises(KernbrookError, match="categorical: 'auto': expected"):
        kb.TableEncoder(given).fit(pa.table({"a": [1]}))


def test_two_decimal_marks_in_a_table(tmp_path):
    """No option reads both, whichever is declared: that is said, and no such option offered."""
    rows = [f"{i}.25;{i},5;{'ab'[i % 2]};{i % 3}" for i in range(20)]
    (tmp_path / "m.csv").write_text("\n".join(["size;rain;kind;y", *rows]))
    for decimal, column, mark in ((".", "rain", "."), (",", "size", ",")):
        encoder = kb.TableEncoder(decimal=decimal)
        with pytest.raises(UndeclaredColumnsError) as caught:
            kb.open_stream(str(tmp_path / "m.csv"), label="y", encoder=encoder)
        said = f"other columns have '{mark}', and a table has one decimal mark: mend it, or drop "
        assert f"{said}(--drop {column})" in caught.value.listing
        assert (caught.value.unread, "--decimal" in caught.value.options) == (True, False)
        assert "--categorical" in caught.value.options
