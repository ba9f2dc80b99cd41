"""Configuration: a TOML file, read once at the start; whatever is wrong with it is said before anything is served."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from viameter.arith.rationals import exact
from viameter.errors import FormatError, NumberError, plain
from viameter.tables.engines import Engine, engines

T = TypeVar("T")
FOLDER = "folder"
"""What a source is called in a configuration that is a folder of files."""
SIZES = {"KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, and how it is reached."""

    host: str = "127.0.0.1"
    port: int = 8321
    prefix: str = ""
    """The path under which a reverse proxy serves it, such as "/privacy"."""
    https: bool = False
    """Whether people reach it by HTTPS (a proxy does that): cookies are then sent by no other way."""
    trusted_proxies: str = ""
    """Addresses of proxies, with commas between, that are believed what they say of whom they speak for."""
    title: str = "viameter"
    shutdown_seconds: int = 30
    """How long questions in flight are waited for when it is told to stop; what takes longer stays charged."""


@dataclass(frozen=True, slots=True)
class Storage:
    """Where spending and the service's own tables are kept: paths (SQLite), or PostgreSQL URLs."""

    ledger: str = field(default="ledger.db", repr=False)
    state: str = field(default="service.db", repr=False)
    witness: str | None = None
    signing_key: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A place whose tables may be registered: a folder of files, or what an engine reaches."""

    name: str
    value: str = field(repr=False)
    """The path of the folder, or the setting of the engine."""
    engine: Engine | None = None
    """What reaches it; None for a folder."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, one person, and all together may take."""

    body_bytes: int = 256 * 1024
    seconds: float = 60.0
    """How long a question may run; what takes longer fails, and stays charged."""
    queries: int = 4
    """How many questions of one dataset run at once, of which its engine answers one at a time; others wait."""
    waiting: int = 100
    """How many may wait for one dataset; more are told to come back."""
    least_share: str = "1/1000000"
    """Which part of a dataset's budget a question must spend at least: budgets are not to be spent in crumbs."""
    memory: str = "1GB"
    """What an engine within this process may use for one dataset."""
    cache: str = "64MB"
    """Files up to this size are read into memory when first asked; changes of them are seen after a restart."""
    requests_per_minute: int = 1200
    releases_per_minute: int = 120
    logins_per_minute: int = 10
    verifications: int = 1
    """How many submitted programs are verified at once."""
    verify_seconds: float = 20.0
    token_days: int = 90
    login_hours: int = 12


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset that is registered at the start, if it is not there yet."""

    name: str
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Config:
    """All of it."""

    server: Server = field(default_factory=Server)
    storage: Storage = field(default_factory=Storage)
    limits: Limits = field(default_factory=Limits)
    sources: Mapping[str, Source] = field(default_factory=dict)
    datasets: tuple[Dataset, ...] = ()
    open_metrics: bool = False
    """Whether /metrics needs no token."""


def read_config(path: str | Path, *, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration in a file; paths in it are meant from where the file is.

    A text that starts with `env:` is the value of that environment variable, so that passwords need not be in a file.
    """
    return _read(path, lambda document: config_of(document, folder=Path(path).parent, environment=environment))


def read_storage(path: str | Path, *, environment: Mapping[str, str] | None = None) -> Storage:
    """Where the ledger of a service is, by its configuration; nothing else of it need be here, such as the data."""
    values = _Values(Path(path).parent, os.environ if environment is None else environment)
    return _read(path, lambda document: _storage(document, values))


def _read(path: str | Path, read: Callable[[Mapping[str, Any]], T]) -> T:
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise FormatError(f"{path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"{path} is not TOML: {problem}") from None
    try:
        return read(document)
    except FormatError as problem:
        raise FormatError(f"{path}: {problem}") from None


def config_of(
    document: Mapping[str, Any], *, folder: Path = Path(), environment: Mapping[str, str] | None = None
) -> Config:
    """The configuration that a document says.

    >>> config_of({"server": {"port": 9000}, "limits": {"seconds": 10}}).server.port
    9000
    """
    known = {"server", "storage", "limits", "sources", "dataset", "metrics"}
    _refuse_unknown(document, known, "the file")
    values = _Values(folder, os.environ if environment is None else environment)
    made = Config(
        server=_section(Server, document.get("server", {}), "server", values),
        storage=_storage(document, values),
        limits=_section(Limits, document.get("limits", {}), "limits", values),
        sources=_sources(document.get("sources", {}), values),
        datasets=_datasets(document.get("dataset", []), values),
        open_metrics=_metrics(document.get("metrics", {})),
    )
    _check(made)
    return made


class _Values:
    """Values as they are meant: environment variables looked up, paths seen from the file."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def text(self, value: Any, where: str) -> Any:
        if isinstance(value, str) and value.startswith("env:"):
            name = value.removeprefix("env:")
            if not self.environment.get(name):
                raise FormatError(f"{where}: the environment variable {name} is not set")
            return self.environment[name]
        return value

    def place(self, value: str) -> str:
        return value if "://" in value or Path(value).is_absolute() else str(self.folder / value)


def _storage(document: Mapping[str, Any], values: _Values) -> Storage:
    written = _section(Storage, document.get("storage", {}), "storage", values)
    return Storage(
        ledger=values.place(written.ledger),
        state=values.place(written.state),
        witness=None if written.witness is None else values.place(written.witness),
        signing_key=None if written.signing_key is None else values.place(written.signing_key),
    )


def _section(kind: Callable[..., Any], given: Any, name: str, values: _Values) -> Any:
    if not isinstance(given, Mapping):
        raise FormatError(f"[{name}] is a section of names with values")
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    _refuse_unknown(given, set(known), f"[{name}]")
    made = {}
    for word, written in given.items():
        value = values.text(written, f"[{name}] {word}")
        wanted = str(known[word].type)
        fits = {
            "str": isinstance(value, str),
            "str | None": isinstance(value, str),
            "bool": isinstance(value, bool),
            "int": isinstance(value, int) and not isinstance(value, bool),
            "float": isinstance(value, int | float) and not isinstance(value, bool),
        }
        if not fits[wanted]:
            words = {"str": "text", "str | None": "text", "bool": "true or false", "int": "a whole number"}
            raise FormatError(f"[{name}] {word}={plain(written)}: expected {words.get(wanted, 'a number')}")
        made[word] = value
    return kind(**made)


def _sources(given: Any, values: _Values) -> dict[str, Source]:
    kinds = {engine.setting: engine for engine in engines() if engine.setting}
    if not isinstance(given, Mapping):
        raise FormatError(f"[sources.NAME] is a section with one of {', '.join((FOLDER, *kinds))}")
    found = {}
    for name, written in given.items():
        where = f"[sources.{name}]"
        if not re.fullmatch(NAME, name):
            raise FormatError(f"{where}: a name has letters, digits, '_', '-' and '.', at most 64")
        if not isinstance(written, Mapping) or len(written) != 1:
            like = "".join(f', {kind} = "{engine.setting_like}"' for kind, engine in kinds.items())
            raise FormatError(f'{where}: expected one of {FOLDER} = "data"{like}')
        _refuse_unknown(written, {FOLDER, *kinds}, where)
        ((kind, value),) = written.items()
        text = values.text(value, f"{where} {kind}")
        if not isinstance(text, str) or not text:
            raise FormatError(f"{where} {kind}: expected text")
        engine = kinds.get(kind)
        if engine is not None and not text.startswith(engine.setting_starts):
            raise FormatError(f"{where} {kind}: expected {engine.setting_like}")
        if engine is None:
            text = values.place(text)
            if not Path(text).is_dir():
                raise FormatError(f"{where}: there is no folder {text}")
            if re.search(PATTERN, str(Path(text).resolve())):
                raise FormatError(
                    f"{where}: the real path of {text} has one of * ? [ ], which engines take for a pattern of several "
                    "files: rename the folder"
                )
        found[name] = Source(name, text, engine)
    return found


def _datasets(given: Any, values: _Values) -> tuple[Dataset, ...]:
    if not isinstance(given, list) or not all(isinstance(one, Mapping) and "name" in one for one in given):
        raise FormatError("[[dataset]] needs a name, a source, a unit and a budget")
    return tuple(Dataset(str(one["name"]), {key: one[key] for key in one if key != "name"}) for one in given)


def _metrics(given: Any) -> bool:
    if not isinstance(given, Mapping):
        raise FormatError("[metrics] is a section of names with values")
    _refuse_unknown(given, {"open"}, "[metrics]")
    found = given.get("open", False)
    if not isinstance(found, bool):
        raise FormatError("[metrics] open: expected true or false")
    return found


NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
"""What datasets, sources and people are called: nothing that means something in a path, a page or a query."""

PATTERN = r"[*?\[\]]"
"""What engines take in a path for a pattern of several files."""


def read_size(written: str, where: str) -> int:
    """A number of bytes, as in "512MB" or "1GiB"."""
    found = re.fullmatch(r"([0-9]{1,6}) ?([KMG]i?B)", written)
    if found is None:
        raise FormatError(f"{where}={plain(written)}: expected a size such as 512MB or 1GiB")
    return int(found[1]) * SIZES[found[2]]


def read_share(written: str, where: str) -> Fraction:
    """A part of a whole, exactly, as in "1/1000000" or "0.001"; "0" is none of it."""
    try:
        found = exact(written, name=where)
    except NumberError as problem:
        raise FormatError(f"{problem}: expected a part of 1, such as 1/1000000") from None
    if not 0 <= found < 1:
        raise FormatError(f"{where}={plain(written)}: expected a part of 1, such as 1/1000000")
    return found


def _check(config: Config) -> None:
    server, limits = config.server, config.limits
    if not 0 <= server.port <= 65535:
        raise FormatError(f"[server] port={server.port}: expected 0 to 65535")
    if server.prefix and not re.fullmatch(r"(/[A-Za-z0-9_.~-]+)+", server.prefix):
        raise FormatError(
            f"[server] prefix={plain(server.prefix)}: expected a path such as /privacy, with no / at its end"
        )
    read_share(limits.least_share, "[limits] least_share")
    read_size(limits.memory, "[limits] memory")
    read_size(limits.cache, "[limits] cache")
    for one in fields(Limits):
        value = getattr(limits, one.name)
        if isinstance(value, int | float) and not 0 < value < 2**40:
            raise FormatError(f"[limits] {one.name}={value}: expected a number above 0")
    for name, most in (("token_days", 36_500), ("login_hours", 8_760)):
        if getattr(limits, name) > most:
            raise FormatError(f"[limits] {name}={getattr(limits, name)}: expected at most {most}")
    if server.shutdown_seconds < 0:
        raise FormatError(f"[server] shutdown_seconds={server.shutdown_seconds}: expected a number of at least 0")


def _refuse_unknown(given: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(str(word) for word in set(given) - known)
    if unknown:
        raise FormatError(f"{where} has an unknown name {plain(unknown[0])}; known are {', '.join(sorted(known))}")
