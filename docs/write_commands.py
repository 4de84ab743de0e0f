"""Writes docs/commands.md, from what the commands say: `python docs/write_commands.py`."""

from __future__ import annotations

import re
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from kernbrook.cli.main import app

PAGE = Path(__file__).with_name("commands.md")
KINDS = {"str": "TEXT", "path": "FILE", "int": "NUMBER", "float": "NUMBER"}
BEGIN = """# Commands

All commands, with all their options. This page is written by `python docs/write_commands.py` from
what each says with `--help`.

Results go to standard output; progress, messages and errors go to standard error. The exit code is
0 where all went well, 1 where the data, a file or the machine stood in the way, 2 where the command
line was not understood, and 130 after Ctrl-C. [JSON](json_schema.md) has the keys of what `--json`
writes.
"""


def page() -> str:
    """The text of docs/commands.md."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    listed = [
        f"| [`{name}`](#kernbrook-{name}) | {_first(command)} |"
        for name, command in commands.items()
    ]
    parts = [BEGIN, "\n".join(["| command | |", "|---|---|", *listed]) + "\n"]
    parts += [_section(name, command) for name, command in commands.items()]
    return "\n".join(parts)


def _first(command: Any) -> str:
    """The first sentence of a command's help."""
    return re.split(r"(?<=[.:])\s", cleandoc(command.help), maxsplit=1)[0].rstrip(":.")


def _section(name: str, command: Any) -> str:
    context = command.context_class(command, info_name=name)
    shown = [one for one in command.params if not one.hidden]
    arguments = [one.name.upper() for one in shown if one.param_type_name == "argument"]
    lines = [
        f"## kernbrook {name}\n",
        f"```text\n{' '.join(['kernbrook', name, '[OPTIONS]', *arguments])}\n```\n",
        f"{_marked(cleandoc(command.help))}\n",
    ]
    if shown:
        lines += ["| given | |", "|---|---|", *(_row(one, context) for one in shown)]
    return "\n".join(lines) + "\n"


def _row(parameter: Any, context: Any) -> str:
    """What is given, such as `--budget NUMBER`, and what it means."""
    said, meaning = parameter.get_help_record(context)
    for written, kind in KINDS.items():
        said = re.sub(rf"<{written}( range)?>", kind, said)
    if parameter.param_type_name == "argument":
        said = parameter.name.upper()
    said, meaning = (" ".join(text.split()).replace("|", "\\|") for text in (said, meaning))
    meaning = meaning.replace("*", "\\*")
    return f"| `{said}` | {_marked(meaning)} |"


def _marked(text: str) -> str:
    """The text with options as code, which keeps both of their dashes."""
    pieces = text.split("`")  # every other one is code already
    pieces[::2] = [
        re.sub(r"(?<![\w-])(--[a-z][\w-]*(?: \w+[=.]\w+)?)", r"`\1`", one) for one in pieces[::2]
    ]
    return "`".join(pieces)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
