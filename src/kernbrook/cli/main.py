"""The command line. Results on standard output, progress and messages on standard error.

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import errno
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kernbrook.cli.compare import compare, reproduce
from kernbrook.cli.explain import explain
from kernbrook.cli.label import label_data
from kernbrook.cli.options import Command, in_table
from kernbrook.cli.output import Progress, say
from kernbrook.cli.predict import predict
from kernbrook.cli.show import recipes, show
from kernbrook.cli.train import train
from kernbrook.errors import KernbrookError, KernbrookWarning, UndeclaredColumnsError
from kernbrook.telling import in_words


class _Commands(TyperGroup):
    """The commands; typer itself would end without a word at Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("kernbrook: stopped")
            raise typer.Exit(130) from None


app = typer.Typer(
    name="kernbrook",
    cls=_Commands,
    help="Learn with many kernels on a stream.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from kernbrook import __version__

        typer.echo(f"kernbrook {__version__}")
        raise typer.Exit


def data() -> None:
    """List the data that is known by name."""
    from kernbrook.streams import describe_stream, stream_names

    for name in stream_names():
        typer.echo(f"{name:17} {describe_stream(name)}")
    typer.echo(
        "\nNAME:N gives N rows. A NAME.libsvm or NAME.libsvm.xz in the folder that KERNBROOK_DATA "
        "names is known as NAME."
    )


def warm(
    recipes: Annotated[str, typer.Option(help="Recipes, separated by commas, or all.")] = "all",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; one a core by default.")
    ] = None,
) -> None:
    """Compile ahead what the other commands would compile when they first need it.

    For images and for machines that test: compiled code stays in the disk cache, in the folder
    that NUMBA_CACHE_DIR names, else in the user's for caches. After an upgrade it has to be
    compiled again.
    """
    import time

    from kernbrook.evaluation.warming import compile_ahead

    begin = time.monotonic()
    with Progress() as shown:
        functions = compile_ahead(recipes, jobs, shown.compiling)
    if functions == 0:
        typer.echo("nothing to compile")
    else:
        typer.echo(f"compiled {functions} functions in {time.monotonic() - begin:.0f} s")


for _command in (compare, reproduce, data, recipes, train, predict, explain, show, warm):
    app.command(cls=Command)(_command)
app.command("label", cls=Command)(label_data)


def run() -> None:
    """The program: errors in one line on standard error, exit codes 0, 1 and 2."""
    if None in (sys.stdin, sys.stdout, sys.stderr):  # what is opened next must not be one of these
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        with _warnings_in_words():
            app()
    except UndeclaredColumnsError as error:
        for line in f"kernbrook: {error.path}: {error.listing}".split("\n"):
            say(line)
        command = shlex.join(["kernbrook", *sys.argv[1:], *_options(error.options)])
        if error.options:
            say(f"so {'the others' if error.unread else 'they'} are read: {command}")
        sys.exit(1)
    except Exception as error:
        if not (message := _message_of(error)):
            raise
        say(f"kernbrook: {message}")
        if isinstance(error, OSError) and sys.stdout is sys.__stdout__:
            _write_no_more()
        sys.exit(1)


def _write_no_more() -> None:
    """Where output cannot be written, Python would try once more at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message_of(error: Exception) -> str:
    """What an error comes to, in a line; "" for a fault of ours."""
    if isinstance(error, KernbrookError):
        return str(error)
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError):
        detail = f": {error}" if str(error) else ""
        return f"not enough memory for the budget, components or features{detail}"
    if isinstance(error, OverflowError):
        return f"a number is too large: {error}"
    if type(error).__module__.startswith("pyarrow"):
        return f"not enough memory, or a fault of pyarrow: {error}"
    return ""


def _options(options: Sequence[str]) -> list[str]:
    """What a command is given that declares columns: as options of its own, or in --table."""
    commands: Any = typer.main.get_command(app)
    params = commands.commands[sys.argv[1]].params
    known = {option for param in params for option in param.opts}
    found, left = list[str](), iter(options)
    for word in left:
        option, equals, value = word.partition("=")
        found += in_table(option, value if equals else next(left), known)
    return found


def _of_system(error: OSError) -> str:
    try:
        os.getcwd()
    except OSError:
        return "the folder that this was started in is not there any more: change to another (cd)"
    reason = error.strerror or str(error)
    if "shared object" in reason:  # llvmlite's, as it is loaded
        return f"not enough memory to load a library, or its installation is damaged: {reason}"
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {reason}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return f"cannot write standard output, or a temporary file: {reason}"
    return reason


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """A warning is a message like an error: a line of words, and no line of code."""
    with warnings.catch_warnings():

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            for line in in_words(message, category):
                say(line)

        warnings.showwarning = show
        warnings.simplefilter("always", KernbrookWarning)
        yield
