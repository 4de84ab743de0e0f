"""A machine in a model's file: its arrays as tensors; what follows from parameters is made again.

What a file asks for is checked before memory is taken: a few bytes could ask for gigabytes, and
compiled code trusts what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbrook.checks import shown
from kernbrook.engine.model import Model
from kernbrook.engine.pool import parts_of_pool
from kernbrook.engine.stores.linear import recipe_of
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.plain_values import is_count

if TYPE_CHECKING:
    from kernbrook.estimators.machine import OnlineMachine


def write_run(estimator: OnlineMachine, model: Model, writer: Any) -> dict[str, Any]:
    """The model's state as tensors; what follows from the parameters is made again on loading."""
    twin = estimator._new_model(model.setting.width, model.sparse, model.setting.seed)
    if not twin.says_the_same(model):
        raise InputError(
            "save: the parameters were changed after learning had begun, and a file could not "
            "go on as this model does; set them back, or fit again"
        )
    if twin.scaler.methods != model.scaler.methods:
        raise InputError("save: scaling was changed after learning had begun; set it back")
    for name, array in estimator.state().items():
        writer.tensor(array, name)
    return {"width": int(model.setting.width), "sparse": bool(model.sparse)}


def read_run(estimator: OnlineMachine, run: dict[str, Any], reader: Any) -> None:
    """Set the model of an estimator that has its parameters and fitted attributes already."""
    width, sparse = run.get("width"), run.get("sparse")
    if not (is_count(width) and type(sparse) is bool):
        found = f"{shown(width)} and {shown(sparse)}"
        raise InputError(f"run: expected a width and whether sparse, got {found}")
    estimator._check_fitted(width)
    _check_sizes(estimator, width, sparse, reader)
    made = estimator._new_model(width, sparse, 0)
    made.restore(reader.tensors)
    estimator._model, estimator.kernels_ = made, made.kernels
    names = estimator.state()
    of_before = (f"horizons.{kept}.{name}" for kept in ("now", "old") for name in names)
    reader.used.update(names, of_before)  # in older files a model that is kept could learn, too


def _check_sizes(estimator: OnlineMachine, width: int, sparse: bool, reader: Any) -> None:
    """Raise InputError where the tensors are not of the sizes that the parameters ask for.

    Before a model is made: making one draws features and takes memory as the parameters ask.
    """
    setting = estimator._setting(width, sparse, 0)
    pool = estimator._pool(width)
    sizes: dict[int, list[int]] = {}  # of theta and extra, by view
    for part in parts_of_pool(pool.kernels, pool.members):
        learner = part.learner
        if learner.store == "slots" and (budget := learner.slots()) is not None:
            shapes = [v.shape for k, v in reader.tensors.items() if k.endswith(".alpha")]
            if not any(s[1:] == (setting.scores, budget) and s[0] for s in shapes):
                raise InputError(f"stores: no slots are of the size that {learner!r} asks for")
        for name, shape in getattr(learner, "sizes", lambda setting: {})(setting).items():
            held = [v.shape for k, v in reader.tensors.items() if k.endswith(f".{name}")]
            if shape not in held:
                raise InputError(f"stores: expected {name} of shape {shape}, found {held}")
        if learner.store == "features":
            total = sizes.setdefault(part.view, [0, 0])
            for kernel in part.kernels:
                dim = _check_map(learner, kernel, width, reader)
                total[0] += setting.scores * dim
                total[1] += learner.extra_rows(dim, setting.scores) * dim
    for own in sizes.values():
        for name, size in zip(("theta", "extra"), own, strict=True):
            found = [v.shape for k, v in reader.tensors.items() if k.endswith(f".{name}")]
            if (size,) not in found:
                raise InputError(f"stores: expected {name} of {size} numbers, found shapes {found}")


def _check_map(learner: Any, kernel: Kernel, width: int, reader: Any) -> int:
    """The number of features of a kernel, whose arrays are in the file: under some number."""
    recipe = recipe_of(learner, kernel)
    dim = recipe.dim(kernel, width)
    for name, (shape, _) in recipe.shapes(kernel, width).items():
        found = {
            tensor.shape
            for held, tensor in reader.tensors.items()
            if ".maps." in held and held.endswith(f".{name}")
        }
        if shape not in found:
            raise InputError(f"maps: expected {name} of shape {shape} for {kernel}, found none")
    return dim
