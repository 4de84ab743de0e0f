"""Checks that what others write for kernbrook has the properties that kernbrook relies on."""

from kernbrook.testing.kernels import check_kernel

__all__ = ["check_kernel"]
