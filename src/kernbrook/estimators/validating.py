"""What scikit-learn's checks leave to NumPy: text, and moments, where numbers were expected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernbrook.errors import InputError

_TEXT = re.compile(r"could not convert string|dtype='numeric' is not compatible with arrays of")
_MOMENT = re.compile(r"not '(Timestamp|Timedelta|Period|datetime\.\w+)'")


@contextmanager
def in_words(X: Any) -> Iterator[None]:
    """InputError with a way out where features, or labels, are text, moments or too large.

    X : the features
    """
    try:
        yield
    except OverflowError:
        raise InputError(
            f"{'y' if _are_numbers(X) else 'X'}: expected numbers of size below 1e154, found one "
            "that is too large for a float"
        ) from None
    except (TypeError, ValueError) as error:
        kind = "text" if _TEXT.match(str(error)) else "moments"
        if kind == "moments" and not _MOMENT.search(str(error)):
            raise
        said = " ".join(str(error).split())[:100]
        if _are_numbers(X):
            raise InputError(f"y: expected numbers, found {kind}: {said}") from None
        way = (
            "kb.TableEncoder makes numbers of a table's levels and dates; with a model's file that "
            "`train` wrote, kb.evaluation.predict_table(FILE, table) predicts the table as it is"
        )
        raise InputError(f"X: expected numbers, found {kind}: {said}; {way}") from None


def _are_numbers(X: Any) -> bool:
    try:
        return bool(hasattr(X, "tocsr") or np.asarray(X, dtype=np.float64) is not None)
    except (TypeError, ValueError, OverflowError):
        return False
