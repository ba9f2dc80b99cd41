"""Every route of the service with what it is for, who may do that with which dataset, and requests that fit.

It shares nothing with the table of the service.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tests.service.serving import API, LOCKED_OUT, PEOPLE, QUESTION, WAGES_QUESTION, Running

EVERYBODY = ["", "admin", *PEOPLE]
"""The first of them has no token at all."""
LET_IN = {name for name in EVERYBODY if name and name not in LOCKED_OUT}
MAY: dict[tuple[str, str], set[str]] = {
    ("see", "visits"): {
        *("admin", "only-admin", "custodian-visits", "custodian-all", "analyst-visits", "analyst-all"),
        *("auditor-visits", "auditor-all"),
    },
    ("see", "wages"): {"admin", "only-admin", "custodian-all", "analyst-wages", "analyst-all", "auditor-all"},
    ("ask", "visits"): {"admin", "analyst-visits", "analyst-all"},
    ("ask", "wages"): {"admin", "analyst-wages", "analyst-all"},
    ("manage", "visits"): {"admin", "custodian-visits", "custodian-all"},
    ("manage", "wages"): {"admin", "custodian-all"},
    # A charge that was asked by "analyst-visits" and by "analyst-wages", and what came of it.
    ("read a charge", "visits"): {
        *("admin", "custodian-visits", "custodian-all", "auditor-visits", "auditor-all", "analyst-visits"),
    },
    ("read a charge", "wages"): {"admin", "custodian-all", "auditor-all", "analyst-wages"},
    ("read an own answer", "visits"): {"analyst-visits"},
    ("read an own answer", "wages"): {"analyst-wages"},
    ("register", ""): {"admin", "custodian-all"},
    ("people", ""): {"admin", "only-admin"},
    ("oversee", ""): {"admin", "only-admin", "auditor-all"},
    ("signed in", ""): LET_IN,
    ("open", ""): set(EVERYBODY),
}
"""Who may do what with which dataset."""
ACTIONS = {"read a charge": "see", "read an own answer": "see"}
"""What a route says that it needs, where what it shows depends on who asks."""
DATASET = f"{API}/datasets/{{dataset}}"
API_ROUTES: dict[tuple[str, str], str] = {
    ("GET", f"{API}/openapi.json"): "open",
    ("GET", f"{API}/datasets"): "signed in",
    ("POST", f"{API}/datasets"): "register",
    ("GET", DATASET): "see",
    ("PATCH", DATASET): "manage",
    ("GET", f"{DATASET}/schema"): "see",
    ("GET", f"{DATASET}/budgets"): "see",
    ("PUT", f"{DATASET}/budget"): "manage",
    ("PUT", f"{DATASET}/budgets/{{person}}"): "manage",
    ("PUT", f"{DATASET}/people/{{person}}"): "manage",
    ("POST", f"{DATASET}/retire"): "manage",
    ("POST", f"{DATASET}/reinstate"): "manage",
    ("POST", f"{DATASET}/renew"): "manage",
    ("GET", f"{DATASET}/history"): "see",
    ("GET", f"{DATASET}/history/{{entry}}"): "read a charge",
    ("GET", f"{DATASET}/history/{{entry}}/certificate"): "read a charge",
    ("POST", f"{DATASET}/preview"): "ask",
    ("POST", f"{DATASET}/releases"): "ask",
    ("GET", f"{DATASET}/releases/{{key:path}}"): "read an own answer",
    ("GET", f"{API}/me"): "signed in",
    ("GET", f"{API}/me/tokens"): "signed in",
    ("DELETE", f"{API}/me/tokens/{{token}}"): "signed in",
    ("GET", f"{API}/people"): "people",
    ("POST", f"{API}/people"): "people",
    ("PATCH", f"{API}/people/{{person}}"): "people",
    ("PUT", f"{API}/people/{{person}}/grants"): "people",
    ("GET", f"{API}/people/{{person}}/tokens"): "people",
    ("POST", f"{API}/people/{{person}}/tokens"): "people",
    ("DELETE", f"{API}/people/{{person}}/tokens/{{token}}"): "people",
    ("GET", f"{API}/acts"): "oversee",
    ("POST", f"{API}/certificates/check"): "signed in",
    ("POST", f"{API}/programs/verify"): "signed in",
    ("GET", f"{API}/ledger/verify"): "oversee",
    ("GET", "/healthz"): "open",
    ("GET", "/readyz"): "open",
    ("GET", "/metrics"): "oversee",
}
OWN_PAGE = "/datasets/{dataset}"
PAGE_ROUTES: dict[tuple[str, str], str] = {
    ("GET", "/static/{digest}/{name}"): "open",
    ("GET", "/login"): "open",
    ("POST", "/login"): "open",
    ("POST", "/logout"): "signed in",
    ("GET", "/"): "signed in",
    ("GET", OWN_PAGE): "see",
    ("GET", f"{OWN_PAGE}/ask"): "ask",
    ("POST", f"{OWN_PAGE}/ask"): "ask",
    ("POST", f"{OWN_PAGE}/release"): "ask",
    ("GET", f"{OWN_PAGE}/answers/{{key:path}}"): "read an own answer",
    ("GET", f"{OWN_PAGE}/answers/{{key:path}}/answer.csv"): "read an own answer",
    ("GET", f"{OWN_PAGE}/answers/{{key:path}}/answer.json"): "read an own answer",
    ("GET", f"{OWN_PAGE}/history"): "see",
    ("GET", f"{OWN_PAGE}/history/{{entry:int}}"): "read a charge",
    ("GET", f"{OWN_PAGE}/history/{{entry:int}}/certificate"): "read a charge",
    ("GET", f"{OWN_PAGE}/manage"): "manage",
    ("POST", f"{OWN_PAGE}/manage/budget"): "manage",
    ("POST", f"{OWN_PAGE}/manage/limit"): "manage",
    ("POST", f"{OWN_PAGE}/manage/roles"): "manage",
    ("POST", f"{OWN_PAGE}/manage/description"): "manage",
    ("POST", f"{OWN_PAGE}/manage/column"): "manage",
    ("POST", f"{OWN_PAGE}/manage/renew"): "manage",
    ("POST", f"{OWN_PAGE}/manage/retire"): "manage",
    ("POST", f"{OWN_PAGE}/manage/reinstate"): "manage",
    ("GET", "/register"): "register",
    ("POST", "/register"): "register",
    ("GET", "/people"): "people",
    ("POST", "/people"): "people",
    ("GET", "/people/{person}"): "people",
    ("POST", "/people/{person}/grants"): "people",
    ("POST", "/people/{person}/active"): "people",
    ("POST", "/people/{person}/tokens"): "people",
    ("POST", "/people/{person}/tokens/{token}/revoke"): "people",
    ("GET", "/me"): "signed in",
    ("POST", "/me/tokens/{token}/revoke"): "signed in",
    ("GET", "/acts"): "oversee",
    ("POST", "/acts/ledger"): "oversee",
    ("GET", "/programs"): "signed in",
    ("POST", "/programs"): "signed in",
    ("GET", "/certificates"): "signed in",
    ("POST", "/certificates"): "signed in",
}
BUDGETS = {"visits": {"zcdp": "1/2"}, "wages": {"pure": "1"}, "missing": {"pure": "1"}}
NUMBERS = itertools.count()
BODIES: dict[tuple[str, str], Callable[[str], Any]] = {
    ("PATCH", DATASET): lambda _: {"title": "another"},
    ("POST", f"{API}/datasets"): lambda _: {
        "name": "again",
        "source": "files",
        "table": "no.csv",
        "unit": {"row": True},
    },
    ("PUT", f"{DATASET}/budget"): lambda name: {"budget": BUDGETS[name], "why": "as before"},
    ("PUT", f"{DATASET}/budgets/{{person}}"): lambda name: {"budget": BUDGETS[name], "why": "as before"},
    ("PUT", f"{DATASET}/people/{{person}}"): lambda _: {"roles": []},
    ("POST", f"{DATASET}/retire"): lambda _: {"why": "over"},
    ("POST", f"{DATASET}/reinstate"): lambda _: {"why": "not over"},
    ("POST", f"{DATASET}/renew"): lambda _: {"why": "June"},
    ("POST", f"{DATASET}/preview"): lambda name: WAGES_QUESTION if name == "wages" else QUESTION,
    ("POST", f"{DATASET}/releases"): lambda name: WAGES_QUESTION if name == "wages" else QUESTION,
    ("POST", f"{API}/people"): lambda _: {"name": f"new-{next(NUMBERS)}"},
    ("PATCH", f"{API}/people/{{person}}"): lambda _: {"active": True},
    ("PUT", f"{API}/people/{{person}}/grants"): lambda _: {"grants": []},
    ("POST", f"{API}/people/{{person}}/tokens"): lambda _: {},
    ("POST", f"{API}/certificates/check"): lambda _: {"certificate": {}},
    ("POST", f"{API}/programs/verify"): lambda _: {"source": "x = 1"},
}


def filled(path: str, running: Running, charges: dict[str, str], person: str, dataset: str) -> str:
    """The path of a route for things that are there."""
    of_oneself = "/me/" in path
    token = "0" * 24
    if "{token}" in path and person:
        whose = person if of_oneself else "somebody"
        token = running.service.state.add_token(whose, label="", days=1, by="admin")[1].id
    values = {"{dataset}": dataset, "{person}": "somebody", "{key:path}": "known", "{token}": token}
    values |= {"{entry}": charges.get(dataset, "1"), "{entry:int}": charges.get(dataset, "1")}
    values |= {"{digest}": "x", "{name}": "x"}
    for word, value in values.items():
        path = path.replace(word, value)
    assert "{" not in path
    return path
