"""What coordinator and worker say to one another: one JSON object a line, a reply for every request."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

__all__ = ["Description", "Prepared", "Reply", "Request", "Timed", "decode", "encode"]


@dataclass(frozen=True)
class Request:
    """What the coordinator asks for.

    `describe` tells the versions of `libraries`; `prepare` and `time` are about a case and a variant, given by their
    positions; `forget` drops what was prepared, so that one case does not weigh on the memory of the next.
    """

    do: Literal["describe", "prepare", "time", "forget"]
    case: int = 0
    variant: int = 0
    loops: int = 1
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What the worker answers: `result`, or why there is none.

    `absent` says that the variant does not exist in this environment, which is no error.
    """

    outcome: Literal["done", "absent", "failed"]
    message: str = ""
    result: dict[str, Any] | None = None


Message = TypeVar("Message", Request, Reply)


@dataclass(frozen=True)
class Description:
    """The result of `describe`: the Python of the environment, and the versions of the libraries found in it."""

    python: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Prepared:
    """The result of `prepare`: how many loops a timing needs, and what the first call returned and used."""

    loops: int
    digest: list[float]
    peak_growth: int | None


@dataclass(frozen=True)
class Timed:
    """The result of `time`."""

    seconds_per_call: float


def encode(message: Request | Reply) -> str:
    """A message as one line."""
    return json.dumps(asdict(message)) + "\n"


def decode(kind: type[Message], line: str) -> Message:
    """The message that a line holds."""
    return kind(**json.loads(line))
