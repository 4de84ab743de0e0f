"""Kernel selection: which experts of a round learn and vote."""

from kernbrook.selection.adaptive import AdaptiveSelection
from kernbrook.selection.best_of_prefix import BestOfPrefix
from kernbrook.selection.drawn import Selection

__all__ = ["AdaptiveSelection", "BestOfPrefix", "Selection"]
