"""What users give: rows, labels, an oracle, weights, each checked, with errors in words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from kernbrook.checks import SMALLEST, real, row_of_chunk, shown
from kernbrook.errors import InputError, KernbrookWarning
from kernbrook.estimators.labelled import as_labels, check_present, without
from kernbrook.estimators.validating import in_words
from kernbrook.gram.arrays import Floats, canonical, sound
from kernbrook.numerics.scaling import NO_LEAP

LARGEST_WEIGHT = 1e100


class ChecksInput:
    """The checks of a machine's rows and labels."""

    missing_label: Any
    _of_numbers: bool

    def _validated(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Features and labels, with all of scikit-learn's checks."""
        hint = "`learn` takes rows without labels, `fit` and `partial_fit` do not"
        if y is None:
            name = type(self).__name__
            raise InputError(f"{name} requires y to be passed, but the target y is None; {hint}")
        y = self._labels_of(y, warn=True)
        check_present(y, hint)
        if self._is_plain(X) and len(y) == len(X) and is_plain_label(y):
            return X, y
        with in_words(X):
            X, y = validate_data(
                self, sound(X), y, reset=not hasattr(self, "_model"), accept_sparse="csr",
                dtype=np.float64, order="C", y_numeric=self._of_numbers,
            )  # fmt: skip
        return self._features(X), y

    def _is_plain(self, X: Any) -> bool:
        """Whether scikit-learn would give rows back as they are: its checks take .1 ms."""
        known = vars(self)
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == known.get("n_features_in_")
            and "_model" in known
            and "feature_names_in_" not in known
            and X.flags.c_contiguous
            and bool(np.isfinite(X).all())
        )

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Features, and labels or an oracle, with checks that are quick on short chunks too."""
        X = self._features(X)
        if callable(y):
            return X, y
        y = np.full(X.shape[0], np.nan) if y is None else self._labels_of(y)
        if X.shape[0] != len(y):
            raise InputError(f"X has {X.shape[0]} rows but y has {len(y)} labels")
        return X, y

    def _features(self, X: Any) -> Any:
        """X as a C-ordered float64 array or a canonical CSR matrix, of the right width."""
        plain = isinstance(X, np.ndarray) and X.dtype.kind in "biufc"
        if isinstance(X, np.ma.MaskedArray) or not (plain or sp.issparse(X)):
            with in_words(X):
                X = validate_data(
                    self, real(X), reset=not hasattr(self, "n_features_in_"), accept_sparse="csr",
                    dtype=np.float64, order="C",
                )  # fmt: skip
        if np.iscomplexobj(X):
            raise InputError("X: complex data not supported, expected real numbers")
        if X.ndim != 2:
            raise InputError(f"X: expected an array of shape (n, d), got {X.ndim} dimension(s)")
        width = getattr(self, "n_features_in_", X.shape[1])
        if X.shape[1] != width:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} "
                f"is expecting {width} features as input"
            )
        return canonical(X)

    def _labels_of(self, y: Any, warn: bool = False) -> NDArray[Any]:
        """Labels, with None or NaN for those that are not there."""
        return without(as_labels(y, warn), self.missing_label)


def is_plain_label(y: NDArray[Any]) -> bool:
    """Whether scikit-learn would give labels back as they are."""
    kind = y.dtype.kind
    return y.ndim == 1 and (kind in "biuU" or (kind == "f" and bool(np.isfinite(y).all())))


def warn_of_leap(X: Any, leap: int, first: int) -> None:
    """Say which row has made the deviation of a feature a million times what it was.

    leap : number of the value, as `scale_rows` counts; first : place of the first row in the chunk
    """
    if leap != NO_LEAP:
        row, feature = divmod(leap, X.shape[1])
        warnings.warn(
            f"{row_of_chunk(first + row)}: feature {feature} is {abs(X[row, feature]):g}, more "
            "than a million deviations from its mean so far. With scaling='moments' all its other "
            "values are almost 0 from now on: leave such rows out, or take scaling='ranks'",
            KernbrookWarning,
            stacklevel=2,
        )


def answer_of(oracle: Any, X: Any, i: int) -> NDArray[Any]:
    """(1,) the oracle's label of a row."""
    label = oracle(X[i : i + 1] if sp.issparse(X) else X[i])
    if isinstance(label, (list, tuple, dict, set)) or np.ndim(label) > 0:
        raise InputError(f"oracle: expected one label, or None, got {label!r:.60}")
    return as_labels([label])


def row_of(x: Any) -> Floats:
    """One row as numbers, a copy."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x.copy()
    try:
        row = np.array(x if type(x) is list else real(x, "x"))
        if row.dtype.kind not in "biuf":
            real(row, "x")
        return row.astype(np.float64, copy=False)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"x: expected numbers, one a feature, found {shown(x)}") from None


def check_some_weight(sample_weight: Any) -> None:
    if sample_weight is not None and not np.any(np.asarray(real(sample_weight, "sample_weight"))):
        raise InputError("sample_weight: all weights are zero, there is nothing to learn")


def importance_of(sample_weight: Any, rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(rows)
    try:
        given = real(sample_weight, "sample_weight")
        weights = np.array(given, dtype=np.float64)  # read-only would be compiled for anew
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"sample_weight: expected numbers, found {shown(sample_weight)}") from None
    weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight: got an array of shape {weights.shape}, expected ({rows},)"
        )
    allowed = ((weights == 0) | (weights >= SMALLEST)) & (weights < LARGEST_WEIGHT)
    if not allowed.all():
        wrong = weights[int(np.argmin(allowed))]
        found = "NaN" if np.isnan(wrong) else f"{wrong:g}"
        raise InputError(
            "sample_weight: negative values, infinity, NaN and sizes below 1e-100 or from 1e100 "
            f"are not allowed, got {found}"
        )
    return weights
