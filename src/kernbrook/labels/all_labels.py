"""Every label."""

from __future__ import annotations

from typing import NamedTuple

from kernbrook.engine.verbs import wants
from kernbrook.labels.base import Policy, Wanted


class AllLabels(Policy):
    """A policy that asks for every label.

    Examples
    --------
    >>> AllLabels()
    AllLabels()
    """

    asks = False

    def why(self, row: Wanted) -> str:
        return "it asks about every row"

    def rule(self) -> AllLabelsRule:
        return AllLabelsRule()


class AllLabelsRule(NamedTuple):
    """Nothing to know."""


@wants.of(AllLabelsRule)
def _wants_every(policy, progress, opinions):
    return True, 0.0
