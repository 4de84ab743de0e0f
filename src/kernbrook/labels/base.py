"""What label policies share."""

from __future__ import annotations

from typing import ClassVar

from sklearn.base import BaseEstimator


class Policy(BaseEstimator):
    """A label policy. The first label is always asked for.

    asks : whether it leaves labels out
    needs : what it looks at, in words of `kernbrook.engine.needs.NEEDS`
    """

    choice = "labels"
    asks = True
    needs: ClassVar[frozenset[str]] = frozenset()
