"""Two processes of a service behind nginx with TLS, by deploy/nginx.conf; each can be ended and started again."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.service.crash.served import PATIENCE, Served
from tests.service.faults.stage import FILL

DEPLOYED = Path(__file__).parents[3] / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
DATASETS = ["visits", *(f"ward{number}" for number in range(5))]
"""So many that nginx sends requests for some to one process, and for others to the other one."""
CONFIG = """
[server]
port = {port}
prefix = "/privacy"
https = true
trusted_proxies = "127.0.0.1"
shutdown_seconds = 20
[storage]
ledger = "{shared}/ledger.db"
state = "{shared}/service.db"
[sources.files]
folder = "{shared}/data"
[limits]
requests_per_minute = 1000000
releases_per_minute = 1000000
seconds = 10
"""
DATASET = """
[[dataset]]
name = "{name}"
source = "files"
table = "rows.duckdb#{name}"
unit = {{row = true}}
budget = {{zcdp = "100"}}
"""
MAIN = """
user {user};
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


@dataclass
class Front:
    """The site as people see it, and the processes behind it."""

    folder: Path
    url: str
    port: int
    trust: ssl.SSLContext = field(repr=False)
    processes: list[Served] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def ledger(self) -> str:
        """Where the ledger is."""
        return str(self.folder / "ledger.db")

    def start(self, which: int) -> None:
        """Start one of the two (again)."""
        made = Served(self.folder / f"process{which}")
        self.processes[which:which] = [made]
        del self.processes[which + 1 : which + 2]


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in listening]
    for one in listening:
        one.close()
    return ports


def write_certificate(folder: Path) -> ssl.SSLContext:
    """A certificate for 127.0.0.1 with its key, and what a client needs to trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "viameter tests")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return ssl.create_default_context(cafile=folder / "cert.pem")


@contextlib.contextmanager
def fronting(folder: Path) -> Iterator[Front]:
    """Start nginx and both processes."""
    assert NGINX is not None
    ports = free_ports(4)
    trust = write_certificate(folder)
    (folder / "data").mkdir()
    with duckdb.connect(str(folder / "data" / "rows.duckdb")) as made:
        for name in DATASETS:
            made.execute(FILL.format(name=name))
    for which in range(2):
        (folder / f"process{which}").mkdir()
        config = CONFIG.format(port=ports[which], shared=folder) + "".join(DATASET.format(name=n) for n in DATASETS)
        (folder / f"process{which}" / "service.toml").write_text(config)
    site = DEPLOYED.read_text(encoding="utf-8")
    for deployed, here in {
        "127.0.0.1:8321": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8322": f"127.0.0.1:{ports[1]}",
        "listen 80;": f"listen 127.0.0.1:{ports[2]};",
        "listen 443 ssl;": f"listen 127.0.0.1:{ports[3]} ssl;",
        "/etc/viameter/tls": str(folder),
        "/var/log/nginx/": f"{folder}/",
    }.items():
        assert site.count(deployed) == 1 or deployed == "/etc/viameter/tls", deployed
        site = site.replace(deployed, here)
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, user=folder.owner()))
    front = Front(folder, f"https://127.0.0.1:{ports[3]}/privacy", ports[3], trust)
    front.start(0)
    # The second one is told no first token, for there is somebody already.
    shutil.copy(folder / "process0" / "token", folder / "process1" / "token")
    nginx = subprocess.Popen([NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        front.start(1)
        _wait_for(front.port, nginx)
        yield front
    finally:
        nginx.terminate()
        nginx.wait(PATIENCE)
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(Served.kill, front.processes))


def _wait_for(port: int, nginx: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        assert nginx.poll() is None and time.monotonic() < until, "nginx did not start"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
