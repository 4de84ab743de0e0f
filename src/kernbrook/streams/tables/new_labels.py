"""Labels of later data that a model does not know: learned as more classes, or asked about."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.streams.stream import has_label
from kernbrook.streams.tables.label_spelling import as_classes, listed, near_label

_TOLD = 5


def new_labels(
    y: NDArray[Any], known: NDArray[Any], before: int, named: Sequence[Any] | None
) -> tuple[NDArray[Any], dict[Any, int]]:
    """Labels as the classes of a model are written, and the first row of each that is new, from 1.

    Parameters
    ----------
    y : (n,) of other data, as `as_classes` has them
    known : (c,) the classes of the model
    before : rows before these
    named : all labels that may come, where somebody has named them

    Raises
    ------
    InputError
        A new label is none of those named, or nobody named it and it seems to be a known one; or
        as `as_classes`.

    Examples
    --------
    >>> new_labels(np.array(["maybe", "yes", "maybe"]), np.array(["no", "yes"]), 10, None)[1]
    {'maybe': 11}
    """
    y = as_classes(y, known, before)
    found: dict[Any, int] = {}
    for row in np.flatnonzero(has_label(y) & ~np.isin(y, known)).tolist():
        label = y[[row]].tolist()[0]
        if label not in found:
            found[label] = before + row + 1
            _check(label, found[label], known, named)
    return y, found


def _check(label: Any, row: int, known: NDArray[Any], named: Sequence[Any] | None) -> None:
    """InputError where a new label is none of those named, or seems to be a known one."""
    if named is not None and label in named:
        return
    where, ways = f"row {row:,}: the label {label!r:.40}", _ways(known, label)
    if named is not None:
        raise InputError(f"{where} is none of {listed(np.array(named))}, which were named; {ways}")
    near = near_label(label, known)
    if near is not None:
        raise InputError(f"{where} is new; is it {near!r:.40}? Write it so in the data, or {ways}")


def _ways(known: NDArray[Any], label: Any) -> str:
    """How a label is learned as one more class."""
    if len(known) > 10:
        return f"name all labels and {label!r:.40} in classes (--classes) to learn it as one more"
    named = ",".join(f'"{one}"' if "," in str(one) else str(one) for one in [*known, label])
    return f"classes (--classes {shlex.quote(named)}) learns it as one more"


def check_some_known(found: Sequence[Any], known: NDArray[Any], name: str) -> None:
    """InputError where there are labels in data, and the model knows none of them."""
    if len(found) and not np.isin(np.array(found), known).any():
        raise InputError(
            f"{name}: expected labels such as {listed(known)}, found {listed(np.array(found))} "
            "alone; write them so in the data, or name all of both in classes (--classes)"
        )


def told_of_new(labels: Mapping[Any, int]) -> list[str]:
    """Labels that the model did not know before, and their first rows, in a sentence.

    Examples
    --------
    >>> told_of_new({"maybe": 11})
    ['new labels, and the first row of each: maybe (row 11)']
    """
    if not labels:
        return []
    some = [f"{label} (row {row:,})" for label, row in list(labels.items())[:_TOLD]]
    more = ", ..." if len(labels) > _TOLD else ""
    return [f"new labels, and the first row of each: {', '.join(some)}{more}"]
