"""Where random bits come from: the operating system in production, a tape that can be replayed in tests.

Nothing is seeded by the user and nothing persists between calls: a sampler asks its source for a fresh `Stream` at
every call. Few bits are read from the operating system directly. Many are the keystream of AES-256 in counter mode
under a key that the operating system gave for this stream alone; to tell it from ideal bits is to break AES. A
process that is forked between two calls therefore shares nothing with its parent.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from functools import cache
from typing import Any

import numpy as np

from viameter.errors import ViameterError

FEW_BYTES = 512
"""Up to this many bytes, the operating system is as fast as a cipher that has to be set up."""

_BLOCK = 1 << 18
_ZEROS = memoryview(bytes(_BLOCK))


class Stream(ABC):
    """Random bits for one call of a sampler, in order."""

    @abstractmethod
    def take(self, count: int) -> bytearray | bytes:
        """The next `count` bytes."""

    def words(self, count: int, width: int) -> Any:
        """The next words of `width` = 16, 32 or 64 bits, as an array."""
        return np.frombuffer(self.take(count * width // 8), dtype=f"uint{width}")

    def bits(self, count: int) -> int:
        """The next bits, as an integer; whole bytes are taken, and what is left of them is not used again."""
        return int.from_bytes(self.take((count + 7) // 8), "big") >> (-count % 8)


class Entropy(ABC):
    """A source of streams; samplers take one as an argument."""

    @abstractmethod
    def stream(self, size: int) -> Stream:
        """A fresh stream, from which about `size` bytes will be taken."""


class SystemStream(Stream):
    """Bytes of the operating system."""

    def take(self, count: int) -> bytes:
        """The next bytes."""
        return os.urandom(count)

    def bits(self, count: int) -> int:
        """The next bits, as an integer."""
        return int.from_bytes(os.urandom((count + 7) >> 3), "big") >> (-count & 7)


@cache
def _ciphers() -> tuple[Any, Any, Any]:
    """The library of ciphers, loaded when the first batch is drawn."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    return Cipher, AES256, CTR


class CipherStream(Stream):
    """The keystream of AES-256-CTR under a key of its own."""

    def __init__(self, key: bytes) -> None:
        cipher, aes, counter = _ciphers()
        self._cipher: Any = cipher(aes(key[:32]), counter(key[32:48])).encryptor()

    def take(self, count: int) -> bytearray:
        """The next bytes."""
        # update_into asks for room for a block more than it writes.
        taken = bytearray(count + 15)
        view, done = memoryview(taken), 0
        while done < count:
            done += self._cipher.update_into(_ZEROS[: min(_BLOCK, count - done)], view[done:])
        view.release()
        del taken[count:]
        return taken


# It has no state, so that one serves all.
_SYSTEM_STREAM = SystemStream()


class SystemEntropy(Entropy):
    """The operating system's generator, directly or as the key of a cipher."""

    def stream(self, size: int) -> Stream:
        """A stream that shares nothing with any other."""
        return _SYSTEM_STREAM if size <= FEW_BYTES else CipherStream(os.urandom(48))

    def __repr__(self) -> str:
        return "SystemEntropy()"


class TapeExhausted(ViameterError):
    """A tape was read beyond its end."""


class Tape(Entropy, Stream):
    """The same bits every time, for tests: given ones, which may run out, or endless ones from a seed.

    >>> Tape(bytes([42])).bits(8), Tape.seeded(7).bits(16) == Tape.seeded(7).bits(16)
    (42, True)
    """

    def __init__(self, recorded: bytes) -> None:
        self._recorded = recorded
        self._place = 0

    @staticmethod
    def seeded(seed: int) -> Entropy:
        """An endless tape. Never for a release: whoever knows the seed knows the noise."""
        return SeededTape(seed)

    def stream(self, size: int) -> Stream:
        """The rest of the tape."""
        return self

    def take(self, count: int) -> bytes:
        """The next bytes, or TapeExhausted."""
        taken = self._recorded[self._place : self._place + count]
        if len(taken) < count:
            raise TapeExhausted(f"the tape has {len(self._recorded)} bytes: {count} more were asked for at its end")
        self._place += count
        return taken


class SeededTape(CipherStream, Entropy):
    """The keystream of a key that is known."""

    def __init__(self, seed: int) -> None:
        # Hashed, so that tapes of neighboring seeds share nothing: as counters they would overlap.
        super().__init__(hashlib.sha384(str(seed).encode()).digest())

    def stream(self, size: int) -> Stream:
        """The rest of the keystream."""
        return self


SYSTEM = SystemEntropy()
