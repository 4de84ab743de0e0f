"""Models as files: named arrays in the safetensors format, everything else as JSON beside them.

The file's metadata have one entry, `kernbrook`: a JSON object of `format`, `version`, `written_by`
(a version of kernbrook), `model`, and `sha256` of all these and the arrays. How the values of a
model are put in JSON is said in `encoding`. A grid of voted classifiers has its best model as a
whole within it, `LateLabels`, `NamedColumns` and `TableModel` the model that they are around.
Loading makes objects of kernbrook's own public classes, and of classes that the caller names: no
code runs, and no name is imported, because a file says so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as as_bytes

from kernbrook.atomic import write_bytes
from kernbrook.checks import shown
from kernbrook.errors import InputError, KernbrookError, ModelFileError, UnknownNameError, cut
from kernbrook.estimators.base import check_input
from kernbrook.persistence.encoding import Reader, Writer, built
from kernbrook.plain_values import expect
from kernbrook.turns import held

FORMAT = "kernbrook-model"
VERSION = 3  # of the format; goes up when a file of the new kind means nothing to the old code
SPARSE = 4  # of files in which arrays stand without their zeros
LARGE, BLOCK = 1 << 20, 512  # bytes of such an array, at least; numbers that are left out together
MOST_TIMES = 256  # that a file's arrays are of its own size, and what is large
_OF_LENGTH = 8  # bytes at the beginning, which may look like text

# With their modules: the solvers of voted classifiers are imported where there is such a model.
_ESTIMATORS = {
    "OnlineMKClassifier": "classifier",
    "OnlineMKRegressor": "regressor",
    "TrivialClassifier": "trivial",
    "TrivialRegressor": "trivial",
    "VotedKernelClassifier": "voted",
    "VotedKernelClassifierCV": "voted",
    "LateLabels": "late",
    "NamedColumns": "by_name",
    "TableModel": "table_model",
}
_FITTED = re.compile(r"[a-z][a-z0-9_]*_")  # scikit-learn's names of what was learned
# What the JSON says of each model; `_kept_entries` of its class say what else.
_MODEL: dict[str, tuple[type, ...]] = {
    "estimator": (str,), "parameters": (dict,), "fitted": (dict,), "run": (dict, NoneType)
}  # fmt: skip


def save(estimator: Any, path: str | PathLike[str]) -> None:
    """Write a model to a file, with all it needs to go on exactly as if nothing had happened.

    The file is written whole or not at all: whatever fails, an existing file stays as it was.

    Parameters
    ----------
    estimator : OnlineMKClassifier, OnlineMKRegressor or a trivial one, VotedKernelClassifier or
        VotedKernelClassifierCV, fitted or not; or LateLabels or NamedColumns of one of them; or a
        TableModel that has learned something
    path : an ordinary file, existing or not, in an existing folder; no suffix is added

    Raises
    ------
    InputError
        Something of the model cannot be written (a kernel that is a Python function, a model of
        another library, parameters changed since learning began), or the file cannot be.

    Notes
    -----
    A RandomState is refused before learning begins. Afterwards the seed drawn from it is part of
    what was learned, so learning goes on with the same draws; the parameter `random_state` of
    the loaded model is then None.

    Kernels, learners and other parts of classes that are not kernbrook's are written by the import
    path of their class and their parameters; `load` must be told to import it.

    Of a model of objects the support objects are written, where they are plain data such as
    strings. A Python function as kernel is refused, but for `kernbrook.voted.edit_similarity`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> X, y = [[0.0], [3.0], [1.0], [2.0]], ["no", "yes", "no", "yes"]
    >>> model = kb.OnlineMKClassifier([kb.Linear(), kb.Gaussian(sigma=0.5)]).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kb.save(model, Path(folder) / "model.kernbrook")
    ...     loaded = kb.load(Path(folder) / "model.kernbrook")
    >>> loaded.partial_fit(X, y).predict([[1.0], [2.0]])
    array(['no', 'yes'], dtype='<U3')
    """
    writer = _ModelWriter()
    with ExitStack() as stack:
        wrapper = estimator
        while wrapper is not None:  # from outside in, as calls take their turns
            stack.enter_context(held(wrapper))
            wrapper = wrapper.model if getattr(wrapper, "_kept_around", False) else None
        model = writer.model(estimator)
        sparse = _without_zeros(writer.tensors)
        header = {
            "format": FORMAT,
            "version": SPARSE if sparse else VERSION,
            "written_by": version("kernbrook"),
            "model": model,
        }
        if sparse:
            header["sparse"] = sparse
        header["sha256"] = _digest(header, writer.tensors)
        # One entry: safetensors writes several in any order, and the same model is the same bytes.
        metadata = {"kernbrook": json.dumps(header, allow_nan=False)}
        with _panic_in_words():
            written = as_bytes(writer.tensors, metadata=metadata)
    write_bytes(path, written)


class _ModelWriter(Writer):
    """A writer of models, also of such as are within others."""

    def model(self, estimator: Any, place: str = "") -> dict[str, Any]:
        name = type(estimator).__name__
        if name not in _ESTIMATORS or _kind(name) is not type(estimator):
            raise InputError(f"save: expected one of {', '.join(_ESTIMATORS)}, got {estimator!r}")
        parameters, elsewhere = estimator._kept_parameters(), estimator._kept_elsewhere()
        inner = parameters.pop("model") if estimator._kept_around else None
        fitted = {
            key: value
            for key, value in vars(estimator).items()
            if _FITTED.fullmatch(key) and key not in elsewhere
        }
        if fitted:  # and could not be read otherwise
            estimator._kept_check()
        body = {
            "estimator": name,
            "parameters": self.values(parameters, place),
            "fitted": self.values(fitted, place),
            "run": None,
        }
        if inner is not None:
            body["inner"] = self.model(inner, f"{place}model.")
        return body | estimator._write_kept(self, place)


def load(path: str | PathLike[str], allow: Collection[str] = ()) -> Any:
    """The model that `save` wrote; it predicts and learns on as the saved one would have.

    Parameters
    ----------
    path : a file that `save` wrote
    allow : import paths of classes that are not kernbrook's, such as "theirmodule.TheirLearner"
        Where the file holds objects of them, and only there, their modules are imported: that runs
        the modules' code.

    Raises
    ------
    ModelFileError
        There is no such file, it is damaged or not a saved model, a newer kernbrook wrote it, or it
        holds an object of a class that is neither kernbrook's nor allowed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kb.save(kb.recipes.make("omkc-dd", discount=0.7), Path(folder) / "fresh")
    ...     kb.load(Path(folder) / "fresh").combiner
    Hedge(discount=0.7)
    """
    return read(path, allow)[0]


def read(path: str | PathLike[str], allow: Collection[str] = ()) -> tuple[Any, dict[str, Any]]:
    """`load`, with what else the file says: `written_by`."""
    try:
        header, tensors = _read(Path(path))
        reader = _ModelReader(tensors, allow)
        estimator = reader.model(header.pop("model", {}))
        for name in tensors.keys() - reader.used:
            raise InputError(f"the tensor {name!r} belongs to nothing")
        if "training" in header:
            estimator = _of_training(estimator, header.pop("training"))
        return estimator, header
    except MemoryError as error:
        raise ModelFileError(path, "it asks for more memory than there is") from error
    except Exception as error:  # known classes refuse values each in its own way
        raise ModelFileError(path, cut(_problem(Path(path), error), 1000)) from error


def _of_training(model: Any, training: Any) -> Any:
    """What `train` and `label` wrote before they wrote a `TableModel`, as one."""
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.streams import TableEncoder

    expect("training", training, dict)
    source = training.pop("source", None)
    expect("source", source, dict)
    described, names, label = (source.get(key) for key in ("encoder", "features", "label"))
    expect("features", names, list, NoneType)
    encoder = None if names is None else TableEncoder().begin(names)
    if described is not None:
        encoder = TableEncoder.from_description(described)
    of_source = {name: source.get(name) for name in ("positive", "classes")}
    table = TableModel._with_learned(
        model, encoder, label, aside=source.get("aside") or (), history=training, **of_source
    )
    if table.encoder is not None:  # older still: nobody knows whether columns were found
        auto = source.get("auto")
        for name in ("categorical", "dates") if auto is None else auto:
            given = getattr(table.encoder, name) or {}
            table.encoder.set_params(**{name: {**given, "auto": "auto"}})
    table._kept_read()
    return table


def _problem(path: Path, error: Exception) -> str:
    if isinstance(error, (KernbrookError, RecursionError)):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"not a description of a model: no JSON ({error})"
    if isinstance(error, SafetensorError) and _is_data(path):
        return "not a saved model, but data; are MODEL and DATA exchanged?"
    if isinstance(error, SafetensorError):
        return f"empty, damaged or not a saved model ({error})"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return f"not a description of a model: {error!r}"


def _is_data(path: Path) -> bool:
    from kernbrook.streams.bytes import DataFile
    from kernbrook.streams.opening import table_records

    try:
        table_records(DataFile(path))
    except KernbrookError:
        return False
    return path.stat().st_size > _OF_LENGTH


# -- the file ---------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and tensors of a file whose format, version and digest are right."""
    if not path.is_file():
        raise InputError("it is not an ordinary file" if path.exists() else "there is no such file")
    with _panic_in_words(), safe_open(path, framework="np") as file:
        text = (file.metadata() or {}).get("kernbrook", "{}")
        header = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InputError("a safetensors file, but not a model that kernbrook saved")
        found = header.get("version")
        if type(found) is not int or found < 1:
            raise InputError(f"expected a format version from 1, got {shown(found)}")
        if found not in (VERSION, SPARSE):
            raise InputError(
                f"format version {found}, written by kernbrook {shown(header.get('written_by'))}; "
                f"this is kernbrook {version('kernbrook')}, which reads versions {VERSION} and "
                f"{SPARSE}"
            )
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if header.pop("sha256", None) != _digest(header, tensors):
        raise InputError("damaged: the contents do not match their checksum")
    return header, _with_zeros(header.pop("sparse", {}), tensors)


@contextmanager
def _panic_in_words() -> Iterator[None]:
    """MemoryError where safetensors has no memory: what it raises then is no `Exception`."""
    try:
        yield
    except BaseException as error:
        if type(error).__module__ == "pyo3_runtime":
            raise MemoryError(str(error)) from error
        raise


def _without_zeros(tensors: dict[str, NDArray[Any]]) -> dict[str, list[int]]:
    """Large arrays most of which is zeros without these, in place, and their shapes.

    Of each the blocks that hold something stay, and `NAME/blocks` says which these are.
    """
    shapes = {}
    for name, tensor in list(tensors.items()):
        flat = tensor.reshape(-1)
        if flat.nbytes < LARGE:
            continue
        whole = len(flat) // BLOCK * BLOCK
        bits = flat[:whole].view(f"u{flat.itemsize}").reshape(-1, BLOCK)
        filled = np.flatnonzero(bits.any(axis=1))  # by bits: -0.0 stays
        if 2 * len(filled) < len(bits):
            shapes[name] = list(tensor.shape)
            blocks = flat[:whole].reshape(-1, BLOCK)[filled]
            tensors[name] = np.concatenate([blocks.reshape(-1), flat[whole:]])
            tensors[f"{name}/blocks"] = filled
    return shapes


def _with_zeros(shapes: Any, tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays as they were; those that nobody writes to take no memory where they hold zeros."""
    expect("sparse", shapes, dict)
    most = MOST_TIMES * (LARGE + sum(tensor.nbytes for tensor in tensors.values()))
    for name, shape in shapes.items():
        filled, kept = tensors.pop(f"{name}/blocks", None), tensors.get(name)
        known = type(shape) is list and all(type(n) is int and n >= 0 for n in shape)
        if not (known and filled is not None and kept is not None and filled.dtype == np.int64):
            raise InputError(f"sparse: {name}: expected a shape, blocks and their numbers")
        size, rest = math.prod(shape), math.prod(shape) % BLOCK
        most -= size * kept.itemsize
        fits = filled.ndim == 1 and kept.shape == (len(filled) * BLOCK + rest,)
        if not fits or most < 0 or ((filled < 0) | (filled >= size // BLOCK)).any():
            raise InputError(f"sparse: {name}: these are no blocks of an array of shape {shape}")
        array = np.zeros(size, kept.dtype)
        blocks = kept[: len(kept) - rest].reshape(-1, BLOCK)
        array[: size - rest].reshape(-1, BLOCK)[filled] = blocks
        array[size - rest :] = kept[len(kept) - rest :]
        tensors[name] = array.reshape(shape)
    return tensors


def _digest(header: dict[str, Any], tensors: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of the sorted JSON and of each tensor's name, type, shape and bytes."""
    digest = sha256(json.dumps(header, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype.name} {tensor.shape}\n".encode())
        digest.update(tensor.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


# -- models --------------------------------------------------------------------------------------


def _kind(name: str) -> type[Any]:
    found: type[Any] = getattr(import_module(f"kernbrook.estimators.{_ESTIMATORS[name]}"), name)
    return found


class _ModelReader(Reader):
    """A reader of models, also of such as are within others."""

    def model(self, body: Any) -> Any:
        expect("model", body, dict)
        for name, kinds in _MODEL.items():
            if name not in body:
                raise InputError(f"{name} is missing")
            expect(name, body[name], *kinds)
        if body["estimator"] not in _ESTIMATORS:
            raise UnknownNameError("estimator in the file", body["estimator"], _ESTIMATORS)
        kind = _kind(body["estimator"])
        around = ("inner",) if kind._kept_around else ()
        for name in body.keys() - _MODEL.keys() - {*kind._kept_entries, *around}:
            raise InputError(f"{name}: {body['estimator']} has none")
        parameters = {k: self.value(v) for k, v in body["parameters"].items()}
        if str(parameters.get("on_bad_rows")) == "raise":  # as older files have it
            parameters["on_bad_rows"] = "error"
        if kind._kept_around:
            if "inner" not in body:
                raise InputError("inner is missing")
            parameters["model"] = self.model(body["inner"])
        estimator = built(kind, parameters)
        for name, value in body["fitted"].items():
            if not _FITTED.fullmatch(name) or hasattr(kind, name) or name == "kernels_":
                raise InputError(f"{name!r} is nothing that {kind.__name__} learns")
            setattr(estimator, name, self.value(value))
        check_input(vars(estimator))
        estimator._read_kept(body, self)
        if body["fitted"]:
            estimator._kept_check()
        return estimator


def _no_constant(name: str) -> float:
    raise InputError(f"{name} in the JSON text")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InputError(f"{digits} in the JSON text is not a finite number")
    return value
