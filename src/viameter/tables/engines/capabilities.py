"""What each engine can do: asked before any row is read, so that what cannot be done is refused without a trace."""

from __future__ import annotations

from typing import Final

from viameter.errors import ParameterError

DUCKDB: Final = "duckdb"
POSTGRES: Final = "postgres"
PYSPARK: Final = "pyspark"

ENGINES: Final = (DUCKDB, POSTGRES, PYSPARK)
"""The engines whose ways are known here, by their names in Ibis."""

_FEATURES: Final[dict[str, frozenset[str]]] = {
    "exact sums": frozenset(ENGINES),
    "portable digests": frozenset(ENGINES),
    "native digests": frozenset(ENGINES),
    "public tables": frozenset(ENGINES),
    "windows": frozenset(ENGINES),
    "files": frozenset({DUCKDB, PYSPARK}),
    "frames in place": frozenset({DUCKDB}),
    "share of work done": frozenset({DUCKDB}),
}


def known_engine(engine: str) -> str:
    """The engine's name if its ways are known: on others, whether an error occurs could depend on rows."""
    if engine not in ENGINES:
        raise ParameterError(
            f"the engine {engine!r} is not one whose arithmetic and errors are known here, so that what it gives "
            f"cannot be proved private; expected one of {', '.join(ENGINES)}: for others, export the table to Parquet "
            "and open that"
        )
    return engine


def supports(engine: str, feature: str) -> bool:
    """Whether a known engine has a feature.

    >>> supports("duckdb", "files"), supports("postgres", "files")
    (True, False)
    """
    if feature not in _FEATURES:
        raise ParameterError(f"no feature is named {feature!r}; there are: {', '.join(sorted(_FEATURES))}")
    return known_engine(engine) in _FEATURES[feature]


def require(engine: str, feature: str) -> None:
    """Raise ParameterError if the engine does not have the feature."""
    if not supports(engine, feature):
        those = ", ".join(sorted(_FEATURES[feature]))
        raise ParameterError(f"the engine {engine!r} does not offer {feature}; these do: {those}")
