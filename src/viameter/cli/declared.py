"""A TOML file that declares a granularity, cuts, leaves, and perhaps a claim: read into what the library composes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import FormatError
from viameter.neighborhood.declared import (
    MOST,
    Reader,
    Written,
    at_place,
    list_of,
    nearest,
    number,
    read_amount,
    read_cut,
    read_granularity,
    read_keys,
    read_loss,
    read_part,
    refuse,
    table_of,
    text,
)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a file says."""

    granularity: nb.Granularity
    leaves: tuple[nb.Leaf, ...]
    claim: vm.Loss | None


def read_declared(path: str) -> Declared:
    """Read a file; FormatError says what is wrong where."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Written)
    except OSError as problem:
        raise FormatError(f"{path} cannot be read: {problem.strerror}") from None
    except RecursionError:
        raise FormatError(f"{path} is not TOML that can be read: it is nested too deep") from None
    except ValueError as problem:
        raise FormatError(f"{path} is not TOML: {problem}") from None
    try:
        return _read(content)
    except FormatError as problem:
        raise FormatError(f"{path}: {problem}") from None


def _read(content: dict[str, Any]) -> Declared:
    optional = {"cuts": table_of(partial(read_cut, progress=_say)), "claim": _read_claim}
    # Leaves are read when cuts are known.
    given = read_keys(content, "", {"granularity": read_granularity, "leaves": list_of(_as_it_is)}, optional)
    cuts = given.get("cuts", {})
    leaves: list[nb.Leaf] = []
    for at, table in enumerate(given["leaves"]):
        leaves += _read_leaves(table, f"leaves[{at}]", cuts)
        if len(leaves) > MOST:
            raise FormatError(f"more than {MOST} leaves")
    if not leaves:
        raise FormatError("leaves = [] says nothing: declare at least one, under [[leaves]]")
    return Declared(given["granularity"], tuple(leaves), given.get("claim"))


def _say(line: str) -> None:
    """A line on how a long search goes, apart from the report."""
    click.echo(line, err=True)


def _as_it_is(value: Any, where: str) -> Any:
    return value


def _read_claim(table: Any, where: str) -> vm.Loss:
    claim: vm.Loss = read_keys(table, where, {"loss": read_loss}, {})["loss"]
    return claim


def _read_leaf_loss(value: Any, where: str) -> Any:
    """A loss, losses by number of steps, or losses by class of people."""
    if isinstance(value, dict) and len(value) == 1:
        [(key, inner)] = value.items()
        if key in ("steps", "classes"):
            listed = table_of(read_loss)(inner, f"{where}.{key}")
            if not listed:
                raise refuse(inner, f"{where}.{key}", "at least one loss")
            if key == "classes":
                return listed
            if any(not (steps.isascii() and steps.isdigit()) for steps in listed):
                raise refuse(inner, f"{where}.steps", "whole numbers of steps as keys")
            by_steps = {int(steps): loss for steps, loss in listed.items()}
            if len(by_steps) < len(listed) or len({loss.measure for loss in by_steps.values()}) > 1:
                raise refuse(inner, f"{where}.steps", "each number of steps once, with losses of one measure")
            return by_steps
    return read_loss(value, where)


def _read_mode(value: Any, where: str) -> str:
    if value not in ("separate", "common"):
        raise refuse(value, where, '"separate" or "common"')
    return str(value)


_OF_A_LOSS: Mapping[str, Reader] = {"mode": _read_mode, "granularity": read_granularity}


def _read_also(value: Any, where: str) -> dict[str, Any]:
    return read_keys(value, where, {"loss": _read_leaf_loss}, _OF_A_LOSS)


_OF_LEAVES: Mapping[str, Reader] = {
    "part": _as_it_is,
    "parts": _as_it_is,
    "loss": _read_leaf_loss,
    "losses": list_of(_as_it_is),
    "measure": text,
    "stability": number,
    "also": list_of(_read_also),
    **_OF_A_LOSS,
}


def _read_leaves(table: Any, where: str, cuts: Mapping[str, nb.Cut]) -> list[nb.Leaf]:
    """The leaves of one table: one for each part that it names."""
    given = read_keys(table, where, {"cut": text}, _OF_LEAVES)
    cut = _find_cut(given["cut"], where, cuts)
    parts = _find_parts(given, where, cut)
    known = {key: given[key] for key in _OF_A_LOSS if key in given}
    with at_place(where):
        if "stability" in given:
            parts = [part.then(stability=given["stability"]) for part in parts]
        losses = _losses(given, where, len(parts))
        made: dict[int, nb.Leaf] = {}  # leaves with the same loss share what is known of it
        leaves = []
        for part, loss in zip(parts, losses, strict=True):
            if id(loss) not in made:
                leaf = nb.leaf(part, loss, **known)
                for more in given.get("also", ()):
                    leaf = leaf.also(**more)
                made[id(loss)] = leaf
            leaves.append(replace(made[id(loss)], part=part))
    return leaves


def _losses(given: Mapping[str, Any], where: str, size: int) -> list[Any]:
    if ("loss" in given) == ("losses" in given):
        raise FormatError(f"{where}: give either `loss`, or `losses` with `measure`: one for each part")
    if "loss" in given:
        if "measure" in given:
            raise FormatError(f'{where}: `measure` goes with `losses`; a loss names its own, as {{ pure = "0.1" }}')
        return [given["loss"]] * size
    if "measure" not in given:
        raise FormatError(f"{where}: the key 'measure' is missing: `losses` are numbers of one, as \"pure\"")
    listed = given["losses"]
    if len(listed) != size:
        raise FormatError(f"{where}: there are {len(listed)} losses for {size} parts: give one for each")
    return [read_amount(given["measure"], amount, f"{where}.losses[{at}]") for at, amount in enumerate(listed)]


def _find_cut(name: str, where: str, cuts: Mapping[str, nb.Cut]) -> nb.Cut:
    if name in cuts:
        return cuts[name]
    if name == "whole":
        return nb.whole().cut
    raise FormatError(f"{where}.cut = {name!r} is not declared under [cuts]: {nearest(name, [*cuts, 'whole'])}")


def _find_parts(given: Mapping[str, Any], where: str, cut: nb.Cut) -> list[nb.Part]:
    if "part" in given and "parts" in given:
        raise FormatError(f"{where}: give either `part` or `parts`, not both")
    if "part" in given:
        return [cut[read_part(cut, given["part"], f"{where}.part")]]
    if "parts" not in given:
        if len(cut) == 1:
            return list(cut)
        raise FormatError(f"{where}: the key 'part' is missing (or `parts`, a list or \"all\"): the cut has {len(cut)}")
    parts = given["parts"]
    if parts == "all":
        return list(cut)
    if not isinstance(parts, list) or not parts:
        raise refuse(parts, f"{where}.parts", '"all", or a list of parts')
    return [cut[read_part(cut, part, f"{where}.parts[{at}]")] for at, part in enumerate(parts)]
