"""Arrays without their reference counts."""

from typing import NamedTuple

import numpy as np
from numba import njit

from kernbrook.compiler.borrowing import borrowed


class Pair(NamedTuple):
    counts: np.ndarray
    row: np.ndarray


def doubling(taken):
    @njit
    def double(pair, plain, times):
        pair, plain = taken(pair), taken(plain)
        last = plain
        for i in range(times):
            pair.counts[1] *= 2
            last[0] += 0.5
            last = pair.row if i % 2 == 0 else plain[1:]

    return double


def given():
    return Pair(np.arange(3), np.array([0.5])), np.zeros(4)


def test_no_code_is_left_that_counts():
    counts = []
    for taken in (njit(lambda value: value), borrowed):
        double = doubling(taken)
        double(*given(), 1)
        (text,) = double.inspect_llvm().values()
        body = text.split("\ndefine ")[1].split("\n}")[0]
        assert "double" in body.splitlines()[0]
        counts.append(body.count("@NRT_incref") + body.count("@NRT_decref"))
    assert counts[0] > 0
    assert counts[1] == 0
