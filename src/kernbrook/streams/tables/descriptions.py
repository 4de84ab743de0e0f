"""What an encoder of tables knows, as JSON in a model's file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.checks import COUNTED, shown
from kernbrook.errors import InputError
from kernbrook.streams.files import limits
from kernbrook.streams.tables.date_columns import described_dates
from kernbrook.streams.tables.declarations import declared_lags

if TYPE_CHECKING:
    from kernbrook.streams.tables.encoder import TableEncoder

_STATES = {"mean": ("totals", "counts"), "last": ("last",), "error": ()}
_STATES["indicator"] = _STATES["mean"]
# What descriptions of models of 0.1 do not have.
_BEFORE: dict[str, Any] = {
    "thousands": None, "units": {}, "words": {}, "lags": [], "delay": 0, "every": 1, "label": None,
}  # fmt: skip


def describe(encoder: TableEncoder) -> dict[str, Any]:
    """What is declared and what was learned."""
    said = encoder.declarations()
    state: dict[str, Any] = {
        name: getattr(encoder, f"{name}_").tolist() for name in _STATES[encoder.missing]
    }
    if encoder.lags is not None:
        state["lags"] = encoder.lags_state()
    return {
        "categorical": {k: v if isinstance(v, int) else [*v] for k, v in said.levels.items()},
        "dates": described_dates(said.dates),
        "drop": list(said.drop),
        "missing": encoder.missing,
        "decimal": encoder.decimal,
        "thousands": encoder.thousands,
        "units": dict(said.units),
        "words": dict(said.words),
        "lags": [[name, [*own]] for name, own in declared_lags(encoder.lags).items()],
        "delay": encoder.delay,
        "every": encoder.every,
        "label": encoder.label if encoder.lags_of_label else None,
        "columns": encoder.feature_names_in_.tolist(),
        "state": state,
    }


def made_of(kind: type[TableEncoder], described: Any) -> TableEncoder:
    """The encoder of that class that was described; InputError where it is none."""
    expected = {*kind.parameter_ranges, "label", "columns", "state"}
    held = {**_BEFORE, **described} if isinstance(described, dict) else {}
    if held.keys() != expected:
        raise InputError(f"encoder: expected {', '.join(sorted(expected))}")
    columns, state, label = (held.pop(name) for name in ("columns", "state", "label"))
    text = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    if not text or not 0 < len(set(columns)) == len(columns) <= limits.MOST_COLUMNS:
        raise InputError(f"encoder: expected names of columns, each once, got {shown(columns)}")
    if not isinstance(label, str | None):
        raise InputError(f"encoder: expected the name of a label, got {shown(label)}")
    held["lags"] = _lags(held["lags"])
    encoder = kind(**held).begin(columns, label)
    names = _STATES[encoder.missing] + (("lags",) if encoder.lags is not None else ())
    if not isinstance(state, dict) or state.keys() != set(names):
        raise InputError(f"encoder: no state of missing={encoder.missing!r}: {shown(state)}")
    if "lags" in state:
        encoder.restore_lags(state["lags"])
    for name in _STATES[encoder.missing]:
        values, kind_of = state[name], int if name == "counts" else float
        width = len(encoder.totals_)
        fits = isinstance(values, list) and len(values) == width
        if not (fits and all(type(v) is kind_of and abs(v) < math.inf for v in values)):
            raise InputError(f"encoder: expected {width} numbers as {name}")
        if kind_of is int and not all(0 <= value <= COUNTED for value in values):
            raise InputError("encoder: expected numbers of values as counts")
        setattr(encoder, f"{name}_", np.array(values, dtype=kind_of))
    if (encoder.totals_[encoder.counts_ == 0] != 0).any():
        raise InputError("encoder: expected totals of 0 where counts are 0")
    return encoder


def _lags(given: Any) -> dict[str | None, list[int]] | None:
    """Lags by column, as a parameter; None where there are none."""
    pairs = isinstance(given, list) and all(isinstance(p, list) and len(p) == 2 for p in given)
    if not pairs or not all(isinstance(name, str | None) for name, _ in given):
        raise InputError(f"encoder: expected lags by column, got {shown(given)}")
    return dict(given) or None
