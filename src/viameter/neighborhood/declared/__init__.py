"""Granularities, cuts and losses as a file declares them: plain values of TOML or JSON, read with the place of each."""

from viameter.neighborhood.declared.kinds import read_cut, read_granularity, read_part
from viameter.neighborhood.declared.losses import read_amount, read_loss
from viameter.neighborhood.declared.values import (
    MOST,
    Reader,
    Written,
    at_place,
    list_of,
    nearest,
    number,
    read_keys,
    refuse,
    table_of,
    text,
)

__all__ = [
    "MOST",
    "Reader",
    "Written",
    "at_place",
    "list_of",
    "nearest",
    "number",
    "read_amount",
    "read_cut",
    "read_granularity",
    "read_keys",
    "read_loss",
    "read_part",
    "refuse",
    "table_of",
    "text",
]
