"""What label policies share."""

from __future__ import annotations

from sklearn.base import BaseEstimator


class Policy(BaseEstimator):
    """A label policy. The first label is always asked for.

    asks : whether it leaves labels out
    of_classes : it looks at the margin between classes
    of_opinions : it looks at how experts differ
    of_variances : it looks at the variances of `Ridge`
    """

    choice = "labels"
    asks = True
    of_classes = False
    of_opinions = False
    of_variances = False
