"""Columns that are not declared: all in one message, with the call to copy; and what auto takes."""

import datetime
import pickle
import shlex
import warnings

import numpy as np
import pandas as pd
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
    "port": ([f"p{i % 40}" for i in range(N)], "40 different values, such as 'p0'",
             "--categorical port=hash:32"),
    "id": ([f"c{i}" for i in range(N)], "60 different values in 60 rows", "--drop id"),
    "note": ([f"the {i} quick foxes jump over {i} dogs" for i in range(N)],
             "text, 8 words on average", "--words note"),
    "iso": ([str(hour) for hour in HOURS], "dates, such as '2024-01-01T00'", "--dates iso"),
    "day": ([hour.item().strftime("%d.%m.%Y") for hour in HOURS], "dates as %d.%m.%Y",
            "--dates day=%d.%m.%Y"),
    "rare": ([hour.item().strftime("%d %b %Y") for hour in HOURS], "dates as %d %b %Y",
             "--dates 'rare=%d %b %Y'"),
    "clock": ([hour.item().strftime("%H:%M") for hour in HOURS], "dates as %H:%M",
              "--dates clock=hour,%H:%M"),
    "price": ([f"{i}.5 EUR" for i in range(N)], "60 different values in 60 rows", "--drop price"),
    "-x": (["u", "v"] * 30, "2 levels", "--categorical=-x=u,v"),
    "moment": (pa.array(HOURS.astype("datetime64[us]")), "moments (timestamp", "--dates moment"),
    "parts": ([[1, 2]] * N, "which is not read", "--drop parts"),
}  # fmt: skip


def options_of(error):
    return shlex.join(error.options)


def test_all_columns_in_one_message():
    """What each seems to be; and with the encoder that is named the stream opens."""
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


def test_a_column_without_a_name_is_listed():
    frame = pd.DataFrame({"": [None, "1.1.5"], "label": [0, 1]})
    with pytest.raises(
        UndeclaredColumnsError, match="1 column to declare:\n  ''  1 different"
    ) as said:
        open_stream(frame)
    assert said.value.call == "kb.TableEncoder(drop=[''], missing='mean')"


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


def test_dates_in_two_ways_are_left_to_who_knows(write):
    path = write("t.csv", "a,b,label\n" + "03/04/2025,u,x\n05/06/2025,v,x\n" * 30)
    with pytest.raises(UndeclaredColumnsError, match="dates as %d/%m/%Y or as %m/%d/%Y") as caught:
        open_stream(path)
    with pytest.raises(DataFileError, match="which is it"):
        open_stream(path, encoder=eval(caught.value.call, {"kb": kb}))


# -- auto ------------------------------------------------------------------------------------------


@pytest.fixture
def table():
    return pa.table(
        {"sex": ["f", "m"] * 30, "port": COLUMNS["port"][0], "when": list(map(str, HOURS)),
         "n": range(N), "label": [0, 1] * 30}
    )  # fmt: skip


AUTO = [
    ("auto", "auto"), (["auto"], {"auto": "auto"}),
    ({"auto": "auto", "sex": ["f", "m"]}, ["auto", "when"]),
]  # fmt: skip


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


# -- what columns seem to be, and what is said of them ---------------------------------------------


Y = ["no", "yes"] * (N // 2)
BOTH = {"categorical": "auto", "dates": "auto"}


def opened(column, **made):
    """A stream of one column beside numbers, and what was said."""
    table = pa.table({"a": column, "x": np.arange(N) / 7, "label": Y})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        stream = kb.open_stream(table, encoder=kb.TableEncoder(**made))
    return stream, " ".join(str(one.message) for one in said)


def cycled(values):
    return [values[i % len(values)] for i in range(N)]


HASH = "a code? categorical (--categorical a=hash:32)"
CODES = {
    "zeros": (cycled(["01234", "00501", "90210"]), f"'01234' is read as the number 1234; {HASH}"),
    "powers": (cycled(["73928e03", "12.5"]), "'73928e03' is read as the number 7.3928e+07"),
    "length": ([f"{10007 + i}" for i in range(N)], "digits each, as '10007'; codes?"),
    "integers": ([10007 + i for i in range(N)], "whole numbers of 5 digits each"),
    "days": ([f"202401{i % 28 + 1:02}" for i in range(N)],
             "dates, or codes? dates (--dates a=%Y%m%d) or categorical"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CODES)
def test_codes_are_said(kind):
    column, told = CODES[kind]
    stream, said = opened(column)
    assert told in said
    assert stream.feature_names == ["a", "x"]
    stream, said = opened(column, categorical={"a": 32})
    assert (stream.n_features, said) == (33, "")


@pytest.mark.parametrize(
    "column",
    [
        [f"{1960 + i}" for i in range(N)], [str(i) for i in range(N)], cycled(["0.5", "00.5", "7"]),
        [f"{20000 + 500 * i}" for i in range(N)], [f"{i * 1e20}" for i in range(N)],
        [9998 + i for i in range(N)], np.arange(N) / 7,
    ],
)  # fmt: skip
def test_ordinary_numbers_are_not(column):
    assert opened(column)[1] == ""


def test_ordinary_data_sets_are_not():
    from sklearn import datasets

    for load in ("iris", "wine", "breast_cancer", "diabetes", "digits", "linnerud"):
        data = getattr(datasets, f"load_{load}")(as_frame=True)
        frame = data.data.assign(label="a")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kb.open_stream(frame)


def test_auto_takes_zeros_as_levels(write):
    stream, said = opened(cycled(["01", "1", "02"]), **BOTH)
    assert stream.feature_names[:4] == ["a=01", "a=02", "a=1", "a=other"]
    assert "'a' is taken as levels: '01', '02', '1'" in said
    many = "".join(f"{i:05},{i % 3 / 2},{'ab'[i % 2]}\n" for i in range(90))
    with pytest.warns(DataFileWarning, match="'a' is taken as levels, hashed to 32"):
        stream = kb.open_stream(
            write("t.csv", f"a,x,label\n{many}"), encoder=kb.TableEncoder(**BOTH)
        )
    assert stream.n_features == 33


@pytest.mark.parametrize(("odd", "several"), [(["Total"], 3), (["-"] * 4, 30), (["c"], 55)])
def test_one_word_makes_no_levels(odd, several):
    column = [str(i % several) for i in range(N * 10)]
    column[5 : 5 + len(odd)] = odd
    table = pa.table({"a": column, "b": cycled(["u", "v"]) * 10, "label": Y * 10})
    said = rf"'a'  numbers, but for '{odd[0]}' in {len(odd)} of 600 rows: mend them"
    with pytest.raises(UndeclaredColumnsError, match=said):
        kb.open_stream(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataFileWarning)
        with pytest.raises(InputError, match=rf"row 5.*expected a number, found '{odd[0]}'"):
            kb.open_stream(table, encoder=kb.TableEncoder(**BOTH))
        stream = kb.open_stream(table, encoder=kb.TableEncoder(**BOTH), on_bad_rows="skip")
    assert stream.n_rows == 600 - len(odd)


def test_durations_are_seconds():
    for kind in ("s", "ms", "us", "ns"):
        column = pa.array([datetime.timedelta(seconds=90), None] * (N // 2), pa.duration(kind))
        stream, said = opened(column, **BOTH, missing="mean")
        assert (stream.feature_names, said) == (["a", "x"], "")
        assert stream.read()[0][:2, 0].tolist() == [90, 90]


MONTHS = {
    "%Y %b": ["1991 Jul", "1991 Aug"], "%Y-%m": ["1949-01", "1949-02"], "%b %Y": ["May 1991"],
    "%m/%Y": ["12/2024"],
}  # fmt: skip


@pytest.mark.parametrize("written", MONTHS)
def test_months_are_dates(written):
    column = cycled(MONTHS[written])
    with pytest.raises(InputError, match="a date\\?") as error:
        opened(column)
    assert f"days,yearday,{written}" in str(error.value).replace('"', "").replace("'", "")
    stream, _ = opened(column, dates={"a": ["days", "yearday", written]})
    day = stream.read()[0][0, 0]
    assert (np.datetime64(0, "D") + int(day)).astype(object).day == 1
    assert opened(column, **BOTH)[0].feature_names[0] == "a days"


def test_quarters_and_halves_of_days():
    with pytest.raises(InputError, match="a quarter\\? write its first day, such as 2024-01-01"):
        opened(cycled(["1970 Q1", "1970 Q2"]))
    with pytest.raises(InputError) as error:
        opened(cycled(["9 pm", "8 am"]))
    assert "categorical (--categorical a) or drop" in str(error.value)


GERMAN = (
    "seit;anteil;umsatz;art;y\n" + "09.11.2022;63,7;4.211,54;x;ja\n02.03.2022 ;5;17,5;y;nein\n" * 9
)
AMERICAN = "paid,sales,art,label\n" + '"4,211.54","4,212",x,yes\n"1.50","1,300",y,no\n' * 9


@pytest.mark.parametrize("text", [GERMAN, AMERICAN], ids=["German", "American"])
@pytest.mark.filterwarnings("ignore::kernbrook.errors.DataFileWarning")
def test_the_call_that_is_proposed_reads(text, write):
    path = write("t.csv", text)
    with pytest.raises(UndeclaredColumnsError) as error:
        kb.open_stream(path)
    assert not error.value.unread
    assert 4211.54 in kb.open_stream(path, encoder=eval(error.value.call, {"kb": kb})).read()[0]


def test_short_notes_share_words():
    rng = np.random.default_rng(0)
    words = ["fine", "late", "rain", "train", "full", "seat", "hot", "slow", "dog", "sun"]
    notes = [" ".join(rng.choice(words, 3)) for _ in range(400)]
    table = pa.table({"a": notes, "b": ["u", "v"] * 200, "label": ["x", "y"] * 200})
    with pytest.raises(UndeclaredColumnsError, match="share 10 words") as error:
        kb.open_stream(table)
    assert "words=['a']" in error.value.call
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        stream = kb.open_stream(table, encoder=kb.TableEncoder(**BOTH))
    assert "words of text? words (--words a)" in str(said[0].message)
    assert stream.n_features == 35


def test_hours_of_a_zone():
    """An hour is the same in summer and in winter."""
    hours = pd.to_datetime(["2024-01-15 12:00", "2024-07-15 12:00"]).tz_localize("Europe/Berlin")
    zoned = pd.DataFrame({"t": hours})
    encoder = kb.TableEncoder(dates={"t": "hour"})
    with pytest.warns(kb.errors.KernbrookWarning, match="hours are those of Europe/Berlin"):
        X = encoder.learn(zoned)
    np.testing.assert_allclose(X, [[0, -1]] * 2, atol=1e-9)
    read = kb.TableEncoder.from_description(encoder.described())
    for other in (zoned, pd.DataFrame({"t": hours.tz_convert("Asia/Tokyo")}),
                  pd.DataFrame({"t": [one.isoformat() for one in hours]})):  # fmt: skip
        np.testing.assert_allclose(read.transform(other), X, atol=1e-9)
    plain = kb.TableEncoder(dates={"t": "hour"}).learn(pd.DataFrame({"t": hours.tz_convert("UTC")}))
    np.testing.assert_allclose(plain[:, 1], np.cos(np.pi * np.array([11, 10]) / 12))


def test_times_with_and_without_an_offset():
    text = ["2024-10-27T02:30:00", "2024-10-27T02:30:00+01:00"] * (N // 2)
    said = opened(text, dates=["a"])[1]
    assert "offset from UTC stand beside others, which are taken as UTC" in said
    for alike in (text[:1], text[1:2], [*text[1:2], "2024-10-27"]):
        assert opened(cycled(alike), dates=["a"])[1] == ""
    moments = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)]
    frame = pd.DataFrame({"a": pd.Series(moments, dtype=object), "y": [0, 1]})
    for rows in (frame, [{"a": one, "y": 0} for one in moments]):
        with pytest.raises(InputError, match="'a': times with an offset from UTC and"):
            kb.TableModel(kb.recipes.make("majority")).partial_fit(rows)


def test_lags_that_are_never_known():
    for lags in ([1, 24, 25], {"y": 24}, [24]):
        encoder = kb.TableEncoder(lags=lags, delay=24)
        with pytest.raises(InputError, match="lags begin at 25"):
            kb.open_stream(pa.table({"x": [1.0, 2], "y": [0.5, 1]}), label="y", encoder=encoder)
    kb.TableEncoder(lags={"y": 25}, delay=24, every=24).begin(["x"], "y")
    known = kb.TableEncoder(lags=[25], delay=24).begin(["x"], "y").described()
    kb.TableEncoder.from_description({**known, "delay": 30})  # as models of before have it


@pytest.mark.parametrize(
    ("first", "second"),
    [("film 😀", "film 😡"), ("की", "का"), ("C++", "C#"), ("5 stars", "1 stars"), (":-)", ":-("),
     ("a", "b"), ("今天好", "今天坏"), ("ok ★", "ok")],
)  # fmt: skip
def test_texts_that_differ_are_told_apart(first, second):
    X = kb.TableEncoder(words={"t": 4096}).learn(pa.table({"t": [first, second]})).toarray()
    assert (np.abs(X).sum(axis=1) > 0).all() or second == "ok"
    assert not np.array_equal(X[0], X[1])
    same = pa.table({"t": ["caf\u00e9", "cafe\u0301"]})
    own = kb.TableEncoder(words={"t": 64}).learn(same).toarray()
    assert np.array_equal(own[0], own[1])


@pytest.mark.parametrize("gap", [float("nan"), None, pd.NA])
def test_records_with_gaps(gap):
    rows = [{"a": 3.0, "c": gap}, {"a": 3.0, "c": "u"}, {"c": "v", "a": gap}]
    encoder = kb.TableEncoder(["c"], missing="mean")
    for own in (rows, rows[::-1]):
        found = kb.streams.opening.table_records(own)
        assert sorted(found.columns) == ["a", "c"]
        cells = next(iter(found.batches(kb.streams.records.ReadOptions(["c"])))).table
        assert set(cells["c"].to_pylist()) == {None, "u", "v"}
    labelled = [{**row, "y": "ab"[i % 2]} for i, row in enumerate(rows * 9)]
    own = kb.fit_table(labelled, "y", model=kb.recipes.make("majority"), encoder=encoder)
    assert own.predict(rows[0])
    with pytest.raises(InputError, match="column 'a': expected numbers or text, found"):
        kb.streams.opening.table_records([{"a": "x"}, {"a": object()}])


def test_a_column_that_comes_late_in_records():
    rows = [{"a": 1.0}, {"a": 2.0, "b": 3.0}]
    assert kb.streams.opening.table_records(rows).columns == ["a", "b"]
    with pytest.raises(InputError, match="named by text"):
        kb.streams.opening.table_records([{1: 2.0}])
