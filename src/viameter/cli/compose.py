"""Losses in a file, composed: what they come to together, and the theorems behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import viameter as vm
from viameter.arith import extended, write
from viameter.core.conversion import convert
from viameter.errors import FormatError, NumberError, ParameterError
from viameter.measures.records import MEASURES
from viameter.theorem import Explanation

MOST = 10**6
"""How many losses a file may have, times included."""

ADAPTIVITIES = {member.value.replace(" ", "-"): member for member in vm.Adaptivity}


def compose_file(path: str, *, into: str | None, adaptivity: str, delta: str | None, as_json: bool) -> str:
    """The report on the losses of a file, as text."""
    losses = read_losses(path)
    composed = vm.compose_losses(
        losses, into=None if into is None else MEASURES[into], adaptivity=ADAPTIVITIES[adaptivity]
    )
    loss, derivation = composed.loss, composed.derivation
    if delta is not None:
        converted = convert(loss, vm.ApproxDP, delta=delta)
        for step in converted.steps:
            derivation = step.over((derivation,))
        loss = converted.loss
    if as_json:
        slugs = list(dict.fromkeys(node.theorem.slug for node in derivation.nodes()))
        return json.dumps({"losses": len(losses), "loss": loss.to_json(), "theorems": slugs}, indent=2)
    return str(Explanation(f"{len(losses)} mechanisms of these losses are together {loss!r}.", derivation))


def read_losses(path: str) -> list[vm.Loss]:
    """The losses of a file: a list of losses as JSON, each with `times` if it counts more than once."""
    try:
        records: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise FormatError(f"{path} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError):
        raise FormatError(f"{path} is not JSON") from None
    if not isinstance(records, list):
        raise FormatError(f'{path}: expected a list of losses, as in [{{"measure": "pure", "epsilon": "1/10"}}]')
    losses: list[vm.Loss] = []
    for place, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise FormatError(f"{path}: losses[{place}] is not an object")
        times = record.get("times", 1)
        if type(times) is not int or not 1 <= times <= MOST - len(losses):
            raise FormatError(f"{path}: losses[{place}] has times={times!r}: expected 1 or more, {MOST} at most in all")
        try:
            loss = vm.loss_from_json(
                {name: _as_written(name, value) for name, value in record.items() if name != "times"}
            )
        except (FormatError, ParameterError, NumberError) as problem:
            raise FormatError(f"{path}: losses[{place}]: {problem}") from None
        losses += [loss] * times
    if not losses:
        raise FormatError(f"{path} has no losses in it")
    return losses


def _as_written(name: str, value: Any) -> Any:
    """Numbers as people write them, "0.1" or "1e-6", in the form that records keep."""
    if isinstance(value, Mapping):
        return {_as_written("", key): _as_written("", number) for key, number in value.items()}
    if name == "measure" or not isinstance(value, str):
        return value
    return write(extended(value, name=name or "number"))
