"""What predictions cost while a model learns: in all, by window, and when that changed."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, NonFiniteError
from kernbrook.estimators.labelled import class_numbers, present
from kernbrook.estimators.tasks import Learned
from kernbrook.evaluation.history.changes import Changes
from kernbrook.evaluation.history.windows import Span, Windows
from kernbrook.evaluation.measuring.accounts import Account
from kernbrook.evaluation.measuring.measures import COVERAGE, Measures
from kernbrook.plain_values import is_count, read_as

_PARTS = ("measures", "windows", "changes")
LOSS = {"classification": "error", "regression": "squared"}
KEPT = ("log_loss", "absolute", "covered")  # costs of the model by window, besides the loss


class Judge:
    """Predictions beside trivial rules, of the data that are learned and of all data so far.

    Parameters
    ----------
    classes : (c,) of the model, sorted; None of numbers
    before : rows that the model had met before, of which nothing was recorded

    Attributes
    ----------
    measures : of these data; the rules know the labels of all data before
    data : sums of these data
    windows : of all data
    changes : of the loss, in all data
    """

    def __init__(self, classes: NDArray[Any] | None, before: int = 0):
        self.before = before
        coverage = COVERAGE if classes is None else None
        self.measures = Measures(classes, coverage)
        self.data, self.windows, self.changes = Span(), Windows(), Changes(classes is None)

    def add(
        self,
        y: NDArray[Any],
        said: Learned,
        dates: NDArray[np.int64] | None = None,
    ) -> NDArray[Any]:
        """Count rows, see `Measures.add` and `Windows.add`.

        Returns
        -------
        (k,) losses of the rows that are judged

        Raises
        ------
        NonFiniteError
            The squared errors overflow.
        """
        costs = self.measures.add(y, said)
        if not costs:
            self.data.add(len(y), {}, dates)
            self.windows.add(len(y), {}, np.empty(0, dtype=np.int64), dates)
            return np.empty(0, dtype=bool)
        loss = LOSS[self.measures.task]
        if not math.isfinite(self.measures.model.sums[loss]):  # no file can hold it
            raise NonFiniteError(
                f"the squared errors of {self.measures.model.rows} rows overflow: scale the labels "
                "or the features"
            )
        own = costs.pop("model")
        found = {"loss": own[loss]}
        found |= {name: own[name] for name in KEPT if name in own}
        found |= {name: rule[loss] for name, rule in costs.items()}
        judged = np.flatnonzero(self._judged(y))
        rows = self.before + self.windows.rows + judged + 1
        self.data.add(len(y), found, dates)
        self.windows.add(len(y), found, judged, dates)
        self.changes.add(own[loss], rows, None if dates is None else dates[judged])
        return own[loss]

    def _judged(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) where there is a label that the model knows."""
        there = present(y)
        if self.measures.classes is not None:
            there[there] = class_numbers(self.measures.classes, y[there]) >= 0
        return there

    def know(self, classes: NDArray[Any]) -> None:
        """Classes that the model knows by now; those that it knew are among them."""
        before = self.measures
        if before.classes is None or len(before.classes) == len(classes):
            return
        places = class_numbers(classes, before.classes)
        described = before.described()
        _without_ranks(described["model"])
        for account, known in described["rules"].values():
            _without_ranks(account)
            if "counts_" in known:
                counts = np.zeros(len(classes), dtype=np.int64)
                counts[places] = known["counts_"]
                known |= {"counts_": counts.tolist(), "last_": int(places[known["last_"]])}
        self.measures = Measures(classes, before.coverage)
        self.measures.restore(described)

    def begin(self) -> None:
        """Other data begin: their measures are their own, and the rules know what they know."""
        described = self.measures.described()
        rules = {
            name: [Account().described(), known] for name, (_, known) in described["rules"].items()
        }
        model = Account().described()
        self.measures = Measures(self.measures.classes, self.measures.coverage)
        self.measures.restore({"unlabelled": 0, "unknown": 0, "model": model, "rules": rules})
        self.data = Span()

    def described(self) -> dict[str, Any]:
        """The same as plain values, for a file."""
        parts = {name: getattr(self, name).described() for name in _PARTS}
        return {"before": self.before, "data": asdict(self.data), **parts}

    @classmethod
    def restored(cls, described: Any, classes: NDArray[Any] | None) -> Judge:
        """What `described` told of, for a model of these classes.

        Raises
        ------
        InputError
            It can be no such thing.
        """
        judge = cls(classes)
        names = {"before", "data", *_PARTS}
        if not isinstance(described, dict) or described.keys() != names:
            raise InputError(f"judged: expected {', '.join(sorted(names))}")
        if not is_count(described["before"]):
            raise InputError("judged: expected a number of rows before")
        judge.before = described["before"]
        judge.data = read_as(Span, described["data"], "judged")
        judge.measures.restore(described["measures"])
        judge.windows = read_as(Windows, described["windows"], "windows")
        judge.changes = Changes.restored(described["changes"])
        if judge.changes.numbers != (classes is None):
            raise InputError("changes: of another kind of labels")
        return judge


def _without_ranks(account: dict[str, Any]) -> None:
    """More than two classes are not ranked."""
    account["roc"] = None
    account["counts"].pop("ranked", None)
