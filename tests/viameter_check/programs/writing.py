"""Certificates of programs, written by hand: hashes, lines and trees are made here from the text alone."""

import hashlib
import json
from typing import Any

from viameter_check.programs import ProgramReport, check_program

Json = dict[str, Any]


def at(text: str, start: str, nth: int = 0) -> str:
    """The number of the line that starts with these words, as certificates write it."""
    found = [n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith(start)]
    return str(found[nth])


def sealed(document: Json) -> Json:
    """The document with the hashes that fit."""
    content = {name: value for name, value in document.items() if name != "digest"}
    if isinstance(content.get("program"), str):
        content["sha256"] = hashlib.sha256(content["program"].encode(errors="replace")).hexdigest()
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {**content, "digest": hashlib.sha256(canonical.encode()).hexdigest()}


def neighbors(private: list[str], *facts: str, each: Any = (), constants: Any = (), says: str = "near") -> Json:
    """An adjacency."""
    return {
        "says": says,
        "private": private,
        "constants": list(constants),
        "facts": list(facts),
        "each": [list(entry) for entry in each],
    }


def proof(text: str, near: Json, **parts: Any) -> Json:
    """A proof with its tree; `units` may give numbers alone."""
    units = {
        base: {"number": n, "factors": []} if isinstance(n, int) else n for base, n in parts.pop("units", {}).items()
    }
    pointwise, split = parts.pop("pointwise", False), parts.pop("split", [])
    return {
        "neighbors": near,
        "moves": parts.pop("moves", []),
        "text": text,
        "units": units,
        "pointwise": pointwise,
        "shifts": parts.pop("shifts", {}),
        "bounds": parts.pop("bounds", {}),
        "split": split,
        "invariants": parts.pop("invariants", {}),
        "variants": parts.pop("variants", {}),
        "tree": tree(text, split, pointwise=pointwise),
        "obligations": [],
        **parts,
    }


def certificate(text: str, claim: Json | str, *proofs: Json, mechanisms: Json | None = None) -> Json:
    """A certificate; a claim that is text is one of pure privacy."""
    return sealed({
        "format": "viameter program certificate",
        "version": 1,
        "program": text,
        "claim": {"measure": "pure", "amount": claim} if isinstance(claim, str) else claim,
        "mechanisms": mechanisms or {},
        "noise": "exact discrete noise on the integers",
        "proofs": list(proofs),
    })  # fmt: skip


def tree(text: str, split: list[int], *, pointwise: bool) -> Json:
    """The tree that the text asks for, by its lines."""
    lines = [line.strip() for line in text.splitlines()]
    place = lines.index("begin") + 1

    def block() -> Json:
        nonlocal place
        nodes = []
        while lines[place] not in ("end", "else"):
            node = statement()
            nodes += [node] if node else []
        if len(nodes) == 1:
            return nodes[0]
        return {"rule": "seq", "line": nodes[0]["line"], "premises": nodes} if nodes else leaf("skip", 0)

    def leaf(rule: str, line: int, *premises: Json) -> Json:
        return {"rule": rule, "line": line, "premises": list(premises)}

    def statement() -> Json | None:
        nonlocal place
        words, line = lines[place], place + 1
        place += 1
        if words.startswith("if "):
            then, orelse = block(), leaf("skip", 0)
            if lines[place] == "else":
                place += 1
                orelse = block()
            place += 1
            return leaf("cond-split" if line in split else "cond", line, then, orelse)
        if words.startswith("while "):
            body = block()
            place += 1
            return leaf("while", line, body)
        if ":=$" in words:
            law = words.split(":=$ ")[1].split("(")[0].split(" ")[0]
            names = {"lap": "laplace", "expo": "exponential", "gauss": "gaussian"}
            return leaf(names.get(law, law), line)
        if words == "skip":
            return None
        return leaf("append" if words.startswith("append(") else "assign", line)

    return leaf("pointwise" if pointwise else "equality", 0, block())


NEAR = neighbors(["q"], "abs(q<1> - q<2>) <= 1")


def straight(
    body: str, *, claim: Json | str = "eps", near: Json = NEAR, header: str = "input q: int", **parts: Any
) -> Json:
    """A certificate for a program without loops; `shifts` are listed from the first draw on."""
    lines = "".join(f"  {line}\n" for line in body.split("\n"))
    text = f"program it\n{header}\nbudget eps\nbegin\n{lines}end\nreturn result\n"
    draws = [str(n) for n, line in enumerate(text.splitlines(), 1) if ":=$" in line]
    shifts = dict(zip(draws, parts.pop("shifts", []), strict=False))
    return certificate(text, claim, proof(text, near, **{"units": {"eps": 1}, "shifts": shifts, **parts}))


def changed(document: Json, *changes: tuple[tuple[Any, ...], Any]) -> Json:
    """A copy with other values at some paths, and the hashes that fit."""
    forged = json.loads(json.dumps(document))  # no two places share a value
    for path, value in changes:
        inner: Any = forged
        for part in path[:-1]:
            inner = inner[part]
        inner[path[-1]] = value
    return sealed(forged)


def refused(document: Any) -> tuple[str, str]:
    """The place and the message of the first failure."""
    report: ProgramReport = check_program(document)
    assert not report.ok, report
    assert report.statement == "" and report.loss is None and report.obligations == ()
    return report.failures[0].path, report.failures[0].message
