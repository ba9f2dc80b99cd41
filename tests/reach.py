"""Which test files can reach a module, nearest first: the import graph of sources and tests, with names resolved.

`from viameter.measures import pure` and `vm.pure` mean the module that defines `pure`, not the package that hands it
on: otherwise every test would reach every module. What is called by other means (a command in another process, a
registry) is reached by the tests of the same room, which mirror the tree; these come after those that import it.
What reads, copies or runs a file is known by the file's name in it, or by the pattern with which it lists the folder.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
_MODULE = re.compile(r"(viameter|viameter_check|tests)(\.\w+)+")
_RUNNERS = {"tests.changed", "tests.reach", "tests.tiers"}
"""They find the tests of all files: which ones they name says nothing about these."""


@dataclass
class Module:
    """What a module uses: what it binds to other modules' names, mentions of packages, and reads of files."""

    path: Path
    is_package: bool
    bound: dict[str, tuple[str, str]] = field(
        default_factory=dict
    )  # name -> (module, name in it, or "" for the module)
    mentioned: set[tuple[str, str]] = field(default_factory=set)  # (bound name, attribute)
    words: set[str] = field(default_factory=set)  # strings without a space, some of which name files
    listed: set[tuple[frozenset[str], str, bool]] = field(
        default_factory=set
    )  # (folders, pattern of files, whether also of those in folders below)
    has_long: bool = False  # whether it marks tests long

    def lists(self, path: Path) -> bool:
        """Whether it lists a folder with a file."""
        folders = path.parent.parts
        return any(
            words <= {*folders} and (is_deep or folders[-1] in words) and fnmatch(path.name, pattern)
            for words, pattern, is_deep in self.listed
        )


class Reach:
    """The import graph of a checkout."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.modules: dict[str, Module] = {}
        for top in ("src", "tests"):
            for path in sorted((root / top).rglob("*.py")):
                self.modules[_name_of(path.relative_to(root))] = _read(path, path.relative_to(root))
        self.handed_on: dict[str, set[str]] = {}
        """Packages, and who imports names through them: whom they break if they change themselves."""
        self.imports = {name: frozenset(self._imports_of(name)) for name in self.modules}
        self.importers: dict[str, set[str]] = {}
        for name, imported in self.imports.items():
            for other in imported:
                self.importers.setdefault(other, set()).add(name)

    def tests_of(self, changed: Iterable[Path]) -> dict[Path, int]:
        """The test files that can reach some files of the checkout, with their distance from them, nearest first."""
        changed = set(changed)
        names = {_name_of(path) for path in changed if path.suffix == ".py"}
        distances = dict.fromkeys(names & set(self.modules), 0)
        # What imports a module that is there no more cannot be imported itself.
        distances |= dict.fromkeys(self._importers_of_missing(names - set(self.modules)) - set(distances), 0)
        self._spread(distances, {importer for name in distances for importer in self.handed_on.get(name, ())})
        readers = {name for path in changed for name in self._readers_of(path)} - set(distances)
        distances |= dict.fromkeys(readers, max(distances.values(), default=-1) + 1)
        self._spread(distances, set())
        farthest = max(distances.values(), default=0) + 1
        own = {test: name for name in names for test in self._tests_of_the_room(name)}
        distances |= dict.fromkeys(own.keys() - distances, farthest)

        def order(test: str) -> tuple[bool, bool, int, str]:
            named_after = test in own and _subject(test).startswith(_subject(own[test]))
            return not named_after, test not in own, distances[test], test

        tests = [name for name in distances if _is_test(self.modules[name].path)]
        return {self.modules[test].path.relative_to(self.root): distances[test] for test in sorted(tests, key=order)}

    def has_long(self, test: Path) -> bool:
        """Whether a test file has tests marked long, by itself or by a helper."""
        name = _name_of(test)
        return any(self.modules[used].has_long for used in {name, *self.imports.get(name, ())} & set(self.modules))

    def _spread(self, distances: dict[str, int], handed: set[str]) -> None:
        """Add what imports the farthest modules, step by step; `handed` are one step away, too."""
        steps = max(distances.values(), default=0)
        frontier = {name for name, distance in distances.items() if distance == steps}
        while frontier:
            steps += 1
            frontier = handed.union(*(self.importers.get(name, ()) for name in frontier)) - set(distances)
            handed = set()
            distances |= dict.fromkeys(frontier, steps)

    def _readers_of(self, path: Path) -> list[str]:
        """The modules that list or name a file: `lock` and `__init__.py` alone are not taken for the name of one."""
        names = {"/".join(path.parts[start:]) for start in range(len(path.parts))}
        folders = set(path.parent.parts[-1:]) if not path.suffix or path.name == "__init__.py" else set()
        found = []
        for name, module in self.modules.items():
            named = names & module.words
            if module.lists(path) or (named and (folders <= module.words or named != {path.name})):
                found.append(name)
        return [name for name in found if name not in _RUNNERS]

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


def _read(path: Path, place: Path) -> Module:
    module = Module(path, path.name == "__init__.py")
    attributes: set[tuple[str, str]] = set()
    calls: list[ast.Call] = []
    tree = ast.parse(path.read_bytes(), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                module.bound[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                module.bound[alias.asname or alias.name] = (alias.name, "")
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name):
                attributes.add((node.value.id, node.attr))
            module.has_long |= node.attr == "long" and ast.unparse(node.value) in ("pytest.mark", "mark")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _MODULE.fullmatch(node.value):
                module.bound[node.value] = (node.value, "")  # for importlib, or another process
            elif " " not in node.value:
                module.words.add(node.value)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("glob", "rglob")
        ):
            calls.append(node)
    module.mentioned = {(name, attribute) for name, attribute in attributes if name in module.bound}
    module.listed = set(_listed(tree, calls, module, place)) if calls else set()
    return module


def _listed(
    tree: ast.AST, calls: Iterable[ast.Call], module: Module, place: Path
) -> Iterator[tuple[frozenset[str], str, bool]]:
    """The folders that are listed, by all names that their paths are made of; what is imported for it is not known."""
    values = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in calls:
        if not (isinstance(call.func, ast.Attribute) and call.args and isinstance(call.args[0], ast.Constant)):
            continue
        *folders, pattern = str(call.args[0].value).split("/")
        is_deep = call.func.attr == "rglob" or "**" in folders
        words, unused, pending = {*folders} - {"**"}, dict(values), [call.func.value]
        is_own = False
        while pending:
            for node in ast.walk(pending.pop()):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    words.update(node.value.split("/"))
                elif isinstance(node, ast.Attribute) and node.attr == "__file__":  # somewhere in a package
                    name = ast.unparse(node.value).partition(".")[0]
                    words |= {"src", module.bound.get(name, (name,))[0].partition(".")[0]}
                elif isinstance(node, ast.Name):
                    is_own |= node.id == "__file__"
                    pending += [unused.pop(node.id)] if node.id in unused else []
        if words or is_own:
            yield frozenset(words or place.parent.parts), pattern, is_deep
