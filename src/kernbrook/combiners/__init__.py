"""Combiners, which weigh the experts, and kernel selection, which draws them."""

from .hedge import Hedge, theoretical_discount
from .selection import BestOfPrefix, Selection
from .uniform import Uniform

__all__ = ["BestOfPrefix", "Hedge", "Selection", "Uniform", "theoretical_discount"]
