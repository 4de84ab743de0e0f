"""Kernels, the papers' dictionaries of them, and their plan for the compiled engine."""

from kernbrook.kernels.dictionaries import DICTIONARIES, amkl17, omkc16, resolve
from kernbrook.kernels.features import RandomFeatures
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
from kernbrook.kernels.matern import Matern
from kernbrook.kernels.nystroem import Nystroem
from kernbrook.kernels.polynomial_features import Monomials, TensorSketch

__all__ = [
    "DICTIONARIES",
    "Callable",
    "Cauchy",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Mean",
    "Monomials",
    "Nystroem",
    "Polynomial",
    "Precomputed",
    "RandomFeatures",
    "Sigmoid",
    "TensorSketch",
    "amkl17",
    "omkc16",
    "resolve",
]
