"""The result must not depend on how a stream is cut, on sparsity, or on the number of threads."""

import os
import subprocess
import sys

import hard_streams
import kernel_sums
import numpy as np
import pytest
import scipy.sparse as sp

import kernbrook as kb

MIXED = [
    *(kb.Laplacian(sigma=4), kb.Laplacian(sigma=1), kb.Cauchy(sigma=2), kb.Gaussian(sigma=3)),
    *(kb.Gaussian(sigma=0.3), kb.Polynomial(4, offset=1), kb.Sigmoid(gamma=0.01, offset=-0.5)),
    kb.Mean([kb.Linear(), kb.Gaussian(sigma=3), kb.Laplacian(sigma=1)]),
]
POOLS = {"omkc16": "omkc16", "amkl17": "amkl17", "mixed": MIXED}
STREAMS = hard_streams.DRAWN | {"wdbc": hard_streams.wdbc}


def run(X, y, size, pool="omkc16", recipe="omkc-sd", **overrides):
    """Predictions, support vectors, coefficients, weights of one pass in chunks."""
    model = kb.recipes.make(recipe, kernels=pool, random_state=7, **overrides)
    predicted = []
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        predicted.append(model.learn(X[part], y[part], classes=[-1, 1])[0])
    return (
        np.concatenate(predicted),
        model.support_vectors_,
        model.dual_coef_,
        model.kernel_weights_,
        np.array([model.n_support_stored_, model.n_support_active_, model.labels_asked_]),
    )


def assert_equal_runs(one, other):
    for name, a, b in zip(
        ("predictions", "points", "coefficients", "weights", "counts"), one, other, strict=True
    ):
        if name == "weights":
            np.testing.assert_allclose(a, b, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("stream", "pool", "choices"),
    [
        (stream, [*POOLS][i % 3], ({"tie": ("margin", "label")[i % 2]}))
        for i, stream in enumerate(STREAMS)
    ]
    + [("duplicates_afar", "omkc16", {"recipe": name}) for name in ("omkc-ss", "perceptron-u")],
)
def test_chunks_and_sparsity(stream, pool, choices):
    """Chunks of 1, 7, 101 and all at once, dense and CSR: five runs, one result."""
    X, y = STREAMS[stream]()
    X, y = X[:120], y[:120]
    whole = run(X, y, len(y), POOLS[pool], **choices)
    rows = sp.csr_matrix(X)
    for form, size in ((X, 1), (X, 101), (rows, 7), (rows, len(y))):
        assert_equal_runs(run(form, y, size, POOLS[pool], **choices), whole)


@pytest.mark.parametrize("d", [3, 17, 45, 123, 700])
def test_an_inner_product_does_not_depend_on_its_place(d):
    """Bit by bit, dense and CSR: BLAS would sum in another order at the edge of a product."""
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=(2, d)) + 300.0
    found = set()
    for n in (1, 2, 3, 7, 8, 17, 255, 256):
        for place in {0, n // 2, n - 1}:
            only = np.zeros((n, 1))
            only[place] = 1.0
            for b in (1, 2, 3, 7, 48, 127, 256):
                points, examples = np.tile(z, (n, 1)), np.tile(x, (b, 1))
                scores, _ = kernel_sums.sums([kb.Linear()], points, only, examples)
                found.update(scores[0].tolist())
    assert len(found) == 1, found


@pytest.mark.parametrize(("seed", "d"), [*enumerate([3, 20, 45, 123])])
def test_duplicates_with_both_labels(seed, d):
    """k(x, z) - k(x, z') is 0 wherever z = z' lie in their blocks.

    A squared distance that is small beside the norms, though not small enough to be recomputed,
    must not depend on the place of its row: on a narrow Gaussian it decides the label.
    """
    rng = np.random.default_rng(seed)
    rows = 0.6 * rng.normal(size=(17, d)) + 370.0
    X = rows[rng.integers(17, size=120)]
    y = rng.choice([-1.0, 1.0], size=120)
    for tie in ("label", "margin"):
        whole = run(X, y, 120, tie=tie)
        for form, size in ((X, 1), (X, 48), (sp.csr_matrix(X), 48), (sp.csr_matrix(X), 101)):
            assert_equal_runs(run(form, y, size, tie=tie), whole)


PROGRAM = """
import sys
import kernel_sums
import kernbrook as kb
import numpy as np

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(1000, 20)), (rng.random((1000, 20)) < 0.3).astype(float)])
y = np.where(rng.random(2000) < 0.5, 1, -1)
for size in (777,) * int(sys.argv[1]):
    model = kb.recipes.make("omkc-sd", random_state=3)
    for i in range(0, 2000, size):
        predictions, _ = model.learn(X[i : i + size], y[i : i + size])
        sys.stdout.buffer.write(predictions.tobytes())
    sys.stdout.buffer.write(model.dual_coef_.tobytes() + model.support_vectors_.tobytes())
    sys.stdout.buffer.write(model.kernel_weights_.tobytes())
    scores, sizes = kernel_sums.of_model(model, X[:1000])
    sys.stdout.buffer.write(scores.tobytes())
"""


def test_threads_give_the_same_bytes():
    """One thread, two, and two again: more support vectors than the engine keeps to one thread."""
    results = []
    for threads in ("1", "2"):
        environment = os.environ | {
            "OMP_NUM_THREADS": threads,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, threads],
            env=environment, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        results.append(done.stdout)
    assert len(results[0]) > 300_000
    assert results[0] * 2 == results[1]
