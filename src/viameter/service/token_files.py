"""Files that hand over a token where standard output is collected (systemd, containers): mode 0600, gone once used.

The first line is the token, the second one its number and when it expires.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from viameter.errors import FormatError
from viameter.service.config import Storage
from viameter.service.secrets import fresh_id, hashed
from viameter.service.state import Token, now


def place_beside(storage: Storage) -> Path:
    """Where the token of the admin is handed over: beside the state; if that is on a server, where witnesses are."""
    if "://" not in storage.state:
        return Path(f"{storage.state}.admin-token")
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "viameter"
    # By its host and database alone, so that another password is the same place.
    return folder / f"{hashed(storage.state.rpartition('@')[2])[:32]}.admin-token"


def write_token(path: Path, make: Callable[[], tuple[str, Token] | None], *, replaces: bool) -> bool:
    """Make a token and write it to a file for its owner alone; False if none was made, and then there is no file.

    The file is opened before: a token that was made and cannot be handed over would be lost. One that replaces another
    takes its place when it is complete, so that of two processes the one that makes the token has the last word.
    """
    target = path.with_name(f"{path.name}.{fresh_id()}") if replaces else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii")
    except FileExistsError:
        raise FormatError(f"{path} is there already: a token goes to a file of its own; name another one") from None
    except OSError as problem:
        raise FormatError(f"{path} cannot be written: {problem.strerror}") from None
    made = None
    try:
        with file:
            made = make()
            if made is not None:
                file.write(f"{made[0]}\n{made[1].id} {made[1].expires}\n")
        if made is not None and replaces:
            target.replace(path)
    finally:
        if made is None:
            target.unlink(missing_ok=True)
    return made is not None


def remove_used(path: Path, number: str = "") -> None:
    """Remove a file whose token is of this number, or has expired. One that cannot be removed is left to its owner."""
    with suppress(OSError, ValueError):  # mostly since there is none; ValueError: it is no such file
        _, said, *_ = path.read_text(encoding="ascii").splitlines()
        of, expires = said.split()
        if of == number or expires <= now():
            path.unlink()
