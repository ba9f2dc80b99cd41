"""Forms: what was typed into one, held to limits, and taken only from a page of whoever is signed in."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from viameter.service.api.needing import GUARD, require_guard
from viameter.service.problems import Problem

MOST_FIELDS = 2000
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Control characters: nobody types them, and databases refuse some of them."""


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form with their values, in order; a name may be there several times."""

    fields: tuple[tuple[str, str], ...] = ()

    def text(self, name: str) -> str:
        """What was typed; empty if the field is not there. Lines end with a newline alone."""
        return next(iter(self.all(name)), "")

    def word(self, name: str) -> str:
        """What was typed, without spaces around it."""
        return self.text(name).strip()

    def all(self, name: str) -> list[str]:
        """All values of a name, such as those of boxes that were ticked."""
        return [value for field, value in self.fields if field == name]

    def __contains__(self, name: str) -> bool:
        return any(field == name for field, _ in self.fields)


async def read_form(request: Request) -> Form:
    """The form in the body of a request; refused if it does not carry the guard."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "malformed", "a form of this page was expected")
    form = parse_form(await request.body())
    require_guard(request, form.text(GUARD))
    return form


def parse_form(body: bytes) -> Form:
    """The fields of a form as browsers send them.

    >>> parse_form(b"why=a+b%26c&box=1&box=2").all("box")
    ['1', '2']
    """
    try:
        pairs = urllib.parse.parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:  # other bytes, no UTF-8, or too many fields
        raise Problem(400, "malformed", f"expected a form of at most {MOST_FIELDS} fields in UTF-8") from None
    fields = tuple((name, value.replace("\r\n", "\n").replace("\r", "\n")) for name, value in pairs)
    if any(_UNSEEN.search(text) for field in fields for text in field):
        raise Problem(400, "malformed", "a field has control characters: type it again")
    return Form(fields)


Sent = Annotated[Form, Depends(read_form)]
"""The form that was sent, as an argument of a route that stands behind the one of who is signed in."""
