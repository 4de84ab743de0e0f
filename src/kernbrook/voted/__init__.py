"""Voted kernel regularization: sparse combinations of many kernels, by linear programming.

Cortes, Goyal, Kuznetsov, Mohri, Voted Kernel Regularization (2015).
"""

from kernbrook.voted.examples import Examples
from kernbrook.voted.kernel_columns import Columns
from kernbrook.voted.penalties import COMPLEXITIES, complexities, penalties
from kernbrook.voted.program import Program, Solution
from kernbrook.voted.strings import edit_similarity

__all__ = [
    "COMPLEXITIES",
    "Columns",
    "Examples",
    "Program",
    "Solution",
    "complexities",
    "edit_similarity",
    "penalties",
]
