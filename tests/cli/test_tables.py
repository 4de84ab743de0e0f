"""Tables as people have them, through `train` and `predict`: what a new user types, and reads."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.evaluation.checkpoint import load_checkpoint

pandas = pytest.importorskip("pandas")
BPAS = ["--recipe", "bpas", "--set", "budget=10"]


def titanic(n=2500, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["male", "female"], n)
    frame = pandas.DataFrame(
        {
            "PassengerId": np.arange(n) + 1,
            "Survived": (rng.random(n) < np.where(sex == "female", 0.9, 0.1)).astype(int),
            "Name": [f"Doe, Mr. No {i}" for i in range(n)],
            "Sex": sex,
            "Age": rng.integers(1, 80, n).astype(float),
            "Boarded": pandas.date_range("1912-04-10", periods=n, freq="37min").astype(str),
            "Embarked": rng.choice(["S", "C", "Q"], n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "Age"] = None
    frame.loc[rng.random(n) < 0.01, "Embarked"] = None
    return frame


OPTIONS = [
    *("--label", "Survived", "--categorical", "Sex=male,female", "--categorical", "Embarked"),
    *("--dates", "Boarded", "--table", 'drop=["PassengerId", "Name"]', "--missing", "mean"),
]
ENCODER = kb.TableEncoder(
    {"Sex": ["male", "female"], "Embarked": 16}, ["Boarded"], ["PassengerId", "Name"], "mean"
)


def test_titanic_step_by_step(kernbrook):
    """Each refusal says the option that leads on."""
    frame = titanic()
    frame.to_csv("titanic.csv", index=False)
    holes = frame[["Age", "Embarked"]].isna().to_numpy()
    hole, place = divmod(int(holes.argmax()), 2)
    column = ["Age", "Embarked"][place]
    given = ["train", "titanic.csv", "--model", "m", *BPAS]
    steps = [
        ([], "3 columns to declare:", "\nthe label is 'Embarked', the last column; label (--label"),
        (["--label", "Survived"], "4 columns to declare:",
         "  'Sex'       2 levels: 'female', 'male'"),
        (["--table", 'drop=["Name", "PassengerId"]'], "  'Embarked'  3 levels: 'C', 'Q', 'S'\n",
         f"values are missing in 'Age' ({int(holes[:, 0].sum()):,} rows)"),
        (["--categorical", "Sex=male,female", "--categorical", "Embarked"],
         "1 column to declare:\n  'Boarded'  dates, such as '1912-04-10 00:00:00', ",
         " --categorical Embarked --dates Boarded --missing mean\n"),
        (["--dates", "Boarded"], f"line {hole + 2}: column '{column}': missing value; missing ",
         f"(--missing mean, last or indicator) or drop (--drop {column})\n"),
    ]  # fmt: skip
    for more, *messages in steps:
        given += more
        code, _, err = kernbrook(*given)
        assert (code, *(message in err for message in messages)) == (1, True, True), err
    given += ["--set", "scaling=moments"]
    code, out, err = kernbrook(*given, "--missing", "mean", "--json", "-")
    assert (code, err) == (0, "wrote m\n")
    assert json.loads(out)["error"] < 25


def test_predict_encodes_as_train_did(kernbrook):
    frame = titanic()
    frame.to_csv("titanic.csv", index=False)
    assert kernbrook("train", "titanic.csv", "--model", "m", *BPAS, *OPTIONS)[0] == 0
    new = titanic(300, seed=1)
    new.loc[0, "Sex"] = "unheard of"
    expected = ENCODER.copy().fit(frame.drop(columns="Survived"))
    labels = kb.load("m").model.predict(expected.transform(new.drop(columns="Survived")))
    lines = "".join(f"{label}\n" for label in labels)
    new.to_csv("new.csv", index=False)
    new[list(new)[::-1]].to_parquet("new.parquet")
    new.drop(columns=["Survived", "Name"]).to_json("new.jsonl", orient="records", lines=True)
    new.to_csv("semi.csv", index=False, sep=";")
    for name in ("new.csv", "new.parquet", "semi.csv"):
        code, out, err = kernbrook("predict", "m", name)
        assert (code, out) == (0, lines)
        assert "on 300 labelled rows" in err
    assert kernbrook("predict", "m", "new.jsonl") == (0, lines, "")
    X = kb.evaluation.predict_stream("m", new)
    assert np.concatenate([one for one, _ in X]).tolist() == labels.tolist()
    new.drop(columns="Age").to_csv("short.csv", index=False)
    code, _, err = kernbrook("predict", "m", "short.csv")
    assert (code, "no column 'Age': filled as gaps, in 300 rows" in err) == (0, True)
    new.assign(more=1).to_csv("long.csv", index=False)
    assert "are not the columns here: unknown 'more'" in kernbrook("predict", "m", "long.csv")[2]


def test_decimal_commas(kernbrook):
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    frame["kind"] = np.where(frame["a"] > 0, "yes", "no")
    frame.to_csv("semi.csv", index=False, sep=";", decimal=",")
    given = ["train", "semi.csv", "--model", "m", *BPAS]
    code, _, err = kernbrook(*given)
    assert (code, err.endswith(" --set budget=10 --table decimal=,\n")) == (1, True), err
    assert kernbrook(*given, "--table", "decimal=,")[0] == 0
    frame.to_csv("plain.csv", index=False)
    assert kernbrook("train", "plain.csv", "--model", "n", *BPAS)[0] == 0
    np.testing.assert_array_equal(
        kb.load("m").model.decision_function(frame[["a", "b"]].to_numpy()),
        kb.load("n").model.decision_function(frame[["a", "b"]].to_numpy()),
    )
    assert kernbrook("predict", "m", "semi.csv")[1] == kernbrook("predict", "n", "plain.csv")[1]


def test_iris_without_a_header(kernbrook):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    rows = [",".join([*map(str, row), name]) for row, name in zip(X, names, strict=True)]
    order = np.random.default_rng(0).permutation(150)
    with open("iris.data", "w") as file:
        file.write("\n".join(rows[i] for i in order) + "\n")
    code, _, err = kernbrook("train", "iris.data", "--model", "m", *BPAS)
    assert code == 0
    assert "numbers where names were expected: taken as data, the columns as x1 to x5" in err
    code, out, _ = kernbrook("predict", "m", "iris.data")
    assert (out.splitlines() == names[order]).mean() > 0.8


def test_fifty_columns_in_a_folder(kernbrook):
    rng = np.random.default_rng(0)
    os.mkdir("parts")
    for i in range(4):
        frame = pandas.DataFrame(rng.normal(size=(700, 50)), columns=[f"c{j}" for j in range(50)])
        frame["label"] = (frame["c0"] > 0).astype(int)
        frame.to_parquet(f"parts/part-{i}.parquet")
    code, _, err = kernbrook("train", "parts", "--model", "m", *BPAS)
    assert (code, err) == (0, "wrote m\n")
    code, out, err = kernbrook("predict", "m", "parts")
    assert (code, len(out.splitlines())) == (0, 2800)
    assert "on 2,800 labelled rows" in err
    code, out, _ = kernbrook(
        "compare", "parts", "--recipes", "bpas", "--permutations", "1", "--jobs", "1"
    )
    assert (code, "parts" in out) == (0, True)


ODD_NAMES = ["", "c=d", "a,b", 'say "x"', "a b", "-k", "--drop", "=", "ends ", "x" * 150, "'", "$é"]
# Each name for text or for dates, which are quoted alike; gaps are another sentence.
WAYS = [(name, [["Sex"], ["Boarded"]][i % 2]) for i, name in enumerate(ODD_NAMES)]
WAYS += [('a,b="c d"', ["Sex", "Boarded", "Age"])]


@pytest.mark.parametrize(("name", "columns"), WAYS)
def test_the_way_out_that_a_message_names_works(kernbrook, name, columns):
    """For text, dates, gaps and the label: who copies the option out of the message goes on."""
    frame = titanic(60)
    frame["Age"] = frame["Age"].fillna(1)
    for column in columns:
        table = frame[[column, "Survived"]].rename(columns={column: name}).assign(n=1.5)
        table.loc[3, name] = table[name][3] if column != "Age" else None
        table.to_parquet("t.parquet")
        given = ["train", "t.parquet", "--model", "m", "--recipe", "majority", "--overwrite"]
        code, _, err = kernbrook(*given, "--label", "Survived")
        ways = re.findall(r"\((--.*?)\)(?= or |\n|, )", err)
        assert (code, len(ways)) == (1, 2)
        for way in ways:
            way = way.replace("mean, last or indicator", "mean")
            assert kernbrook(*given, "--label", "Survived", *shlex.split(way))[::2] == (
                0,
                "wrote m\n",
            )
    table = pandas.DataFrame({name: ["u", "v"] * 9, "n": 1.5})
    table.to_parquet("t.parquet")
    way = kernbrook(*given)[2].partition("is it the label? ")[2]
    assert kernbrook(*given, *shlex.split(way))[::2] == (0, "wrote m\n")


def test_declared_columns_with_odd_names(kernbrook):
    table = pandas.DataFrame(
        {"": ["u", "v"] * 9, "c=d": ["2024-01-31"] * 18, "a,b": ["x", "y"] * 9}
    )
    table.assign(label=[0, 1] * 9).to_csv("t.csv", index=False)
    given = ["train", "t.csv", "--model", "m", "--recipe", "majority", "--categorical", "=u,v"]
    given += ["--categorical", '"a,b"="x",y', "--dates", '"c=d"=days']
    assert kernbrook(*given)[0] == 0
    assert load_checkpoint("m")[0].encoder_.get_feature_names_out().tolist() == [
        *("=u", "=v", "=other", "c=d days", "a,b=x", "a,b=y", "a,b=other")
    ]


def test_optional_names_in_json_lines(kernbrook, tmp_path):
    """Objects that all lack a name, or have it after the first MiB, are rows with gaps."""
    frame = titanic(400)[["Age", "Embarked", "Survived"]]
    frame.to_json("t.jsonl", orient="records", lines=True)
    given = ["train", "t.jsonl", "--model", "m", *BPAS, "--categorical", "Embarked=S,C,Q"]
    assert kernbrook(*given, "--missing", "mean")[0] == 0
    rows = frame.drop(columns="Survived")[:50].assign(Embarked=None)
    rows.to_csv("new.csv", index=False)
    expected = kernbrook("predict", "m", "new.csv")
    lacking = rows.drop(columns="Embarked").to_json(orient="records", lines=True)
    (tmp_path / "new.jsonl").write_text(lacking)
    assert kernbrook("predict", "m", "new.jsonl") == expected
    late = '{"Age": 3}\n' * 120_000 + '{"Embarked": "S", "Age": 3}\n'
    (tmp_path / "late.jsonl").write_text(late)
    assert kernbrook("predict", "m", "late.jsonl")[::2] == (0, "")
    (tmp_path / "more.jsonl").write_text('{"Age": 3, "more": 4}\n')
    said = kernbrook("predict", "m", "more.jsonl")[2]
    assert "are not the columns here: unknown 'more'" in said
    assert (
        kernbrook(*given, "--table", "drop=Age", "--overwrite", "--model", "strict")[0] == 1
    )  # gaps
    frame.dropna().to_json("t.jsonl", orient="records", lines=True)
    assert kernbrook(*given, "--overwrite")[0] == 0
    said = kernbrook("predict", "m", "new.jsonl")[2]
    assert "are not the columns here: missing 'Embarked'" in said


def test_too_many_classes(kernbrook, tmp_path):
    rows = "".join(f"{i % 7}.5,{i}\n" for i in range(3000))
    (tmp_path / "ids.csv").write_text(f"size,id\n{rows}")
    (tmp_path / "names.csv").write_text(f"size,id\n{rows}".replace("5,", "5,n"))
    for name in ("ids.csv", "names.csv"):
        for command in (
            ["train", name, "--model", "m", "--recipe", "majority"],
            ["compare", name, "--recipes", "majority", "--jobs", "1"],
            ["compare", name, "--recipes", "majority", "--jobs", "1", "--in-order"],
        ):
            code, _, err = kernbrook(*command)
            assert code == 1
            assert "over 1,000 classes in the column 'id'; is it the label? label (--label)" in err


def test_a_working_folder_that_is_gone(kernbrook, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    os.mkdir("gone")
    monkeypatch.chdir("gone")
    os.rmdir(tmp_path / "gone")
    given = ["train", tmp_path / "t.csv", "--recipe", "majority", "--model"]
    code, _, err = kernbrook(*given, "m")
    assert code == 1
    assert err == (
        "kernbrook: the folder that this was started in is not there any more: change to another "
        "(cd)\n"
    )
    assert kernbrook(*given, tmp_path / "m")[0] == 0


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_training_that_was_killed_ends_in_the_same_bytes(tmp_path):
    titanic(40_000).to_csv(tmp_path / "t.csv", index=False)
    given = [sys.executable, "-m", "kernbrook", "train", "t.csv", *BPAS, *OPTIONS]
    subprocess.run([*given, "--model", "whole"], cwd=tmp_path, check=True, capture_output=True)
    cut = [*given, "--model", "cut", "--resume", "--checkpoint-every", "0"]
    running = subprocess.Popen(cut, cwd=tmp_path, stdout=subprocess.DEVNULL)
    while not (tmp_path / "cut").exists():
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not load_checkpoint(tmp_path / "cut")[1].finished
    subprocess.run(cut, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_folder_is_not_in_the_way_of_a_name(tmp_path, monkeypatch):
    from kernbrook.estimators.table_model import TableModel, open_like

    monkeypatch.chdir(tmp_path)
    os.mkdir("wdbc")
    assert (
        open_like(TableModel._around(None), "wdbc", n_features=30).n_rows
        == kb.open_stream("wdbc").n_rows
        == 569
    )


def test_labels_by_a_person_for_a_table_with_holes(tmp_path):
    """Gaps are filled from the whole table, so that the rows stay the same when one goes on."""
    from kernbrook.estimators.table_model import TableModel, open_like

    frame = titanic(60)
    stream = open_like(None, frame.drop(columns="Survived"), encoder=ENCODER)
    whole = ENCODER.copy().fit(frame.drop(columns="Survived"))
    X = stream.read()[0]
    np.testing.assert_array_equal(X, whole.transform(frame.drop(columns="Survived")))
    again = open_like(TableModel._of_stream(None, stream), frame.drop(columns="Survived"))
    np.testing.assert_array_equal(again.read()[0], X)
    assert not stream.labelled
