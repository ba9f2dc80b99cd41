"""The proxy of tests of faults does what its names say."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest
from tests.faulty_proxy import FaultyProxy


@pytest.fixture
def proxy() -> Iterator[FaultyProxy]:
    """One before a server that replies what it is sent."""
    server = socket.create_server(("127.0.0.1", 0))

    def echo(end: socket.socket) -> None:
        with contextlib.suppress(OSError), end:
            while data := end.recv(100):
                end.sendall(data)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=echo, args=[server.accept()[0]], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with FaultyProxy(*server.getsockname()) as made:
        yield made
    server.close()


def connected(proxy: FaultyProxy) -> socket.socket:
    return socket.create_connection((proxy.host, proxy.port), timeout=10)


def echoed(end: socket.socket, text: bytes = b"x") -> bytes:
    end.sendall(text)
    return end.recv(100)


def test_bytes_pass(proxy: FaultyProxy) -> None:
    with connected(proxy) as end:
        assert echoed(end, b"abc") == b"abc"
        assert (proxy.connections, proxy.accepted) == (1, 1)


def test_what_hangs_passes_later(proxy: FaultyProxy) -> None:
    with connected(proxy) as end:
        assert echoed(end) == b"x"
        proxy.hang()
        end.sendall(b"late")
        end.settimeout(0.1)
        with pytest.raises(TimeoutError):
            end.recv(100)
        with connected(proxy) as new:
            new.settimeout(0.1)
            with pytest.raises(TimeoutError):
                echoed(new)
        proxy.pass_through()
        end.settimeout(10)
        assert end.recv(100) == b"late"


def test_dropped_connections_are_reset_and_new_ones_pass(proxy: FaultyProxy) -> None:
    with connected(proxy) as end:
        assert echoed(end) == b"x"
        proxy.drop_all()
        with pytest.raises(OSError):
            assert echoed(end) and echoed(end)
    with connected(proxy) as end:
        assert echoed(end) == b"x"


@pytest.mark.parametrize("hangs", [False, True])
def test_refused_until_it_passes_again(proxy: FaultyProxy, hangs: bool) -> None:
    with connected(proxy) as end:
        assert echoed(end) == b"x"
        if hangs:
            proxy.hang()
        proxy.refuse()
        with pytest.raises(OSError):
            assert echoed(end) and echoed(end)
    with pytest.raises(OSError):
        connected(proxy)
    proxy.pass_through()
    with connected(proxy) as end:
        assert echoed(end) == b"x"
