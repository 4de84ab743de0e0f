"""`kernbrook label`: a person answers what a model asks, one example at a time."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.main import _check_targets, _console, app
from kernbrook.cli.training import Data, _check_not_read
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from kernbrook.evaluation.labelling import Labelling, Question
    from kernbrook.evaluation.sources import Source
    from kernbrook.labels import JSONLines
    from kernbrook.streams import Stream

LINES = 12  # of features, at most
CLASSES = 9  # listed with their votes, at most


@app.command("label")
def label_data(
    model: Annotated[Path, typer.Argument(help="The model's file; with --recipe a new one.")],
    data: Data,
    recipe: Annotated[
        str | None, typer.Option(help="Begin a new model: one of `kernbrook recipes`.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="All labels of a new model, with commas; none for numbers.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of a new model.")] = 0,
    label: Annotated[
        str | None, typer.Option(help="A CSV file's label column, which is not looked at.")
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Features of a svmlight file, for a new model.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="Ask here, a JSON object a line, and not in the terminal.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Take the answers from this file, which others write.")
    ] = None,
) -> None:
    """Give a model the labels that it asks for, and no others.

    The model goes through the data. Where it is sure it passes on; where it wants the label, it
    shows the example and what it expects, and learns from the answer at once. Answer with the
    label, its beginning or its number in the list; `s` skips, `q` stops, `?` helps.

    Stop when you like. Each answer is in MODEL.labels.jsonl before the model learns it, so that
    the same command goes on after the last one, after a kill or a power cut too.

    A recipe that would ask for every label is given a policy: only where the vote is close, or
    where the kernels disagree.
    """
    from kernbrook.evaluation.labelling import as_label, named_classes
    from kernbrook.evaluation.labelling import label as run

    _check_targets(questions, answers)
    if (questions is None) != (answers is None):
        raise InputError("--questions, --answers: one needs the other")
    for option, path in (("MODEL", model), ("--questions", questions), ("--answers", answers)):
        if path is not None:
            _check_not_read(option, path, data)
    stopping = _Stopping()
    with stopping.on_signals():
        estimator, source, checkpoint = _model(model, recipe, seed)
        names = None if classes is None else [name.strip() for name in classes.split(",")]
        known = named_classes(estimator, names)
        stream, source = _opened(data, source, label, n_features, seed)
        console = _console(stderr=True)
        screen = _Screen(console, stream, source, known)
        if questions is None or answers is None:
            ask = screen.ask
        else:
            from kernbrook.labels import JSONLines

            read = partial(as_label, classes=known)
            ask = partial(_through, JSONLines(questions, answers), source, known, read)
            typer.echo(f"asking in {questions}, waiting for answers in {answers}", err=True)
        state = run(
            stream,
            estimator,
            model,
            stopping.while_asking(ask),
            source=source,
            checkpoint=checkpoint,
            classes=names,
            progress=screen.passing,
            stop=stopping.wanted,
        )
    screen.clear()
    for line in _summary(state, stream, known):
        typer.echo(line)
    if not state.finished:
        typer.echo(f"{model} is saved; the same command goes on", err=True)
        if stopping.number:
            raise typer.Exit(128 + stopping.number)


def _model(path: Path, recipe: str | None, seed: int) -> tuple[Any, Source | None, Any]:
    """The model in the file, or a new one; what is known of its data; its checkpoint."""
    from kernbrook.evaluation.checkpoints import load_checkpoint
    from kernbrook.evaluation.labelling import check_same_settings, with_policy
    from kernbrook.evaluation.sources import Source
    from kernbrook.models import recipes as book

    made = None if recipe is None else with_policy(book.make(recipe, random_state=seed))
    if not path.exists():
        if made is None:
            raise InputError(
                f"{path} does not exist; to begin a new model, name a recipe and the labels, "
                "such as --recipe omkc-dd --classes yes,no"
            )
        return made, None, None
    estimator, checkpoint = load_checkpoint(path)
    if made is not None:
        check_same_settings(path, estimator, made)
    if checkpoint is not None:
        return estimator, checkpoint.source, checkpoint
    width, names = (
        getattr(estimator, f"{what}_in_", None) for what in ("n_features", "feature_names")
    )
    if width is None:
        return estimator, None, None
    return estimator, Source(width, features=None if names is None else names.tolist()), None


def _opened(
    data: str, source: Source | None, label: str | None, n_features: int | None, seed: int
) -> tuple[Stream, Source]:
    """Data as the model knows them; where it is new, a CSV file needs no label."""
    from kernbrook.evaluation.labelling import open_unlabelled
    from kernbrook.evaluation.sources import open_like

    if source is None:
        return open_unlabelled(data, n_features=n_features, label=label, seed=seed)
    if n_features not in (None, source.n_features):
        raise InputError(f"--n-features: the model has {source.n_features}, got {n_features}")
    return open_like(source, data, label=label, seed=seed), source


class _Stopping:
    """Ctrl-C or a polite kill: at once while a question is open, else after the row in work."""

    def __init__(self) -> None:
        self.number = 0
        self._idle = True  # nothing is half done

    def wanted(self) -> bool:
        """Asked after each row."""
        self._idle = False
        return self.number != 0

    def while_asking(
        self, ask: Callable[[Question, Labelling], Any]
    ) -> Callable[[Question, Labelling], Any]:
        """The same questions; a signal is like `q`."""
        from kernbrook.evaluation.labelling import Quit

        def asked(question: Question, state: Labelling) -> Any:
            try:
                self._idle = True
                if self.number:
                    raise KeyboardInterrupt
                return ask(question, state)
            except KeyboardInterrupt:
                raise Quit from None
            finally:
                self._idle = False

        return asked

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        def receive(number: int, frame: object) -> None:
            again, self.number = self.number != 0, number
            if self._idle or again:
                raise KeyboardInterrupt

        before = {name: signal.signal(name, receive) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except KeyboardInterrupt:
            typer.echo("kernbrook: stopped; the same command goes on", err=True)
            raise typer.Exit(128 + self.number) from None
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


# -- a person ---------------------------------------------------------------------------------


class _Screen:
    """Questions on standard error, answers on standard input."""

    def __init__(
        self, console: Console, stream: Stream, source: Source, classes: NDArray[Any] | None
    ):
        self._console = console
        self._rows = stream.n_rows
        self._names = source.features
        self._classes: list[Any] | None = None if classes is None else classes.tolist()
        self._array = classes
        self._text = classes is not None and classes.dtype.kind in "UO"
        self._numbered = self._text and not any(map(_like_number, self._classes or []))
        starts = {str(name)[:1].casefold() for name in self._classes or []}
        skip, end = ("skip" if "s" in starts else "s skip"), ("quit" if "q" in starts else "q quit")
        what = "number" if classes is None else "label"
        self._prompt = f"{what} ({skip}, {end}, ? help): "
        self._shown = 0.0  # when the line about rows passed by was last written; 0 for none

    def ask(self, question: Question, state: Labelling) -> Any:
        """The label that a person gives, or None for a skip; Quit where they stop."""
        from kernbrook.evaluation.labelling import Quit

        self.clear()
        self._say("")
        self._say(self._title(question, state), "bold")
        for line in (*_features(question, self._names), "", *self._belief(question, state)):
            self._say(line)
        while True:
            self._console.print(self._prompt, end="", markup=False, style="bold")
            text = sys.stdin.readline()
            if not sys.stdin.isatty():
                self._say(text.rstrip("\n"))
            if not text:
                raise Quit
            try:
                word, label = self._understood(text.strip())
            except InputError as error:
                self._say(f"{error}", "red")
                continue
            if word == "quit":
                raise Quit
            if word != "help":
                return label
            for line in self._help():
                self._say(line)

    def passing(self, state: Labelling) -> None:
        """Show in a terminal that rows are passed by, a few times a second."""
        if self._console.is_terminal and time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            self._console.file.write(f"\r{self._place(state.rows)}, {state.saved:,} saved\x1b[K")
            self._console.file.flush()

    def clear(self) -> None:
        if self._shown:
            self._console.file.write("\r\x1b[K")
            self._shown = 0.0

    def _say(self, line: str, style: str = "") -> None:
        self._console.print(line, markup=False, style=style, soft_wrap=True)

    def _place(self, row: int) -> str:
        return f"row {row:,}" + (f" of {self._rows:,}" if self._rows else "")

    def _title(self, question: Question, state: Labelling) -> str:
        parts = [self._place(question.row), f"asked {state.asked:,} of {state.rows:,}"]
        return "   ".join([*parts, f"saved {state.saved:,}"])

    def _belief(self, question: Question, state: Labelling) -> list[str]:
        """What the model expects, and how far to trust it."""
        import numpy as np

        if self._classes is None:
            if question.predicted is None:
                return ["the model has no label yet"]
            return [f"the model expects {question.predicted:.6g}{_record(state, numbers=True)}"]
        order: list[int] = list(range(len(self._classes)))
        if question.votes is not None:
            told = f"the model expects {question.predicted}{_record(state, numbers=False)}"
            if len(order) > CLASSES:
                order = np.argsort(-question.votes, kind="stable")[:CLASSES].tolist()
        else:
            told = "the model has no label yet"
        lines = [told]
        votes = None if question.votes is None else question.votes.tolist()
        names = [self._listed(k) for k in order[:CLASSES]]
        width = max(map(len, names))
        for k, name in zip(order, names, strict=False):
            lines.append(name if votes is None else f"{name:{width}}   vote {votes[k]:7.3g}")
        if rest := len(self._classes) - len(names):
            lines.append(f"  and {rest} others, see ?")
        return lines

    def _listed(self, k: int) -> str:
        assert self._classes is not None
        return f"  {k + 1:2}  {self._classes[k]}" if self._numbered else f"  {self._classes[k]}"

    def _help(self) -> list[str]:
        if self._classes is None:
            return ["Type the number.", *_WORDS]
        how = "as it stands here"
        if self._text:
            how = "its beginning, or its number here" if self._numbered else "or its beginning"
        names = [self._listed(k) for k in range(len(self._classes))]
        return [f"Type the label, {how}:", *names, *_WORDS]

    def _understood(self, text: str) -> tuple[str, Any]:
        """A word and a label: ("label", it), ("skip", None), ("quit", None) or ("help", None)."""
        from kernbrook.evaluation.labelling import as_label

        if text in ("", "?"):
            return "help", None
        try:
            return "label", as_label(text, self._array)
        except InputError as error:
            unknown = error
        classes = self._classes if self._classes is not None and self._text else []
        if self._numbered and text.isdecimal() and 0 < int(text) <= len(classes):
            return "label", classes[int(text) - 1]
        typed = text.casefold()
        meant = [("label", name) for name in classes if str(name).casefold().startswith(typed)]
        whole = [one for one in meant if str(one[1]).casefold() == typed]
        meant += [(word, None) for word in ("skip", "quit", "help") if word.startswith(typed)]
        meant = whole if len(whole) == 1 else meant
        if len(meant) > 1:
            could = ", ".join(word if label is None else str(label) for word, label in meant)
            raise InputError(f"{text!r} could be {could}: type more of it")
        if not meant:
            raise unknown
        return meant[0]


_WORDS = ("skip: pass on without a label", "quit: stop; the same command goes on")


def _record(state: Labelling, numbers: bool) -> str:
    """How good the model was on the labels given so far."""
    if state.judged == 0:
        return ""
    if numbers:
        off = math.sqrt(state.loss / state.judged)
        return f"; off by {off:.3g} on {state.judged:,} so far (root mean square)"
    return f"; right on {state.judged - state.loss:,} of {state.judged:,} so far"


def _features(question: Question, names: list[str] | None) -> list[str]:
    """The row in a few lines: all features that are there, or the most unusual ones."""
    import numpy as np

    dense = isinstance(question.x, np.ndarray)
    places, values = question.entries()
    left = 0
    if len(places) > LINES:
        spread = question.deviations[places]
        away = np.abs(values - question.means[places])
        unusual = np.divide(away, spread, out=np.zeros_like(away), where=spread > 0)
        first = np.argsort(-unusual, kind="stable")[: LINES - 1]
        left = len(places) - len(first)
        places, values = places[first], values[first]
    cells = [
        (_short(f"feature {j + 1}" if names is None else names[j]), f"{value:.6g}")
        for j, value in zip(places.tolist(), values.tolist(), strict=True)
    ]
    widths = [max((len(cell[i]) for cell in cells), default=0) for i in (0, 1)]
    lines = []
    for (name, value), j in zip(cells, places.tolist(), strict=True):
        line = f"  {name:{widths[0]}}  {value:>{widths[1]}}"
        if dense and question.row >= 10:
            line += f"   usual {question.means[j]:.4g} ± {question.deviations[j]:.4g}"
        lines.append(line)
    if left:
        lines.append(f"  and {left:,} {'others' if dense else 'other nonzero ones'}, less unusual")
    return lines or ["  all features are 0"]


def _like_number(name: Any) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"


def _summary(state: Labelling, stream: Stream, classes: NDArray[Any] | None) -> list[str]:
    met = f"{state.rows:,}" + (f" of {stream.n_rows:,}" if stream.n_rows else "")
    rows = [
        ("rows", met),
        ("labels given", f"{state.given:,}"),
        ("skipped", f"{state.skipped:,}"),
        ("labels saved", f"{state.saved:,}"),
    ]
    if state.rows:
        rows[-1] = ("labels saved", f"{state.saved:,} ({100 * state.saved / state.rows:.0f} %)")
    if state.judged and classes is None:
        rows.append(("error", f"{math.sqrt(state.loss / state.judged):.4g}"))
    elif state.judged:
        rows.append(("model right", f"{state.judged - state.loss:,} of {state.judged:,}"))
    rows.append(("answers", str(state.answers)))
    return [f"{what:13} {value}" for what, value in rows]


# -- files ------------------------------------------------------------------------------------


def _through(
    oracle: JSONLines,
    source: Source,
    classes: NDArray[Any] | None,
    read: Callable[[Any], Any],
    question: Question,
    state: Labelling,
) -> Any:
    """The answer to a question that is a line in a file."""
    columns, values = question.entries()
    names: list[str] | None = source.features
    if hasattr(question.x, "indices"):
        names = [str(j + 1) for j in columns.tolist()]
    row = values.tolist() if names is None else dict(zip(names, values.tolist(), strict=True))
    more: dict[str, Any] = {"predicted": question.predicted}
    if classes is not None and question.votes is not None:
        more["votes"] = dict(zip(map(str, classes.tolist()), question.votes.tolist(), strict=True))
    return oracle.ask(question.row, row, read, **more)
