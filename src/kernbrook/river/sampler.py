"""Label policies as active learning of River."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river.active.base import ActiveLearningClassifier

from kernbrook.errors import InputError
from kernbrook.labels import MarginSampling
from kernbrook.learners import BPAS
from kernbrook.river.models import Features, MKClassifier


class PolicySampler(ActiveLearningClassifier):
    """Active learning where the label policy of an `MKClassifier` says which labels to ask for.

    Each prediction says besides whether the label is wanted, as those of River's
    `EntropySampler`. A row whose label is not wanted is then a round without a label: policies
    count these. So predict each row once, and give the labels that are wanted to `learn_one`.

    Parameters
    ----------
    classifier : an `MKClassifier` with `labels`, or a pipeline that ends with one

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, preprocessing
    >>> machine = kb.river.MKClassifier(learner=kb.BPAS(50), labels=kb.MarginSampling(), seed=0)
    >>> model = kb.river.PolicySampler(preprocessing.StandardScaler() | machine)
    >>> used = 0
    >>> for x, y in datasets.Phishing():
    ...     said, ask = model.predict_one(x)
    ...     if ask:
    ...         used += 1
    ...         model.learn_one(x, y)
    >>> 100 < used < 1000
    True
    """

    def __init__(self, classifier: Any):
        super().__init__(classifier)
        steps = getattr(classifier, "steps", {0: classifier})
        if not isinstance([*steps.values()][-1], MKClassifier):
            raise InputError(
                f"classifier: expected an MKClassifier, or a pipeline that ends with one, "
                f"got {classifier}"
            )

    def predict_one(self, x: Features, **kwargs: Any) -> tuple[Any, bool]:
        """The label of a row, and whether its own is wanted."""
        said = self.classifier.predict_one(x, **kwargs)
        return said, self._ask_for_label(x, said)

    def _ask_for_label(self, x: Any, y_pred: Any) -> bool:
        *before, machine = getattr(self.classifier, "steps", {0: self.classifier}).values()
        for step in before:
            x = step.transform_one(x)
        asks: bool = machine.asks(x)
        if not asks:
            machine.learn_one(x, None)
        return asks

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": MKClassifier(learner=BPAS(10), labels=MarginSampling())}
