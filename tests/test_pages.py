"""Pages say what the programs do: results, commands, keys of JSON, public names."""

import ast
import datetime
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas
import pytest
import typer
from beside import beside_the_tests, module_of

import kernbrook as kb
from kernbrook.cli.main import app, run
from kernbrook.papers import tables
from kernbrook.reports.table import results_json

# -- results ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written():
    """The program that writes the pages."""
    return module_of("docs/write_results.py")


def test_the_pages_of_results_are_up_to_date(written):
    for path, text in written.pages().items():
        said = f"{path.name}: write it anew: python docs/write_results.py"
        assert path.read_text(encoding="utf-8") == text, said


@pytest.mark.parametrize(
    ("program", "place", "made"),
    [("write_commands", "PAGE", "page"), ("write_layers", "PICTURE", "picture")],
)
def test_what_is_written_is_up_to_date(program, place, made):
    written = module_of(f"docs/{program}.py")
    text = getattr(written, place).read_text(encoding="utf-8")
    assert text == getattr(written, made)(), f"write it anew: python docs/{program}.py"


def test_every_published_table_has_its_place(written):
    pages = "".join(path.read_text("utf-8") for path in written.PAGES)
    for name in tables():
        assert pages.count(f"<!-- {name} -->") == 1


def test_stored_results_are_read_back_whole(written):
    for name in written.stored():
        path = beside_the_tests(f"results/{name}.json")
        values = json.loads(path.read_text(encoding="utf-8"))
        assert results_json(written.results_of(values)) == values


# -- commands --------------------------------------------------------------------------------------


def pages():
    """Names of the pages with prose."""
    docs = beside_the_tests("docs")
    found = [*docs.glob("*.md"), *(docs / "papers").glob("*.md")]
    return ["README.md", *(str(path.relative_to(docs.parent)) for path in sorted(found))]


def commands(some=None):
    """(commands in blocks, commands within lines) of all pages, or of some."""
    in_blocks, in_lines = {}, {}  # in their order
    for page in some or pages():
        text = beside_the_tests(page).read_text("utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
            whole = block.replace("\\\n", "")
            in_blocks |= dict.fromkeys(re.findall(r"^kernbrook .*", whole, re.M))
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        in_lines |= dict.fromkeys(re.findall(r"`(kernbrook [^`]*)`", prose))
    return [
        dict.fromkeys(" ".join(one.split()) for one in found).keys()
        for found in (in_blocks, in_lines)
    ]


def arguments(command):
    return shlex.split(command, comments=True)[1:]


def test_every_command_on_the_pages_is_understood():
    """It is parsed, not run: options and their values are known."""
    assert all(len(found) > 8 for found in commands())
    program = typer.main.get_command(app)
    for command in set().union(*commands()):
        name, *rest = arguments(command)
        if name.startswith("-"):  # an option of the program itself
            assert name in {given for one in program.params for given in one.opts}, command
            continue
        one = program.commands[name]
        if rest or name in ("data", "recipes", "warm"):
            with one.make_context(name, list(rest)) as context:
                table = context.params.get("table") if name == "reproduce" else None
                assert table in (None, "NAME", "TABLE", "mine-table-1", *tables()), command


PASSENGERS = """PassengerId,Survived,Name,Sex,Age,Ticket,Cabin,Embarked
1,0,"Braund, Owen",male,22,A/5 21171,,S
2,1,"Cumings, Florence",female,38,PC 17599,C85,C
3,1,"Heikkinen, Laina",female,,STON/O2,,S
4,0,"Allen, William",male,35,373450,,
"""


@pytest.mark.long
@pytest.mark.slow
def test_commands_in_blocks_run_as_they_are_written(tmp_path, monkeypatch, capfd):
    """But for those of published tables, which take minutes and are tested in `tests/papers`."""
    monkeypatch.chdir(tmp_path)
    X, y = kb.open_stream("checkerboard:300").read()
    for name, rows in (("data.svm", slice(0, 200)), ("new.svm", slice(200, 300))):
        lines = [f"{label} 1:{a} 2:{b}" for label, (a, b) in zip(y[rows], X[rows], strict=True)]
        (tmp_path / name).write_text("\n".join(lines))
    rows = [f"{a},{b},{label}" for label, (a, b) in zip(y, X, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["x1,x2,label", *rows]))
    (tmp_path / "titanic.csv").write_text(PASSENGERS)
    known = pandas.read_csv(tmp_path / "titanic.csv").drop(columns="Survived")
    known.to_parquet(tmp_path / "new.parquet")
    for day, name in enumerate(("monday", "tuesday"), start=1):
        flights = [f"2024-01-0{day} {i % 24:02d}:00,{i},{['no', 'yes'][i % 2]}" for i in range(40)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["when,seats,late", *flights]))
    own = commands(["docs/first_table.md", "docs/more_tables.md"])[0]  # with tables of their own
    left_out = [*own, *(one for one in commands()[0] if one.startswith("kernbrook reproduce"))]
    wanted = [one for one in commands()[0] if one not in left_out]
    assert len(wanted) >= 4
    after = "kernbrook predict", "kernbrook explain"
    for command in sorted(wanted, key=lambda one: (one.startswith(after), "--go-on" in one)):
        monkeypatch.setattr(sys, "argv", ["kernbrook", *arguments(command)])
        with pytest.raises(SystemExit) as end:
            run()
        assert end.value.code in (None, 0), f"{command}: {capfd.readouterr().err}"
    assert len((tmp_path / "predictions.txt").read_text().split()) == 100
    assert "<h1>Online learning on wdbc" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "first", "works"),
    [
        ("docs/first_table.md", "kernbrook train march.csv --model exams.kb", False),
        ("docs/more_tables.md", "kernbrook train progress-old.csv --model progress.kb", True),
    ],
)
def test_pages_from_a_csv_file(page, first, works, tmp_path, monkeypatch, capfd):
    """Their tables, their commands in their order, what these print, and their code."""
    monkeypatch.chdir(tmp_path)
    text = beside_the_tests(page).read_text("utf-8")
    make, use = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    exec(make, {})
    said = []
    assert f"`{first}`" in text
    for command in [first, *commands([page])[0]]:
        monkeypatch.setattr(sys, "argv", ["kernbrook", *arguments(command)])
        with pytest.raises(SystemExit) as end:
            run()
        said += ["\n".join(capfd.readouterr())]
        assert (not end.value.code) == (works or len(said) > 1), f"{command}: {said[-1]}"
    shown = re.search(r"```text\n(.*?)```", text, re.S)[1]
    assert " ".join(shown.split()) in " ".join(said[0].split())
    trivial = re.findall(r"^((?:majority|mean so far|always) .*\S)", text, re.M)
    assert len(trivial) > 2
    for line in trivial:
        assert any(line in one for one in said), line
    exec(use, {})
    assert capfd.readouterr().out.count("]") == 3 + 3 * works


@pytest.mark.slow
def test_the_page_of_a_service(tmp_path):
    """Killed twice, saved meanwhile, it gives the answers of a model that nothing happens to."""
    text = beside_the_tests("docs/service.md").read_text("utf-8")
    begin, serve = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    (tmp_path / "begin.py").write_text(begin)
    (tmp_path / "serve.py").write_text(serve.replace("time.sleep(60)", "time.sleep(0.5)"))
    subprocess.run([sys.executable, "begin.py"], cwd=tmp_path, check=True)
    late, rng = kb.load(tmp_path / "model-0.kb"), np.random.default_rng(1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def ask(*events, **event):
        body = json.dumps([*events] or event).encode()
        for _ in range(1200):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}", body, timeout=60) as said:
                    return json.load(said)
            except urllib.error.HTTPError as error:
                return json.load(error)
            except OSError:  # it begins
                time.sleep(0.1)

    waits = []
    for life in range(3):
        server = subprocess.Popen([sys.executable, "serve.py", f"{port}"], cwd=tmp_path)
        try:
            for i in range(40):
                key, record = f"{life}.{i}", {"day": str(rng.choice(["Sunday", "x"])), "km": i / 4}
                chances = late.predict_proba(record, [key])[0].tolist()
                assert ask(id=key, record=record) == dict(zip(("no", "yes"), chances, strict=True))
                waits.append(key)
                while len(waits) > 10 * (life + 1):
                    known = waits.pop(int(rng.integers(len(waits))))
                    said = late.learn([known], ["yes"])[0].tolist()[0]
                    assert ask(id=known, label="yes") == {"said": said}
            assert "waits for its label already" in ask(id=waits[-1], record=record)["error"]
            assert "expected a number" in ask(id="new", record={"km": "far"})["error"]
            assert "list indices" in ask("a list")["error"]
            time.sleep(1.5 * life)
        finally:
            server.kill()
            server.wait()
    assert len([*tmp_path.glob("model-*.kb")]) <= 2


@pytest.mark.slow
def test_the_job_of_each_day(tmp_path):
    """The file of a day is learned; given again, it is refused, and the old model is back."""
    text = beside_the_tests("docs/saving.md").read_text("utf-8")
    job = re.search(r"^```sh\n(day=.*?)^```", text, re.M | re.S)[1]
    rows = [f"{i % 2},{['no', 'yes'][i % 2]}" for i in range(60)]
    for name in ("before.csv", f"{datetime.date.today()}.csv"):
        (tmp_path / name).write_text("\n".join(["a,label", *rows, f"{len(name)},no"]))
    kb.save(
        kb.fit_table(tmp_path / "before.csv", label="label", model=kb.recipes.make("bpas")),
        tmp_path / "model.kb",
    )
    found = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for code in (0, 1):
        done = subprocess.run(["sh", "-c", job], cwd=tmp_path, env=os.environ | found, check=False)
        assert done.returncode == code, (tmp_path / "log.txt").read_text()
    learned, failed = (tmp_path / "log.txt").read_text().splitlines()
    assert " learned: wrote model.kb" in learned
    assert " failed: " in failed
    assert "anyway" in failed
    assert kb.load(tmp_path / "model.kb").model.n_rounds_ == 122


def test_programs_and_tables_that_pages_name_are_there():
    for page in [*pages(), "benchmarks/peers.md"]:
        text = beside_the_tests(page).read_text("utf-8")
        for name in re.findall(r"python ((?:benchmarks|docs|examples)/[a-z]\w*\.py)", text):
            assert beside_the_tests(name).is_file()
        found = re.findall(r"\b(?:omkc|bomkl|bpegasos|amkl|vkr)-(?:table|figure)-\d", text)
        assert set(found) <= set(tables())


def test_links_between_pages_lead_somewhere():
    """To files that are there, and to headings of these."""
    for page in pages():
        path = beside_the_tests(page)
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
            if re.match(r"https?:", target):
                continue
            name, _, heading = target.partition("#")
            other = (path.parent / name).resolve() if name else path
            assert other.exists(), f"{page}: {target}"
            if heading:
                titles = re.findall(r"^#+ (.*)", other.read_text("utf-8"), re.M)
                anchors = [re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in titles]
                assert heading in anchors, f"{page}: {target}"


def test_rows_of_tables_have_as_many_cells_as_their_headers():
    """A bar within code parts cells, too, unless a backslash is before it."""
    for page in pages():
        text = beside_the_tests(page).read_text("utf-8")
        for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
            bars = [len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()]
            assert len(set(bars)) == 1, f"{page}: {table}"


def test_every_page_is_in_a_table_of_contents():
    docs = beside_the_tests("docs")
    named = {docs / "index"}
    for page in pages():
        path = beside_the_tests(page)
        for block in re.findall(r"^```{toctree}\n(.*?)^```", path.read_text("utf-8"), re.M | re.S):
            named.update(path.parent / line for line in re.findall(r"^[a-z][\w/]*$", block, re.M))
    found = {beside_the_tests(page).with_suffix("") for page in pages() if page != "README.md"}
    assert found | {docs / "api", docs / "gallery" / "index"} == named


# -- keys of JSON ----------------------------------------------------------------------------------

KINDS = {
    bool: "boolean",
    str: "text",
    int: "integer",
    float: "number",
    list: "list",
    dict: "object",
}


def documented(name):
    """Keys of a table of docs/json_schema.md, with their types."""
    text = beside_the_tests("docs/json_schema.md").read_text("utf-8")
    table = re.search(rf"<!-- keys {name} -->\n(.*?)<!-- end -->", text, re.S)[1]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return {key: row[1].strip() for row in rows for key in re.findall(r"`([^`]+)`", row[0])}


def met(values, wanted, prefix=""):
    """(key, value) of all that lies in plain values, as far as `wanted` goes into them."""
    for name, value in values.items():
        inner = [key for key in wanted if key.startswith(f"{prefix}*.")]
        key = f"{prefix}{'*' if inner else name}"
        deeper = [one for one in wanted if one.startswith((f"{key}.", f"{key}[]."))]
        if key in wanted or not deeper:
            yield key, value
        if isinstance(value, dict) and deeper:
            yield from met(value, wanted, f"{key}.")
        elif isinstance(value, list) and deeper:
            for one in value:
                yield from met(one, wanted, f"{key}[].")


def check_keys(wanted, *found):
    """Each key that is met is documented with its type, and the other way round."""
    seen = set()
    for values in found:
        for key, value in met(values, wanted):
            assert key in wanted, key
            seen.add(key)
            kind = KINDS.get(type(value))
            kinds = wanted[key].split(" or ")
            kinds += ["integer"] if "number" in kinds else []
            assert value is None or kind in kinds, key
    assert seen == set(wanted)


@pytest.fixture
def said(few_samples, monkeypatch, capfd):
    """What a command writes as JSON."""

    def call(command):
        monkeypatch.setattr(sys, "argv", [*command.split(), "--json", "-"])
        with pytest.raises(SystemExit):
            run()
        return json.loads(capfd.readouterr().out)

    return call


def test_keys_of_compare(said):
    recipes = "--recipes spa,majority --permutations 2 --jobs 1"
    one = said(f"kernbrook compare wdbc:60 {recipes}")
    check_keys(documented("compare"), one)
    check_keys(documented("manifest"), one["manifest"])
    several = said(f"kernbrook compare wdbc:60 checkerboard:60 {recipes}")
    check_keys(documented("compare several"), several)
    for comparison in several["comparisons"]:
        check_keys(documented("compare"), comparison)


@pytest.mark.slow
def test_keys_of_reproduce(said, monkeypatch):
    monkeypatch.setattr("kernbrook.papers.omkc.DISCOUNT.places", (0.5, 1.0))
    figure = said("kernbrook reproduce omkc-figure-4 --data wdbc --permutations 1 --jobs 1")
    table = said("kernbrook reproduce omkc-table-4 --data wdbc --permutations 2 --jobs 1")
    check_keys(documented("reproduce"), figure, table)
    assert set(table["manifest"]) <= set(documented("manifest"))


def test_keys_of_what_is_said_of_models(said, tmp_path, capfd):
    """By train, predict, show and explain."""
    of_classes, of_numbers, grown = (f"{tmp_path / name}.kb" for name in "abc")
    classes = said(f"kernbrook train wdbc:60 --recipe omkc-dd --model {of_classes}")
    numbers = said(f"kernbrook train friedman:60 --recipe raker --model {of_numbers}")
    (tmp_path / "day.csv").write_text("a,label\n" + "1,x\n2,y\n" * 20)
    train = f"kernbrook train {tmp_path / 'day.csv'} --recipe omkc-dd --model {grown}"
    said(train)
    (tmp_path / "day.csv").write_text("a,label\n" + "1,x\n3,y\n" * 20)
    check_keys(documented("train"), classes, numbers, said(f"{train} --go-on"))
    assert set(classes) == set(documented("train")) - {"ahead"}
    assert not {"classes", "mistakes"} & set(numbers)
    told = ((of_classes, "wdbc:60"), (of_numbers, "friedman:60"))
    output = f"--output {tmp_path / 'out'}"
    found = [said(f"kernbrook predict {model} {data} {output}") for model, data in told]
    check_keys(documented("predict"), *found)
    whole, one = (said(f"kernbrook explain {of_classes} wdbc:60{row}") for row in ("", " --row 7"))
    check_keys(documented("explain"), whole | {"explanation": one["explanation"]})
    assert (whole["explanation"], one["importance"]) == (None, None)
    X, y = kb.open_stream("wdbc:60").read()
    skipping = kb.OnlineMKClassifier(learner=kb.BPAS(5), on_bad_rows="skip")
    late = kb.LateLabels(kb.NamedColumns(skipping), classes=[-1, 1])
    frame = pandas.DataFrame(X[:, :2], columns=["a", "b"])
    late.predict(frame[:20], range(20))
    late.learn(range(10), y[:10])
    voted = kb.VotedKernelClassifierCV(lams=[0.1, 0.01], betas=[0.1], cv=2)
    for name, model in (("late.kb", late), ("voted.kb", voted.fit(X[:, :2], y))):
        kb.save(model, tmp_path / name)
    capfd.readouterr()  # what the solver says of itself
    names = of_classes, of_numbers, tmp_path / "late.kb", tmp_path / "voted.kb"
    check_keys(documented("show"), *(said(f"kernbrook show {name}") for name in names))


def test_keys_of_label(tmp_path, monkeypatch, capfd):
    """Of the lines that it writes and reads."""
    monkeypatch.chdir(tmp_path)
    questions = tmp_path / "q.jsonl"

    def answer():
        with open(tmp_path / "a.jsonl", "w", buffering=1) as answers:
            for i, label in enumerate(["a", "b", None, "a"], start=1):
                while not (questions.exists() and questions.read_text().count("\n") == i):
                    time.sleep(0.01)
                answers.write(f"{json.dumps({'id': i, 'label': label})}\n")

    threading.Thread(target=answer, daemon=True).start()
    (tmp_path / "rows.csv").write_text("w,h\n1,2\n3,4\n5,6\n7,8\n")
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), labels=kb.RandomLabels(1.0))
    kb.save(model, tmp_path / "m")
    files = ["--questions", "q.jsonl", "--answers", "a.jsonl"]
    command = ["kernbrook", "label", "m", "rows.csv", "--classes", "a,b", *files]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        run()
    assert not end.value.code, capfd.readouterr()
    capfd.readouterr()
    asked, (begun, *given) = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("q.jsonl", "m.labels.jsonl")
    )
    check_keys(documented("label begun"), begun)
    check_keys(documented("label answer"), *given)
    check_keys(documented("label question"), *asked)


def test_keys_of_since_when(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "when": pandas.date_range("2024-01-01", periods=600, freq="h"),
            "x": rng.normal(size=600),
            "level": rng.choice(["a", "b"], 600),
            "hashed": rng.choice(["a", "b"], 600),
        }
    )
    late = np.where(frame["x"] > 0, "yes", "no")
    late[300:] = rng.choice(["yes", "no"], 300)
    columns = "--label y --dates when --categorical level=a --categorical hashed"
    found = []
    for y, recipe in ((late, "bpas"), (frame["x"] ** 2, "kernbrook-regression")):
        frame.assign(y=y).to_csv("t.csv", index=False)
        trained = said(f"kernbrook train t.csv --recipe {recipe} --model {recipe} {columns}")
        shown = said(f"kernbrook show {recipe}")
        since = ("windows", "n_changes", "changes")
        assert all(shown[key] == trained[key] for key in since)
        found.append({key: shown[key] for key in ("past", *since)})
    assert found[0]["changes"]
    check_keys(documented("since"), *found)


# -- public names ----------------------------------------------------------------------------------


def test_the_page_of_the_api_has_every_public_name():
    text = beside_the_tests("docs/api.rst").read_text("utf-8")
    listed = re.findall(r"^   ([\w.]+)$", text, re.M)
    assert len(listed) == len(set(listed))
    modules = {name for name in kb.__all__ if isinstance(getattr(kb, name), ModuleType)}
    assert set(kb.__all__) - modules <= set(listed)
    for module in modules:
        for name in getattr(getattr(kb, module), "__all__", ()):
            assert name in listed or f"{module}.{name}" in listed, f"{module}.{name}"
    for name in listed:
        found = kb
        for part in name.split("."):
            found = getattr(found, part)


def test_names_of_the_package_on_pages_are_there():
    for page in pages():
        for name in re.findall(
            r"(?<!\.)\bkb((?:\.\w+)+)", beside_the_tests(page).read_text("utf-8")
        ):
            found = kb
            for part in name.split(".")[1:]:
                assert hasattr(found, part), f"{page}: kb{name}"
                found = getattr(found, part)


# -- errors ----------------------------------------------------------------------------------------


def texts_of(path):
    """The strings of a program but its docstrings, with a mark for each value that is filled in."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
        elif isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else "\0" for one in node.values]
            yield "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_sentences_on_the_page_of_errors_are_said_and_in_order():
    """The fixed words of each stand in one string of the source, in their order."""
    page = beside_the_tests("docs/errors.md").read_text("utf-8")
    sentences = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert len(sentences) > 25
    texts = {text for path in Path(kb.__file__).parent.rglob("*.py") for text in texts_of(path)}
    for sentence in sentences:
        words = ".*\0.*".join(map(re.escape, sentence.strip("…: ;").split("…")))
        assert any(re.search(words, text, re.S) for text in texts), sentence
    firsts = [re.sub(r"^(\W|the )+", "", one.lower()) for one in sentences]
    assert firsts == sorted(firsts)
