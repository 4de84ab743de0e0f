"""Always saying the same: the rule that is beaten first."""

import numpy as np
import pytest

from kernbrook.evaluation.constant_rule import ConstantRule


def met(labels, numbers):
    rule = ConstantRule(numbers)
    for label in labels:
        rule.meet(label)
    return rule


def test_classes():
    labels = np.random.default_rng(0).choice(["a", "b", "c"], 100, p=[0.2, 0.5, 0.3]).tolist()
    rule = met(labels, numbers=False)
    assert rule.says == "b"
    assert rule.loss == sum(label != "b" for label in labels) == 100 - labels.count("b")
    assert met([2, 1], numbers=False).says == 2  # the first of equally frequent ones


@pytest.mark.parametrize("far", [0.0, 1e9])
def test_numbers(far):
    labels = far + np.random.default_rng(0).normal(size=200)
    rule = met(labels.tolist(), numbers=True)
    assert rule.says == pytest.approx(labels.mean())
    assert rule.loss == pytest.approx(((labels - labels.mean()) ** 2).sum(), rel=1e-6)


def test_before_the_first_label():
    for numbers in (True, False):
        assert met([], numbers).says is None
        assert met([], numbers).loss == 0
