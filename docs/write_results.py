"""Writes what the pages show of results/*.json: `python docs/write_results.py`.

Between `<!-- NAME -->` and `<!-- end -->` stands a table of `BLOCKS`, or a published table.
`kernbrook reproduce NAME --json results/NAME.json` stores a published table,
`benchmarks/shootout.py --json results/shootout.json` the comparison with other libraries, and with
`--labels 48,500,frozen` and `results/shootout_late.json` the same where labels come late;
`benchmarks/shootout.py --long` stores results/shootout_long.json, and with `--draw` draws it.
results/recipes.json is of `benchmarks/shootout.py --methods kernbrook,kernbrook-small,omkc-dd,spa,
bpas,bogd,forgetron,rbp,bpegasos-merge,majority,raker,ada-raker,mean --streams elec2,weather,letter,
magic04,a9a,energy,twitter,kin8nm,friedman`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kernbrook.papers import published, tables
from kernbrook.reports import Table
from kernbrook.results import Cell, Curve, Estimate, Measure, Results

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    DOCS / "guide.md",
    DOCS / "cluster.md",
    DOCS / "late.md",
    DOCS / "shootout_long.md",
    *sorted((DOCS / "papers").glob("*.md")),
]
RECIPES = {
    "classification": {"kernbrook": "kernbrook-classification"},
    "regression": {
        "kernbrook": "kernbrook-regression",
        "kernbrook-small": "kernbrook-small-regression",
    },
}
TITLES = {
    "lgb": "LightGBM, fitted afresh every 2,000 rows",
    "lgb500": "LightGBM, fitted afresh every 500 rows",
    "line500": "logistic or ridge regression (scikit-learn), fitted afresh every 500 rows",
    "arf": "adaptive random forest (River)",
    "sgd-rbf": "SGD on random features (scikit-learn)",
}


def shootout(methods: str, streams: str) -> str:
    """Mistakes of some methods on some streams; the least is bold."""
    values = json.loads((RESULTS / "shootout.json").read_text("utf-8"))["tables"][0]
    errors = {(cell["stream"], cell["method"]): cell["error"] for cell in values["cells"]}
    titles = {values["ours"]: "`OnlineMKClassifier()`"}
    titles |= {name: TITLES[name] for name in methods.split()}
    lines = [f"| | {' | '.join(streams.split())} |", f"|---|{'---|' * len(streams.split())}"]
    for method, title in titles.items():
        texts = []
        for stream in streams.split():
            least = all(errors[stream, method] <= errors[stream, other] for other in titles)
            text = f"{errors[stream, method]:.1f}"
            texts.append(f"**{text}**" if least else text)
        lines.append(f"| {title} | {' | '.join(texts)} |")
    return "\n".join(lines)


def recipes() -> str:
    """What each recipe costs, and how often it errs, stream by stream; the least error is bold."""
    values = json.loads((RESULTS / "recipes.json").read_text("utf-8"))
    lines = ["| recipe | error | microseconds a row | MB |", "|---|---|---|---|"]
    for table in values["tables"]:
        cells = {(cell["method"], cell["stream"]): cell for cell in table["cells"]}
        least = {name: min(cells[pair]["error"] for pair in cells if pair[1] == name)
                 for name in table["rows"]}  # fmt: skip
        digits = 1 if table["task"] == "classification" else 2
        for method in dict.fromkeys(method for method, _ in cells):
            own = [cells[method, name] for name in table["rows"]]
            texts = [
                ("**{}**" if cell["error"] == least[cell["stream"]] else "{}").format(
                    f"{cell['error']:.{digits}f}"
                )
                for cell in own
            ]
            spent = [1000 * cell["seconds"] for cell in own]
            held = [cell["bytes"] / 1e6 for cell in own]
            title = RECIPES[table["task"]].get(method, method)
            cost = f"{min(spent):.0f} to {max(spent):.0f} | {min(held):.1f} to {max(held):.1f}"
            lines.append(f"| `{title}` | {' / '.join(texts)} | {cost} |")
    machine = values["machine"][0].removeprefix("machine: ")
    return "\n".join([*lines, "", f"Seed 0, {values['date']}; {machine}."])


def late(methods: str, streams: str) -> str:
    """Errors where labels come late, one condition after the other."""
    values = json.loads((RESULTS / "shootout_late.json").read_text("utf-8"))["tables"]
    conditions = list(dict.fromkeys(table["labels"] for table in values))
    digits = {table["task"]: 1 if table["task"] == "classification" else 2 for table in values}
    cells = {
        (cell["stream"], cell["method"], table["labels"]): (cell["error"], digits[table["task"]])
        for table in values
        for cell in table["cells"]
    }
    titles = {"kernbrook": "kernbrook, without settings"}
    titles |= {name: TITLES[name] for name in methods.split()}
    lines = [f"| | {' | '.join(streams.split())} |", f"|---|{'---|' * len(streams.split())}"]
    for method, title in titles.items():
        texts = []
        for stream in streams.split():
            each = []
            for labels in conditions:
                error, places = cells[stream, method, labels]
                least = all(error <= cells[stream, other, labels][0] for other in titles)
                each.append(f"**{error:.{places}f}**" if least else f"{error:.{places}f}")
            texts.append(" / ".join(each))
        lines.append(f"| {title} | {' | '.join(texts)} |")
    return "\n".join(lines)


def long_runs() -> dict[str, Any]:
    """The long shoot-out, as far as it is stored."""
    path = RESULTS / "shootout_long.json"
    empty: dict[str, Any] = {"chunk": 0, "missing": {}, "settings": [], "pairs": []}
    return json.loads(path.read_text("utf-8")) if path.exists() else empty


def long_table(streams: str) -> str:
    """Errors, those of the last tenth, and microseconds, of all methods that ran on a stream."""
    chosen = streams.split()
    pairs = {(one["stream"], one["method"]): one for one in long_runs()["pairs"]}
    rows = {stream: pairs[stream, method]["rows"] for stream, method in pairs}
    least = {
        (stream, what): min(
            (errors[what] for key, one in pairs.items() if key[0] == stream
             for errors in (long_errors(one),) if errors[what] is not None),
            default=None,
        )
        for stream in chosen
        for what in (0, 1)
    }  # fmt: skip
    methods = list(dict.fromkeys(method for stream, method in pairs if stream in chosen))
    if not methods:
        return "No run is stored here. `python benchmarks/shootout.py --long` makes one."
    heads = [f"{name}, {rows[name]:,} rows" if name in rows else name for name in chosen]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---|' * len(chosen)}"]
    for method in methods:
        texts = []
        for stream in chosen:
            one = pairs.get((stream, method))
            texts.append("" if one is None else long_cell(one, [least[stream, i] for i in (0, 1)]))
        lines.append(f"| {method} | {' | '.join(texts)} |")
    return "\n".join(lines)


def long_picture(name: str, words: str) -> str:
    """Curves of some streams, where any are drawn."""
    place = f"pictures/shootout_long_{name}.svg"
    if not (DOCS / place).exists():
        return "Nothing is drawn yet."
    return f"![{words}: a line for each method, as far as each came within the limit.]({place})"


def long_errors(one: dict[str, Any]) -> tuple[float | None, float | None]:
    """Of all rows and of the last tenth; None of what has diverged or did not come to its end."""
    if one["reached"] < one["rows"]:
        return None, None
    return tuple(None if long_diverged(error) else error for error in (one["error"], last(one)))


def last(one: dict[str, Any]) -> float | None:
    return one["tenths"][-1]


def long_diverged(error: float | None) -> bool:
    return error is None or error > 100


def long_cell(one: dict[str, Any], least: list[float | None]) -> str:
    """What a method did on a stream; the least errors of methods that saw all rows are bold."""
    digits = 2 if one["task"] == "classification" else 3

    def shown(error: float | None, least: float | None = None) -> str:
        text = "diverged" if long_diverged(error) else f"{error:.{digits}f}"
        return f"**{text}**" if error is not None and error == least else text

    cost = f"{one['microseconds']:,.0f}"
    if one["reached"] < one["rows"]:
        return f"{shown(one['error'])} / – / {cost}, stopped at row {one['reached']:,}"
    return f"{shown(one['error'], least[0])} / {shown(last(one), least[1])} / {cost}"


def long_bytes() -> str:
    """Megabytes at the end, of all methods that could be measured."""
    pairs = [one for one in long_runs()["pairs"] if one["bytes"] is not None]
    streams = list(dict.fromkeys(one["stream"] for one in pairs))
    held = {(one["stream"], one["method"]): f"{one['bytes'] / 1e6:,.1f}" for one in pairs}
    lines = [f"| | {' | '.join(streams)} |", f"|---|{'---|' * len(streams)}"]
    for method in dict.fromkeys(one["method"] for one in pairs):
        texts = [held.get((stream, method), "") for stream in streams]
        lines.append(f"| {method} | {' | '.join(texts)} |")
    return "\n".join(lines) if pairs else "Nothing is stored yet."


def long_conditions() -> str:
    """What the runs had in common, and who was not there."""
    values = long_runs()
    pairs = values["pairs"]
    if not pairs:
        return "Nothing is stored yet."
    limits = sorted({one["limit"] for one in pairs})
    words = " or ".join(f"{limit:,.0f}" for limit in limits)
    dates = sorted({one["date"] for one in pairs})
    lines = [
        f"- Limit: {words} processor seconds for each method on each stream.",
        f"- Chunks of {values['chunk']:,} rows.",
        f"- Run: {' to '.join(dict.fromkeys((dates[0], dates[-1])))}.",
    ]
    if len(limits) > 1:
        for limit in limits:
            own = dict.fromkeys(one["method"] for one in pairs if one["limit"] == limit)
            lines.append(f"- With the limit {limit:,.0f}: {', '.join(own)}.")
    if values["missing"]:
        absent = [f"{name} ({package})" for name, package in values["missing"].items()]
        lines.append(f"- Not installed, so left out: {', '.join(absent)}.")
    return "\n".join(lines)


def long_settings() -> str:
    """Who took part: settings, versions, machines."""
    values = long_runs()
    pairs = values["pairs"]
    lines = ["| method | of | settings |", "|---|---|---|"]
    for method, task, words in values["settings"]:
        own = [one for one in pairs if (one["method"], one["task"]) == (method, task)]
        if own:
            numbers = ", ".join(sorted({one["version"] for one in own}))
            if method.startswith("kernbrook"):
                words = f"recipe `{RECIPES[task].get(method, method)}`"
            lines.append(f"| {method}, {task} | {numbers} | {words} |")
    texts = [one["machine"].splitlines() for one in pairs]
    loads = [float(found[0]) for text in texts if (found := re.findall(r"average (\S+)", text[0]))]
    machines = {(text[0].partition(", load")[0], text[-1]): None for text in texts}
    for first, final in machines:
        lines += ["", "```", first, final, "```"]
    if loads:
        lines += ["", f"Load average at the start of a run: {min(loads)} to {max(loads)}."]
    return "\n".join(lines)


def shards() -> str:
    """Errors of models of some shards, by how often they are merged, and of a shard alone."""
    streams = json.loads((RESULTS / "shards.json").read_text("utf-8"))["errors"]
    models = streams["covtype"]
    counts = list(next(iter(models.values()))["errors"])
    ways = {"1": "merged once", "10": "merged ten times", "alone": "one shard alone"}
    lines = [
        f"| | {' | '.join('1 shard' if n == '1' else f'{n} shards' for n in counts)} |",
        f"|---|{'---|' * len(counts)}",
    ]
    for name in models:
        for way, words in ways.items():
            found = [streams[stream][name]["errors"] for stream in ("covtype", "waveform")]
            texts = [
                " / ".join(f"{own[n].get(way, own['1']['1']):.2f}" for own in found) for n in counts
            ]
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
    "shootout, short": lambda: shootout("lgb arf sgd-rbf", "elec2 weather covtype letter a9a"),
    "recipes": recipes,
    "shards": shards,
    "shards, costs": costs,
    "shootout, late": lambda: late(
        "lgb500 line500 arf", "elec2 weather covtype a9a energy twitter"
    ),
    "shootout, long conditions": long_conditions,
    "shootout, long files": lambda: long_table(
        "covtype covtype-shuffled skin_nonskin a9a cod-rna elec2"
    ),
    "shootout, long drawn": lambda: long_table("random-tree waveform hyperplane random-tree-drift"),
    "shootout, long numbers": lambda: long_table("twitter friedman-drift"),
    "shootout, long files, drawing": lambda: long_picture(
        "files", "Mistakes in per cent by tenths of the files"
    ),
    "shootout, long drawn, drawing": lambda: long_picture(
        "drawn", "Mistakes in per cent by tenths of the drawn streams"
    ),
    "shootout, long numbers, drawing": lambda: long_picture(
        "numbers", "Squared errors over the variance by tenths of the streams of numbers"
    ),
    "shootout, long bytes": long_bytes,
    "shootout, long settings": long_settings,
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


def markdown(table: Table) -> str:
    """A pipe table, and its notes as a list; names of groups and strong rows are bold; no title."""
    strong = table.emphasised()
    groups = [column.group for column in table.columns]
    heads = [
        f"{group} {column.header}" if group and column.header != group else column.header
        for group, column in zip(groups, table.columns, strict=True)
    ]
    marks = ["---:" if column.kind == "number" else "---" for column in table.columns]
    lines = [line_of(heads), f"|{'|'.join(marks)}|"]
    for place, cells in enumerate(table.lines()[0]):
        texts = [escaped(cell.strip()) for cell in cells]
        lines.append(line_of([f"**{t}**" if t and place in strong else t for t in texts]))
    notes = [f"- {escaped(note)}" for note in table.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def line_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    for sign in "\\|*_<":
        text = text.replace(sign, f"\\{sign}")
    return text


def results_of(values: Mapping[str, Any]) -> Results:
    """Results out of what `results_json` made of them.

    A mean that was not finite is NaN; tuples in keys and facts have become lists.
    """

    def estimates(found: Mapping[str, Any]) -> dict[str, Estimate]:
        return {name: Estimate(**{**e, "mean": nan(e["mean"])}) for name, e in found.items()}

    def curve(x: Any, mean: Any, std: Any) -> Curve:
        return Curve(tuple(x), tuple(map(nan, mean)), None if std is None else tuple(map(nan, std)))

    def nan(value: float | None) -> float:
        return math.nan if value is None else value

    cells = (
        Cell(
            cell["key"],
            estimates(cell["ours"]),
            estimates(cell["printed"]),
            {name: curve(**points) for name, points in cell["curves"].items()},
            cell["facts"],
        )
        for cell in values["cells"]
    )
    measures = tuple(Measure(**measure) for measure in values["measures"])
    lists = {name: tuple(values[name]) for name in ("missing", "remarks")}
    return Results(**{**values, "measures": measures, "cells": tuple(cells), **lists})


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
