"""The labels that were given, beside their rows: from the files of a labelling and the data."""

import csv
import json

import numpy as np
import pandas
import plain
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError, KernbrookError
from kernbrook.estimators.table_model import open_like
from kernbrook.evaluation.answers import answers_beside, label_table
from kernbrook.evaluation.labelling import label
from kernbrook.evaluation.raw_rows import RawRows

X = np.random.default_rng(0).normal(size=(40, 2)).round(3)
NOTES = ["", "NA", "  two words ", 'a "b", c', "é", "<b>"]
FORMATS = ("rows.csv", "rows.parquet", "rows.jsonl", "rows.svm")
ENCODER = {"missing": "mean", "drop": ["note"]}


def written(folder, name):
    """The rows as a file of a kind: a note, and two columns of numbers, some of them missing."""
    rows = [
        {"note": NOTES[i % 6], "a": f"{a:.3f}" if i % 7 else "", "b": f"{b}", "label": "x"}
        for i, (a, b) in enumerate(X.tolist())
    ]
    path = folder / name
    typed = [{**row, "a": float(row["a"] or "nan"), "b": float(row["b"])} for row in rows]
    frame = pandas.DataFrame(rows if name.endswith("csv") else typed)
    if name.endswith("csv"):
        frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    elif name.endswith("svm"):
        path.write_text("".join(f"0 1:{a} 2:{b}\n" for a, b in X.tolist()))
    elif name.endswith("jsonl"):
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        frame.to_parquet(path, index=False)
    return path, rows


def truth(row):
    return "yes" if X[row - 1, 0] > 0 else "no"


def labelled(data, path, ask=None, regression=False, **options):
    """A labelling of all rows."""
    encoder = None if data.suffix == ".svm" else kb.TableEncoder(**ENCODER)
    stream = open_like(None, str(data), encoder=encoder, **options)
    fresh = plain.regressor if regression else plain.classifier
    asked = []

    def answered(question, state):
        asked.append(question)
        return truth(question.row)

    if regression:
        pool = [kb.Gaussian(sigma=1.0)]
        model = fresh(pool, labels=kb.RandomLabels(0.5), random_state=3)
    else:
        model = fresh(labels=kb.MarginSampling(), random_state=3)
    classes = None if regression else ["no", "yes"]
    label(stream, model, path, ask or answered, classes=classes)
    return asked


@pytest.mark.parametrize("name", FORMATS)
def test_each_label_is_beside_its_row(tmp_path, name):
    data, rows = written(tmp_path, name)
    asked = labelled(data, tmp_path / "m")
    assert 5 < len(asked) < 40
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found = label_table(str(data), tmp_path / "m")
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    table, numbers = found.table.to_pydict(), [question.row for question in asked]
    columns = [] if name.endswith("svm") else ["note", "a", "b"]
    assert list(table) == ["row", *columns, "label", "predicted", "chance"]
    assert table["row"] == numbers
    assert table["label"] == [truth(row) for row in numbers]
    assert table["predicted"] == [question.predicted for question in asked]
    assert table["chance"][0] is None
    chances = [max(question.chances) for question in asked[1:]]
    np.testing.assert_allclose(table["chance"][1:], chances, atol=5e-7)
    for column in columns:
        kept = [rows[row - 1][column] for row in numbers]
        if name.endswith("csv") or column == "note":
            assert table[column] == kept
        else:
            assert table[column] == [float(value) if value else None for value in kept]
    assert (found.skipped, found.renamed, sorted(found.numbers)) == (0, {}, columns[1:])


def test_names_that_are_taken(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{a},{b},{a},1,2,3" for a, b in X.tolist()]
    path.write_text("\n".join(["row,chance,row (data),predicted,label,kind", *lines]) + "\n")
    stream = open_like(None, str(path), label="kind")
    label(
        stream, plain.classifier(random_state=3), tmp_path / "m",
        lambda question, state: truth(question.row), classes=["no", "yes"],
    )  # fmt: skip
    found = label_table(str(path), tmp_path / "m")
    assert found.table.column_names == [
        "row", "row (data) (data)", "chance (data)", "row (data)", "predicted (data)",
        "label (data)", "label", "predicted", "chance",
    ]  # fmt: skip
    assert found.renamed == {
        "row (data) (data)": "row", "chance (data)": "chance", "predicted (data)": "predicted",
        "label (data)": "label",
    }  # fmt: skip
    assert found.table["row (data) (data)"].to_pylist() == [str(a) for a in X[:, 0].tolist()]


def test_while_somebody_writes(tmp_path):
    """Half a line is left alone, and no label."""
    data, _ = written(tmp_path, "rows.csv")
    labelled(data, tmp_path / "m")
    whole = label_table(str(data), tmp_path / "m").table
    answers = answers_beside(tmp_path / "m")
    kept = answers.read_bytes()
    answers.write_bytes(kept + b'{"row": 41, "lab')
    assert label_table(str(data), tmp_path / "m").table == whole
    assert answers.read_bytes().endswith(b'"lab')


# -- what is refused ---------------------------------------------------------------------------


def test_other_data_are_refused(tmp_path):
    data, _ = written(tmp_path, "rows.csv")
    asked = labelled(data, tmp_path / "m")
    lines, last = data.read_text().splitlines(), asked[-1].row
    changed = [line.replace("0.", "1.") if i == 3 else line for i, line in enumerate(lines)]
    for rows, said in (
        (changed, "the rows up to row"),
        (lines[:last], f"row {last} was answered, here are {last - 1} rows"),
    ):
        data.write_text("\n".join(rows) + "\n")
        with pytest.raises(InputError, match=f"has the answers to other data: {said}"):
            label_table(str(data), tmp_path / "m")
    data.write_text("\n".join([*lines, lines[1]]) + "\n")  # rows may be appended
    assert label_table(str(data), tmp_path / "m").table.num_rows == len(asked)


def test_what_cannot_be_exported(tmp_path):
    data, _ = written(tmp_path, "rows.csv")
    kb.save(plain.classifier(), tmp_path / "m")
    with pytest.raises(InputError, match=r"m: no label was given yet: .*m.labels.jsonl is not th"):
        label_table(str(data), tmp_path / "m")
    answers = answers_beside(tmp_path / "m")
    answers.touch()
    with pytest.raises(InputError, match="no label was given yet"):
        label_table(str(data), tmp_path / "m")
    begun = '{"rounds": 0, "labels": 0, "digest": "", "classes": ["a", "b"]}'
    right = {"row": 1, "label": "a", "predicted": "a", "digest": ""}
    for line, said in (
        (json.dumps({**right, "label": "c"}), "line 2: expected one of a, b"),
        (json.dumps({**right, "chance": 2}), "line 2: expected a chance from 0 to 1, found 2"),
        ("oops", "line 2: expected a JSON object"),
    ):
        answers.write_text(f"{begun}\n{line}\n")
        with pytest.raises(DataFileError, match=said):
            label_table(str(data), tmp_path / "m")
    for classes in ('"ab"', "[[1]]", "[null]", "{}"):
        answers.write_text(begun.replace('["a", "b"]', classes) + "\n")
        with pytest.raises(DataFileError, match="line 1: not a line that `label` writes"):
            label_table(str(data), tmp_path / "m")


# -- rows by number ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS[:3])
def test_rows_by_number(tmp_path, monkeypatch, name):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 64)
    monkeypatch.setattr("kernbrook.streams.arrow.BATCH_ROWS", 7)
    path, rows = written(tmp_path, name)
    raw = RawRows(open_like(None, str(path), encoder=kb.TableEncoder(**ENCODER)).records())
    for number in (1, 2, 9, 40, 3, 3, 39):
        found = raw.row(number)
        assert list(found) == raw.columns == ["note", "a", "b", "label"]
        assert found["note"] == rows[number - 1]["note"]
        assert float(found["b"]) == X[number - 1, 1]
    taken = raw.rows([2, 30, 31], ["b", "note"])
    assert taken.column_names == ["b", "note"]
    assert [float(b) for b in taken["b"].to_pylist()] == X[[1, 29, 30], 1].tolist()
    assert raw.rows([], ["b"]).num_rows == 0
    with pytest.raises(KernbrookError, match="row 41 is not there any more"):
        raw.row(41)
    assert raw.row(1)["note"] == ""


def test_a_column_of_several_types_is_text(tmp_path, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 30)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 1.5}\n{"a": 2, "b": 2}\n{"a": 3, "b": "x"}\n')
    encoder = kb.TableEncoder(drop=["b"])
    raw = RawRows(open_like(None, str(path), encoder=encoder).records())
    found = raw.rows([1, 2, 3], ["a", "b"]).to_pydict()
    assert found["b"][2] == "x"
    assert [float(b) for b in found["b"][:2]] == [1.5, 2.0]
