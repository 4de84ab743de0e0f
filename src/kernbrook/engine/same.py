"""Whether two values say the same."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from kernbrook.compiler.compiling import is_theirs
from kernbrook.kernels import Callable, Kernel


def same(held: Any, made: Any) -> bool:
    """Whether two values say the same: numbers, arrays, kernels, choices, lists of these.

    Two frames, or two sparse matrices, do not, unless they are one.
    """
    if held is made:
        return True
    if isinstance(held, np.memmap) or isinstance(made, np.memmap):  # as joblib maps arrays
        held, made = (
            np.asarray(value) if isinstance(value, np.memmap) else value for value in (held, made)
        )
    if type(held) is not type(made) or sp.issparse(held):
        return False
    if isinstance(held, (tuple, list)):
        return len(held) == len(made) and all(map(same, held, made))
    if isinstance(held, np.ndarray):
        return np.array_equal(held, made, equal_nan=held.dtype.kind in "fc")
    if isinstance(held, BaseEstimator):
        ours, theirs = held.get_params(), made.get_params()
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(held, Callable):
        return held.name == made.name and same(held.function, made.function)
    equal = held == made
    if not isinstance(equal, (bool, np.bool_)) or not equal:
        return False
    if not (is_theirs(type(held)) or isinstance(held, Kernel)) or not hasattr(held, "__dict__"):
        return True
    ours, theirs = vars(held), vars(made)  # what the equality of theirs may leave out, also inside
    return ours.keys() == theirs.keys() and all(same(ours[name], theirs[name]) for name in ours)
