"""What of a row a person is shown: its columns as the table has them, the unusual ones first."""

from __future__ import annotations

import io

import numpy as np
import plain
import pytest
from rich.cells import cell_len
from rich.console import Console
from scipy.sparse import csr_array

import kernbrook as kb
from kernbrook.cli.person import Person, ShownRows
from kernbrook.errors import UnknownNameError
from kernbrook.estimators.table_model import open_like
from kernbrook.evaluation.answers import Question
from kernbrook.evaluation.labelling import Labelling
from kernbrook.evaluation.moments import Moments
from kernbrook.evaluation.training import Quit


def question_of(stream, row):
    """A question about a row, from 1, as `label` asks it."""
    X, _ = stream.read()
    moments = Moments(stream.n_features)
    moments.add(X[:row])
    usual = moments.means(), moments.deviations()
    return Question(row, X[row - 1 : row], None, None, None, *usual, "")


def shown(stream, row, first=12, most=100, letters=99, text=None, image=None):
    rows = ShownRows(stream, text, image)
    return rows.of(question_of(stream, row), first, most, letters)


@pytest.fixture
def table(tmp_path):
    """Twenty rows: a category, a hash, a date, numbers with gaps, a constant and a note."""
    lines = ["day,carrier,dest,wind,visib,note"]
    for i in range(1, 21):
        carrier, wind = ("HA", "") if i == 20 else ("UA", f"{i}.5")
        note = "NA" if i == 3 else f"a note {'x' * i}"
        lines.append(f"2013-01-{i:02d},{carrier},D{i % 3},{wind},10,{note}")
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    encoder = kb.TableEncoder(
        {"carrier": ["UA", "AA", "HA"], "dest": 8}, ["day"], ["note"], missing="mean"
    )
    return open_like(None, str(tmp_path / "table.csv"), encoder=encoder)


def test_columns_are_those_of_the_table(table):
    """Not what they are encoded as; gaps are gaps, and each level has its share of the rows."""
    found = shown(table, 20)
    assert [(cell.name, cell.value, cell.usual) for cell in found.cells] == [
        ("day", "2013-01-20", ""),
        ("carrier", "HA", "in 5 % of rows"),
        ("dest", "D2", ""),
        ("wind", "missing", "10.5 ± 5.3"),
        ("visib", "10", "always 10"),
    ]
    assert (found.text, found.image, found.left) == (None, None, 0)
    found = shown(table, 19, text="note", image="dest")
    assert (found.text, found.image) == (f"a note {'x' * 19}", "D1")
    assert [cell.name for cell in found.cells] == ["day", "carrier", "wind", "visib"]
    assert found.cells[1].usual == "in all rows"
    assert shown(table, 3, text="note").text == "NA"
    with pytest.raises(UnknownNameError, match=r"unknown column 'nots': did you mean note\?"):
        ShownRows(table, "nots", None)
    assert not any(cell.usual for cell in shown(table, 9).cells)  # too few rows


def test_the_most_unusual_come_first_where_there_are_many(table):
    assert shown(table, 20, first=5).cells[0].name == "day"
    found = shown(table, 20, first=3, most=4)
    assert found.cells[0].name == "carrier"  # the first of its kind
    away = [cell.away for cell in found.cells]
    assert away == sorted(away, reverse=True)
    assert found.left == 1
    assert "visib" not in [cell.name for cell in found.cells]  # which is as always


def test_without_a_table():
    X = np.zeros((12, 5))
    X[:, 1], X[11] = 1.0, [0, 7, 0, 0.25, 0]
    dense = kb.open_stream((X, np.zeros(12)))
    assert [(cell.name, cell.value) for cell in shown(dense, 12, first=2, most=2).cells] == [
        ("feature 2", "7"), ("feature 4", "0.25"),
    ]  # fmt: skip
    sparse = kb.open_stream((csr_array(X), np.zeros(12)))
    found = shown(sparse, 12)
    assert [tuple(cell[:3]) for cell in found.cells] == [
        ("feature 2", "7", ""), ("feature 4", "0.25", ""),
    ]  # fmt: skip
    assert shown(kb.open_stream((csr_array(0 * X), np.zeros(12))), 12).cells == []
    with pytest.raises(UnknownNameError, match="unknown column 'note'"):
        ShownRows(dense, "note", None)


def test_columns_of_words_are_shown_whole(tmp_path):
    """They are learned, and read by whoever labels: as texts, above the other columns."""
    long = " ".join(["a ticket of many words"] * 9)
    (tmp_path / "t.csv").write_text(f"subject,n,body\nprinter,4,{long}\n,5,b\n")
    encoder = kb.TableEncoder(words={"subject": 16, "body": 16})
    stream = open_like(None, str(tmp_path / "t.csv"), encoder=encoder)
    first, second = (shown(stream, row, letters=999) for row in (1, 2))
    assert first.text == f"printer\n{long}"
    assert [cell.name for cell in first.cells] == ["n"]
    assert second.text == "\nb"
    cut = shown(stream, 1, letters=9).text
    assert cut == f"printer\na ticket … ({len(long) - 9} more letters)"


# -- in a terminal -----------------------------------------------------------------------------


@pytest.mark.parametrize("terminal", [True, False])
def test_words_are_not_broken(tmp_path, monkeypatch, terminal):
    """Lines of a terminal end between words, a pipe has them as they are; paragraphs are kept."""
    words = "a fantastic film, with a Kraftfahrzeughaftpflichtversicherung in it, 東京の映画 too"
    text = f"{words}\n\n{'x' * 70} end"
    (tmp_path / "t.jsonl").write_text(f'{{"note": {text!r}, "a": 1}}\n'.replace("'", '"'))
    stream = open_like(None, str(tmp_path / "t.jsonl"), encoder=kb.TableEncoder(drop=["note"]))
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=40, color_system=None)
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    person = Person(console, ShownRows(stream, "note", None), np.array(["a", "b"]))
    with pytest.raises(Quit):
        person.ask(question_of(stream, 1), Labelling(plain.classifier(), tmp_path / "m"))
    lines = screen.getvalue().split("\n")
    if not terminal:
        assert f"  {words}" in lines
        assert f"  {'x' * 70} end" in lines
        return
    assert all(cell_len(line) <= 40 for line in lines if "? help" not in line)
    start = lines.index("  a fantastic film, with a")
    assert lines[start + 1 : start + 6] == [
        "  Kraftfahrzeughaftpflichtversicherung", "  in it, 東京の映画 too", "  ", f"  {'x' * 38}",
        f"  {'x' * 32} end",
    ]  # fmt: skip
