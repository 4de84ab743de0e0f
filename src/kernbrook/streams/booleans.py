"""true and false as programs write them: pandas True, R and Excel TRUE, all others true."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

BOOLEANS = {word: word.capitalize() for word in ("true", "True", "TRUE", "false", "False", "FALSE")}


def all_boolean(labels: Iterable[Any]) -> bool:
    """Whether labels are true and false alone, in whatever letters."""
    return all(str(label) in BOOLEANS for label in labels)


def as_booleans(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Labels that are `all_boolean` as NumPy's booleans."""
    return np.asarray(np.char.lower(labels.astype("U5")) == "true")


def spelled_as(labels: NDArray[Any], known: Iterable[Any]) -> NDArray[Any]:
    """true and false as the known labels have them: booleans, or text in the same letters.

    All others stay.

    Examples
    --------
    >>> spelled_as(np.array(["True", "maybe"]), ["false", "maybe", "true"]).tolist()
    ['true', 'maybe']
    >>> spelled_as(np.array(["TRUE", "false"]), [False, True])
    array([ True, False])
    >>> spelled_as(np.array([True]), ["no", "true"]).tolist()
    ['true']
    """
    known = list(known)
    if known and all(isinstance(label, (bool, np.bool_)) for label in known):
        if labels.dtype.kind not in "UO":
            return labels
        if all_boolean(labels.tolist()):
            return as_booleans(labels)
        truths = (BOOLEANS[text] == "True" if (text := str(v)) in BOOLEANS else v for v in labels)
        return np.array([*truths], dtype=object)
    texts = any(isinstance(label, str) for label in known)
    if texts and labels.dtype.kind == "b":
        labels = labels.astype("U5")
    if labels.dtype.kind not in "UO":
        return labels
    if texts and labels.dtype.kind == "O":
        labels = np.array([f"{v}" if isinstance(v, bool) else v for v in labels], dtype=object)
    words = {str(label) for label in known} & BOOLEANS.keys()
    letters = {BOOLEANS[word]: word for word in sorted(words)}
    for word, value in BOOLEANS.items() if words else ():
        if word not in words and value in letters and (labels == word).any():
            labels = np.where(labels == word, letters[value], labels)
    return labels


def unify_kinds(labels: Iterable[Any]) -> set[Any]:
    """Labels of parts that were read apart, true and false in the same letters.

    A part that has true and false alone has booleans; another has true, false and maybe.

    Examples
    --------
    >>> sorted(unify_kinds([True, False, "true", "maybe"]))
    ['false', 'maybe', 'true']
    """
    found = set(labels)
    words = {str(label) for label in found if str(label) in BOOLEANS}
    if all(isinstance(label, (bool, np.bool_)) or not isinstance(label, str) for label in found):
        return found
    if not (others := words - set(BOOLEANS.values())):
        return {str(label) if str(label) in words else label for label in found}
    letters = str.upper if min(others).isupper() else str.lower
    return {letters(str(label)) if str(label) in words else label for label in found}
