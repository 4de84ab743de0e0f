"""Each option of each command: obeyed, or refused by its name.

The tables have a row for each parameter that a command has for click: one that is new is missing.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from estimators.test_model_files import rewrite
from pyarrow.csv import read_csv
from scipy.sparse import csr_array

from kernbrook.cli.main import app
from kernbrook.cli.predict import _files
from kernbrook.errors import ModelFileError
from kernbrook.evaluation.comparing import digest_of
from kernbrook.evaluation.sessions.predicting import predict_table

BEGUN = [
    *("--recipe", "majority", "--label", "late", "--categorical", "auto", "--dates", "auto"),
    *("--words", "note=16", "--lags", "speed=1,2", "--missing", "mean", "--seed", "3"),
]
SAME = ""
OTHER = "another result"  # by which it is seen that an option is obeyed
# By option: what is given, and what is said of it: "" where it is obeyed.
OF_COLUMNS = {
    "categorical": ("carrier=UA", "categorical was"),
    "dates": ("when=hour", "dates was"),
    "words": ("note=32", "words was"),
    "lags": ("speed=1", "lags was"),
    "delay": ("2", "--delay: goes with --lags"),
    "labels_every": ("2", "--labels-every: goes with --lags"),
    "drop": ("speed", "drop was"),
    "missing": ("last", "missing was"),
}
WRITTEN = {"decimal": (",", SAME), "thousands": ("'", SAME), "units": ("speed=kn", SAME)}
READ = {"max_bytes": ("1000000", SAME), "sep": (",", SAME), "n_features": ("3", "n_features")}
TRAIN = {
    **OF_COLUMNS, **WRITTEN, **READ,
    "recipe": ("bpas", "estimator was"),
    "settings": ("strategy=last-label", "strategy"),
    "budget": ("4", "budget"),
    "seed": ("9", "seed was"),
    "classes": ("a,b", "classes were"),
    "positive": ("yes", "positive was"),
    "label": ("late", SAME),
    "on_bad_rows": ("skip", SAME),
    "checkpoint_every": ("5", SAME),
    "ignore_extra": (None, SAME),
    "rounds": ("2", "--rounds: goes with --scheduler"),
    "json": ("said.json", SAME),
}  # fmt: skip
# Of a model that is there, what is given in vain: what nobody named before, and what is usual.
USUAL = {
    "missing": ("error", "missing was"), "seed": ("0", "seed was"),
    "categorical": ("auto", "categorical was"), "dates": ("auto", "dates was"),
}  # fmt: skip
MODES = {"data", "model", "go_on", "resume", "overwrite", "anyway", "scheduler"}
NEW = {
    "recipe": ("rbp", OTHER),
    "settings": ("aggressiveness=0.5", OTHER),
    "budget": ("4", OTHER),
    "seed": ("9", OTHER),
    "classes": ("no,yes", OTHER),
    "positive": ("yes", OTHER),
    "label": ("carrier", OTHER),
    "categorical": ("carrier=UA", OTHER),
    "dates": ("when=days", OTHER),
    "words": ("carrier=16", OTHER),
    "lags": ("1", OTHER),
    "delay": ("2", "--delay: goes with --lags"),
    "labels_every": ("2", "--labels-every: goes with --lags"),
    "drop": ("speed", OTHER),
    "missing": ("mean", OTHER),
    "decimal": (",", OTHER),
    "thousands": ("'", OTHER),
    "units": ("speed=kn", OTHER),
    "sep": (";", "parted by semicolons"),
    "n_features": ("3", "expected 3 features"),
    "max_bytes": ("100", "--max-bytes"),
    "on_bad_rows": ("leave", "on_bad_rows: expected"),
    "checkpoint_every": ("0", SAME),
    "go_on": (None, "--go-on"),
    "resume": (None, SAME),
    "overwrite": (None, SAME),
    "ignore_extra": (None, "--ignore-extra: goes with --go-on"),
    "anyway": (None, "--anyway: goes with --go-on"),
    "scheduler": ("local:1", "expected a folder of Parquet files"),
    "rounds": ("2", "--rounds: goes with --scheduler"),
    "json": ("said.json", SAME),
}  # fmt: skip
# Data that are no table have no columns.
NO_TABLE = {
    "label": ("late", "label="), "categorical": ("late", "categorical"),
    "dates": ("late", "dates"), "words": ("late", "words"), "lags": ("1", "lags"),
    "drop": ("late", "drop"), "missing": ("mean", "missing"), "decimal": (",", "decimal"),
    "thousands": ("'", "thousands"), "units": ("late=kn", "units"), "sep": (",", "sep="),
    "on_bad_rows": ("skip", "on_bad_rows"),
}  # fmt: skip
COMPARE = {
    **{
        name: NEW[name]
        for name in (
            "settings", "budget", "label", "categorical", "dates", "words",
            "drop", "missing", "sep", "n_features", "max_bytes",
        )
    },
    "missing": ("later", "missing must be"),
    "positive": ("later", "later"),
    "seed": ("9", OTHER),
    "decimal": (";", "decimal must be"),
    "thousands": ("x", "thousands"),
    "units": ("late=kn", "late"),
    "lags": ("1", "lags"),
    "recipes": ("bpas,majority", OTHER),
    "baselines": ("sklearn", OTHER),
    "permutations": ("1", OTHER),
    "orders": ("orders.npz", OTHER),
    "in_order": (None, OTHER),
    "delay": ("2", OTHER),
    "labels_every": ("4", OTHER),
    "measure": ("auc", OTHER),
    "json": ("said.json", SAME),
    "report": ("page.html", SAME),
    "jobs": ("2", SAME),
    "scheduler": ("local:1", "--jobs, --scheduler: expected one of them"),
}  # fmt: skip
OF_NEW_DATA = {
    "label": ("carrier", "missing 'carrier'"),
    "dates": ("when=%d.%m.%Y", "when"),
    "decimal": (";", "decimal must be"),
    "thousands": ("x", "thousands"),
    "units": ("late=kn", "late"),
    "sep": (";", "semicolons"),
    "max_bytes": ("100", "--max-bytes"),
    "json": ("said.json", SAME),
}
PREDICT = {
    **OF_NEW_DATA,
    "output": ("out.csv", OTHER),
    "proba": (None, OTHER),
    "interval": ("0.5", "interval"),
    "scores": (None, OTHER),
    "threshold": ("0.9", OTHER),
    "keep": ("when", OTHER),
    "seed": ("9", SAME),
    "on_bad_rows": ("leave", "on_bad_rows: expected"),
    "ignore_extra": (None, SAME),
    "scheduler": ("local:1", "--scheduler: expected a folder"),
}
EXPLAIN = {
    **OF_NEW_DATA,
    "row": ("3", OTHER),
    "of_class": ("no", "--class: goes with --row"),
    "measure": ("error", OTHER),
    "seed": ("9", OTHER),
    "ignore_extra": (None, SAME),
    "report": ("page.html", SAME),
}
LABEL = {
    **OF_COLUMNS, **READ,
    "n_features": ("3", "--n-features: the model has"),
    "decimal": (",", "decimal was"),
    "thousands": ("'", "thousands was"),
    "units": ("speed=kn", "units was"),
    "recipe": ("rbp", "learner was"),
    "settings": ("learner=RBP()", "--set, --budget: expected a --recipe"),
    "budget": ("4", "--set, --budget: expected a --recipe"),
    "seed": ("9", "seed was"),
    "classes": ("a,b", "classes were"),
    "label": ("late", SAME),
    "questions": ("asked.jsonl", "--questions, --answers: one needs the other"),
    "answers": ("told.jsonl", "--questions, --answers: one needs the other"),
    "text": ("when", "when"),
    "image": ("when", "when"),
    "port": ("1", "--port: expected --web too"),
    "export": ("labels.csv", SAME),
}  # fmt: skip
del LABEL["lags"], LABEL["delay"], LABEL["labels_every"]
SIT = {
    **{
        name: NEW[name]
        for name in (
            "recipe", "settings", "budget", "seed", "categorical", "dates", "words", "drop",
            "missing", "decimal", "thousands", "units", "sep", "n_features", "max_bytes",
        )
    },
    "classes": ("no,yes,later", OTHER),
    "label": ("carrier", OTHER),
    **{name: LABEL[name] for name in ("questions", "answers", "port", "export")},
    "text": ("when", OTHER),
    "image": ("when", OTHER),
}  # fmt: skip


def rows(first, more=""):
    lines = ["when,carrier,note,speed,late"]
    for i in range(first, first + 40):
        cells = f"2024-01-{i % 28 + 1:02d}", ("UA", "AA")[i % 2], f"note {i * 7} of {i}", f"{i}"
        lines.append(",".join([*cells, ("yes", "no")[i % 3 == 0]]))
    return "\n".join([*lines, ""])


def parameters_of(command):
    return {one.name for one in typer.main.get_command(app).commands[command].params}


def flag(name):
    return {"settings": "--set", "of_class": "--class"}.get(name, "--" + name.replace("_", "-"))


def outcome(kernbrook, command, name, value, said, where, typed=()):
    call = *command, flag(name), *(() if value is None else (value,))
    code, out, err = kernbrook(*call, typed=typed)
    obeyed = said in (SAME, OTHER)
    assert (code == 0, obeyed or said in err) == (obeyed, True), (where, name, code, err)
    return out


@pytest.mark.parametrize(
    ("command", "table", "others"),
    [
        ("train", TRAIN, MODES),
        ("train", NEW, {"data", "model"}),
        ("compare", COMPARE, {"data"}),
        ("predict", PREDICT, {"data", "model"}),
        ("explain", EXPLAIN, {"data", "model"}),
        ("label", LABEL, {"data", "model", "web"}),
        ("label", SIT, {"data", "model", "web"}),
    ],
)
def test_options_are_classified(command, table, others):
    assert parameters_of(command) == {*table, *others}


def without_times(text):
    """What a comparison came to, but for what it was asked and how long it took."""
    told = json.loads(text)
    del told["manifest"]
    return re.sub(r'"seconds[^,}]*', "", json.dumps(told))


def test_a_new_model(kernbrook):
    Path("day0.csv").write_text(rows(0))
    Path("plain.svm").write_text("".join(f"{(-1) ** i} 1:{i} 2:{i % 5}\n" for i in range(40)))
    base = "--recipe", "bpas", "--label", "late", "--categorical", "auto", "--drop", "note"
    command = "train", "day0.csv", "--model", "m", *base, "--dates", "auto"
    assert kernbrook(*command)[0] == 0
    usual = Path("m").read_bytes()
    for name, (value, said) in NEW.items():
        Path("m").unlink(missing_ok=True)
        outcome(kernbrook, command, name, value, said, "new")
        if said in (SAME, OTHER):
            assert (Path("m").read_bytes() != usual) == (said == OTHER), name
    for name, (value, said) in NO_TABLE.items():
        outcome(kernbrook, ("train", "plain.svm", "--model", "n"), name, value, said, "no table")
    assert not Path("n").exists()
    assert kernbrook("train", "plain.svm", "--model", "n", "--recipe", "majority")[0] == 0
    table = {name: NO_TABLE[name] for name in ("label", "decimal", "thousands", "units", "sep")}
    for command in ("predict", "explain"):
        call = command, "n", "plain.svm"
        for name, row in {**table, "ignore_extra": (None, "ignore_extra")}.items():
            outcome(kernbrook, call, name, *row, "no table")


def test_compare(kernbrook):
    Path("day0.csv").write_text(rows(0))
    np.savez("orders.npz", day0=[range(40)] * 2)
    command = [
        *("compare", "day0.csv", "--recipes", "bpas", "--label", "late", "--categorical", "auto"),
        *("--drop", "note", "--dates", "auto", "--permutations", "2", "--jobs", "1"),
    ]
    asked = [*command, "--json", "-"]
    usual = without_times(kernbrook(*asked)[1])
    for name, (value, said) in COMPARE.items():
        if name in ("orders", "in_order"):
            call = [one for one in asked if one not in ("--permutations", "2")]
        else:
            call = command if name == "json" else asked
        out = outcome(kernbrook, call, name, value, said, "compare")
        if said in (SAME, OTHER) and name != "json":
            assert (without_times(out) != usual) == (said == OTHER), name
    assert without_times(Path("said.json").read_text()) == usual


@pytest.mark.parametrize(("command", "table"), [("predict", PREDICT), ("explain", EXPLAIN)])
def test_of_a_model(kernbrook, command, table):
    for day in (0, 1):
        Path(f"day{day}.csv").write_text(rows(40 * day))
    base = "--recipe", "bpas", "--label", "late", "--categorical", "auto", "--dates", "auto"
    assert kernbrook("train", "day0.csv", "--model", "m", *base, "--drop", "note")[0] == 0
    call = command, "m", "day1.csv"
    usual = kernbrook(*call)[1]
    for name, (value, said) in table.items():
        out = outcome(kernbrook, call, name, value, said, command)
        if said in (SAME, OTHER):
            assert (out != usual) == (said == OTHER), name
    if command == "predict":
        assert (
            "keep (--keep): 'when' is named 2 times" in kernbrook(*call, *["--keep", "when"] * 2)[2]
        )


def test_a_first_sitting(kernbrook):
    Path("day0.csv").write_text(rows(0))
    base = "--classes", "no,yes", "--categorical", "auto", "--dates", "auto", "--recipe", "bpas"
    command = "label", "m", "day0.csv", "--label", "late", "--drop", "note", *base
    typed, answers = ["yes", "no", "q"], Path("m.labels.jsonl")
    assert kernbrook(*command, typed=typed)[0] == 0
    usual = Path("m").read_bytes()
    for name, (value, said) in SIT.items():
        for path in (Path("m"), answers):
            path.unlink(missing_ok=True)
        outcome(kernbrook, command, name, value, said, "label", typed)
        if said in (SAME, OTHER):
            assert (Path("m").read_bytes() != usual) == (said == OTHER), name


@pytest.mark.parametrize("mode", ["--go-on", "--resume"])
def test_train(kernbrook, mode):
    Path("day0.csv").write_text(rows(0))
    Path("day1.csv").write_text(rows(40))
    assert kernbrook("train", "day0.csv", "--model", "m", *BEGUN)[0] == 0
    model = Path("m").read_bytes()
    data = "day1.csv" if mode == "--go-on" else "day0.csv"
    command = "train", data, "--model", "m", mode
    for name, (value, said) in TRAIN.items():
        outcome(kernbrook, command, name, value, said, mode)
        if said:
            assert Path("m").read_bytes() == model, name
        Path("m").write_bytes(model)
    said = "wrote m\n" if mode == "--go-on" else "m was complete, nothing new\n"
    assert kernbrook(*command, *BEGUN)[::2] == (0, said)
    Path("m").write_bytes(model)
    given = "--lags", "speed=1,2", "--delay", "3"
    assert "delay was 0 and is 3" in kernbrook(*command, *given)[2]
    plain = ["--label", "late", "--drop", "when,carrier,note", "--recipe", "bpas", "--overwrite"]
    assert kernbrook("train", "day0.csv", "--model", "m", *plain, *BEGUN[-4:])[0] == 0
    for name, (value, said) in USUAL.items():
        outcome(kernbrook, command, name, value, said, mode)
    rewrite("m", lambda model, tensors, header: header["training"]["source"].pop("auto") and None)
    model = Path("m").read_bytes()  # as older ones are, which do not know
    for given in (["--categorical", "auto"], ["--recipe", "bpas"]):
        Path("m").write_bytes(model)
        assert kernbrook(*command, *given)[0] == 0


def test_a_second_sitting(kernbrook):
    Path("day0.csv").write_text(rows(0))
    command = "label", "m", "day0.csv", "--label", "late"
    begun = [*BEGUN[4:8], "--missing", "mean", "--words", "note=16", "--recipe", "bpas"]
    call = *command, *begun, "--classes", "no,yes"
    assert kernbrook(*call, typed=["yes", "q"])[0] == 0
    model = Path("m").read_bytes()
    for name, (value, said) in LABEL.items():
        outcome(kernbrook, command, name, value, said, "label", ["q"])
        assert Path("m").read_bytes() == model, name
    assert kernbrook(*call, typed=["q"])[0] == 0


TWICE = {
    "--categorical": ("carrier=UA", "carrier=AA", "--categorical: 'carrier' is declared twice"),
    "--words": ("note=16", "note", "--words: 'note' is declared twice"),
    "--units": ("speed=kn", "speed=m", "--units: 'speed' is declared twice"),
    "--set": ("budget=3", "budget=4", "--set budget: it is given as 3, too"),
    "--budget": ("5", None, "--set budget: it is given as 5, too"),
}


@pytest.mark.parametrize("option", TWICE)
def test_options_that_say_two_things(kernbrook, option):
    one, other, said = TWICE[option]
    more = ("--set", "budget=6") if other is None else (option, other)
    Path("day0.csv").write_text(rows(0))
    call = "train", "day0.csv", "--model", "m", "--recipe", "bpas", option, one, *more
    code, _, err = kernbrook(*call)
    assert (code, said in err) == (1, True), err


# Of several workers: what they cannot obey, and what they are told; test_cluster.py has them work.
ALONE = {
    "train": {
        "positive": "yes", "n_features": "3", "sep": ";", "max_bytes": "1000", "lags": "1",
        "on_bad_rows": "skip", "checkpoint_every": "5", "go_on": None, "resume": None,
        "ignore_extra": None, "anyway": None, "delay": "2", "labels_every": "2",
    },
    "predict": {"keep": "when", "on_bad_rows": "skip"},
}  # fmt: skip
TOLD = {
    "train": {
        "recipe", "settings", "budget", "seed", "classes", "label", "categorical", "dates", "words",
        "drop", "missing", "decimal", "thousands", "units", "overwrite", "rounds", "json",
    },
    "predict": {*PREDICT} - {*ALONE["predict"], "scheduler"},
}  # fmt: skip


@pytest.mark.parametrize("command", ALONE)
def test_workers(kernbrook, command):
    """What workers cannot obey is refused before there are any."""
    assert parameters_of(command) == {*ALONE[command], *TOLD[command], "data", "model", "scheduler"}
    Path("parts").mkdir()
    Path("day0.csv").write_text(rows(0))
    table = read_csv("day0.csv").drop(["when", "carrier", "note"])
    pq.write_table(table, "parts/0.parquet")
    assert kernbrook("train", "parts", "--model", "m", "--recipe", "majority")[0] == 0
    call = ("predict", "m", "parts") if command == "predict" else ("train", "parts", "--model", "n")
    for name, value in ALONE[command].items():
        told = "n does not exist" if name == "go_on" else "lags" if name == "lags" else flag(name)
        outcome(kernbrook, (*call, "--scheduler", "local:1"), name, value, told, "workers")


def test_empty_parts_are_not_for_workers(tmp_path):
    table = pa.table({"a": [1.0, 2.0]})
    for name, rows in (("a", 0), ("b", 2)):
        pq.write_table(table[:rows], tmp_path / f"{name}.parquet")
    assert [path.name for path in _files(str(tmp_path))] == ["b.parquet"]


def test_no_model_file(tmp_path):
    with pytest.raises(ModelFileError, match="there is no such file"):
        predict_table(tmp_path / "m", pa.table({"a": [1.0]}))


def test_equal_rows_have_one_digest():
    X, y = np.array([[0.0, 1.0], [2.0, np.nan]]), np.array(["a", "bb"])
    assert digest_of(X, y) == digest_of(csr_array(X.astype(np.float32)), y.astype("U8"))
