"""The verbs of a class from outside, before anything is compiled that calls them: one sentence."""

import re
from collections.abc import Mapping
from inspect import signature
from typing import Any

from numba import typeof, types
from numba.core.errors import NumbaError

from kernbrook.compiler.compiling import is_theirs, owners
from kernbrook.compiler.links import addressed, types_of
from kernbrook.errors import InputError

PAGES = {
    "update": "combiner", "weigh_all": "combiner", "correct": "combiner", "select": "combiner",
    "expect": "combiner", "lead_on": "combiner", "choose_next": "combiner", "wants": "policy",
    "note_round": "policy", "note_error": "policy", "fill": "kernel", "write_rows": "map",
    "say": "store", "follow": "store",
}  # fmt: skip


def page_of(verb: Any) -> str:
    """Which page of the documentation says what a verb is given and gives."""
    return f"see docs/adding_a_{PAGES.get(verb.__name__, 'learner')}.md"


def check_verbs(owner: Any, rule: Any, needed: Any, **given: Any) -> None:
    """InputError where a rule from outside lacks a verb, or has one that cannot be called.

    owner : whose rule it is
    needed : the verbs without which it is none; they are of one family
    given : by a parameter's name, what a verb gets there, where its annotation says another type
    """
    kind = type(rule)
    if not is_theirs(kind):
        for part in rule:  # of a combiner that has another inside
            if isinstance(part, tuple):
                check_verbs(getattr(owner, "base", owner), part, needed)
        return
    owners.setdefault(kind, type(owner).__name__)
    for verb in needed[0].family:
        if verb.implementation(kind) is not verb.default:
            _check_verb(verb, rule, given)
        elif verb in needed:
            raise InputError(
                f"{type(owner).__name__}: the verb {verb.__name__} is missing; write a function "
                f"below @{verb.__name__}.of({kind.__name__}); {page_of(verb)}"
            )


def _check_verb(verb: Any, rule: Any, given: Mapping[str, Any]) -> None:
    who, see = verb.of_whom(type(rule)), page_of(verb)
    wanted, names = (_names(body) for body in (verb.default, verb.implementation(type(rule))))
    moved = any(name != here and name in wanted for name, here in zip(names, wanted, strict=False))
    if moved or len(names) != len(wanted) or any(name.startswith("*") for name in names):
        raise InputError(
            f"{who}: expected the parameters ({', '.join(wanted)}), got ({', '.join(names)}); {see}"
        )
    takes, _, gives = types_of(verb)
    try:
        kind = typeof(rule)
        pairs = zip(wanted[1:], takes, strict=True)
        takes = [typeof(given[name]) if name in given else takes_it for name, takes_it in pairs]
        found = verb.bare(kind).inner((addressed(kind), *takes)).signature.return_type
    except (NumbaError, ValueError) as error:  # the second by `typeof`
        raise InputError(f"{who} cannot be compiled: {_first(str(error))}; {see}") from error
    if not _fits(types.unliteral(found), gives):
        raise InputError(
            f"{who}: expected it to return {_shown(gives)}, got {_shown(found)}; {see}"
        )


def _names(function: Any) -> list[str]:
    found = signature(function).parameters.values()
    return [f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name for p in found]


def _shown(kind: Any) -> str:
    """A type as a message names it."""
    if isinstance(kind, types.BaseTuple):
        inside = ", ".join(_shown(part) for part in kind)
        return f"{getattr(getattr(kind, 'instance_class', None), '__name__', '')}({inside})"
    plain = {types.none: "nothing", types.float64: "float", types.int64: "int"}
    return plain.get(kind, "bool" if isinstance(kind, types.Boolean) else str(kind)[:80])


def _fits(found: Any, wanted: Any) -> bool:
    """Whether what a verb returns is, or becomes, what it is to return."""
    found = types.unliteral(found)
    if isinstance(wanted, types.BaseTuple):
        same = isinstance(found, types.BaseTuple) and len(found) == len(wanted)
        named = getattr(wanted, "instance_class", None)
        same = same and named in (None, getattr(found, "instance_class", None))
        return same and all(map(_fits, found, wanted))
    if isinstance(wanted, types.Float):
        return isinstance(found, (types.Float, types.Integer, types.Boolean))
    if isinstance(wanted, (types.Integer, types.Boolean)):
        return isinstance(found, type(wanted))
    return found == wanted


def _first(text: str) -> str:
    """The message of numba in one line, and its place."""
    lines = [line.strip() for line in re.sub("\x1b[^m]*m", "", text).splitlines()]
    reasons = [line for line in lines if line and not line.startswith("Failed in ")]
    where = re.search(r'File "([^"]+)", line (\d+)', text)
    at = f" ({where[1]}, line {where[2]})" if where else ""
    return f"{reasons[0][:200] if reasons else 'numba refuses it'}{at}"
