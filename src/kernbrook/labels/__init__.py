"""Label policies, which decide whose label is asked for, and oracles, which are asked."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
