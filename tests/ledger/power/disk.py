"""A disk that loses power: what it may hold afterwards, given all that was written to it and what was synced.

What was synced is there. Of each later write, each sector of 512 bytes is there or not, whatever became of the others:
that is every order in which a disk may have written them, and writes that were torn. A file whose name was not synced
with its folder may be gone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass(frozen=True)
class Operation:
    """One thing that was asked of a disk, or (`acknowledged`) that somebody was told."""

    kind: str
    file: str = ""
    offset: int = 0
    data: bytes = b""
    said: tuple[str, bytes | None] | None = None
    """The key of a request whose charge was acknowledged, and its answer if that was."""


@dataclass
class _File:
    """A file: what is on the disk for certain, and what was written since."""

    durable: bytearray = field(default_factory=bytearray)
    named: bool = False
    deleted: bool = False
    later: list[Operation] = field(default_factory=list)

    def sync(self) -> None:
        for one in self.later:
            _apply(self.durable, one)
        self.later = []


def after_power_loss(log: Sequence[Operation], chance: random.Random) -> dict[str, bytes]:
    """The files that may be found when power is back, if it failed after these operations."""
    files: dict[str, _File] = {}
    for one in log:
        if one.kind in ("write", "truncate"):
            files[one.file].later.append(one)
        elif one.kind == "create":
            files[one.file] = _File()
        elif one.kind == "sync":
            files[one.file].sync()
        elif one.kind == "sync folder":
            for name in [name for name, file in files.items() if file.deleted]:
                del files[name]
            for file in files.values():
                file.named = True
        elif one.kind == "delete":
            files[one.file].deleted = True
    share = chance.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    found = {}
    for name, file in files.items():
        missing = file.deleted or not file.named
        if missing and chance.random() < 0.5:
            continue
        content = bytearray(file.durable)
        for one in file.later:
            for part in _sectors(one):
                if chance.random() < share:
                    _apply(content, part)
        found[name] = bytes(content)
    return found


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Put the files of a disk into a folder."""
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _sectors(one: Operation) -> list[Operation]:
    if one.kind != "write":
        return [one]
    parts, at, end = [], one.offset, one.offset + len(one.data)
    while at < end:
        to = min(end, (at // SECTOR + 1) * SECTOR)
        parts.append(Operation("write", one.file, at, one.data[at - one.offset : to - one.offset]))
        at = to
    return parts


def _apply(content: bytearray, one: Operation) -> None:
    if one.kind == "truncate":
        del content[one.offset :]
        content.extend(bytes(one.offset - len(content)))
        return
    end = one.offset + len(one.data)
    content.extend(bytes(max(end - len(content), 0)))
    content[one.offset : end] = one.data
