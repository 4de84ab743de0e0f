"""Combiners, which weigh the experts, and kernel selection, which draws them."""

from kernbrook.combiners.group_norm import GroupNorm
from kernbrook.combiners.hedge import Hedge, theoretical_discount
from kernbrook.combiners.selection import BestOfPrefix, Selection
from kernbrook.combiners.uniform import Uniform

__all__ = ["BestOfPrefix", "GroupNorm", "Hedge", "Selection", "Uniform", "theoretical_discount"]
