"""Equal rows have one digest, however they are held."""

import numpy as np
import scipy.sparse as sp

from kernbrook.evaluation.content import digest_of


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
