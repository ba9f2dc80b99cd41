"""Each version of the schema, as the step that leads to it."""
