"""Slots: reads of a list of which rows may be added or removed, which only the translation itself makes."""

from __future__ import annotations

import ast


class SlotRead(ast.Subscript):
    """A read of a list of slots under a test that the slot is taken; a user's own read by index is refused."""


class Builtin(ast.Name):
    """A name that the translation itself wrote, `len`: what Python has under it, whatever the program calls so."""
