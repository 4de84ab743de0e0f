"""Models of other libraries to compare with, each as its library would have it used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from kernbrook.checks import each_name
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.tasks import Task
from kernbrook.learners import External

BATCH = 10  # rows that scikit-learn's models learn at once: a call costs as much as the learning
WINDOW = 1000  # rows of nearest neighbours


def river(module: str, name: str) -> Any:
    """A module of River, such as "drift"; InputError where River is not there."""
    try:
        return import_module(f"river.{module}")
    except ModuleNotFoundError as error:
        raise InputError(f"{name} needs the package river: pip install river") from error


class Scaled(BaseEstimator):
    """A model of scikit-learn behind a `StandardScaler`, both learned as rows come.

    A `Pipeline` has no `partial_fit`.
    """

    def __init__(self, model: Any):
        self.model = model

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Scaled:
        if not hasattr(self, "model_"):
            self.scaler_, self.model_ = StandardScaler(), clone(self.model)
        X = self.scaler_.partial_fit(_dense(X)).transform(_dense(X))
        of_classes = {"classes": classes} if is_classifier(self.model) else {}
        self.model_.partial_fit(X, y, **of_classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.model_.predict(self.scaler_.transform(_dense(X))))

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.model_.predict_proba(self.scaler_.transform(_dense(X))))

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self.model_.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = get_tags(self.model).estimator_type
        return tags


def libraries_of(baselines: str | Sequence[str] | None) -> tuple[str, ...]:
    """The libraries whose models are to be compared, each there to be imported."""
    libraries = tuple(dict.fromkeys(each_name(() if baselines is None else baselines)))
    for library in libraries:
        if library not in _MAKERS:
            raise UnknownNameError("library of baselines", library, list(_MAKERS))
    if "river" in libraries:
        river("base", "baselines: river")
    return libraries


def baselines_of(libraries: Sequence[str], task: Task) -> dict[str, tuple[str, Any]]:
    """Title and model by name."""
    found: dict[str, tuple[str, Any]] = {}
    for library in libraries:
        found |= _MAKERS[library](task == "regression")
    return found


def _of_sklearn(numbers: bool) -> dict[str, tuple[str, Any]]:
    sgd = SGDRegressor() if numbers else SGDClassifier("log_loss")
    nearest = KNeighborsRegressor() if numbers else KNeighborsClassifier()
    dense = FunctionTransformer(_dense, accept_sparse=True)
    window = External(make_pipeline(dense, StandardScaler(), nearest), BATCH, WINDOW)
    bayes = {"sklearn-nb": ("GaussianNB", External(Scaled(GaussianNB()), BATCH))}
    return {
        "sklearn-sgd": (type(sgd).__name__, External(Scaled(sgd), BATCH)),
        **({} if numbers else bayes),
        "sklearn-knn": (type(nearest).__name__, window),
    }


def _of_river(numbers: bool) -> dict[str, tuple[str, Any]]:
    names = ("preprocessing", "linear_model", "multiclass", "tree", "forest")
    scaling, linear, several, tree, forest = (river(name, "baselines") for name in names)
    scaler, kind = scaling.StandardScaler(), "Regressor" if numbers else "Classifier"
    first, linear_model = "river-linear", ("LinearRegression", scaler | linear.LinearRegression())
    if not numbers:
        one_of_many = several.OneVsRestClassifier(linear.LogisticRegression())
        first, linear_model = "river-logistic", ("LogisticRegression", scaler | one_of_many)
    adaptive = getattr(tree, f"HoeffdingAdaptiveTree{kind}")()
    return {
        first: linear_model,
        "river-hat": ("HoeffdingAdaptiveTree", adaptive),
        "river-arf": ("ARF", getattr(forest, f"ARF{kind}")()),
    }


_MAKERS = {"sklearn": _of_sklearn, "river": _of_river}


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X
