"""The papers' algorithms by name: points of the product kernels x learner x combiner x selection.

A recipe named after a paper's algorithm is in table mode by default: its settings are those that
the paper's tables were made with. `mode="library"` takes the constructors' defaults instead. In
both it scales nothing unless told, by `scaling=`. "kernbrook-..." are our own.

Those of `vkr` are batch: they have `fit` and `predict`, and run on no stream.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
