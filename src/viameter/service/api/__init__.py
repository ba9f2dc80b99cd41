"""The API under /api/v1: JSON in and out, one shape of errors, tokens in the Authorization header."""
