"""A similarity of strings that is no positive definite kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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
        raise ImportError(
            "edit_similarity needs rapidfuzz: pip install 'kernbrook[strings]'"
        ) from error
    scorer = Levenshtein.normalized_similarity
    return np.asarray(cdist(A, B, scorer=scorer, dtype=np.float64))
