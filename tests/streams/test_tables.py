"""Tables of any format: the same rows as pandas and pyarrow have, the same errors, by name."""

import bz2
import csv
import gzip
import io
import json
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.evaluation.raw_rows import RawRows
from kernbrook.streams import open_stream
from kernbrook.streams.bytes import DataFile
from kernbrook.streams.csv import find_separator

pandas = pytest.importorskip("pandas")

ENCODER = kb.TableEncoder({"kind": ["a", "b"]}, ["when"], ["note"], "mean")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 2500
    made = pandas.DataFrame(
        {
            "size": rng.normal(size=n).round(6),
            "kind": rng.choice(["a", "b", "new"], n),
            "when": pandas.date_range("2023-12-30", periods=n, freq="7h"),
            "note": "some text, with a comma",
            "count": rng.integers(0, 9, n),
            "label": rng.choice(["yes", "no"], n),
        }
    )
    made.loc[rng.random(n) < 0.2, ["size", "kind"]] = None
    return made


def as_arff(frame, path):
    kinds = {"size": "numeric", "kind": "{a,b,new}", "when": "date 'yyyy-MM-dd HH:mm:ss'"}
    kinds |= {"note": "string", "count": "INTEGER", "label": "{yes, no}"}
    head = "% made\n@RELATION some\n\n" + "".join(f"@attribute {k} {v}\n" for k, v in kinds.items())
    rows = frame.to_csv(index=False, header=False, na_rep="?", quotechar="'")
    middle = rows.index("\n", len(rows) // 2) + 1
    path.write_text(f"{head}@data\n{rows[:middle]}% more\n\n{rows[middle:]}")


WRITERS = {
    "t.csv": lambda f, p: f.to_csv(p, index=False),
    "t.tsv": lambda f, p: f.to_csv(p, index=False, sep="\t"),
    "t.parquet": lambda f, p: f.to_parquet(p, row_group_size=700),
    "t.arrow": lambda f, p: f.to_feather(p),
    "t.jsonl": lambda f, p: f.to_json(p, orient="records", lines=True, date_format="iso"),
    "t.arff": as_arff,
}
PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.fixture(scope="module")
def expected(frame):
    X = ENCODER.copy().learn(frame.drop(columns="label"))
    return X, frame["label"].to_numpy(str)


def assert_rows(stream, expected):
    X, y = stream.read()
    np.testing.assert_array_equal(X, expected[0])
    np.testing.assert_array_equal(y, expected[1])


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_by_its_content(
    frame, expected, tmp_path, monkeypatch, assert_chunks_agree, name
):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 5000)
    WRITERS[name](frame, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    (tmp_path / "other").write_bytes(data)
    stream = open_stream(tmp_path / "other", encoder=ENCODER)
    assert (stream.name, stream.n_rows, stream.label_name) == ("other", 2500, "label")
    assert stream.feature_names[:4] == ["size", "kind=a", "kind=b", "kind=other"]
    assert stream.classes().tolist() == ["no", "yes"]
    assert_rows(stream, expected)
    assert_chunks_agree(stream, (1024, 999))
    for ending, pack in PACK.items():
        (tmp_path / f"packed{ending}").write_bytes(pack(data))
        assert_rows(open_stream(tmp_path / f"packed{ending}", encoder=ENCODER), expected)


def test_a_folder(frame, expected, tmp_path):
    frame[:700].to_parquet(tmp_path / "part-00.parquet")
    late = frame[700:].assign(count=frame["count"][700:].astype(float))  # another type
    late[list(frame)[::-1]].to_parquet(tmp_path / "part-01.PARQUET")  # another order
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.parquet").write_text("")
    stream = open_stream(tmp_path, encoder=ENCODER)
    assert stream.name == tmp_path.name
    assert_rows(stream, expected)
    frame.drop(columns="kind").to_parquet(tmp_path / "part-02.parquet")
    with pytest.raises(DataFileError, match=r"part-02.parquet: other columns .*, such as 'kind'"):
        open_stream(tmp_path, encoder=ENCODER)


@pytest.mark.parametrize(
    ("rows", "separator"),
    [
        ("a;b\n1,5;2,5\n", ";"),
        ("1,5;2,5;x\n3,0;4,0;y\n", ";"),
        ("a\tb, c\td\n1\t2\t3\n", "\t"),
        ("a;b,c\n1;2,x\n2,y\n", ","),
        ("a b\n1 2\n", ","),
        ("Preis, EUR;Menge;Kauf\n1.234,50;3;ja\n2,5;4;nein\n", ";"),
        ("Name, Vorname;Alter\nKant, Immanuel;79\nMach, Ernst;78\n", ";"),
        ("Preis, EUR\tMenge\tKauf\n1,5\t3\tja\n", "\t"),
        ("a|b,c,d\n1|2,3,4\n5|6,7,8\n", ","),
        ("1,5;2,5;x\n", ";"),
    ],
)
def test_the_separator(write, rows, separator):
    assert find_separator(DataFile(write("t.csv", rows))) == separator


def test_a_separator_that_is_given(write):
    path = write("t.csv", "a:b:label\n1:2:x\n")
    assert open_stream(path, sep=":").read()[0].tolist() == [[1, 2]]
    with pytest.raises(InputError, match="sep: expected one character, got '::'"):
        open_stream(path, sep="::")
    with pytest.raises(InputError, match=r"is for a CSV file; .* is JSON lines"):
        open_stream(write("t.jsonl", '{"a": 1, "b": 2}\n'), sep=";")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("t.csv", "a;b\n1;2\n\n1;2;3\n", r"t.csv, line 4: expected 2 values, found 3"),
        ("t.csv", "a;b\n1;2\n,5;2\n", r"line 3: .* ',5'; categorical"),
        ("t.jsonl", '{"a": 1, "b": 2}\n\n{"a": "x", "b": 2}\n', "line 3: column 'a': .* found 'x'"),
        ("t.jsonl", '{"a": 1, "b": 2}\n{"a": 1\n', "line 2: not an object of JSON"),
        ("t.jsonl", '{"a": 1, "b": 2}\n{"a": null, "b": 2}\n', "line 2: column 'a': missing value"),
        ("t.jsonl", '{"a": {"x": 1}, "b": 2}\n', r"column 'a': .* struct.*; drop \(--drop a\)"),
        ("t.jsonl", '{"a": 1}\n', "expected a label and features"),
        ("t.jsonl", "{}\n", "no object with a name"),
        ("t.json", "[1, 2]\n", r"line 1: a list where JSON lines, .*; jq -c '\.\[\]' makes them"),
        ("t.json", '{\n"a": 1,\n"b": 2}\n', "line 1: an object of several lines, .*; jq -c . wri"),
        ("t.jsonl", '{"a": 1, "b": 2, "a": 3}\n', "line 1: .*: two values of 'a'"),
        ("t.jsonl", '{"\\ud800": 1, "b": 2}\n', r"line 1: column '\\ud800': half of a char"),
        ("t.jsonl", '\n{"a": 1, "b": "\\udc00"}\n', "line 2: column 'b': half of a character"),
        ("t.arff", "@relation x\n@attribute a real\n", "no line with @data"),
        ("t.arff", "@attribute a real\n@attribute b real\n@data\n% x\nx,1\n", "line 5: column 'a'"),
        ("t.arff", "@attribute a real\n@attribute a real\n@data\n1,1\n", "two columns are called"),
        ("t.parquet", "PAR1 not really", "t.parquet: not read as Parquet"),
        ("t.arrow", "ARROW1 not really", "t.arrow: not read as Arrow"),
    ],
)
def test_what_is_refused(write, name, text, problem):
    with pytest.raises(DataFileError, match=problem):
        open_stream(write(name, text))


def test_a_name_that_comes_late(write, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    text = '{"a": 1, "b": 2}\n' * 9 + '{"a": 1, "b": 2, "c": 3}\n'
    with pytest.raises(DataFileError, match="line 10: 'c' is in none of the first objects"):
        open_stream(write("t.jsonl", text))


def test_columns_that_are_not_there(write):
    path = write("t.csv", "a;b;c\n1;2;3\n")
    for options in ({"label": "d"}, {"encoder": kb.TableEncoder(drop=["d"])}):
        with pytest.raises(UnknownNameError, match="unknown column 'd': known: a, b"):
            open_stream(path, **options)
    stream = open_stream(path, encoder=kb.TableEncoder(drop=["c"]))
    assert (stream.label_name, stream.feature_names) == ("b", ["a"])


def test_an_encoder_is_for_tables(write):
    for source in ("wdbc", (np.eye(2), [0, 1]), write("t.svm", "1 1:1\n")):
        with pytest.raises(InputError, match=r"encoder=TableEncoder\(\) is for a table"):
            open_stream(source, encoder=kb.TableEncoder())
    with pytest.raises(InputError, match="encoder: expected a TableEncoder, got 5"):
        open_stream("wdbc", encoder=5)


# -- columns of a table that are shown and not learned ---------------------------------------------


NOTES = ["", "NA", "nan", "1", 'a "b", c', " spaces ", "\u00e9" * 2000, "a\tb", "#", "-"] * 3


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text).writerows([rows[0].keys(), *(row.values() for row in rows)])
    return text.getvalue()


def aside(stream):
    """What these columns say, row by row."""
    raw = RawRows(stream.records())
    rows = (raw.row(i + 1) for i in range(stream.n_rows))
    return [[row[name] for name in stream.aside] for row in rows]


WRITTEN = {
    "rows.csv": lambda rows, path: path.write_text(as_csv(rows), newline=""),
    "rows.jsonl": lambda rows, path: path.write_text("\n".join(map(json.dumps, rows))),
    "rows.parquet": lambda rows, path: pq.write_table(pa.Table.from_pylist(rows), path),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_any_text_stands_aside(tmp_path, monkeypatch, name):
    """Features and labels are those of the file without the columns."""
    rng = np.random.default_rng(0)
    names = ["note", "w", "h", "photo", "label"]
    rows = [[n, *rng.normal(size=2), f"{i}.png", "ab"[i % 2]] for i, n in enumerate(NOTES)]
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 7)
    WRITTEN[name]([dict(zip(names, row, strict=True)) for row in rows], tmp_path / name)
    stream = open_like(None, tmp_path / name, aside=["photo", "note"])
    X, y = stream.read()
    np.testing.assert_array_equal(X, [row[1:3] for row in rows])
    assert y.tolist() == [row[4] for row in rows]
    assert (stream.feature_names, stream.label_name, stream.n_features) == (["w", "h"], "label", 2)
    for _ in range(2):
        assert aside(stream) == [[row[3], row[0]] for row in rows]


def test_what_cannot_stand_aside(write):
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,x,4\n")
    for aside, error, said in [
        (["photos"], UnknownNameError, "unknown column 'photos'"),
        (["photo"], DataFileError, "line 3: column 'w': expected a number, found 'x'"),
        (["photo", "w", "h"], DataFileError, "no column is left to learn from"),
        ([], DataFileError, "2 columns to declare"),
    ]:
        with pytest.raises(error, match=said):
            open_like(None, path, aside=aside)
    for other in ("wdbc", write("rows.svm", "1 1:2\n")):
        with pytest.raises(InputError, match=r"column 'photo': .* is no table"):
            open_like(None, other, aside=["photo"])


def test_the_model_knows_them(write):
    """Other data of the model's may have the columns or not."""
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,3,4\n")
    source = TableModel._of_stream(None, open_like(None, str(path), aside=["photo"]))
    assert (source.encoder_.columns_, source.aside_) == (["w", "h"], ["photo"])
    bare = write("bare.csv", "w,h\n1,2\n3,4\n")
    for data in (path, bare):
        assert open_like(source, str(data)).read()[0].tolist() == [[1, 2], [3, 4]]
    more = write("more.csv", "note,photo,w,h\nx,a.png,1,2\ny,b.png,3,4\n")
    with pytest.raises(DataFileError, match="unknown 'note'"):
        open_like(source, str(more))
    stream = open_like(source, str(more), aside=["note"])
    assert stream.aside == ["note", "photo"]
    assert stream.read()[0].tolist() == [[1, 2], [3, 4]]
    by_width = TableModel._around(None)
    assert open_like(by_width, str(path), aside=["photo"]).n_features == 2
