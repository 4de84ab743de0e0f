"""Tables, figures and one-file pages of results.

Importing this package loads neither rich nor matplotlib nor jinja2: each function imports what
it needs when it is called.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
