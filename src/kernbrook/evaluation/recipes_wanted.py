"""Which recipes and models are wanted, with which parameters; and which go with labels."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook import recipes as book
from kernbrook.checks import shown
from kernbrook.errors import DataFileWarning, InputError, UnknownNameError
from kernbrook.estimators.outside import OutsideMachine, online
from kernbrook.estimators.tasks import Task, task_of
from kernbrook.evaluation.measures import RULES
from kernbrook.learners import External
from kernbrook.streams import Stream, limits
from kernbrook.streams.stream import has_label
from kernbrook.streams.tables.labels import as_numbers, number_of
from kernbrook.telling import warn_caller

# The recipe where none is named.
OURS: dict[Task, str] = {
    "classification": "kernbrook-classification",
    "regression": "kernbrook-regression",
}


CHUNK = 4096  # rows read at a time
# Where nobody names recipes: ours, one of each paper, a linear one, the trivial ones.
SHORT_LISTS: dict[Task, tuple[str, ...]] = {
    "classification": (
        OURS["classification"], "omkc-dd", "spa", "bpegasos-merge", "perceptron",
        *RULES["classification"],
    ),
    "regression": (
        OURS["regression"], "kernbrook-active", "raker", "amkl-aks", "kl-linear",
        *RULES["regression"],
    ),
}  # fmt: skip
TRIVIAL = [rule for rules in RULES.values() for rule in rules]  # they have no parameters


class Choice(NamedTuple):
    """One row of a comparison."""

    title: str  # how a table calls the algorithm
    task: Task
    estimator: Any  # with `learn`, never learned; see `seeded`
    text: str  # a recipe's text, or a model as far as it prints itself


class Plan:
    """What a comparison runs, checked before any data are opened, as far as these do not decide.

    Parameters
    ----------
    recipes, baselines, overrides : as `compare` has them

    Attributes
    ----------
    rows : what is asked for, by the name of its row; None where the data decide
    overrides : of recipes
    """

    def __init__(
        self, recipes: Any, baselines: str | Sequence[str] | None, overrides: Mapping[str, Any]
    ):
        from kernbrook.evaluation.baselines import libraries_of

        self.rows, self.overrides = parse_recipes(recipes), overrides
        self._short = recipes is None
        self._asked = None if self.rows is None else choices_of(self.rows, overrides)
        if self.rows is None:
            settings_of(book.names(), overrides)  # refuses what no recipe has
        self._libraries = libraries_of(baselines)

    def choices(self, stream: Stream) -> dict[str, Choice]:
        """What runs on a stream, by the name of its row."""
        from kernbrook.evaluation.baselines import baselines_of

        choices = self._asked
        if choices is None:
            task = task_of_labels(stream)
            names = SHORT_LISTS[task] if self._short else recipes_for(task)
            choices = choices_of({name: name for name in names}, self.overrides)
        task = next(iter(choices.values())).task
        beside = baselines_of(self._libraries, task).items()
        baselines = {row: Choice(title, task, online(m), title) for row, (title, m) in beside}
        choices = choices | {row: c for row, c in baselines.items() if row not in choices}
        counts = Counter(choice.title for choice in choices.values())
        return {  # titles that come twice have the names of their rows behind them
            row: c if counts[c.title] == 1 else c._replace(title=f"{c.title} ({row})")
            for row, c in choices.items()
        }


def parse_recipes(recipes: Any) -> dict[str, Any] | None:
    """What `compare` is given, by the name of its row; None where the data decide."""
    if recipes is None or (isinstance(recipes, str) and recipes == "all"):
        return None
    if isinstance(recipes, Mapping):
        named = dict(recipes)
        if not all(isinstance(recipe, str) for recipe in named) or not _are_wanted(named.values()):
            raise _unexpected(recipes)
        return named
    given = [recipes] if isinstance(recipes, str) or _is_model(recipes) else recipes
    if not isinstance(given, Iterable) or not _are_wanted(given := list(given)):
        raise _unexpected(recipes)
    rows: dict[str, Any] = {}
    for recipe in given:
        if isinstance(recipe, str):
            texts = [_text(name, settings) for name, settings in parse(recipe)]
            rows |= {recipe: recipe for recipe in texts}
        elif (name := type(recipe).__name__) in rows:
            raise InputError(f"recipes: two models named {name}; give a mapping, name to model")
        else:
            rows[name] = recipe
    return rows


def _unexpected(recipes: Any) -> InputError:
    return InputError(
        "recipes: expected names such as ['omkc-dd', 'spa'], 'all', None, models, or a mapping of "
        f"names to these, got {shown(recipes)}"
    )


def are_recipes(given: Any, rows: int) -> bool:
    """Whether what follows a frame of so many rows is recipes or models, and not its labels."""
    if isinstance(given, (list, tuple)):
        of_rows = len(given) == rows and not any(name in book.names() for name in given)
        return not of_rows and _are_wanted(given)
    return isinstance(given, (str, Mapping)) or _is_model(given)


def _are_wanted(given: Iterable[Any]) -> bool:
    return all(isinstance(recipe, str) or _is_model(recipe) for recipe in given)


def _is_model(given: Any) -> bool:
    """Whether it can only be meant as a model; `online` says whether it is one."""
    return any(hasattr(given, name) for name in ("learn", "fit", "partial_fit", "learn_one")) or (
        isinstance(given, External)
    )


def parse(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Recipes and their settings out of a text; values are literals, or words without quotes.

    Examples
    --------
    >>> parse("spa(divisor=30), bpas(budget=500, kernels=amkl17), omkc-dd")
    [('spa', {'divisor': 30}), ('bpas', {'budget': 500, 'kernels': 'amkl17'}), ('omkc-dd', {})]
    """
    found = []
    mark, rest = ",", text
    while mark:
        name, mark, rest = re.fullmatch(r"([^(,]*)([(,]?)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
        name = name.strip()
        settings: dict[str, Any] = {}
        if mark == "(":
            settings, rest = _settings(name, rest)
            mark, rest = re.fullmatch(r"\s*(,?)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
            if rest and not mark:
                raise InputError(f"recipes: expected a comma after {name}(...), found {rest!r:.40}")
        found.append((name, settings))
    return found


def _settings(name: str, text: str) -> tuple[dict[str, Any], str]:
    for end in (place for place, sign in enumerate(text) if sign == ")"):
        try:
            call: Any = ast.parse(f"f({text[:end]})", mode="eval").body
        except (SyntaxError, ValueError):
            continue  # a bracket in a value
        if call.args or any(part.arg is None for part in call.keywords):
            break
        values = {part.arg: _value(name, part.arg, part.value) for part in call.keywords}
        return values, text[end + 1 :]
    raise InputError(f"recipes: expected {name}(PARAMETER=VALUE, ...), found {name}({text:.60}")


def _value(name: str, parameter: str, node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise InputError(
            f"recipes: {name}: {parameter} must be a number, a text, None, True, False or a list "
            f"of these, found {ast.unparse(node)}"
        ) from None


def _text(name: str, overrides: Mapping[str, Any]) -> str:
    """A recipe with its settings, as `parse` reads them."""
    settings = ", ".join(f"{key}={value!r}" for key, value in overrides.items())
    return f"{name}({settings})" if overrides else name


def choices_of(rows: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Choice]:
    """What runs in each row; what is wrong with it is found before any data are read.

    overrides : for each recipe that has such a parameter, where its text does not say otherwise
    """
    if not rows:
        raise InputError("recipes: expected one or more names, got none")
    parsed = {row: parse(given) for row, given in rows.items() if isinstance(given, str)}
    for row, found in parsed.items():
        if len(found) != 1:
            raise InputError(f"recipes: {row}: expected one recipe, got {rows[row]!r}")
    shared = settings_of([name for [(name, _)] in parsed.values()], overrides)
    choices = {}
    for row, given in rows.items():
        try:
            if row in parsed:
                ((name, settings),) = parsed[row]
                if "random_state" in settings:
                    raise InputError("random_state: give seed, each run draws its own from it")
                machine = make_online(name, **{**shared[name], **settings})
                title, text = _text(book.title(name), settings), given
            else:
                machine, title = online(given), _title(given)
                text = shown(given) if hasattr(given, "get_params") else title  # as River's do not
            check_settings(machine)
            choices[row] = Choice(title, task_of(machine), machine, text)
        except InputError as error:
            if row in book.names():
                raise
            raise InputError(f"{row}: {error}") from error
    by_task: dict[Task, list[str]] = {}
    for row, choice in choices.items():
        by_task.setdefault(choice.task, []).append(row)
    if len(by_task) > 1:
        listed = " and ".join(f"for {task} {', '.join(names)}" for task, names in by_task.items())
        raise InputError(
            f"recipes: expected all for classification or all for regression, got {listed}"
        )
    return choices


def _title(model: Any) -> str:
    """The class, of a pipeline of River all of its steps."""
    model = model.model if isinstance(model, External) else model
    steps = getattr(model, "steps", None)
    parts = steps.values() if isinstance(steps, Mapping) else [model]
    return " | ".join(type(part).__name__ for part in parts)


def seeded(estimator: Any, state: int) -> Any:
    """A copy that has learned nothing, with this seed where it has none of its own."""
    if isinstance(estimator, OutsideMachine):
        part = estimator.external
        return OutsideMachine(External(_seeded_model(part.model, state), part.every, part.window))
    fresh = clone(estimator, safe=False)
    if getattr(fresh, "random_state", 0) is None:
        fresh.set_params(random_state=state)
    return fresh


def _seeded_model(model: Any, state: int) -> Any:
    if hasattr(model, "_get_params") and hasattr(model, "clone"):  # of River
        return model.clone(_seeds(model._get_params(), state))
    fresh = clone(model, safe=False)
    if hasattr(fresh, "get_params"):
        names = [
            name
            for name, value in fresh.get_params().items()
            if value is None and name.rpartition("__")[2] == "random_state"
        ]
        fresh.set_params(**dict.fromkeys(names, state))
    return fresh


def _seeds(parameters: Mapping[str, Any], state: int) -> dict[str, Any]:
    """The parameters of a model of River, as its `clone` takes them, with seeds where none are."""
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if name == "seed" and value is None:
            found[name] = state
        elif isinstance(value, dict):  # of a step of a pipeline
            found[name] = _seeds(value, state)
        elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):
            found[name] = (value[0], _seeds(value[1], state))  # of a part
        else:
            found[name] = value
    return found


def settings_of(names: Sequence[str], overrides: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each recipe, those of the parameters given that it has; some recipe must have each."""
    if "random_state" in overrides:
        raise InputError("random_state: give seed, each run draws its own from it")
    known = {name: ("mode", *book.parameters(name)) for name in names}
    real = [name for name in names if name not in TRIVIAL] or list(names)
    theirs = dict.fromkeys(parameter for name in real for parameter in known[name])
    for parameter in overrides:
        if parameter not in theirs:
            owner = f" of {real[0]}" if len(real) == 1 else ""
            raise UnknownNameError(f"parameter{owner}", parameter, theirs)
    return {
        name: {key: value for key, value in overrides.items() if key in state}
        for name, state in known.items()
    }


# -- labels ----------------------------------------------------------------------------------------


def classes_of(stream: Stream) -> NDArray[Any]:
    """The labels of a stream, each once and sorted; one reading where the stream has to be asked.

    InputError where one has a fraction, or where they are too many.
    """
    known = stream.classes()
    if known is not None:
        check_no_fraction(known)
        if stream.seem_counts:
            warn_caller(DataFileWarning(stream.name, note_counts(stream)))
        return known
    found: set[Any] = set()
    for _, y in stream.chunks(CHUNK):
        check_no_fraction(y)
        found.update(np.unique(y[has_label(y)]).tolist())
        check_number(len(found), stream.label_name)
    return np.array(sorted(found))


def note_counts(stream: Stream) -> str:
    """That labels which are about to be classes seem to be counts."""
    classes = stream.classes()
    several = 0 if classes is None else len(classes)
    return (
        f"column {stream.label_name!r:.60}: {several:,} whole numbers are taken as classes; are "
        "they counts? --recipe kernbrook-regression (model=kb.OnlineMKRegressor()) predicts numbers"
    )


def task_of_labels(stream: Stream) -> Task:
    """Numbers where a label has a fraction, else classes; read up to the first fraction."""
    if stream.label_type is not None:  # a table knows
        return "regression" if stream.label_type.kind == "f" else "classification"
    for _, y in stream.chunks(CHUNK):
        if y.dtype.kind != "f":
            return "classification"
        if _fractions(y).any():
            return "regression"
    return "classification"


def check_number(classes: int, column: str | None) -> None:
    """InputError where there are too many classes, perhaps because the column is another one."""
    if classes > limits.MOST_CLASSES:
        where = "" if column is None else f" in the column {column!r:.60}"
        raise InputError(
            f"data: over {limits.MOST_CLASSES:,} classes{where}; is it the label? label (--label) "
            f"names another, and {fitting('regression')}"
        )


def check_no_fraction(y: NDArray[Any]) -> None:
    """InputError where a label is no name of a class, because it has a fraction."""
    fractions = _fractions(y)
    if fractions.any():
        raise InputError(
            f"data: expected labels of classes, found the number {y[fractions][0]}; "
            f"{fitting('regression')}"
        )


def check_numbers(y: NDArray[Any]) -> None:
    """InputError where labels are no numbers, nor all text of numbers."""
    try:
        as_numbers(y)
    except InputError:
        found = next(label for label in y[has_label(y)] if number_of(label) is None)
        raise InputError(
            f"data: expected numbers as labels, found {found!s:.40}; {fitting('classification')}"
        ) from None


def fitting(task: Task) -> str:
    """The recipes for a task, in words."""
    names = dict.fromkeys([OURS[task], *recipes_for(task)])
    return f"recipes for {task}: {', '.join(names)}"


def recipes_for(task: Task) -> tuple[str, ...]:
    """The names of the recipes for a task that learn from streams."""
    return tuple(name for name in book.names() if not book.batch(name) and book.task(name) == task)


def make_online(name: str, /, **overrides: Any) -> Any:
    """`recipes.make` of a recipe that learns from streams."""
    if book.batch(name):
        raise InputError(
            f"{name} learns from all data at once, not from a stream; in Python: "
            f"kb.recipes.make({name!r}).fit(X, y), or run `kernbrook reproduce vkr-table-1`"
        )
    return book.make(name, **overrides)


def check_settings(estimator: Any, width: int = 1) -> None:
    """InputError where a parameter of an estimator has a wrong value, before any data are read.

    A copy of it learns no rows of `width` features.
    """
    estimator = online(estimator)
    labels: dict[str, Any] = {} if task_of(estimator) == "regression" else {"classes": [0, 1]}
    clone(estimator).learn(np.empty((0, width)), np.empty(0), **labels)


class NewModel:
    """A model of a recipe, made and checked once: before data are read, where that can be.

    Parameters
    ----------
    recipe : its name; None for ours, as the labels say which
    classes : all labels, or None; where they are given the labels are no numbers
    settings : of the recipe
    """

    def __init__(self, recipe: str | None, classes: Any, settings: Mapping[str, Any]):
        self.recipe = recipe or (None if classes is None else OURS["classification"])
        self._settings, self._model = settings, None
        if self.recipe is not None:
            self.fitting(lambda: "classification")

    def fitting(self, task: Callable[[], Task]) -> Any:
        """The model; where the labels are to say which, for labels of that task."""
        if self._model is None:
            self.recipe = self.recipe or OURS[task()]
            self._model = make_online(self.recipe, **self._settings)
            check_settings(self._model)
        return self._model


def _fractions(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind != "f":
        return np.zeros(len(y), dtype=bool)
    return np.asarray(np.mod(y, 1) != 0) & has_label(y)
