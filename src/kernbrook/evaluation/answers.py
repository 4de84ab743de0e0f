"""A model's questions, the answers in the file that holds them, and the labels as a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import write_bytes
from kernbrook.checks import is_number
from kernbrook.errors import DataFileError, InputError
from kernbrook.estimators.table_model import open_like
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.evaluation.classes import as_label
from kernbrook.evaluation.content import Content
from kernbrook.evaluation.raw_rows import RawRows, number_columns
from kernbrook.gram.arrays import Floats
from kernbrook.json_lines import JSONLog
from kernbrook.streams import Stream
from kernbrook.streams.loading import pa
from kernbrook.streams.stream import Features
from kernbrook.streams.tables.labels import number_of

if TYPE_CHECKING:
    import pyarrow

OURS = "row", "label", "predicted", "chance"


class Question(NamedTuple):
    """A row whose label the model wants.

    Attributes
    ----------
    row : its number in the data, from 1
    x : (1, d), dense or CSR
    predicted : the label that the model expects; None before it has learned any
    votes : (c,) for each class, votes or scores, the greatest wins; of two classes with 0 the
        second. None for numbers, and where `predicted` is
    chances : (c,) the probability of each class; None where `votes` is
    means, deviations : (d,) mean and standard deviation of each feature, up to this row
    why : why the model wants the label of this row, in words
    """

    row: int
    x: Features
    predicted: Any
    votes: Floats | None
    chances: Floats | None
    means: Floats
    deviations: Floats
    why: str

    def entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Columns and values of the row, both (k,): all of a dense one, else what is stored."""
        if isinstance(self.x, np.ndarray):
            return np.arange(self.x.shape[1]), self.x[0]
        return np.asarray(self.x.indices), np.asarray(self.x.data)


class Answer(NamedTuple):
    """What was answered for a row."""

    row: int  # its number in the data, from 1
    label: Any  # None where the row was skipped
    predicted: Any  # what the model expected; None before it had learned any label
    digest: str  # of all rows up to this one
    chance: float | None = None  # of `predicted` to the model; None for numbers, and where that is

    def checked(self, last: int, classes: NDArray[Any] | None) -> Answer:
        """The same, after that to a last row, with its labels as of the classes or as numbers."""
        predicted, chance = self.predicted, self.chance
        if type(self.row) is not int or self.row <= last:
            raise InputError(f"row {self.row!r:.40} after row {last}")
        if chance is not None and not (is_number(chance) and 0 <= chance <= 1):
            raise InputError(f"expected a chance from 0 to 1, found {chance!r:.40}")
        if predicted is not None and classes is not None:
            predicted = as_label(predicted, classes)
        elif predicted is not None:
            if (number := number_of(predicted)) is None:
                raise InputError(f"expected a number as predicted, found {predicted!r:.40}")
            predicted = float(number)
        label = None if self.label is None else as_label(self.label, classes)
        return self._replace(label=label, predicted=predicted)


class Begun(NamedTuple):
    """What a model is before its first answer; the digest is that of its training."""

    rounds: int
    labels: int
    digest: str
    classes: list[Any] | None

    def known(self) -> NDArray[Any] | None:
        """All labels; TypeError where what was written down are none."""
        if not type(self.rounds) is type(self.labels) is int:
            raise TypeError
        if self.classes is None:
            return None
        if type(self.classes) is not list or {*map(type, self.classes)} - {int, float, str}:
            raise TypeError
        return np.array(self.classes)


def answers_beside(path: str | PathLike[str]) -> Path:
    """The file with the answers that the model in a file was given: MODEL.labels.jsonl."""
    return Path(f"{os.fspath(path)}.labels.jsonl")


def read_answers(log: JSONLog) -> tuple[Begun | None, dict[int, Answer]]:
    """What the model was before the first answer, and the answers that hold, by row.

    Nothing is written: half a line at the end may be one that somebody is writing. None and no
    answers where the file is not there, or empty; DataFileError names a line that `label` does not
    write. A line {"undo": 3} takes back the answer to row 3, which was then the last.
    """
    begun: Begun | None = None
    classes: NDArray[Any] | None = None
    answers: dict[int, Answer] = {}
    for number, found in log.new():
        last = next(reversed(answers), 0)
        try:
            if number == 1:
                begun = Begun(**found)
                classes = begun.known()
            elif [*found] == ["undo"]:
                undone = found["undo"]
                if type(undone) is not int or undone != last or not answers:
                    raise InputError(f"undo of row {undone!r:.40} after row {last}")
                del answers[last]
            else:
                answer = Answer(**found).checked(last, classes)
                answers[answer.row] = answer
        except InputError as error:
            raise DataFileError(log.path, str(error), number) from None
        except TypeError:
            problem = f"not a line that `label` writes: {found!r:.60}"
            raise DataFileError(log.path, problem, number) from None
    return begun, answers


class AnswerLog:
    """The answers, by row: a line of what the model was before the first, then a line each.

    begun : what the model is now, if there is no file yet; then what it was before the first answer
    """

    def __init__(self, path: Path, begun: Begun):
        self.path = path
        self._log = JSONLog(path)
        if not path.exists():
            write_bytes(path, b"")  # so that the name is on the disk too
        self._log.drop_half_line()
        before, self.answers = read_answers(self._log)
        self.begun = begun if before is None else before
        if before is None:
            self._log.append(begun._asdict())

    @property
    def last(self) -> int:
        return next(reversed(self.answers), 0)

    def append(self, answer: Answer) -> None:
        """Add an answer; it is on the disk when this returns."""
        self._log.append(answer._asdict())
        self.answers[answer.row] = answer

    def take_back(self) -> None:
        """Take back the last answer; that is on the disk when this returns."""
        self._log.append({"undo": self.last})
        del self.answers[self.last]


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
    log = JSONLog(answers_beside(path))
    begun, answers = read_answers(log)
    if begun is None:
        raise InputError(f"{path}: no label was given yet: {log.path} is not there")
    if isinstance(data, Stream):
        stream = data
    else:
        table, known = load_checkpoint(path)
        stream = open_like(None if known is None else table, data, label=label)
    _check_rows(stream, answers, log.path)
    given = [answer for answer in answers.values() if answer.label is not None]
    columns: dict[str, Any] = {"row": pa.array([answer.row for answer in given], pa.int64())}
    names: dict[str, str] = {}
    if (records := stream.records()) is not None:
        raw = RawRows(records)
        names = _named([name for name in raw.columns if name not in (label, stream.label_name)])
        rows = raw.rows([answer.row for answer in given], list(names.values()))
        columns |= {name: rows.column(was) for name, was in names.items()}
    columns["label"] = pa.array([answer.label for answer in given])
    columns["predicted"] = pa.array([answer.predicted for answer in given])
    if begun.classes is not None:
        columns["chance"] = pa.array([answer.chance for answer in given], pa.float64())
    plain = number_columns(stream)
    return LabelTable(
        pa.table(columns),
        skipped=len(answers) - len(given),
        renamed={name: was for name, was in names.items() if name != was},
        numbers=[name for name, was in names.items() if was in plain],
    )


def _check_rows(stream: Stream, answers: Mapping[int, Answer], log: Path) -> None:
    content, n_seen, last = Content(answers), 0, max(answers, default=0)
    for X, y in stream.chunks() if answers else ():
        content.update(X, np.zeros(len(y)))
        if (n_seen := n_seen + len(y)) >= last:
            break
    for row, answer in answers.items():
        if row > n_seen:
            problem = f"row {row:,} was answered, here are {n_seen:,} rows"
        elif content.marked[row] != answer.digest:
            problem = f"the rows up to row {row:,} are not those there"
        else:
            continue
        message = f"{log} has the answers to other data: {problem}"
        raise InputError(f"{message}. Give the data that were labelled")


def _named(columns: list[str]) -> dict[str, str]:
    """Columns of the data by their names in the table, where four names are taken."""
    taken, found = {*OURS, *columns}, {}
    for was in columns:
        name = was
        while name in OURS or (name != was and name in taken):
            name += " (data)"
        found[name] = was
    return found
