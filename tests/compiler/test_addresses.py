"""What needs more memory than any machine has is refused with how much, before it is asked for."""

import numpy as np
import plain
import pytest
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.features.pools import PoolMap, draw

X, Y = np.eye(4), np.array([0, 1, 0, 1])
WIDE = sp.csr_matrix((4, 10**9))
WAVES = kb.RandomFeatures(10**8)
KERNELS = [kb.Gaussian(sigma=1), kb.Cauchy(sigma=1)]


@pytest.mark.parametrize(
    ("learner", "X", "said"),
    [
        (kb.Ahpatron(10**8), X, r"^Ahpatron\(budget=100000000\) with 2 kernels takes 320,000,012"),
        (kb.Pegasos(10**8), WIDE, r"^Pegasos\(budget=100000000\) with 1 kernel takes 1,760"),
        (
            kb.Cells(kb.GrownPartitions(9, 10**8, 10**8, 10**8)),
            X,
            r"^Cells\(.* takes [\d,.]+ GB, and",
        ),
        (kb.Ridge(features=WAVES), X, "^Ridge, 2 experts on RandomFeatures.* takes 640,000,1"),
        (
            kb.GradientDescent(features=WAVES, loss="hinge"),
            WIDE,
            "2 experts on RandomFeatures.* of 1,000,000,000 inputs, takes 3,200,000,006.4 GB",
        ),
    ],
)
def test_what_a_machine_asks_for(learner, X, said):
    model = plain.classifier(KERNELS, learner, random_state=0)
    with pytest.raises(InputError, match=said):
        model.learn(X, Y)
    assert not hasattr(model, "n_features_in_")


def test_what_features_ask_for():
    with pytest.raises(InputError, match=r"of 1,000,000,000 inputs takes 800,000,000.0 GB"):
        kb.KernelFeatures(KERNELS, WAVES).fit(WIDE)
    pool = PoolMap([draw(KERNELS[0], kb.RandomFeatures(5), 3, 0)])
    with pytest.raises(InputError, match=r"a block of .* rows of 10 features takes 8,000,000.0 GB"):
        pool.empty(10**14)


def test_rows_may_be_wide():
    """Where nothing is scaled, nothing is kept of a feature."""
    X = sp.csr_matrix((np.ones(4), (np.arange(4), [0, 1, 0, 2**31 - 2])), shape=(4, 2**31 - 1))
    model = plain.classifier([kb.Linear()], kb.BPAS(3), random_state=0)
    model.learn(X, Y)
    assert model.memory_bytes_ < 10_000
