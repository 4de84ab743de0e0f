"""Explicit features of kernels: one file a map."""

from kernbrook.features.monomials import Monomials
from kernbrook.features.nystroem import Nystroem
from kernbrook.features.random_features import RandomFeatures
from kernbrook.features.tensor_sketch import TensorSketch

__all__ = ["Monomials", "Nystroem", "RandomFeatures", "TensorSketch"]
