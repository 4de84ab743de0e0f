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
from kernbrook.evaluation.classes import as_label
from kernbrook.evaluation.moments import Floats
from kernbrook.json_lines import JSONLog
from kernbrook.streams.base import Features


class Question(NamedTuple):
    """A row whose label the model wants.

    Attributes
    ----------
    row : its number in the data, from 1
    x : (1, d), dense or CSR
    predicted : the label that the model expects; None before it has learned any
    votes : (c,) for each class, votes or scores, the greatest wins; of two classes with 0 the
        second. None for numbers, and where `predicted` is
    means, deviations : (d,) mean and standard deviation of each feature, up to this row
    why : why the model asks, in words
    """

    row: int
    x: Features
    predicted: Any
    votes: Floats | None
    means: Floats
    deviations: Floats
    why: str

    def entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Columns and values of the row, both (k,): all of a dense one, else what is stored."""
        if isinstance(self.x, np.ndarray):
            return np.arange(self.x.shape[1]), self.x[0]
        return np.asarray(self.x.indices), np.asarray(self.x.data)


class Answer(NamedTuple):
    """What was answered for a row; label None where it was skipped.

    The digest is that of all rows up to this one.
    """

    row: int
    label: Any
    predicted: Any
    digest: str


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


class AnswerLog:
    """The answers: a line of what the model was before the first, then a line each.

    A line {"undo": 3} takes back the answer to row 3, which was then the last.

    Parameters
    ----------
    path : the file; a new one where there is none
    begun : what the model is now
    classes : all labels; None for numbers

    Attributes
    ----------
    begun : what the model was before the first answer
    answers : by row
    last : the row that was answered last; 0 where none was
    """

    def __init__(self, path: Path, begun: Begun, classes: NDArray[Any] | None):
        self.path, self.begun = path, begun
        self.answers: dict[int, Answer] = {}
        self.last = 0
        self._log = JSONLog(path)
        if not path.exists():
            write_bytes(path, b"")  # so that the name is on the disk too
        self._log.drop_half_line()
        number = 0
        for number, found in self._log.new():
            try:
                if number == 1:
                    self.begun = Begun(**found)
                    if not type(self.begun.rounds) is type(self.begun.labels) is int:
                        raise TypeError
                elif "undo" in found:
                    self._drop(**found)
                else:
                    self._keep(self._checked(Answer(**found), classes))
            except InputError as error:
                raise DataFileError(path, str(error), number) from None
            except TypeError:
                problem = f"not a line that `label` writes: {found!r:.60}"
                raise DataFileError(path, problem, number) from None
        if number == 0:
            self._log.append(begun._asdict())

    def append(self, answer: Answer) -> None:
        """Add an answer; it is on the disk when this returns."""
        self._log.append(answer._asdict())
        self._keep(answer)

    def take_back(self) -> None:
        """Take back the last answer; that is on the disk when this returns."""
        row = self.last
        self._log.append({"undo": row})
        self._drop(row)

    def _drop(self, undo: Any) -> None:
        if type(undo) is not int or undo != self.last or not self.answers:
            raise InputError(f"undo of row {undo!r:.40} after row {self.last}")
        del self.answers[self.last]
        self.last = next(reversed(self.answers), 0)

    def _keep(self, answer: Answer) -> None:
        self.answers[answer.row] = answer
        self.last = answer.row

    def _checked(self, answer: Answer, classes: NDArray[Any] | None) -> Answer:
        if type(answer.row) is not int or answer.row <= self.last:
            raise InputError(f"row {answer.row!r} after row {self.last}")
        said = answer.predicted
        if classes is None and said is not None and not (is_number(said) and abs(said) < math.inf):
            raise InputError(f"expected a number as predicted, found {said!r:.40}")
        if answer.label is None:
            return answer
        return answer._replace(label=as_label(answer.label, classes))
