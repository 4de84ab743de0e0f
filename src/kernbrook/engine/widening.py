"""Models that go on from what others have learned: of fewer classes or features, or apart."""

from collections.abc import Sequence

import numpy as np

from kernbrook.engine.model import Model
from kernbrook.engine.stores.base import spread_of
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Ints


def take_over(model: Model, old: Model, positions: Ints) -> None:
    """Go on from what a model of the same choices with fewer classes has learned.

    positions : of its classes among this one's. InputError where that cannot be done.
    """
    spread = spread_of(old.setting.scores, positions, model.setting.scores)
    trio = zip(model.stores, old.stores, old.states, strict=True)
    model.states = tuple(store.with_classes(before, state, spread) for store, before, state in trio)
    model.progress = old.progress
    model.scaler, model.usual = old.scaler, old.usual
    model.calibration = old.certain().with_classes(positions, model.setting.scores)
    begin_horizons(model)


def unite(model: Model, models: Sequence[Model], before: Model) -> None:
    """Go on from what models of the same choices have learned apart; this one is new.

    before : what they had in common; a new model where that is nothing. InputError where the
    models cannot be brought together.
    """
    labels = np.array([other.asked - before.asked for other in models], dtype=float)
    shares = labels / labels.sum() if labels.any() else np.full(len(models), 1 / len(models))
    apart = Apart(models, before, shares)
    chosen = {other.chosen for other in models}
    if len(chosen) > 1:
        raise InputError("merge: the models have chosen different experts for good")
    progress = model.committee.merged(apart.of("progress"), model.setting.seed)
    model.states = tuple(
        store.merged(apart.over(lambda other, i=i: other.states[i]))  # type: ignore[misc]
        for i, store in enumerate(model.stores)
    )
    model.progress = progress
    means = np.array([other.usual - before.usual for other in models])
    model.usual = before.usual + float(shares @ means)
    model.scaler.unite(apart.of("scaler"))
    model.calibration.unite(apart.over(lambda other: other.certain()))
    begin_horizons(model)
    if model.horizons is not None:
        model.horizons.unite(model, apart)


def widen(model: Model, old: Model) -> None:
    """Go on from what a model of the same choices has learned on rows of fewer features.

    They were 0 in all rows so far. What cannot go on begins anew.
    """
    trio = zip(model.stores, old.stores, old.states, strict=True)
    model.states = tuple(store.with_features(before, state) for store, before, state in trio)
    model.progress, model.usual = old.progress, old.usual
    model.scaler = old.scaler.with_features(model.setting.width)
    model.calibration = old.certain()
    begin_horizons(model)


def begin_horizons(model: Model) -> None:
    """Begin the horizons of a model anew, if it has any."""
    if model.horizons is not None:
        model.horizons.begin_at(model)
