"""Clients of the fault tests: they wait so long and no longer, and may vanish in the middle of a request."""

from __future__ import annotations

import http.client
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

from tests.system.crash.served import API, Reply

PATIENCE = 25.0
"""Seconds for any reply: several times what a question may run. Nothing waits for it unless a test is failing."""


class TooLate(AssertionError):
    """Nobody replied, though the connection was open."""


def request(port: int, token: str, method: str, path: str, document: Any = None, **headers: str) -> Reply | None:
    """One request and its reply; None if the connection was refused or cut."""
    body = None if document is None else json.dumps(document)
    said = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, said)
        reply = connection.getresponse()
        content = reply.read()
    except TimeoutError:
        raise TooLate(f"{method} {path}: no reply within {PATIENCE} s") from None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, content)


def vanish(port: int, token: str, path: str, document: Mapping[str, Any], key: str, *, sent: float) -> None:
    """Send a part of a release's request (1.0: all of it), and reset the connection without waiting for a reply."""
    body = json.dumps(document)
    head = (
        f"POST {API}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    whole = (head + body).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(whole[: int(len(whole) * sent)])
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
