"""Programs as objects: `@vm.program(adjacent=...)` over a function, and programs from text."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import combined
from viameter.logic.front.publicity import require_public_scales
from viameter.logic.front.python import Compiled, compile_function, compile_source
from viameter.logic.front.slides import read_slides
from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_program
from viameter.logic.lang.text import numbered


@dataclass(frozen=True, slots=True)
class Hints:
    """What was written into the program for its proof, by line of the program's own text."""

    shifts: dict[int, str] = field(default_factory=dict)
    invariants: dict[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, repr=False, eq=False)
class ProgramFunction:
    """A program with its adjacency: what is verified, and what is run.

    `core` is the program in the core language, `text` its numbered lines; `parameters` are the function's own, budgets
    among them, in their order.
    """

    name: str
    core: Program
    adjacent: Adjacency
    hints: Hints = field(default_factory=Hints)
    function: Callable[..., Any] | None = None
    file: str = "<text>"
    line: int = 1
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an adjacency that does not fit the program, and scales that private data could change."""
        self.adjacent.directions(self.core)
        require_public_scales(self.core, self.adjacent.private)
        if self.function is not None:
            for name in ("__doc__", "__name__", "__qualname__", "__module__"):
                object.__setattr__(self, name, getattr(self.function, name))

    @property
    def text(self) -> str:
        """The core program with its lines numbered."""
        return numbered(self.core)

    def __repr__(self) -> str:
        adjacency = self.adjacent.directions(self.core)[0].says
        return f"<program {self.name}({', '.join(self.parameters)}): {adjacency}>"

    # Running a program is the part of `viameter.logic.running`, which is imported when it is first needed.

    def measurement(self, **public: Any) -> Any:
        """The program as a measurement of the library, for given budgets and public inputs."""
        return importlib.import_module("viameter.logic.running").measurement(self, **public)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Programs are called in the text of other programs; to run one, make a measurement of it."""
        raise ParameterError(
            f"{self.name} is a program: run {self.name}.measurement(...), or call it in a function under @vm.program"
        )


def program(
    *, adjacent: Adjacency | Iterable[Adjacency], requires: str | Iterable[str] = ()
) -> Callable[[Callable[..., Any]], ProgramFunction]:
    """Make a program of a function: its text is read, in the subset of Python that `front.python` tells of.

    `adjacent` says which inputs are private and how they may differ; several, as a tuple, may all differ at once.
    `requires` are facts about inputs that whoever runs the program must see to, such as "N >= 1".
    """
    relation = combined(adjacent)

    def wrap(function: Callable[..., Any]) -> ProgramFunction:
        compiled = compile_function(function, requires, private=relation.private, slots=relation.slots)
        code = function.__code__
        return _made(compiled, relation, function=function, file=code.co_filename, line=code.co_firstlineno)

    return wrap


def program_from_source(
    text: str,
    *,
    adjacent: Adjacency | Iterable[Adjacency],
    requires: str | Iterable[str] = (),
    name: str | None = None,
    names: Mapping[str, Any] | None = None,
) -> ProgramFunction:
    """The program of a function that is given as text; `names` are programs and constants that it uses.

    >>> from viameter.logic.front.adjacent import all_differ
    >>> noisy = program_from_source(
    ...     "def noisy(q: int, eps: vm.Eps) -> int: return q + vm.lap(1 / eps)", adjacent=all_differ("q"))
    >>> noisy
    <program noisy(q, eps): q differs by at most 1>
    """
    relation = combined(adjacent)
    compiled = compile_source(
        text, name, requires=requires, private=relation.private, slots=relation.slots, names=names
    )
    return _made(compiled, relation)


def program_from_core(
    given: str | Program, *, adjacent: Adjacency | Iterable[Adjacency], **slides: Any
) -> ProgramFunction:
    """The program of a core program or its printed text, or of a text in the while language of the slides.

    More keywords are those of `read_slides`.
    """
    relation = combined(adjacent)
    if relation.slots:
        raise ParameterError(
            f"rows of {', '.join(sorted(relation.slots))} may be added or removed: write such a program in Python, "
            "where it can be seen that it uses the rows alone, and not how many slots there are"
        )
    if isinstance(given, str):
        printed = given.lstrip().startswith("program ")
        if printed and slides:
            raise ParameterError(f"{', '.join(slides)}: only a program in the slides' language takes these")
        core = read_program(given.strip("\n")) if printed else read_slides(given, **slides)
    elif isinstance(given, Program):
        core = given
    else:
        raise ParameterError(f"{plain(given)}: expected a core program or its text")
    return _made(Compiled(core, parameters=(*(entry.name for entry in core.inputs), *core.budgets)), relation)


def _made(compiled: Compiled, relation: Adjacency, **more: Any) -> ProgramFunction:
    hints = Hints(compiled.shifts, compiled.invariants)
    return ProgramFunction(
        compiled.program.name, compiled.program, relation, hints, parameters=compiled.parameters, **more
    )
