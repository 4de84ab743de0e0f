"""How functions are compiled: one decorator, and verbs whose implementation a type chooses.

Compiled code is kept on disk by numba, function by function, each with an index of the types that
it was compiled for. The index names the classes among them, so a class from somebody else's module
must never stand in it: a process that cannot import that module could not read the index at all.
"""

from collections import ChainMap
from functools import update_wrapper
from pathlib import Path

from numba import types
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.typing.templates import AbstractTemplate, infer_global

from kernbrook.numerics.freshness import PACKAGE as PACKAGE_FOLDER
from kernbrook.numerics.freshness import CheckedFiles, digest_of, meet, not_kept
from kernbrook.numerics.inner import Compiled, InnerCacheImpl

PACKAGE = __name__.partition(".")[0]


def from_outside(kind):
    """Is a numba type a NamedTuple class from outside this package, or a tuple with one inside?

    Or the address of one; see `memory`.
    """
    kind = getattr(kind, "kind", kind)
    made_of = getattr(kind, "instance_class", None)
    if made_of is not None and made_of.__module__.partition(".")[0] != PACKAGE:
        return True
    return isinstance(kind, types.BaseTuple) and any(map(from_outside, kind))


class OwnTypesCache(FunctionCache):
    """numba's cache on disk, without what is compiled for types from outside this package."""

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), digest_of(PACKAGE_FOLDER)
        self._cache_file = CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        if any(map(from_outside, getattr(sig, "args", sig))):
            return None
        return super().load_overload(sig, target_context)

    def save_overload(self, sig, data):
        if not any(map(from_outside, getattr(sig, "args", sig))):
            try:
                super().save_overload(sig, data)
            except OSError as error:  # a full disk
                not_kept(f"{self._cache_path}: {error.strerror or error}")


class InnerCache(OwnTypesCache):
    """The same for what compiled code calls."""

    _impl_class = InnerCacheImpl


def njit(**options):
    """numba's `njit` for every function of this package; see `inner`.

    With `cache=True` what is compiled for this package's types and numba's own is kept on disk,
    after what other sources left there has gone. What is compiled for other people's types lasts
    as long as the process.
    """
    kept = options.pop("cache", False)

    def decorate(function):
        if config.DISABLE_JIT:
            return function
        compiled = Compiled(function, {}, {"nopython": True, "boundscheck": None, **options})
        if kept:
            try:
                caches = OwnTypesCache(function), InnerCache(function)
            except RuntimeError as error:  # no folder can be written
                not_kept(error)
            else:
                compiled._cache, compiled.inner_cache = caches
                meet(Path(compiled.stats.cache_path), Path(function.__code__.co_filename))
        return compiled

    return decorate


class Verb:
    """A function that compiled code calls; the class of its first argument says what runs.

    `@fit_in.of(Kind)` before a function makes it the verb `fit_in` for the NamedTuple class `Kind`;
    the default is that of all other classes. Only implementations in use are compiled. Outside of
    compiled code a verb does the same, as Python.

    Attributes
    ----------
    default, implementations : functions; of classes
    column, family : of the verb's address in links; the verbs that stand there; see `linking`
    single : the verb's twin for arrays of 32 bits, if it has one; see `linking.in_single`
    is_single : whether this is such a twin
    """

    column: int
    family: tuple["Verb", ...]
    single: "Verb | None" = None
    is_single = False

    def __init__(self, default):
        self.default, self.implementations, self._compiled = default, {}, {}
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

    def implementation(self, kind):
        """What runs for a class."""
        return self.implementations.get(kind, self.default)

    def compiled(self, first):
        """What runs for a numba type of the first argument, compiled into its callers."""
        body = self.implementation(getattr(first, "instance_class", None))
        if body not in self._compiled:
            self._compiled[body] = njit(nogil=True, forceinline=True)(body)
        return self._compiled[body]

    def twin(self):
        """Another verb with the same implementations, but for those that are its own."""
        other = type(self)(self.default)
        other.implementations = ChainMap({}, self.implementations)
        other.__qualname__ = f"{self.__qualname__}.single"
        other.is_single, self.single = True, other
        return other

    def of(self, kind):
        """Make a function the implementation for a class."""

        def register(function):
            self.implementations[kind] = function
            return function

        return register


class Option(Verb):
    """A verb that does nothing by default; through a link it is not called then."""
