"""nginx for tests: deploy/nginx.conf with other ports and a certificate of its own, in front of services that run."""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ROOT = Path(__file__).parents[2]
SITE = ROOT / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PATIENCE = 60.0
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/replies;
    fastcgi_temp_path {folder}/unused;
    uwsgi_temp_path {folder}/unused;
    scgi_temp_path {folder}/unused;
    include {folder}/site.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """nginx as it runs: where, in plain and with TLS, and whom to trust."""

    plain: str
    url: str
    certificate: Path

    def client(self, **options: object) -> httpx.Client:
        """A client that trusts the certificate and nothing else."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        return httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=PATIENCE, **options)  # type: ignore[arg-type]


def require_nginx() -> str:
    """nginx; where the system's packages are installed for tests, it must be there."""
    if NGINX is None:
        reason = "nginx is missing: scripts/system-packages installs it"
        if os.environ.get("CI") or os.geteuid() == 0:
            pytest.fail(reason)
        pytest.skip(reason)
    return NGINX


def make_certificate(folder: Path) -> Path:
    """A certificate for this machine, and its key beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    today = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    return folder / "cert.pem"


def write_site(folder: Path, services: Sequence[int], *, plain: int, tls: int, forgets: int = 10) -> Path:
    """The configuration with these ports; every place that a test changes must be there, once.

    For so many seconds, nginx asks nothing of a service that did not reply: ten, unless told otherwise.
    """
    text = SITE.read_text()
    changes = {
        **{f"server 127.0.0.1:832{n};": f"server 127.0.0.1:{services[n - 1]} fail_timeout={forgets}s;" for n in (1, 2)},
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{tls} ssl;",
        "/etc/viameter/tls/cert.pem": str(make_certificate(folder)),
        "/etc/viameter/tls/key.pem": str(folder / "key.pem"),
        "/var/log/nginx/viameter.log": str(folder / "site.log"),
    }
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "site.conf").write_text(text)
    (folder / "main.conf").write_text(MAIN.format(folder=folder))
    return folder / "main.conf"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


@contextlib.contextmanager
def proxied(folder: Path, services: Sequence[int], *, forgets: int = 10) -> Iterator[Proxy]:
    """nginx in front of two services at these ports; see `write_site`."""
    program = require_nginx()
    folder.mkdir(parents=True, exist_ok=True)
    plain, tls = free_ports(2)
    main = write_site(folder, services, plain=plain, tls=tls, forgets=forgets)
    process = subprocess.Popen([program, "-p", str(folder), "-c", str(main)], stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", tls), timeout=1):
                break
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            assert time.monotonic() < until, "nginx does not listen"
            time.sleep(0.02)
        yield Proxy(f"http://localhost:{plain}", f"https://localhost:{tls}", folder / "cert.pem")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
