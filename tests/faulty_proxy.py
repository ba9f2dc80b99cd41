"""A TCP proxy that can hang, drop or refuse: what stands between a client and a server in tests of faults."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self


class FaultyProxy:
    """Passes bytes between clients and `host:port`, until it is told to do otherwise.

    A host that is a folder is one with PostgreSQL's socket of that port in it, as libpq has it.

        with FaultyProxy("127.0.0.1", 5432) as proxy:
            connect(f"postgresql://ann@127.0.0.1:{proxy.port}/air")
            proxy.hang()          # bytes of all connections stay here, and new ones are accepted and get no reply
            proxy.hang(after=100) # the same, once so many bytes of replies have passed; `drop_all` likewise
            proxy.delay(0.1)      # each piece of a reply comes so many seconds late
            proxy.pass_through()  # bytes that were held back go on
            proxy.drop_all()      # all connections end with a reset; new ones pass
            proxy.refuse()        # the same, and new ones are refused, until pass_through()

    Cancel requests of PostgreSQL are connections of their own, and so are held back, too, while it hangs.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._late = 0.0
        self._after: tuple[int, Callable[[], None]] | None = None
        """How many bytes of replies pass before something happens."""
        self._on: tuple[bytes, int] | None = None
        """After which bytes to the server, and how many of them, its next reply is lost."""
        self._lock = threading.Lock()
        self._passing = threading.Event()
        self._passing.set()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._listening: socket.socket | None = None
        self._accepted = 0
        self.host = "127.0.0.1"
        self.port = 0
        self._listen()

    @property
    def connections(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._pairs)

    @property
    def accepted(self) -> int:
        """How many connections were ever accepted."""
        return self._accepted

    def hang(self, *, after: int = 0) -> None:
        """Hold back all bytes, in both directions; connections stay open."""
        self._do(self._passing.clear, after)

    def delay(self, seconds: float) -> None:
        """Let every piece of a reply wait, as a server does that is slow or far away."""
        self._late = seconds

    def pass_through(self) -> None:
        """Be no hindrance (any more)."""
        self._late, self._after, self._on = 0.0, None, None
        self._passing.set()
        if self._listening is None:
            self._listen()

    def drop_all(self, *, after: int = 0) -> None:
        """End all connections with a reset, as a server that is killed does; new ones pass."""
        self._do(self._drop_all, after)

    def _do(self, what: Callable[[], None], after: int) -> None:
        if after:
            self._after = after, what
        else:
            what()

    def _drop_all(self) -> None:
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            _reset(*pair)

    def refuse(self, *, on: bytes = b"", times: int = 1) -> None:
        """End all connections, and accept no others, as if no server was there.

        Once these bytes were sent to the server so many times, if any are given: it does as it is told, and then its
        reply is lost.
        """
        if on:
            self._on = on, times
            return
        with self._lock:
            listening, self._listening = self._listening, None
        if listening is not None:
            _close(listening)
        self.drop_all()

    def close(self) -> None:
        """End everything."""
        self.refuse()
        self._passing.set()  # threads that hold bytes back go on, and end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _listen(self) -> None:
        """Listen, always on the port that was free at first."""
        self._listening = listening = socket.create_server((self.host, self.port))
        self.port = listening.getsockname()[1]
        threading.Thread(target=self._accept, args=[listening], name="faulty-proxy", daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:  # closed
                return
            self._accepted += 1
            try:
                server = _connected(*self._target)
            except OSError:
                _reset(client)
                continue
            with self._lock:
                is_listening = self._listening is listening
                if is_listening:
                    self._pairs.add((client, server))
            if not is_listening:
                _reset(client, server)
                continue
            for one, other in ((client, server), (server, client)):
                named = {"is_reply": one is server}
                threading.Thread(
                    target=self._pump, args=[one, other], kwargs=named, name="faulty-proxy", daemon=True
                ).start()

    def _pump(self, source: socket.socket, to: socket.socket, *, is_reply: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(2**16):
                if is_reply:
                    time.sleep(self._late)
                else:
                    self._count(data)
                for part in self._cut(data) if is_reply else [data]:
                    self._passing.wait()
                    to.sendall(part)
        # An end that is seen while bytes are held back is held back, too.
        self._passing.wait()
        with self._lock:
            ended = [pair for pair in self._pairs if source in pair]
            self._pairs.difference_update(ended)
        for pair in ended:  # those that are reset are closed by whoever does it: to shut one down would end it gently
            _close(*pair)

    def _count(self, data: bytes) -> None:
        """Let the next reply be lost, if this is what was waited for."""
        with self._lock:
            if self._on is None or self._on[0] not in data:
                return
            on, times = self._on
            self._on = (on, times - 1) if times > 1 else None
            if self._on is None:
                self._after = 0, self.refuse

    def _cut(self, data: bytes) -> Iterator[bytes]:
        """The data, up to where something is to happen and after it."""
        with self._lock:
            after, self._after = self._after, None
            if after is not None and len(data) < after[0]:
                self._after = after[0] - len(data), after[1]
        if after is None or len(data) < after[0]:
            yield data
            return
        yield data[: after[0]]
        after[1]()
        yield data[after[0] :]


def _connected(host: str, port: int) -> socket.socket:
    if not host.startswith("/"):
        return socket.create_connection((host, port))
    end = socket.socket(socket.AF_UNIX)
    end.connect(f"{host}/.s.PGSQL.{port}")
    return end


def _close(*ends: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(how)  # wakes whoever waits for it in another thread
        end.close()


def _reset(*ends: socket.socket) -> None:
    for end in ends:
        with contextlib.suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    _close(*ends, how=socket.SHUT_RD)
