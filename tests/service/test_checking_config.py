"""What `serve --check` finds: what is there, what would be made, and what is registered otherwise; it makes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import FIRST_TABLES, VISITS, WAGES, Running, make_config, make_folder

from viameter.service import service as services
from viameter.service.checking_config import Finding, check_config, differences
from viameter.service.config import Dataset
from viameter.service.service import open_service


def checked(folder: Path, **sections: Any) -> dict[str, list[Finding]]:
    """What is found of each thing; and that nothing was made or changed, but for how SQLite tells of who reads."""

    def there() -> dict[Path, bytes]:
        files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".db-shm", ".db-wal")]
        return {path: path.read_bytes() for path in files}

    before = there()
    found: dict[str, list[Finding]] = {}
    for finding in check_config(make_config(folder, **sections)):
        found.setdefault(finding.about, []).append(finding)
    assert there() == before
    return found


def kinds(found: dict[str, list[Finding]]) -> dict[str, list[str]]:
    return {about: [one.kind for one in findings] for about, findings in found.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_folder(tmp_path / "data")
    return tmp_path


def test_what_is_not_there_would_be_made(folder: Path) -> None:
    found = checked(folder)
    assert kinds(found) == {
        "[sources.files]": ["ok"], "[storage] ledger": ["new"], "[storage] state": ["new"],
        "dataset visits": ["new"], "dataset wages": ["new"],
    }  # fmt: skip
    assert "budget of zcdp(1/2)" in found["dataset visits"][0].text
    same = {**VISITS, "name": "again"}
    wrong = {**WAGES, "name": "no", "unit": {"per": "nobody", "rows": 1}}
    found = checked(folder, datasets=[VISITS, same, wrong])
    assert kinds(found)["dataset visits"] == ["new"]
    assert "registered as 'visits'" in found["dataset again"][0].text and found["dataset again"][0].kind == "wrong"
    assert found["dataset no"][0].kind == "wrong"


def test_what_is_registered_is_opened_and_compared(folder: Path) -> None:
    open_service(make_config(folder)).close()
    assert kinds(checked(folder)) == {
        "[sources.files]": ["ok"], "[storage] ledger": ["ok"], "[storage] state": ["ok"],
        "dataset visits": ["ok"], "dataset wages": ["ok"],
    }  # fmt: skip
    other = {**VISITS, "budget": {"zcdp": "7"}, "unit": {"per": "patient", "rows": 6}, "types": {}, "renews": "day"}
    found = checked(folder, datasets=[other])["dataset visits"]
    assert [one.text.partition(":")[0] for one in found if one.kind == "differs"] == [
        "types",
        "unit",
        "budget",
        "renews",
    ]
    assert "the configuration says zcdp(7), and registered is zcdp(1/2)" in str(found[2])
    service = open_service(make_config(folder))
    service.catalog.retire("wages", by="x", why="x")
    service.close()
    (folder / "data" / "visits.csv").unlink()
    later = checked(folder)
    assert later["dataset visits"][0].kind == "wrong" and "retired" in later["dataset wages"][0].text


def test_storage_that_does_not_fit_is_wrong(folder: Path) -> None:
    open_service(make_config(folder)).close()
    (folder / "service.db").unlink()
    shutil.copy(FIRST_TABLES, folder / "service.db")
    found = checked(folder)
    assert found["[storage] state"][0].kind == "wrong" and "do not go together" in found["[storage] state"][0].text
    assert "dataset visits" not in found
    (folder / "ledger.db").write_text("no database")
    assert checked(folder)["[storage] ledger"][0].kind == "wrong"
    sources = {"files": {"folder": "data"}, "far": {"url": "postgresql://x:secret@127.0.0.1:1/x?connect_timeout=1"}}
    far = checked(folder, sources=sources)["[sources.far]"][0]
    assert far.kind == "wrong" and "secret" not in far.text


def test_what_says_the_same_in_other_words_does_not_differ(folder: Path) -> None:
    open_service(make_config(folder)).close()
    service = open_service(make_config(folder))
    try:
        registered = service.catalog.registered("visits")
        assert registered is not None
        scope = service.catalog.scope("visits")
        document = {key: value for key, value in VISITS.items() if key not in ("name", "budget")}
        changes: list[dict[str, Any]] = [
            {}, {"order": "native"}, {"budget": {"zcdp": "0.50"}}, {"title": "another"}, {"columns": {}},
            {"unit": {"rows": 5, "per": "patient"}}, {"strict": False}, {"renews": None},
        ]  # fmt: skip
        for change in changes:
            assert differences(Dataset("visits", {**document, **change}), registered, scope) == [], change
        for word, value in (("order", "portable"), ("table", "x.csv"), ("source", "y"), ("types", {"age": "real"})):
            (text,) = differences(Dataset("visits", {**document, word: value}), registered, scope)
            assert text.startswith(f"{word}: the configuration says")
    finally:
        service.close()


def test_custodians_operators_and_logs_are_told_of_differences(
    folder: Path, run_service: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = run_service()
    assert running.api("custodian-visits", "GET", "/datasets/visits").json()["differs"] == []
    other = [{**VISITS, "budget": {"zcdp": "7"}}, WAGES]
    logged: list[dict[str, Any]] = []
    monkeypatch.setattr(services, "log", lambda event, **fields: logged.append({"event": event, **fields}))
    config = make_config(running.folder.parent, datasets=other)
    restarted = open_service(config)
    try:
        (line,) = [line for line in logged if line["event"] == "configuration_differs"]
        assert (line["dataset"], len(line["differs"])) == ("visits", 1)
        text = restarted.metrics.text().decode()
        assert 'viameter_configuration_differences{dataset="visits"} 1.0' in text
        assert 'viameter_configuration_differences{dataset="wages"} 0.0' in text
        object.__setattr__(running.service, "config", config)
        (said,) = running.api("custodian-visits", "GET", "/datasets/visits").json()["differs"]
        assert said.startswith("budget: the configuration says zcdp(7)")
        assert running.api("analyst-visits", "GET", "/datasets/visits").json()["differs"] is None
    finally:
        restarted.close()
