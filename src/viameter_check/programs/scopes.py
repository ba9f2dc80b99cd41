"""Scopes: which names may stand in a text, which of them have a side, and which names mean something else already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from viameter_check.amounts import shortened
from viameter_check.programs.terms import Term, length, variable
from viameter_check.report import Refused

NAME = r"[A-Za-z_]\w*(?:\.\w+)*"
_IDENTIFIER = re.compile(NAME, re.ASCII)
FUNCTIONS = {"abs": 1, "min": 2, "max": 2, "ite": 3}
WORDS = frozenset((
    "and", "or", "not", "if", "then", "else", "end", "while", "do", "skip", "true", "false", "call", "begin", "return",
    "append", "ln", "len", *FUNCTIONS,
))  # fmt: skip
_RESERVED = ("cost", "same", "out", "any")
"""What stands before the dot in ghosts, in the output of a pointwise proof, and in the index of any element."""


def read_name(text: object, what: str) -> str:
    """A name that stands for nothing else."""
    if not isinstance(text, str) or len(text) > 200 or not _IDENTIFIER.fullmatch(text):
        raise Refused(f"{shortened(text)} is not a name that {what} may have")
    if text in WORDS or ("." in text and text.partition(".")[0] in _RESERVED):
        raise Refused(f"the name {text!r} means something else: {what} needs another")
    return text


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that may stand in a text: `shared` without a side, `sided` with one; and the lists among the inputs."""

    what: str
    """Where the names may stand, for messages: `an invariant`."""
    shared: Mapping[str, str] = field(default_factory=dict)
    sided: Mapping[str, str] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()

    def variable(self, name: str, side: int) -> Term:
        """The variable that a name with a side, or with none (0), stands for."""
        if name in (self.sided if side else self.shared):
            return variable(name, (self.sided if side else self.shared)[name], side)
        if name in self.sided:
            raise Refused(f"{name!r} needs a side in {self.what}: {name}<1> or {name}<2>")
        if name in self.shared:
            raise Refused(f"{name!r} has no side in {self.what}: both runs share it")
        raise Refused(f"{name[:60]!r} is not a variable of {self.what}")

    def length(self, name: str) -> Term:
        """The length of an input list."""
        if name not in self.lists:
            raise Refused(f"{name[:60]!r} is not an input list, and only these have a length in {self.what}")
        return length(name)
