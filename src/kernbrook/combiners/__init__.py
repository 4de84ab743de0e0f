"""Combiners, which weigh the experts."""

from kernbrook.combiners.ada_raker import AdaRaker
from kernbrook.combiners.exp import EXP
from kernbrook.combiners.fixed_share import FixedShare
from kernbrook.combiners.group_norm import GroupNorm
from kernbrook.combiners.hedge import Hedge
from kernbrook.combiners.ml_poly import MLPoly
from kernbrook.combiners.stack import Stack
from kernbrook.combiners.uniform import Uniform

__all__ = [
    "EXP",
    "AdaRaker",
    "FixedShare",
    "GroupNorm",
    "Hedge",
    "MLPoly",
    "Stack",
    "Uniform",
]
