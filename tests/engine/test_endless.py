"""A long stream: what a learner under a budget holds does not grow."""

import gc
import tracemalloc

import numpy as np
import pytest

import kernbrook as kb

ROUNDS = 50_000


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["spa", "bpas"])
def test_memory_is_constant(recipe):
    """The model's bytes, all arrays and the number of objects are the same throughout.

    All that tracemalloc counts is not looked at: numba frees some of it where that does not see it.
    """
    kernels = [kb.Linear(), kb.Gaussian(sigma=4)]
    model = kb.recipes.make(recipe, budget=20, kernels=kernels, random_state=0)
    stream = kb.open_stream(f"waveform:{ROUNDS}", positive="0")
    classes = np.unique(next(iter(stream.chunks(1000)))[1])
    held, objects, wrong = [], [], 0
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    tracemalloc.start()
    try:
        for i, (X, y) in enumerate(stream.chunks(5_000)):
            predicted, _ = model.learn(X, y, classes=classes)
            wrong += int((predicted != y).sum())
            assert (np.count_nonzero(model.dual_coef_, axis=0) <= 20).all()
            if i >= 1:
                gc.collect()
                traces = tracemalloc.take_snapshot().filter_traces([arrays]).traces
                in_arrays = sum(trace.size for trace in traces)
                held.append((model.memory_bytes_, in_arrays))
                objects.append(len(gc.get_objects()))
    finally:
        tracemalloc.stop()
    assert model.labels_asked_ == ROUNDS
    assert len(set(held[:-1])) == 1
    assert held[-1] <= held[0]  # at its end the stream holds no further rows
    assert max(objects) - min(objects) < 100
    assert wrong / ROUNDS < 0.25
