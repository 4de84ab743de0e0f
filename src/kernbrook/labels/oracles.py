"""Oracles: who is asked for a label. A Python function of one row is one; here are files."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from kernbrook.atomic import check_writable
from kernbrook.errors import DataFileError, InputError, cut
from kernbrook.json_lines import JSONLog

WAIT = 0.05  # seconds between two looks at the answers


class JSONLines:
    """An oracle that asks through one file and reads the answers from another.

    It is for labels that are given elsewhere.

    Each question is a line {"id": 3, "x": [0.5, 1.0]}, added to the end of `questions`; a sparse
    row is {"column": value}, with columns counted from 0 and as text. Each answer is a line
    {"id": 3, "label": "yes"} that somebody adds to `answers`, in any order. The label null, or
    "skip", says that it cannot be had. The first answer to a question counts.

    After a restart with the same files, a question that is there already is not asked again: a
    row equal to one that was asked before takes the answer to that, each at most once, and waits
    for it where it is still to come.

    Parameters
    ----------
    questions : a file in an existing folder; nobody else writes to it
    answers : another file; it may come later
    timeout : seconds to wait for an answer, or None to wait for ever
        After that the label is one that cannot be had. An answer that comes later is not taken.

    Raises
    ------
    InputError
        The files are the same, `questions` cannot be written, or `timeout` is negative.
    DataFileError
        A line is not a question or an answer, or it answers what was not asked; it is named.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> ask, told = Path(folder.name) / "questions", Path(folder.name) / "answers"
    >>> oracle = JSONLines(ask, told, timeout=0.0)
    >>> oracle(np.array([0.5, 1.0]))
    >>> ask.read_text()
    '{"id": 1, "x": [0.5, 1.0]}\\n'
    >>> _ = told.write_text('{"id": 1, "label": "yes"}\\n')
    >>> JSONLines(ask, told)(np.array([0.5, 1.0]))
    'yes'
    >>> folder.cleanup()
    """

    def __init__(
        self,
        questions: str | PathLike[str],
        answers: str | PathLike[str],
        timeout: float | None = None,
    ):
        self.questions, self.answers = Path(questions), Path(answers)
        if os.path.realpath(questions) == os.path.realpath(answers):
            raise InputError(f"questions, answers: expected two files, got {questions} twice")
        if timeout is not None and not timeout >= 0:
            raise InputError(f"timeout: expected None or seconds from 0, got {timeout!r}")
        self.timeout = timeout
        check_writable(questions)
        self._log = JSONLog(questions)
        self._log.drop_half_line()
        self._asked: dict[int, str] = {}
        for line, found in self._log.new():
            x = _of(self.questions, line, found, "x")
            self._asked[_id(self.questions, line, found)] = json.dumps(x)
        self._open = dict(self._asked)  # asked before, and not by this object since
        self._tail = JSONLog(answers)
        self._labels: dict[int, tuple[int, Any]] = {}  # with the line that each came from

    def __call__(self, x: Any) -> Any:
        """The label of one row, (d,) or sparse (1, d), or None."""
        row = _as_json(x)
        text = json.dumps(row)
        again = (number for number, asked in self._open.items() if asked == text)
        return self.ask(next(again, max(self._asked, default=0) + 1), row)

    def ask(
        self, number: int, x: Any, read: Callable[[Any], Any] | None = None, **more: Any
    ) -> Any:
        """The answer to a question with a number of one's own, or None.

        Parameters
        ----------
        number : its id
        x : JSON, the row; where the id was asked before, it must be the same row
        read : makes a label of the answer, or raises InputError
        **more : JSON values that stand beside x in the question
        """
        text = json.dumps(x)
        self._open.pop(number, None)
        if number not in self._asked:
            self._log.append({"id": number, "x": x, **more})
            self._asked[number] = text
        elif self._asked[number] != text:
            raise InputError(
                f"{self.questions}: question {number} is there already, about another row; "
                "take new files for other data"
            )
        return self._waited_for(number, read)

    def _waited_for(self, number: int, read: Callable[[Any], Any] | None) -> Any:
        start = time.monotonic()
        self._look()
        while number not in self._labels:
            left = math.inf if self.timeout is None else start + self.timeout - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(WAIT, left))
            self._look()
        line, label = self._labels[number]
        if label is None or label == "skip":
            return None
        try:
            return label if read is None else read(label)
        except InputError as error:
            raise DataFileError(self.answers, str(error), line) from None

    def _look(self) -> None:
        """Take in the answers that have come."""
        for line, found in self._tail.new():
            number = _id(self.answers, line, found)
            label = _of(self.answers, line, found, "label")
            if number not in self._asked:
                problem = f"answers question {number}, which is not in {self.questions}"
                raise DataFileError(self.answers, problem, line)
            self._labels.setdefault(number, (line, label))


def _of(path: Path, line: int, found: dict[str, Any], name: str) -> Any:
    if name not in found:
        names = cut(", ".join(map(repr, found)))
        raise DataFileError(path, f"expected the key {name!r}, found {names}", line)
    return found[name]


def _id(path: Path, line: int, found: dict[str, Any]) -> int:
    number = _of(path, line, found, "id")
    if type(number) is not int:
        raise DataFileError(path, f"id: expected an integer, found {number!r:.40}", line)
    return number


def _as_json(x: Any) -> list[float] | dict[str, float]:
    if hasattr(x, "tocoo"):
        row = x.tocoo()
        return {str(j): v for j, v in zip(row.coords[-1].tolist(), row.data.tolist(), strict=True)}
    values: list[float] = np.asarray(x, dtype=np.float64).ravel().tolist()
    return values
