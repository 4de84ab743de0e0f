"""Columns of a table on the command line: commands that messages propose, types of labels."""

import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

RECIPE = ["--recipe", "majority"]
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
    code, _, err = kernbrook("train", "t.csv", "--model", "m", *RECIPE)
    assert code == 1
    command = shlex.split(err.partition("so they are read: kernbrook ")[2])
    code, _, err = kernbrook(*command)
    assert (code, "wrote m" in err) == (0, True), err


@pytest.mark.parametrize(
    ("column", "option"), [("1949-01", "--dates"), ("1991 Jul", "--dates"), ("01234", "--categ")]
)
def test_the_option_that_is_proposed_reads(kernbrook, column, option):
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write("a,b,label\n" + f"{column},1,x\n{column},2,y\n" * 30)
    err = kernbrook("train", "t.csv", "--model", "m", *RECIPE)[2]
    given = re.search(rf"\(({option}[^)]*)\)", err)[1]
    call = ["train", "t.csv", "--model", "n", *RECIPE, *shlex.split(given)]
    code, _, err = kernbrook(*call)
    assert (code, "a code?" in err) == (0, False), err


@pytest.mark.parametrize("labels", [[True, False], ["1", "0"], ["01", "02"], [1, 0]], ids=str)
def test_predictions_have_the_type_of_the_labels(kernbrook, labels):
    table = pa.table({"x": np.arange(60.0), "label": labels * 30})
    pq.write_table(table, "t.parquet")
    assert kernbrook("train", "t.parquet", "--model", "m", *RECIPE)[0] == 0
    assert kernbrook("train", "t.parquet", "--model", "m", "--go-on", "--anyway")[0] == 0
    assert kernbrook("predict", "m", "t.parquet", "--output", "p.parquet")[0] == 0
    found = pq.read_table("p.parquet")["prediction"]
    assert (found.type, found[0].as_py() in labels) == (table["label"].type, True)
    lines = kernbrook("predict", "m", "t.parquet")[1].split()
    assert set(lines) <= set(map(str, labels))
    assert kernbrook("show", "m", "--json", "-")[0] == 0
    assert kernbrook("train", "t.parquet", "--model", "n", *RECIPE, "--positive", labels[0])[0] == 0


def test_counts_and_lags_that_are_said(kernbrook):
    counts = np.random.default_rng(0).poisson(150, 400)
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write("x,label\n" + "".join(f"{i},{count}\n" for i, count in enumerate(counts)))
    code, _, err = kernbrook("train", "t.csv", "--model", "m", *RECIPE)
    assert (code, "--recipe kernbrook-regression" in err) == (0, True)
    code, _, err = kernbrook("train", "t.csv", "--model", "n", "--recipe", "mean")
    assert (code, "counts" in err) == (0, False)
    lags = ["--table", "lags=24", "--table", "delay=24"]
    code, _, err = kernbrook("train", "t.csv", "--model", "o", "--recipe", "mean", *lags)
    assert code == 1
    assert "lags begin at 25" in err
    assert "delay=23" in err
