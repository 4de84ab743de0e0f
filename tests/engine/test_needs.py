"""What parts need of each other: compared once, for parts from outside as for ours."""

import re
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.engine.needs import NEEDS
from kernbrook.errors import InputError

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
X = np.random.default_rng(0).normal(size=(20, 2))
Y = (X[:, 0] > 0).astype(int)


class AllOfThem(kb.Hedge):
    """A combiner from outside that needs what `Stack` does."""

    needs: ClassVar = frozenset({"all experts"})


class Curious(kb.RandomLabels):
    """A policy with a word that is not ours."""

    needs: ClassVar = frozenset({"patience"})


class Patient(kb.Perceptron):
    gives: ClassVar = frozenset({"patience"})


class OneAtATime(kb.Selection):
    """A selection from outside that says it has one expert in use."""

    gives: ClassVar = frozenset()


def fit(**parts):
    learner = parts.pop("learner", kb.Perceptron())
    kernels = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=2)]
    return kb.OnlineMKClassifier(kernels, learner, **parts).fit(X, Y)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"combiner": AllOfThem(), "selection": kb.BestOfPrefix(5)},
            r"combiner: AllOfThem\(\) needs all experts in each vote, which "
            r"BestOfPrefix\(rounds=5\) does not give, but selection=Selection\(\) does",
        ),
        (
            {"labels": kb.Disagreement(), "selection": OneAtATime()},
            r"labels: Disagreement\(\) needs experts to compare, which OneAtATime\(\) does not",
        ),
        (
            {"labels": Curious()},
            r"labels: Curious\(\) needs patience, which the other parts do not give$",
        ),
    ],
)
def test_what_is_not_given_is_said(parts, message):
    with pytest.raises(InputError, match=message):
        fit(**parts)


def test_what_is_given_is_enough():
    fit(combiner=AllOfThem())
    fit(labels=Curious(), learner=Patient())
    fit(labels=Curious(), learner=[kb.Perceptron(), Patient()])


def test_the_page_has_every_word():
    table = PAGE.read_text().split("## What parts need of each other")[1].split("\n## ")[0]
    assert set(re.findall(r'^\| "([^"]+)"', table, re.MULTILINE)) == set(NEEDS)
