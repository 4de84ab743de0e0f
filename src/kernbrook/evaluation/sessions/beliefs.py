"""What a model says of the row that it asks about: a label, how sure it is, and why it asks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.evaluation.history.moments import Floats
from kernbrook.evaluation.sessions.predicting import said_of
from kernbrook.labels import AllLabels
from kernbrook.labels.base import Wanted
from kernbrook.streams.stream import Features

_DIGITS = 6  # of a probability that is written down


class Belief(NamedTuple):
    """What a model says of a row.

    Attributes
    ----------
    predicted : the label; None before it has learned any
    votes : (c,) for each class, the greatest wins; None for numbers, and where `predicted` is
    chances : (c,) the probability of each class; None where `votes` is
    chance : of the label, rounded; None where `votes` is
    """

    predicted: Any = None
    votes: Floats | None = None
    chances: Floats | None = None
    chance: float | None = None


def belief(model: Any, x: Features, classes: NDArray[Any] | None) -> Belief:
    """What a model says of a row x, (1, d), as one that learns no more would; see `said_of`.

    Parameters
    ----------
    model : a machine with `learn`
    x : (1, d), dense or CSR
    classes : all labels; None for numbers
    """
    if model.labels_asked_ == 0:
        return Belief()
    said = said_of(model, x)
    label = said.predictions[0]
    predicted = label.item() if isinstance(label, np.generic) else label
    if classes is None or said.scores is None or said.probabilities is None:
        return Belief(predicted)
    votes, chances = said.scores[0], said.probabilities[0]
    if len(votes) == 1:
        votes = np.array([-1, 1]) * votes[0] + 0.0  # which makes 0 of -0
    chance = round(float(chances[classes.tolist().index(predicted)]), _DIGITS)
    return Belief(predicted, votes, chances, chance)


def reason(model: Any, said: Belief, classes: NDArray[Any] | None, passed: int) -> str:
    """Why a model wants the label of a row, in a few words.

    Parameters
    ----------
    model : a machine with `learn`
    said : what it says of the row
    classes : all labels; None for numbers
    passed : rows since the last label
    """
    if model.labels_asked_ == 0:
        return "the first label is always asked for"
    policy = AllLabels() if model.labels == "all" else model.labels
    if not hasattr(policy, "why"):
        return f"{policy} wants the label"
    chances: list[tuple[Any, float]] = []
    if classes is not None and said.chances is not None:
        order = np.argsort(-said.chances, kind="stable")
        chances = [(classes[k].item(), float(said.chances[k])) for k in order]
    why: str = policy.why(Wanted(chances, passed))
    return why
