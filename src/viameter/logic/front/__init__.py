"""The front end: from a typed Python function, or the slides' while language, to a core program and its adjacency."""
