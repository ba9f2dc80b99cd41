"""The page: server-rendered, with a little script; nothing comes from elsewhere."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from viameter.service.problems import Problem


def add_page(app: FastAPI) -> None:
    """Add the routes of the page."""


def wants_page(request: Request) -> bool:
    """Whether a reply is for people: everything that is not under /api and not for machines."""
    return False


def show_problem(request: Request, problem: Problem) -> Response:
    """What went wrong, as a page."""
    raise NotImplementedError
