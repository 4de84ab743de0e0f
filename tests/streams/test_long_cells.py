"""Cells of long text, and small files that unpack to much: little at once, or a refusal."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError, KernbrookError
from kernbrook.streams import limits, open_stream
from kernbrook.streams.opening import table_records
from kernbrook.streams.records import ReadOptions

N = 60


def of_text(text):
    """A table with such text in each row."""
    return pa.table(
        {"a": text, "b": np.arange(float(len(text))), "y": ["n", "p"] * (len(text) // 2)}
    )


def ipc(make, compression=None):
    def write(table, path):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with make(str(path), table.schema, options=options) as out:
            out.write_table(table, max_chunksize=40)

    return write


def folded(write):
    def write_folded(table, path):
        write(table.set_column(0, "a", table["a"].dictionary_encode()), path)

    return write_folded


def by_pandas(method, **options):
    def write(table, path):
        pytest.importorskip("pandas")
        getattr(table.to_pandas(), method)(path, **options)

    return write


def views(table, path):
    text = table["a"].combine_chunks().cast(pa.string_view())
    ipc(pa.ipc.new_file)(table.set_column(0, "a", text), path)


WRITERS = {
    "dictionary.parquet": pq.write_table,
    "plain.parquet": lambda table, path: pq.write_table(table, path, use_dictionary=False),
    "groups.parquet": lambda table, path: pq.write_table(table, path, row_group_size=40),
    "file.arrow": ipc(pa.ipc.new_file, "zstd"),
    "stream.arrow": ipc(pa.ipc.new_stream, "lz4"),
    "folded.feather": folded(ipc(pa.ipc.new_file)),
    "folded.arrow": folded(ipc(pa.ipc.new_stream)),
    "views.arrow": views,
    "rows.csv": by_pandas("to_csv", index=False),
    "rows.jsonl": by_pandas("to_json", orient="records", lines=True),
    "frame": None,
}


@pytest.fixture(params=WRITERS)
def written(request, tmp_path):
    """Write a table in some format, and return what to open."""

    def write(table):
        if WRITERS[request.param] is None:
            return table
        WRITERS[request.param](table, tmp_path / request.param)
        return tmp_path / request.param

    return write


def test_a_cell_of_long_text(written, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_CELL", 100)
    text = ["x" * 100, "é" * 50] * (N // 2)
    encoder = kb.TableEncoder(words=["a"])
    assert open_stream(written(of_text(text)), encoder=encoder).n_rows == N
    text[42] = "é" * 50 + "x"
    path = written(of_text(text))
    place = r"(line 4[34]|row 43|row 42, counted from 0): column 'a'"
    said = f"{place}: text of 101 bytes; expected 100 at most"
    for kind in ({"words": ["a"]}, {"categorical": ["a"]}, {"categorical": {"a": 8}}, {}):
        with pytest.raises((DataFileError, InputError), match=said):
            open_stream(path, encoder=kb.TableEncoder(**kind), label="y")
    with pytest.raises((DataFileError, InputError), match=said):
        open_stream(path, label="a", encoder=kb.TableEncoder(["y"]))
    assert open_stream(path, encoder=kb.TableEncoder(drop=["a"])).n_rows == N
    skipping = open_stream(path, encoder=encoder, on_bad_rows="skip")
    assert (skipping.n_rows, skipping.bad_rows.places) == (N - 1, [42])
    assert "text of 101 bytes" in skipping.bad_rows.problems[0]
    y = np.delete(["n", "p"] * (N // 2), 42)
    assert skipping.read()[1].tolist() == y.tolist()


NAMES = [f"{'n' * 2000}{j}" for j in range(20)]
LABELS = [f"{i:02}{'y' * 990}" for i in range(20)]
LONG = pa.table({name: np.arange(N) + j / 2 for j, name in enumerate(NAMES)} | {"y": LABELS * 3})


def said_in_few_words(work):
    with pytest.raises(KernbrookError) as told:
        work()
    assert len(f"{told.value}") < 1500


@pytest.mark.parametrize(
    "written", ["rows.csv", "rows.jsonl", "plain.parquet", "frame"], indirect=True
)
def test_messages_are_short_where_names_and_labels_are_long(written):
    data = written(LONG)
    said_in_few_words(lambda: open_stream(data, label="x"))
    said_in_few_words(lambda: open_stream(data, label=NAMES[0][1:]))
    said_in_few_words(lambda: open_stream(data, label="y", encoder=kb.TableEncoder(drop=["x"])))
    said_in_few_words(lambda: open_stream(data, label="y", positive="x").read())
    text = written(LONG.set_column(0, NAMES[0], pa.array(["t" * 5000] * N)))
    said_in_few_words(lambda: open_stream(text, label="y"))


@pytest.mark.parametrize(
    "work",
    [
        lambda frame: kb.fit_table(frame, label="y", classes=LABELS[1:]),
        lambda frame: kb.NamedColumns(kb.OnlineMKClassifier()).learn([{NAMES[0]: "x"}], ["a"]),
        lambda frame: kb.LateLabels(kb.OnlineMKClassifier()).learn(NAMES[:1], ["a"]),
        lambda frame: kb.OnlineMKClassifier(class_weight={NAMES[0]: 1}).fit(np.eye(20), LABELS),
        lambda frame: open_stream((frame[NAMES].assign(**{NAMES[0]: np.nan}), LABELS * 3)),
        lambda frame: kb.compare((np.eye(N), NAMES[:1] * N), ["majority"]),
    ],
)
def test_messages_of_models_are_short_where_names_and_labels_are_long(work):
    pytest.importorskip("pandas")
    said_in_few_words(lambda: work(LONG.to_pandas()))


@pytest.mark.parametrize("name", ["predict", "partial_fit"])
def test_notes_are_short_where_names_and_labels_are_long(name):
    model = kb.fit_table(LONG.slice(0, 5), label="y")
    rows = np.ones((2, len(NAMES))) if name == "predict" else LONG
    with pytest.warns(DataFileWarning, match="its columns are|new labels") as told:
        getattr(model, name)(rows)
    assert max(len(f"{warning.message}") for warning in told) < 1500


def test_batches_are_cut_by_bytes(written, monkeypatch):
    monkeypatch.setattr(limits, "BATCH_BYTES", 1000)
    text = [letter * 30 for letter in "abcdef"] * (N // 6)
    records = table_records(written(of_text(text)))
    tables = [batch.table for batch in records.batches(ReadOptions(["a", "b"]))]
    assert max(table.num_rows for table in tables) <= 34
    assert [cell for table in tables for cell in table["a"].to_pylist()] == text
    assert [float(cell) for table in tables for cell in table["b"].to_pylist()] == list(range(N))


@pytest.mark.parametrize("name", ["dictionary.parquet", "plain.parquet", "groups.parquet"])
def test_parquet_is_read_in_few_rows_where_they_are_long(tmp_path, monkeypatch, name):
    monkeypatch.setattr(limits, "BATCH_BYTES", 1000)
    WRITERS[name](of_text(["x" * 99] * N), tmp_path / name)
    records = table_records(tmp_path / name)
    assert max(len(batch.table) for batch in records.batches(ReadOptions(["a"]))) <= 11
    assert name != "plain.parquet" or len(next(records._read(ReadOptions(["a"]))).table) <= 10


@pytest.mark.parametrize("name", ["plain.parquet", "file.arrow", "stream.arrow"])
def test_what_unpacks_to_far_more_than_usual(tmp_path, monkeypatch, name):
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 100_000)
    monkeypatch.setattr(limits, "UNPACKED_TIMES", 2)
    table = of_text(["x" * 5000] * N)
    WRITERS[name](table, path := tmp_path / name)
    assert path.stat().st_size < 20_000
    words = kb.TableEncoder(words=["a"])
    problem = "rows 1 to (60|40) would take [23][\\d,]{6} bytes"
    said = f"{problem}; expected 100,000 at most; give max_bytes"
    with pytest.raises(DataFileError, match=said):
        open_stream(path, encoder=words)
    assert open_stream(path, encoder=words, max_bytes=400_000).n_rows == N
    if name == "plain.parquet":
        assert open_stream(path, encoder=kb.TableEncoder(drop=["a"])).n_rows == N


def test_a_group_of_rows_for_a_worker(tmp_path, monkeypatch):
    pq.write_table(of_text(["x" * 99] * N), path := tmp_path / "t.parquet")
    records = table_records(path)
    assert pa.types.is_dictionary(records.group(0)["a"].type)
    assert records.group(0)["a"].to_pylist() == ["x" * 99] * N
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 10)
    monkeypatch.setattr(limits, "UNPACKED_TIMES", 0)
    with pytest.raises(DataFileError, match="row group 0 would take"):
        records.group(0)


def test_groups_without_rows_or_values(tmp_path):
    table = of_text(["x"] * N)
    gaps = table.set_column(0, "a", pa.nulls(N, pa.string()))
    with pq.ParquetWriter(tmp_path / "t.parquet", table.schema) as out:
        for part in (table.slice(0, 0), table, table.slice(0, 0), gaps):
            out.write_table(part)
    records = table_records(tmp_path / "t.parquet")
    parts = [batch.table["a"] for batch in records.batches(ReadOptions(["a"]))]
    assert [cell for part in parts for cell in part.to_pylist()] == ["x"] * N + [None] * N
    assert [len(records.group(i)) for i in range(4)] == [0, N, 0, N]


@pytest.mark.filterwarnings("ignore::kernbrook.errors.DataFileWarning")
def test_long_text_is_not_taken_for_levels(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_LABEL", 20)
    monkeypatch.setattr("kernbrook.streams.tables.hints._MOST_TEXT", 3000)
    auto = kb.TableEncoder("auto")
    long = open_stream(of_text(["x" * 21, "z"] * (N // 2)), encoder=auto)
    short = open_stream(of_text(["x" * 20, "z"] * (N // 2)), encoder=auto)
    assert (long.n_features, short.n_features) == (33, 4)
    many = of_text([chr(97 + i % 26) * (70 + i) for i in range(N)])
    many = many.append_column("c", many["a"])
    with pytest.raises(InputError, match=r"'a' +over 59 values"):
        open_stream(many, label="y")


def test_kept_columns_are_of_the_rows_that_were_predicted(tmp_path, monkeypatch):
    from kernbrook.evaluation.raw_rows import kept_columns
    from kernbrook.streams.tables.stream import BadRows

    monkeypatch.setattr(limits, "LONGEST_CELL", 10)
    records = table_records(of_text(["x", "x" * 11, "x", "x"]))
    assert list(kept_columns(records, ["a"], BadRows([1]))) == [["x"]] * 3
    with pytest.raises(InputError, match="column 'a': text of 11 bytes"):
        list(kept_columns(records, ["a"], BadRows([2])))


@pytest.mark.parametrize("name", ["stream.arrow", "folded.arrow"])
def test_a_stream_without_the_mark_of_its_end(tmp_path, name):
    WRITERS[name](of_text(["x", "z"] * (N // 2)), path := tmp_path / name)
    data, encoder = path.read_bytes(), kb.TableEncoder(["a"])
    assert open_stream(path, encoder=encoder).n_rows == N
    path.write_bytes(data[:-8])
    with pytest.warns(DataFileWarning, match="no mark of the end follows the last rows; has the f"):
        assert open_stream(path, encoder=encoder).n_rows == N
    for cut in range(len(data) - 9, 0, -37):
        path.write_bytes(data[:cut])
        said = r"not read as Arrow|neither svmlight|no mark of the end"
        with pytest.raises((DataFileError, DataFileWarning), match=said) as told:
            open_stream(path, encoder=encoder)
        assert "unpack" not in str(told.value)
