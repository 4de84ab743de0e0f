"""Each option of `train` and of a second sitting of `label`: obeyed, or refused by its name."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from kernbrook.cli.label import label_data
from kernbrook.cli.predict import _files
from kernbrook.cli.train import train
from kernbrook.errors import ModelFileError
from kernbrook.evaluation.comparing.manifest import digest_of
from kernbrook.evaluation.sessions.predicting import predict_table

BEGUN = [
    *("--recipe", "majority", "--label", "late", "--categorical", "auto", "--dates", "auto"),
    *("--words", "note=16", "--lags", "speed=1,2", "--missing", "mean", "--seed", "3"),
]
SAME = ""
# By option: what is given, and what is said of it by a model that is there: "" where it is obeyed.
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
MODES = {"data", "model", "go_on", "resume", "overwrite", "anyway", "scheduler"}
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
}  # fmt: skip
# Options of a sitting, whatever the model is; test_labelling.py has them.
OF_A_SITTING = {
    "model", "data", "label", "questions", "answers", "text", "image", "web", "port", "export",
}  # fmt: skip


def rows(first, more=""):
    lines = ["when,carrier,note,speed,late"]
    for i in range(first, first + 40):
        cells = f"2024-01-{i % 28 + 1:02d}", ("UA", "AA")[i % 2], f"note {i * 7} of {i}", f"{i}"
        lines.append(",".join([*cells, ("yes", "no")[i % 3 == 0]]))
    return "\n".join([*lines, ""])


def flag(name):
    return {"settings": "--set"}.get(name, "--" + name.replace("_", "-"))


def outcome(kernbrook, command, name, value, said, where, typed=()):
    call = *command, flag(name), *(() if value is None else (value,))
    code, _, err = kernbrook(*call, typed=typed)
    assert (code != 0, said in err) == (said != SAME, True), (where, name, code, err)


def test_options_are_classified():
    assert {*signature(train).parameters} == {*TRAIN} | MODES
    assert {*signature(label_data).parameters} == {*LABEL, *OF_A_SITTING} - {"delay", "lags"} - {
        "labels_every"
    }


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


def test_a_second_sitting(kernbrook):
    Path("day0.csv").write_text(rows(0))
    command = "label", "m", "day0.csv", "--label", "late"
    begun = [*BEGUN[4:8], "--missing", "mean", "--words", "note=16", "--recipe", "bpas"]
    call = *command, *begun, "--classes", "no,yes"
    assert kernbrook(*call, typed=["yes", "q"])[0] == 0
    model = Path("m").read_bytes()
    for name, (value, said) in LABEL.items():
        if name not in ("lags", "delay", "labels_every"):
            outcome(kernbrook, command, name, value, said, "label", ["q"])
            assert Path("m").read_bytes() == model, name
    assert kernbrook(*call, typed=["q"])[0] == 0


def test_workers(kernbrook):
    """What workers cannot obey is refused before there are any."""
    Path("day0.csv").write_text(rows(0))
    for name, value in {
        "positive": "yes", "n_features": "3", "sep": ";", "max_bytes": "1000",
        "on_bad_rows": "skip", "checkpoint_every": "5", "go_on": None, "resume": None,
        "ignore_extra": None, "anyway": None,
    }.items():  # fmt: skip
        call = "train", "day0.csv", "--model", "new", "--scheduler", "local:1"
        code, _, err = kernbrook(*call, flag(name), *(() if value is None else (value,)))
        told = "new does not exist" if name == "go_on" else flag(name)
        assert (code, told in err) == (1, True), (name, err)


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
