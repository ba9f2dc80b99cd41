"""Hypothesis without deadlines: the machine is shared, and no test asserts a time."""

from hypothesis import settings

settings.register_profile("viameter", deadline=None, print_blob=True)
settings.load_profile("viameter")
