"""Which test files can reach a module, nearest first: the import graph of sources and tests, with names resolved.

`from viameter.measures import pure` and `vm.pure` mean the module that defines `pure`, not the package that hands it
on: otherwise every test would reach every module. What is called by other means (a command in another process, a
registry) is reached by the tests of the same room, which mirror the tree; these come after those that import it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
_MODULE = re.compile(r"(viameter|viameter_check|tests)(\.\w+)+")


@dataclass
class Module:
    """A module's imports: what it binds to other modules' names, and what it mentions of packages."""

    path: Path
    is_package: bool
    bound: dict[str, tuple[str, str]] = field(
        default_factory=dict
    )  # name -> (module, name in it, or "" for the module)
    mentioned: set[tuple[str, str]] = field(default_factory=set)  # (bound name, attribute)


class Reach:
    """The import graph of a checkout."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.modules: dict[str, Module] = {}
        for top in ("src", "tests"):
            for path in sorted((root / top).rglob("*.py")):
                self.modules[_name_of(path.relative_to(root))] = _read(path)
        self.handed_on: dict[str, set[str]] = {}
        """Packages, and who imports names through them: whom they break if they change themselves."""
        self.imports = {name: frozenset(self._imports_of(name)) for name in self.modules}
        self.importers: dict[str, set[str]] = {}
        for name, imported in self.imports.items():
            for other in imported:
                self.importers.setdefault(other, set()).add(name)

    def tests_of(self, changed: Iterable[Path]) -> dict[Path, int]:
        """The test files that can reach some files of the checkout, with their distance from them, nearest first."""
        names = {_name_of(path) for path in changed if path.suffix == ".py"}
        distances = dict.fromkeys(names & set(self.modules), 0)
        # What imports a module that is there no more cannot be imported itself.
        distances |= dict.fromkeys(self._importers_of_missing(names - set(self.modules)) - set(distances), 0)
        frontier = list(distances)
        handed = {importer for name in frontier for importer in self.handed_on.get(name, ())}
        while frontier:
            found = {importer for name in frontier for importer in self.importers.get(name, ())} - set(distances)
            steps = distances[frontier[0]] + 1
            if steps == 1:
                found |= handed - set(distances)
            distances |= dict.fromkeys(found, steps)
            frontier = sorted(found)
        farthest = max(distances.values(), default=0) + 1
        own = {test: name for name in names for test in self._tests_of_the_room(name)}
        distances |= dict.fromkeys(own.keys() - distances, farthest)

        def order(test: str) -> tuple[bool, bool, int, str]:
            named_after = test in own and _subject(test).startswith(_subject(own[test]))
            return not named_after, test not in own, distances[test], test

        tests = [name for name in distances if _is_test(self.modules[name].path)]
        return {self.modules[test].path.relative_to(self.root): distances[test] for test in sorted(tests, key=order)}

    def _importers_of_missing(self, names: set[str]) -> set[str]:
        def is_missing(source: str, attribute: str) -> bool:
            return source in names or f"{source}.{attribute}" in names

        return {
            name for name, module in self.modules.items() if any(is_missing(*bound) for bound in module.bound.values())
        }

    def _tests_of_the_room(self, name: str) -> list[str]:
        top, _, rest = name.partition(".")
        room = "viameter_check" if top == "viameter_check" else rest.partition(".")[0]
        return [test for test in self.modules if test.startswith(f"tests.{room}.")] if top != "tests" else []

    def _imports_of(self, name: str) -> Iterator[str]:
        module = self.modules[name]
        for bound, (source, attribute) in module.bound.items():
            if attribute:
                self.handed_on.setdefault(source, set()).add(name)
                yield from self._defining(source, attribute)
                continue
            mentioned = [name for of, name in module.mentioned if of == bound]
            for used in mentioned:
                self.handed_on.setdefault(source, set()).add(name)
                yield from self._defining(source, used)
            if not mentioned:
                yield from self._known(source)
        # Fixtures are handed to the tests of a folder without an import.
        if _is_test(module.path):
            parts = name.split(".")
            yield from (f for n in range(1, len(parts)) if (f := ".".join([*parts[:n], "conftest"])) in self.modules)

    def _defining(self, source: str, attribute: str, seen: frozenset[tuple[str, str]] = frozenset()) -> Iterator[str]:
        """The module that defines what a module calls `attribute`."""
        if f"{source}.{attribute}" in self.modules:
            yield f"{source}.{attribute}"
            return
        module = self.modules.get(source)
        if module is None or (source, attribute) in seen:
            return
        if attribute in module.bound:
            origin, name = module.bound[attribute]
            if name:
                yield from self._defining(origin, name, seen | {(source, attribute)})
            else:
                yield from self._known(origin)
        else:
            yield source

    def _known(self, source: str) -> Iterator[str]:
        if source in self.modules:
            yield source


def _subject(name: str) -> str:
    return name.rpartition(".")[2].removeprefix("test_")


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_")


def _name_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _read(path: Path) -> Module:
    module = Module(path, path.name == "__init__.py")
    attributes: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                module.bound[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                module.bound[alias.asname or alias.name] = (alias.name, "")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.add((node.value.id, node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            module.bound[node.value] = (node.value, "")  # for importlib, or another process
    module.mentioned = {(name, attribute) for name, attribute in attributes if name in module.bound}
    return module
