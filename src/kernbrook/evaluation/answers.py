"""The answers to a model's questions: what counts as one, and the file that holds them."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import write_text
from kernbrook.errors import DataFileError, InputError
from kernbrook.estimators.tasks import task_of

EXACT = 2**53  # below it, integers stay apart as floats too


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
    """The answers: a line of what the model was before the first, then a line each."""

    def __init__(self, path: Path, begun: Begun, classes: NDArray[Any] | None):
        self.path = path
        if not path.exists():
            write_text(path, json.dumps(begun._asdict(), ensure_ascii=False) + "\n")
        try:
            self._file = open(path, "r+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from error
        try:
            self.begun = begun
            self.answers: dict[int, Answer] = {}
            self.last = 0  # row that was answered
            self._read(classes)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> AnswerLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, answer: Answer) -> None:
        """Add an answer; it is on the disk when this returns."""
        text = json.dumps(answer._asdict(), allow_nan=False, ensure_ascii=False) + "\n"
        line = text.encode()
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror}") from error
        self._keep(answer)

    def _keep(self, answer: Answer) -> None:
        self.answers[answer.row] = answer
        self.last = answer.row

    def _read(self, classes: NDArray[Any] | None) -> None:
        text = self._file.read()
        end = text.rfind(b"\n") + 1
        self._file.truncate(end)  # half a line was never acknowledged
        self._file.seek(end)
        for number, line in enumerate(text[:end].splitlines(), start=1):
            try:
                found = json.loads(line)
                if number == 1:
                    self.begun = Begun(**found)
                    if not type(self.begun.rounds) is type(self.begun.labels) is int:
                        raise TypeError
                    continue
                answer = Answer(**found)
                if type(answer.row) is not int or answer.row <= self.last:
                    raise InputError(f"row {answer.row!r} after row {self.last}")
                if answer.label is not None:
                    answer = answer._replace(label=as_label(answer.label, classes))
            except InputError as error:
                raise DataFileError(self.path, str(error), number) from None
            except (ValueError, TypeError):
                shown = line.decode(errors="replace")
                problem = f"not a line that `label` writes: {shown!r:.60}"
                raise DataFileError(self.path, problem, number) from None
            self._keep(answer)


def named_classes(model: Any, classes: Sequence[Any] | None) -> NDArray[Any] | None:
    """All labels of a model: its own, else the ones named; None for numbers.

    Text is read as numbers where all of it can be.

    Raises
    ------
    InputError
        There are none, or they are not those of the model.

    Examples
    --------
    >>> import kernbrook as kb
    >>> named_classes(kb.OnlineMKClassifier(), ["1", "-1"])
    array([-1,  1])
    """
    if task_of(model) == "regression":
        if classes is not None:
            raise InputError(f"classes: {type(model).__name__} predicts numbers; give none")
        return None
    known = getattr(model, "classes_", None)
    if classes is None:
        if known is None:
            raise InputError("classes: expected all labels (--classes), because the model is new")
        return np.asarray(known)
    named = np.unique(np.array(_numbers(classes)))
    if known is not None and not np.array_equal(named, known):
        raise InputError(f"classes were {_listed(known)} and are {_listed(named)}")
    if len(named) < 2:
        raise InputError(f"classes: expected two labels or more, got {_listed(named)}")
    return named


def as_label(answer: Any, classes: NDArray[Any] | None) -> Any:
    """An answer, text or a JSON value, as one of the classes; or as a number where there are none.

    Raises
    ------
    InputError
        It is neither.

    Examples
    --------
    >>> as_label("1", np.array([-1, 1])), as_label("2.5", None)
    (1, 2.5)
    """
    if classes is None:
        number = _number(answer)
        if number is None or not abs(number) < 1e100:
            raise InputError(f"expected a number, found {answer!r:.40}")
        return float(number)
    text = classes.dtype.kind in "UO"
    for name in classes.tolist():
        if str(name) == str(answer) if text else name == _number(answer):
            return name
    raise InputError(f"expected one of {_listed(classes)}, found {answer!r:.40}")


def _numbers(names: Sequence[Any]) -> list[Any]:
    """Names as integers if all are, else as numbers if all are, else as text.

    Text too where one is not finite, or so large that a number next to it would be the same.
    """
    for kind in (int, float):
        try:
            numbers = [kind(name) for name in names]
        except (TypeError, ValueError):
            continue
        if all(abs(number) < EXACT for number in numbers):
            return numbers
    return [str(name) for name in names]


def _number(value: Any) -> float | None:
    """A number or the text of one; whole ones stay whole, since not all are floats."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, (int, str)) and number.is_integer():
        with suppress(ValueError):  # "1e3"
            return int(value)
    return number if math.isfinite(number) else None


def _listed(labels: NDArray[Any]) -> str:
    return ", ".join(map(str, labels[:10].tolist())) + (", ..." if len(labels) > 10 else "")
