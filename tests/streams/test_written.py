"""Numbers and dates as offices write them: what is read, as what, and what is refused."""

import datetime
import json
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError
from kernbrook.streams import open_stream
from kernbrook.streams.tables.columns import ISO, Number, read_dates
from kernbrook.streams.tables.hints import COMMON
from kernbrook.streams.tables.values import Written

PLAIN, US, GERMAN = Written(), Written(".", ","), Written(",", ".")
SWISS, FRENCH = Written(".", "'"), Written(",", " ")
READ = [
    (PLAIN, {"5": 5, "-1.5e3": -1500, "\u22125": -5, ".5": 0.5, "5.": 5, "+2": 2}),
    (US, {"1,200": 1200, "1,234,567.5": 1234567.5, "1234": 1234, "-1,200": -1200,
          "\u22121,200": -1200, "0.5": 0.5, "1.234": 1.234}),
    (GERMAN, {"1.234": 1234, "1.234,50": 1234.5, "1,234": 1.234, "-1.234.567": -1234567,
              "1,5e3": 1500}),
    (SWISS, {"1'234.50": 1234.5, "1\u2019234": 1234}),
    (FRENCH, {"1 234,5": 1234.5, "1\u202f234\u202f567": 1234567, "1\u00a0234": 1234}),
]  # fmt: skip
NONE = [
    (PLAIN, ["1,200", "12 %", "$5", "--5", "(5)", "5-", "-", "5-6", "1'0", "1e", "nan(1)"]),
    (US, ["1,2,3", "12,00", "0,123", ",123", "1,2345", "1,,200", "1,200,", "1.234,5", "1,00,000"]),
    (GERMAN, ["1.5", "1,234.5", "01.234", "1.23.456", "1,5,5", "12 kg"]),
]  # fmt: skip


@pytest.mark.parametrize("written", [w for w, _ in READ])
def test_numbers_that_are_read(written):
    """However they are cut, and one by one."""
    texts = dict(READ)[written]
    column = pa.array([*texts, " ", " 3 ", None])
    whole = Number("a", written).encode(column)
    parts = [Number("a", written).encode(column[i : i + 1]) for i in range(len(column))]
    np.testing.assert_array_equal(whole, np.vstack(parts))
    np.testing.assert_array_equal(whole[:, 0], [*texts.values(), np.nan, 3, np.nan])
    for text, number in texts.items():
        assert written.read(text) == number
        assert Number("a", written).encode_value(text) in ([number], None)


@pytest.mark.parametrize(("written", "texts"), NONE)
def test_numbers_that_are_refused(written, texts):
    for text in texts:
        assert Number("a", written).encode_value(text) is None
        with pytest.raises(InputError, match="expected a number, found"):
            Number("a", written).encode(pa.array(["5", text]))


@pytest.mark.parametrize("words", [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_booleans_of_csv_are_those_of_parquet(write, tmp_path, monkeypatch, words):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 12)
    values = [True, False, False, True]
    table = pa.table({"a": values, "b": [1, 2, 3, 4], "y": list("xzxz")})
    pq.write_table(table, tmp_path / "t.parquet")
    expected = open_stream(tmp_path / "t.parquet").read()[0].tolist()
    said = [words[0] if value else words[1] for value in values]
    for separator in ",;":
        rows = "".join(f"{v},{i + 1},{'xz'[i % 2]}\n" for i, v in enumerate(said))
        path = write("t.csv", ("a,b,y\n" + rows).replace(",", separator))
        assert open_stream(path).read()[0].tolist() == expected
    lines = [json.dumps({"a": a, "b": i + 1, "y": "xz"[i % 2]}) for i, a in enumerate(said)]
    assert open_stream(write("t.jsonl", "\n".join(lines))).read()[0].tolist() == expected


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["1", "true"], "line 3: column 'a': expected a number, found 'true'; categorical"),
        (["true", "0"], "line 3: column 'a': expected true or false, as before, found '0'"),
    ],
)
def test_a_column_is_of_numbers_or_of_booleans(write, monkeypatch, values, problem):
    for block_bytes in (1 << 20, 8):
        monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
        path = write("t.csv", "a;y\n" + "".join(f"{value};x\n" for value in values))
        with pytest.raises(DataFileError, match=problem):
            open_stream(path)
    encoder = kb.TableEncoder()
    encoder.learn(pa.table({"a": values[:1]}))
    with pytest.raises(InputError, match=r"expected (a number|true or false)"):
        encoder.learn(pa.table({"a": values[1:]}))


def test_labels_that_seem_to_be_numbers(write):
    path = write("t.csv", 'a,y\n1,"1,200"\n2,"1,300.5"\n')
    with pytest.warns(DataFileWarning, match=r"labels such as .* text, .*thousands \(--thous"):
        assert open_stream(path).read()[1].dtype.kind == "U"
    stream = open_stream(path, encoder=kb.TableEncoder(thousands=","))
    assert stream.read()[1].tolist() == [1200, 1300.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_stream(write("u.csv", "a,y\n1,x\n2,1st\n"))
        open_stream(write("v.csv", "a,y\n1,true\n2,false\n"))


def random_moments(n, seed):
    rng = np.random.default_rng(seed)
    seconds = rng.integers(-2_000_000_000, 4_000_000_000, n)
    start = datetime.datetime(1970, 1, 1)
    return [start + datetime.timedelta(seconds=int(s)) for s in seconds]


@pytest.mark.parametrize(
    "written",
    [
        *COMMON, "%d.%m.%y", "%Y%m%d", "%d %b %Y", "%b %d %Y", "%B %d, %Y", "%m/%d/%Y %I:%M:%S %p",
        "%a, %d %b %Y %H:%M:%S", "%Y%m%d%H%M%S", "%d/%b/%Y:%H:%M:%S", "%H:%M %d.%m.%Y",
        "%d.%m.%Y um %H:%M Uhr", "%%%Y-%m-%d%%",
    ],
)  # fmt: skip
def test_formats_as_strptime_has_them(written):
    texts = [moment.strftime(written) for moment in random_moments(200, 0)]
    expected = [datetime.datetime.strptime(text, written) for text in texts]
    start = datetime.datetime(1970, 1, 1)
    microseconds = [(moment - start) // datetime.timedelta(microseconds=1) for moment in expected]
    found, bad = read_dates(pa.array(texts), written)
    assert not bad.any()
    np.testing.assert_array_equal(found, microseconds)


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%d/%b/%Y:%H:%M:%S %z"])
def test_a_day_that_a_month_has_not(written):
    """Of which Arrow makes one of the next month."""
    clock = ":23:30:00 -0500" if "%z" in written else ""
    mark = "." if clock == "" else "/"
    for month, name, most in ((2, "Feb", 28), (4, "Apr", 30), (12, "Dec", 31)):
        days = [f"{day}{mark}{name if clock else month}{mark}2023{clock}" for day in range(1, 32)]
        bad = read_dates(pa.array([*days, None]), written)[1]
        assert (~bad).nonzero()[0].tolist() == list(range(most))


def test_iso():
    quick = {"2024-01-31": 0, "2024-1-31": 0, "2024-01-31T10": 36_000, "2024-01-31T10:30": 37_800,
             "2024-01-31 10:30:15": 37_815, "2024-01-31T10:30:00.5": 37_800.5,
             "2024-01-31 10:30:00Z": 37_800, "2024-01-31 10:30:00+02": 30_600,
             "2024-01-31T10:30:00.25-0530": 57_600.25,
             "2024-01-31T10:30:00.123456789Z": 37_800.123456}  # fmt: skip
    found, bad = read_dates(pa.array([*quick, "x"]), None)
    day = (datetime.date(2024, 1, 31) - datetime.date(1970, 1, 1)).days * 86_400
    assert bad.tolist() == [False] * len(quick) + [True]
    np.testing.assert_allclose(found[:-1] / 1e6 - day, [*quick.values()], atol=1e-6)
    for text in quick:
        assert not read_dates(pa.array([text]), ISO)[1][0]


@pytest.mark.parametrize(
    ("written", "text"),
    [(None, text) for text in (
        "2024-02-30", "2023-02-29", "2024-13-01", "2024-01-00", "2024-01-31 24:00",
        "2024-01-31T10:60", "2024-01-31T10:00:60", "2024-W05-3", "2024-01",
        "2024-01-31T10:00+25:00", "2024-01-31 10:00 CET", "2024-01-31x", "24-01-31")]
    + [("%d.%m.%Y", text) for text in ("31.1.24", "0.1.2024", "31.01.2024 10:00", "1.13.2024")],
)  # fmt: skip
def test_no_date(written, text):
    assert read_dates(pa.array([text]), written)[1].all()


DAYS = ["2025-12-24", "2012-01-01", "2025-04-03"]


def in_format(written):
    return [datetime.date.fromisoformat(day).strftime(written) for day in DAYS]


@pytest.mark.parametrize(
    ("written", "ending"),
    [*zip(COMMON[:8], ["csv", "jsonl", "parquet", "frame"] * 2, strict=True)],
)
def test_a_format_that_leaves_no_doubt_is_found_and_kept(tmp_path, written, ending):
    table = pa.table({"when": in_format(written), "y": [1, 2, 1]})
    rows = table.to_pylist()
    source = table if ending == "frame" else tmp_path / f"t.{ending}"
    if ending == "csv":
        source.write_text("when,y\n" + "".join(f"{row['when']},{row['y']}\n" for row in rows))
    elif ending == "jsonl":
        source.write_text("\n".join(map(json.dumps, rows)))
    elif ending == "parquet":
        pq.write_table(table, source)
    encoder = kb.TableEncoder(dates={"when": ["days"]})
    with pytest.warns(DataFileWarning, match=rf"'when': its dates are read as {written}, ") as said:
        stream = open_stream(source, encoder=encoder)
    expected = kb.TableEncoder(dates={"when": ["days"]}).learn(pa.table({"when": DAYS}))
    np.testing.assert_array_equal(stream.read()[0], expected)
    assert f"(--dates when=days,{written})" in str(said[0].message)
    described = stream.encoder.described()
    assert described["dates"] == {"when": ["days", written]}
    again = kb.TableEncoder.from_description(json.loads(json.dumps(described)))
    np.testing.assert_array_equal(again.transform(table.select(["when"])), expected)
    with pytest.raises(InputError, match=f"expected a date as {written}, found '2025-12-24'"):
        again.transform(pa.table({"when": DAYS}))


@pytest.mark.parametrize(
    ("days", "problem"),
    [
        (["03/04/2025", "12/11/2025"], r"t.csv: column 'a': all dates can be read as %d/%m/%Y and "
         r"as %m/%d/%Y; which is it\? dates \(--dates a=%d/%m/%Y or a=%m/%d/%Y\)$"),
        (["03.04.2025"], "as %d.%m.%Y and as %m.%d.%Y; which"),
        (["03/04/2025", "24/12/2025", "12/24/2025"], "line 4: .* as %d/%m/%Y, as in the rows "
         "before, found '12/24/2025'"),
        (["2025-12-24", "24.12.2025"], "line 3: .* as %Y-%m-%d, as in .* found '24.12.2025'"),
        (["24.12.2025", "hello"], "line 3: .* as %d.%m.%Y, as in the rows before, found 'hello'"),
        (["hello", "24.12.2025"], "line 2: .*expected a date such as .*, found 'hello'"),
        (["24.12.25"], r"found '24.12.25'; dates \(--dates a=%d.%m.%y\)"),
        (["24 Dec 2025"], r"dates \(--dates 'a=%d %b %Y'\)"),
        (["14:30"], r"dates \(--dates a=hour,%H:%M\)"),
        (["20240131"], r"dates \(--dates a=%Y%m%d\)"),
        (["1703894400"], r"dates \(--dates a=%s\)"),
        (["1703894400000"], r"dates \(--dates a=%Q\)"),
    ],
)  # fmt: skip
def test_a_format_in_doubt(write, monkeypatch, days, problem):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    path = write("t.csv", "a,y\n" + "".join(f"{day},x\n" for day in days))
    with pytest.raises(DataFileError, match=problem):
        open_stream(path, encoder=kb.TableEncoder(dates=["a"]))


def test_without_a_look_at_the_whole_no_format_is_found():
    """However the rows are cut, the first one is refused, with the format that reads it."""
    days = ["03/04/2025", "12/24/2025"]
    for rows in (pa.table({"a": days}), pa.table({"a": days[1:]}), pa.table({"a": days[:1]})):
        for learn in (kb.TableEncoder(dates=["a"]).learn, kb.TableEncoder(dates=["a"]).fit):
            with pytest.raises(InputError, match=r"row 0 .*dates \(--dates a=%"):
                learn(rows)
    one = kb.TableEncoder(dates={"a": ["days", "%m/%d/%Y"]})
    assert one.learn(pa.table({"a": days})).tolist() == [[20151], [20446]]


def test_what_else_can_be_a_moment():
    seconds = pa.array([1703894400, None, 0])
    for values, written in (
        (seconds, "%s"), (seconds.cast("double"), "%s"), (pa.array([1703894400000, None, 0]), "%Q"),
        (pa.array(["1703894400", "", "0"]), "%s"), (pa.array([20231230, None, 19700101]), "%Y%m%d"),
        (pa.array([datetime.date(2023, 12, 30), None, datetime.date(1970, 1, 1)]), "%d.%m.%Y"),
    ):  # fmt: skip
        one = kb.TableEncoder(dates={"a": ["days", written]}, missing="last")
        assert one.learn(pa.table({"a": values})).tolist() == [[19721], [19721], [0]]
    for times in (pa.array([datetime.time(6), datetime.time(18)]), pa.array(["6:00", "18:00"])):
        one = kb.TableEncoder(dates={"a": ["hour", "%H:%M"]})
        np.testing.assert_allclose(one.learn(pa.table({"a": times})), [[1, 0], [-1, 0]], atol=1e-12)
    with pytest.raises(InputError, match="a moment too far away"):
        kb.TableEncoder(dates={"a": "%s"}).learn(pa.table({"a": [2**60]}))


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"dates": {"a": "%d.%m"}}, "expected a year and a month"),
        ({"dates": {"a": ["days", "%H:%M"]}}, "a time alone has only the part hour"),
        ({"dates": {"a": "%K"}}, "expected some of %Y .*, got %K"),
        ({"dates": {"a": "%Y-%m-%d %d"}}, "expected each part of a date once"),
        ({"dates": {"a": "%Y-%m-%d %I:%M"}}, "%I goes with %p"),
        ({"dates": {"a": "%s %Y"}}, "%s and %Q stand alone"),
        ({"dates": {"a": ["%b %d", "%Y"]}}, r"one format\? dates \(--dates 'a=\"%b %d, %Y\"'"),
        ({"thousands": "."}, r"both are '\.'; is the other one decimal \(--decimal ,\)\?"),
        ({"dates": {"a": "%Y-%m-%d %H:%M:%S.%f"}}, "got %f; fractions of seconds are read in ISO"),
    ],
)  # fmt: skip
def test_parameters(made, problem):
    with pytest.raises(InputError, match=problem):
        kb.TableEncoder(**made).fit(pa.table({"a": ["5"]}))


def test_how_a_table_is_written_is_described():
    made = {"decimal": ",", "thousands": ".", "dates": {"b": "%d.%m.%Y"}}
    rows = pa.table({"a": ["1.200,5", "-7"], "b": ["24.12.2025", "03.04.2025"]})
    one = kb.TableEncoder(**made)
    X = one.fit(rows).transform(rows)
    assert X[:, 0].tolist() == [1200.5, -7]
    described = json.loads(json.dumps(one.described()))
    again = kb.TableEncoder.from_description(described)
    assert again.described() == described
    plain = again.rewritten(decimal=".", dates={"b": "%Y-%m-%d"})
    other = pa.table({"a": ["1200.5", "-7"], "b": ["2025-12-24", "2025-04-03"]})
    np.testing.assert_array_equal(plain.transform(other), X)
    assert again.described() == described
    for name, own in (("units", {"a": "EUR"}), ("dates", {"b": "%d.%m.%Y %f"})):  # of before
        with pytest.raises(InputError, match=r"no longer read|got %f"):
            kb.TableEncoder.from_description({**described, name: own})
    old = kb.TableEncoder.from_description({**described, "units": {}})
    assert old.described() == described
    with pytest.raises(InputError, match="encoder: of a version before, whose words and hours"):
        kb.TableEncoder.from_description({**described, "rules": 1})
