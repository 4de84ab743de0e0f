"""Kernels, the papers' dictionaries of them, and their plan for the compiled engine."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
