"""Secrets: tokens of 256 bits, shown once and kept as hashes."""

from __future__ import annotations

import base64
import hashlib
import re

from viameter.sampling.entropy import SYSTEM

PREFIX = "vmt_"
"""What a token starts with, so that people and scanners know one when they see it."""
_FORM = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


def fresh_secret() -> str:
    """256 random bits as text."""
    return base64.urlsafe_b64encode(bytes(SYSTEM.stream(32).take(32))).rstrip(b"=").decode("ascii")


def fresh_token() -> str:
    """A new token. Whoever has it is who it was made for."""
    return PREFIX + fresh_secret()


def fresh_id() -> str:
    """96 random bits as text: a name for something, and no secret."""
    return bytes(SYSTEM.stream(12).take(12)).hex()


def hashed(secret: str) -> str:
    """What is kept of a secret. It has 256 random bits, so that no salt and no slow hash makes it harder to guess.

    >>> hashed("vmt_x") == hashed("vmt_x"), len(hashed("vmt_x"))
    (True, 64)
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_token(text: str) -> bool:
    """Whether a text has the form of a token."""
    return _FORM.fullmatch(text) is not None


def guard_of(secret: str) -> str:
    """What forms of a page carry to show that they come from it: made of the cookie's secret, and tells none of it."""
    return hashlib.sha256(b"viameter form guard:" + secret.encode("utf-8", "surrogatepass")).hexdigest()
