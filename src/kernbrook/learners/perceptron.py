"""The kernel perceptron."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.checks import OneOf, parameters
from kernbrook.engine.verbs import expand
from kernbrook.learners.steps import errs, mistaken_step
from kernbrook.numerics.scores_of_classes import add_step

TIES = ("margin", "label")


@parameters
class Perceptron(BaseEstimator):
    """On an error, the example becomes a support vector: f <- f + y k(x, .).

    Step: 1. Admission: the score errs. Upkeep: none, the support set grows.

    Parameters
    ----------
    tie : "margin" or "label"
        What an error is. "margin": y f(x) <= 0, so a score of 0 errs for both labels. "label":
        sign(f(x)) != y with sign(0) = +1, so a score of 0 errs for the negative label only.

    References
    ----------
    Rosenblatt (1958); Freund and Schapire (1999), Large margin classification using the
    perceptron algorithm. Hoi, Jin, Zhao, Yang (2013) print the "margin" rule (algorithm 1, line 8);
    their tables were made with "label".

    Examples
    --------
    >>> Perceptron(tie="label")
    Perceptron(tie='label')
    """

    choice = "learner"
    store = "expansion"
    tie: Annotated[str, OneOf(TIES)] = "margin"

    @property
    def strict(self) -> bool:
        """Whether a margin of 0 is a mistake."""
        return bool(self.tie == "margin")

    def rule(self) -> PerceptronRule:
        return PerceptronRule(self.strict)


class PerceptronRule(NamedTuple):
    """strict : whether a margin of 0 is a mistake."""

    strict: bool


@expand.of(PerceptronRule)
def _expand(rule, seen, scores, sizes, change):
    if errs(rule.strict, seen):
        add_step(change, seen.label, seen.rival, mistaken_step(seen, len(change)))
    return 1.0
