"""Where entries are kept: in memory, in a SQLite file, on a PostgreSQL server.

- `base`: what a store does. `memory`: one that ends with its process.
- `sql`: the one implementation over SQLAlchemy Core. `tables`: its tables. `dialects`: what must differ.
"""
