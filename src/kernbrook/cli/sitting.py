"""One sitting of `kernbrook label`: who is asked, and what it came to."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbrook.cli.output import say, telling, terminal
from kernbrook.cli.signals import Stopping
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.cli.person import Person
    from kernbrook.cli.web_page import Page
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.sessions.answers import Question
    from kernbrook.evaluation.sessions.labelling import Labelling
    from kernbrook.labels import JSONLines
    from kernbrook.streams import Stream


class Opened(NamedTuple):
    """What is labelled, by which model.

    Attributes
    ----------
    path, table : the model
    data, stream : the rows
    names, classes : all labels, as they were given and as the model has them; None of numbers, and
        where nothing is asked
    """

    path: Path
    table: TableModel
    data: str
    stream: Stream
    names: list[str] | None
    classes: NDArray[Any] | None

    @classmethod
    def of(
        cls,
        path: Path,
        data: str,
        found: Any,
        names: tuple[list[str] | None, NDArray[Any] | None],
        n_features: int | None,
        **options: Any,
    ) -> Opened:
        """Data as `open_like` opens them, for the `TableModel` in a file, or for a new machine."""
        from kernbrook.estimators.table_model import TableModel, open_like

        like, width = None, None
        if isinstance(found, TableModel):
            width = getattr(found.model, "n_features_in_", None)
            like = found if (found.encoder_, width) != (None, None) else None
        if width is not None and n_features not in (None, width):
            raise InputError(f"--n-features: the model has {width}, got {n_features}")
        stream = open_like(like, data, n_features=n_features, **options)
        new = found.model if isinstance(found, TableModel) else found
        table = TableModel._of_stream(new, stream) if like is None else like
        if stream.aside:
            table.aside_ = list(stream.aside)
        return cls(path, table, data, stream, *names)


def face_of(
    opened: Opened, text: str | None, image: str | None, web: bool, port: int | None
) -> AbstractContextManager[Any]:
    """Who is shown the questions: a `Page`, or a `Person` at the terminal."""
    from kernbrook.cli.questions import Rows

    rows = Rows(opened.stream, text, image)
    if web:
        from kernbrook.cli.web_page import Page, PageAddress

        folder, kept = Path(opened.data).parent, PageAddress(opened.path)
        page = Page(opened.stream, rows, opened.classes, folder, kept, port)
        say(f"label at {page.address} (Ctrl-C stops)")
        return page
    from kernbrook.cli.person import Person

    return nullcontext(Person(terminal(stderr=True), opened.stream, rows, opened.classes))


def sit(
    opened: Opened,
    face: Person | Page,
    files: tuple[Path, Path] | None,
    stopping: Stopping,
    exports: bool,
) -> tuple[Labelling, list[tuple[str, str]]]:
    """One sitting: what it came to, and that in words.

    Parameters
    ----------
    opened : what is labelled
    face : who is shown the questions
    files : where the questions go instead, and the answers come from; or None
    stopping : what signals do
    exports : whether the labels are written somewhere after this
    """
    from kernbrook.evaluation.sessions.labelling import label as run

    ask: Callable[..., Any] = face.ask
    end: Callable[..., Any] | None = _until_stopped(face.end, stopping)
    if files is not None:
        from kernbrook.evaluation.classes import as_label
        from kernbrook.labels import JSONLines

        read = partial(as_label, classes=opened.classes)
        ask, end = partial(_through, JSONLines(*files), opened.stream, opened.classes, read), None
        say(f"asking in {files[0]}, waiting for answers in {files[1]}")
    state = run(
        opened.stream, opened.table, opened.path, _until_stopped(ask, stopping),
        classes=opened.names, end=end,
        progress=face.passing, stop=stopping.wanted,
        compiling=telling(face.compiling if face.shows else None),
    )  # fmt: skip
    summary = [*_summary(state, opened.stream), *_next(opened, exports)]
    face.close(summary, state.finished, stopping.number == 0)
    return state, summary


def _until_stopped(ask: Callable[..., Any], stopping: Stopping) -> Callable[..., Any]:
    """The same questions; a signal is like `q`."""
    from kernbrook.evaluation.training import Quit

    def asked(*question: Any) -> Any:
        try:
            with stopping.at_once():
                return ask(*question)
        except KeyboardInterrupt:
            raise Quit from None

    return asked


def _summary(state: Labelling, stream: Stream) -> list[tuple[str, str]]:
    met = f"{state.rows:,}" + (f" of {stream.n_rows:,}" if stream.n_rows else "")
    rows = [
        ("rows", met),
        ("labels given", f"{state.given:,}"),
        ("skipped", f"{state.skipped:,}"),
        ("spared", f"{state.saved:,}"),
    ]
    if state.rows:
        rows[-1] = ("spared", f"{state.saved:,} ({100 * state.saved / state.rows:.0f} %)")
    return [*rows, *_worth(state), ("answers", str(state.answers))]


def _worth(state: Labelling) -> list[tuple[str, str]]:
    """How good the model is on the labels that were given, beside always saying the same."""
    from kernbrook.evaluation.measures import LEARNED
    from kernbrook.reports.measured import no_better

    if (measures := state.measures()) is None:
        return []
    judged, says = state.judged, measures.rules[LEARNED].says
    own, rule = (measures.values()[name] for name in ("model", LEARNED))
    if measures.classes is None:
        told = [f"{one['rmse']:.4g} on {judged:,} labels" for one in (own, rule)]
        rows = [("rms error", f"{told[0]} that it asked for")]
        always = f"always saying {says:.4g}"
    else:
        rights = [round((1 - one["error"]) * judged) for one in (own, rule)]
        told = [f"{right:,} of {judged:,} ({100 * right / judged:.0f} %)" for right in rights]
        rows = [("model right", f"{told[0]} that it asked about, the hard ones")]
        always = f"always saying {says.item()!r}"
    better = no_better(measures) or f"Better than {always} on these rows."
    return [*rows, ("trivial rule", f"{told[1]} by {always}"), ("", better)]


def _next(opened: Opened, exports: bool) -> list[tuple[str, str]]:
    """What to type next."""
    if opened.data == "-":
        return []
    on = [f"{opened.path}", opened.data]
    lines = [("next", shlex.join(["kernbrook", "predict", *on]))]
    if not exports:
        again = ["kernbrook", "label", *on, "--export", "labels.csv"]
        lines.append(("or", shlex.join(again)))
    return lines


# -- files ------------------------------------------------------------------------------------


def _through(
    oracle: JSONLines,
    stream: Stream,
    classes: NDArray[Any] | None,
    read: Callable[[Any], Any],
    question: Question,
    state: Labelling,
) -> Any:
    """The answer to a question that is a line in a file."""
    columns, values = question.entries()
    names = stream.feature_names
    if hasattr(question.x, "indices"):
        names = [str(j + 1) for j in columns.tolist()]
    row = values.tolist() if names is None else dict(zip(names, values.tolist(), strict=True))
    more: dict[str, Any] = {"predicted": question.predicted}
    for name, said in (("votes", question.votes), ("chances", question.chances)):
        if classes is not None and said is not None:
            more[name] = dict(zip(map(str, classes.tolist()), said.tolist(), strict=True))
    return oracle.ask(question.row, row, read, **more)
