"""Write the pages that are made from the code: all theorems, and the reference."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import viameter as vm
import viameter.composition.accounting  # registers its theorems
import viameter.logic.running
import viameter.neighborhood
import viameter.tables
from viameter.core import Constructor
from viameter.service.app import api_routes
from viameter.theorem import Theorem, all_theorems


def write_pages(folder: Path) -> None:
    """Write all pages into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "theorems.md").write_text(theorems_page(), encoding="utf-8")
    (folder / "reference.md").write_text(reference_page(), encoding="utf-8")
    (folder / "routes.md").write_text(routes_page(), encoding="utf-8")


def routes_page() -> str:
    """Every route of the service's API, from its own description; it is included in the page about the API."""
    rows = [f"| `{one.method} {one.path}` | {one.action.value} | {_plain(one.says)} |\n" for one in api_routes()]
    return "| route | needs | what it does |\n|---|---|---|\n" + "".join(rows)


def theorems_page() -> str:
    """Every registered theorem: statement, citation, how its numbers are meant, and where the code is."""
    known = all_theorems()
    head = (
        "# Theorems\n\nWhat the numbers rest on. The code of each states the same, computes its bound, and is "
        "tested under its name. *exact*: the bound itself; *outward*: rounded away from zero where it is not a short "
        "rational; *assumed*: somebody vouches for it.\n\n| slug | says | numbers |\n|---|---|---|\n"
    )
    rows = "".join(f"| [{t.slug}](#{t.slug}) | {_plain(t.statement.title)} | {t.numbers.value} |\n" for t in known)
    return head + rows + "".join(map(_theorem, known))


def _theorem(theorem: Theorem) -> str:
    said = theorem.statement
    parts = {"Theorem": said.theorem, "Requires": said.requires, "Ensures": said.ensures, "Proof": said.proof}
    body = "".join(f"**{name}.** {_plain(text)}\n\n" for name, text in parts.items())
    example = f"```pycon\n{said.example}\n```\n\n"
    return (
        f"\n({theorem.slug})=\n## {theorem.slug}\n\n*{_plain(said.title)}.* Numbers: {theorem.numbers.value}.\n\n"
        f"{body}{example}Cites: {theorem.cites}. Code: `{theorem.where}`.\n"
    )


def _plain(text: str) -> str:
    """Text as it stands in a docstring, with the signs that Markdown would read taken literally."""
    return text.replace("|", r"\|").replace("_", r"\_").replace("*", r"\*")


def reference_page() -> str:
    """Every public name with its signature and docstring."""
    head = "# Reference\n\nEverything in `import viameter as vm`.\n"
    return head + "".join(
        _entry(name, getattr(vm, name)) for name in sorted(vm.__all__, key=str.lower) if name[0] != "_"
    )


def _entry(name: str, thing: Any) -> str:
    if inspect.isclass(thing) or callable(thing):
        target = thing.function if isinstance(thing, Constructor) else thing
        signature = f"vm.{name}{_signature(target)}"
        doc = inspect.getdoc(thing) or ""
    else:
        signature, doc = f"vm.{name}", inspect.getdoc(type(thing)) or ""
    return f"\n## {name}\n\n```python\n{signature}\n```\n\n```text\n{doc}\n```\n"


def _signature(target: Any) -> str:
    try:
        return str(inspect.signature(target))
    except ValueError:
        return "(...)"
