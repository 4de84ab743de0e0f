"""What the stream tests share: comparing streams, and the folder of real files."""

import hard_streams
import numpy as np
import pytest


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of a given name, and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def dense():
    """X as a plain array."""
    return hard_streams.dense


@pytest.fixture
def assert_chunks_agree(dense):
    """Chunks of any length, put together, are the whole; twice over."""

    def check(stream, lengths=(1, 7, 100, 10**6)):
        X, y = stream.read()
        assert len(y) == stream.n_rows
        assert X.shape == (stream.n_rows, stream.n_features)
        for rows in lengths:
            for _ in range(2):
                chunks = list(stream.chunks(rows))
                assert all(len(labels) == rows for _, labels in chunks[:-1])
                assert 1 <= len(chunks[-1][1]) <= rows
                for part, labels in chunks:
                    assert type(part) is type(X)
                    assert part.dtype == np.float64
                    assert part.shape == (len(labels), stream.n_features)
                    assert labels.dtype == y.dtype
                    if isinstance(part, np.ndarray):
                        assert part.flags.c_contiguous
                np.testing.assert_array_equal(
                    np.vstack([dense(part) for part, _ in chunks]), dense(X)
                )
                np.testing.assert_array_equal(np.concatenate([part for _, part in chunks]), y)

    return check
