"""Combiners, which weigh the experts, and kernel selection, which draws them."""

from .group_norm import GroupNorm
from .hedge import Hedge, theoretical_discount
from .selection import BestOfPrefix, Selection
from .uniform import Uniform

__all__ = ["BestOfPrefix", "GroupNorm", "Hedge", "Selection", "Uniform", "theoretical_discount"]
