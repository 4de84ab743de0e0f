"""Labels of other data, as the classes of a model are written."""

from __future__ import annotations

import math
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.stream import has_label
from kernbrook.streams.tables.levels import as_value


def as_classes(y: NDArray[Any], classes: NDArray[Any], before: int = 0) -> NDArray[Any]:
    """Labels of other data as the classes of a model are written; those of no class stay.

    Parameters
    ----------
    y : (n,) numbers, text, or true and false; NaN or None is none, and stays
    classes : (c,) of the model, likewise
    before : rows before these, for a message

    Raises
    ------
    InputError
        The classes are numbers, or true and false, and a label is none.

    Examples
    --------
    >>> as_classes(np.array([1.0, 2.0, 3.0]), np.array(["01", "2", "x"]))
    array(['01', '2', '3'], dtype='<U2')
    >>> as_classes(np.array(["TRUE", "maybe"]), np.array(["False", "True"]))
    array(['True', 'maybe'], dtype='<U5')
    >>> as_classes(np.array(["TRUE", "false"]), np.array([False, True]))
    array([ True, False])
    """
    there = has_label(y)
    if not there.all():
        found = np.full(len(y), None if classes.dtype.kind in "UOb" else np.nan)
        for start, end in _runs(there):
            found[start:end] = as_classes(y[start:end], classes, before + start)
        return found
    y = spelled_as(y, classes)
    if classes.dtype.kind == "b" and y.dtype.kind == "O":
        _refuse(y, np.array([not isinstance(label, bool) for label in y]), classes, before)
    if classes.dtype.kind not in "UO":
        numbers = y if y.dtype.kind in "biuf" else _as_numbers(y, classes, before)
        kept = numbers.astype(classes.dtype)
        wrong = numbers != kept
        if wrong.any():
            _refuse(y, wrong, classes, before)
        return kept
    if y.dtype.kind in "UO":
        return y
    texts = sorted(map(str, classes), key=lambda text: text == as_value(text))  # these come first
    by_value = {value: text for text in texts if (value := number_of(text)) is not None}
    plain = (by_value.get(value, as_value(str(value))) for value in y.tolist())
    return np.array(list(plain))


def as_numbers(y: NDArray[Any], before: int = 0) -> NDArray[Any]:
    """Labels as numbers, also where they come as text; InputError where one is none."""
    if y.dtype.kind in "biuf":
        return y
    found = [math.nan if label is None else number_of(label) for label in y.tolist()]
    if None in found:
        row = found.index(None)
        problem = f"expected a number as label, found {str(y[row])!r:.40}"
        raise InputError(f"row {before + row + 1}: {problem}")
    return np.array(found, dtype=np.float64)


def _runs(there: NDArray[np.bool_]) -> list[list[int]]:
    """Where rows that are there begin and end."""
    padded = np.concatenate([[False], there, [False]])
    ends: list[list[int]] = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2).tolist()
    return ends


def _as_numbers(y: NDArray[Any], classes: NDArray[Any], before: int) -> NDArray[np.float64]:
    found = [number_of(label) for label in y.tolist()]
    if None in found:
        _refuse(y, np.array([number is None for number in found]), classes, before)
    return np.array(found, dtype=np.float64)


def _refuse(y: NDArray[Any], wrong: NDArray[np.bool_], classes: NDArray[Any], before: int) -> None:
    row = int(wrong.argmax())
    kind = "true and false" if classes.dtype.kind == "b" else "numbers"
    raise InputError(
        f"row {before + row + 1}: expected a label such as {listed(classes)}, which are {kind}, "
        f"found {str(y[row])!r:.40}"
    )


def near_label(label: Any, known: NDArray[Any]) -> Any:
    """The known label that another seems to be in other writing; None where it is like none.

    Case and blanks, words for yes and no, and one letter of five or more make no other label, but
    for letters by which known labels differ.

    Examples
    --------
    >>> known = np.array(["late", "no", "ontime", "yes"])
    >>> [near_label(label, known) for label in ("Yes ", "0", "on time", "ontme", "cancelled")]
    ['yes', 'no', 'ontime', 'ontime', None]
    >>> near_label(2, np.array([0, 1])), near_label("class2", np.array(["class1"]))
    (None, None)
    >>> near_label("group C", np.array(["group A", "group B"])), near_label("T", np.array(["Y"]))
    (None, None)
    """
    if known.dtype.kind not in "UO":
        return None
    text, texts = _folded(label), [_folded(one) for one in known.tolist()]
    for one, other in zip(known.tolist(), texts, strict=True):
        if _same(text, other):
            return one
        if _one_letter(text, other) and not any(_one_letter(other, third) for third in texts):
            return one
    return None


def two_alike(labels: Collection[str]) -> tuple[str, str] | None:
    """Two labels that differ by case, blanks or words for yes and no alone, if there are any.

    Examples
    --------
    >>> two_alike(["no", "Yes", "yes"]), two_alike(["a", "b"])
    (('Yes', 'yes'), None)
    """
    met: list[tuple[str, str]] = []
    for label in labels:
        text = _folded(label)
        for one, other in met:
            if _same(text, other):
                return one, label
        met.append((label, text))
    return None


_SAME = ({"yes", "y", "true", "t", "1", "1.0"}, {"no", "n", "false", "f", "0", "0.0"})
_LONG = 5  # letters, from which on one more or less is a slip


def _same(text: str, other: str) -> bool:
    """Whether two folded texts are one, or words for the same; T and Y may be letters."""
    if text == other:
        return True
    letters = len(text) == len(other) == 1 and (text + other).isalpha()
    return not letters and any({text, other} <= words for words in _SAME)


def _folded(label: Any) -> str:
    return "".join(str(label).casefold().split())


def _one_letter(text: str, other: str) -> bool:
    """Whether one letter more, less or in another's place makes one long text of the other."""
    short, long = sorted((text, other), key=len)
    if text == other or len(short) < _LONG or len(long) - len(short) > 1:
        return False
    same = next((i for i, pair in enumerate(zip(short, long, strict=False)) if len({*pair}) > 1),
                len(short))  # fmt: skip
    rest = short[same + (len(short) == len(long)) :]
    changed = long[same] + (short[same : same + 1] if len(short) == len(long) else "")
    return changed.isalpha() and long[same + 1 :] == rest


def listed(labels: NDArray[Any]) -> str:
    """The first labels, for a message.

    Examples
    --------
    >>> listed(np.arange(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...'
    """
    return ", ".join(map(str, labels[:10].tolist())) + (", ..." if len(labels) > 10 else "")


def number_of(value: Any) -> float | None:
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
