"""Component learners: one short file each, with its parameters, its paper and its step."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
