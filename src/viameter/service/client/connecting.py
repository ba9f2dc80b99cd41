"""Connecting: `vm.connect`. The token goes to one address, encrypted, and is shown nowhere."""

from __future__ import annotations

import math
import os
from typing import Any
from urllib.parse import SplitResult, urlsplit

from viameter._version import __version__
from viameter.errors import ParameterError, plain
from viameter.service.client.connection import Connection
from viameter.service.client.waiting import Progress
from viameter.service.client.wire import PATIENCE, Token, Wire

VARIABLE = "VIAMETER_TOKEN"
"""The environment variable that a token is read from if none is given."""
HERE = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts to which nothing leaves the machine, so that it need not be encrypted."""
TIMEOUTS = {"connect": 10.0, "read": 60.0, "write": 30.0, "pool": 30.0}
"""Seconds after which a request is given up and, if it may be, sent again."""


def connect(
    url: str,
    *,
    token: str | None = None,
    patience: float = PATIENCE,
    progress: Progress | None = None,
    insecure: bool = False,
) -> Connection:
    """Connect to a service: its datasets are asked like local tables, under the budgets that it keeps.

    The token is the one that an admin gave out; without it, the environment variable VIAMETER_TOKEN is read. For
    `patience` seconds a release is tried again while the service does not answer; under one key, so that it is charged
    once. `progress` is told in words while something is waited for; else a terminal shows a line. The token is sent to
    this machine or by HTTPS; `insecure` lets it go over plain HTTP to others, where it can be read on the way.

    ```py
    with vm.connect("https://privacy.example.org") as service:
        visits = service["visits"]
        print(visits.agg(n=vm.count()).preview(spend=vm.zcdp("1/1000")))
    ```
    """
    address = _address(url, insecure=insecure)
    secret = _token(token)
    if isinstance(patience, bool) or not isinstance(patience, int | float) or not 0 <= patience < math.inf:
        raise ParameterError(f"patience={plain(patience)}: expected a number of seconds, 0 or more")
    client = _client(secret, host=address.hostname or "")
    wire = Wire(client, address.geturl().rstrip("/"), float(patience), progress)
    try:
        return Connection(wire)
    except BaseException:
        wire.close()
        raise


def _address(url: str, *, insecure: bool) -> SplitResult:
    expected = 'expected an address such as "https://privacy.example.org"'
    try:
        found = urlsplit(url.strip()) if isinstance(url, str) else None
        usable = found is not None and found.scheme in ("http", "https") and bool(found.hostname)
        _ = None if found is None else found.port
    except ValueError:
        usable, found = False, None
    # What was given is not shown: it may hold a password.
    if found is None or not usable:
        raise ParameterError(f"url: {expected}")
    if found.username is not None or found.password is not None or found.query or found.fragment:
        raise ParameterError(f"url: {expected}, without anything secret in it: the token is given as token=...")
    if found.scheme == "http" and found.hostname not in HERE and not insecure:
        raise ParameterError(
            f"{found.hostname} would be reached by plain HTTP, where the token can be read on the way: use https://, "
            "or say insecure=True if nobody can listen there"
        )
    return found


def _token(given: str | None) -> Token:
    secret = os.environ.get(VARIABLE, "") if given is None else given
    if not isinstance(secret, str) or not secret.strip():
        raise ParameterError(f"token is missing: give token=..., or set the environment variable {VARIABLE}")
    return Token(secret.strip())


def _client(token: Token, *, host: str) -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise ParameterError("a service is reached by httpx: pip install 'viameter[client]'") from None
    return httpx.Client(
        auth=token.sign,
        headers={"User-Agent": f"viameter/{__version__}", "Accept": "application/json"},
        timeout=httpx.Timeout(**TIMEOUTS),
        follow_redirects=False,
        # What goes to this machine does not go through a proxy elsewhere, which would read it.
        trust_env=host not in HERE,
        verify=httpx.create_ssl_context(),  # certificates of SSL_CERT_FILE are trusted there, too
    )
