"""Watching: structured logs and Prometheus metrics. Neither holds secrets, rows or texts of errors."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

LOGGER = logging.getLogger("viameter.service")


class JsonLines(logging.Formatter):
    """One JSON object a line. Of an exception it says the kind and the places in the code, and not its text."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.msg if record.name == LOGGER.name else _plain_message(record),
        }
        said |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            said |= describe_error(record.exc_info[1])
        return json.dumps(said, default=str)


def _plain_message(record: logging.LogRecord) -> str:
    """What other libraries log: the words that are in their code, and not the values that they put in."""
    return f"{record.name}: {record.msg}" if isinstance(record.msg, str) else record.name


def describe_error(error: BaseException) -> dict[str, Any]:
    """The kind of an error and where it came through; its text may hold anything."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return {
        "error": type(error).__name__,
        "where": [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames],
    }


def set_up_logging(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send what this service and its server log to a stream, as JSON lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (LOGGER.name, "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level if name == LOGGER.name else logging.WARNING)
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with its fields."""
    LOGGER.log(level, event, extra={"fields": fields})


class Metrics:
    """What is counted, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "viameter_requests", "Requests by route and status.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "viameter_request_seconds",
            "How long replies took.",
            ["route"],
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
        )
        self.releases = Counter("viameter_releases", "Releases by how they ended.", ["outcome"], registry=self.registry)
        self.in_flight = Gauge(
            "viameter_questions_in_flight", "Questions that run or wait to run.", registry=self.registry
        )
        self.differences = Gauge(
            "viameter_configuration_differences",
            "In how many words the configuration says something else of a dataset than what is registered.",
            ["dataset"],
            registry=self.registry,
        )

    def text(self) -> bytes:
        """All of them, in the format of Prometheus."""
        return generate_latest(self.registry)
