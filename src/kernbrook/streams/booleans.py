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
    """True and False as text in the letters of the known labels, such as true; all others stay.

    Examples
    --------
    >>> spelled_as(np.array(["True", "maybe"]), ["false", "maybe", "true"]).tolist()
    ['true', 'maybe']
    """
    if labels.dtype.kind != "U":
        return labels
    letters = {BOOLEANS[str(one)]: str(one) for one in known if str(one) in BOOLEANS}
    for word, wanted in letters.items():
        if word != wanted and (labels == word).any():
            labels = np.where(labels == word, wanted, labels)
    return labels
