from .base import Stream as Stream
from .builtin import describe_stream as describe_stream
from .builtin import stream_names as stream_names
from .opening import open_stream as open_stream
from .table_encoder import TableEncoder as TableEncoder
