"""What a question is known by under a key: a text of all that it is, the same in every process.

A computation's own text is for people: it leaves out long parameters, and names functions only. Here functions are
known by their code and by what it holds on to: defaults, closures, the objects that methods are bound to, globals that
it reads. Nothing depends on addresses or on the order of hashes. What has no such text, an object that shows nothing
but its address, is named in `unknown`.
"""

from __future__ import annotations

import dis
import functools
import inspect
import re
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viameter.composition import Filter
from viameter.core import Measurement, PostProcessing, Recipe
from viameter.core.computation import Computation
from viameter.core.recipe import Step
from viameter.errors import FormatError
from viameter.ledger.chain import digest
from viameter.ledger.codec import LONGEST, encode

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_STATE_MAKERS = frozenset(
    [
        *("__init__", "__post_init__", "__repr__", "__eq__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__"),
        *("__setattr__", "__delattr__", "__getstate__", "__setstate__", "__replace__"),
    ]
)
"""Methods that make or show an object, often generated: what they made is its state."""


@dataclass(frozen=True, slots=True)
class Described:
    """A text, and what of it could not be told."""

    text: str
    unknown: tuple[str, ...] = ()
    """The types of objects that show nothing but their address."""


def describe(asked: Any) -> Described:
    """A computation, or a query, with all of its parameters."""
    describing = _Describing()
    return Described(describing.text(asked), tuple(dict.fromkeys(describing.unknown)))


def describe_whole(asked: Any) -> str:
    """The text alone.

    >>> import viameter as vm
    >>> describe_whole(vm.filter(vm.is_in([1, 2])) >> vm.count())
    'filter(predicate=is_in([1, 2])) >> count()'
    """
    return describe(asked).text


def without_addresses(text: str) -> str:
    """A text for people, without where things were in memory when it was made."""
    return _ADDRESS.sub("", text)


class _Describing:
    """One text in the making: what it is inside of, and what it could not tell."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._within: list[int] = []

    def text(self, value: Any) -> str:
        """The text of any value. One that contains itself is named by how far out it is."""
        if id(value) in self._within:
            return f"<what is {len(self._within) - self._within.index(id(value))} further out>"
        self._within.append(id(value))
        try:
            return self._computation(value) or self._container(value) or self._callable(value) or self._object(value)
        finally:
            self._within.pop()

    def _all(self, values: Iterable[Any]) -> str:
        return ", ".join(map(self.text, values))

    def _named(self, values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={self.text(values[name])}" for name in sorted(values))

    def _computation(self, value: Any) -> str | None:
        if isinstance(value, Computation):
            after = value.after if isinstance(value, Measurement) else ()
            return " >> ".join([repr(value.input_space), *map(self._step, value.steps), *map(self.text, after)])
        if isinstance(value, Recipe):
            return " >> ".join(map(self.text, value.steps))
        if isinstance(value, Step):
            named = (f"{name}={self.text(given)}" for name, given in value.parameters)
            return f"{value.constructor.name}({', '.join(named)})"
        if isinstance(value, PostProcessing):
            return f"{value!r} by {self.text(value.function)}"
        return None

    def _step(self, step: Computation) -> str:
        if step.identity:
            return self.text(step.identity[0])
        if isinstance(step, Filter):
            return f"{step!r} {step.terms!r} convert={step.odometer.convert}"
        own = getattr(step.function, "__module__", None)
        by = "" if _is_library(own) else f" by {self.text(step.function)}"
        return f"{without_addresses(repr(step))}{by}"

    def _container(self, value: Any) -> str | None:
        if isinstance(value, tuple | list):
            return f"{self._derived(value, tuple, list)}[{self._all(value)}]"
        if isinstance(value, set | frozenset):
            return f"{self._derived(value, set, frozenset)}{{{', '.join(sorted(map(self.text, value)))}}}"
        if isinstance(value, Mapping):
            items = ", ".join(f"{self.text(name)}: {self.text(held)}" for name, held in value.items())
            return f"{self._derived(value, dict)}{{{items}}}"
        return None

    def _derived(self, value: Any, *plain: type) -> str:
        """What a container of somebody else's has beside its items."""
        kind = type(value)
        if kind in plain or _is_library(kind.__module__):
            return ""
        return f"{self._class(kind)}({self._named(_state(value) or {})})"

    def _callable(self, value: Any) -> str | None:
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return f"{self.text(value.__func__)} of {self.text(value.__self__)}"
        if isinstance(value, functools.partial):
            return f"partial({self._all([value.func, *value.args])}; {self._named(value.keywords)})"
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, functools._lru_cache_wrapper):
            return f"cached {self.text(value.__wrapped__)}"
        if inspect.isroutine(value):
            # Those of C: methods such as {1, 2}.__contains__ hold an object, functions their module.
            held = getattr(value, "__self__", None)
            of = "" if held is None or isinstance(held, types.ModuleType) else f" of {self.text(held)}"
            return f"{_name(value)}{of}"
        return None

    def _function(self, function: types.FunctionType) -> str:
        if _is_library(function.__module__) and _is_found(function):
            return _name(function)  # its code may be another one in every version
        held = {
            "code": function.__code__,
            "defaults": function.__defaults__,
            "kwdefaults": function.__kwdefaults__,
            "attributes": {name: one for name, one in vars(function).items() if not name.startswith("__")},
        }
        cells = ", ".join(map(self._cell, function.__closure__ or ()))
        whole = f"{self._named(held)}; {cells}; {self._globals(function)}"
        return f"{_name(function)} {digest(whole)}"

    def _cell(self, cell: types.CellType) -> str:
        try:
            return self.text(cell.cell_contents)
        except ValueError:  # not bound yet
            return "<empty>"

    def _globals(self, function: types.FunctionType) -> str:
        """What it reads of its module: values, and functions that stand beside it; others by their names."""
        if _is_library(function.__module__):
            return ""
        known = function.__globals__
        return ", ".join(
            f"{name}={self._global(known[name], function)}"
            for name in sorted(_names_read(function.__code__))
            if name in known
        )

    def _global(self, value: Any, function: types.FunctionType) -> str:
        if isinstance(value, types.FunctionType | type):
            return self.text(value) if value.__module__ == function.__module__ else _name(value)
        if isinstance(value, types.ModuleType) or inspect.isroutine(value) or isinstance(value, functools.partial):
            return self.text(value)
        try:
            return digest(encode(value))
        except FormatError:
            return _name(type(value))

    def _code(self, code: types.CodeType) -> str:
        flags = (code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        whole = f"{code.co_code.hex()} {code.co_exceptiontable.hex()} {flags} {names} {self._all(code.co_consts)}"
        return digest(whole)

    def _class(self, kind: type) -> str:
        name = _name(kind)
        if _is_library(kind.__module__) or not kind.__flags__ & _HEAP_TYPE:
            return name
        own = {
            name: getattr(held, "__func__", held)  # what is under a classmethod or a staticmethod
            for name, held in vars(kind).items()
            if name not in _STATE_MAKERS
        }
        methods = {name: held for name, held in own.items() if isinstance(held, types.FunctionType)}
        properties = {name: held.fget for name, held in own.items() if isinstance(held, property)}
        constants = {name: held for name, held in own.items() if type(held) in _CONSTANTS and not name.startswith("__")}
        bases = self._all(base for base in kind.__bases__ if base is not object)
        named: tuple[dict[str, Any], ...] = (methods, properties, constants)
        held = "; ".join([*map(self._named, named), bases])
        return f"{name} {digest(held)}"

    def _object(self, value: Any) -> str:
        kind = type(value)
        if kind is int and value.bit_length() > LONGEST:
            return hex(value)
        if isinstance(value, np.ndarray | np.generic):
            try:
                return digest(encode(value))
            except FormatError:
                return self._shown(value)
        if isinstance(value, re.Pattern):
            return f"re.compile({value.pattern!r}, {value.flags})"
        state = None if _is_library(kind.__module__) else _state(value)
        if state is None:
            return self._shown(value)
        # Its own text may leave something out: what it holds does not.
        base: Any = next((base for base in _CONSTANTS if isinstance(value, base)), None)
        shown = "" if base is None else base.__repr__(value)
        return f"{self._class(kind)}({shown}; {self._named(state)})"

    def _shown(self, value: Any) -> str:
        shown = repr(value)
        if not _ADDRESS.search(shown):
            return shown
        self.unknown.append(_name(type(value)))
        return f"<{_name(type(value))}>"


_HEAP_TYPE = 1 << 9
"""The flag of classes that were made by a class statement, or in the way of one."""
_CONSTANTS = (str, int, float, bytes, bool, type(None))
_PACKAGE = __name__.partition(".")[0]


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None) or "builtins"
    return f"{module}.{getattr(value, '__qualname__', None) or getattr(value, '__name__', type(value).__qualname__)}"


def _is_library(module: str | None) -> bool:
    """Whether it is of this library or of Python's, whose objects have texts that say all."""
    first = (module or "builtins").partition(".")[0]
    return first == _PACKAGE or first in sys.stdlib_module_names


def _is_found(function: types.FunctionType) -> bool:
    """Whether its name leads to it."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _names_read(code: types.CodeType) -> set[str]:
    """The names of globals that code reads, and the code within it."""
    own = {str(one.argval) for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_names_read(held) for held in code.co_consts if isinstance(held, types.CodeType)))


def _state(value: Any) -> dict[str, Any] | None:
    """What an object holds by name; None for one that holds nothing that Python can see."""
    kinds = type(value).__mro__
    slots = [name for kind in kinds for name in _slots(kind)]
    if not hasattr(value, "__dict__") and not slots:
        return None
    missing = object()
    held = {name: getattr(value, name, missing) for name in slots}
    return {**{name: one for name, one in held.items() if one is not missing}, **getattr(value, "__dict__", {})}


def _slots(kind: type) -> list[str]:
    given = vars(kind).get("__slots__", ())
    names = [given] if isinstance(given, str) else list(given)
    own = f"_{kind.__name__.lstrip('_')}"  # private names are mangled
    return [
        f"{own}{name}" if name.startswith("__") and not name.endswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    ]
