"""A pool of kernels as the compiled code sees it: steps and terms.

A step computes one kernel's values for one point against a row of examples. Its terms say where
those values go: `scores[output] += coefficients[column] * factor * values`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The rows a step can read: one channel of pair values each.
INNER = 0  # x . z
SQUARED = 1  # ||x - z||^2
MANHATTAN = 2  # ||x - z||_1
FIRST_GIVEN = 3  # values of a kernel that is called, one channel each


class Plan(NamedTuple):
    """Steps 0..p-1, each with its terms first_term[i] .. first_term[i+1]-1.

    links : (p, 5) int, to the kinds of steps: empty tuples whose classes choose `values.fill`
    channel, power : (p,) int; parameter, offset : (p,) float
    chain_end : (p,) int, the step after the last one of the chain that begins here
    first_term : (p+1,) int; output, column : (q,) int; factor : (q,) float
    reach : squared distances beyond it give 0 in every kernel of the plan
    """

    links: NDArray[np.int64]
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


class Parts(NamedTuple):
    """The experts' kernels one by one: parts first[e] .. first[e+1]-1 are expert e's.

    links : as in `Plan`
    channel, power : (p,) int; parameter, offset, factor : (p,) float; first : (e+1,) int
    """

    links: NDArray[np.int64]
    channel: NDArray[np.int64]
    power: NDArray[np.int64]
    parameter: NDArray[np.float64]
    offset: NDArray[np.float64]
    factor: NDArray[np.float64]
    first: NDArray[np.int64]
