"""A similarity of strings that is no positive definite kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError


def edit_similarity(A: Sequence[str], B: Sequence[str]) -> NDArray[np.float64]:
    """1 - (edit distance) / (length of the longer), for all pairs of two lists of strings.

    Parameters
    ----------
    A, B : lists of n and m strings

    Returns
    -------
    (n, m) array of values in [0, 1]; 1 where two strings are equal

    Raises
    ------
    InputError
        Something in the lists is no string.
    ImportError
        rapidfuzz is not installed; the message says how to get it.

    Notes
    -----
    Symmetric, but not positive definite: `VotedKernelClassifier` takes it with
    `complexity="max"`.

    Examples
    --------
    >>> edit_similarity(["kernel", "kennel"], ["kernel", "colonel"]).round(2)
    array([[1.  , 0.43],
           [0.83, 0.43]])
    """
    try:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist
    except ImportError as error:
        raise ImportError("edit_similarity needs rapidfuzz: pip install rapidfuzz") from error
    for strings in (A, B):
        for i, string in enumerate(strings):
            if not isinstance(string, str):
                raise InputError(f"edit_similarity: expected strings, got {string!r} at place {i}")
    scorer = Levenshtein.normalized_similarity
    return np.asarray(cdist(A, B, scorer=scorer, dtype=np.float64))
