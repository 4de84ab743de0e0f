"""Data as a stream: chunks of rows from arrays, files and generators.

>>> from kernbrook.streams import open_stream
>>> stream = open_stream("checkerboard:3000")
>>> [X.shape for X, y in stream.chunks(1024)]
[(1024, 2), (1024, 2), (952, 2)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbrook.streams.base import Stream
from kernbrook.streams.builtin import describe_stream, stream_names
from kernbrook.streams.opening import open_stream

if TYPE_CHECKING:
    from kernbrook.streams.scaling import OnlineScaler, ScaledView

__all__ = [
    "OnlineScaler",
    "ScaledView",
    "Stream",
    "describe_stream",
    "open_stream",
    "stream_names",
]


def __getattr__(name: str) -> Any:
    if name not in ("OnlineScaler", "ScaledView"):
        raise AttributeError(f"module 'kernbrook.streams' has no attribute {name!r}")
    from kernbrook.streams import scaling  # compiled code: reading data needs none

    return getattr(scaling, name)
