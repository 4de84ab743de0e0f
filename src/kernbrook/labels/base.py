"""The base of label policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from sklearn.base import BaseEstimator


class Wanted(NamedTuple):
    """A row whose label a policy wants.

    Attributes
    ----------
    chances : each class and its probability, the most probable first; none of numbers
    passed : rows since the last label
    """

    chances: Sequence[tuple[Any, float]]
    passed: int


class Policy(BaseEstimator):
    """A label policy. The first label is always asked for.

    A policy may have a method `why`: a `Wanted` in, and a few words out that say why it wants the
    label of this row.

    asks : whether it leaves labels out
    needs : what it looks at, in words of `kernbrook.engine.needs.NEEDS`
    """

    choice = "labels"
    asks = True
    needs: ClassVar[frozenset[str]] = frozenset()


def wait_text(rows: int) -> str:
    """Why a policy asks that has waited for a label long enough."""
    which = "row" if rows == 1 else f"{rows:,} rows"
    return f"the last {which} gave it no label"
