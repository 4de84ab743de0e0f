"""The command line: small files, perhaps damaged or compressed, with odd options."""

from __future__ import annotations

import gzip
import io
import lzma
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fuzz.cases import ACCEPTED, REFUSED
from fuzz.files import CSV, SVMLIGHT, csv_text, svmlight_text, write
from hypothesis import strategies as st

from kernbrook.cli import main

PACKERS = {"": bytes, ".gz": partial(gzip.compress, mtime=0), ".xz": lzma.compress}
RECIPES = ["perceptron", "bpas", "pegasos", "spa", "omkc-dd", "majority", "kernbrook-small"]
WIDTHS = ["3", "8", "0", "-1", "2147483648", "9223372036854775808", "x"]
SETTINGS = ["budget=5", "budget=0", "budget=1e308", "discount=none", "discount=[", "x=1", "=", ""]
EVERYWHERE = {"--label": ["label", "f0", "", "nothing"]}
TRAIN_OR_COMPARE = {
    **EVERYWHERE,
    "--table": [
        *(f"n_features={width}" for width in WIDTHS),
        *[
            "positive=1",
            "positive=",
            "drop=f0",
            "lags=[1]",
            "missing=last",
            "classes=a,b",
            "=",
            "x",
        ],
    ],
    "--set": SETTINGS,
    "--json": ["-", "", "/dev/full", "no/such/folder"],
}
OPTIONS = {
    "train": {**TRAIN_OR_COMPARE, "--checkpoint-every": ["0", "-1", "nan", "1e400"]},
    "compare": {**TRAIN_OR_COMPARE, "--jobs": ["0", "x"], "--orders": ["", "m", "data.svm"]},
    "predict": {**EVERYWHERE, "--output": ["-", "", "/dev/full", "p.txt", "no/such/folder"]},
    "explain": {
        **EVERYWHERE,
        "--row": ["1", "3", "0", "-1", "9223372036854775808", "x"],
        "--class": ["1", "-1", "", "x"],
        "--measure": ["error", "mae", "log_loss", "", "x"],
        "--report": ["why.html", "", "m", "no/such/folder/why.html", "/dev/full"],
        "--json": ["-", "", "/dev/full"],
    },
}


def checked(code: int, said: str) -> tuple[int, str]:
    assert "Traceback" not in said, said
    assert code in (0, 1, 2), (code, said)
    assert code == 0 or said.strip(), code
    assert all(line.isprintable() for line in said.splitlines()), repr(said)
    return code, said


def run_here(folder: Path, *words: str) -> tuple[int, str]:
    """A program's exit code and what it said on standard error, which must be fit to be read."""
    code, out, said = 0, io.TextIOWrapper(io.BytesIO()), io.StringIO()
    argv = ["kernbrook", *words]
    with chdir(folder), redirect_stdout(out), redirect_stderr(said), patch("sys.argv", argv):
        try:
            main.run()
        except SystemExit as end:
            code = 0 if end.code is None else end.code
            assert isinstance(code, int), code
    return checked(code, said.getvalue())


def options(draw: Any, folder: Path) -> str:
    """Commands on small files with odd options."""

    def one_of(choices: Any) -> Any:
        return draw(st.sampled_from(list(choices)))

    kind, text, tokens = one_of([(".svm", svmlight_text(), SVMLIGHT), (".csv", csv_text(), CSV)])
    suffix, pack = one_of(PACKERS.items())
    data = write(draw, folder / f"data{kind}{suffix}", text, tokens, one_of([0, 0, 0, 1, 2]))
    data.write_bytes(pack(data.read_bytes()))
    command, recipe = one_of(["train", "compare", "predict", "explain"]), one_of(RECIPES)
    words = [command, "m", data.name]
    if command == "train":
        words = [command, data.name, "--model", "m", "--recipe", recipe]
    elif command == "compare":
        words = [command, data.name, "--recipes", recipe, "--permutations", "1", "--jobs", "1"]
    elif run_here(folder, "train", data.name, "--model", "m", "--recipe", recipe)[0]:
        return REFUSED
    for _ in range(one_of([0, 0, 1, 1, 2])):
        name, values = one_of(OPTIONS[command].items())
        words += [name, one_of(values)]
    code, _ = run_here(folder, *words)
    assert not [p for p in folder.iterdir() if p.name.startswith(".") and "lock" not in p.name]
    return REFUSED if code else ACCEPTED
