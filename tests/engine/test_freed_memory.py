"""No compiled code reads memory that it has given back: the C library fills such memory here."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, warnings
warnings.simplefilter("ignore")
import numpy as np
import kernbrook as kb

X = np.random.default_rng(0).normal(size=(60, 3))
KERNELS = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=3)]
digest = hashlib.sha256()


def run(make, y, learner, combiner, policy):
    model = make(KERNELS, learner, combiner, labels=policy, random_state=0)
    model.learn(X[:40], y[:40])
    for i in range(40, 50):
        model.learn_one(X[i], y[i].item())
    said = [model.predict(X), model.should_ask(X), model.predict_one(X[0]), model.expert_weights_]
    for array in (*said, *model.state().values()):
        digest.update(np.ascontiguousarray(array).tobytes())


TWO, THREE = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.4, 0.4])
RIDGE, WINDOW = kb.Ridge(features=kb.RandomFeatures(5)), kb.GradientDescent(features=None, budget=8)
LEARNERS = kb.BPAS(8), kb.Perceptron(), RIDGE
POLICIES, COMBINERS = ("all", kb.Disagreement(), kb.LabelBudget(0.5)), (kb.Hedge(), kb.MLPoly())
for i, learner in enumerate(LEARNERS):  # each of them twice, with others
    run(kb.OnlineMKClassifier, TWO, learner, None, POLICIES[i])
    run(kb.OnlineMKClassifier, THREE, learner, COMBINERS[i % 2], POLICIES[(i + 1) % 3])
for i, learner in enumerate((RIDGE, WINDOW)):
    run(kb.OnlineMKRegressor, X[:, 0], learner, None, POLICIES[i])
    run(kb.OnlineMKRegressor, X[:, 0], learner, kb.EXP(), POLICIES[2 * i])
run(kb.OnlineMKClassifier, TWO, None, kb.GroupNorm(), "all")
print(digest.hexdigest())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc fills what is freed")
def test_what_is_freed_is_not_read():
    said = []
    for filled in ("0", "85"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, "MALLOC_PERTURB_": filled},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (filled, done.returncode, done.stderr[-2000:])
        said.append(done.stdout)
    assert len(set(said)) == 1
