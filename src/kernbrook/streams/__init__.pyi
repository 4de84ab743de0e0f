from .builtin import describe_stream as describe_stream
from .builtin import stream_names as stream_names
from .opening import open_stream as open_stream
from .stream import Stream as Stream
from .tables.encoder import TableEncoder as TableEncoder
