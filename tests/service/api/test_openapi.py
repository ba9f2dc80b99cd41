"""The OpenAPI description: requests made from it, right and wrong ones, get the replies that it describes."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.service.routes import API_ROUTES
from tests.service.serving import API, Running

pytestmark = pytest.mark.usefixtures("no_processes")


CHECKS: list[Any] = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
]  # fmt: skip
OPERATIONS = [
    (method, path.replace(":path", ""))
    for method, path in API_ROUTES
    if path.startswith(API) and not path.endswith("openapi.json")
]
FILLED = {"dataset": "visits", "person": "nobody", "entry": 4, "key": "described", "token": "0" * 24}
"""Things that are there, but for the token: requests are sent as an admin, who is not to lose it."""


@pytest.fixture(scope="module")
def schema(running: Running) -> Any:
    """The description, as the service gives it."""
    assert running.ask("admin", key="described").status_code == 200
    return schemathesis.openapi.from_url(f"{running.url}{API}/openapi.json")


def send_examples(running: Running, schema: Any, method: str, path: str, examples: int) -> None:
    """Send requests that are made from the description, and look at the replies."""
    operation = schema[path][method]
    headers = {"authorization": f"Bearer {running.tokens['admin']}"}
    for mode in GenerationMode:
        run_in(settings(max_examples=examples), operation.as_strategy(generation_mode=mode), running, headers)


def run_in(chosen: settings, cases: st.SearchStrategy[Any], running: Running, headers: dict[str, str]) -> None:
    """Run the cases of one operation."""

    @settings(
        chosen,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
        database=None,
        derandomize=True,
    )
    @given(case=cases, there=st.booleans())
    def run(case: Any, there: bool) -> None:
        if there and case.path_parameters:
            case.path_parameters.update({name: FILLED[name] for name in case.path_parameters if name in FILLED})
        case.call_and_validate(headers=headers, checks=CHECKS, timeout=60)

    run()


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda part: str(part).removeprefix(API))
def test_replies_are_as_they_are_described(running: Running, schema: Any, method: str, path: str) -> None:
    send_examples(running, schema, method, path, 3)


@pytest.mark.long
@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda part: str(part).removeprefix(API))
def test_many_replies_are_as_they_are_described(running: Running, schema: Any, method: str, path: str) -> None:
    send_examples(running, schema, method, path, 100)


def test_a_reply_that_is_not_described_is_found(running: Running, schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of this file can fail."""
    monkeypatch.setattr(type(running.service.state), "people", lambda _: [{"name": "x", "grants": []}, 5])
    with pytest.raises(BaseException, match=r"[Ss]erver error|500"):
        send_examples(running, schema, "GET", f"{API}/people", 1)


def test_the_description_says_what_every_route_needs(running: Running) -> None:
    described = running.client().get(f"{API}/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["security"], (path, method)
            assert {"401", "403", "404", "422", "429", "503"} <= set(operation["responses"]), (path, method)
            assert operation["summary"], (path, method)
    assert described["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


def test_bodies_take_no_unknown_names(running: Running) -> None:
    schemas = running.client().get(f"{API}/openapi.json").json()["components"]["schemas"]
    closed = {name for name, one in schemas.items() if one.get("additionalProperties") is False}
    assert {"Question", "NewDataset", "Description", "NewBudget", "Roles", "NewPerson", "Grants", "NewToken"} <= closed
