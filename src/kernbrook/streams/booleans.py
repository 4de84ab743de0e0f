"""true and false as programs write them: pandas True, R and Excel TRUE, all others true."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

BOOLEANS = {word: word.capitalize() for word in ("true", "True", "TRUE", "false", "False", "FALSE")}


def all_boolean(labels: Iterable[str]) -> bool:
    """Whether labels are true and false alone, in whatever letters: then they are True and False.

    So pandas and Parquet have them, where others write true or TRUE.
    """
    return all(label in BOOLEANS for label in labels)


def as_booleans(labels: NDArray[Any]) -> NDArray[Any]:
    """True and False as text, of labels that are `all_boolean`."""
    return np.asarray(np.char.capitalize(labels.astype("U5")))


def spelled_as(labels: NDArray[Any], known: Iterable[Any]) -> NDArray[Any]:
    """true and false as text in the letters of the known labels; all others stay.

    Examples
    --------
    >>> spelled_as(np.array(["True", "maybe"]), ["false", "maybe", "true"]).tolist()
    ['true', 'maybe']
    """
    if labels.dtype.kind not in "UO":
        return labels
    words = {str(one) for one in known} & BOOLEANS.keys()
    letters = {BOOLEANS[word]: word for word in sorted(words)}
    for word, value in BOOLEANS.items() if words else ():
        if word not in words and value in letters and (labels == word).any():
            labels = np.where(labels == word, letters[value], labels)
    return labels


def of_one_kind(labels: Iterable[Any]) -> set[Any]:
    """Labels of parts that were read apart, true and false in the same letters.

    A part that has true and false alone says True and False; another has true, false and maybe.

    Examples
    --------
    >>> sorted(of_one_kind(["True", "False", "true", "maybe"]))
    ['false', 'maybe', 'true']
    """
    found = set(labels)
    words = {str(label) for label in found if str(label) in BOOLEANS}
    if not (others := words - set(BOOLEANS.values())):
        return found
    letters = str.upper if min(others).isupper() else str.lower
    return {letters(label) if str(label) in words else label for label in found}
