"""Changes of what a model's file says: tensors, several that belong together, and the JSON."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
from fuzz.cases import ODD_NUMBERS, one_of

import kernbrook as kb

Rng = np.random.Generator
Tensors = dict[str, Any]

SIZES = [8, 9, 10, 20, 60, 999, 1000, 1001, 1100, 5000]  # of budgets, windows and scalers
WHOLE = [*(n for n in ODD_NUMBERS if isinstance(n, int) and n < 2**63), *SIZES, 2**63 - 1, -(2**63)]
FLOATS = [float(n) for n in ODD_NUMBERS] + [1e149, 1e153, 1.7e308, 1e-160, -1e100, 1 + 1e-15]
KINDS = [np.float64, np.float32, np.float16, np.int64, np.int32, np.uint64, np.uint8, np.bool_]
WAYS = [
    *("all", "some", "copied", "turned", "shuffled", "scaled", "cut", "kind", "shape", "gone"),
    "exchanged",
]
ODD_JSON = [
    *(None, True, False, "", "x", "auto", "nan", "\ud800", [], {}, [1], ["a"], [[1, "a"]]),
    *({"float": "inf"}, {"float": "nan"}, {"array": "x"}, {"array": "progress.counters"}),
    *({"tuple": []}, {"tuple": [1, "a"]}, {"dict": {}}, {"pairs": [[1, 2]]}),
    *({"kernels.Linear": {}}, {"function": "edit_similarity"}),
    *(
        {"labels": {"dtype": dtype, "values": values}}
        for dtype, values in [
            *(("object", [1, "a", None]), ("<U1", ["a", "a"]), ("<U1", ["b", "a"])),
            *(("object", [[1], [2]]), ("object", [{"kernels.Linear": {}}, 1]), ("<U3", [])),
            *(("object", [1, 1]), ("object", [None, None]), ("object", [2, 1.5])),
        ]
    ),
]
NUMBERS_JSON = [*(n for n in ODD_NUMBERS if math.isfinite(n)), *SIZES]


def changed(rng: Rng, model: Any, tensors: Tensors, training: Any) -> str:
    """One change, in place; what it is."""
    draw = rng.random()
    with np.errstate(all="ignore"):
        if training is not None and draw < 0.6:
            return change_json(rng, training)
        if not tensors or draw > 0.75:
            return change_json(rng, model)
        change = one_of(rng, [*[change_one] * 3, change_store, change_alike, change_pair])
        return str(change(rng, tensors))


def odd(rng: Rng, kind: np.dtype[Any], size: Any = None) -> Any:
    """Odd numbers that an array of this type can hold."""
    if kind.kind == "f":
        return rng.choice(np.array(FLOATS), size).astype(kind)
    if kind.kind == "b":
        return rng.random(size) < 0.5
    limits = np.iinfo(kind)
    whole = [min(max(n, limits.min), limits.max) for n in WHOLE]
    return rng.choice(np.array(whole, dtype=kind), size)


def place_in(rng: Rng, array: Any) -> tuple[int, ...]:
    return tuple(int(rng.integers(n)) for n in array.shape)


def change_one(rng: Rng, tensors: Tensors) -> str:
    """One tensor: one number, or all of it; or it goes, or stands for another."""
    name = one_of(rng, sorted(tensors))
    array = np.array(tensors[name])
    how = one_of(rng, ["one", "one", "one", *(WAYS if array.size else ["cut", "kind", "shape"])])
    kind = array.dtype.kind
    if how == "one" and array.size:
        array[place_in(rng, array)] = odd(rng, array.dtype)
    elif how == "all":
        array[...] = odd(rng, array.dtype)
    elif how == "some":
        some = rng.random(array.shape) < 0.3
        array[some] = odd(rng, array.dtype, int(some.sum()))
    elif how == "copied":
        array[place_in(rng, array)] = array[place_in(rng, array)]
    elif how == "turned":
        array = one_of(rng, [array[::-1], -array]) if array.ndim and kind != "b" else array
    elif how == "shuffled":
        array = rng.permuted(array.reshape(-1)).reshape(array.shape)
    elif how == "scaled" and kind == "f":
        array = array * 10.0 ** float(rng.integers(-320, 300))
    elif how == "cut":
        array = array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    elif how == "kind":
        array = array.astype(one_of(rng, KINDS))
    elif how == "shape":
        array = array[None] if rng.random() < 0.5 else np.concatenate([array.ravel()] * 2)
    elif how == "gone":
        return f"{name} is gone: {tensors.pop(name).shape}"
    elif how == "exchanged":
        alike = [own for own in sorted(tensors) if tensors[own].shape == array.shape]
        other = one_of(rng, [own for own in alike if tensors[own].dtype == array.dtype])
        tensors[name], tensors[other] = tensors[other], tensors[name]
        return f"{name} and {other} exchanged"
    tensors[name] = np.ascontiguousarray(array)
    return f"{name}: {how}"


def change_store(rng: Rng, tensors: Tensors) -> str:
    """All tensors of a store or scaler with as many rows: cut, a row twice, one out, reordered."""
    name = one_of(rng, sorted(tensors))
    store, n = name.rsplit(".", 1)[0], len(np.atleast_1d(tensors[name]))
    at = int(rng.integers(max(n, 1)))
    order = one_of(
        rng, [np.r_[:at], np.r_[:n, at : at + (n > 0)], np.r_[:at, at + 1 : n], rng.permutation(n)]
    )
    for own, array in tensors.items():
        if own.startswith(store) and array.ndim and len(array) == n:
            tensors[own] = np.ascontiguousarray(array[order.astype(int)])
    return f"{store}: rows {order[:9]} of {n}"


def change_alike(rng: Rng, tensors: Tensors) -> str:
    """All tensors of one last name, in every store: odd numbers, or one for all."""
    last = one_of(rng, sorted({name.rsplit(".", 1)[-1] for name in tensors}))
    one = rng.random() < 0.5
    for name in sorted(tensors):
        if name.rsplit(".", 1)[-1] == last:
            array = np.array(tensors[name])
            array[...] = odd(rng, array.dtype, None if one else array.shape)
            tensors[name] = array
    return f"{last}: {'one odd number' if one else 'odd numbers'}"


# Fields that are each fine, and do not fit each other, by the ends of their names: multiplied,
PRODUCTS = {
    (".norms", ".X", ".data"): [0, -1, 2, 1e-3, 1e3, 1e70, 1e-70],
    (".factor", ".gram", ".diagonal", ".extra"): [0, -1, 1e-9, 1e9, 1e150, 1e-150],
    (".state", ".curvatures", ".cross", ".slope", ".errors", ".hits"): [-1, 0, 1e-320, 1e223, 0.5],
}
RANKS = ".first", ".second", ".ordered", ".recent"  # all one number,
SHUFFLED = [(".order",), (".filled", ".counted", ".head", "_lengths")]  # in another order,
COUNTS = "counters", "seen", "counts", "counts_", ".born", ".keys"  # odd,
PAIRS = "places", "ranks", "counts", *PRODUCTS, *SHUFFLED  # or places of points that there are


def change_pair(rng: Rng, tensors: Tensors) -> str:
    pair = one_of(rng, PAIRS)
    factors = rng.permutation(PRODUCTS.get(pair, [-1e9, 1e9, 0, 1e-320, 1e308]))
    ends = {"places": ".place", "ranks": RANKS, "counts": COUNTS}.get(pair, pair)
    for name in [name for name in sorted(tensors) if name.endswith(ends)]:
        array = tensors[name]
        if pair == "places":
            most = max(len(own) for one, own in tensors.items() if one.endswith(".norms"))
            tensors[name] = rng.integers(0, max(most, 1), array.shape)
        elif pair == "ranks":
            tensors[name] = np.full(array.shape, factors[0])
        elif pair in SHUFFLED:
            tensors[name] = np.ascontiguousarray(rng.permuted(array, axis=-1))
        elif rng.random() < 0.7:
            counted = pair == "counts"
            tensors[name] = odd(rng, array.dtype, array.shape) if counted else array * factors[0]
    return f"pair: {pair}"


def change_json(rng: Rng, within: Any) -> str:
    """Some value, anywhere, becomes another one, or goes, or is that of another place."""
    places = list(leaves(within))
    holder, key = one_of(rng, places)
    how = int(rng.integers(8))
    if how <= 1:
        numbers = [(h, k) for h, k in places if type(h[k]) in (int, float)]
        if numbers:
            holder, key = one_of(rng, numbers)
        was = holder[key]
        near = [was + 1, was - 1, -was, 2 * was] if type(was) in (int, float) else []
        value = one_of(rng, [*near, *NUMBERS_JSON])
    elif how == 2:
        was = holder.pop(key)
        return f"{key}: {shown(was)} is gone"
    elif how == 3 and isinstance(key, str) and "." in key:  # another of its family
        family = key.split(".")[0]
        names = getattr(getattr(kb, family, None), "__all__", ["x"])
        renamed = f"{family}.{one_of(rng, list(names))}"
        holder[renamed] = holder.pop(key)
        return f"{key} -> {renamed}"
    elif how <= 5:
        source, name = one_of(rng, places)
        value = copy.deepcopy(source[name])
    else:
        value = copy.deepcopy(one_of(rng, ODD_JSON))
    said = f"{key}: {shown(holder[key])} -> {shown(value)}"
    holder[key] = value
    return said


def shown(value: Any) -> str:
    return json.dumps(value)[:70]


def leaves(value: Any) -> Any:
    """(holder, key) of everything within."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from leaves(inner)
