"""Tables as people have them, from files and pipes: what a new user types, and reads."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
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
    new[list(new)[::-1]].to_parquet("new.parquet")
    new.drop(columns=["Survived", "Name"]).to_json("new.jsonl", orient="records", lines=True)
    new.to_csv("semi.csv", index=False, sep=";")
    for name in ("new.parquet", "semi.csv"):
        code, out, err = kernbrook("predict", "m", name)
        assert (code, out) == (0, lines)
        assert "on 300 labelled rows" in err
    assert kernbrook("predict", "m", "new.jsonl") == (0, lines, "")


ODD_NAMES = ["", "c=d", "a,b", 'say "x"', "--drop", "ends ", "x" * 150, "$é'"]
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
            way = shlex.split(way.replace("mean, last or indicator", "mean"))
            found = kernbrook(*given, "--label", "Survived", *way)
            assert found[::2] == (0, "wrote m\n")
    table = pandas.DataFrame({name: ["u", "v"] * 9, "n": 1.5})
    table.to_parquet("t.parquet")
    way = kernbrook(*given)[2].partition("is it the label? ")[2]
    assert kernbrook(*given, *shlex.split(way))[::2] == (0, "wrote m\n")


# -- columns at once, text, rows without a label, rows that are bad --------------------------------


NAMES = "when,day,km,paid,note,late"
TRAIN = ["train", "t.csv", "--model", "m", "--recipe", "perceptron"]


def lines(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def trips(tmp_path):
    """Columns of each kind, rows without a label, and some that cannot be read."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(300):
        day, km = rng.choice(["sat", "sun", "it's"]), rng.gamma(2.0, 3.0)
        note = " ".join(rng.choice(["slow", "fast", "rain", "train", "again"], 6))
        late = "" if i % 100 == 3 else ["no", "yes"][int(km > 6)]
        rows.append(
            f"2024-01-{1 + i % 28:02d} {i % 24:02d}:30,{day},{km:.2f},{km + 1:.2f},{note},{late}"
        )
    lines(tmp_path / "t.csv", NAMES, rows)
    return rows


def test_auto_says_what_it_took(kernbrook, trips, tmp_path):
    options = ["--categorical", "auto", "--dates", "auto", "--table", 'words={"note": 64}']
    code, _, said = kernbrook(*TRAIN, *options, "--json", "found.json")
    assert code == 0
    assert "'day' is taken as levels: \"it's\", 'sat', 'sun'" in said
    assert "'when' is taken as dates: hour, weekday, yearday" in said
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["taken"]["categorical"] == {"day": ["it's", "sat", "sun"]}
    assert (found["rows_without_label"], found["rows_left_out"]) == (3, 0)
    code, out, _ = kernbrook("predict", "m", "t.csv")
    assert (code, len(out.splitlines())) == (0, 300)
    model = kb.load("m").model
    assert model.n_features_in_ == 6 + 4 + 2 + 64
    code, _, said = kernbrook("train", "t.csv", "--model", "m", "--go-on", "--anyway")
    assert code == 0
    assert "taken as" not in said  # it is known


BAD = ["2024-01-01,sat,many,1,rain,no", "2024-01-01,sat", "soon,sat,1,1,rain,no"]


def test_bad_rows_are_left_out_and_counted(kernbrook, trips, tmp_path):
    options = ["--categorical", "day=sat,sun,it's", "--dates", "when", "--overwrite"]
    options += ["--table", 'drop=["note", "paid"]']
    kernbrook(*TRAIN, *options)
    whole = (tmp_path / "m").read_bytes()
    lines(tmp_path / "t.csv", NAMES, [*BAD, *trips[:150], *BAD, *trips[150:]])
    code, _, said = kernbrook(*TRAIN, *options)
    assert code == 1
    assert (tmp_path / "m").read_bytes() == whole
    code, _, said = kernbrook(*TRAIN, *options, "--table", "on_bad_rows=skip", "--json", "j")
    assert code == 0
    assert "6 rows left out:" in said
    assert said.count("t.csv, line ") == 5
    found = json.loads((tmp_path / "j").read_text())
    assert (found["n_rows"], found["rows_left_out"], len(found["first_left_out"])) == (300, 6, 5)
    (tmp_path / "whole").write_bytes(whole)
    one, other = (kb.load(name).model.state() for name in ("m", "whole"))
    np.testing.assert_equal(one, other)


@pytest.mark.parametrize("more", [[], ["--proba"]])
def test_predictions_stand_beside_their_rows(kernbrook, tmp_path, more):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    rows = [f"{a},{b},{'yes' if a > b else 'no'}" for a, b in X]
    lines(tmp_path / "t.csv", "a,b,label", rows)
    kernbrook("train", "t.csv", "--model", "m", "--recipe", "bpas")
    bad = ["x,1", "1", *(f"{a},{b}" for a, b in X[:3]), "1,2,3", f"{X[3][0]},{X[3][1]}", "y,z"]
    lines(tmp_path / "new.csv", "a,b", bad)
    lines(tmp_path / "good.csv", "a,b", [f"{a},{b}" for a, b in X[:4]])
    assert kernbrook("predict", "m", "new.csv", *more)[0] == 1
    code, out, said = kernbrook("predict", "m", "new.csv", "--on-bad-rows", "skip", *more)
    assert code == 0
    assert "4 rows left out:" in said
    _, good, _ = kernbrook("predict", "m", "good.csv", *more)
    header, good = good.splitlines()[: bool(more)], good.splitlines()[bool(more) :]
    empty = "," * (good[0].count(","))
    expected = [empty, empty, *good[:3], empty, good[3], empty]
    assert out.splitlines() == [*header, *expected]
    kernbrook("predict", "m", "new.csv", "--on-bad-rows", "skip", *more, "--output", "p.parquet")
    said = pq.read_table(tmp_path / "p.parquet")["prediction"].to_pylist()
    assert [one or "" for one in said] == [line.split(",")[0] for line in expected]


# -- pipes and standard input: the same output as from a file --------------------------------------


@pytest.fixture
def rows(kernbrook):
    """Rows in two formats: their text by the names of the files."""
    X = np.random.default_rng(0).normal(size=(3000, 2)).round(4).tolist()
    csv = "".join(f"{a},{b},{'yes' if a > 0 else 'no'}\n" for a, b in X)
    texts = {
        "rows.csv": f"a,b,label\n{csv}",
        "rows.svm": "".join(f"{(a > 0) * 1} 1:{a} 2:{b}\n" for a, b in X),
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    return {name: text.encode() for name, text in texts.items()}


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_train_predict_and_compare(kernbrook, rows, name):
    train = "train", "--recipe", "perceptron", "--model"
    assert kernbrook(*train, "a.kb", name)[0] == 0
    code, out, err = kernbrook(*train, "b.kb", "-", typed=rows[name])
    assert (code, err.splitlines()[-1]) == (0, "wrote b.kb")
    assert "standard input" in out
    (first, known), (second, other) = map(load_checkpoint, ("a.kb", "b.kb"))
    assert (known.last.name, other.last.name) == ("rows", "standard input")
    assert other.judge.described() == known.judge.described()
    assert replace(other, past=[replace(other.last, name="rows")], judge=known.judge) == known
    for path, model in (("a.kb", first), ("b.kb", second)):
        kb.save(model.model, path)
    assert Path("a.kb").read_bytes() == Path("b.kb").read_bytes()
    told = kernbrook("predict", "a.kb", name)
    assert told[1].count("\n") == 3000
    assert kernbrook("predict", "a.kb", "-", typed=rows[name]) == told
    compare = "compare", "--recipes", "majority", "--permutations", "1", "--jobs", "1", "--json"
    of_file, of_pipe = (
        json.loads(kernbrook(*compare, "-", data, typed=rows[name])[1])["manifest"]
        for data in (name, "-")
    )
    assert of_pipe["data"] == "standard input"
    assert of_file["data_sha256"] == of_pipe["data_sha256"]


def test_going_on_with_the_same_data(kernbrook, rows):
    """Rows that come after those learned before are learned too."""
    text = rows["rows.csv"]
    first = b"".join(text.splitlines(keepends=True)[:2001])
    train = ["train", "-", "--recipe", "perceptron", "--model"]
    assert kernbrook(*train, "whole", typed=text)[0] == 0
    assert kernbrook(*train, "parts", typed=first)[0] == 0
    code, _, err = kernbrook(*train, "parts", "--resume", typed=text[:20] + text[21:])
    assert (code, "comes from other data" in err) == (1, True)
    assert kernbrook(*train, "parts", "--resume", typed=text)[0] == 0
    assert Path("parts").read_bytes() == Path("whole").read_bytes()


def test_rows_to_label(kernbrook):
    """Where questions go through files, standard input is read for rows, within its limit."""
    text = b"a,b\n1,2\n3,4\n"
    code, _, err = kernbrook("label", "m", "-", "--classes", "yes,no", typed=text)
    said = "standard input has the answers: give a file, or --web, or --questions, --answers"
    assert (code, err) == (1, f"kernbrook: {said}\n")
    options = ["--questions", "questions", "--answers", "answers", "--classes", "yes,no"]
    code, _, err = kernbrook("label", "m", "-", *options, "--table", "max_bytes=5", typed=text)
    assert (code, "standard input: over 5 bytes came through it" in err) == (1, True)
