"""Model files: bytes changed at random, and contents changed with a checksum that is right."""

from __future__ import annotations

import time
import tracemalloc
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from estimators.test_model_files import rewrite
from fuzz import mutations
from fuzz.cases import ACCEPTED, REFUSED, changed, one_of, said_in_a_line
from fuzz.children import in_child
from fuzz.drives import Drive
from fuzz.programs import run_here
from fuzz.zoo import MISSING, kept, own, stream_of, trained, zoo

import kernbrook as kb
from kernbrook.errors import KernbrookError
from kernbrook.evaluation import train
from kernbrook.evaluation.checkpoint import load_checkpoint

FILES = 8  # of one kind of model in a case: what it calls is compiled, or loaded, once
MEMORY = 100_000_000  # bytes that loading may take; the default of three classes takes 64 million
SECONDS = 20.0  # that loading a small file may take, of the processor: something may be compiled
TRAINED = {f"training, {missing or 'svmlight'}": missing for missing in MISSING}


def kinds() -> list[str]:
    return [*zoo(), *TRAINED]


def flipped(rng: np.random.Generator, folder: Path) -> str:
    """Bytes of a file changed: refused, and never another model."""
    whole = kept(one_of(rng, list(zoo())))
    data = changed(rng, whole, [b"\0", b"{}", b"1e999", b"[[[["], int(rng.integers(1, 4)))
    path = folder / "model"
    path.write_bytes(data)
    with said_in_a_line() as refused:
        model = kb.load(path)
    if refused:
        return REFUSED
    kb.save(model, path)  # a changed digit may stand for the same number
    assert path.read_bytes() == whole
    return ACCEPTED


def crafted(rng: np.random.Generator, folder: Path) -> str:
    """Contents of some files of one kind changed: each is refused soon, with little memory, or
    a model that goes on in words and numbers, and is saved and loaded again."""
    name = one_of(rng, kinds())
    ends, found = [], []
    for number in range(FILES):
        end, bad = attacked(rng, name, folder, f"model {number}")
        ends.append(end)
        found += bad
    assert not found, "\n".join(found)
    return max(ends, key=ends.count)


def attacked(
    rng: np.random.Generator, name: str, folder: Path, called: str
) -> tuple[str, list[str]]:
    """How one file of a kind ends, and what is found; a file with nothing found is removed."""
    warm_up(name)
    path, told = folder / called, []
    path.write_bytes(trained(TRAINED[name]) if name in TRAINED else kept(name))

    def change(model: Any, tensors: dict[str, Any], header: Any) -> None:
        for _ in range(one_of(rng, [1, 1, 2])):
            told.append(mutations.changed(rng, model, tensors, header.get("training")))

    try:
        rewrite(path, change)
        end, found = in_child(partial(_in_child, name, path))
    except AssertionError as error:
        end, found = ACCEPTED, [str(error)[-1500:]]
    if not found:
        path.unlink()
    return end, [f"{name}: {called}: {'; '.join(told)}: {what}" for what in found]


@cache
def warm_up(name: str) -> None:
    """The file as it is goes through all that a changed one does, and nothing is found."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(trained(TRAINED[name]) if name in TRAINED else kept(name))
        end, found = _in_child(name, path)
        assert (end, found) == (ACCEPTED, []), (name, end, found)


def _in_child(name: str, path: Path) -> tuple[str, list[str]]:
    begin, read = time.process_time(), load_checkpoint if name in TRAINED else kb.load
    tracemalloc.start()
    try:
        with said_in_a_line() as refused:
            model = read(path)
        memory = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert memory < MEMORY, f"loading takes {memory:,} bytes"
    assert (seconds := time.process_time() - begin) < SECONDS, f"loading takes {seconds:.0f} s"
    if refused:  # by a sentence, and not by an error of Python's
        return REFUSED, [f"refused by {refused[0]}"] if "Error(" in refused[0] else []
    if name in TRAINED:
        return ACCEPTED, _gone_on(model[0], TRAINED[name], path)
    good = kb.load(_as_it_was(name, path)) if hasattr(model, "merge") else None
    return ACCEPTED, Drive(model, good, path.with_name("again")).run()


def _as_it_was(name: str, path: Path) -> Path:
    whole = path.with_name("whole")
    whole.write_bytes(kept(name))
    return whole


def _gone_on(model: Any, missing: str | None, path: Path) -> list[str]:
    """What the programs make of the file of a training."""
    stream = stream_of(path.parent, missing)
    data = "data.svm" if missing is None else "data.csv"
    drive = Drive(model, None, path.with_name("again"))
    for command in (["show", path.name], ["show", path.name, "--json", "-"]):
        drive.step("show", partial(run_here, path.parent, *command))
    drive.step("predict", partial(run_here, path.parent, "predict", path.name, data))
    drive.step("go on", partial(train, stream, own(kb.BPAS(9)), path, resume=True))
    try:
        load_checkpoint(path)
    except KernbrookError as error:
        drive.found.append(f"go on: {error}")
    return drive.found
