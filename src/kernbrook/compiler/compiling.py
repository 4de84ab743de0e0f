"""How functions are compiled: one decorator, and verbs whose implementation a type chooses.

Compiled code is kept on disk by numba, function by function, each with an index of the types that
it was compiled for. The index names the classes among them, so a class from somebody else's module
must never stand in it: a process that cannot import that module could not read the index at all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import update_wrapper
from pathlib import Path
from typing import Any

from numba import types
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.compiler import Compiler
from numba.core.typing.templates import AbstractTemplate, infer_global

from kernbrook.compiler.disk_cache import CheckedFiles, clean_once, conditions, warn_not_kept
from kernbrook.compiler.first_use import FirstUse
from kernbrook.compiler.inner import (
    Compiled,
    InnerCacheImpl,
    NotCompiled,
    OuterCacheImpl,
    Plain,
    at_hand,
)
from kernbrook.compiler.lean import Inside
from kernbrook.compiler.shipped import folder_of, level
from kernbrook.errors import InputError

PACKAGE = __name__.partition(".")[0]

first_use = FirstUse(Compiled)  # of this process
event.register("numba:compile", first_use)


def from_outside(kind):
    """Is a numba type a NamedTuple class from outside this package, or a tuple with one inside?

    Or the address of one; see `addresses`.
    """
    kind = getattr(kind, "kind", kind)
    if is_theirs(getattr(kind, "instance_class", None)):
        return True
    return isinstance(kind, types.BaseTuple) and any(map(from_outside, kind))


def is_theirs(kind):
    """Is a class, or a function, from outside this package, or of no module? None is not."""
    return kind is not None and str(kind.__module__).partition(".")[0] != PACKAGE


class Stamp:
    """The conditions of code for classes from outside; under others it is compiled again.

    changes : how often an implementation of theirs was replaced
    bounds : whether indices in their verbs are checked
    """

    changes = 0
    bounds = False

    def __call__(self):
        return self.changes, self.bounds


stamp = Stamp()  # of this process


@contextmanager
def bounds_checked() -> Iterator[None]:
    """An index outside of an array is an IndexError in verbs of others, compiled for it."""
    stamp.bounds = True
    try:
        yield
    finally:
        stamp.bounds = False


class OwnTypesCache(FunctionCache):
    """numba's cache on disk, without what is compiled for types from outside this package.

    What was shipped with the package is looked for first; `level` is that of the shipped code that
    has gone into what is kept here.

    form : of the function; a part of its files' names
    """

    _impl_class = OuterCacheImpl

    def __init__(self, function, form="outer"):
        super().__init__(function)
        name = f"{self._impl.filename_base}.{form}"
        self._cache_file = CheckedFiles(self._cache_path, name, conditions())
        folder = folder_of(function.__code__.co_filename)
        self._shipped = folder and CheckedFiles(folder, name, conditions())

    def _index_key(self, sig, codegen):
        return *super()._index_key(sig, codegen), level

    def _load_overload(self, sig, context):
        if self._shipped:
            kinds, (triple, *_), code, _ = self._index_key(sig, context.codegen())
            found = self._shipped.load((kinds, (triple, *level), code, None))
            if found is not None:
                return self._impl.rebuild(context, found)
        clean_once(Path(self._cache_path))
        return super()._load_overload(sig, context)

    def load_overload(self, sig, target_context):
        theirs = any(map(from_outside, getattr(sig, "args", sig)))
        found = None if theirs else super().load_overload(sig, target_context)
        if found is None and at_hand.alone:
            raise NotCompiled
        return found

    def save_overload(self, sig, data):
        if not any(map(from_outside, getattr(sig, "args", sig))):
            try:
                super().save_overload(sig, data)
            except OSError as error:  # a full disk
                warn_not_kept(f"{self._cache_path}: {error.strerror or error}")


class InnerCache(OwnTypesCache):
    """The cache of functions that compiled code calls."""

    _impl_class = InnerCacheImpl


def njit(**options):
    """numba's `njit` for every function of this package; see `inner`.

    With `cache=True` what is compiled for this package's types and numba's own is kept on disk,
    after what other sources left there has gone. What is compiled for other people's types lasts
    as long as the process. Divided by 0 a number of ours is infinity or NaN, which is refused where
    scores and states are looked at; of other people's functions it is an error, as in Python. With
    `plain=True` Python calls the function as Python.
    """
    kept, kind = options.pop("cache", False), Plain if options.pop("plain", False) else Compiled

    def decorate(function):
        chosen = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options}
        ours = not is_theirs(function)
        if ours:
            chosen["error_model"] = "numpy"
        compiled = kind(function, {}, chosen, pipeline_class=Inside if ours else Compiler)
        compiled.version = lambda kinds: stamp() if any(map(from_outside, kinds)) else None
        if kept:
            try:
                inner = InnerCache(function, "fast" if options.get("fastmath") else "inner")
                caches = OwnTypesCache(function), inner
            except RuntimeError as error:  # numba is told to take folders that cannot be written
                warn_not_kept(error)
            else:
                compiled._cache, compiled.inner_cache = caches
        return compiled

    return decorate


owners: dict[type, str] = {}  # of classes of rules from outside: the name of whose they are


class Verb:
    """A function that compiled code calls; the class of its first argument says what runs.

    `@fit_in.of(Kind)` before a function makes it the verb `fit_in` for the NamedTuple class `Kind`;
    the default is that of all other classes. Only implementations in use are compiled. Outside of
    compiled code a verb does the same, as Python.

    Attributes
    ----------
    default, implementations : functions; of classes
    column, family : of the verb's address in links; the verbs that stand there; see `links`
    guard : of an implementation from outside, and of who it is, the same that looks at what it
        gives, and says so where it is nothing that can be gone on with; see `engine.guards`
    """

    column: int
    family: tuple["Verb", ...]
    guard: Any = None

    def __init__(self, default):
        self.default, self.implementations, self._compiled = default, {}, {}
        self._bare = {}
        update_wrapper(self, default)

        class Called(AbstractTemplate):
            key = self

            def generic(self, arguments, names):
                function = self.key.compiled(arguments[0])
                return function.get_call_template(arguments, names)[0].cases[0]

            def get_impl_key(self, signature):
                return self.key.compiled(signature.args[0]).get_overload(signature)

        infer_global(self, types.Function(Called))

    def __call__(self, first, *others):
        return self.implementation(type(first))(first, *others)

    def __repr__(self):  # part of the names of compiled functions: the same in all processes
        return f"{self.__module__}.{self.__qualname__}"

    def __reduce__(self):  # part of the key of what is compiled for it
        return self.__qualname__

    def of_whom(self, kind):
        """How errors name the verb of a class."""
        owner = owners.get(kind)
        return f"{f'{owner}: ' if owner else ''}{self.__name__} for {kind.__name__}"

    def implementation(self, kind):
        """The function that runs for a class."""
        return self.implementations.get(kind, self.default)

    def compiled(self, first):
        """The function for a numba type of the first argument, compiled into its callers."""
        kind = getattr(first, "instance_class", None)
        body, theirs = self.implementation(kind), is_theirs(kind)
        key = (body, kind, stamp.bounds) if theirs else body
        if key not in self._compiled:
            made = self.bare(first)
            if theirs and self.guard is not None:
                guarded = self.guard(self, made, kind)
                if guarded is not made:  # else it would be compiled anew, as it is not to be
                    made = njit(nogil=True, forceinline=True)(guarded)
            self._compiled[key] = made
        return self._compiled[key]

    def bare(self, first):
        """The function without its guard."""
        kind = getattr(first, "instance_class", None)
        body, checked = self.implementation(kind), is_theirs(kind) and stamp.bounds
        key = body, checked
        if key not in self._bare:
            checked = True if checked else None
            self._bare[key] = njit(nogil=True, forceinline=True, boundscheck=checked)(body)
        return self._bare[key]

    def of(self, kind):
        """Make a function the implementation for a class, instead of one that was it before.

        Raises
        ------
        InputError
            The class is kernbrook's, and the function is not.
        """

        def register(function):
            if is_theirs(function) and not is_theirs(kind):
                raise InputError(
                    f"{self.__name__}: {kind.__name__} is a class of kernbrook; write a NamedTuple "
                    "class of your own"
                )
            if self.implementations.get(kind, function) is not function:
                stamp.changes += 1
            self.implementations[kind] = function
            return function

        return register


class Option(Verb):
    """A verb that does nothing by default; through a link it is not called then."""
