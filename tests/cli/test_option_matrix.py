"""Each option of each command: obeyed, or refused by its name.

The tables have a row for each parameter that a command has for click, and for each name that its
`--table` takes: one that is new is missing.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer
from pyarrow.csv import read_csv

import kernbrook as kb
from kernbrook import evaluation
from kernbrook.cli.main import app
from kernbrook.estimators.table_model import open_like

BEGUN = [
    *("--recipe", "majority", "--label", "late", "--categorical", "auto", "--dates", "auto"),
    *("--table", 'words={"note": 16}', "--table", "lags=[1, 2]", "--missing", "mean"),
    *("--seed", "3"),
]
FILES = "questions", "answers"
SAME = ""
OTHER = "another result"  # by which it is seen that an option is obeyed
# By option, or name in --table: what is given, and what is said of it: "" where it is obeyed.
OF_COLUMNS = {
    "categorical": ("carrier=UA", "categorical was"),
    "dates": ("when=hour", "dates was"),
    "words": ('{"note": 32}', "words was"),
    "lags": ("1", "lags was"),
    "delay": ("2", "delay was"),
    "every": ("2", "every was"),
    "drop": ("speed", "drop was"),
    "missing": ("last", "missing was"),
}
WRITTEN = {"decimal": (",", SAME), "thousands": ("'", SAME)}
READ = {"max_bytes": ("1000000", SAME), "sep": (",", SAME), "n_features": ("3", "n_features")}
TRAIN = {
    **OF_COLUMNS, **WRITTEN, **READ,
    "recipe": ("bpas", "estimator was"),
    "settings": ("strategy=last-label", "strategy"),
    "seed": ("9", "seed was"),
    "classes": ("a,b", "classes were"),
    "positive": ("yes", "positive was"),
    "label": ("late", SAME),
    "on_bad_rows": ("skip", SAME),
    "ignore_extra": ("true", SAME),
    "table": ("decimals=,", "unknown name in --table 'decimals'"),
    "table_out": ("table.toml", SAME),
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
    "seed": ("9", OTHER),
    "classes": ("no,yes", OTHER),
    "positive": ("yes", OTHER),
    "label": ("carrier", OTHER),
    "categorical": ("carrier=UA", OTHER),
    "dates": ("when=days", OTHER),
    "words": ('{"speed": 16}', OTHER),
    "lags": ("1", OTHER),
    "delay": ("2", "delay: goes with lags"),
    "every": ("2", "every: goes with lags"),
    "drop": ("speed", OTHER),
    "missing": ("mean", OTHER),
    "decimal": (",", OTHER),
    "thousands": ("'", OTHER),
    "sep": (";", "parted by semicolons"),
    "n_features": ("3", "expected 3 features"),
    "max_bytes": ("100", "max_bytes"),
    "on_bad_rows": ("leave", "on_bad_rows: expected"),
    "table": ("absent.toml", "absent.toml: No such file"),
    "table_out": ("table.toml", SAME),
    "go_on": (None, "--go-on"),
    "resume": (None, SAME),
    "overwrite": (None, SAME),
    "ignore_extra": ("true", "ignore_extra: goes with --go-on"),
    "anyway": (None, "--anyway: goes with --go-on"),
    "scheduler": ("local:1", "expected a folder of Parquet files"),
    "json": ("said.json", SAME),
}
# Data that are no table have no columns.
NO_TABLE = {
    "label": ("late", "label="), "categorical": ("late", "categorical"),
    "dates": ("late", "dates"), "words": ("late", "words"), "lags": ("1", "lags"),
    "drop": ("late", "drop"), "missing": ("mean", "missing"), "decimal": (",", "decimal"),
    "thousands": ("'", "thousands"), "sep": (",", "sep="), "on_bad_rows": ("skip", "on_bad_rows"),
}  # fmt: skip
COMPARE = {
    **{
        name: NEW[name]
        for name in (
            "settings", "label", "drop", "sep", "n_features", "max_bytes", "table",
            "on_bad_rows",
        )
    },
    "categorical": ('{"carrier": ["UA"]}', "'carrier' is declared twice"),
    "dates": ('{"when": ["days"]}', OTHER),
    "words": ('{"speed": 16}', OTHER),
    "missing": ("later", "missing must be"),
    "positive": ("later", "later"),
    "seed": ("9", OTHER),
    "decimal": (";", "decimal must be"),
    "thousands": ("x", "thousands"),
    "lags": ("1", "lags"),
    "recipes": ("bpas,majority", OTHER),
    "baselines": ("sklearn", OTHER),
    "permutations": ("1", OTHER),
    "orders": ("orders.npz", OTHER),
    "in_order": (None, OTHER),
    "delay": ("2", OTHER),
    "every": ("4", OTHER),
    "measure": ("auc", OTHER),
    "json": ("said.json", SAME),
    "report": ("page.html", SAME),
    "jobs": ("2", SAME),
}  # fmt: skip
OF_NEW_DATA = {
    **{name: row for name, row in OF_COLUMNS.items() if name not in ("categorical", "dates")},
    "missing": ("mean", "missing was"),
    "label": ("carrier", "missing 'carrier'"),
    "positive": ("yes", "positive was"),
    "classes": ("a,b", "classes were"),
    "categorical": ('{"carrier": 8}', "categorical was"),
    "dates": ('{"when": "%d.%m.%Y"}', "when"),
    "decimal": (";", "decimal must be"),
    "thousands": ("x", "thousands"),
    "sep": (";", "semicolons"),
    "n_features": ("3", "n_features was"),
    "max_bytes": ("100", "max_bytes"),
    "ignore_extra": ("true", SAME),
    "table": ("x", "x: No such file"),
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
}
EXPLAIN = {
    **OF_NEW_DATA,
    "row": ("3", OTHER),
    "of_class": ("no", "--class: goes with --row"),
    "measure": ("error", OTHER),
    "seed": ("9", OTHER),
    "report": ("page.html", SAME),
}
LABEL = {
    **OF_COLUMNS, **READ,
    "categorical": ('{"carrier": ["UA"]}', "categorical was"),
    "dates": ('{"when": ["hour"]}', "dates was"),
    "decimal": (",", "decimal was"),
    "thousands": ("'", "thousands was"),
    "n_features": ("3", "n_features was"),
    "recipe": ("rbp", "learner was"),
    "settings": ("learner=RBP()", "--set: expected a --recipe"),
    "seed": ("9", "seed was"),
    "classes": ("a,b", "classes were"),
    "label": ("late", SAME),
    "table": ("x", "x: No such file"),
    "questions": ("asked.jsonl", "--questions, --answers: one needs the other"),
    "answers": ("told.jsonl", "--questions, --answers: one needs the other"),
    "text": ("when", "when"),
    "image": ("when", "when"),
    "port": ("1", "--port: expected --web too"),
    "export": ("labels.csv", SAME),
}  # fmt: skip


def rows(first, more=""):
    lines = ["when,carrier,note,speed,late"]
    for i in range(first, first + 40):
        cells = f"2024-01-{i % 28 + 1:02d}", ("UA", "AA")[i % 2], f"note {i * 7} of {i}", f"{i}"
        lines.append(",".join([*cells, ("yes", "no")[i % 3 == 0]]))
    return "\n".join([*lines, ""])


def parameters_of(command):
    params = typer.main.get_command(app).commands[command].params
    return {one.name for one in params if not one.hidden}


def names_of(command):
    """What is given in --table, or by an option of the same name."""
    module = import_module(f"kernbrook.cli.{command}")
    return {*kb.TableEncoder.parameter_ranges, *module.NAMES}


def given(command, name, value):
    if name not in parameters_of(command):
        return "--table", f"{name}={value}"
    flag = {"settings": "--set", "of_class": "--class"}.get(name, "--" + name.replace("_", "-"))
    return (flag,) if value is None else (flag, value)


def outcome(kernbrook, command, name, value, said, where, typed=()):
    code, out, err = kernbrook(*command, *given(command[0], name, value), typed=typed)
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
    ],
)
def test_options_are_classified(command, table, others):
    found = {*parameters_of(command), *names_of(command)}
    assert found == {*table, *others}


@pytest.mark.parametrize(
    ("command", "calls", "beside", "most"),
    [
        ("train", [evaluation.train, evaluation.go_on], {"recipe", "settings", "scheduler"}, 16),
        ("predict", [evaluation.predict_stream], {"threshold", "output", "keep"}, 10),
        ("compare", [evaluation.compare], {"settings", "baselines", "report"}, 14),
        (
            "label", [evaluation.label],
            {*("recipe", "settings", "text", "image", "export", "web", "port"), *FILES},
            12,
        ),
    ],
)  # fmt: skip
def test_options_are_parameters_of_python(command, calls, beside, most):
    """Of the same names and defaults; or what a table has, or files and a terminal alone."""
    options = {
        one.name: one.default
        for one in typer.main.get_command(app).commands[command].params
        if one.param_type_name == "option" and not one.hidden
    }
    assert len(options) <= most
    known = [signature(call).parameters for call in (*calls, kb.open_stream, open_like)]
    own = options.keys() - beside - {"model", "json", "table", "table_out", "go_on", "seed"}
    for name in own - {"categorical", "dates", "missing"}:
        defaults = [one[name].default for one in known if name in one]
        assert options[name] in defaults or (options[name] is None and defaults), name
    assert own & {"categorical", "dates", "missing"} <= signature(kb.TableEncoder).parameters.keys()


def without_times(text):
    """What a comparison came to, but for what it was asked and how long it took."""
    told = json.loads(text)
    del told["manifest"]
    return re.sub(r'"seconds[^,}]*', "", json.dumps(told))


def test_a_new_model(kernbrook):
    Path("day0.csv").write_text(rows(0))
    Path("plain.svm").write_text("".join(f"{(-1) ** i} 1:{i} 2:{i % 5}\n" for i in range(40)))
    base = "--recipe", "bpas", "--label", "late", "--categorical", "auto", "--table", "drop=note"
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
    assert kernbrook("train", "plain.svm", "--model", "n", "--recipe", "bpas")[0] == 0
    table = {name: NO_TABLE[name] for name in ("label", "decimal", "thousands", "sep")}
    for command in ("predict", "explain"):
        call = command, "n", "plain.svm"
        for name, row in {**table, "ignore_extra": ("true", "ignore_extra")}.items():
            outcome(kernbrook, call, name, *row, "no table")


def test_compare(kernbrook):
    Path("day0.csv").write_text(rows(0))
    np.savez("orders.npz", day0=[range(40)] * 2)
    command = [
        *("compare", "day0.csv", "--recipes", "bpas", "--permutations", "2", "--jobs", "1"),
        *("--table", "columns.toml"),
    ]
    columns = 'label = "late"\ndrop = ["note"]\ndates = "auto"\n[categorical]\ncarrier = 16\n'
    Path("columns.toml").write_text(columns)
    asked = [*command, "--json", "-"]
    usual = without_times(kernbrook(*asked)[1])
    for name, (value, said) in COMPARE.items():
        if name in ("orders", "in_order"):
            call = [one for one in asked if one not in ("--permutations", "2")]
        elif name == "label":
            continue  # is said already
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
    assert kernbrook("train", "day0.csv", "--model", "m", *base, "--table", "drop=note")[0] == 0
    call = command, "m", "day1.csv"
    usual = kernbrook(*call)[1]
    for name, (value, said) in table.items():
        out = outcome(kernbrook, call, name, value, said, command)
        if said in (SAME, OTHER):
            assert (out != usual) == (said == OTHER), name
    if command == "predict":
        said = kernbrook(*call, *["--keep", "when"] * 2)[2]
        assert "keep (--keep): 'when' is named 2 times" in said


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
    drop = "--table", 'drop=["when", "carrier", "note"]'
    plain = ["--label", "late", *drop, "--recipe", "bpas", "--overwrite"]
    assert kernbrook("train", "day0.csv", "--model", "m", *plain, *BEGUN[-4:])[0] == 0
    for name, (value, said) in USUAL.items():
        outcome(kernbrook, command, name, value, said, mode)


def test_a_second_sitting(kernbrook):
    Path("day0.csv").write_text(rows(0))
    command = "label", "m", "day0.csv", "--table", "label=late"
    words = ("categorical=auto", "dates=auto", "missing=mean", 'words={"note": 16}')
    begun = ["--recipe", "bpas", *(word for one in words for word in ("--table", one))]
    call = *command, *begun, "--classes", "no,yes"
    assert kernbrook(*call, typed=["yes", "q"])[0] == 0
    model = Path("m").read_bytes()
    for name, (value, said) in LABEL.items():
        outcome(kernbrook, command, name, value, said, "label", ["q"])
        assert Path("m").read_bytes() == model, name
    assert kernbrook(*call, typed=["q"])[0] == 0


def test_a_table_in_a_file(kernbrook):
    """--table-out writes what --table takes, of every command; and is the same said in words."""
    Path("day0.csv").write_text(rows(0))
    Path("day1.csv").write_text(rows(40))
    words = *BEGUN, "--table-out", "table.toml"
    assert kernbrook("train", "day0.csv", "--model", "m", *words)[0] == 0
    text = Path("table.toml").read_text()
    assert 'label = "late"\n' in text
    assert 'words = {"note" = 16}\n' in text
    again = "--recipe", "majority", "--seed", "3", "--table", "table.toml"
    code, _, err = kernbrook("train", "day0.csv", "--model", "n", *again, "--table-out", "n.toml")
    assert (code, Path("n.toml").read_text()) == (0, text), err
    one, other = (kernbrook("predict", name, "day1.csv", "--proba")[1] for name in "mn")
    assert one == other
    for command in (
        ("predict", "n", "day1.csv"), ("explain", "n", "day1.csv"),
        ("train", "day1.csv", "--model", "n", "--go-on"),
    ):  # fmt: skip
        code, _, err = kernbrook(*command, "--table", "table.toml")
        assert code == 0, err
    Path("table.toml").write_text(text.replace("16", "8"))
    assert "words was" in kernbrook("predict", "n", "day1.csv", "--table", "table.toml")[2]


def test_names_of_table_as_options(kernbrook):
    """As messages write them."""
    Path("day0.csv").write_text(rows(0))
    base = "train", "day0.csv", "--recipe", "bpas", "--label", "late", "--seed", "1", "--model"
    options = (
        "--words note=16 --drop when --lags 2,3 --delay 1 --every=2 --decimal . "
        "--classes no,yes --on-bad-rows skip --categorical carrier --categorical late=no,yes"
    )
    lines = []
    for line in (
        'words={"note": 16}', "drop=when", "lags=[2, 3]", "delay=1", "every=2", "decimal=.",
        "classes=no,yes", "on_bad_rows=skip",
        'categorical={"carrier": 16, "late": ["no", "yes"]}',
    ):  # fmt: skip
        lines += ["--table", line]
    assert kernbrook(*base, "m", *options.split())[0] == kernbrook(*base, "n", *lines)[0] == 0
    assert Path("m").read_bytes() == Path("n").read_bytes()
    one, other = (["predict", "m", "day0.csv", *own] for own in ([], ["--ignore-extra"]))
    assert kernbrook(*one)[:2] == kernbrook(*other)[:2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--categorical", "a=1", "--table", 'categorical={"a": ["2"]}'], "'a' is declared twice"),
        (["--categorical", "a=hash:x"], "expected a=hash:N with a number, got 'hash:x'"),
        (["--dates", "when=days", "--dates", "when=later"], "dates: 'when': expected some of"),
        (["--missing", "mean", "--table", "missing=last"], "missing is declared twice"),
        (["--lags", "1", "--lags", "2"], "--table lags=2: lags is declared twice"),
        (["--table", 'dates={"when": 3}'], "dates: 'when': expected some of days, hour"),
        (["--set", "budget=3", "--set", "budget=4"], "--set budget: it is given as 3, too"),
        (["--table", "bad.toml"], "--table bad.toml: expected TOML: "),
        (["--table", "n_features=x"], "n_features: expected a whole number, got 'x'"),
        (["--table", "ignore_extra=yes"], "ignore_extra: expected true or false, got 'yes'"),
        (["--table", "seed=3"], "seed: does not go with `kernbrook train`"),
    ],
)
def test_what_cannot_be_meant(kernbrook, words, said):
    Path("day0.csv").write_text(rows(0))
    Path("bad.toml").write_text("drop = [")
    code, out, err = kernbrook("train", "day0.csv", "--model", "m", *words)
    assert (code, out, said in err) == (1, "", True), err


def test_workers(kernbrook):
    """What workers cannot obey is refused before there are any; test_cluster.py has them work."""
    Path("parts").mkdir()
    Path("day0.csv").write_text(rows(0))
    table = read_csv("day0.csv").drop(["when", "carrier", "note"])
    pq.write_table(table, "parts/0.parquet")
    assert kernbrook("train", "parts", "--model", "m", "--recipe", "majority")[0] == 0
    call = "train", "parts", "--model", "n", "--scheduler", "local:1"
    for name, value in (
        ("positive", "yes"), ("n_features", "3"), ("sep", ";"), ("max_bytes", "1000"),
        ("lags", "1"), ("on_bad_rows", "skip"), ("go_on", None), ("resume", None),
        ("anyway", None), ("ignore_extra", "true"), ("delay", "2"), ("every", "2"),
    ):  # fmt: skip
        told = name.replace("_", "-") if value is None else name
        outcome(kernbrook, call, name, value, told, "workers")
