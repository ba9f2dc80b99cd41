"""Losses in a file, composed: what they come to together, and the theorems behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import viameter as vm
from viameter.core.conversion import convert
from viameter.errors import FormatError, ParameterError
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
            loss = vm.loss_from_json({name: value for name, value in record.items() if name != "times"})
        except (FormatError, ParameterError) as problem:
            raise FormatError(f"{path}: losses[{place}]: {problem}") from None
        losses += [loss] * times
    return losses
