"""Solving: obligations as questions to z3."""
