"""Configurations: whatever is wrong is said with the section it is in, and secrets are not said at all."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import VISITS, WAGES, make_config, make_folder

from viameter.errors import FormatError, ViameterError
from viameter.service.config import Limits, config_of, read_config, read_size
from viameter.service.service import open_service

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"sever": {}}, "the file has an unknown name 'sever'"),
    ({"server": 5}, r"\[server\]"),
    ({"server": {"prot": 1}}, r"\[server\] has an unknown name 'prot'; known are .*port"),
    ({"server": {"port": "8000"}}, r"\[server\] port='8000': expected a whole number"),
    ({"server": {"port": True}}, r"\[server\] port"),
    ({"server": {"port": 80.5}}, r"\[server\] port"),
    ({"server": {"port": -1}}, r"\[server\] port=-1: expected 0 to 65535"),
    ({"server": {"port": 65536}}, r"\[server\] port"),
    ({"server": {"host": 5}}, r"\[server\] host=5: expected text"),
    ({"server": {"https": "yes"}}, r"\[server\] https='yes': expected true or false"),
    ({"server": {"shutdown_seconds": -1}}, r"\[server\] shutdown_seconds"),
    ({"server": {"host": "env:NOT_THERE"}}, r"\[server\] host: the environment variable NOT_THERE is not set"),
    ({"server": {"host": "env:EMPTY"}}, r"\[server\] host: the environment variable EMPTY is not set"),
    ({"storage": []}, r"\[storage\]"),
    ({"storage": {"ledger": 1}}, r"\[storage\] ledger=1: expected text"),
    ({"storage": {"witness": False}}, r"\[storage\] witness"),
    ({"storage": {"database": "x"}}, r"\[storage\] has an unknown name"),
    ({"limits": {"seconds": "1"}}, r"\[limits\] seconds='1': expected a number"),
    ({"limits": {"seconds": float("nan")}}, r"\[limits\] seconds=nan"),
    ({"limits": {"seconds": float("inf")}}, r"\[limits\] seconds=inf"),
    ({"limits": {"memory": "1 pound"}}, r"\[limits\] memory='1 pound': expected a size"),
    ({"limits": {"memory": "1GB'; SET x"}}, r"\[limits\] memory"),
    ({"limits": {"memory": 5}}, r"\[limits\] memory=5: expected text"),
    ({"limits": {"cache": "x"}}, r"\[limits\] cache"),
    ({"limits": {"token_days": 10**9}}, r"\[limits\] token_days=1000000000: expected at most"),
    ({"limits": {"login_hours": 10**6}}, r"\[limits\] login_hours"),
    ({"limits": {"queries": 2.5}}, r"\[limits\] queries=2.5: expected a whole number"),
    ({"metrics": {"open": 1}}, r"\[metrics\] open: expected true or false"),
    ({"metrics": True}, r"\[metrics\]"),
    ({"metrics": {"opne": True}}, r"\[metrics\] has an unknown name"),
    ({"sources": []}, r"\[sources.NAME\]"),
    ({"sources": {"a/b": {"folder": "."}}}, r"\[sources.a/b\]: a name has letters"),
    ({"sources": {"x": {}}}, r"\[sources.x\]: expected one of folder"),
    ({"sources": {"x": {"folder": ".", "url": "postgresql://y"}}}, r"\[sources.x\]: expected one of"),
    ({"sources": {"x": {"path": "."}}}, r"\[sources.x\] has an unknown name 'path'"),
    ({"sources": {"x": {"folder": 5}}}, r"\[sources.x\] folder: expected text"),
    ({"sources": {"x": {"folder": ""}}}, r"\[sources.x\] folder: expected text"),
    ({"sources": {"x": {"folder": "nowhere"}}}, r"\[sources.x\]: there is no folder .*nowhere"),
    ({"sources": {"x": {"url": "mysql://y:secret@z"}}}, r"\[sources.x\] url: expected postgresql://"),
    ({"sources": {"x": {"url": "env:NOT_THERE"}}}, r"\[sources.x\] url: the environment variable NOT_THERE"),
    ({"dataset": {}}, r"\[\[dataset\]\] needs a name"),
    ({"dataset": [{"source": "files"}]}, r"\[\[dataset\]\] needs a name"),
    ({"dataset": ["visits"]}, r"\[\[dataset\]\] needs a name"),
]


@pytest.mark.parametrize(("document", "said"), WRONG, ids=lambda part: str(part)[:50])
def test_what_is_wrong_is_said_with_its_section(document: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        config_of(document, folder=tmp_path, environment={"EMPTY": ""})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", [one.name for one in fields(Limits) if one.type != "str"])
def test_every_limit_is_above_nothing(name: str) -> None:
    for number in (0, -1):
        with pytest.raises(FormatError, match=rf"\[limits\] {name}={number}"):
            config_of({"limits": {name: number}})
    assert getattr(config_of({"limits": {name: 7}}).limits, name) == 7


@pytest.mark.parametrize("share", ["-1", "1", "3/2", "x", "nan", "1e-6", "1/1000", "0"])
def test_the_least_share_is_an_exact_part_of_one(share: str) -> None:
    document = {"limits": {"least_share": share}}
    if share in ("1e-6", "1/1000", "0"):
        assert config_of(document).limits.least_share == share
    else:
        with pytest.raises(FormatError, match=r"\[limits\] least_share.*a part of 1, such as 1/1000000"):
            config_of(document)


DATASETS: list[tuple[dict[str, Any], str]] = [
    ({"unit": None}, "unit"),
    ({"budget": None}, "budget is missing"),
    ({"budget": {"zcdp": 0.5}}, "in quotes"),
    ({"budget": {"zcdp": "inf"}}, "inf"),
    ({"source": "nope"}, "source='nope'"),
    ({"table": "nope.csv"}, "no such file"),
    ({"table": "../visits.csv"}, "no such file"),
    ({"types": {"age": "nope"}}, "no kind 'nope'"),
    ({"columns": {"nope": {}}}, "no column 'nope'"),
    ({"columns": {"ward": {"bounds": [1]}}}, "columns.ward.bounds"),
    ({"order": "random"}, "order"),
    ({"colour": "red"}, "unknown name 'colour'"),
    ({"name": "a b"}, "a name has letters"),
    ({"name": "again"}, "registered as 'visits'"),
]


@pytest.mark.parametrize(("change", "said"), DATASETS, ids=lambda part: str(part)[:50])
def test_a_dataset_that_is_wrong_is_named(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    make_folder(tmp_path / "data")
    wrong = {name: value for name, value in {**VISITS, **change}.items() if value is not None}
    datasets = [VISITS, wrong] if change.get("name") == "again" else [wrong]
    with pytest.raises(FormatError, match=said) as caught:
        open_service(make_config(tmp_path, datasets=datasets)).close()
    assert str(caught.value).startswith(f"[[dataset]] {wrong['name']!r}: ")


def test_values_of_the_environment_are_looked_up(tmp_path: Path) -> None:
    url = "postgresql://ann:secret@db.example/air"
    document = {
        "storage": {"ledger": "env:LEDGER", "state": "env:STATE"},
        "sources": {"air": {"url": "env:LEDGER"}, "files": {"folder": "env:FOLDER"}},
        "server": {"host": "env:HOST", "title": "environment: none"},
    }
    (tmp_path / "rows").mkdir()
    given = {"LEDGER": url, "STATE": "tables.db", "HOST": "0.0.0.0", "FOLDER": "rows"}
    found = config_of(document, folder=tmp_path, environment=given)
    assert (found.storage.ledger, found.storage.state) == (url, str(tmp_path / "tables.db"))
    assert (found.sources["air"].value, found.sources["files"].value) == (url, str(tmp_path / "rows"))
    assert (found.server.host, found.server.title) == ("0.0.0.0", "environment: none")
    # Nothing that is shown has the password.
    assert "secret" not in repr(found) + str(found) + repr(found.storage) + repr(found.sources)


def test_a_value_of_the_environment_that_is_of_the_wrong_kind_is_not_shown() -> None:
    with pytest.raises(FormatError, match=r"\[server\] port='env:PORT'") as caught:
        config_of({"server": {"port": "env:PORT"}}, environment={"PORT": "secret"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("prefix", ["", "/privacy", "/a/b-c/d.e~f_1"])
def test_prefixes(prefix: str) -> None:
    assert config_of({"server": {"prefix": prefix}}).server.prefix == prefix


@pytest.mark.parametrize(
    "prefix", ["/", "privacy", "/privacy/", "//x", "/a//b", "/a b", "/a?b", "/a#b", "/%2e", "/<x>", "/a\n"]
)
def test_what_is_no_prefix(prefix: str) -> None:
    with pytest.raises(FormatError, match=r"\[server\] prefix"):
        config_of({"server": {"prefix": prefix}})


def test_a_file_is_read_and_its_paths_are_seen_from_it(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    file = tmp_path / "viameter.toml"
    file.write_text(
        '[server]\nport = 9000\n[storage]\nledger = "books/ledger.db"\nstate = "/var/x.db"\n'
        '[sources.files]\nfolder = "rows"\n[[dataset]]\nname = "a"\nsource = "files"\n[metrics]\nopen = true\n'
    )
    found = read_config(file)
    assert (found.server.port, found.open_metrics) == (9000, True)
    assert (found.storage.ledger, found.storage.state) == (str(tmp_path / "books" / "ledger.db"), "/var/x.db")
    assert found.sources["files"].value == str(tmp_path / "rows")
    assert [one.name for one in found.datasets] == ["a"]


@pytest.mark.parametrize("content", [b"[server", b"\xff\xfe", b"a = ", b"[server]\nport = 1\nport = 2", b"[sever]"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "viameter.toml"
    file.write_bytes(content)
    with pytest.raises(FormatError, match=r"viameter\.toml"):
        read_config(file)
    with pytest.raises(FormatError, match=r"none\.toml cannot be read"):
        read_config(tmp_path / "none.toml")


@pytest.mark.parametrize(("written", "size"), [("512MB", 512 * 10**6), ("1GiB", 2**30), ("3 KB", 3000), ("7KiB", 7168)])
def test_sizes(written: str, size: int) -> None:
    assert read_size(written, "x") == size


@pytest.mark.parametrize(
    "written", ["", "1", "MB", "-1MB", "1.5GB", "1TB", "1mb", "1MB ", "9999999GB", "1MB;", "\u0661MB"]
)
def test_what_is_no_size(written: str) -> None:
    with pytest.raises(FormatError, match="memory"):
        read_size(written, "memory")


def test_tables_and_ledger_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    make_folder(tmp_path / "data")
    open_service(make_config(tmp_path)).close()
    other = make_config(tmp_path, storage={"ledger": "other.db"})
    with pytest.raises(ViameterError, match="do not go together"):
        open_service(other).close()
    # And nothing was left open or changed: the first two still go together.
    again = open_service(make_config(tmp_path))
    assert again.catalog.names() == ["visits", "wages"]
    again.close()


def test_a_dataset_is_registered_once_and_keeps_its_budget(tmp_path: Path) -> None:
    make_folder(tmp_path / "data")
    open_service(make_config(tmp_path)).close()
    changed = make_config(tmp_path, datasets=[{**VISITS, "budget": {"zcdp": "9"}, "title": "Other"}, WAGES])
    again = open_service(changed)
    assert repr(again.ledger.scope("visits").budget) == "zcdp(1/2)"
    assert again.catalog.opened("visits").registered.document["title"] == VISITS["title"]
    again.close()
