"""Service: questions for a team over HTTP, with a page. It adds no second way to spend: sessions charge the ledger.

- `config`: a TOML file. `service`: all parts of a running one. `starting`: `viameter serve`. `app`, `asgi`: the routes.
- `access`: who may do what. `secrets`, `state`, `tables`: people, tokens, grants, datasets; hashes of secrets only.
- `catalog`: datasets that are registered. `desk`: where questions are read, previewed and released.
- `documents`, `problems`: what replies say. `limits`, `watching`: rates; logs and metrics.
- `api`: JSON under /api/v1. `page`: what people see. `programs`: verification of programs that were sent as text.
- `client`: `vm.connect`, with the face of a local table.

FastAPI, SQLAlchemy and the rest are imported by the parts that use them, and not by this package.
"""
