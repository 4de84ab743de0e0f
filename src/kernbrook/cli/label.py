"""`kernbrook label`: a person answers what a model asks, one example at a time."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernbrook.cli.options import (
    Chosen,
    Data,
    GivenSeed,
    Rows,
    Settings,
    Table,
    check_outputs,
    labels,
)
from kernbrook.cli.output import Stopping, check_ending, say, telling, terminal, write_table
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.cli.page import Page
    from kernbrook.cli.person import Person
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.answers import Question
    from kernbrook.evaluation.labelling import Labelling
    from kernbrook.labels import JSONLines
    from kernbrook.streams import Stream


Model = Annotated[Path, typer.Argument(help="The model's file; new with --classes or --recipe.")]
Recipe = Annotated[
    str | None,
    typer.Option(help="Begin a new model: one of `kernbrook recipes`; for classes else ours."),
]
Classes = Annotated[
    str | None, typer.Option(help="All labels of a new model, with commas; none for numbers.")
]
Questions = Annotated[Path | None, typer.Option(help="Ask here, a JSON object a line.")]
Answers = Annotated[Path | None, typer.Option(help="Take the answers from this file.")]
Text = Annotated[str | None, typer.Option(help="A CSV file's column to show, not to learn.")]
Image = Annotated[
    str | None,
    typer.Option(help="Likewise, a column with names of image files in the file's folder."),
]
Web = Annotated[bool, typer.Option("--web", help="Ask on a page in the browser.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="The page's port; else any.")]
Export = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write rows and labels to this .csv, .parquet or .jsonl; alone it asks nothing.",
    ),
]


NAMES = "label", "classes", "sep", "n_features", "max_bytes"


def label_data(
    model: Model,
    data: Data,
    recipe: Recipe = None,
    classes: Classes = None,
    settings: Settings = None,
    seed: GivenSeed = None,
    table: Table = None,
    questions: Questions = None,
    answers: Answers = None,
    text: Text = None,
    image: Image = None,
    web: Web = False,
    port: Port = None,
    export: Export = None,
) -> None:
    """Give a model the labels that it asks for, and no others.

    The model goes through the data and passes on many rows. Where it wants the label, it shows the
    example, what it expects and why it asks, and learns from the answer at once. Answer with the
    label, its beginning or its number in the list; `s` skips, `u` takes the last answer back, `q`
    stops, `?` helps. --web asks on a page in the browser instead, with tables, text and images.

    Stop when you like. Each answer is in MODEL.labels.jsonl before the model learns it, so that
    the same command goes on after the last one, after a kill or a power cut too.

    A recipe that would ask for every label is given a policy: to ask where the vote is close; or,
    for numbers, for a quarter of the labels at most.
    """
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.classes import named_classes
    from kernbrook.evaluation.recipes_wanted import OURS
    from kernbrook.evaluation.training import check_same_columns, check_seed

    chosen = Chosen.of(recipe, settings, seed)
    rows = Rows.of("label", NAMES, table, classes=labels(classes))
    names, reading = rows.read.get("classes"), rows.read
    if text is not None and text in rows.columns.get("words", {}):
        raise InputError(f"--text: {text!r} is a column of words, which is shown by itself")
    begins = (recipe, names, text, image, questions)
    asks = export is None or web or any(given is not None for given in begins)
    asks = asks or bool(chosen.settings)
    files = None if questions is None or answers is None else (questions, answers)
    if files is None and (questions, answers) != (None, None):
        raise InputError("--questions, --answers: one needs the other")
    if web and files is not None:
        raise InputError("--web, --questions: expected one of them")
    if port is not None and not web:
        raise InputError("--port: expected --web too")
    _check(model, data, files, export, asks, web)
    if recipe is None and names is not None and (chosen.settings or not model.exists()):
        recipe = OURS["classification"]
    if recipe is None and chosen.settings:
        raise InputError("--set: expected a --recipe too, or --classes")
    stopping, left = Stopping(), ExitStack()
    with left, stopping.on_signals("kernbrook: stopped; the same command goes on"):
        found = _model(model, recipe, chosen)
        if isinstance(found, TableModel):
            if found.encoder_ is not None:  # it knows how columns are encoded
                check_same_columns(model, found, rows.columns, {}, written=True)
            if found.history_ is not None and recipe is None and chosen.seeded:
                check_seed(model, found.model, chosen.seed)
        machine = found.model if isinstance(found, TableModel) else found
        known = named_classes(machine, names) if asks else None
        opened = Opened.of(
            model, data, found, (names, known),
            n_features=reading.get("n_features"), label=reading.get("label"), seed=chosen.seed,
            max_bytes=reading.get("max_bytes"), sep=reading.get("sep"), encoder=rows.encoder(),
            aside=[name for name in (text, image) if name is not None],
        )  # fmt: skip
        if asks:
            face = left.enter_context(face_of(opened, text, image, web, port))
            state, summary = sit(opened, face, files, stopping, export is not None)
    if asks:
        for what, value in summary:
            typer.echo(printable(f"{what:13} {value}"))
        if not state.finished:
            say(f"{model} is saved; the same command goes on")
    if export is not None:
        _export(opened, export)
    if asks and stopping.number and not state.finished:
        raise typer.Exit(stopping.code)


def _check(
    model: Path,
    data: str,
    files: tuple[Path, Path] | None,
    export: Path | None,
    asks: bool,
    web: bool,
) -> None:
    """InputError where the options do not go with what is there."""
    from kernbrook.evaluation.answers import answers_beside

    if export is not None:
        check_ending(export, "--export")
    if not (asks or model.exists()):
        raise InputError(
            f"{model} does not exist: there are no labels yet; label first, without --export, or "
            "give --classes too"
        )
    if data == "-" and files is None and not web and asks:
        raise InputError(
            "standard input has the answers: give a file, or --web, or --questions, --answers"
        )
    outputs: dict[str, Path | None] = {
        "MODEL": model,
        f"the answers of {model}": answers_beside(model),
        "--export": export,
    }
    if files is not None:
        outputs |= {"--questions": files[0], "--answers": files[1]}
    check_outputs(outputs, [data])


def _export(opened: Opened, path: Path) -> None:
    """Write the labels that were given, and say how many."""
    from kernbrook.evaluation.answers import label_table
    from kernbrook.reports.words import counted

    found = label_table(opened.stream, opened.path, label=opened.table.label_)
    write_table(found.table, path, found.numbers)
    for name, was in found.renamed.items():
        say(f"the column {was!r} of the data is called {name!r} there")
    if opened.stream.records() is None:
        say(f"{opened.data} is no table: beside the labels there are the numbers of the rows alone")
    skipped = f"; {counted(found.skipped, 'row')} skipped, left out" if found.skipped else ""
    say(f"wrote {counted(found.table.num_rows, 'label')} to {path}{skipped}")


def _model(path: Path, recipe: str | None, chosen: Chosen) -> Any:
    """The `TableModel` in the file, or a new machine."""
    from kernbrook.evaluation.checkpoint import load_checkpoint
    from kernbrook.evaluation.labelling import with_policy
    from kernbrook.evaluation.recipes_wanted import check_settings, make_online
    from kernbrook.evaluation.training import check_same_settings

    found = load_checkpoint(path)[0] if path.exists() else None
    made = None
    if recipe is not None:
        made = with_policy(make_online(recipe, **chosen.parameters(found and found.model)))
        check_settings(made)
    if found is None:
        if made is None:
            raise InputError(
                f"{path} does not exist; to begin a new model, name the labels, such as "
                "--classes yes,no; for numbers a recipe, such as --recipe kernbrook-regression"
            )
        return made
    if made is not None:
        check_same_settings(path, found.model, made)
    return found


class Opened(NamedTuple):
    """What is labelled, by which model.

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
    from kernbrook.cli.person import Person
    from kernbrook.cli.person import Rows as RowsShown

    rows = RowsShown(opened.stream, text, image)
    if web:
        from kernbrook.cli.page import Page, PageAddress

        folder, kept = Path(opened.data).parent, PageAddress(opened.path)
        page = Page(opened.stream, rows, opened.classes, folder, kept, port)
        say(f"label at {page.address} (Ctrl-C stops)")
        return page
    return nullcontext(Person(terminal(stderr=True), opened.stream, rows, opened.classes))


def sit(
    opened: Opened,
    face: Person | Page,
    files: tuple[Path, Path] | None,
    stopping: Stopping,
    exports: bool,
) -> tuple[Labelling, list[tuple[str, str]]]:
    """One sitting: what it came to, and that in words.

    files : where the questions go instead, and the answers come from; or None
    exports : whether the labels are written somewhere after this
    """
    from kernbrook.evaluation.labelling import label as run

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
    from kernbrook.reports.model import no_better

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
