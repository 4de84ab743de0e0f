"""The inside of a model, for tests: the one place that knows where it lies."""

import sys

import numpy as np
from numba import njit

from kernbrook.compiler.inner import Compiled
from kernbrook.engine.deciding import read_boards
from kernbrook.engine.progress import CHOSEN, PROGRESS
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.stores import expansion, in_place, linear, slots
from kernbrook.engine.verbs import Told, update

# Of each array of slots that has them, how many of its last axes are slots; 0: the first one is.
SLOTS = {
    "alpha": 1,
    "diagonal": 1,
    "born": 1,
    "place": 1,
    "gram": 2,
    "factor": 2,
    "order": 1,
    "points": 0,
    "norms": 1,
}


def store_of(model, i=0):
    """The i-th store, and its state."""
    return model._model.stores[i], model._model.states[i]


def progress_of(model):
    """What the model has learned beside what its experts hold."""
    return model._model.progress


def arrays_of(model):
    """Everything that was learned, by name, but for the scaler's; of slots, those in use."""
    return in_use(model._model.arrays())


def in_use(arrays):
    """The arrays of a model or its file, of each expert's slots those in use alone, in a row."""
    arrays = dict(arrays)
    for name in [name for name in arrays if name.endswith(".filled")]:
        store, filled = name.removesuffix("filled"), arrays[name][:, 0]
        merged = store + "points" in arrays
        for field, axes in SLOTS.items():
            if merged or field not in ("points", "norms"):
                if store + field not in arrays:  # as now, of a model as it was
                    continue
                array = arrays[store + field]
                parts = [
                    own[(..., *[slice(n)] * axes) if axes else slice(n)].ravel()
                    for own, n in zip(array, filled, strict=True)
                ]
                arrays[store + field] = np.concatenate(parts)
    return arrays


def slots_of(model, i=0):
    """The slots of the i-th store, of m experts: `filled` and `scale` are (m,)."""
    held = store_of(model, i)[1].slots
    return held._replace(filled=held.filled[:, 0], scale=held.scale[:, 0])


def expert_slots(model, e):
    """The slots of one expert, and (n, d) the points that their `place` counts."""
    for store, state in zip(model._model.stores, model._model.states, strict=True):
        if e in store.experts:
            i = int(np.argmax(store.experts == e))
            own = state.slots._make(array[i] for array in state.slots)
            return own, store.points_of(state).dense()
    raise IndexError(e)


def scores_of(model, X):
    """(n, e, c) what the experts say of rows."""
    views, raw = model._seen(X)
    return np.concatenate([board.scores for _, board in read_boards(model._model, views, raw)])


def assert_equal_arrays(found, wanted):
    """Of {name: array}."""
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def sums_of(model, i=0):
    """The kernel sums of the i-th store."""
    return store_of(model, i)[0].sums


def support_of(model, i=0):
    """The support vectors of the i-th store, of expansions."""
    return store_of(model, i)[1].points


def scale_of(model, i=0):
    """(m,) the factors of the coefficients of the i-th store, of expansions."""
    return store_of(model, i)[1].scale


def theta_of(model, i=0):
    """The coefficients of the i-th store, on features, expert after expert."""
    return store_of(model, i)[1].theta


def extra_of(model, i=0):
    """What else the learners of the i-th store keep, on features."""
    return store_of(model, i)[1].extra


def pool_of(model, i=0):
    """The maps of the i-th store, on features."""
    return store_of(model, i)[1].pool


def state_of(model):
    """The bytes of everything that was learned."""
    arrays = arrays_of(model)
    return b"".join(arrays[name].tobytes() for name in sorted(arrays))


def compiled():
    """How often each of the package's compiled functions was compiled or loaded, in both forms."""
    modules = [module for name, module in sys.modules.items() if name.startswith("kernbrook")]
    return {
        f"{module.__name__}.{name}": len(function.signatures) + len(function.inside)
        for module in modules
        for name, function in list(vars(module).items())
        if isinstance(function, Compiled)
    }


def small_blocks(monkeypatch, size):
    """Models that are made from now on learn in blocks of so many rows."""
    for module, name in (
        (expansion, "BLOCK"),
        *((slots, "BUDGET_BLOCK"), (linear, "FEATURE_BLOCK"), (in_place, "BLOCK")),
    ):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(slots, "WINDOW", max(1, size // 3))


@njit
def _update(combiner, told, progress):
    update(combiner, told, progress)


class Combining:
    """A combiner by itself, compiled: it is told the losses of m experts, round by round."""

    def __init__(self, combiner, m):
        self.rule = cast_rule(combiner.rule())
        self.progress = PROGRESS.begun(expert=m, state=combiner.state_size(m))
        self.progress.counters[CHOSEN] = -1

    def weights(self):
        log_weights = self.progress.log_weights
        assert log_weights.max() == 0
        weights = np.exp(log_weights)
        return weights / weights.sum()

    def learn(self, losses, counted=None):
        losses = np.array(losses, float)
        counted = np.ones(len(losses), dtype=bool) if counted is None else counted
        nothing = np.zeros((len(losses), 1))
        told = Told(losses, counted, nothing, nothing, np.zeros(1), 0.0, 1.0, 1, 0)
        _update(self.rule, told, self.progress)
