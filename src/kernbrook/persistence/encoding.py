"""Values as JSON with tensors beside it, and back: plain data, and parts of models.

In the JSON a number, a string, true, false, null and a list stand for themselves, and an object
with one key for anything else: {"float": "inf"}, {"tuple": [...]}, {"dict": {...}}, {"pairs":
[[key, value], ...]} of a dictionary whose keys are not all text, {"array": name of a tensor},
{"labels": {"dtype", "values"}}, {"function": name of one of kernbrook's own}, {"kernels.Gaussian":
{parameter: value}}, or {"outside": {"class": "theirmodule.TheirLearner", "parameters": {parameter:
value}}} for a class that is not kernbrook's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from importlib import import_module
from inspect import Parameter, signature
from reprlib import repr as shortened
from types import NoneType
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.errors import InputError, KernbrookWarning, UnknownNameError
from kernbrook.gone import PARAMETERS, gone
from kernbrook.kernels import Callable, Kernel
from kernbrook.plain_values import expect
from kernbrook.telling import calls_inside

# Modules whose public classes may stand in a file.
_FAMILIES = ("kernels", "features", "learners", "combiners", "selection", "labels")
_ENCODER = "streams.TableEncoder"  # the only one that stands elsewhere, and is imported late
_FUNCTIONS = {"edit_similarity": "kernbrook.voted"}  # and functions, with their modules
_LABELS = re.compile(r"[<>=|]?U\d{1,6}|object")
LARGEST_LABELS = 64_000_000  # bytes of an array of text, each as long as its longest
_NUMBERS = "biuf"
_REST = Parameter.VAR_POSITIONAL
# What stands in the JSON under each key; an object under the name of a class.
_BODIES = {"tuple": list, "pairs": list, "function": str, "float": str, "array": str}


def _known() -> dict[str, type[Any]]:
    """The classes whose objects a file may hold, by family and name: "kernels.Gaussian"."""
    known = {}
    for family in _FAMILIES:
        module = import_module(f"kernbrook.{family}")
        for name in module.__all__:
            kind = getattr(module, name)
            if isinstance(kind, type) and issubclass(kind, (Kernel, BaseEstimator)):
                known[f"{family}.{name}"] = kind
    return known


def _outside(name: str) -> type[Any]:
    """The class of somebody else's module, which is imported; InputError where there is none."""
    module, _, attribute = name.rpartition(".")
    try:
        kind = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"the class {name!r} cannot be imported: {error}") from error
    if not (isinstance(kind, type) and (issubclass(kind, Kernel) or hasattr(kind, "choice"))):
        raise InputError(f"{name!r} is no class of kernels, learners, or other parts of a model")
    return kind


def _is_part(value: Any) -> bool:
    chosen = hasattr(value, "choice") and hasattr(value, "get_params")
    return isinstance(value, Kernel) or (chosen and not isinstance(value, type))


def _name_outside(value: Any) -> str | None:
    """The import path of the class of a part of a model that is not kernbrook's; else None."""
    kind = type(value)
    if not _is_part(value) or kind.__module__ == "__main__":
        return None
    name = f"{kind.__module__}.{kind.__qualname__}"
    try:
        return name if _outside(name) is kind else None
    except InputError:  # a class within a function or a class
        return None


def _function(name: str) -> Any:
    return getattr(import_module(_FUNCTIONS[name]), name)


class Writer:
    """Turns values into JSON, and their arrays into tensors."""

    def __init__(self) -> None:
        self.tensors: dict[str, NDArray[Any]] = {}
        self._names: dict[int, tuple[Any, str]] = {}  # by identity; the array is kept alive
        self._kinds = {kind: name for name, kind in _known().items()}

    def values(self, values: Mapping[str, Any], place: str = "") -> dict[str, Any]:
        return {name: self.value(value, f"{place}{name}") for name, value in values.items()}

    def value(self, value: Any, where: str) -> Any:
        """JSON of a value; `where` names it in tensors and errors."""
        if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS + "U":
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, (list, tuple)):
            items = [self.value(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": self.values(value, f"{where}.")}
        if isinstance(value, dict):
            return {"pairs": self.value([list(pair) for pair in value.items()], where)}
        if isinstance(value, np.ndarray):
            return self._array_or_labels(value, where)
        function = value.function if isinstance(value, Callable) else value
        if callable(function) and not isinstance(function, (Kernel, type)):
            known = getattr(function, "__name__", None)
            if known not in _FUNCTIONS or function is not _function(known):
                shown = value if isinstance(value, Callable) else Callable(value)
                raise InputError(
                    f"save: {where} is the Python function {shown}; no file can hold it"
                )
            if function is value:
                return {"function": known}
        name, outside = self._kinds.get(type(value)), _name_outside(value)
        if type(value).__module__ == "kernbrook.streams.tables.encoder":
            name = _ENCODER
        if name is None and outside is None:
            hint = ""
            if isinstance(value, np.random.RandomState):
                hint = ", use an int"
            elif _is_part(value):
                hint = ": its class must stand in a module that can be imported"
            raise InputError(f"save: {where} is {value!r}, which a file cannot hold{hint}")
        is_kernel = isinstance(value, Kernel)
        parameters = value.parameters() if is_kernel else value.get_params(deep=False)
        held = {k: self.value(v, f"{where}.{k}") for k, v in parameters.items()}
        return {"outside": {"class": outside, "parameters": held}} if name is None else {name: held}

    def _array_or_labels(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        if array.dtype.kind in "UO" and array.ndim == 1:
            dtype = "object" if _is_large(array.dtype, len(array)) else array.dtype.str
            values = [self.value(item, f"{where}[{i}]") for i, item in enumerate(array)]
            return {"labels": {"dtype": dtype, "values": values}}
        return {"array": self.array(array, where)}

    def array(self, array: NDArray[Any], name: str) -> str:
        """Name of the tensor that holds the array; the same array is held once."""
        if id(array) not in self._names:
            self.tensor(array, name)
            self._names[id(array)] = array, name
        return self._names[id(array)][1]

    def tensor(self, array: NDArray[Any], name: str) -> None:
        """Hold an array under this name, by which it is read."""
        if array.dtype.kind not in _NUMBERS or array.dtype.itemsize > 8:
            raise InputError(f"save: {name} is an array of {array.dtype}, which a file cannot hold")
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        self.tensors[name] = np.require(native, requirements="C")


class Reader:
    """Turns JSON back into values, of known classes only, and of those named in `allow`."""

    def __init__(self, tensors: dict[str, NDArray[Any]], allow: Collection[str] = ()):
        self.tensors = tensors
        self._allow = {allow} if isinstance(allow, str) else set(allow)
        self.used: set[str] = set()
        self._known = _known()
        self._kernels: dict[str, Kernel] = {}  # one object for one kernel: they are immutable

    def array(self, name: str) -> NDArray[Any]:
        if name not in self.tensors:
            raise InputError(f"the tensor {name!r} is missing")
        self.used.add(name)
        return self.tensors[name]

    def value(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1:
            raise InputError(f"expected an object with one key, got {', '.join(map(repr, node))}")
        ((kind, body),) = node.items()
        expect(kind, body, _BODIES.get(kind, dict))
        if kind == "tuple":
            return tuple(map(self.value, body))
        if kind == "dict":
            return {key: self.value(value) for key, value in body.items()}
        if kind == "pairs":
            return _dict_of([self.value(pair) for pair in body])
        if kind == "function":
            if body not in _FUNCTIONS:
                raise UnknownNameError("function in the file", body, _FUNCTIONS)
            return _function(body)
        if kind == "float":
            if body not in ("inf", "-inf", "nan"):
                raise InputError(f"float: expected 'inf', '-inf' or 'nan', got {shortened(body)}")
            return float(body)
        if kind == "array":
            return self.array(body)
        if kind == "labels":
            return self._labels(body.get("dtype"), body.get("values"))
        if kind == "outside":
            found = self._allowed(body.get("class"))
            expect("parameters", body.get("parameters"), dict)
            body = body["parameters"]
        elif kind in self._known:
            found = self._known[kind]
        elif kind == _ENCODER:
            found = import_module("kernbrook.streams").TableEncoder
        elif reason := gone(kind.rpartition(".")[2]):
            raise InputError(f"the file holds a {kind}: {reason}")
        else:
            raise UnknownNameError("class in the file", kind, self._known)
        if not issubclass(found, Kernel):
            return self._object(found, body)
        key = json.dumps(node, sort_keys=True)
        if key not in self._kernels:
            self._kernels[key] = self._object(found, body)
        return self._kernels[key]

    def _allowed(self, name: Any) -> type[Any]:
        expect("class", name, str)
        if name not in self._allow:
            raise InputError(
                f"it holds an object of the class {name}, which is not kernbrook's; if you trust "
                f"that module, allow it to be imported: kb.load(path, allow=[{name!r}])"
            )
        return _outside(name)

    def _object(self, kind: type[Any], parameters: dict[str, Any]) -> Any:
        values = {k: self.value(v) for k, v in parameters.items()}
        if kind is Callable and not callable(values.get("function")):
            raise InputError("a kernel that is a Python function cannot come from a file")
        return built(kind, values)

    def _labels(self, dtype: Any, values: Any) -> NDArray[Any]:
        if not isinstance(dtype, str) or not _LABELS.fullmatch(dtype):
            raise InputError(f"labels: {dtype!r} is no type of labels")
        expect("labels", values, list)
        if dtype != "object" and _is_large(np.dtype(dtype), len(values)):
            raise InputError(f"labels: {len(values):,} of type {dtype} take more than a file holds")
        labels = np.empty(len(values), dtype=np.dtype(dtype))
        for i, value in enumerate(map(self.value, values)):
            if labels.dtype.kind == "U" and not isinstance(value, str):
                raise InputError(f"labels: expected text, got {shortened(value)}")
            labels[i] = value
            if labels.dtype.kind == "U" and labels[i] != value:
                raise InputError(f"labels: {shortened(value)} is longer than {dtype}")
        return labels


def _dict_of(pairs: list[Any]) -> dict[Any, Any]:
    simple = (bool, int, float, str, NoneType)
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], simple)):
            raise InputError(f"pairs: expected [key, value], got {shortened(pair)}")
    return dict(pairs)


def _is_large(dtype: np.dtype[Any], count: int) -> bool:
    """Whether labels are objects in a file: equal lengths of all could take gigabytes."""
    return dtype.kind == "O" or dtype.itemsize * count > LARGEST_LABELS


def built(kind: type[Any], parameters: Mapping[str, Any]) -> Any:
    """An object of a known class, whose parameters are all there and known."""
    known, parameters = signature(kind).parameters, dict(parameters)
    for name in set(parameters) & set(PARAMETERS) - set(known):
        as_now, message = PARAMETERS[name]
        if (before := parameters.pop(name)) != as_now:
            message = f"{kind.__name__} has no {name}={before!r} any more: {message}"
            warn(message, KernbrookWarning, stacklevel=calls_inside())
    for name in parameters:
        if name not in known:
            raise UnknownNameError(f"parameter of {kind.__name__}", name, known)
    for name, parameter in known.items():
        required = parameter.default is parameter.empty and parameter.kind is not _REST
        if required and name not in parameters:
            raise InputError(f"{kind.__name__}: {name} is missing")
    return kind(**parameters)
