"""Signed heads: whoever has the file can rebuild a chain of hashes; whoever lacks the key cannot sign it.

A key is an Ed25519 private key in PEM. Its public half is in the first entry; readers who were given it elsewhere
compare the two.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.ledger.chain import Head

CONTEXT = "viameter-ledger-head/1"


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A private key that signs heads."""

    private: Any

    @classmethod
    def read(cls, path: str | Path) -> SigningKey:
        """The key in a PEM file, without a password."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            found = load_pem_private_key(Path(path).read_bytes(), password=None)
        except OSError as problem:
            raise ParameterError(f"the key {path} cannot be read: {problem.strerror}") from None
        except (ValueError, TypeError):
            raise ParameterError(f"{path} is no private key in PEM without a password") from None
        if not isinstance(found, Ed25519PrivateKey):
            raise ParameterError(f"{path} is a key of another kind: expected Ed25519")
        return cls(found)

    @classmethod
    def make(cls, path: str | Path) -> SigningKey:
        """A new key, in a file that nobody else may read; an existing file is not replaced."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        made = Ed25519PrivateKey.generate()
        content = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as problem:
            raise ParameterError(f"the key {path} cannot be written: {problem.strerror}") from None
        with os.fdopen(file, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())  # without it, a ledger that was begun with it could not go on
        return cls(made)

    @property
    def public(self) -> str:
        """The public half, in hexadecimal."""
        return str(self.private.public_key().public_bytes_raw().hex())

    def sign(self, id: str, head: Head) -> str:
        """The signature of a head of a ledger, in hexadecimal."""
        return str(self.private.sign(_message(id, head)).hex())


def is_signed(public: str, id: str, head: Head, signature: str) -> bool:
    """Whether a signature is that of the key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        signed = bytes.fromhex(signature)
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signed, _message(id, head))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return signed.hex() == signature  # one text for one signature, so that none can be changed unseen


def _message(id: str, head: Head) -> bytes:
    return f"{CONTEXT} {id} {head.seq} {head.hash}".encode("ascii")
