"""Slots: reads of a list of which rows may be added or removed, which only the translation itself makes."""

from __future__ import annotations

import ast


class SlotRead(ast.Subscript):
    """A read of a list of slots under a test that the slot is taken; a user's own read by index is refused."""
