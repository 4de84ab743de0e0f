"""A pool of kernels as the compiled code sees it: steps and terms.

A step computes one kernel's values for one point against a row of examples. Its terms say where
those values go: `scores[output] += coefficients[column] * factor * values`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# How a step computes its values from its source row.
EXPONENTIAL = 0  # exp(-parameter * row)
POWER = 1  # the previous step's values, raised to the integer `power`
POLYNOMIAL = 2  # (row + parameter)^power
CAUCHY = 3  # 1 / (1 + parameter * row)
TANH = 4  # tanh(parameter * row + offset)
GIVEN = 5  # the row itself
MATERN = 6  # of smoothness power + 1/2, at s^2 = parameter * row

# The rows a step can read: one channel of pair values each.
INNER = 0  # x . z
SQUARED = 1  # ||x - z||^2
MANHATTAN = 2  # ||x - z||_1
FIRST_GIVEN = 3  # values of a custom kernel, one channel each


class Plan(NamedTuple):
    """Steps 0..p-1, each with its terms first_term[i] .. first_term[i+1]-1.

    code, channel, power : (p,) int; parameter, offset : (p,) float
    chain_end : (p,) int, for an EXPONENTIAL the step after its last POWER
    first_term : (p+1,) int; output, column : (q,) int; factor : (q,) float
    reach : squared distances beyond it give 0 in every kernel of the plan
    """

    code: NDArray[np.int64]
    channel: NDArray[np.int64]
    power: NDArray[np.int64]
    parameter: NDArray[np.float64]
    offset: NDArray[np.float64]
    chain_end: NDArray[np.int64]
    first_term: NDArray[np.int64]
    output: NDArray[np.int64]
    column: NDArray[np.int64]
    factor: NDArray[np.float64]
    reach: float
