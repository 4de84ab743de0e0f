"""Writes what the pages show of results/*.json: `python docs/write_results.py`.

Between `<!-- NAME -->` and `<!-- end -->` stands a table of `BLOCKS`, or a published table.
`kernbrook reproduce NAME --json results/NAME.json` stores a published table,
`benchmarks/shootout.py --json results/shootout.json` the comparison with other libraries, and with
`--labels 48,500,frozen` and `results/shootout_late.json` the same where labels come late.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernbrook.papers import published, tables
from kernbrook.reports.as_json import results_of
from kernbrook.reports.markdown import markdown

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    DOCS / "results.md",
    DOCS / "cluster.md",
    DOCS / "late.md",
    *sorted((DOCS / "papers").glob("*.md")),
]
OURS = {"classification": "`OnlineMKClassifier()`", "regression": "`OnlineMKRegressor()`"}
TITLES = {
    "lgb": "LightGBM, fitted afresh every 2,000 rows",
    "lgb500": "LightGBM, fitted afresh every 500 rows",
    "line500": "logistic or ridge regression (scikit-learn), fitted afresh every 500 rows",
    "majority": "most frequent label so far",
    "mean": "mean so far",
    "linear": "linear regression (River)",
    "hat": "Hoeffding adaptive tree (River)",
    "arf": "adaptive random forest (River)",
    "srp": "streaming random patches (River)",
    "knn1000": "5 nearest of the last 1,000",
    "sgd-rbf": "SGD on random features (scikit-learn)",
    "logreg": "logistic regression (River)",
    "last-value": "the last value",
}
SHORT = {"phishing_stream": "phishing", "skin_nonskin": "skin"}


def shootout(place: int, methods: str, streams: str = "") -> str:
    """Errors of some methods on some streams, all where none is named; the least is bold."""
    values = json.loads((RESULTS / "shootout.json").read_text("utf-8"))["tables"][place]
    chosen = streams.split() or list(values["rows"])
    errors = {(cell["stream"], cell["method"]): cell["error"] for cell in values["cells"]}
    task = ("classification", "regression")[place]
    titles = {values["ours"]: OURS[task]} | {name: TITLES[name] for name in methods.split()}
    lines = [f"| | {' | '.join(SHORT.get(name, name) for name in chosen)} |"]
    lines.append(f"|---|{'---|' * len(chosen)}")
    for method, title in titles.items():
        texts = []
        for stream in chosen:
            text = f"{errors[stream, method]:.{1 if place == 0 else 3}f}"
            least = all(errors[stream, method] <= errors[stream, other] for other in titles)
            texts.append(f"**{text}**" if least else text)
        lines.append(f"| {title} | {' | '.join(texts)} |")
    return "\n".join(lines)


def late(methods: str, streams: str = "") -> str:
    """Errors where labels come late, one condition after the other."""
    values = json.loads((RESULTS / "shootout_late.json").read_text("utf-8"))["tables"]
    conditions = list(dict.fromkeys(table["labels"] for table in values))
    errors = {
        (cell["stream"], cell["method"], table["labels"]): (cell["error"], table["task"])
        for table in values
        for cell in table["cells"]
    }
    chosen = streams.split() or [name for table in values[:2] for name in table["rows"]]
    titles = {"kernbrook": "kernbrook, without settings"} | {
        name: TITLES[name] for name in methods.split()
    }
    lines = [f"| | {' | '.join(SHORT.get(name, name) for name in chosen)} |"]
    lines.append(f"|---|{'---|' * len(chosen)}")
    for method, title in titles.items():
        texts = []
        for stream in chosen:
            each = []
            for labels in conditions:
                error, task = errors.get((stream, method, labels), (None, ""))
                among = [errors.get((stream, other, labels), (None, ""))[0] for other in titles]
                text = "" if error is None else f"{error:.{1 if task == 'classification' else 2}f}"
                if error is not None and error > 100:
                    text = "diverged"
                least = error is not None and error <= min(e for e in among if e is not None)
                each.append(f"**{text}**" if least else text)
            texts.append(" / ".join(each) if any(each) else "")
        lines.append(f"| {title} | {' | '.join(texts)} |")
    return "\n".join(lines)


def shards(stream: str) -> str:
    """Errors of models of some shards, by how often they are merged, and of a shard alone."""
    models = json.loads((RESULTS / "shards.json").read_text("utf-8"))["errors"][stream]
    counts = list(next(iter(models.values()))["errors"])
    ways = {"1": "merged once", "10": "merged ten times", "alone": "one shard alone"}
    lines = [
        f"| | {' | '.join('1 shard' if n == '1' else f'{n} shards' for n in counts)} |",
        f"|---|{'---|' * len(counts)}",
    ]
    for name, own in models.items():
        for way, words in ways.items():
            texts = [f"{own['errors'][n].get(way, own['errors']['1']['1']):.2f}" for n in counts]
            lines.append(f"| {name}, {words} | {' | '.join(texts)} |")
    return "\n".join(lines)


def costs() -> str:
    """What a round of two workers has carried, and how long merging takes."""
    found = json.loads((RESULTS / "shards.json").read_text("utf-8"))["costs"]
    lines = [
        "| | c, us | S, MB | (3 W + 1) S, MB | measured, MB | m of 2, s | m of 100, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for own in found:
        megabytes = [f"{own[name] / 1e6:.2f}" for name in ("size", "formula", "carried")]
        merging = [f"{seconds:.2f}" for seconds in own["merging"].values()]
        texts = [own["model"], f"{1e6 * own['row']:.0f}", *megabytes, *merging]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


BLOCKS: dict[str, Callable[[], str]] = {
    "shootout, short": lambda: shootout(0, "lgb arf sgd-rbf", "elec2 weather covtype letter a9a"),
    "shootout, classes": lambda: shootout(0, "lgb arf srp knn1000 sgd-rbf logreg"),
    "shards, covtype": lambda: shards("covtype"),
    "shards, waveform": lambda: shards("waveform"),
    "shards, costs": costs,
    "shootout, late": lambda: late(
        "lgb500 line500 arf", "elec2 weather covtype a9a energy twitter"
    ),
    "shootout, late classes": lambda: late(
        "lgb500 line500 arf hat knn1000 logreg majority",
        "elec2 weather phishing_stream covtype letter magic04 a9a cod-rna skin_nonskin",
    ),
    "shootout, late numbers": lambda: late(
        "lgb500 line500 arf hat knn1000 linear mean last-value",
        "energy twitter tomshardware kin8nm friedman",
    ),
    "shootout, numbers": lambda: shootout(1, "lgb arf knn1000 last-value"),
}


def filled(text: str) -> str:
    """A page with its blocks written anew."""

    def block(found: re.Match[str]) -> str:
        write = BLOCKS.get(found[1], lambda: section(found[1]))
        return f"<!-- {found[1]} -->\n{write()}\n<!-- end -->"

    return re.sub(r"<!-- ([^>]+) -->\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def stored() -> list[str]:
    """The published tables that are stored."""
    return [name for name in tables() if (RESULTS / f"{name}.json").exists()]


def section(name: str) -> str:
    """A published table, and what it takes to make it again; where it is stored."""
    wanted, path = published(name), RESULTS / f"{name}.json"
    title = re.search(r"(table|figure) \d.*", wanted.title)
    assert title is not None
    begin = f"### {title[0][0].upper()}{title[0][1:]}\n\n"
    if not path.exists():
        return f"{begin}No run is stored here. `kernbrook reproduce {name}` makes one."
    results = results_of(json.loads(path.read_text("utf-8")))
    return f"{begin}{markdown(wanted.as_table(results))}\n\n{made(results.manifest)}"


def made(manifest: Any) -> str:
    """The command, the versions and the machine of a manifest."""
    versions = ", ".join(f"{name} {number}" for name, number in manifest["versions"].items())
    return f"```\n{manifest['command']}\n{versions}\n{manifest['machine']}\n```"


def pages() -> dict[Path, str]:
    """What every page should be."""
    return {path: filled(path.read_text("utf-8")) for path in PAGES}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
