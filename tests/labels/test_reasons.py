"""Why a policy wants a label: one reason, for the row."""

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.evaluation.labelling import reason
from kernbrook.labels.base import Wanted


def wanted(*chances, passed=0):
    names = ["a", "b", "c"]
    return Wanted(list(zip(names, chances, strict=False)), passed)


@pytest.mark.parametrize(
    ("policy", "row", "why"),
    [
        (kb.AllLabels(), wanted(0.9, 0.1), "it asks about every row"),
        (kb.RandomLabels(0.25), wanted(0.9, 0.1), "by chance: of all rows it asks about 25 %"),
        (kb.MarginSampling(), wanted(0.5, 0.5), "a and b are close"),
        (kb.MarginSampling(), wanted(0.3, 0.25, 0.2), "a and b are close"),
        (
            kb.MarginSampling(), wanted(0.9, 0.1),
            "by chance: the surer it is, the seldomer it asks",
        ),
        (kb.Disagreement(window=1), wanted(passed=1), "the last row gave it no label"),
        (kb.Disagreement(window=3), wanted(passed=2), "its experts differ about it"),
        (kb.Disagreement(), wanted(passed=1200), "the last 1,200 rows gave it no label"),
        (
            kb.LabelBudget(window=3), wanted(passed=2),
            "its experts differ about it, or it was wrong of late",
        ),
        (kb.LabelBudget(window=3), wanted(passed=3), "the last 3 rows gave it no label"),
    ],
)  # fmt: skip
def test_one_reason(policy, row, why):
    assert policy.why(row) == why


class Model:
    """As much of a model as a reason takes."""

    def __init__(self, labels, asked=5):
        self.labels, self.labels_asked_ = labels, asked


class Mine:
    """A policy of somebody else, who says no reason."""

    def __repr__(self):
        return "Mine()"


def test_who_says_no_reason():
    classes, chances = np.array(["x", "y"]), np.array([0.45, 0.55])
    for model, why in (
        (Model(Mine()), "Mine() wants the label"),
        (Model("all"), "it asks about every row"),
        (Model(kb.MarginSampling()), "y and x are close"),
        (Model(kb.MarginSampling(), asked=0), "the first label is always asked for"),
    ):
        assert reason(model, classes, chances, 0) == why
    assert reason(Model(kb.Disagreement(window=9)), None, None, 7) == "its experts differ about it"


def test_the_rows_since_the_last_label_are_counted(tmp_path):
    """A policy that asks after so many rows without a label is told of them, skips too."""
    from kernbrook.evaluation.labelling import label

    X = np.random.default_rng(0).normal(size=(12, 2))
    pool = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=2.0)]
    policy = kb.Disagreement(1e9, window=3)  # whatever they say
    model = kb.OnlineMKRegressor(pool, kb.Ridge(), labels=policy, random_state=0, scaling=None)
    seen = []

    def ask(question, state):
        seen.append((question.row, question.why))
        return None if question.row == 5 else 1.0

    label(kb.open_stream((X, np.zeros(12))), model, tmp_path / "m", ask)
    three, four = ("the last 3 rows gave it no label", "the last 4 rows gave it no label")
    first = "the first label is always asked for"
    assert seen == [(1, first), (5, three), (6, four), (10, three)]
