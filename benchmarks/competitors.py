"""What users would pick instead, each with `learn(X, y) -> (predictions, asked)`.

Labels are class numbers from 0, or real numbers. Each row is predicted before its label is looked
at, in one pass. River's learners take one row at a time, as dictionaries.
"""

from __future__ import annotations

import importlib.util
import pickle
import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import kernbrook as kb

Made = Callable[[int, int, int], Any]  # from a seed, the numbers of features and of classes (or 0)


class Competitor:
    """Row by row: `predict(x)`, then `update(x, y)`."""

    dtype: type = int

    def learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        predictions = np.zeros(len(y), self.dtype)
        for i, x in enumerate(X):
            predictions[i] = self.predict(x)
            self.update(x, y[i])
        return predictions, np.ones(len(y), bool)

    def predict(self, x: Any) -> Any:
        raise NotImplementedError

    def predicted(self, X: Any) -> Any:
        """(n,) what is said of rows, of which no label is known."""
        return np.array([self.predict(x) for x in X], self.dtype)

    def update(self, x: Any, y: Any) -> None:
        raise NotImplementedError

    @property
    def memory_bytes_(self) -> int:
        return len(pickle.dumps(self))


class Moments:
    """Means and deviations of the rows so far."""

    def __init__(self, width: int):
        self.count, self.mean, self.squares = 0, np.zeros(width), np.zeros(width)

    def update(self, x: Any) -> None:
        self.count += 1
        before = x - self.mean
        self.mean = self.mean + before / self.count
        self.squares = self.squares + before * (x - self.mean)

    def scaled(self, x: Any) -> Any:
        deviation = np.sqrt(self.squares / max(1, self.count))
        return (x - self.mean) / np.where(deviation > 0, deviation, 1.0)


class River(Competitor):
    def __init__(self, model: Any, classes: int):
        self.model = model
        self.dtype = int if classes else float

    def learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        names, wanted = range(X.shape[1]), y.tolist()
        predictions = np.zeros(len(y), self.dtype)
        for i, row in enumerate(X.tolist()):
            x = dict(zip(names, row, strict=True))
            predictions[i] = self.model.predict_one(x) or 0
            self.model.learn_one(x, wanted[i])
        return predictions, np.ones(len(y), bool)

    def predict(self, x: Any) -> Any:
        return self.model.predict_one(dict(enumerate(x.tolist()))) or 0


class Nearest(Competitor):
    """The 5 nearest of the last 1,000 rows, each standardised by the moments when it came."""

    def __init__(self, width: int, classes: int, window: int = 1000, neighbours: int = 5):
        self.classes, self.neighbours = classes, neighbours
        self.dtype = int if classes else float
        self.moments, self.count = Moments(width), 0
        self.points, self.labels = np.zeros((window, width)), np.zeros(window, self.dtype)

    def predict(self, x: Any) -> Any:
        known = min(self.count, len(self.labels))
        if known == 0:
            return 0
        differences = self.points[:known] - self.moments.scaled(x)
        distances = np.einsum("ij,ij->i", differences, differences)
        some = min(self.neighbours, known)
        labels = self.labels[np.argpartition(distances, some - 1)[:some]]
        return np.bincount(labels).argmax() if self.classes else labels.mean()

    def update(self, x: Any, y: Any) -> None:
        self.moments.update(x)
        at = self.count % len(self.labels)
        self.points[at], self.labels[at] = self.moments.scaled(x), y
        self.count += 1


class Waves(Competitor):
    """Standardised features beside 300 random ones of a Gaussian, and scikit-learn's SGD."""

    def __init__(self, seed: int, width: int, classes: int):
        from sklearn.kernel_approximation import RBFSampler
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        self.classes, self.moments = classes, Moments(width)
        self.dtype = int if classes else float
        self.waves = RBFSampler(gamma=1 / width, n_components=300, random_state=seed)
        self.waves.fit(np.zeros((1, width)))
        self.model: Any = (
            SGDClassifier(loss="log_loss", random_state=seed)
            if classes
            else SGDRegressor(random_state=seed)
        )

    def inputs(self, x: Any) -> Any:
        scaled = self.moments.scaled(x)[None]
        return np.hstack([scaled, self.waves.transform(scaled)])

    def predict(self, x: Any) -> Any:
        return self.model.predict(self.inputs(x))[0] if self.moments.count else 0

    def update(self, x: Any, y: Any) -> None:
        self.moments.update(x)
        more = {"classes": range(self.classes)} if self.classes else {}
        self.model.partial_fit(self.inputs(x), [y], **more)


class Refitted(Competitor):
    """LightGBM on the last 10,000 rows, at rows 100, 200, 500, 1,000 and then every 2,000."""

    window = 10_000
    early: tuple[int, ...] = (100, 200, 500, 1000)
    every = 2000

    def __init__(self, seed: int, width: int, classes: int):
        self.make = lambda: self.fresh(seed, classes)
        self.dtype = int if classes else float
        self.count, self.model = 0, None
        self.points, self.labels = np.zeros((0, width)), np.zeros(0, self.dtype)

    def learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        parts, start = [], 0
        while start < len(y):
            ahead = self.next_fit() - self.count if self.model else 1
            stop = min(len(y), start + ahead)
            parts.append(self.predicted(X[start:stop]))
            self.points = np.concatenate([self.points, X[start:stop]])[-self.window :]
            self.labels = np.concatenate([self.labels, y[start:stop]])[-self.window :]
            self.count += stop - start
            start = stop
            if self.count in self.early or self.count % self.every == 0:
                self.fit()
        return np.concatenate(parts), np.ones(len(y), bool)

    def next_fit(self) -> int:
        for row in self.early:
            if self.count < row:
                return row
        return self.every * (self.count // self.every + 1)

    def fresh(self, seed: int, classes: int) -> Any:
        """What is fitted."""
        import lightgbm

        kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
        return kind(random_state=seed, n_jobs=1, verbose=-1)

    def fit(self) -> None:
        if len(np.unique(self.labels)) > 1:
            self.model = self.make().fit(self.points, self.labels)

    def predicted(self, X: Any) -> Any:
        if self.model is not None:
            return self.model.predict(X)
        if len(self.labels) == 0:
            return np.zeros(len(X), self.dtype)
        usual = np.bincount(self.labels).argmax() if self.dtype is int else self.labels.mean()
        return np.full(len(X), usual)

    @property
    def memory_bytes_(self) -> int:
        return len(pickle.dumps((self.points, self.labels, self.model)))


class RefittedOften(Refitted):
    """The same at rows 100, 200 and then every 500."""

    every = 500


class RefittedLine(RefittedOften):
    """A linear model of scikit-learn's, at rows 100, 200 and then every 500."""

    def fresh(self, seed: int, classes: int) -> Any:
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = LogisticRegression(max_iter=1000) if classes else Ridge()
        return make_pipeline(StandardScaler(), model)


class RefittedLong(Refitted):
    """LightGBM on the last 100,000 rows, at some early rows and then every 10,000."""

    window = 100_000
    early = (100, 200, 500, 1000, 2000, 5000)
    every = 10_000


class RefittedXGBoost(RefittedLong):
    """XGBoost instead."""

    def fresh(self, seed: int, classes: int) -> Any:
        import xgboost

        kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
        return Coded(kind(random_state=seed, n_jobs=1, verbosity=0), classes)


class RefittedCatBoost(RefittedLong):
    """CatBoost instead, with as many trees as the other two have by default."""

    def fresh(self, seed: int, classes: int) -> Any:
        import catboost

        kind = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
        quiet = {"verbose": False, "allow_writing_files": False}
        return Coded(kind(iterations=100, random_seed=seed, thread_count=1, **quiet), classes)


class Coded:
    """Classes that a window has are 0, 1, ... for the model, whichever are missing."""

    def __init__(self, model: Any, classes: int):
        self.model, self.classes, self.known = model, classes, np.zeros(0)

    def fit(self, X: Any, y: Any) -> Coded:
        if self.classes:
            self.known, y = np.unique(y, return_inverse=True)
        self.model.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        said = np.asarray(self.model.predict(X)).ravel()
        return self.known[said.astype(int)] if self.classes else said


class CapyMOA(Competitor):
    """A learner of MOA's, in Java; `make` gets a schema and a seed."""

    def __init__(self, make: Callable[..., Any], seed: int, width: int, classes: int):
        from capymoa.core import LabeledInstance, RegressionInstance
        from capymoa.stream import Schema

        self.dtype = int if classes else float
        self.instance: Any = LabeledInstance if classes else RegressionInstance
        names = [*(f"x{i}" for i in range(width)), "y"]
        levels = {"y": [str(label) for label in range(classes)]} if classes else None
        self.schema = Schema.from_custom(names, "y", levels, "rows")
        self.model = make(schema=self.schema, random_seed=seed)

    def predict(self, x: Any) -> Any:
        said = self.model.predict(self.instance.from_array(self.schema, x, 0))
        return 0 if said is None else said

    def update(self, x: Any, y: Any) -> None:
        self.model.train(self.instance.from_array(self.schema, x, y.item()))

    @property
    def memory_bytes_(self) -> float:
        """NaN: Java's objects are not measured."""
        return float("nan")


def capymoa(of_classes: str, of_numbers: str = "", **settings: Any) -> Made:
    """Of the names of CapyMOA's classifier and regressor."""

    def made(seed: int, width: int, classes: int) -> CapyMOA:
        import capymoa.classifier
        import capymoa.regressor

        kind: Any = (
            getattr(capymoa.classifier, of_classes)
            if classes
            else getattr(capymoa.regressor, of_numbers)
        )
        return CapyMOA(partial(kind, **settings), seed, width, classes)

    return made


def needed(name: str) -> str | None:
    """The package of others that a method needs."""
    return next((package for start, package in NEEDS.items() if name.startswith(start)), None)


def missing(name: str) -> str | None:
    """What a method needs and is not installed."""
    package = needed(name)
    if package and importlib.util.find_spec(package) is None:
        return package
    return "java" if package == "capymoa" and shutil.which("java") is None else None


def logreg(seed: int, width: int, classes: int) -> River:
    from river import linear_model, preprocessing

    kinds = linear_model.LogisticRegression, linear_model.SoftmaxRegression
    kind: Any = kinds[classes > 2] if classes else linear_model.LinearRegression
    return River(preprocessing.StandardScaler() | kind(), classes)


def alma(seed: int, width: int, classes: int) -> River:
    from river import linear_model, multiclass, preprocessing

    model: Any = linear_model.ALMAClassifier()
    whole = multiclass.OneVsRestClassifier(model) if classes > 2 else model
    return River(preprocessing.StandardScaler() | whole, classes)


def hat(seed: int, width: int, classes: int) -> River:
    from river import tree

    kind: Any = (
        tree.HoeffdingAdaptiveTreeClassifier if classes else tree.HoeffdingAdaptiveTreeRegressor
    )
    return River(kind(seed=seed), classes)


def arf(seed: int, width: int, classes: int) -> River:
    from river import forest

    kind: Any = forest.ARFClassifier if classes else forest.ARFRegressor
    return River(kind(seed=seed), classes)


def srp(seed: int, width: int, classes: int) -> River:
    from river import ensemble

    kind: Any = ensemble.SRPClassifier if classes else ensemble.SRPRegressor
    return River(kind(seed=seed), classes)


def recipe(name: str, **settings: Any) -> Made:
    def made(seed: int, width: int, classes: int) -> Any:
        more = {} if name in TRIVIAL else {"random_state": seed}
        return kb.recipes.make(name, **more, **settings)

    return made


FOREST = "AdaptiveRandomForestClassifier", "AdaptiveRandomForestRegressor"
BOOSTED = "StreamingGradientBoostedTrees", "StreamingGradientBoostedRegression"
OTHERS: dict[str, Made] = {  # of classes and numbers, in long runs
    "lgb100k": RefittedLong,
    "xgb100k": RefittedXGBoost,
    "catboost100k": RefittedCatBoost,
    "capymoa-sgbt": capymoa(*BOOSTED),
    "capymoa-arf10": capymoa(*FOREST, ensemble_size=10),
    "capymoa-arf100": capymoa(*FOREST, ensemble_size=100),
}
# Recipes of papers.
OF_CLASSES = "omkc-dd", "spa", "bpas", "bogd", "forgetron", "rbp", "bpegasos-merge"
OF_NUMBERS = "raker", "ada-raker"
TRIVIAL = ("majority", "last-label", "mean", "last-value")
CLASSES: dict[str, Made] = {
    "kernbrook": recipe("kernbrook-classification"),
    "lgb": Refitted,
    "arf": arf,
    "srp": srp,
    "hat": hat,
    "knn1000": lambda seed, width, classes: Nearest(width, classes),
    "sgd-rbf": Waves,
    "logreg": logreg,
    "alma": alma,
    "majority": recipe("majority"),
    "last-label": recipe("last-label"),
    "lgb500": RefittedOften,
    "line500": RefittedLine,
    **{name: recipe(name, scaling="moments") for name in OF_CLASSES},
    "kernbrook-small": recipe("kernbrook-small"),
    **OTHERS,
    "capymoa-srp": capymoa("StreamingRandomPatches"),
}
NUMBERS: dict[str, Made] = {
    "kernbrook": recipe("kernbrook-regression"),
    "lgb": Refitted,
    "arf": arf,
    "srp": srp,
    "hat": hat,
    "knn1000": lambda seed, width, classes: Nearest(width, classes),
    "sgd-rbf": Waves,
    "linear": logreg,
    "mean": recipe("mean"),
    "last-value": recipe("last-value"),
    "lgb500": RefittedOften,
    "line500": RefittedLine,
    **{name: recipe(name, scaling="moments") for name in OF_NUMBERS},
    "kernbrook-small": recipe("kernbrook-small-regression"),
    **OTHERS,
}
LATE = ("lgb500", "line500")  # beside them, where labels come late
LONG = ("kernbrook-small", *OTHERS, "capymoa-srp")  # likewise, where streams are long
ON_REQUEST = (*OF_CLASSES, *OF_NUMBERS, *LATE, *LONG)
NEEDS = {  # by how the names of methods begin
    "lgb": "lightgbm",
    "xgb": "xgboost",
    "catboost": "catboost",
    "capymoa": "capymoa",
    **dict.fromkeys(("arf", "srp", "hat", "logreg", "linear", "alma"), "river"),
}
# One seed is enough for the others.
DRAWS = ("kernbrook", "arf", "srp", "hat", "sgd-rbf", *OF_CLASSES, *OF_NUMBERS)
SETTINGS = {  # in words; of our own, the parameters
    "lgb": "LightGBM, default settings, fitted at rows 100, 200, 500, 1,000 and then every 2,000 "
    "on the last 10,000; before, the most frequent label or the mean so far",
    "lgb500": "lgb, but fitted at rows 100, 200 and then every 500",
    "line500": "scikit-learn's LogisticRegression or Ridge after StandardScaler, fitted at rows "
    "100, 200 and then every 500 on the last 10,000",
    "lgb100k": "LightGBM, default settings, fitted at rows 100, 200, 500, 1,000, 2,000, 5,000 and "
    "then every 10,000 on the last 100,000; before, the most frequent label or the mean so far",
    "xgb100k": "XGBoost in the same way, default settings",
    "catboost100k": "CatBoost in the same way, 100 trees as the other two, else default settings",
    "capymoa-sgbt": "CapyMOA's streaming gradient boosted trees, default settings",
    "capymoa-srp": "CapyMOA's streaming random patches, default settings",
    "capymoa-arf10": "CapyMOA's adaptive random forest of 10 trees",
    "capymoa-arf100": "CapyMOA's adaptive random forest of 100 trees",
    "arf": "River's adaptive random forest, default settings",
    "srp": "River's streaming random patches, default settings",
    "hat": "River's Hoeffding adaptive tree, default settings",
    "knn1000": "the 5 nearest of the last 1,000 rows, features standardised as they come, NumPy",
    "sgd-rbf": "scikit-learn's SGD (log loss, or squared) on standardised features beside "
    "RBFSampler(300, gamma=1 / features)",
    "logreg": "River's logistic regression, softmax where classes are many, after StandardScaler",
    "linear": "River's linear regression after StandardScaler",
    "alma": "River's ALMA after StandardScaler, one against the rest",
    "majority": "the most frequent label so far",
    "last-label": "the last label",
    "mean": "the mean so far",
    "last-value": "the last value",
}
