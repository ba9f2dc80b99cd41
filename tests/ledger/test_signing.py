"""Signed heads: who may write, what readers see without the key, and keys that are none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerTampered, LedgerUnavailable, ParameterError
from viameter.ledger import Ledger, SigningKey
from viameter.ledger.chain import Head
from viameter.ledger.opening import KEY_VARIABLE
from viameter.ledger.signing import is_signed


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return SigningKey.make(tmp_path / "key.pem")


def test_every_head_is_signed_and_readers_need_no_key(opened: Callable[..., Ledger], key: SigningKey) -> None:
    ledger = opened(signing_key=key)
    ledger.define("visits", vm.pure(1), SPACE)
    for number in range(3):
        ledger.commit(ledger.reserve(vm.pure("1/10"), scopes=["visits"], key=f"{number}"), b"1")
    assert ledger.public_key == key.public
    for entry in ledger.entries():
        signature = ledger.store.signature(entry.seq)
        assert signature is not None and is_signed(key.public, ledger.id, entry.head, signature)
    reader = opened(read_only=True)
    assert reader.scope("visits").spent == vm.pure("3/10") and ledgers.verify(reader, public_key=key.public).ok
    with pytest.raises(LedgerUnavailable, match="for reading only"):
        reader.reserve(vm.pure("1/10"), scopes=["visits"])


def test_whoever_writes_needs_the_key(
    opened: Callable[..., Ledger], key: SigningKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(signing_key=key).define("visits", vm.pure(1), SPACE)
    head = opened(read_only=True).head
    with pytest.raises(ParameterError, match="no key was given"):
        opened()
    with pytest.raises(ParameterError, match="another key was given"):
        opened(signing_key=SigningKey.make(tmp_path / "other.pem"))
    assert opened(read_only=True).head == head
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "key.pem"))
    opened().reserve(vm.pure("1/10"), scopes=["visits"])
    assert ledgers.verify(opened(read_only=True), public_key=key.public).ok


def test_a_ledger_without_signatures_does_not_begin_to_have_them(
    opened: Callable[..., Ledger], key: SigningKey
) -> None:
    opened().define("visits", vm.pure(1), SPACE)
    with pytest.raises(ParameterError, match="decided when a ledger is made"):
        opened(signing_key=key)
    opened(signing_key=key, read_only=True)  # whoever only reads may have a key for other ledgers


def test_a_head_that_is_not_signed_is_refused(opened: Callable[..., Ledger], key: SigningKey) -> None:
    import sqlalchemy as sa

    from viameter.ledger.stores import tables
    from viameter.ledger.stores.sql import SQLStore

    ledger = opened(signing_key=key)
    ledger.define("visits", vm.pure(1), SPACE)
    store = ledger.store
    assert isinstance(store, SQLStore)
    with store._engine.begin() as connection:
        connection.execute(sa.delete(tables.signatures).where(tables.signatures.c.seq == 2))
    for options in ({"signing_key": key}, {"read_only": True}):
        with pytest.raises(LedgerTampered, match="entry 2: the end of the chain is not signed") as refused:
            opened(**options)
        assert refused.value.entry == 2
    (problem,) = ledgers.verify(ledger).problems
    assert isinstance(problem, LedgerTampered) and problem.entry == 2


def test_a_new_key_is_for_its_owner_alone_and_replaces_nothing(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = SigningKey.make(tmp_path / "key.pem")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert SigningKey.read(tmp_path / "key.pem").public == made.public
    with pytest.raises(ParameterError, match="cannot be written: File exists"):
        SigningKey.make(tmp_path / "key.pem")
    assert SigningKey.read(tmp_path / "key.pem").public == made.public
    with pytest.raises(ParameterError, match="cannot be written: No such file"):
        SigningKey.make(tmp_path / "missing" / "key.pem")


def test_what_is_no_key_is_refused_and_not_shown(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    own = Ed25519PrivateKey.generate()
    pem = (Encoding.PEM, PrivateFormat.PKCS8)
    contents = {
        "is no private key": b"a secret that is no key",
        "no private key in PEM without": own.private_bytes(*pem, BestAvailableEncryption(b"password")),
        "no private": own.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "of another kind: expected Ed25519": generate_private_key(SECP256R1()).private_bytes(*pem, NoEncryption()),
    }
    for text, content in contents.items():
        (tmp_path / "key.pem").write_bytes(content)
        with pytest.raises(ParameterError, match=text) as refused:
            ledgers.open(tmp_path / "budget.db", signing_key=tmp_path / "key.pem")
        assert "secret" not in str(refused.value) and "password=" not in str(refused.value)
    with pytest.raises(ParameterError, match="cannot be read: No such file"):
        ledgers.open(tmp_path / "budget.db", signing_key=tmp_path / "missing.pem")
    assert not (tmp_path / "budget.db").exists()


def test_a_key_does_not_show_itself(key: SigningKey) -> None:
    assert "private" not in repr(key) and key.private.private_bytes_raw().hex() not in repr(key)


@pytest.mark.parametrize("changed", ["upper", "spaced", "bytes", "short", "none"])
def test_a_signature_has_one_text(key: SigningKey, changed: str) -> None:
    head = Head(3, "ab" * 32)
    signature = key.sign("a", head)
    assert is_signed(key.public, "a", head, signature)
    other = {
        "upper": signature.upper(),
        "spaced": f"{signature[:2]} {signature[2:]}",
        "bytes": signature.encode(),
        "short": signature[:-2],
        "none": None,
    }[changed]
    assert not is_signed(key.public, "a", head, other)  # type: ignore[arg-type]


def test_a_signature_is_of_one_head_of_one_ledger(key: SigningKey, tmp_path: Path) -> None:
    head = Head(3, "ab" * 32)
    signature = key.sign("a", head)
    for id, other in (("b", head), ("a", Head(4, head.hash)), ("a", Head(3, "ac" * 32))):
        assert not is_signed(key.public, id, other, signature)
    assert not is_signed(SigningKey.make(tmp_path / "other.pem").public, "a", head, signature)
