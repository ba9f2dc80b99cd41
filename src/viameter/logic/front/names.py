"""Names of variables in the core program: the user's own where that can be, and readable ones that never collide."""

from __future__ import annotations

import re

RESERVED = frozenset({
    "and", "or", "not", "if", "then", "else", "end", "while", "do", "skip", "true", "false", "call", "append",
    "abs", "min", "max", "ite", "len", "ln", "begin", "return",
})  # fmt: skip
"""Words of the core language, which no variable of it can have as its name."""

RESERVED_BUDGETS = frozenset({"rho", "delta", "ln"})
"""What costs that are no budget's are counted under."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_plain(name: str) -> bool:
    """Whether the core language can read it as a name: letters of ASCII, digits and underscores."""
    return _PLAIN.fullmatch(name) is not None


class Names:
    """A supply of names; what has been taken is not given again."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken)

    def fresh(self, wanted: str) -> str:
        """`wanted`, or wanted_2, wanted_3, ... if that is taken.

        >>> names = Names({"noise"})
        >>> names.fresh("noise"), names.fresh("noise"), names.fresh("end")
        ('noise_2', 'noise_3', 'end_2')
        """
        name, count = wanted, 1
        while name in self._taken or name in RESERVED:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name
