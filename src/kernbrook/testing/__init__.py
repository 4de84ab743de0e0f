"""Checks that what others write for kernbrook has the properties that kernbrook relies on.

AssertionError says which one it does not have.
"""

from kernbrook.testing.kernels import check_kernel
from kernbrook.testing.parts import check_combiner, check_features, check_learner, check_policy

__all__ = ["check_combiner", "check_features", "check_kernel", "check_learner", "check_policy"]
