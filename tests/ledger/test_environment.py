"""Bad surroundings: full disks, files that are locked or may not be written, servers that are not there or not safe.

Each is an error that says what to do; nothing is charged unless it was reserved, and nothing is lost.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.ledger.conftest import SPACE, new_database

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerError, LedgerUnavailable, ParameterError
from viameter.ledger import Ledger
from viameter.ledger.stores import dialects

SECRET = "open-sesame"


def is_plain(error: BaseException) -> bool:
    """Whether an error shows nothing of the database, of what was asked of it, or of passwords."""
    shown = "\n".join(traceback.format_exception_only(error))
    hidden = ("SELECT", "INSERT", "UPDATE", "PRAGMA", "BEGIN", "sqlite3", "psycopg", "sqlalchemy", "Traceback", SECRET)
    return not any(word in shown for word in hidden) and error.__cause__ is None and _silent(error.__context__)


def _silent(context: BaseException | None) -> bool:
    return context is None or SECRET not in "\n".join(traceback.format_exception_only(context))


@cache
def _read_modules() -> None:
    """Read the modules that ledgers need: nobody may not be allowed to read them where they are."""
    with TemporaryDirectory() as name, ledgers.open(Path(name) / "budget.db") as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        charge(ledger, "first")


@contextmanager
def as_nobody() -> Iterator[None]:
    """As a user whom permissions bind: they do not bind root."""
    if os.geteuid() != 0:
        yield
        return
    _read_modules()
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter."""
    with TemporaryDirectory(prefix="viameter-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def charge(ledger: Ledger, key: str) -> None:
    ledger.commit(ledger.reserve(vm.pure("1/100"), scopes=["visits"], key=key), b"1")


def open_and_charge(path: Path, **options: Any) -> None:
    with ledgers.open(path, **options) as ledger:
        charge(ledger, "a")


# Files.


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="is the folder there, and may it be written to") as refused:
        ledgers.open(tmp_path / "missing" / "budget.db")
    assert is_plain(refused.value) and not (tmp_path / "missing").exists()


@pytest.mark.parametrize("content", [b"name,age\nann,41\n" * 400, b"SQLite format 3\0" + bytes(5000), bytes(9000)])
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(content)
    with pytest.raises(LedgerUnavailable, match="is no SQLite database, or it is damaged") as refused:
        ledgers.open(path)
    assert is_plain(refused.value) and "ann" not in str(refused.value).replace(str(path), "")
    assert path.read_bytes() == content and not path.with_name("visits.csv.witness").exists()


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be opened") as refused:
        ledgers.open(tmp_path)
    assert is_plain(refused.value)


def test_a_folder_that_may_not_be_written_to(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with as_nobody(), pytest.raises(LedgerUnavailable, match="cannot be opened") as refused:
        ledgers.open(open_folder / "budget.db")
    assert is_plain(refused.value) and not list(open_folder.iterdir())


def test_a_file_that_may_not_be_written_to(open_folder: Path) -> None:
    path = open_folder / "budget.db"
    with ledgers.open(path) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        charge(ledger, "before")
    content = path.read_bytes()
    path.chmod(0o444)
    open_folder.chmod(0o777)
    with as_nobody():
        for options in ({}, {"witness": False}):
            with pytest.raises(LedgerUnavailable) as refused:
                open_and_charge(path, **options)
            assert is_plain(refused.value)
        with ledgers.open(path, read_only=True) as ledger:
            assert ledger.scope("visits").spent == vm.pure("1/100") and ledgers.verify(ledger).ok
            with pytest.raises(LedgerUnavailable, match="for reading only; nothing was written"):
                ledger.reserve(vm.pure("1/100"), scopes=["visits"])
    assert path.read_bytes() == content


def test_a_witness_that_may_not_be_written_to(open_folder: Path) -> None:
    path = open_folder / "budget.db"
    open_folder.chmod(0o777)
    with as_nobody(), ledgers.open(path) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
    if os.geteuid() == 0:
        shutil.chown(f"{path}.witness", 0, 0)
    Path(f"{path}.witness").chmod(0o444)
    with (
        as_nobody(),
        pytest.raises(LedgerUnavailable, match=r"witness .* cannot be written: Permission denied") as refused,
    ):
        ledgers.open(path)
    assert is_plain(refused.value)


def test_a_file_that_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "PATIENCE", 0.1)
    path = tmp_path / "budget.db"
    with ledgers.open(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        ledger.define("visits", vm.pure(1), SPACE)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match=r"is locked by another program .*; nothing was written") as refused:
            charge(ledger, "a")
        assert is_plain(refused.value)
        assert ledger.scope("visits").spent == vm.pure(0)  # reading waits for nobody
        other.execute("ROLLBACK")
        charge(ledger, "a")
        assert ledger.scope("visits").spent == vm.pure("1/100") and ledgers.verify(ledger).ok


_ON_A_FULL_DISK = """
import json, sys
from pathlib import Path
import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerUnavailable

folder, limit = Path(sys.argv[1]), sys.argv[2]
if limit:
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a write beyond the limit is an error
ledger = ledgers.open(folder / "budget.db")
ledger.define("visits", vm.pure(1), vm.SymmetricDistance())
def fill():
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
        return
    with (folder / "filler").open("wb", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                pass
def empty():
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        (folder / "filler").unlink()
done, errors = [], []
def charge(key):
    reserved = ledger.reserve(vm.pure("1/1000"), scopes=["visits"], key=key, certificate="1" * 20000)
    done.append(key)
    ledger.commit(reserved, b"2" * 20000)
charge("before")
fill()
for number in range(40):
    try:
        charge(f"on a full disk {number}")
    except LedgerUnavailable as problem:
        errors.append(str(problem))
charged = sorted(request.key for request in ledger.store.requests())
empty()
charge("after")
ledger.close()
with ledgers.open(folder / "budget.db") as ledger:
    told = {
        "done": sorted(done), "errors": errors, "charged": charged, "ok": ledgers.verify(ledger).ok,
        "spent": str(ledger.scope("visits").spent), "all": sorted(request.key for request in ledger.store.requests()),
    }
print(json.dumps(told))
"""


def _has_small_disks(folder: Path) -> bool:
    command = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    script = tmp_path / "script.py"
    script.write_text(_ON_A_FULL_DISK)
    command = [sys.executable, str(script), str(tmp_path / "disk")]
    small = _has_small_disks(tmp_path / "disk")
    if small:
        # Mounted where nobody else sees it, and gone with the process.
        inside = 'mount -t tmpfs -o size=1m none "$2" && exec "$0" "$1" "$2" ""'
        command = ["unshare", "-m", "sh", "-c", inside, *command]
    else:
        command.append("200000")  # no file may grow beyond this many bytes
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["errors"] and told["ok"]
    for text in told["errors"]:
        assert ("is full; nothing was written now" in text) or not small, text
        assert "INSERT" not in text and "1111" not in text and "2222" not in text
    # What was refused was not charged, what was charged is there, and it goes on when there is room again.
    assert told["done"] == told["all"] and told["charged"] == [key for key in told["all"] if key != "after"]
    assert told["spent"] == str(vm.pure(f"{len(told['all'])}/1000"))


# Servers.


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    url = f"postgresql://ann:{SECRET}@/budget?host={tmp_path}"
    with pytest.raises(LedgerUnavailable, match="does not answer: is the server running") as refused:
        ledgers.open(url, witness=tmp_path / "w")
    assert is_plain(refused.value) and not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann@host:{SECRET}/budget",
        f"postgresql://ann:{SECRET}@[::1/budget",
        f"mysql://ann:{SECRET}@host/budget",
        f"ann:{SECRET}@host://budget",
    ],
)
def test_a_url_that_cannot_be_read_is_not_shown(url: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="expected a path, or postgresql://user@host/database") as refused:
        ledgers.open(url, witness=tmp_path / "w")
    assert is_plain(refused.value)


def test_a_password_in_the_query_of_a_url_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable) as refused:
        ledgers.open(f"postgresql://ann@/budget?host={tmp_path}&password={SECRET}", witness=tmp_path / "w")
    assert is_plain(refused.value)


def run(url: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_server_that_does_not_sync_is_refused(tmp_path: Path) -> None:
    from tests.tables.engines.postgres_server import running_server

    with running_server(durable=False) as url:
        with pytest.raises(LedgerUnavailable, match="runs with fsync = off, and can lose charges") as refused:
            ledgers.open(url, witness=tmp_path / "w")
        assert is_plain(refused.value)


def test_a_server_that_can_tear_pages_is_refused(server: str, tmp_path: Path) -> None:
    url = new_database(server)
    run(server, "ALTER SYSTEM SET full_page_writes = off", "SELECT pg_reload_conf()")
    try:
        wait_for(server, "full_page_writes", "off")
        with pytest.raises(
            LedgerUnavailable, match="runs with full_page_writes = off, and can lose charges"
        ) as refused:
            ledgers.open(url, witness=tmp_path / "w")
        assert is_plain(refused.value)
    finally:
        run(server, "ALTER SYSTEM RESET full_page_writes", "SELECT pg_reload_conf()")
        wait_for(server, "full_page_writes", "on")
    ledgers.open(url, witness=tmp_path / "w").close()


def wait_for(url: str, name: str, value: str) -> None:
    """Wait until a server has read a setting."""
    import psycopg

    for _ in range(500):
        with psycopg.connect(url) as connection:
            if connection.execute(f"SHOW {name}").fetchone() == (value,):
                return
        time.sleep(0.02)
    raise AssertionError(f"{name} is not {value}")


def test_a_server_whose_users_do_not_wait_for_the_disk_is_told_to(server: str, tmp_path: Path) -> None:
    url = new_database(server)
    name = url.rpartition("/")[2].partition("?")[0]
    run(url, f"ALTER DATABASE {name} SET synchronous_commit = off")
    with ledgers.open(url, witness=tmp_path / "w") as ledger:
        assert ledger.store.facts()["synchronous_commit"] == "on"


def with_user(url: str, name: str, password: str) -> str:
    return url.replace("postgres@", f"{name}:{password}@")


def test_a_wrong_password_is_refused_and_never_shown(server: str, tmp_path: Path) -> None:
    import psycopg

    url = new_database(server)
    with psycopg.connect(server, autocommit=True) as connection:
        (file,) = connection.execute("SHOW hba_file").fetchone()  # type: ignore[misc]
        connection.execute("CREATE USER guarded PASSWORD 'right'")
        rules = (
            "SELECT line FROM (VALUES (1, 'local all guarded scram-sha-256'), (2, 'local all all trust')) r (n, line)"
        )
        connection.execute(f"COPY ({rules} ORDER BY n) TO '{file}'")
        connection.execute("SELECT pg_reload_conf()")
    for _ in range(500):
        try:
            psycopg.connect(with_user(url, "guarded", "wrong")).close()
        except psycopg.OperationalError:
            break
        time.sleep(0.02)
    with pytest.raises(LedgerUnavailable, match="may this user connect") as refused:
        ledgers.open(with_user(url, "guarded", SECRET), witness=tmp_path / "w")
    assert is_plain(refused.value)
    # The right password, and no leave to make tables.
    with pytest.raises(LedgerUnavailable, match="does not let this user write; nothing was written") as refused:
        ledgers.open(with_user(url, "guarded", "right"), witness=tmp_path / "w")
    assert is_plain(refused.value) and "right" not in str(refused.value)


def test_a_server_that_may_only_be_read(server: str, tmp_path: Path) -> None:
    url = new_database(server)
    name = url.rpartition("/")[2].partition("?")[0]
    with ledgers.open(url, witness=tmp_path / "w") as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
    run(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with ledgers.open(url, witness=tmp_path / "w") as ledger:
        with pytest.raises(LedgerUnavailable, match="does not let this user write; nothing was written") as refused:
            charge(ledger, "a")
        assert is_plain(refused.value) and ledger.scope("visits").spent == vm.pure(0)
        assert ledgers.verify(ledger).ok


def test_a_server_whose_head_is_locked(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.setattr(dialects, "PATIENCE", 0.2)
    url = new_database(server)
    with ledgers.open(url, witness=tmp_path / "w") as ledger, psycopg.connect(url) as other:
        ledger.define("visits", vm.pure(1), SPACE)
        other.execute("SELECT * FROM ledger_head FOR UPDATE")
        with pytest.raises(LedgerUnavailable, match=r"is locked by another program .*; nothing was written") as refused:
            charge(ledger, "a")
        assert is_plain(refused.value) and ledger.scope("visits").spent == vm.pure(0)
        other.rollback()
        charge(ledger, "a")
        assert ledger.scope("visits").spent == vm.pure("1/100") and ledgers.verify(ledger).ok


def test_a_database_that_is_not_there(server: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable) as refused:
        ledgers.open(server.replace("/postgres?", "/no_such_database?"), witness=tmp_path / "w")
    assert is_plain(refused.value)


def test_nothing_is_done_with_a_ledger_that_was_closed(opened: Callable[..., Ledger]) -> None:
    ledger = opened()
    ledger.close()
    ledger.close()
    for ask in (lambda: ledger.head, ledger.scopes, lambda: ledger.define("visits", vm.pure(1), SPACE)):
        with pytest.raises(LedgerError, match="was closed"):
            _: Any = ask()
