"""`kernbrook label` as a person meets it: what is on the screen, what a kill may not cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sittings import answers_of

import kernbrook as kb
from kernbrook.cli.person import percent

NEW = ["--recipe", "omkc-dd", "--classes", "no,yes"]
FILES = ["--questions", "q", "--answers", "a"]
PROMPT = "(s skip, u undo, q quit, ? help): "


@pytest.fixture
def flowers(tmp_path):
    """Rows without labels in flowers.csv, and the labels, all "yes" or "no"."""
    X = np.random.default_rng(0).normal(size=(80, 3)).round(3)
    lines = ["width,height,the colour of it"]
    lines += [",".join(map(str, row)) for row in X.tolist()]
    (tmp_path / "flowers.csv").write_text("\n".join(lines) + "\n")
    return X, np.where(X[:, 0] > 0, "yes", "no").tolist()


# -- answers on standard input ----------------------------------------------------------------


def expected_of(X, truth):
    """The model that the command begins, after the hidden labels; and which it asked for."""
    model = kb.recipes.make("omkc-dd", random_state=0).set_params(labels=kb.MarginSampling())
    _, asked = model.learn(X, np.array(truth))
    return model, np.flatnonzero(asked) + 1


def test_answers_from_a_pipe(kernbrook, flowers):
    X, truth = flowers
    model, rows = expected_of(X, truth)
    command = ["label", "m", "flowers.csv", *NEW]
    code, out, err = kernbrook(*command, typed=[truth[row - 1] for row in rows])
    assert code == 0
    found, lines = kb.load("m").model, answers_of("m")
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    assert [line["row"] for line in lines] == rows.tolist()
    assert err.count(PROMPT) == len(rows)
    summary = dict(re.split(r"  +", line) for line in out.splitlines())
    right, of = sum(line["predicted"] == line["label"] for line in lines), len(rows) - 1
    given = [line["label"] for line in lines]
    most = max(("no", "yes"), key=given.count)
    times = given[1:].count(most)
    assert ("No better" in summary.pop("")) == (right <= times)
    assert summary == {
        "rows": "80 of 80",
        "labels given": f"{len(rows)}",
        "skipped": "0",
        "spared": f"{80 - len(rows)} ({100 * (80 - len(rows)) / 80:.0f} %)",
        "model right": f"{right} of {of} ({100 * right / of:.0f} %) that it asked about, the hard "
        "ones",
        "trivial rule": f"{times} of {of} ({100 * times / of:.0f} %) by always saying {most!r}",
        "answers": "m.labels.jsonl",
        "next": "kernbrook predict m flowers.csv",
        "or": "kernbrook label m flowers.csv --export labels.csv",
    }
    before = Path("m").read_bytes()
    assert kernbrook(*command)[:2] == (0, out)
    assert Path("m").read_bytes() == before
    code, predicted, err = kernbrook("predict", "m", "flowers.csv")
    assert (code, predicted.split(), err) == (0, found.predict(X).tolist(), "")


def test_what_is_shown(kernbrook, flowers):
    X, truth = flowers
    _, rows = expected_of(X, truth)
    code, _, err = kernbrook("label", "m", "flowers.csv", *NEW, typed=[truth[r - 1] for r in rows])
    assert code == 0
    screens = err.split("\nrow ")[1:]
    assert len(screens) == len(rows)
    expected = [
        "1 of 80   asked 0 of 0   spared 0",
        f"  width            {X[0, 0]:6g}",
        f"  height           {X[0, 1]:6g}",
        f"  the colour of it {X[0, 2]:6g}",
        "",
        "the model has no label yet",
        "   1  no",
        "   2  yes",
        "why it asks: the first label is always asked for",
        f"label {PROMPT}{truth[0]}",
    ]
    assert [re.sub(" +", " ", line) for line in screens[0].splitlines()] == [
        re.sub(" +", " ", line) for line in expected
    ]
    row, seen = rows[-1], X[: rows[-1]]
    shown = screens[-1].splitlines()
    asked = f"asked {len(rows) - 1} of {row - 1}"
    assert shown[0] == f"{row} of 80   {asked}   spared {row - len(rows)}"
    usual = f"usual {seen[:, 0].mean():.1f} ± {seen[:, 0].std():.1f}"
    assert re.fullmatch(rf"  width  +{X[row - 1, 0]:g}   {re.escape(usual)}", shown[1])
    model, _ = expected_of(X[: row - 1], truth[: row - 1])
    chances = model.predict_proba(X[[row - 1]])[0]
    answers = answers_of("m")[1:-1]
    right = sum(line["predicted"] == line["label"] for line in answers)
    sure = f"{percent(chances.max())} sure of {['no', 'yes'][chances.argmax()]}"
    assert shown[5] == f"the model is {sure}; right on {right} of {len(answers)} so far"
    assert shown[6:8] == [
        f"   1  no    {percent(chances[0]):>9}",
        f"   2  yes   {percent(chances[1]):>9}",
    ]
    assert shown[8].startswith("why it asks: ")


@pytest.mark.parametrize(
    ("typed", "classes", "label"),
    [
        (["  YES "], "no,yes", "yes"),
        (["2"], "no,yes", "yes"),
        (["3", "0", "maybe", "-1", "no"], "no,yes", "no"),
        (["", "?", "help", "n"], "no,yes", "no"),
        (["be", "beg"], "benign,begin,none", "begin"),
        (["set"], "set,setosa", "set"),
        (["3", "-", "1.0"], "1,2", 1),
        (["1", "one"], "2,one", "one"),
        (["q", "qu", "quilt"], "quilt,duvet", "quilt"),
    ],
)
def test_what_may_be_typed(kernbrook, flowers, typed, classes, label):
    new = ["--recipe", "omkc-dd", "--classes", classes]
    code, _, err = kernbrook("label", "m", "flowers.csv", *new, typed=typed)
    assert code == 0
    first = [line for line in answers_of("m") if line["row"] == 1]
    assert [line["label"] for line in first] == [label]
    asked_of_first = err.split("\nrow ")[1].count("? help): ")
    assert asked_of_first == len(typed)


def test_what_is_not_understood_is_explained(kernbrook, flowers):
    classes = ["--recipe", "omkc-dd", "--classes", "setosa,sepia,other"]
    typed = ["blue", "4", "se", "s", "?", "quit"]
    code, _, err = kernbrook("label", "m", "flowers.csv", *classes, typed=typed)
    assert code == 0
    assert not answers_of("m")
    assert "label (skip, u undo, q quit, ? help): " in err
    for said in (
        "expected one of other, sepia, setosa, found 'blue'",
        "expected one of other, sepia, setosa, found '4'",
        "'se' could be sepia, setosa: type more of it",
        "'s' could be sepia, setosa, skip: type more of it",
        "Type the label, its beginning, or its number here:",
        "skip: pass on without a label",
    ):
        assert said in err


def test_undo(kernbrook, flowers):
    """Of what the person sees; the same model as if there had been no slip, here and later."""
    X, truth = flowers
    _, rows = expected_of(X, truth)
    right = [truth[row - 1] for row in rows]
    wrong = ["yes" if label == "no" else "no" for label in right]
    command = ["label", "m", "flowers.csv", *NEW]
    typed = ["u", *right[:2], wrong[2], "undo", "u", right[2], "s", "u", *right[3:5], "q"]
    code, _, err = kernbrook(*command, typed=typed)
    assert code == 0
    assert err.count("there is no answer to take back") == 2
    back = [f"taken back: row {rows[2]} {wrong[2]}", f"taken back: row {rows[3]} skipped"]
    assert re.findall("taken back: .*", err) == back
    typed = ["und", *right[5:], "what", "u", right[-1]]
    code, out, err = kernbrook(*command, typed=typed)
    assert code == 0
    finish = "Enter finishes, u takes the answer back: "
    assert f"no row is left; the last answer: row {rows[-1]} {right[-1]}\n{finish}what\n" in err
    assert f"labels given  {len(rows)}\nskipped       0\n" in out
    kernbrook("label", "whole", "flowers.csv", *NEW, typed=right)
    assert Path("m").read_bytes() == Path("whole").read_bytes()
    assert sum("undo" in line for line in answers_of("m")) == 3
    names = ["--recipe", "omkc-dd", "--classes", "under,above"]
    code, _, err = kernbrook("label", "n", "flowers.csv", *names, typed=["u", "und", "un", "q"])
    assert "(s skip, undo, q quit, ? help): " in err
    assert "'un' could be under, undo: type more of it" in err
    assert not answers_of("n")


def test_text_and_image_are_shown(kernbrook, flowers):
    _, truth = flowers
    lines = Path("flowers.csv").read_text().splitlines()
    more = [f"{line},{i}.png,a note \x1b[2J" for i, line in enumerate(lines[1:], start=1)]
    Path("more.csv").write_text("\n".join([f"{lines[0]},photo,note", *more]) + "\n")
    aside = ["--text", "note", "--image", "photo"]
    typed = [truth[0], "y", "n", "q"]
    code, _, err = kernbrook("label", "m", "more.csv", *NEW, *aside, typed=typed)
    assert code == 0
    assert "\n  a note \\x1b[2J\n  1.png\n  width " in err
    assert kernbrook("label", "bare", "flowers.csv", *NEW, typed=typed)[0] == 0
    assert answers_of("m") == answers_of("bare")
    said = [kernbrook("predict", *own)[1] for own in (("m", "more.csv"), ("bare", "flowers.csv"))]
    assert said[0] == said[1]


def test_numbers(kernbrook, flowers):
    X, _ = flowers
    policy = kb.RandomLabels(1.0)
    pool = [kb.Gaussian(sigma=1.0)]
    kb.save(kb.OnlineMKRegressor(pool, kb.Ridge(), labels=policy, random_state=0), "m")
    typed = ["4.5", "much", "nan", "1e100", "2", "s", "-1e-3", "?", "5", "q"]
    code, out, err = kernbrook("label", "m", "flowers.csv", typed=typed)
    assert code == 0
    assert [line["label"] for line in answers_of("m")] == [4.5, 2.0, None, -0.001, 5.0]
    assert err.count("expected a number, found ") == 3
    assert "Type the number." in err
    assert f"number {PROMPT}" in err
    shown = re.findall(r"the model expects (\S+); off by (\S+) on (\d+) so far", err)
    lines = [line for line in answers_of("m") if line["label"]]
    off = np.sqrt(np.mean([(line["predicted"] - line["label"]) ** 2 for line in lines[1:]]))
    assert shown[-1] == (f"{kb.load('m').model.predict(X[[5]])[0]:.4g}", f"{off:.3g}", "3")
    assert f"\nrms error     {off:.4g} on 3 labels that it asked for\n" in out
    labels = np.array([line["label"] for line in lines])
    rule = np.sqrt(np.mean((labels[1:] - labels.mean()) ** 2))
    assert f"\ntrivial rule  {rule:.4g} on 3 labels by always saying {labels.mean():.4g}\n" in out


def test_sparse_rows(kernbrook):
    """Of these the features that are there, so many at most."""
    many = " ".join(f"{j}:1" for j in range(10, 30))
    Path("data.svm").write_text(f"0 2:1 9:2.5\n0\n0 {many}\n")
    kb.save(kb.OnlineMKClassifier(random_state=0), "m")
    _, _, err = kernbrook("label", "m", "data.svm", "--classes", "1,2", typed=["1"] * 3)
    first, second, third = (screen.splitlines() for screen in err.split("\nrow ")[1:])
    assert first[1:4] == ["  feature 2    1", "  feature 9  2.5", ""]
    assert second[1:3] == ["  all features are 0", ""]
    assert third[13] == "  and 8 other nonzero ones, less unusual"


def test_many_classes(kernbrook, flowers):
    names = [f"c{i:02}" for i in range(30)]
    new = ["--recipe", "omkc-dd", "--classes", ",".join(names)]
    typed = ["c07", "c05", "20", "?", "c29", "q"]
    code, _, err = kernbrook("label", "m", "flowers.csv", *new, typed=typed)
    assert code == 0
    assert [line["label"] for line in answers_of("m")] == ["c07", "c05", "c19", "c29"]
    screen = err.split("\nrow ")[3].splitlines()
    start = next(i for i, line in enumerate(screen) if line.startswith("the model is"))
    chances = [line.split()[-2] for line in screen[start + 1 : start + 10]]
    assert chances == sorted(chances, key=float, reverse=True)
    assert screen[start].split(" sure of ")[1].split(";")[0] == screen[start + 1].split()[1]
    assert screen[start + 10] == "  and 21 others, see ?"
    helped = err.split("Type the label")[1]
    assert all(f"{i + 1:2}  c{i:02}" in helped for i in range(30))


# -- the data and the model -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["m"], 2, "Missing argument"),
        (["absent", "flowers.csv"], 1, "absent does not exist; to begin a new model, name"),
        (["new", "wdbc", "--classes", "1,-1", "--text", "note"], 1, "'note': wdbc is no table"),
        (["new", "flowers.csv", *NEW, "--web", *FILES], 1, "one of them"),
        (["new", "flowers.csv", "--recipe", "omkc-dd"], 1, "expected all labels (--classes)"),
        (["new", "flowers.csv", "--recipe", "spa", "--classes", "a"], 1, "labels or more, got a"),
        (["new", "flowers.csv", *NEW, "--table", "label=b"], 1, "unknown column 'b'"),
        (["new", "flowers.csv", *NEW, "--table", "words=a", "--text", "a"], 1, "shown by itself"),
        (["m", "wdbc"], 1, "wdbc: expected 3 features, found 30"),
        (["m", "flowers.csv", *NEW, "--set", "discount=0.5"], 1, "and is Hedge(discount=0.5)"),
        (["new", "flowers.csv", "--classes", f"1,{'9' * 400}"], 1, "words, or numbers below 2^53"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(kernbrook, flowers, tmp_path, arguments, code, said):
    kernbrook("label", "m", "flowers.csv", *NEW, typed=["yes", "q"])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found, out, err = kernbrook("label", *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


# -- files ------------------------------------------------------------------------------------


ANSWERER = """
import json, time
done = 0
while True:
    try:
        asked = open("q").read().split("\\n")[:-1]
    except FileNotFoundError:
        asked = []
    for line in asked[done:]:
        question = json.loads(line)
        label = "yes" if question["x"]["width"] > 0 else "no"
        with open("a", "a") as file:
            file.write(json.dumps({"id": question["id"], "label": label}) + "\\n")
    done = len(asked)
    time.sleep(0.001)
"""


def test_another_process_answers(kernbrook, flowers):
    X, truth = flowers
    model, rows = expected_of(X, truth)
    with subprocess.Popen([sys.executable, "-c", ANSWERER]) as other:
        try:
            code, out, err = kernbrook("label", "m", "flowers.csv", *NEW, *FILES)
        finally:
            other.kill()
    assert (code, "asking in q, waiting for answers in a" in err) == (0, True)
    assert f"labels given  {len(rows)}\n" in out
    questions = [json.loads(line) for line in Path("q").read_text().splitlines()]
    assert [question["id"] for question in questions] == rows.tolist()
    names = ["width", "height", "the colour of it"]
    assert questions[3]["x"] == dict(zip(names, X[rows[3] - 1].tolist(), strict=True))
    assert questions[3]["votes"].keys() == {"no", "yes"}
    assert questions[3]["predicted"] == max(questions[3]["votes"], key=questions[3]["votes"].get)
    found = kb.load("m").model.decision_function(X)
    np.testing.assert_array_equal(found, model.decision_function(X))


def test_answers_that_are_wrong(kernbrook, flowers):
    Path("a").write_text('{"id": 1, "label": "Yes!"}\n')
    for x, said in (
        ([0.5], "q: question 1 is there already, about another row"),
        (flowers[0][0].tolist(), "a, line 1: expected one of no, yes, found 'Yes!'"),
    ):
        named = dict(zip(["width", "height", "the colour of it"], x, strict=False))
        Path("q").write_text(json.dumps({"id": 1, "x": named}) + "\n")
        code, _, err = kernbrook("label", "m", "flowers.csv", *NEW, *FILES)
        assert (code, said in err) == (1, True), err
    assert not answers_of("m")


def test_sparse_questions(kernbrook, tmp_path):
    Path("data.svm").write_text("0 2:1 40:2.5\n0 3:1\n")
    Path("q").write_text('{"id": 1, "x": {"2": 1.0, "40": 2.5}}\n{"id": 2, "x": {"3": 1.0}}\n')
    Path("a").write_text('{"id": 1, "label": 7}\n{"id": 2, "label": null}\n')
    kb.save(kb.OnlineMKClassifier(random_state=0), "m")
    code, out, _ = kernbrook("label", "m", "data.svm", *FILES, "--classes", "7,8")
    assert code == 0
    assert "labels given  1\nskipped       1\n" in out
    assert len(Path("q").read_text().splitlines()) == 2
