"""The core language: terms, statements, their text."""
