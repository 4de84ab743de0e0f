"""What the engine reads of a part, and one sentence where the part has it not."""

from __future__ import annotations

from typing import Any

from kernbrook.checks import shown
from kernbrook.engine import verbs
from kernbrook.engine.verbs import typed
from kernbrook.errors import InputError
from kernbrook.numerics.checking import check_verbs

# store -> what its learners must have beside `rule`, and the verbs without which they are none
STORES: dict[str, tuple[tuple[str, ...], tuple[Any, ...]]] = {
    "expansion": (("needs_diagonal",), (verbs.expand,)),
    "window": (("needs_diagonal", "budget"), (verbs.expand,)),
    "slots": (("slots", "keeps", "spare", "remembers"), (verbs.fit_in,)),
    "features": (("features", "extra_rows", "fill_extra"), (verbs.predict, verbs.descend)),
    "outside": (("make_store",), ()),
}
# choice -> the same of parts that have no store
CHOICES: dict[str, tuple[tuple[str, ...], tuple[Any, ...]]] = {
    "combiner": (("loss_code", "state_size"), (verbs.update,)),
    "selection": (("draws_updates",), (verbs.select, verbs.expect)),
    "labels": (("asks", "of_classes", "of_opinions", "of_variances"), (verbs.wants,)),
}
_PAGES = {"labels": "policy", "selection": "combiner"}


def check_part(part: Any) -> None:
    """InputError where a part lacks what the engine reads."""
    name, choice, see = type(part).__name__, part.choice, _see(part)
    if choice != "learner":
        wanted, such = CHOICES[choice][0], choice
    else:
        store = getattr(part, "store", None)
        if not isinstance(store, str) or store not in STORES:
            known = ", ".join(map(repr, STORES))
            found = "" if store is None else f", got {shown(store)}"
            raise InputError(f"{name}: store must be one of {known}{found}; {see}")
        wanted, such = STORES[store][0], f"learner of the store {store!r}"
    for attribute in ("rule", *wanted):
        if not _has(part, attribute):
            raise InputError(f"{name}: {attribute} is missing, which a {such} has; {see}")


def _has(part: Any, attribute: str) -> bool:
    """Whether it is there, also where asking for it raises an error about something else."""
    return hasattr(type(part), attribute) or hasattr(part, attribute)


def check_rule(part: Any, rule: Any, compiled: bool) -> None:
    """InputError where a rule lacks a verb of its part, or has one that cannot be called."""
    own = CHOICES.get(part.choice) or STORES[part.store]
    if not own[1]:
        return
    try:
        rule = typed(rule)
    except InputError as error:
        raise InputError(f"{type(part).__name__}: {error}; {_see(part)}") from None
    check_verbs(part, rule, own[1], compiled)


def _see(part: Any) -> str:
    return f"see docs/adding_a_{_PAGES.get(part.choice, part.choice)}.md"
