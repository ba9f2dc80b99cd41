"""What goes wrong in an engine: said by its kind alone, since an engine's own words may show rows."""

from __future__ import annotations

from viameter.errors import ParameterError, SourceUnavailable, ViameterError


class UnreadableData(ParameterError):
    """Rows that were looked at when they were opened, and cannot be read as they are.

    It tells of rows: it is for whoever opens them, and nobody else is shown it.
    """


class NoConnection(SourceUnavailable, ParameterError):
    """A server that cannot be reached as it was named: it is down, or the URL is wrong."""


class DataWarning(UserWarning):
    """Values that were looked at when they were opened, and are read as NULL; as UnreadableData, it tells of rows."""


class EngineError(ViameterError, RuntimeError):
    """A query failed in its engine. `kind` names the engine's error; its text, which may show rows, is not kept.

    That it was raised may itself depend on rows: whoever runs a query for others seals this error.
    """

    def __init__(self, engine: str, kind: str, hint: str = "") -> None:
        self.engine, self.kind = engine, kind
        text = f"the query failed in {engine} ({kind}); what the engine said may show rows, and is not shown"
        super().__init__(f"{text}; {hint}" if hint else text)


class ConnectionLost(EngineError):
    """The engine is gone: its server was stopped, or the connection to it was cut."""

    def __init__(self, engine: str, kind: str) -> None:
        super().__init__(engine, kind, "the connection is lost: open the source again when the server is up")
