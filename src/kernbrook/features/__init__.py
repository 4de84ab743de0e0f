"""Explicit features of kernels, and cells of partitions: one file a map."""

from kernbrook.features.grown_partitions import GrownPartitions
from kernbrook.features.hashed_inputs import HashedInputs
from kernbrook.features.monomials import Monomials
from kernbrook.features.nystroem import Nystroem
from kernbrook.features.random_binning import RandomBinning
from kernbrook.features.random_features import RandomFeatures

__all__ = [
    "GrownPartitions",
    "HashedInputs",
    "Monomials",
    "Nystroem",
    "RandomBinning",
    "RandomFeatures",
]
