"""A stream of 200,000 rounds: what a learner under a budget holds does not grow."""

import gc
import tracemalloc

import numpy as np
import pytest

import kernbrook as kb

ROUNDS = 50_000


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["spa", "bpas"])
def test_memory_is_constant(recipe):
    """The model's bytes, and all that Python holds, are the same after a fifth and at the end."""
    kernels = [kb.Linear(), kb.Gaussian(sigma=4)]
    model = kb.recipes.make(recipe, budget=20, kernels=kernels, random_state=0)
    stream = kb.open_stream(f"waveform:{ROUNDS}", positive="0")
    classes = np.unique(next(iter(stream.chunks(1000)))[1])
    held, traced, wrong = [], [], 0
    tracemalloc.start()
    try:
        for i, (X, y) in enumerate(stream.chunks(5_000)):
            predicted, _ = model.learn(X, y, classes=classes)
            wrong += int((predicted != y).sum())
            assert (np.count_nonzero(model.dual_coef_, axis=0) <= 20).all()
            if i >= 1:
                gc.collect()
                held.append(model.memory_bytes_)
                traced.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert model.labels_asked_ == ROUNDS
    assert len(set(held)) == 1
    assert max(traced) - min(traced) < 100_000  # one of the model's arrays twice would be more
    assert wrong / ROUNDS < 0.25
