"""Checks that what others write for kernbrook has the properties that kernbrook relies on."""

from kernbrook.testing.combiners import check_combiner
from kernbrook.testing.features import check_features
from kernbrook.testing.kernels import check_kernel
from kernbrook.testing.learners import check_learner
from kernbrook.testing.policies import check_policy

__all__ = ["check_combiner", "check_features", "check_kernel", "check_learner", "check_policy"]
