"""Estimators that have learned apart, brought together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from kernbrook.checks import counted
from kernbrook.engine.model import Model
from kernbrook.engine.widening import unite
from kernbrook.errors import InputError
from kernbrook.estimators.labels import as_labels, distinct

if TYPE_CHECKING:
    from kernbrook.estimators.base import OnlineMachine


def merged(model: OnlineMachine, others: Sequence[Any], since: Any) -> dict[str, Any]:
    """The attributes of a model that has learned what several have; see `OnlineMachine.merge`."""
    models = [model, *others]
    known = models if since is None else [*models, since]
    for other in known[1:]:
        check_alike(model, other)
    classes, learned = None, [part._model for part in known]
    if hasattr(model, "classes_"):
        classes = distinct(as_labels([label for part in known for label in part.classes_.tolist()]))
        learned = [
            part._of_classes(classes) if len(part.classes_) < len(classes) else part._model
            for part in known
        ]
    skipped = [getattr(part, "n_rows_skipped_", 0) for part in known]
    made = new_like(model, model._model, classes)
    before, before_skipped = new_like(model, model._model, classes), 0
    if since is not None:
        before, before_skipped = learned.pop(), skipped.pop()
    if any(part.rounds < before.rounds or part.asked < before.asked for part in learned):
        raise InputError("merge: since has learned more than a model that went on from it")
    unite(made, learned, before)
    _count_labels(model, models, made)
    attributes: dict[str, Any] = {"_model": made}
    if classes is not None:
        attributes["classes_"] = classes
    if any(skipped):
        n_skipped = sum(number - before_skipped for number in skipped)
        attributes["n_rows_skipped_"] = counted("n_rows_skipped_", before_skipped, n_skipped)
    return attributes


def _count_labels(model: Any, models: Sequence[Any], made: Model) -> None:
    """Models whose labels are centred otherwise have counted them from another number."""
    begun = [part for part in models if hasattr(part, "offset_")]
    if len({part.offset_ for part in begun}) > 1:
        made.calibration.count_labels(
            [(m._model.certain(), m.offset_ - getattr(model, "offset_", 0.0)) for m in begun]
        )


def new_like(model: OnlineMachine, form: Model, classes: Any) -> Model:
    """The model that has learned nothing, of the parameters of one and the form of another."""
    trial: Any = clone(model)
    trial.classes_ = classes
    setting = form.setting
    made: Model = trial._new_model(setting.width, form.sparse, setting.seed)
    return made


def check_alike(model: OnlineMachine, other: Any) -> None:
    """InputError unless another model can be merged with one."""
    if type(other) is not type(model):
        raise InputError(f"merge: expected {type(model).__name__}, got {other!r:.80}")
    if not hasattr(other, "_model"):
        raise InputError("merge: a model has not learned anything")
    width, found = model.n_features_in_, other.n_features_in_
    if width != found:
        raise InputError(f"merge: expected a model of {width} features, got one of {found}")
    names = [list(getattr(machine, "feature_names_in_", [])) for machine in (model, other)]
    if all(names) and names[0] != names[1]:
        raise InputError("merge: the models have features of other names")
    if model._model.sparse != other._model.sparse:
        raise InputError("merge: one model has learned from dense rows, another from sparse ones")
    like = new_like(model, other._model, getattr(other, "classes_", None))
    if not like.has_same_choices(other._model):
        raise InputError("merge: the models have other parameters")


def begin(model: Any, X: Any, classes: Any) -> None:
    """Set a new model up for rows like these, (n, d), without learning from one."""
    X = model._features(X)
    if classes is not None:
        model._set_classes(np.empty(0, dtype=object), classes)
    model._start(X)
