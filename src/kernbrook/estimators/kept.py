"""What a model's file holds of an estimator: each class writes and reads its own.

The parameters, and what scikit-learn names with an underscore behind, are written and read for all
alike, by `kernbrook.persistence`. The rest is each class's: what a class writes, the class reads,
and checks as if an enemy had written the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from kernbrook.checks import check, shown
from kernbrook.errors import InputError
from kernbrook.plain_values import is_count


class Kept:
    """An estimator that a model's file can hold.

    Attributes
    ----------
    _kept_entries : names of what the file may say of such a model, besides what it says of all
    _kept_around : whether the parameter `model` is a model that the file holds within this one
    """

    _kept_entries: ClassVar[tuple[str, ...]] = ()
    _kept_around: ClassVar[bool] = False

    def _kept_parameters(self) -> dict[str, Any]:
        """The parameters as a file has them."""
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        return parameters

    def _kept_elsewhere(self) -> set[str]:
        """Names of fitted attributes that follow from the rest of the file."""
        return {"kernels_"}

    def _kept_check(self) -> None:
        """Raise InputError where a model that has learned cannot go on with its parameters."""
        check(self)

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        """What a file says of the model besides: by names of `_kept_entries`, and `run`, as JSON.

        writer : takes values and arrays; place : what goes before the names of the model's arrays
        """
        return {}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        """Take up what `_write_kept` wrote, on a model that has parameters and fitted attributes.

        body : all that the file says of the model; InputError where the parts do not fit
        """
        if body["run"] is not None:
            raise InputError(f"run: {type(self).__name__} has none")

    def _check_has(self, entry: str, body: Mapping[str, Any]) -> bool:
        """Whether an entry is there; InputError where it is not, but something was learned."""
        there = body.get(entry) is not None
        if not there and body["fitted"].keys() - {"n_rows_skipped_"}:
            raise InputError("it has learned something, but has no state")
        return there


def check_input(fitted: Mapping[str, Any]) -> None:
    """Raise InputError where what a model has seen of its input is nothing that can be seen."""
    width, names = fitted.get("n_features_in_"), fitted.get("feature_names_in_")
    if "n_features_in_" in fitted and not is_count(width):
        raise InputError(f"n_features_in_: expected an integer from 0, got {shown(width)}")
    if "feature_names_in_" in fitted and not (
        isinstance(names, np.ndarray)
        and names.dtype == object
        and names.shape == (width,)
        and all(type(name) is str for name in names)
    ):
        raise InputError(f"feature_names_in_: expected {width} names, got {shown(names)}")
    if not is_count(skipped := fitted.get("n_rows_skipped_", 0)):
        raise InputError(f"n_rows_skipped_: expected an integer from 0, got {shown(skipped)}")
