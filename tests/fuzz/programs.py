"""The command line: odd options, pipes, bombs under a memory limit, and kills of training."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from fuzz.cases import ACCEPTED, REFUSED, changed, one_of
from fuzz.files import CSV, SVMLIGHT, csv_text, svmlight_text

import kernbrook as kb

PROGRAM = [sys.executable, "-m", "kernbrook"]
LIMIT = 4 << 30  # bytes of address space of a program, its libraries' included
SECONDS = 120  # of a program
RECIPES = ["perceptron", "bpas", "pegasos", "spa", "omkc-dd", "majority", "kernbrook-small"]
WIDTHS = ["3", "8", "0", "-1", "2147483648", "9223372036854775808", "x"]
SETTINGS = ["budget=5", "budget=0", "budget=1e308", "discount=none", "discount=[", "x=1", "=", ""]
EVERYWHERE = {"--label": ["label", "f0", "", "nothing"]}
TRAIN_OR_COMPARE = {
    **EVERYWHERE,
    "--table": [
        *(f"n_features={width}" for width in WIDTHS),
        *(
            "positive=1",
            "positive=",
            "drop=f0",
            "lags=[1]",
            "missing=last",
            "classes=a,b",
            "=",
            "x",
        ),
    ],
    "--set": SETTINGS,
    "--json": ["-", "", "/dev/full", "no/such/folder"],
}
OPTIONS = {
    "train": {
        **TRAIN_OR_COMPARE,
        "--checkpoint-every": ["0", "-1", "nan", "1e400"],
    },
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


def run(folder: Path, *words: str, limit: int | None = LIMIT) -> tuple[int, str]:
    """A program's exit code and what it said on standard error, which must be fit to be read."""
    import resource

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [*PROGRAM, *words], cwd=folder, capture_output=True, text=True, errors="replace",
        timeout=SECONDS, check=False, preexec_fn=limited,
    )  # fmt: skip
    return checked(done.returncode, done.stderr)


def checked(code: int, said: str) -> tuple[int, str]:
    assert "Traceback" not in said, said
    assert code in (0, 1, 2), (code, said)
    assert code == 0 or said.strip(), code
    assert all(line.isprintable() for line in said.splitlines()), repr(said)
    return code, said


def run_here(folder: Path, *words: str) -> tuple[int, str]:
    """As `run`, in this process, which has compiled before."""
    from kernbrook.cli import main

    code, out, said = 0, io.TextIOWrapper(io.BytesIO()), io.StringIO()
    argv = ["kernbrook", *words]
    with chdir(folder), redirect_stdout(out), redirect_stderr(said), patch("sys.argv", argv):
        try:
            main.run()
        except SystemExit as end:
            code = 0 if end.code is None else end.code
            assert isinstance(code, int), code
    return checked(code, said.getvalue())


def data_file(rng: np.random.Generator, folder: Path) -> Path:
    """A small data file, perhaps damaged, perhaps compressed."""
    kind, make, tokens = one_of(rng, [(".svm", svmlight_text, SVMLIGHT), (".csv", csv_text, CSV)])
    data = changed(rng, make(rng), tokens, one_of(rng, [0, 0, 0, 1, 2]))
    packers = [("", bytes)] * 2 + [(".gz", partial(gzip.compress, mtime=0)), (".xz", lzma.compress)]
    suffix, pack = one_of(rng, packers)
    path = folder / f"data{kind}{suffix}"
    path.write_bytes(pack(data))
    return path


def options(rng: np.random.Generator, folder: Path) -> str:
    """Commands on small files with odd options."""
    data = data_file(rng, folder)
    command = one_of(rng, ["train", "train", "compare", "predict", "explain"])
    words = [command, data.name]
    if command == "train":
        words += ["--model", "m", "--recipe", one_of(rng, RECIPES)]
    elif command == "compare":
        words += ["--recipes", one_of(rng, RECIPES), "--permutations", "1", "--jobs", "1"]
    else:
        code, _ = run_here(
            folder, "train", data.name, "--model", "m", "--recipe", one_of(rng, RECIPES)
        )
        if code:
            return REFUSED
        words = [command, "m", data.name]
    for _ in range(one_of(rng, [0, 0, 1, 1, 2])):
        name, values = one_of(rng, list(OPTIONS[command].items()))
        words += [name, one_of(rng, values)]
    code, _ = run_here(folder, *words)
    assert not [p for p in folder.iterdir() if p.name.startswith(".") and "lock" not in p.name]
    return REFUSED if code else ACCEPTED


def pipes(rng: np.random.Generator, folder: Path) -> str:
    """A pipe that gives a file in pieces: as training on the file itself, or refused as that is."""
    data = data_file(rng, folder)
    words = ["train", "--recipe", one_of(rng, RECIPES), "--model"]
    code, _ = run(folder, *words, "whole", data.name, limit=None)
    where = one_of(rng, ["-", "/dev/stdin", "fifo"])
    if where == "fifo":
        os.mkfifo(folder / "fifo")
    size, whole = int(rng.integers(1, 2000)), data.read_bytes()
    process = subprocess.Popen(
        [*PROGRAM, *words, "piped", where], cwd=folder, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=False,
    )  # fmt: skip
    with process, open(folder / "fifo", "wb") if where == "fifo" else process.stdin as pipe:
        with suppress(BrokenPipeError):  # refused before its end
            for start in range(0, len(whole), size):
                pipe.write(whole[start : start + size])
                pipe.flush()
            pipe.close()
        said = process.stderr.read().decode()
    found, _ = checked(process.returncode, said)
    assert found == code, (said, code)
    if code:
        return REFUSED
    models = [kb.load(folder / name) for name in ("whole", "piped")]
    assert models[0].n_rounds_ == models[1].n_rounds_
    X = np.random.default_rng(0).normal(size=(20, models[0].n_features_in_))
    np.testing.assert_array_equal(*(model.predict(X) for model in models))
    return ACCEPTED


def bombs(rng: np.random.Generator, folder: Path) -> str:
    """Small files that unpack, or ask, to much: within the limit, or refused in words."""
    pack, suffix = one_of(
        rng, [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (bytes, "")]
    )
    size = int(rng.integers(1, 200)) << 20
    if suffix == "":
        size >>= 3
    kind = one_of(rng, [".svm", ".csv"])
    head = b"a,b,label\n1,2,0\n2,3,1\n" if kind == ".csv" else b"1 1:1 2:3\n-1 1:2\n"
    filler = one_of(
        rng, [b"\n", b":", b"1", b",", b"#", b" ", b'"', b"\0", b"1:1 ", b"1 1:1\n", b"1,2,0\n"]
    )
    body = filler * (size // len(filler))
    whole = one_of(rng, [head + body, body, head + body + b"\n" + head])
    if rng.random() < 0.2:
        whole = head + b"1 2147483647:1\n" if kind == ".svm" else head + b"1,2," + b"y" * size
    (folder / f"bomb{kind}{suffix}").write_bytes(pack(whole))
    code, _ = run(folder, "train", f"bomb{kind}{suffix}", "--model", "m", "--recipe", "perceptron")
    return REFUSED if code else ACCEPTED


def kills(rng: np.random.Generator, folder: Path) -> str:
    """Training killed at random moments and gone on with: the same bytes as of one quiet run."""
    rows = int(rng.integers(200, 4000))
    recipe = one_of(rng, RECIPES)
    words = ["train", f"waveform:{rows}", "--recipe", recipe, "--checkpoint-every", "0"]
    if recipe in ("spa", "omkc-dd", "perceptron"):
        words += ["--table", "positive=0"]
    begin = time.monotonic()
    run(folder, *words, "--model", "whole", limit=None)
    whole = time.monotonic() - begin
    killed = 0
    for _ in range(4):
        with subprocess.Popen(
            [*PROGRAM, *words, "--model", "m", "--resume"], cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            time.sleep(rng.uniform(0, 1.1 * whole))
            process.send_signal(one_of(rng, [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        killed += process.returncode < 0 or process.returncode == 143
        if (folder / "m").exists():
            kb.load(folder / "m")
    run(folder, *words, "--model", "m", "--resume", limit=None)
    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes(), words
    left = {name for name in os.listdir(folder) if not name.endswith(".lock")}
    assert left == {"m", "whole"}, left
    return REFUSED if killed else ACCEPTED
