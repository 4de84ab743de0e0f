"""Explicit features of kernels, and cells of partitions: one file a map."""

from kernbrook.features.grown_partitions import GrownPartitions
from kernbrook.features.hashed_inputs import HashedInputs
from kernbrook.features.monomials import Monomials
from kernbrook.features.nystroem import Nystroem
from kernbrook.features.random_binning import RandomBinning
from kernbrook.features.random_features import RandomFeatures
from kernbrook.features.tensor_sketch import TensorSketch

__all__ = [
    "GrownPartitions",
    "HashedInputs",
    "Monomials",
    "Nystroem",
    "RandomBinning",
    "RandomFeatures",
    "TensorSketch",
]
