"""The classes of a model, named by somebody; and an answer as one of them, or as a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.estimators.tasks import task_of
from kernbrook.streams.booleans import BOOLEANS, all_boolean, spelled_as
from kernbrook.streams.tables.labels import listed, number_of

EXACT = 2**53  # below it, integers stay apart as floats too


def named_classes(
    model: Any, named: Sequence[Any] | None, kind: np.dtype[Any] | None = None
) -> NDArray[Any] | None:
    """All labels of a model: as named, else its own; None for numbers.

    named : text is read as numbers where all of it can be
    kind : of the labels in the data, where there are some: the named ones are read like these,
        and None is returned where nobody names them
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


def allowed_classes(model: Any, named: Sequence[Any] | None) -> NDArray[Any] | None:
    """All labels that a model may learn: those that it knows, and others; None for all."""
    known: Any = getattr(model, "classes_", None)
    if named is None or known is None:
        if named is not None:
            named_classes(model, named)  # refuses them
        return None
    classes = np.unique(_read(named, known.dtype))
    if not np.isin(known, classes).all():
        raise InputError(f"classes were {listed(known)} and are {listed(classes)}")
    return classes


def as_label(answer: Any, classes: NDArray[Any] | None) -> Any:
    """An answer, text or a JSON value, as one of the classes; where there are none as a number."""
    if classes is None:
        number = number_of(answer)
        if number is None or not abs(number) < 1e100:
            raise InputError(f"expected a number, found {answer!r:.40}")
        return float(number)
    text = classes.dtype.kind in "UOb"
    if classes.dtype.kind == "b":
        answer = BOOLEANS.get(str(answer), answer)
    for name in classes.tolist():
        if str(name) == str(answer) if text else name == number_of(answer):
            return name
    raise InputError(f"expected one of {listed(classes)}, found {answer!r:.40}")


def _read(names: Sequence[Any], kind: np.dtype[Any] | None) -> NDArray[Any]:
    """Names like labels of a kind; where it is None as integers, else as numbers, else as text."""
    texts = kind is not None and kind.kind in "UOb"
    found = np.array(list(map(str, names))) if texts else _numbers(names)
    if kind is not None and kind.kind in "Ob":  # objects are text or booleans, and None
        return spelled_as(found, [True] if all_boolean(names) else ())
    if kind is None or texts:
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
