"""A model's questions, and the answers to them in the file that holds them."""

from __future__ import annotations

import math
import os
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import write_bytes
from kernbrook.checks import is_number
from kernbrook.errors import DataFileError, InputError
from kernbrook.evaluation.history.moments import Floats
from kernbrook.evaluation.sessions.classes import as_label
from kernbrook.json_lines import JSONLog
from kernbrook.streams.stream import Features


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
    """What was answered for a row.

    Attributes
    ----------
    row : its number in the data, from 1
    label : None where the row was skipped
    predicted : what the model expected; None before it had learned any label
    digest : of all rows up to this one
    chance : how probable `predicted` was to the model; None for numbers, and where `predicted` is
    """

    row: int
    label: Any
    predicted: Any
    digest: str
    chance: float | None = None


class Begun(NamedTuple):
    """What a model is before its first answer; the digest is that of its training."""

    rounds: int
    labels: int
    digest: str
    classes: list[Any] | None


def answers_beside(path: str | PathLike[str]) -> Path:
    """The file with the answers that the model in a file was given.

    Examples
    --------
    >>> answers_beside("model").name
    'model.labels.jsonl'
    """
    return Path(f"{os.fspath(path)}.labels.jsonl")


def read_answers(log: JSONLog) -> tuple[Begun | None, dict[int, Answer]]:
    """What the model was before the first answer, and the answers that hold, by row.

    Nothing is written: half a line at the end may be one that somebody is writing.

    Parameters
    ----------
    log : of the file, where nothing was read yet

    Returns
    -------
    begun : None where the file is not there, or empty
    answers : in the order of their rows

    Raises
    ------
    DataFileError
        A line is not what `label` writes; it is named.
    """
    begun: Begun | None = None
    classes: NDArray[Any] | None = None
    answers: dict[int, Answer] = {}
    for number, found in log.new():
        try:
            if number == 1:
                begun = Begun(**found)
                if not type(begun.rounds) is type(begun.labels) is int:
                    raise TypeError
                classes = _classes(begun.classes)
            elif "undo" in found:
                _drop(answers, **found)
            else:
                answer = _checked(Answer(**found), _last(answers), classes)
                answers[answer.row] = answer
        except InputError as error:
            raise DataFileError(log.path, str(error), number) from None
        except TypeError:
            problem = f"not a line that `label` writes: {found!r:.60}"
            raise DataFileError(log.path, problem, number) from None
    return begun, answers


class AnswerLog:
    """The answers: a line of what the model was before the first, then a line each.

    A line {"undo": 3} takes back the answer to row 3, which was then the last.

    Parameters
    ----------
    path : the file; a new one where there is none
    begun : what the model is now

    Attributes
    ----------
    begun : what the model was before the first answer
    answers : by row
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
        """The row that was answered last; 0 where none was."""
        return _last(self.answers)

    def append(self, answer: Answer) -> None:
        """Add an answer; it is on the disk when this returns."""
        self._log.append(answer._asdict())
        self.answers[answer.row] = answer

    def take_back(self) -> None:
        """Take back the last answer; that is on the disk when this returns."""
        row = self.last
        self._log.append({"undo": row})
        _drop(self.answers, row)


def _classes(names: Any) -> NDArray[Any] | None:
    """All labels, as the first line has them; TypeError where these are none."""
    if names is None:
        return None
    if not isinstance(names, list) or {type(name) for name in names} - {int, float, str}:
        raise TypeError
    return np.array(names)


def _last(answers: dict[int, Answer]) -> int:
    return next(reversed(answers), 0)


def _drop(answers: dict[int, Answer], undo: Any) -> None:
    """Take back the answer to a row; InputError where it is not the last."""
    last = _last(answers)
    if type(undo) is not int or undo != last or not answers:
        raise InputError(f"undo of row {undo!r:.40} after row {last}")
    del answers[last]


def _checked(answer: Answer, last: int, classes: NDArray[Any] | None) -> Answer:
    """An answer after that to a last row, with its label as one of the classes or a number."""
    if type(answer.row) is not int or answer.row <= last:
        raise InputError(f"row {answer.row!r:.40} after row {last}")
    said, chance = answer.predicted, answer.chance
    if classes is None and said is not None and not (is_number(said) and abs(said) < math.inf):
        raise InputError(f"expected a number as predicted, found {said!r:.40}")
    if chance is not None and not (is_number(chance) and 0 <= chance <= 1):
        raise InputError(f"expected a chance from 0 to 1, found {chance!r:.40}")
    if answer.label is None:
        return answer
    return answer._replace(label=as_label(answer.label, classes))
