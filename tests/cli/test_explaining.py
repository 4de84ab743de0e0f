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
    out = kernbrook("explain", "m.kb", "new.csv", "--measure", "error")[1]
    assert "error in % more without it" in out


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
    assert own["what"] == "probability"


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
    code, _, err = kernbrook("explain", "m.kb", "bare.csv", "--row", 3, "--report", "why.html")
    assert code == 0
    assert err.startswith("no importance of columns on the page: bare: there are no labels")
    assert "The data have no labels" in (tmp_path / "why.html").read_text("utf-8")


REFUSED = [
    (["new.csv", "--row", "121"], "--row: expected 1 to 120, the rows of new, got 121"),
    (["bare.csv"], "bare: there are no labels, with which importance compares what the model"),
    (["new.csv", "--class", "True"], "--class: goes with --row"),
    (["new.csv", "--row", "1", "--measure", "error"], "--measure: goes without --row, or with"),
    (["new.csv", "--row", "1", "--class", "Yes"], "of_class: expected one of False, True, got"),
    (["new.csv", "--measure", "mae"], "measure: the model predicts classes, expected 'log_loss'"),
    (["odd.csv"], "odd.csv, line 3: column 'wind': expected a number, found 'strong'"),
    (["new.csv", "--report", "why.txt"], "--report: expected a name that ends in .html"),
    (["new.csv", "--json", "new.csv"], "--json: new.csv is read by this command"),
]


def test_one_sentence(kernbrook, trained, tmp_path):
    new = rows(120, seed=1)
    (tmp_path / "odd.csv").write_text("\n".join([*new[:2], "UA,120,strong,True", *new[2:]]))
    for arguments, told in REFUSED:
        code, out, err = kernbrook("explain", "m.kb", *arguments)
        assert (code, out, err.count("\n")) == (1, "", 1), err
        assert err.startswith(f"kernbrook: {told}"), err


def test_a_full_disk_costs_the_page_alone(kernbrook, trained, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "why.html")

    monkeypatch.setattr("kernbrook.reports.page.write_text", full)
    code, out, err = kernbrook("explain", "m.kb", "new.csv", "--row", 2, "--report", "why.html")
    assert code == 1
    assert out.startswith("new, row 2: chance of ")
    assert err == "kernbrook: why.html: No space left on device\n"
    assert not (tmp_path / "why.html").exists()
