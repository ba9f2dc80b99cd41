"""The stage of the fault tests: a service as operators run it, with a place for each thing that can go wrong."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import duckdb
import psycopg
from tests.faulty_proxy import FaultyProxy
from tests.ledger.conftest import new_database
from tests.system.crash.served import Served

COMPILER = shutil.which("cc")
SECONDS = 1
"""How long a question may run."""
QUERIES, WAITING = 3, 12
PASSWORD = "pw-canary-9c2d71"
ROW = "row-canary-5b1e08"
"""What is in a row, and must be nowhere else."""
WARDS = ["Cardiology", "Emergency", "Maternity"]
CONFIG = f"""
[server]
port = 0
shutdown_seconds = 4
[storage]
ledger = "env:FAULTS_LEDGER"
state = "env:FAULTS_STATE"
witness = "witness/ledger.witness"
[sources.files]
folder = "data"
[sources.warehouse]
url = "env:FAULTS_WAREHOUSE"
[sources.neighbor]
url = "env:FAULTS_NEIGHBOR"
[limits]
requests_per_minute = 1000000
releases_per_minute = 1000000
seconds = {SECONDS}
queries = {QUERIES}
waiting = {WAITING}
cache = "1KB"
"""
TABLES = {
    "remote": ("warehouse", "visits"),
    "file": ("files", "visits.duckdb#visits"),
    "slow": ("files", "slow.duckdb#slow"),
    "near": ("neighbor", "stays"),
    "plain": ("files", "stays.duckdb#stays"),
}
"""Datasets by name: where they are. Faults are of the first two; "slow" has more rows than can be read in time."""
OTHERS = ("near", "plain")
"""Datasets to which nothing happens."""
DISKS = ("ledger", "state", "witness", "temp")
DISK = 16 << 20
"""Bytes of each disk of a stage."""
ROOM = 6 << 20
"""Bytes that are left on each disk when a test begins: for a whole log of SQLite (4 MB), and more than a test adds."""
DATASET = """
[[dataset]]
name = "{name}"
source = "{source}"
table = "{table}"
unit = {{row = true}}
budget = {{approx_zcdp = ["100", "1/10"]}}
columns.ward = {{values = ["Cardiology", "Emergency", "Maternity"]}}
"""
PEOPLE = ("ann", "bob", "cleo")
FILL = f"""
CREATE TABLE {{name}} (patient INTEGER, ward VARCHAR, wait INTEGER, note VARCHAR);
INSERT INTO {{name}} SELECT n, CASE n % 3 WHEN 0 THEN 'Cardiology' WHEN 1 THEN 'Emergency' ELSE 'Maternity' END,
  n % 240, '{ROW}' FROM generate_series(0, 899) AS g(n);
"""
SLOW = (
    "CREATE VIEW slow AS SELECT a.range AS patient, 'Cardiology' AS ward, 1 AS wait, 'x' AS note "
    "FROM range(40000000) a, range(50000) b WHERE hash(a.range * 50000 + b.range) % 1000 = 0"
)


@dataclass
class Stage:
    """A service in a process, proxies before its servers, and its disks; `start` starts the process again."""

    folder: Path
    proxy: FaultyProxy
    """Before the server of "remote"."""
    storage: FaultyProxy
    """Before the server of the ledger and the state, if they are on one."""
    database: str
    role: str
    """As whom the service reads the database."""
    environment: dict[str, str]
    ledger: str
    """Where the ledger is, without a proxy."""
    served: Served = field(init=False)
    tokens: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: list[str] = field(default_factory=list, repr=False)
    restarts: int = 0
    disks: tuple[Path, ...] = ()
    """File systems of their own. Nothing that is asked is ever forgotten, so that each test leaves less room there."""

    def left(self) -> dict[str, int]:
        """How many bytes are left on each disk, by its name."""
        return {disk.name: shutil.disk_usage(disk).free for disk in self.disks}

    def has_room(self) -> bool:
        """Whether there is room on the disks for another test."""
        return all(left >= ROOM for left in self.left().values())

    def start(self) -> None:
        """Start the process."""
        self.served = Served(self.folder, own=self.environment)
        for name in PEOPLE if not self.tokens else ():
            with self.served.connection() as admin:
                grants = [{"role": "analyst"}]
                made = admin.request("POST", "/people", {"name": name, "grants": grants})
                assert made.status == 201, made.body
                token = admin.request("POST", f"/people/{name}/tokens", {"label": "faults"}).document["token"]
                self.tokens[name] = token
        self.secrets = [PASSWORD, ROW, *self.tokens.values()]

    def restart(self) -> None:
        """Start again what has ended."""
        self.restarts += 1
        self.start()

    def execute(self, statement: str) -> None:
        """Have the owner of the database do something."""
        with psycopg.connect(self.database, autocommit=True) as owner:
            owner.execute("SET lock_timeout = '10s'")
            owner.execute(statement)


@contextlib.contextmanager
def setting_up(
    folder: Path, server: str, *, disks: bool = False, clock: Path | None = None, durable: str = ""
) -> Iterator[Stage]:
    """A stage in a folder, with a database of its own on a server.

    `disks` are file systems of their own, which can be filled; with the library `clock`, it has a clock of its own. The
    ledger and the state are files, or in a database of the server at the URL `durable`.
    """
    database = new_database(server)
    parts = urlsplit(database)
    role, neighbor = (f"{parts.path[1:]}_{name}" for name in ("reader", "neighbor"))
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute(FILL.format(name="visits"))
        owner.execute(FILL.format(name="stays"))
        for reader, table in ((role, "visits"), (neighbor, "stays")):
            owner.execute(f"CREATE ROLE {reader} LOGIN")
            owner.execute(f"GRANT SELECT ON {table} TO {reader}")
    for name in ("data", *DISKS):
        (folder / name).mkdir()
    for name in ("visits", "stays"):
        with duckdb.connect(str(folder / "data" / f"{name}.duckdb")) as made:
            made.execute(FILL.format(name=name))
    with duckdb.connect(str(folder / "data" / "slow.duckdb")) as made:
        made.execute(SLOW)
    datasets = [DATASET.format(name=name, source=at, table=table) for name, (at, table) in TABLES.items()]
    (folder / "service.toml").write_text(CONFIG + "".join(datasets))
    socket = _socket(server)
    with contextlib.ExitStack() as stack:
        for name in DISKS if disks else ():
            stack.enter_context(disk(folder / name))
        proxy, storage = (stack.enter_context(FaultyProxy(one, 5432)) for one in (socket, _socket(durable or server)))
        books = new_database(durable) if durable else ""
        proxied = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{storage.port}{urlsplit(books).path}"
        stage = Stage(
            folder,
            proxy,
            storage,
            database,
            role,
            {
                "FAULTS_LEDGER": proxied if durable else "ledger/ledger.db",
                "FAULTS_STATE": proxied if durable else "state/service.db",
                "FAULTS_WAREHOUSE": f"postgresql://{role}:{PASSWORD}@127.0.0.1:{proxy.port}{parts.path}",
                "FAULTS_NEIGHBOR": f"postgresql://{neighbor}:{PASSWORD}@{parts.path}?{parts.query}",
                "TMPDIR": str(folder / "temp"),
                **(_own_clock(folder, clock) if clock is not None else {}),
            },
            books or str(folder / "ledger" / "ledger.db"),
            disks=tuple(folder / name for name in DISKS if disks),
        )
        stage.start()
        try:
            yield stage
        finally:
            stage.served.kill()


def _socket(url: str) -> str:
    """The folder of the socket of a server."""
    return parse_qs(urlsplit(url).query)["host"][0]


def make_clock(folder: Path) -> Path | None:
    """A library that makes the time of day of a process off by what a file says, if there is a compiler for it."""
    if COMPILER is None:
        return None
    library = folder / "clock.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, Path(__file__).parent / "clock.c"], check=True)
    return library


def _own_clock(folder: Path, library: Path) -> dict[str, str]:
    """The environment of a process with a clock of its own; intervals are those of the machine."""
    file = folder / "clock"
    file.write_text("0")
    return {"LD_PRELOAD": str(library), "VIAMETER_CLOCK": str(file)}


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[None]:
    """A small file system of its own in a folder."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
