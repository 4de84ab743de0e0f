"""Data as a stream: chunks of rows from arrays, files and generators.

>>> from kernbrook.streams import open_stream
>>> stream = open_stream("checkerboard:3000")
>>> [X.shape for X, y in stream.chunks(1024)]
[(1024, 2), (1024, 2), (952, 2)]
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
