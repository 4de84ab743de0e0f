"""The classes of a model, named by somebody; and an answer as one of them, or as a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.estimators.tasks import task_of
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.table_levels import as_value

EXACT = 2**53  # below it, integers stay apart as floats too


def named_classes(
    model: Any, named: Sequence[Any] | None, kind: np.dtype[Any] | None = None
) -> NDArray[Any] | None:
    """All labels of a model: as named, else its own; None for numbers.

    Parameters
    ----------
    model : a classifier or a regressor
    named : all labels; text is read as numbers where all of it can be
    kind : of the labels in the data, where there are some: the named ones are read like these,
        and None is returned where nobody names them

    Raises
    ------
    InputError
        There are none, or they are not those of the model or not like the data's.

    Examples
    --------
    >>> import kernbrook as kb
    >>> named_classes(kb.OnlineMKClassifier(), ["1", "-1"])
    array([-1,  1])
    """
    if task_of(model) == "regression":
        if named is not None:
            raise InputError(f"classes: {type(model).__name__} predicts numbers; give none")
        return None
    known = getattr(model, "classes_", None)
    if named is None:
        if known is None and kind is None:
            raise InputError("classes: expected all labels (--classes), because the model is new")
        return None if known is None else np.asarray(known)
    if isinstance(named, str):
        raise InputError(f"classes: expected a list of labels, got the text {named!r:.60}")
    if len(named) == 0:
        raise InputError("classes: expected all labels, got none")
    classes = np.unique(_read(named, kind))
    if known is not None and not np.array_equal(classes, known):
        raise InputError(f"classes were {listed(known)} and are {listed(classes)}")
    if kind is None and len(classes) < 2:
        raise InputError(f"classes: expected two labels or more, got {listed(classes)}")
    return classes


def as_classes(y: NDArray[Any], classes: NDArray[Any], before: int = 0) -> NDArray[Any]:
    """Labels of other data as the classes of a model are written; those of no class stay.

    Parameters
    ----------
    y : (n,) numbers or text
    classes : (c,) of the model, numbers or text
    before : rows before these, for a message

    Raises
    ------
    InputError
        The classes are numbers, and a label is none, or one with a fraction where they have none.

    Examples
    --------
    >>> as_classes(np.array([1.0, 2.0, 3.0]), np.array(["01", "2", "x"]))
    array(['01', '2', '3'], dtype='<U2')
    >>> as_classes(np.array(["TRUE", "maybe"]), np.array(["False", "True"]))
    array(['True', 'maybe'], dtype='<U5')
    """
    if classes.dtype.kind not in "UO":
        numbers = y if y.dtype.kind in "biuf" else _as_numbers(y, classes, before)
        kept = numbers.astype(classes.dtype)
        wrong = numbers != kept
        if wrong.any():
            _refuse(y, wrong, classes, before)
        return kept
    if y.dtype.kind in "UO":
        return spelled_as(y, classes)
    by_value = {value: str(name) for name in classes if (value := _number(str(name))) is not None}
    plain = (by_value.get(value, as_value(str(value))) for value in y.tolist())
    return np.array(list(plain))


def _as_numbers(y: NDArray[Any], classes: NDArray[Any], before: int) -> NDArray[np.float64]:
    found = [_number(label) for label in y.tolist()]
    if None in found:
        _refuse(y, np.array([number is None for number in found]), classes, before)
    return np.array(found, dtype=np.float64)


def _refuse(y: NDArray[Any], wrong: NDArray[np.bool_], classes: NDArray[Any], before: int) -> None:
    row = int(wrong.argmax())
    raise InputError(
        f"row {before + row + 1}: expected a label such as {listed(classes)}, which are numbers, "
        f"found {str(y[row])!r:.40}"
    )


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
    raise InputError(f"expected one of {listed(classes)}, found {answer!r:.40}")


def listed(labels: NDArray[Any]) -> str:
    """The first labels, for a message.

    Examples
    --------
    >>> listed(np.arange(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...'
    """
    return ", ".join(map(str, labels[:10].tolist())) + (", ..." if len(labels) > 10 else "")


def _read(names: Sequence[Any], kind: np.dtype[Any] | None) -> NDArray[Any]:
    """Names like labels of a kind; where it is None as integers, else as numbers, else as text."""
    found = _numbers(names) if kind is None or kind.kind != "U" else np.array(list(map(str, names)))
    if kind is None or kind.kind == "U":
        return found
    text = found.dtype.kind == "U"
    if text or (found != found.astype(kind)).any():
        whole = "integers" if kind.kind in "iu" and not text else "numbers"
        raise InputError(f"classes: the labels are {whole}, got {', '.join(map(str, names)):.200}")
    return found.astype(kind)


def _numbers(names: Sequence[Any]) -> NDArray[Any]:
    """Names as integers if all are, else as numbers if all are, else as text."""
    try:
        numbers = np.array([float(name) for name in names])
    except OverflowError:
        numbers = np.array([math.inf])
    except (TypeError, ValueError):
        return np.array([str(name) for name in names])
    if not (np.abs(numbers) < EXACT).all():
        shown = ", ".join(map(str, names))
        raise InputError(f"classes: expected words, or numbers below 2^53, got {shown:.100}")
    try:
        return np.array([int(str(name)) for name in names])
    except ValueError:
        return numbers


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
