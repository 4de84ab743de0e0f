"""`kernbrook explain`: the tables, the page, the JSON, and what is refused."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.evaluation import train


def rows(n=200, seed=0):
    """Lines of a CSV file: who is late hangs on the carrier and the wind."""
    rng = np.random.default_rng(seed)
    lines = ["carrier,seats,wind,late"]
    for _ in range(n):
        carrier, wind = rng.choice(["UA", "B6", "<b>"]), round(rng.gamma(2.0, 4.0), 2)
        seats = rng.choice(["120.0", "NA", "180"])
        lines.append(f"{carrier},{seats},{wind:.2f},{wind + 9 * (carrier == 'B6') > 10}")
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of the first rows, and new ones with and without labels."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "old.csv").write_text("\n".join(rows()))
    new = rows(120, seed=1)
    (folder / "new.csv").write_text("\n".join(new))
    (folder / "bare.csv").write_text("\n".join(line.rpartition(",")[0] for line in new))
    encoder = kb.TableEncoder({"carrier": 4}, missing="indicator")
    stream = kb.open_stream(folder / "old.csv", label="late", encoder=encoder)
    train(stream, kb.recipes.make("kernbrook-classification", random_state=0), folder / "m.kb")
    return folder


@pytest.fixture
def trained(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)


def cells(out, first):
    """The words of the line that begins with that word."""
    (found,) = [line for line in out.splitlines() if line.split()[:1] == [first]]
    return found.split()


def test_which_columns_matter(kernbrook, trained):
    code, out, err = kernbrook("explain", "m.kb", "new.csv")
    assert (code, err) == (0, "")
    assert out.startswith("new: what matters to m.kb")
    columns = [line.split()[0] for line in out.splitlines()[3:6]]
    assert set(columns[:2]) == {"carrier", "wind"}
    assert columns[2] == "seats"
    assert "Mean ± standard deviation, of all 120 rows." in " ".join(out.split())
    assert "log loss more without it" in out
    assert (
        "error in % more without it"
        in kernbrook("explain", "m.kb", "new.csv", "--measure", "error")[1]
    )


def test_rows_that_the_model_has_learned(kernbrook, trained):
    """Which columns matter to new rows is another question; one prediction is what it is."""
    told = "old: its 200 rows are those of 'old', which m.kb has learned: on new rows other columns"
    assert told in kernbrook("explain", "m.kb", "old.csv")[2]
    assert kernbrook("explain", "m.kb", "old.csv", "--row", 3)[2] == ""


def test_why_a_row(kernbrook, trained):
    line = rows(120, seed=1)[7].split(",")
    code, out, err = kernbrook("explain", "m.kb", "new.csv", "--row", 7)
    assert (code, err) == (0, "")
    assert out.startswith("new, row 7: chance of ")
    for name, value in zip(("carrier", "seats", "wind"), line, strict=False):
        assert cells(out, name)[1] == value  # as it is written
    adds = [float(cells(out, name)[2]) for name in ("carrier", "seats", "wind")]
    usual, score = float(cells(out, "usually")[1]), float(cells(out, "this")[2])
    assert usual + sum(adds) == pytest.approx(score, abs=0.26)  # each is rounded
    assert "the last 200 rows learned" in " ".join(out.split())
    turned = kernbrook("explain", "m.kb", "bare.csv", "--row", 7, "--class", "True")[1]
    other = kernbrook("explain", "m.kb", "new.csv", "--row", 7, "--class", "False")[1]
    one, two = (float(cells(text, "this")[2]) for text in (turned, other))
    assert one + two == pytest.approx(100.0)


def test_everything_as_json(kernbrook, trained):
    code, out, err = kernbrook("explain", "m.kb", "new.csv", "--row", 120, "--json", "-")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["n_rows"], found["importance"]) == (120, None)
    own = found["explanation"]
    adds = [one["contribution"] for one in own["columns"]]
    assert own["base"] + sum(adds) == pytest.approx(own["score"], abs=1e-9)
    assert [one["column"] for one in own["columns"]] == ["carrier", "seats", "wind"]
    model = kb.load("m.kb")
    names, line = ("carrier", "seats", "wind"), rows(120, seed=1)[120].split(",")
    again = kb.explain("m.kb", dict(zip(names, line, strict=False)))
    assert again.score == pytest.approx(own["score"])
    assert own["what"] == "probability"
    assert own["of_class"] in map(str, model.classes_)


def test_a_page_of_both(kernbrook, trained, tmp_path):
    place = next(i for i, line in enumerate(rows(120, seed=1)) if line.startswith("<b>"))
    code, _, err = kernbrook("explain", "m.kb", "new.csv", "--row", place, "--report", "why.html")
    assert (code, err) == (0, "wrote why.html\n")
    page = (tmp_path / "why.html").read_text("utf-8")
    assert "<h1>Row" in page
    assert "How much each column matters" in page
    assert page.count("<svg") == 2
    assert "<b>" not in page
    assert page.count("&lt;b&gt;") == 2  # in the figure and in the table
    code, _, err = kernbrook("explain", "m.kb", "new.csv", "--report", "all.html")
    assert (code, err) == (0, "wrote all.html\n")
    assert (tmp_path / "all.html").read_text("utf-8").count("<svg") == 1


def test_a_page_without_labels(kernbrook, trained, tmp_path):
    code, _, err = kernbrook("explain", "m.kb", "bare.csv", "--row", 3, "--report", "why.html")
    assert code == 0
    assert err.startswith("no importance of columns on the page: bare: there are no labels")
    assert "The data have no labels" in (tmp_path / "why.html").read_text("utf-8")


def test_numbers_and_data_that_are_numbers(kernbrook):
    assert kernbrook("train", "friedman:300", "--model", "n.kb", "--recipe", "raker")[0] == 0
    out = kernbrook("explain", "n.kb", "friedman:300")[1]
    assert "root mean squared error more without it" in out
    out = kernbrook("explain", "n.kb", "friedman:300", "--row", 5)[1]
    assert out.startswith("friedman:300, row 5: prediction ")
    assert "100 of the last 300 rows of friedman:300" in " ".join(out.split())
    assert cells(out, "3")[1].startswith("0.")


def test_the_index_of_a_column_counts_in_many(kernbrook):
    assert kernbrook("train", "wdbc:200", "--model", "w.kb", "--recipe", "bpas")[0] == 0
    out = kernbrook("explain", "w.kb", "wdbc:200", "--row", 5)[1]
    assert "10 other columns" in out
    assert "... and 10 columns more, none above" in kernbrook("explain", "w.kb", "wdbc:200")[1]


def test_one_label_against_the_rest(kernbrook, tmp_path):
    lines = [line.replace("<b>", "AA") for line in rows()]
    (tmp_path / "old.csv").write_text("\n".join(lines))
    options = "--categorical late=True,False --drop seats --label carrier --positive B6"
    assert kernbrook("train", "old.csv", "--model", "p.kb", *options.split())[0] == 0
    assert kernbrook("explain", "p.kb", "old.csv")[0] == 0
    out = kernbrook("explain", "p.kb", "old.csv", "--row", 3, "--class", "1")[1]
    assert out.startswith("old, row 3: chance of 1 ")
    assert cells(out, "late")[1] == lines[3].split(",")[3]


def test_rows_without_a_label_are_not_the_rest(kernbrook, tmp_path):
    """Of a model of one label against the rest: half of these have none."""
    lines = [f"{i % 7},{i % 5},{'' if i % 2 else 'AB'[i % 7 > 3]}" for i in range(60)]
    (tmp_path / "half.csv").write_text("\n".join(["a,b,label", *lines, ""]))
    call = "train", "half.csv", "--model", "h.kb", "--table", "positive=B", "--recipe", "bpas"
    assert kernbrook(*call)[0] == 0
    kernbrook("explain", "h.kb", "half.csv", "--json", "h.json")
    found = json.loads((tmp_path / "h.json").read_text())
    assert found["importance"]["rows"] == 30


REFUSED = [
    (["new.csv", "--row", "121"], "--row: expected 1 to 120, the rows of new, got 121"),
    (["bare.csv"], "bare: there are no labels, with which importance compares what the model"),
    (["new.csv", "--class", "True"], "--class: goes with --row"),
    (["new.csv", "--row", "1", "--measure", "error"], "--measure: goes without --row, or with"),
    (
        ["new.csv", "--row", "1", "--class", "Yes"],
        "of_class: expected one of False, True, got 'Yes'",
    ),
    (
        ["new.csv", "--measure", "auc"],
        "measure: the model predicts classes, expected 'log_loss'",
    ),
    (
        ["new.csv", "--measure", "mae"],
        "measure: the model predicts classes, expected 'log_loss'",
    ),
    (["one.csv"], "y: expected two classes or more to tell apart, found True alone"),
    (["other.csv"], "y: expected labels of the model, False, True, found 'maybe'"),
    (["odd.csv"], "odd.csv, line 3: column 'wind': expected a number, found 'strong'"),
    (["none.csv"], "none.csv"),
    (["new.csv", "--report", "why.txt"], "--report: expected a name that ends in .html"),
    (["new.csv", "--json", "new.csv"], "--json: new.csv is read by this command"),
]


def test_one_sentence(kernbrook, trained, tmp_path):
    new = rows(120, seed=1)
    files = {
        "one": [new[0], *(line for line in new if line.endswith("True"))],
        "other": [line.rpartition(",")[0] + ",maybe" for line in new],
        "odd": [*new[:2], "UA,120,strong,True", *new[2:]],
    }
    files["other"][0] = new[0]
    for name, lines in files.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    for arguments, told in REFUSED:
        code, out, err = kernbrook("explain", "m.kb", *arguments)
        assert (code, out, err.count("\n")) == (1, "", 1), err
        assert err.startswith(f"kernbrook: {told}"), err


def test_a_column_that_is_not_there_is_one_of_gaps(kernbrook, trained, tmp_path):
    less = [",".join(line.split(",")[i] for i in (0, 1, 3)) for line in rows(120, seed=1)]
    (tmp_path / "less.csv").write_text("\n".join(less))
    code, _, err = kernbrook("explain", "m.kb", "less.csv")
    assert (code, "less: no column 'wind': filled as gaps, in 120 rows" in err) == (0, True)


def test_a_model_that_looks_at_nothing(kernbrook, trained):
    options = ["--label", "late", "--categorical", "carrier", "--table", "drop=seats"]
    code = kernbrook("train", "old.csv", "--model", "t.kb", "--recipe", "last-label", *options)[0]
    assert code == 0
    out = kernbrook("explain", "t.kb", "new.csv")[1]
    assert "No column changes what the model says." in " ".join(out.split())
    err = kernbrook("explain", "t.kb", "new.csv", "--row", 1)[2]
    assert "TrivialClassifier has neither probabilities nor decisions to explain" in err


def test_columns_that_the_model_does_not_know(kernbrook, trained, tmp_path):
    lines = rows(120, seed=1)
    more = [f"{line},{'new' if i == 0 else i}" for i, line in enumerate(lines)]
    (tmp_path / "more.csv").write_text("\n".join(more))
    code, _, err = kernbrook("explain", "m.kb", "more.csv")
    assert (code, "unknown 'new'; ignore_extra (--ignore-extra) leaves out" in err) == (1, True)
    for row in ([], ["--row", 3]):
        code, out, err = kernbrook(
            "explain", "m.kb", "more.csv", "--table", "ignore_extra=true", *row
        )
        known = kernbrook("explain", "m.kb", "new.csv", *row)[1]
        assert (code, out.split()) == (0, known.replace("new", "more", 1).split())
        assert "left out 1 column: 'new'" in err


def test_no_rows(kernbrook, tmp_path):
    assert kernbrook("train", "wdbc:90", "--model", "w.kb", "--recipe", "bpas")[0] == 0
    (tmp_path / "empty.svm").write_text("# nothing\n")
    code, _, err = kernbrook("explain", "w.kb", "empty.svm")
    assert code == 1
    assert err.count("\n") == 1


def test_no_model(kernbrook, tmp_path):
    code, _, err = kernbrook("explain", "m.kb", "wdbc")
    assert code == 1
    assert "m.kb" in err
    kb.save(kb.OnlineMKClassifier(), tmp_path / "new.kb")
    code, _, err = kernbrook("explain", "new.kb", "wdbc")
    assert (code, err.strip()) == (1, "kernbrook: new.kb: a model that has not learned anything")
    assert kernbrook("explain", "new.kb", "wdbc", "--row", 0)[0] == 2


def test_a_full_disk_costs_the_page_alone(kernbrook, trained, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "why.html")

    monkeypatch.setattr("kernbrook.reports.page.write_text", full)
    code, out, err = kernbrook("explain", "m.kb", "new.csv", "--row", 2, "--report", "why.html")
    assert code == 1
    assert out.startswith("new, row 2: chance of ")
    assert err == "kernbrook: why.html: No space left on device\n"
    assert not (tmp_path / "why.html").exists()
