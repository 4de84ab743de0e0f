"""Which classes a classifier knows, and how more of them come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import row_of_chunk
from kernbrook.engine.model import Model
from kernbrook.engine.widening import take_over
from kernbrook.errors import InputError
from kernbrook.estimators.input_checks import answer_of
from kernbrook.estimators.labelled import (
    as_labels,
    check_discrete,
    class_numbers,
    distinct,
    named,
    present,
)
from kernbrook.estimators.thresholds import checked
from kernbrook.estimators.weighting import check_keys, lifts
from kernbrook.gram.arrays import Labels


class KnowsClasses:
    """The classes of a classifier: those of the first chunk, and those that come later."""

    class_weight: Any
    threshold: Any
    classes_: NDArray[Any]
    _model: Model
    _labels_of: Any  # of these the machine says what they do
    _nothing: Any

    def _unseen(self, y: NDArray[Any]) -> Labels:
        """Rows whose labels are of no class that is known."""
        there = np.flatnonzero(present(y))
        return there[class_numbers(self.classes_, y[there]) < 0]

    def _grow(self, y: NDArray[Any], unseen: Labels, grown: Any = None) -> None:
        """Learn of classes that appear later; what was learned of the others stays.

        grown : as `_grown` has it, where that is known
        """
        found, model = grown or self._grown(y, unseen)
        self.__dict__.update(_model=model, classes_=found)
        self.__dict__.pop("_number", None)

    def _of_classes(self, found: NDArray[Any]) -> Model:
        """The model with more classes; InputError where there is none."""
        trial: Any = clone(self)
        trial.classes_, old = found, self._model
        checked(self.threshold, len(found))
        model: Model = trial._new_model(old.setting.width, old.sparse, old.setting.seed)
        take_over(model, old, class_numbers(found, self.classes_))
        return model

    def _grown(self, y: NDArray[Any], unseen: Labels) -> tuple[NDArray[Any], Model]:
        """All classes, and the model of them; unseen : rows of y with those that are new."""
        try:
            found = distinct(as_labels([*self.classes_.tolist(), *y[unseen].tolist()]))
            self._check_classes(found)
            model = self._of_classes(found)
        except InputError as error:
            raise InputError(
                f"y: label {named(y[unseen[:1]])} ({row_of_chunk(unseen[0])}) is not one of the "
                f"classes {named(self.classes_)}, and cannot be learned: {error}"
            ) from error
        return found, model

    def _answer(self, oracle: Any, X: Any, i: int) -> Any:
        label = self._labels_of(answer_of(oracle, X, i))
        if len(unseen := self._unseen(label)):
            self._grow(label, unseen)
        return self._numbers(label)[0]

    def _set_classes(self, y: NDArray[Any], classes: Any) -> None:
        if hasattr(self, "classes_"):
            if classes is None:
                return
            found = distinct(as_labels(classes), "classes")
            if found.tolist() != self.classes_.tolist():  # by Python: NumPy would compare floats
                raise InputError(
                    f"classes={found} is not the same as on last call to partial_fit, "
                    f"was: {self.classes_}"
                )
            self._check_named(y, found)
            return
        if classes is None and callable(y):
            raise InputError("classes: name all of them before the first answer of an oracle")
        given, name = (y, "y") if classes is None else (as_labels(classes), "classes")
        there = present(given)
        if classes is not None and not there.all():
            raise InputError("classes: None and NaN are none, they stand for a missing label")
        if len(there) > 0 and not there.any():
            raise InputError("y: no row has a label yet; name all classes with classes=")
        found = distinct(given[there], name)
        self._check_classes(found)
        if len(found) < 2:
            raise InputError(
                f"y: expected two classes or more, found one class, {named(found)}; name "
                "all of them with classes="
            )
        checked(self.threshold, len(found))
        if classes is not None:
            self._check_named(y, found)
        self.classes_ = found

    def _check_classes(self, labels: NDArray[Any]) -> None:
        """InputError unless these can be classes, and the weights that are given are theirs."""
        try:
            check_discrete(labels)
        except ValueError as error:
            hint = "; numbers are for OnlineMKRegressor() (--recipe kernbrook-regression)"
            of_numbers = np.asarray(labels).dtype.kind == "f"
            raise InputError(
                f"y: expected classes, found {named(labels)}{hint if of_numbers else ''}. "
                f"{str(error).partition('. ')[0]}"
            ) from None
        check_keys(self.class_weight, labels)

    def _check_named(self, y: Any, classes: NDArray[Any]) -> None:
        """InputError where a label is none of those that the call names as all."""
        if callable(y):
            return
        there = np.flatnonzero(present(y))
        unknown = there[class_numbers(classes, y[there]) < 0]
        if len(unknown):
            raise InputError(
                f"y: label {named(y[unknown[:1]])} ({row_of_chunk(unknown[0])}) is not one of "
                f"the classes {named(classes)}"
            )

    def _of_these(self, oracle: Any) -> Any:
        """The oracle, held to the classes that the call names as all."""
        known = self.classes_

        def ask(row: Any) -> Any:
            label = oracle(row)
            if np.ndim(label) == 0 and not isinstance(label, (dict, set)):
                given = self._labels_of([label])
                if present(given)[0] and class_numbers(known, given)[0] < 0:
                    raise InputError(
                        f"y: label {named(given)} is not one of the classes {named(known)}"
                    )
            return label

        return ask

    def _numbers(self, y: NDArray[Any]) -> Labels:
        """The number of each label's class."""
        there = present(y)
        numbers = np.full(len(y), self._nothing(), dtype=np.int64)
        numbers[there] = class_numbers(self.classes_, y[there])
        return numbers

    def _lifts(self, labels: Any, weights: Any) -> Any:
        if self.class_weight is None:
            return 1.0
        numbers = np.where(np.atleast_1d(labels) >= 0, labels, -1).astype(np.int64)
        counts = self._model.calibration.counts
        found = lifts(self.class_weight, self.classes_, counts, numbers, np.atleast_1d(weights))
        return found if np.ndim(labels) else found[0]
