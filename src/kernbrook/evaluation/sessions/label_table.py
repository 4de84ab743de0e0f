"""The labels that a model was given, beside the rows that they are of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernbrook.errors import InputError
from kernbrook.evaluation.history.row_digests import RowDigest
from kernbrook.evaluation.sessions.answers import Answer, answers_beside, read_answers
from kernbrook.evaluation.sessions.checkpoints import load_checkpoint
from kernbrook.evaluation.sessions.raw_rows import RawRows
from kernbrook.evaluation.sessions.sources import Source, open_like
from kernbrook.json_lines import JSONLog
from kernbrook.streams import Stream

if TYPE_CHECKING:
    import pyarrow

OURS = "row", "label", "predicted", "chance"
_CHUNK = 1024  # rows read at a time


class LabelTable(NamedTuple):
    """The labels that were given.

    Attributes
    ----------
    table : a pyarrow table, see `label_table`
    skipped : rows that the model asked about and that were skipped, which are left out
    renamed : columns of the data by the names that they have in the table, where these differ
    numbers : columns of the table whose values are numbers, though they may come as text
    """

    table: pyarrow.Table
    skipped: int
    renamed: dict[str, str]
    numbers: Collection[str]


def label_table(data: Any, path: str | PathLike[str], *, label: str | None = None) -> LabelTable:
    """The labels that a model was given by `label`, each beside its row of the data.

    Nothing is changed, and no other labelling is disturbed that runs meanwhile.

    Parameters
    ----------
    data : the rows that were labelled: a stream, or what `open_like` takes
    path : of the model's file; the answers are beside it
    label : a column of the data to leave out, as that of labels which are not looked at

    Returns
    -------
    LabelTable, whose `table` has a row for each label that was given and the columns

    - row : the number of the row in the data, from 1
    - those of the data as they stand in it, if it is a table
    - label : the label that was given
    - predicted : what the model expected when it asked; missing of the first label
    - chance : how probable that was to the model; not where labels are numbers

    Raises
    ------
    InputError
        No label was given, or the data are not those that were labelled.
    DataFileError
        The data, or the file of the answers, cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> from kernbrook.evaluation import label
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows, file = Path(folder) / "rows.csv", Path(folder) / "model"
    ...     _ = rows.write_text("width,height\\n1,2\\n3,4\\n")
    ...     model = kb.OnlineMKClassifier(random_state=0)
    ...     stream = kb.evaluation.open_like(None, rows)
    ...     _ = label(stream, model, file, lambda *asked: "b", classes=["a", "b"])
    ...     given = label_table(rows, file)
    >>> given.table.select(["row", "width", "label"]).to_pylist()[1]
    {'row': 2, 'width': '3', 'label': 'b'}
    """
    import pyarrow as pa

    log = JSONLog(answers_beside(path))
    begun, answers = read_answers(log)
    if begun is None:
        raise InputError(f"{path}: no label was given yet: {log.path} is not there")
    stream = data if isinstance(data, Stream) else open_like(_source(path), data, label=label)
    _check_rows(stream, answers, path)
    given = [one for one in answers.values() if one.label is not None]
    columns: dict[str, Any] = {"row": pa.array([one.row for one in given], pa.int64())}
    names: dict[str, str] = {}
    if (records := stream.records()) is not None:
        raw = RawRows(records)
        left_out = {label, stream.label_name}
        names = _named([name for name in raw.columns if name not in left_out])
        rows = raw.rows([one.row for one in given], list(names.values()))
        columns |= {name: rows.column(was) for name, was in names.items()}
    columns["label"] = pa.array([one.label for one in given])
    columns["predicted"] = pa.array([one.predicted for one in given])
    if begun.classes is not None:
        columns["chance"] = pa.array([one.chance for one in given], pa.float64())
    renamed = {name: was for name, was in names.items() if name != was}
    plain = _plain(stream)
    numbers = [name for name, was in names.items() if was in plain]
    return LabelTable(pa.table(columns), len(answers) - len(given), renamed, numbers)


def _source(path: str | PathLike[str]) -> Source | None:
    checkpoint = load_checkpoint(path)[1]
    return None if checkpoint is None else checkpoint.source


def _check_rows(stream: Stream, answers: Mapping[int, Answer], path: str | PathLike[str]) -> None:
    """InputError where the rows are not those that were answered."""
    digest, met, left = RowDigest(), 0, list(answers.values())[::-1]
    for X, y in stream.chunks(_CHUNK):
        start = 0
        while left and left[-1].row <= met + len(y):
            answer = left.pop()
            end = answer.row - met
            digest.update(X[start:end], np.zeros(end - start))
            start = end
            if digest.hexdigest() != answer.digest:
                raise _other(path, f"the rows up to row {answer.row:,} are not those there")
        if not left:
            return
        digest.update(X[start:], np.zeros(len(y) - start))
        met += len(y)
    if left:
        raise _other(path, f"row {left[-1].row:,} was answered, here are {met:,} rows")


def _other(path: str | PathLike[str], problem: str) -> InputError:
    return InputError(
        f"{answers_beside(path)} has the answers to other data: {problem}. Give the data that "
        "were labelled"
    )


def _named(columns: list[str]) -> dict[str, str]:
    """Columns of the data by their names in the table, where four names are taken."""
    taken, found = {*OURS, *columns}, {}
    for was in columns:
        name = was
        while name in OURS or (name != was and name in taken):
            name += " (data)"
        found[name] = was
    return found


def _plain(stream: Stream) -> set[str]:
    """The columns of numbers."""
    if stream.encoder is None:
        return set(stream.feature_names or ())
    columns = set(stream.encoder.sources())
    return {name for name in columns if stream.encoder.encoded.place_of(name) is not None}
