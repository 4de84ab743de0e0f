"""Functions that compiled code calls: compiled once more, without machine code of their own.

numba gives every function a library with optimised machine code and a wrapper for Python, and then
takes its code over into each caller's library, where it is optimised and translated again; so most
of the compiling is of code that nobody runs. A function here is two: what Python calls is compiled
as numba does; what compiled code calls is translated to LLVM's language alone, and optimised in the
caller that Python calls. Functions that may add up numbers in another order are optimised by
themselves first, so that the order is the same wherever they are called. What numba itself is
written in, such as `np.empty`, has the second form alone where code of this package asks for it:
that takes a tenth less of a first use.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import local
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba import types
from numba.core import event, sigutils, typing
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import _OverloadFunctionTemplate

from kernbrook.compiler.disk_cache import CacheFolder
from kernbrook.compiler.lean import of_ours

NOTHING = llvm.parse_assembly("")


class InnerLibrary(JITCodeLibrary):
    """Code that is only taken over into other libraries."""

    by_itself = False  # whether it is optimised before

    def _optimize_final_module(self) -> None:
        if self.by_itself:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class QuickFlags(Flags):
    """numba's options, which it compares for each call in code that it compiles: quickly here."""

    _usual = Flags().values()
    _all = hash(tuple(sorted(_usual)))

    def __hash__(self) -> int:
        return self._all

    def __eq__(self, other: object) -> bool:
        if type(other) is not QuickFlags:
            return bool(super().__eq__(other))
        return self._values == other._values or self._chosen() == other._chosen()

    def _chosen(self) -> dict[str, Any]:
        return {name: value for name, value in self._values.items() if value != self._usual[name]}


class Inner(NamedTuple):
    """A function as compiled code calls it, for some types.

    key : by which numba knows it
    environment : numba's, kept alive
    """

    signature: Any
    fndesc: Any
    code: InnerLibrary
    environment: Any
    key: Any

    @property
    def codegen(self) -> Any:
        """The code generator, for which the cache asks."""
        return self.code.codegen


class OuterCacheImpl(CompileResultCacheImpl):
    """Keeps machine code alone: in LLVM's language nobody takes over what Python calls."""

    _locator_classes = (CacheFolder,)

    def reduce(self, result: Any) -> Any:
        result.library._shared_module = NOTHING
        return super().reduce(result)

    def rebuild(self, context: Any, payload: Any) -> Any:
        name = payload[1].llvm_cpython_wrapper_name
        context.codegen()._engine._defined_symbols.add(name)
        return super().rebuild(context, payload)


class InnerCacheImpl(CompileResultCacheImpl):
    """Keeps the code in LLVM's language."""

    _locator_classes = (CacheFolder,)

    def reduce(self, inner: Inner) -> Any:
        fndesc = inner.fndesc
        fndesc.typemap = fndesc.calltypes = None  # as numba does
        bitcode = inner.code.serialize_using_bitcode()
        return bitcode, fndesc, inner.environment, inner.signature

    def rebuild(self, context: Any, payload: Any) -> Inner:
        (name, _, bitcode), fndesc, environment, signature = payload
        library = InnerLibrary(context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return register(context, Inner(signature, fndesc, library, environment, object()))

    def check_cachable(self, inner: Inner) -> bool:
        return not inner.code.has_dynamic_globals


def register(context: Any, inner: Inner) -> Inner:
    """Make a function known to numba."""
    context.insert_user_function(inner.key, inner.fndesc, [inner.code])
    return inner


usual_form = _OverloadFunctionTemplate._get_jit_decorator


def form_of(template: Any) -> Any:
    """How numba compiles what it is written in."""
    if not of_ours.depth:
        return usual_form(template)
    return lambda **options: partial(Compiled, targetoptions={"nopython": True, **options})


_OverloadFunctionTemplate._get_jit_decorator = form_of


class NotCompiled(Exception):
    """Code is neither in this process nor on disk, and is not to be compiled now."""


class _AtHand(local):
    alone = False


at_hand = _AtHand()  # whether this thread does with the code that there is


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """Meanwhile this thread compiles nothing for Python to call: NotCompiled is raised instead."""
    at_hand.alone = True
    try:
        yield
    finally:
        at_hand.alone = False


class Compiled(CPUDispatcher):
    """A compiled function that compiled code calls in its other form.

    version : of types, what beside these tells forms apart
    """

    version: Any = staticmethod(lambda kinds: None)

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._compiler._customize_flags = QuickFlags
        self.inside: dict[Any, Inner] = {}
        self.inner_cache: Any = None  # on disk, if it is kept there

    def compile(self, sig: Any) -> Any:
        """For Python."""
        kinds = tuple(sigutils.normalize_signature(sig)[0])
        new = kinds not in self.overloads
        if new and at_hand.alone and isinstance(self._cache, NullCache):
            raise NotCompiled
        with of_ours:
            entry = super().compile(sig)
        if new:
            for environment in self.overloads[kinds]._find_referenced_environments():
                self.targetctx.codegen().set_env(environment.env_name, environment)
        return entry

    def inner(self, arguments: Any, gives: Any = None) -> Inner:
        """The form that compiled code calls, for these types of arguments.

        gives : the type that it returns; None: the type that numba infers
        """
        with global_compiler_lock:
            arguments = tuple(map(types.unliteral, arguments))
            key = arguments, gives, self.version(arguments)
            if key not in self.inside:
                self.inside[key] = self._kept(arguments, gives)
            return self.inside[key]

    def _kept(self, arguments: Any, gives: Any) -> Inner:
        """From the disk, or new and then kept there."""
        if self.inner_cache is None:
            return self._made(arguments, gives)
        kinds = gives, *arguments
        found: Inner | None = self.inner_cache.load_overload(kinds, self.targetctx)
        if found is None:
            found = self._made(arguments, gives)
            self.inner_cache.save_overload(kinds, found)
        return found

    def _made(self, arguments: Any, gives: Any) -> Inner:
        flags, usual, context = QuickFlags(), QuickFlags(), self.targetctx
        usual.nrt = True
        with ConfigStack().enter(usual):  # what it becomes does not depend on who calls
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        library = InnerLibrary(context.codegen(), self.py_func.__qualname__)
        library.by_itself = bool(flags.fastmath)
        data = {"dispatcher": self, "args": arguments, "return_type": gives}
        with of_ours, self._compiling_counter, event.trigger_event("numba:compile", data=data):
            made = compile_extra(
                self.typingctx, context, self.py_func, arguments, gives, flags, self.locals,
                library=library, pipeline_class=self._compiler.pipeline_class,
            )  # fmt: skip
        parts = made.signature, made.fndesc, library, made.environment
        return register(context, Inner(*parts, object()))

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The template for which numba asks at a call in compiled code."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        found, name = self.inner(args), self.py_func.__name__
        template = typing.make_concrete_template(
            f"CallTemplate({name})", key=name, signatures=[found.signature]
        )
        return template, pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """The key of what compiled code calls."""
        return self.inner(sigutils.normalize_signature(sig)[0]).key


class Plain(Compiled):
    """A function of a few lines, which Python calls as it is: to compile it takes longer."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)
