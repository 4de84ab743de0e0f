"""What the engine reads of a part, what parts need of each other, and a sentence for each lack."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kernbrook.checks import shown
from kernbrook.compiler.checking import check_verbs
from kernbrook.engine import verbs
from kernbrook.engine.rules import cast_rule
from kernbrook.errors import InputError
from kernbrook.features.base import Features, Map

# store -> what its learners must have beside `rule`, and the verbs without which they are none
STORES: dict[str, tuple[tuple[str, ...], tuple[Any, ...]]] = {
    "expansion": ((), (verbs.expand,)),
    "slots": (("slots", "keeps", "spare", "remembers"), (verbs.fit_in,)),
    "features": (("features", "extra_rows", "fill_extra"), (verbs.predict, verbs.descend)),
    "outside": (("make_store",), ()),
}
# choice -> the same of parts that have no store
CHOICES: dict[str, tuple[tuple[str, ...], tuple[Any, ...]]] = {
    "combiner": (("loss_code", "state_size"), (verbs.update,)),
    "selection": (("draws_updates",), (verbs.select, verbs.expect)),
    "labels": (("asks",), (verbs.wants,)),
}


class Need(NamedTuple):
    """A need of a part, in words; the choice whose parts all have to give it; one that does."""

    sentence: str
    choice: str
    such: str


NEEDS = {
    "classes": Need("labels that are classes", "task", "OnlineMKClassifier"),
    "all experts": Need("all experts in each vote", "selection", "selection=Selection()"),
    "several experts": Need("experts to compare", "selection", "selection=Selection()"),
    "features": Need("learners on features", "learner", "learner=GradientDescent()"),
}
# What parts of a choice give where their classes do not say it.
_GIVEN = {"selection": frozenset({"several experts"})}
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
        # To ask a part for it may raise an error about something else.
        if not (hasattr(type(part), attribute) or hasattr(part, attribute)):
            raise InputError(f"{name}: {attribute} is missing, which a {such} has; {see}")


def check_recipe(recipe: Features) -> None:
    """InputError where a recipe of features, or the class of its maps, lacks what is called."""
    kind, of_maps = type(recipe), getattr(recipe, "map", None)
    lacking = [name for name in ("dim", "draw") if getattr(kind, name) is getattr(Features, name)]
    if of_maps is None:
        lacking.append("map")
    elif of_maps.fill is Map.fill:
        lacking.append(f"map.fill (of {of_maps.__name__})")
    if lacking:
        raise InputError(f"{kind.__name__}: {lacking[0]} is missing; see docs/adding_a_map.md")


def check_content(content: Any, base: type, called: Sequence[Any], **given: Any) -> None:
    """InputError where what a learner without kernels keeps lacks what is called.

    base : the class of all contents; called, given : verbs of its compiled form; see `check_verbs`
    """
    kind, see = type(content), "see docs/adding_a_store.md"
    for name in ("first", "form", "check"):
        if getattr(kind, name, None) in (None, getattr(base, name)):
            raise InputError(f"{kind.__name__}: {name} is missing; {see}")
    first = content.first
    if not (isinstance(first, tuple) and hasattr(first, "_fields")):
        wanted = "expected a property with arrays in a NamedTuple"
        raise InputError(f"{kind.__name__}: first: {wanted}, got {shown(first)}; {see}")
    check_verbs(content, content.form(first), called, **given)


def needs(part: Any) -> frozenset[str]:
    """The needs of a part, which other parts have to give."""
    return _words(getattr(part, "needs", frozenset()))


def gives(part: Any) -> frozenset[str]:
    """The needs of other parts that this one gives."""
    features = frozenset({"features"} if getattr(part, "store", None) == "features" else ())
    return features | _words(getattr(part, "gives", _GIVEN.get(part.choice, frozenset())))


def _words(words: Any) -> frozenset[str]:
    """A set of words, which may be one word alone."""
    return frozenset({words} if isinstance(words, str) else words)


def check_together(task: str, parts: Mapping[str, Sequence[Any]]) -> None:
    """InputError where a part needs what others do not give.

    task : "classification" or "regression"
    parts : of each choice; without learners, the combiner is the learner
    """
    for choice, of_choice in parts.items():
        for part in of_choice:
            for word in sorted(needs(part)):
                lacking = _lacking(word, task, parts)
                if lacking is not None:
                    sentence, _, such = NEEDS.get(word, Need(word, "", ""))
                    instead = f", but {such} does" if such else ""
                    raise InputError(
                        f"{choice}: {part!r} needs {sentence}, which {lacking} not give{instead}"
                    )


def _lacking(word: str, task: str, parts: Mapping[str, Sequence[Any]]) -> str | None:
    """The parts that do not give what is needed, in words and with a verb; None: all do."""
    of = NEEDS[word].choice if word in NEEDS else None
    if of == "task":
        return None if task == "classification" else "OnlineMKRegressor does"
    if of is None:  # a word of others: one part that gives it is enough
        everyone = [part for of_choice in parts.values() for part in of_choice]
        return None if any(word in gives(part) for part in everyone) else "the other parts do"
    those = parts[of] or parts["combiner"]
    return next((f"{part!r} does" for part in those if word not in gives(part)), None)


def check_rule(part: Any, rule: Any) -> None:
    """InputError where a rule lacks a verb of its part, or has one that cannot be called."""
    asked_of = CHOICES.get(part.choice) or STORES[part.store]
    if not asked_of[1]:
        return
    try:
        rule = cast_rule(rule)
    except InputError as error:
        raise InputError(f"{type(part).__name__}: {error}; {_see(part)}") from None
    check_verbs(part, rule, asked_of[1])


def _see(part: Any) -> str:
    page = "store" if getattr(part, "store", None) == "outside" else part.choice
    return f"see docs/adding_a_{_PAGES.get(page, page)}.md"
