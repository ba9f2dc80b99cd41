"""Starting a service: what is wrong is said in one line before anything is served, and tokens can be made beside it."""

from __future__ import annotations

import contextlib
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.service.serving import keeping_logs
from tests.system.crash.served import COUNT, PATIENCE, Connection, serving, write_config

import viameter.service
from viameter.cli import main
from viameter.cli.serve import show_page
from viameter.service.config import read_config
from viameter.service.service import open_service


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """What is logged goes to streams that tests close."""
    with keeping_logs():
        yield


def start(*options: str | Path) -> Result:
    """What `viameter serve` does that does not get as far as serving, or stops by itself."""
    return CliRunner().invoke(main, ["serve", *map(str, options)])


def refusal(*options: str | Path) -> str:
    """Why `viameter serve` does not start: the one line that says so."""
    result = start(*options)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert "Traceback" not in result.output and "Ctrl-C" not in result.output
    usage, _, said = result.output.partition("\n\n")
    assert usage.startswith("Usage:")
    (line,) = said.splitlines()
    assert line.startswith("Error: ")
    return line


def test_a_port_that_is_in_use(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        assert f"cannot listen at 127.0.0.1:{port}" in refusal("--config", path, "--port", str(port))
    assert not (tmp_path / "ledger.db").exists()


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    assert "cannot listen at 192.0.2.1" in refusal("--config", write_config(tmp_path), "--host", "192.0.2.1")


def test_a_host_that_is_no_address(tmp_path: Path) -> None:
    assert "cannot listen at nowhere.invalid" in refusal(
        "--config", write_config(tmp_path), "--host", "nowhere.invalid"
    )


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read" in refusal("--config", tmp_path / "none.toml")
    assert "cannot be read" in refusal("--config", tmp_path)
    wrong = tmp_path / "wrong.toml"
    wrong.write_bytes(b"[server\n")
    assert "is not TOML" in refusal("--config", wrong)
    wrong.write_bytes(b"\xff\xfe")
    assert "is not TOML" in refusal("--config", wrong)
    assert "--folder is for a service without a configuration" in refusal("--config", wrong, "--folder", tmp_path)


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    shutil.rmtree(tmp_path / "data")
    assert "there is no folder" in refusal("--config", path)


def test_a_file_of_a_dataset_that_is_missing(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    (tmp_path / "data" / "visits.csv").unlink()
    said = refusal("--config", path)
    assert "[[dataset]] 'visits'" in said and "no such file" in said


@pytest.mark.parametrize("what", ["ledger", "state"])
def test_places_that_cannot_be_used(tmp_path: Path, what: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no database, by far " * 100)
    for place in ("file/made.db", "folder", "text"):
        said = refusal("--config", write_config(tmp_path, **{what: place}))
        assert place.partition("/")[0] in said


def test_a_folder_for_files_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "file" in refusal("--folder", tmp_path / "file")


def make(folder: Path) -> Path:
    """A service that was there before; its configuration."""
    path = write_config(folder)
    open_service(read_config(path)).close()
    return path


def test_tables_that_belong_to_another_ledger(tmp_path: Path) -> None:
    one, other = make(tmp_path / "one"), make(tmp_path / "other")
    shutil.copy(one.parent / "service.db", other.parent / "service.db")
    said = refusal("--config", other)
    assert "belongs to the ledger" in said and "do not go together" in said
    assert "belongs to the ledger" in refusal("--config", other, "--new-admin-token")
    assert start("--config", one, "--check").exit_code == 0


def test_a_ledger_behind_its_witness(tmp_path: Path) -> None:
    path = make(tmp_path)
    shutil.copy(tmp_path / "ledger.db", tmp_path / "before.db")
    service = open_service(read_config(path))
    service.desk.ask("admin", "visits", COUNT, "k").future.result(PATIENCE)
    service.close()
    shutil.copy(tmp_path / "before.db", tmp_path / "ledger.db")
    assert "witness" in refusal("--config", path)


def test_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "viameter.service.starting", raising=False)
    monkeypatch.delattr(viameter.service, "starting", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = refusal("--config", write_config(tmp_path))
    assert "the service needs more packages (uvicorn): pip install 'viameter[service]'" in said


def test_a_check_looks_and_makes_nothing(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    result = start("--config", path, "--check")
    assert result.exit_code == 0, result.output
    for name in ("endless", "slow", "visits"):
        assert f"new     dataset {name}: it would be registered" in result.output
    assert sorted(tmp_path.rglob("*")) == before
    service = open_service(read_config(path))
    assert service.state.people() == [], "the first token is for whoever starts it first"
    service.close()
    result = start("--config", path, "--check")
    assert result.exit_code == 0 and "ok      dataset visits: " in result.output, result.output


def test_a_new_token_for_the_admin_makes_the_old_one_worthless_at_once(tmp_path: Path) -> None:
    assert "--new-admin-token" in CliRunner().invoke(main, ["serve", "--help"]).output
    with serving(tmp_path) as served, served.connection() as before:
        assert before.look("visits", "k").status == 404
        result = start("--config", tmp_path / "service.toml", "--new-admin-token")
        assert result.exit_code == 0, result.output
        assert before.look("visits", "k").status == 401
        # No terminal: it is in a file, and in nothing that is collected.
        assert "vmt_" not in result.output
        place = tmp_path / "service.db.admin-token"
        assert str(place) in result.output and place.stat().st_mode & 0o777 == 0o600
        after = Connection(served.port, place.read_text().split()[0])
        assert after.ask("visits", "k").status == 200
        assert not place.exists(), "it was used"
        after.close()
        assert served.stop() == 0
        assert "vmt_" not in served.log()


@pytest.mark.long
def test_a_service_that_is_told_to_stop_as_soon_as_it_is_there_stops_in_order(tmp_path: Path) -> None:
    tokens = set()
    for _ in range(10):
        with serving(tmp_path) as served:
            assert served.stop() == 0
            tokens.add(served.token)
    assert len(tokens) == 1, "a token is said the first time only"


def test_a_new_token_needs_a_service_that_was_there(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    assert "ledger.db" in refusal("--config", path, "--new-admin-token")
    assert not (tmp_path / "service.db").exists()


def test_the_tour_without_a_terminal_ends_by_itself() -> None:
    said: list[str] = []
    show_page(said.append)
    assert "it was stopped" in said[-1]


@pytest.mark.long
def test_the_whole_tour_with_its_page_ends_by_itself() -> None:
    result = CliRunner().invoke(main, ["demo", "--serve"])
    assert result.exit_code == 0, result.output
    assert "it was stopped" in result.output


@pytest.mark.parametrize("part", [b"x" * 2**16, b"x: y\r\n" * 2**13], ids=["one header", "many headers"])
def test_headers_that_do_not_end_are_refused_before_they_fill_the_memory(tmp_path: Path, part: bytes) -> None:
    with serving(tmp_path) as served, socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as sent:
        sent.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nA: b")
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                sent.sendall(part)
            pytest.fail("all of it was taken")
        with served.connection() as another:
            assert another.request("GET", "/me").status == 200
