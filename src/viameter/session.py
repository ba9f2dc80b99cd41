"""Deprecated: what was here is in `viameter.tables`."""

from viameter._moved import moved

__getattr__ = moved(__name__)
