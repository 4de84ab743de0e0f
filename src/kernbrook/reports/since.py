"""How good a model was and is, and since when: as plain values, in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kernbrook import recipes as book
from kernbrook.evaluation.measures import COVERAGE, RULES
from kernbrook.reports.table import Column, Table
from kernbrook.reports.words import ERROR_NAMES, TRIVIAL, counted, error_value, spark

if TYPE_CHECKING:
    from kernbrook.estimators.tasks import Task
    from kernbrook.evaluation.measures import Sums
    from kernbrook.evaluation.windows import Judge, Past, Windows

DATA, CHANGES = 8, 3  # shown: the last ones, the greatest
LATE = 0.125  # of the rows are the last ones
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_KEYS = {"log_loss": "log_loss", "absolute": "mae", "covered": "coverage"}
_SHOWN = (
    ("log_loss", "log loss", "{:.4f}".format, 0.0),
    ("coverage", f"{100 * COVERAGE:g} % cover", lambda share: f"{100 * share:.1f} %", 1.0),
)  # of windows, besides the error: key, name, how it is written, and the highest bar


def since_json(
    past: Sequence[Past], windows: Windows | None, judge: Judge | None, task: Task
) -> dict[str, Any]:
    """What is known of a model's past, as plain values; errors as `model_json` has them.

    Parameters
    ----------
    past : the data that it learned from
    windows : what rows cost over time; None where that was not recorded
    judge : whose windows these are; None of a model that was labelled
    task : what it predicts

    Returns
    -------
    dict with the keys data, past, error, error_rows, window_rows, window_errors, windows,
    n_changes, changes
    """
    spans = [] if windows is None else windows.spans
    first, entries = 1 if judge is None else 1 + judge.before, []
    for span in spans:
        entries.append({"first_row": first, "n_rows": span.rows, **_costs(span, task)})
        first += span.rows
    known = [one for one in past if one.loss is not None]
    rows, scale = sum(one.judged for one in known), _scale(task)
    loss = sum(one.loss or 0 for one in known)
    changes = None if judge is None else judge.changes
    return {
        "data": [one.name for one in past],
        "past": [
            {"name": one.name, "data": one.data, "n_rows": one.rows, **_costs(one, task)}
            for one in past
        ],
        "error": scale * loss / rows if rows else None,
        "error_rows": rows or None,
        "window_rows": windows.length if windows is not None and spans else None,
        "window_errors": [one["error"] for one in entries] if spans else None,
        "windows": entries,
        "n_changes": None if changes is None else changes.n_changes,
        "changes": [
            {
                "row": one.row, "date": iso(one.date), "noticed": one.noticed,
                "before": scale * one.before, "after": scale * one.after,
                "rose": one.after > one.before if one.rose is None else one.rose,
            }
            for one in ([] if changes is None else changes.found)
        ],
    }  # fmt: skip


def iso(moment: int | None) -> str | None:
    """A date as ISO has it, of microseconds since 1970; without a time at midnight.

    Examples
    --------
    >>> iso(0), iso(86_400_000_000 + 3_600_000_000), iso(None)
    ('1970-01-01', '1970-01-02T01:00:00', None)
    """
    if moment is None:
        return None
    try:
        found = _BEGIN + timedelta(microseconds=moment)
    except OverflowError:
        return f"{moment} microseconds since 1970"
    whole = found == found.replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{found:%Y-%m-%d}" if whole else f"{found:%Y-%m-%dT%H:%M:%S}"


def _scale(task: str) -> float:
    return 100.0 if task == "classification" else 1.0


def _costs(span: Sums, task: Task) -> dict[str, Any]:
    """What rows cost, beside trivial rules, and their dates."""
    means = {name: span.mean(name) for name in ("loss", *RULES[task])}
    errors = {k: None if mean is None else _scale(task) * mean for k, mean in means.items()}
    found: dict[str, Any] = {"judged": span.judged, "error": errors.pop("loss")}
    found["rules"] = {name: error for name, error in errors.items() if error is not None}
    found |= {key: span.mean(name) for name, key in _KEYS.items() if name in span.sums}
    return found | {"began": iso(span.began), "ended": iso(span.ended)}


# -- in lines ---------------------------------------------------------------------------------


def best_rule(spans: Sequence[dict[str, Any]]) -> str | None:
    """The trivial rule that errs least over some entries of `since_json`; None without any."""
    sums: dict[str, float] = {}
    for one in spans:
        for name, error in one["rules"].items():
            sums[name] = sums.get(name, 0.0) + error * one["judged"]
    return min(sums, key=lambda name: sums[name], default=None)


def since_lines(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Error, errors by window beside those of a trivial rule, and when they changed."""
    task, windows = found["task"], found["windows"]
    name = "online error" if task == "classification" else ERROR_NAMES[task]
    what = "row" if found["error_rows"] == found["n_rows"] else "label"
    rows = counted(found["error_rows"], what)
    past = [one for one in found["past"] if one["judged"]]
    rule = best_rule(past) if all(one["rules"] for one in past) else None
    beside = f"; {_said(_of(past, rule), task)} of {TRIVIAL[rule]}" if rule else ""
    yield name, f"{_said(found['error'], task)} of {rows}{beside}"
    judged = [one for one in windows if one["judged"]]
    if len(judged) > 1:
        errors = [one["error"] for one in judged]
        rule = best_rule(judged)
        own = [one["rules"].get(rule, 0.0) for one in judged] if rule else []
        most = max([*errors, *own])
        yield "", f"{spark(errors, most)}  {_ends(judged, [_said(e, task) for e in errors])}"
        if rule:
            told = _ends(judged, [_said(e, task) for e in own])
            yield "", f"{spark(own, most)}  {told}: {book.title(rule)}"
        yield from _other_costs(judged)
    if told := no_better_of_late(found):
        yield "", told
    yield from _changes(found)


def _other_costs(judged: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The log loss, and what intervals cover, by window, where all windows have them."""
    for key, name, form, most in _SHOWN:
        if all(key in one for one in judged):
            values = [one[key] for one in judged]
            yield name, f"{spark(values, most)}  {_ends(judged, [form(one) for one in values])}"


def no_better_of_late(found: dict[str, Any]) -> str:
    """That the model was no better than a trivial rule in all rows, or in the last ones; or ""."""
    judged = [one for one in found["windows"] if one["judged"]]
    total, cut = sum(one["judged"] for one in judged), len(judged)
    while cut and sum(one["judged"] for one in judged[cut:]) < LATE * total:
        cut -= 1
    for spans, which in ((judged, "all"), (judged[cut:], "the last")):
        rule = best_rule(spans)
        if rule is None:
            continue
        own, theirs = _of(spans, None), _of(spans, rule)
        if own >= theirs:
            rows = counted(sum(one["judged"] for one in spans), "row")
            values = f"{_said(own, found['task'])} against {_said(theirs, found['task'])}"
            return f"No better than {TRIVIAL[rule]}: {values} of {which} {rows}."
    return ""


def _of(spans: Sequence[dict[str, Any]], rule: str | None) -> float:
    """The mean error of a trivial rule over entries of `since_json`; None for the model's own."""
    rows, total = 0, 0.0
    for one in spans:
        error = one["error"] if rule is None else one["rules"].get(rule)
        if error is not None:
            rows, total = rows + one["judged"], total + error * one["judged"]
    return total / max(rows, 1)


def _said(error: float, task: str) -> str:
    return error_value(error / _scale(task), task)


def _ends(spans: Sequence[dict[str, Any]], values: Sequence[str]) -> str:
    (first, last) = (f"{spans[i]['judged']:,}" for i in (0, -1))
    return f"{values[0]} of the first {first}, {values[-1]} of the last {last}"


def _changes(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The greatest changes of the error, the latest first, and of how many they are."""
    task, kept, total = found["task"], found["changes"], found["n_changes"]
    greatest = sorted(kept, key=lambda one: -_size(one, task))[:CHANGES]
    shown = [one for one in reversed(kept) if one in greatest]
    for i, one in enumerate(shown):
        before, after = (_said(one[name], task) for name in ("before", "after"))
        rose = one["rose"]
        what = f"{'rose' if rose else 'fell'} from {before} to {after}"
        if rose != (one["after"] > one["before"]):
            what = f"{'rose' if rose else 'fell'}, a few great errors aside,"
        date = f", {one['date'].replace('T', ' ')}" if one["date"] else ""
        yield "" if i else "error", f"{what} at row {one['row']:,}{date}"
    if shown and total > len(shown):
        last = f"the last {len(kept)} of " if total > len(kept) else ""
        yield "", f"the greatest of {last}{counted(total, 'change')}"


def _size(change: dict[str, Any], task: str) -> float:
    """How far an error went: mistakes as they are, squared errors by what they are."""
    before, after = change["before"], change["after"]
    scale = 1.0 if task == "classification" else max(before, after) or 1.0
    return float(abs(after - before) / scale)


# -- tables -----------------------------------------------------------------------------------


def past_table(found: dict[str, Any]) -> Table | None:
    """The last data, one a row; None where there are no two."""
    past = found["past"]
    if len(past) < 2:
        return None
    kept, task = past[-DATA:], found["task"]
    names = [_name(one) for one in kept]
    columns = [Column("data", tuple(names), kind="text"), _counts("rows", kept, "n_rows")]
    error = "error %" if task == "classification" else ERROR_NAMES[task]
    columns.append(Column(error, tuple(one["error"] for one in kept), form := _form(task)))
    if rule := best_rule(kept):
        errors = tuple(one["rules"].get(rule) for one in kept)
        columns.append(Column(book.title(rule), errors, form, spare=1))
    if any(one["began"] for one in kept):
        dates = ((one["began"] or "", one["ended"] or "") for one in kept)
        shown = tuple(f"{a[:10]} to {b[:10]}" if a[:10] != b[:10] else a[:10] for a, b in dates)
        columns.append(Column("dates", shown, kind="text", spare=2))
    more = past[:-DATA]
    note = f"... and {sum(one['data'] for one in more):,} data before" if more else ""
    return Table(tuple(columns), notes=(note,) if note else ())


def _name(one: dict[str, Any]) -> str:
    if one["data"] > 1:
        return f"{one['data']:,} data"
    return one["name"] if one["name"] is not None else "not recorded"


def _counts(header: str, entries: Sequence[dict[str, Any]], key: str) -> Column:
    return Column(header, tuple(one[key] for one in entries), "{:,}".format)


def _form(task: str) -> Any:
    return "{:.2f}".format if task == "classification" else "{:.4g}".format
