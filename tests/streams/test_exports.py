"""One table, as many programs write it: the same numbers and labels from every export, to the bit.

Levels are whole numbers, fractions, booleans, text and codes such as 007, declared and
hashed; labels are of each kind; there are gaps, for which pandas turns whole numbers into 1.0.
"""

import csv
import datetime
import io
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.streams import open_stream

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

N = 300
LABELS = {
    "whole": [3, 1, 2],
    "fractions": [0.1, 2.5, 1.0],
    "booleans": [True, False, True],
    "text": ["yes", "no", "it is, perhaps"],
    "mixed": ["1", "b", "1.5"],
}


def rows_of(labels, gaps, seed=0):
    """The rows as Python has them."""
    rng = np.random.default_rng(seed)

    def some(values):
        drawn = [values[i] for i in rng.integers(0, len(values), N)]
        return [None if gaps and rng.random() < 0.2 else value for value in drawn]

    days = [datetime.date(1969, 12, 1) + datetime.timedelta(days=400 * i) for i in range(40)]
    columns = {
        "size": some([round(float(x), 6) for x in rng.normal(size=50)]),
        "count": some([int(i) for i in range(-3, 90)]),
        "whole": some([1, 2, 3, 40]),
        "part": some([0.1, 0.25, 1.5, 2.0, 7.25]),
        "flag": some([True, False]),
        "word": some(["a", "b c", "Québec", "x;y,z"]),
        "code": some(["007", "7a", "x1"]),
        "hash whole": some(list(range(50))),
        "hash part": some([0.5, 0.1, 3.0, 1e-07, 123.25]),
        "hash flag": some([True, False]),
        "hash word": some(["red", "green", "a b"]),
        "day": some(days),
        "label": [LABELS[labels][i] for i in rng.integers(0, 3, N)],
    }
    names = list(columns)
    return names, [
        dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ]


def encoder(decimal=".", missing="mean"):
    return kb.TableEncoder(
        {
            "whole": [1, 2, 3],
            "part": [0.1, 0.25, 1.5, 2],
            "flag": [True, False],
            "word": ["a", "b c", "Québec", "never"],
            "code": ["007", "7a"],
            "hash whole": 8,
            "hash part": 8,
            "hash flag": 4,
            "hash word": 5,
        },
        {"day": ["days", "yearday"]},
        missing=missing,
        decimal=decimal,
    )


# -- the exports -----------------------------------------------------------------------------------


def as_pandas(names, rows, **kinds):
    """As pandas reads a file: whole numbers with gaps are floats, booleans with gaps objects."""
    frame = pandas.DataFrame(rows, columns=names)
    frame["day"] = pandas.to_datetime(frame["day"])
    return frame.astype(kinds)


def as_arrow(names, rows, **kinds):
    def array(name):
        values, kind = [row[name] for row in rows], kinds.get(name)
        if kind is not None and pa.types.is_decimal(kind):
            values = [None if value is None else Decimal(str(value)) for value in values]
        return pa.array(values, kind)

    return pa.table({name: array(name) for name in names})


def written(path, names, rows, separator=",", gap="", quote=False, boolean=str, number=str):
    """Text as other programs write it, each with its own words."""

    def cell(value):
        if value is None:
            return gap
        if isinstance(value, bool):
            return boolean(value)
        if isinstance(value, (int, float)):
            return number(value)
        text = str(value)
        return '"' + text + '"' if quote or separator in text else text

    lines = [separator.join(f'"{name}"' if quote else name for name in names)]
    lines += [separator.join(cell(row[name]) for name in names) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pandas_csv(path, names, rows):
    as_pandas(names, rows).to_csv(path, index=False, date_format="%Y-%m-%d")


def polars_csv(path, names, rows):
    polars.DataFrame(rows, schema=names, orient="row", strict=False).write_csv(path)


def r_csv(path, names, rows):
    upper = lambda value: str(value).upper()  # noqa: E731
    written(path, names, rows, gap="NA", quote=True, boolean=upper, number=lambda v: f"{v:.15g}")


def tsv(path, names, rows):
    written(path, names, rows, separator="\t", gap="NA", number=lambda v: f"{v:.17g}")


def sas_csv(path, names, rows):
    """Numbers in the form of C's %e."""
    written(path, names, rows, number=lambda v: f"{v:.18e}", boolean=lambda v: str(v).lower())


def excel_csv(path, names, rows):
    comma = lambda v: str(float(v)).replace(".", ",")  # noqa: E731
    upper = lambda value: str(value).upper()  # noqa: E731
    written(path, names, rows, separator=";", boolean=upper, number=comma, quote=True)


def json_lines(path, names, rows):
    as_text = lambda value: str(value)  # noqa: E731
    path.write_text("".join(json.dumps(row, default=as_text) + "\n" for row in rows))


def pandas_parquet(path, names, rows):
    as_pandas(names, rows).to_parquet(path, row_group_size=70)


def typed_parquet(path, names, rows):
    """Other types of the same values; dates of Spark."""
    table = as_arrow(
        names, rows, **{
            "whole": pa.int8(), "hash whole": pa.decimal128(38, 0), "part": pa.decimal128(12, 5),
            "word": pa.large_string(), "count": pa.float32(),
        },
    )  # fmt: skip
    for name in ("code", "hash word"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].dictionary_encode())
    place = table.schema.get_field_index("day")
    table = table.set_column(place, "day", table["day"].cast(pa.timestamp("ns")))
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)


def arrow_file(path, names, rows):
    table = as_arrow(names, rows, **{"part": pa.decimal256(60, 20), "hash word": pa.string_view()})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table, max_chunksize=90)


def arff(path, names, rows):
    numeric = ("size", "count", "whole", "part", "hash whole", "hash part")
    kinds = dict.fromkeys(numeric, "numeric")
    kinds |= {"flag": "{true,false}", "code": "{007,7a,x1}", "day": "date 'yyyy-MM-dd'"}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quotechar="'", quoting=csv.QUOTE_MINIMAL)
    for row in rows:
        cells = [row[name] for name in names]
        cells = [str(c).lower() if isinstance(c, bool) else c for c in cells]
        writer.writerow(["?" if c is None else c for c in cells])
    head = "".join(f"@attribute '{name}' {kinds.get(name, 'string')}\n" for name in names)
    path.write_text(f"@relation r\n{head}@data\n{text.getvalue()}", encoding="utf-8")


FILES = {
    "pandas.csv": pandas_csv,
    "polars.csv": polars_csv,
    "r.csv": r_csv,
    "some.tsv": tsv,
    "sas.csv": sas_csv,
    "excel.csv": excel_csv,
    "lines.jsonl": json_lines,
    "pandas.parquet": pandas_parquet,
    "typed.parquet": typed_parquet,
    "some.arrow": arrow_file,
    "some.arff": arff,
}


def object_frame(names, rows):
    return pandas.DataFrame(rows, columns=names, dtype=object)


def category_frame(names, rows):
    kinds = dict.fromkeys(["whole", "part", "word", "code", "hash word", "hash whole"], "category")
    return as_pandas(names, rows, **kinds)


def nullable_frame(names, rows):
    return as_pandas(names, rows).convert_dtypes()


def arrow_frame(names, rows):
    return as_arrow(names, rows).to_pandas(types_mapper=pandas.ArrowDtype)


def indexed_frame(names, rows):
    frame = as_pandas(names, rows)
    return frame.set_index(pandas.Index(range(7, 7 + N), name="id"))


def polars_frame(names, rows):
    frame = polars.DataFrame(rows, schema=names, orient="row", strict=False)
    kinds = {"word": polars.Categorical, "code": polars.Enum(["007", "7a", "x1"])}
    return frame.cast({**kinds, "hash whole": polars.Int128})


FRAMES = {
    "pandas": as_pandas,
    "objects": object_frame,
    "categories": category_frame,
    "nullable": nullable_frame,
    "of arrow": arrow_frame,
    "indexed": indexed_frame,
    "polars": polars_frame,
    "pyarrow": as_arrow,
    "indexed pyarrow": lambda names, rows: pa.Table.from_pandas(indexed_frame(names, rows)),
}
EXPORTS = [*FILES, *FRAMES]


def export(name, folder, names, rows):
    if name in FRAMES:
        return FRAMES[name](names, rows)
    FILES[name](folder / name, names, rows)
    return folder / name


def opened(data, name):
    decimal = "," if name == "excel.csv" else "."
    return open_stream(data, label="label", encoder=encoder(decimal))


def assert_same(stream, expected):
    X, y = stream.read()
    for name, column, wanted in zip(stream.feature_names, X.T, expected[0].T, strict=True):
        np.testing.assert_array_equal(column, wanted, err_msg=name)
    assert y.dtype == expected[1].dtype
    np.testing.assert_array_equal(y, expected[1])


@pytest.mark.parametrize(("name", "place"), [(name, i) for i, name in enumerate(EXPORTS)])
@pytest.mark.parametrize("gaps", [True, False])
def test_every_export_is_the_same_rows(tmp_path, name, place, gaps):
    """With another kind of labels each."""
    labels = list(LABELS)[(place + 2 * gaps) % 5]
    names, rows = rows_of(labels, gaps)
    expected = encoder().learn(as_arrow(names, rows).drop_columns("label"))
    y = np.array([row["label"] for row in rows])
    assert_same(opened(export(name, tmp_path, names, rows), name), (expected, y))


# -- single rules ----------------------------------------------------------------------------------


def places_of(levels, cells, decimal="."):
    X = kb.TableEncoder({"a": levels}, decimal=decimal).learn(pa.table({"a": cells}))
    return X.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("levels", "cells", "places"),
    [
        (["1", "2"], ["1.0", "1e0", " +1 ", "1.", "01", "2.50"], [0, 0, 0, 0, 0, 2]),
        (["01", "1"], ["01", "1", "1.0", "001", "2"], [0, 1, 1, 1, 2]),
        (["01", "02"], [1, 2, 3], [0, 1, 2]),
        (["01", "001"], [1, 1], [2, 2]),  # it may be either
        (["1", "1.0"], ["1", "1.0", "1.00"], [0, 1, 0]),
        ([True, False], ["true", "FALSE", "TRUE", "t"], [0, 1, 0, 2]),
        (["true", "True"], ["true", "True", "TRUE"], [0, 1, 1]),
        ([0.5], ["0.50", ".5", "5e-1", "0.5000000001"], [0, 0, 0, 1]),
        ([9007199254740993], ["9007199254740993.00", "9007199254740992"], [0, 1]),
        ([2**100], [f"{2**100}", "1"], [0, 1]),
        ([9007199254740993], [Decimal("9007199254740993"), Decimal("9007199254740992")], [0, 1]),
        ([0.1], pa.array([0.1, 0.2], pa.float32()), [0, 1]),
        ([0.1], pa.array(np.array([0.1, 0.2], np.float16)), [0, 1]),
        ([1.5], [Decimal("1.50"), Decimal("1.51")], [0, 1]),
        (["-0"], [0.0, -0.0], [0, 0]),
        (["inf"], ["Inf", "Infinity", "inf", "-inf"], [0, 0, 0, 1]),
        (["0.12345678901234567890"], [Decimal("0.1234567890123456788")], [1]),
    ],
)
def test_one_value_is_one_level(levels, cells, places):
    assert places_of(levels, cells) == places


def hashed(cells, decimal="."):
    return kb.TableEncoder({"a": 64}, decimal=decimal).learn(pa.table({"a": cells}))


def test_one_value_has_one_hash():
    one = hashed([1])
    for cells in (["1"], ["1.0"], ["1e0"], [1.0], pa.array([1], pa.float32()), [Decimal("1.00")]):
        np.testing.assert_array_equal(hashed(cells), one)
    np.testing.assert_array_equal(hashed(["1,0"], ","), one)
    for cells in (["true"], ["TRUE"], ["True"]):
        np.testing.assert_array_equal(hashed(cells), hashed([True]))
    np.testing.assert_array_equal(hashed(pa.array([0.1], pa.float32())), hashed(["0.1"]))
    assert (hashed(["007"]) != hashed(["7"])).any()  # a code, as before


def test_a_hash_is_that_of_the_text_where_it_is_the_value():
    from sklearn.feature_extraction import FeatureHasher

    texts = ["red", "1", "-12", "0.5", "1e-05", "007", "True", "2024-01-31", "1.2.3"]
    expected = FeatureHasher(64, input_type="string").transform([[t] for t in texts]).toarray()
    np.testing.assert_array_equal(hashed(texts), expected)


def test_numbers_stay_numbers_beside_a_decimal_comma(tmp_path):
    table = pa.table({"a": [1.5, 2.5], "k": [0.5, 1.0], "y": [2.5, 1.25]})
    made = kb.TableEncoder({"k": [0.5, 1]}, decimal=",")
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(r) + "\n" for r in table.to_pylist()))
    for data in (table, table.to_pandas(), tmp_path / "t.parquet", tmp_path / "t.jsonl"):
        X, y = open_stream(data, encoder=made).read()
        assert X.tolist() == [[1.5, 1, 0, 0], [2.5, 0, 1, 0]]
        assert y.tolist() == [2.5, 1.25]
    (tmp_path / "m.jsonl").write_text('{"a": 1.5, "y": 2.5}\n{"a": "2,5", "y": "1,25"}\n')
    mixed = pandas.DataFrame({"a": [1.5, "2,5"], "y": [2.5, "1,25"]})
    for data in (tmp_path / "m.jsonl", mixed):
        X, y = open_stream(data, encoder=kb.TableEncoder(decimal=",")).read()
        assert (X.tolist(), y.tolist()) == ([[1.5], [2.5]], [2.5, 1.25])


def test_decimals_keep_their_digits():
    own = [Decimal("9007199254740993"), Decimal("9007199254740992")]
    table = pa.table({"a": [1, 2], "id": pa.array(own, pa.decimal128(38, 0))})
    with pytest.raises(kb.errors.InputError, match="a 64-bit float does not hold 9007199254740993"):
        open_stream(table)
    table = pa.table({"a": [1, 2], "id": pa.array([Decimal("0.10"), 3], pa.decimal128(38, 2))})
    assert open_stream(table).read()[1].tolist() == [0.1, 3]
