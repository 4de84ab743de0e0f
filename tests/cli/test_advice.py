"""What a message advises is done, and then it works: each kind of value that offices write."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

pandas = pytest.importorskip("pandas")
MAJORITY = ["--recipe", "majority", "--label", "y"]
_WORD = r"""(?:'[^']*'|"[^"]*"|[^()\s'"])+"""
_WAY = re.compile(rf"\(--(\w+)[ =]({_WORD}(?: or {_WORD})*)\)")


def ways_of(message):
    """The ways that a message shows, each a list of options and values, and what they replace."""
    told = message.rsplit("; ", 1)[-1].replace("mean, last or indicator", "mean")
    ways = []
    for text in re.split(r"(?<=[)s]) or (?!mend)|, or |mend it", told):
        options = _WAY.findall(text)
        if not options:
            continue
        name, value = options[0]
        values = value.split(" or ") if name == "dates" else [value]
        for one in values:
            given = [(name, shlex.split(one)[0]), *((k, shlex.split(v)[0]) for k, v in options[1:])]
            in_place_of = re.findall(r"in place of (\w+)", text)
            ways.append((given, "no thousands" in text, in_place_of))
    return ways


def followed(given, way):
    """The same command with the advice; a mark is said once, a column declared once."""
    options, no_thousands, in_place_of = way
    given = list(given)
    gone = {name for name, _ in options if name in ("decimal", "thousands", "missing")}
    gone |= {"thousands"} if no_thousands else set()
    gone |= {*in_place_of, *({"dates"} & dict(options).keys())}
    for name in gone:
        pairs = range(len(given) - 1, 0, -1)
        said = [at for at in pairs if f"--{name}" == given[at - 1] or f"{name}=" in given[at]]
        for at in said:
            del given[at - 1 : at + 1]
    for name, value in options:
        given += [f"--{name}", value]
    return given


def csv(path, values, quote=True):
    rows = "".join(f'"{v}",{i % 3},{"no" if i % 2 else "yes"}\n' for i, v in enumerate(values))
    path.write_text(f"a,b,y\n{rows}", encoding="utf-8")


# By value, and what is said of the column already: how many ways there are.
DATED = ["--dates", "a"]
BAD = {
    "": 2, "1,200": 2, "1,5": 1, "1.234,50": 1, "1.234.567": 1, "1\u2019234": 1, "1 234,5": 1,
    "1\u202f234,5": 1, "1,00,000": 2, "$1,200.00": 2, "(1,200)": 2, "24. Dez. 2025": 2,
    "2024-W52-3": 2, "12/24/2025": 2, "2012/01/01 10:30": 2, "2024-01-31 12:00:00 UTC": 2,
    "2024-01-31T12:00:00.123456789": 2, "24.12.25": 2, "December 24, 2025": 2,
    "12/24/2025, 1:30:00 PM": 2, "14:30": 3, "Wed, 24 Dec 2025 10:00:00 +0100": 2,
}  # fmt: skip
CASES = [
    *((value, [], ways) for value, ways in BAD.items()),
    *((value, DATED, 2) for value in ("24 Dec 2025", "14:30", "20240131", "03/04/2025")),
    ("x", DATED, 1), ("1703894400000", DATED, 2),
    ("1.234", ["--table", "decimal=,"], 2), ("1,5", ["--table", "thousands=,"], 1),
    ("1.5", ["--table", "decimal=,", "--table", "thousands=."], 1),
    ("5", ["--table", "thousands=."], 1),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("value", "said", "n"), CASES)
def test_the_advice_of_train(kernbrook, tmp_path, value, said, n):
    csv(tmp_path / "t.csv", [value or "1", *[value] * 3])
    given = ["train", "t.csv", "--model", "m", "--overwrite", *MAJORITY, *said]
    code, _, err = kernbrook(*given)
    ways = ways_of(err.strip())
    assert (code, len(ways)) == (1, n), err
    for way in ways:
        code, _, err = kernbrook(*followed(given, way))
        assert code == 0, (way, err)


TRAINED = [
    ("5", []), ("1.5", ["--table", "thousands=,"]), ("1,5", ["--table", "decimal=,"]),
    ("1.234,5", ["--table", "decimal=,", "--table", "thousands=."]),
    ("2024-01-31", ["--dates", "a"]), ("24.12.2025", ["--dates", "a=%d.%m.%Y"]),
]  # fmt: skip
NEW = ["1,5", "1.5", "1,200.5", "1.234,5", "5 %", "€ 5", "x", "24.12.2025", "2024-01-31", "1/2/25"]


@pytest.mark.sampled
@pytest.mark.parametrize(("learned", "options"), TRAINED)
def test_the_advice_of_predict(kernbrook, tmp_path, learned, options):
    """What can be said to `predict` works; for what a column becomes the model is trained again."""
    csv(tmp_path / "t.csv", [learned] * 4)
    train = ["train", "t.csv", "--model", "m", "--overwrite", *MAJORITY]
    assert kernbrook(*train, *options)[0] == 0
    refused = 0
    for value in NEW:
        csv(tmp_path / "new.csv", [value] * 3)
        code, _, err = kernbrook("predict", "m", "new.csv")
        if code == 0:
            continue
        refused += 1
        now, mend, again = err.strip().partition(", or train again with ")
        ways = ways_of(now)
        assert ways or now.endswith("; mend it"), err
        assert bool(mend) == bool(again)
        for way in ways:
            code, out, err = kernbrook(*followed(["predict", "m", "new.csv"], way))
            assert (code, len(out.split())) == (0, 3), (way, err)
    assert refused >= 4


@pytest.mark.parametrize("labels", [("", "", ""), ("yes", "", "no")])
def test_labels_with_gaps_do_not_stop_predict(kernbrook, tmp_path, labels):
    csv(tmp_path / "t.csv", range(30))
    assert kernbrook("train", "t.csv", "--model", "m", *MAJORITY)[0] == 0
    rows = "".join(f"{i},1,{label}\n" for i, label in enumerate(labels))
    (tmp_path / "new.csv").write_text(f"a,b,y\n{rows}")
    frame = pandas.read_csv("new.csv")
    frame.to_json("new.jsonl", orient="records", lines=True)
    frame.to_parquet("new.parquet")
    for name in ("new.csv", "new.jsonl", "new.parquet"):
        code, out, err = kernbrook("predict", "m", name)
        assert (code, len(out.split())) == (0, 3), err
        counted = "not counted: 1 row without a label" in err and "on 2 labelled rows" in err
        nobody = "new: column 'y' has no label: nothing says how good the predictions are\n"
        assert counted if any(labels) else err == nobody


def test_a_format_of_predict(kernbrook, tmp_path):
    csv(tmp_path / "iso.csv", ["2025-12-24", "2025-04-03", "2025-01-02"])
    csv(tmp_path / "german.csv", ["24.12.2025", "3.4.2025", "2.1.2025"])
    given = ["train", "--model", "m", "--overwrite", "--recipe", "bpas", "--label", "y"]
    code, _, err = kernbrook(*given, "german.csv", "--dates", "a")
    assert (code, "its dates are read as %d.%m.%Y" in err) == (0, True)
    expected = kernbrook("predict", "m", "german.csv")[1]
    iso, german = (("--table", f'dates={{"a": "{one}"}}') for one in ("%Y-%m-%d", "%d.%m.%Y"))
    assert kernbrook("predict", "m", "iso.csv", *iso)[1] == expected
    assert kernbrook(*given, "iso.csv", "--dates", "a")[0] == 0
    assert kernbrook("predict", "m", "german.csv", *german)[1] == expected
    code, _, err = kernbrook("predict", "m", "german.csv", "--table", 'dates={"a": ["days"]}')
    assert (code, "dates was {'a': [" in err) == (1, True)
    code, _, err = kernbrook("predict", "m", "german.csv", "--table", 'dates={"b": "%d.%m.%Y"}')
    assert (code, "dates: 'b' is no column of dates here" in err) == (1, True)


ENDS = "ends with a separator: "
SHELL = {
    "ends.csv": ("a,b,y\r\n1,4,7,\r\n2,5,8,\r\n", "expected 3 values, found 4; each row " + ENDS),
    "ends.tsv": ("a\tb\ty\t\n1\t4\t7\t\n2\t\t8\t\n3\t5\t6\t\n", "each line " + ENDS),
    "excel.csv": ("a;b;y;;\n1;4;7;;\n2;;5;;\n;;6;;\n", "each line ends with 2 separators: "),
    "rows.csv": ("a;b;y\n1;4;7;;\n2;;5;;\n", "found 5; each row ends with 2 separators: "),
    "comment.csv": ("# by X, 2024\na,b,y\n1,4,7\n2,5,8\n", "no comments in a CSV file"),
    "title.csv": ("Report, 2024\na,b,y\n1,4,7\n2,5,8\n", "found 2 values, and 3 from line 2 on"),
    "lines.csv": ("Report\n\nof X\na;b;y\n1;4;7\n2;5;8\n", "found 1 value, and 3 from line 4 on"),
    "blanks.dat": ("  id  male y\n   1  0  1\n  12  1  0\n", "columns parted by blanks?"),
    "blanks.csv": ("id male y\n1 0 1\n12  1 0\n", "columns parted by blanks?"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHELL)
def test_a_filter_that_a_message_names(kernbrook, tmp_path, name):
    """What it writes is trained on."""
    content, told = SHELL[name]
    path = tmp_path / name
    path.write_bytes(content.encode())
    given = ["train", "--model", "m", "--overwrite", "--recipe", "majority"]
    code, _, err = kernbrook(*given, path)
    assert (code, told in err) == (1, True), err
    way = re.search(r"((sed|awk) .*?) (takes|cuts|writes)", err)[1]
    done = subprocess.run(way, shell=True, input=path.read_bytes(), capture_output=True)
    assert done.stderr == b""
    path.with_suffix(".new").write_bytes(done.stdout)
    auto = ["--categorical", "auto", "--missing", "mean"]
    code, _, err = kernbrook(*given, path.with_suffix(".new"), *auto)
    assert code == 0, err


def test_levels_of_several_lines(kernbrook, tmp_path):
    """No line of a terminal can name them: they are hashed."""
    rows = [f'{i},"late\nbut fine",x,p\n{i},"quick, ok",z,q' for i in range(10)]
    (tmp_path / "t.csv").write_text("\n".join(["a,note,b,y", *rows]))
    code, _, err = kernbrook("train", "t.csv", "--model", "m", *MAJORITY)
    assert (code, "2 levels: 'late\\nbut fine', 'quick, ok'" in err) == (1, True)
    way = shlex.split(err.partition("so they are read: kernbrook ")[2])
    code, _, err = kernbrook(*way)
    assert (code, "wrote m" in err, "other values" in err) == (0, True, False)
