"""The world outside of a ledger: it sees what runs and what leaves, and forgets nothing when a process is killed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """One thing that happened outside."""

    kind: str
    """ran: rows were looked at. left: bytes were handed out. charged: a caller was told that it is charged."""
    key: str
    content: bytes


class World:
    """A file to which every process appends what others can see of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def see(self, kind: str, key: str, content: bytes = b"") -> None:
        """Append a line, in one write: a process that is killed has written it or has not."""
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, f"{kind} {key} {content.hex()}\n".encode())
        finally:
            os.close(file)

    def seen(self, kind: str) -> list[Seen]:
        """All of a kind, in order."""
        found = []
        for line in self.path.read_text().splitlines():
            what, key, content = line.split(" ")
            if what == kind:
                found.append(Seen(what, key, bytes.fromhex(content)))
        return found
