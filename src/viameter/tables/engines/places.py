"""Places: where rows are, in words that are the same for the same rows, and what shares rows with them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows are: a file, server or session, and a table there; and the tables there that share rows with it."""

    starts: tuple[str, ...]
    """All words for the file, server or session; the first are those that are kept."""
    end: str
    """The table there."""
    sharing: frozenset[str] = frozenset()
    """The tables there that have some of the same rows."""
    certain: str = ""
    """How the words for a server begin that says which one it is; empty if another start cannot be the same server."""

    @property
    def text(self) -> str:
        """The words that are kept."""
        return self.starts[0] + self.end

    @property
    def texts(self) -> tuple[str, ...]:
        """All words for it."""
        return tuple(start + self.end for start in self.starts)


def sharing_rows(
    start: Node, reads: Mapping[Node, Collection[Node]], *, rowless: Collection[Node] = frozenset()
) -> set[Node]:
    """What shares rows with a table or view, itself too, by what each of them reads directly.

    Two share rows if something is read by both: they are what reads any of what the first reads. What is `rowless` has
    no rows of its own: two that use it share only what it reads.

    >>> sorted(sharing_rows("view", {"view": ["table"], "other": ["table", "third"], "more": ["other"]}))
    ['more', 'other', 'table', 'view']
    >>> sorted(sharing_rows("part 1", {"all": ["part 1", "part 2"]}))
    ['all', 'part 1']
    >>> sorted(sharing_rows("view", {"view": ["table", "digest"], "other": ["digest"]}, rowless={"digest"}))
    ['table', 'view']
    """
    read_by: dict[Node, list[Node]] = {}
    for reader, read in reads.items():
        for one in read:
            read_by.setdefault(one, []).append(reader)
    return _reached(_reached({start}, reads) - set(rowless), read_by)


def _reached(found: set[Node], edges: Mapping[Node, Collection[Node]]) -> set[Node]:
    found, new = set(found), list(found)
    while new:
        following = [one for one in edges.get(new.pop(), ()) if one not in found]
        found.update(following)
        new += following
    return found
