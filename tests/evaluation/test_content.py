"""Rows have one digest however they are held and come, and are watched as far as they are met."""

from hashlib import sha256

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.evaluation.content import Content, RowDigest, WatchedRows, digest_of
from kernbrook.streams.stream import Stream


def test_equal_rows_have_one_digest():
    X = np.array([[0.0, 2.0, 3.0], [np.nan, 0.0, -0.0]])
    named = np.array(["a", "bb"])
    sparse = sp.csr_array(X)
    turned = sp.csr_array(([3.0, 2.0, -np.nan, 0.0], [2, 1, 0, 1], [0, 2, 4]), shape=(2, 3))
    twice = sp.csr_array(([2.0, 1.0, 2.0, np.nan], [1, 2, 2, 0], [0, 3, 4]), shape=(2, 3))
    same = [(X, named), (sparse, named.astype("U9")), (turned, named.astype(object))]
    assert len({digest_of(*rows) for rows in [*same, (twice, named)]}) == 1
    assert turned.indices.tolist() == [2, 1, 0, 1]  # what is given stays as it is
    assert digest_of(X, named[::-1]) != digest_of(X, named)
    assert digest_of(X, np.array([1, 0])) == digest_of(X, np.array([True, False]))


def digest_in_parts(X, y, cuts=(), storage=np.asarray):
    digest = RowDigest()
    for rows in np.split(np.arange(len(y)), cuts):
        digest.update(storage(X[rows]), y[rows])
    return digest.hexdigest()


NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-300])


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=4),
)
def test_digests_depend_on_values_alone(rows, cuts):
    X, y = np.array(rows), np.arange(len(rows))
    whole = digest_in_parts(X, y)
    assert digest_in_parts(X, y, sorted(cuts)) == whole
    assert digest_in_parts(X, y, sorted(cuts), sp.csr_array) == whole
    explicit = sp.csr_array((X.ravel(), np.tile(range(3), len(X)), range(0, X.size + 1, 3)))
    assert digest_in_parts(explicit, y, storage=sp.csr_array) == whole
    assert (explicit.nnz, digest_in_parts(X, y.astype(float))) == (X.size, whole)


def test_digests_tell_rows_apart():
    X, y = np.array([[1.0, 0, 2], [0, 3, 0]]), np.array([1, 2])
    changed = [(X[:1], y[:1]), (X[::-1], y), (X, y[::-1]), (X, np.array(["1", "2"])), (X * 2, y)]
    changed += [(X[:, ::-1], y), (np.array([[1.0, 0, 0], [2, 3, 0]]), y)]
    changed += [(X, np.array(["1\n2", ""])), (X, np.array(["1", "\n2"])), (X, np.array(["1", "2"]))]
    digests = {digest_in_parts(*rows) for rows in changed} | {digest_in_parts(X, y)}
    assert len(digests) == len(changed)  # two of the changed are the same


def test_digests_of_text_are_as_they_were():
    """Files of earlier versions can be gone on from."""
    digest = RowDigest()
    digest.update(np.eye(2), np.array(["yes", "a\\n b"]))
    parts = [sha256(np.ones(2).tobytes()), sha256(np.arange(2).tobytes()),
             sha256(np.ones(2, dtype=int).tobytes()), sha256(b"yes\na\\n b\n")]  # fmt: skip
    assert digest.hexdigest() == sha256(b"".join(one.digest() for one in parts)).hexdigest()


def test_content_at_marks():
    """The digest of the first rows, however they come."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    X[::7, 1] = np.nan
    for cuts in ([], [1], [10, 20], [7, 13, 49]):
        content = Content([10, 49])
        for rows in np.split(np.arange(50), cuts):
            content.update(X[rows], y[rows])
        for mark, found in {1: content.first, **content.marked, 50: content.hexdigest()}.items():
            digest = RowDigest()
            digest.update(np.where(np.isnan(X[:mark]), np.nan, X[:mark]), y[:mark])
            assert found == digest.hexdigest()


class Ahead(Stream):
    """Tells of all its rows before it gives the first."""

    name, n_features, n_rows, tells = "ahead", 1, 30, True

    def _pieces(self):
        X = np.arange(30.0)[:, None]
        self.watch(X, np.zeros(30), np.arange(30))
        yield X, np.zeros(30)


def test_rows_are_watched_as_far_as_they_are_met():
    stream = Ahead()
    watched = WatchedRows(stream, Content())
    chunks, met = stream.chunks(7), 0
    for X, y in chunks:
        watched.advance(X, y)
        met += len(y)
        expected = RowDigest()
        expected.update(np.arange(float(met))[:, None], np.zeros(met))
        assert watched.content.hexdigest() == expected.hexdigest()
