"""Tables as people have them, through `train` and `predict`: what a new user types, and reads."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb

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


# -- levels, and columns that are proposed --------------------------------------------------------

NETS = {
    "net": ["DSL", "Fiber optic", "DSL", None, "No", "DSL"],
    "c": [1, 2, 1, 2, 1, 2],
    "y": ["n", "y", "n", "y", "n", "y"],
}
TOLD = (
    "'net': other values than the declared levels in 2 of 5 rows (40.0 %), such as 'Fiber optic', "
    "'No'; 'Fiber' (is it 'Fiber optic'?) never came\n"
)


def test_levels_that_are_others_are_said(kernbrook):
    """Those that never came where one trains, alone."""
    levels = "--categorical", "net=DSL,Fiber", "--categorical", "c=1,2", "--missing", "last"
    train = "train", "t.parquet", "--model", "m", "--recipe", "majority", *levels
    pq.write_table(pa.table(NETS), "t.parquet")
    code, out, err = kernbrook(*train, "--json", "-")
    assert (code, err.count(TOLD)) == (0, 1)
    told = {one.pop("column"): one for one in json.loads(out)["level_counts"]}
    assert told["net"] == {
        "levels": ["DSL", "Fiber"], "counts": [3, 0], "others": 2,
        "first_others": ["Fiber optic", "No"],
    }  # fmt: skip
    assert told["c"]["counts"] == [3, 3]
    assert kernbrook("predict", "m", "t.parquet")[2].count(TOLD) == 1
    pq.write_table(pa.table({**NETS, "net": ["DSL"] * 6}), "u.parquet")
    assert "net" not in kernbrook("predict", "m", "u.parquet")[2]


FILES = {
    "German": "seit;anteil;umsatz;art;label\n"
    + "09.11.2022;63,7 %;4.211,54;x;ja\n02.03.2022;5 %;17,5;y;nein\n" * 30,
    "American": "paid,sales,art,label\n"
    + '"$4,211.54","(4,212)",x,yes\n"$1.50","1,300",y,no\n' * 30,
    "months": "when,art,label\n" + "1991 Jul,x,yes\n1991 Aug,y,no\n" * 30,
    "notes": "art,note,label\n"
    + "".join(
        f"{'uv'[i % 2]},{' '.join('abcdefgh'[i // 8**k % 8] * 3 for k in range(3))},{i % 2}\n"
        for i in range(512)
    ),
    "codes": "zip,art,label\n" + "01234,x,yes\n00501,y,no\n" * 30,
}


@pytest.mark.parametrize("name", FILES)
def test_the_command_that_is_proposed_runs(kernbrook, name):
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write(FILES[name])
    code, _, err = kernbrook("train", "t.csv", "--model", "m", "--recipe", "majority")
    assert code == 1
    command = shlex.split(err.partition("so they are read: kernbrook ")[2])
    code, _, err = kernbrook(*command)
    assert (code, "wrote m" in err) == (0, True), err


def test_counts_and_lags_that_are_said(kernbrook):
    counts = np.random.default_rng(0).poisson(150, 400)
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write("x,label\n" + "".join(f"{i},{count}\n" for i, count in enumerate(counts)))
    code, _, err = kernbrook("train", "t.csv", "--model", "m", "--recipe", "majority")
    assert (code, "--recipe kernbrook-regression" in err) == (0, True)
    lags = ["--table", "lags=24", "--table", "delay=24"]
    code, _, err = kernbrook("train", "t.csv", "--model", "o", "--recipe", "mean", *lags)
    assert (code, "lags begin at 25" in err, "delay=23" in err) == (1, True, True)
