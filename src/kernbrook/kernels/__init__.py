"""Kernels, the papers' dictionaries of them, and their plan for the compiled engine."""

from kernbrook.kernels.dictionaries import DICTIONARIES, amkl17, omkc16, resolve
from kernbrook.kernels.functions import (
    Callable,
    Cauchy,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Mean,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = [
    "DICTIONARIES",
    "Callable",
    "Cauchy",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Mean",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "amkl17",
    "omkc16",
    "resolve",
]
