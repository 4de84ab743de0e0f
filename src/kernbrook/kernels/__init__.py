"""Kernels, the papers' dictionaries of them, and their plan for the compiled engine."""

from kernbrook.kernels.base import Kernel
from kernbrook.kernels.callable import Callable
from kernbrook.kernels.cauchy import Cauchy
from kernbrook.kernels.dictionaries import DICTIONARIES, amkl17, omkc16, resolve
from kernbrook.kernels.gaussian import Gaussian
from kernbrook.kernels.laplacian import Laplacian
from kernbrook.kernels.matern import Matern
from kernbrook.kernels.mean import Mean
from kernbrook.kernels.normalized import NormalizedPolynomial
from kernbrook.kernels.polynomial import Linear, Polynomial
from kernbrook.kernels.precomputed import Precomputed
from kernbrook.kernels.sigmoid import Sigmoid

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
    "NormalizedPolynomial",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "amkl17",
    "omkc16",
    "resolve",
]
