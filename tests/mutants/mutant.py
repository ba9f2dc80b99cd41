"""Mutants: edits of the sources that some test must notice, addressed by function and text and never by line."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Mutant:
    """An edit of one function: `was`, which occurs in it once, becomes `now`."""

    at: str  # "package.module:Class.method"; an empty name is what stands outside of functions
    was: str
    now: str
    why: str

    def applied(self, src: Path) -> tuple[Path, str]:
        """The file that it edits, and its text after the edit.

        A function that is not in its module any more is found where it was moved to, within the same package, if only
        one of that name has the text.
        """
        module, _, name = self.at.partition(":")
        named = src / (module.replace(".", "/") + ".py")
        files = [file for file in (named, named.with_suffix("") / "__init__.py") if file.exists()]
        edits = [edit for file in files for edit in self._edits(file, name)]
        if not edits and not any(_has(file, name) for file in files):
            package = src / module.partition(".")[0]
            edits = [edit for file in sorted(package.rglob("*.py")) for edit in self._edits(file, name)]
        if len(edits) != 1:
            raise LookupError(f"{self.at}: {self.was!r} is found {len(edits)} times, expected once")
        return edits[0]

    def _edits(self, file: Path, name: str) -> Iterator[tuple[Path, str]]:
        text = file.read_text()
        if self.was not in text:
            return
        lines = text.splitlines(keepends=True)
        for first, last in _places(ast.parse(text), name, len(lines)):
            before, within, after = "".join(lines[:first]), "".join(lines[first:last]), "".join(lines[last:])
            if within.count(self.was) == 1:
                edited = before + within.replace(self.was, self.now) + after
                ast.parse(edited)
                yield file, edited


def _has(file: Path, name: str) -> bool:
    text = file.read_text()
    return any(_places(ast.parse(text), name, len(text.splitlines())))


def _places(tree: ast.Module, name: str, length: int) -> Iterator[tuple[int, int]]:
    """The lines of the functions (or classes) of a qualified name."""
    if not name:
        yield 0, length
        return
    wanted = [part for part in name.split(".") if part != "<locals>"]

    def within(body: ast.AST, names: list[str]) -> Iterator[tuple[int, int]]:
        for node in ast.iter_child_nodes(body):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from within(node, names)
            elif node.name == names[0] and len(names) > 1:
                yield from within(node, names[1:])
            elif node.name == names[0]:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield first - 1, node.end_lineno or node.lineno

    yield from within(tree, wanted)


def rooms() -> list[str]:
    """The rooms that have mutants, as they are written: "logic/kernel"."""
    return sorted(file.stem.replace("-", "/") for file in FOLDER.glob("*.toml"))


def mutants_of(room: str) -> list[Mutant]:
    """The mutants of a room."""
    file = FOLDER / (room.replace("/", "-") + ".toml")
    if room not in rooms():
        raise LookupError(f"no mutants of room {room!r}; there are {', '.join(rooms())}")
    return [Mutant(**entry) for entry in tomllib.loads(file.read_text())["mutant"]]
