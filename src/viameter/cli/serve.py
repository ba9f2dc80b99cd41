"""`viameter serve`: a service from a configuration file, or from what comes with the package."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from viameter.errors import FormatError, ViameterError

Say = Callable[[str], None]
MISSING = "the service needs more packages ({}): pip install 'viameter[service]'"


def run(
    say: Say,
    *,
    config: str | None,
    folder: str | None,
    host: str | None,
    port: int | None,
    new_admin_token: bool,
    to: str | None,
    checks: bool,
) -> None:
    """Serve, or do one of the smaller things that the options ask for."""
    if config is not None and folder is not None:
        raise FormatError("--folder is for a service without a configuration; [storage] says where files are kept")
    try:
        from viameter.service import starting
        from viameter.service.bundled import FOLDER, bundled_config
        from viameter.service.config import read_config
    except ModuleNotFoundError as missing:
        raise ViameterError(MISSING.format(missing.name)) from None
    if to is not None and not new_admin_token:
        raise FormatError("--to FILE says where --new-admin-token writes the token; give both")
    if new_admin_token and config is None and not Path(folder or FOLDER).is_dir():
        raise FormatError(f"there is no service in the folder {folder or FOLDER}: name its --config or --folder")
    found = bundled_config(folder or FOLDER) if config is None else read_config(config)
    server = found.server
    found = replace(found, server=replace(server, host=host or server.host, port=server.port if port is None else port))
    if new_admin_token:
        made = starting.new_admin_token(found, None if to is None else Path(to), shows=sys.stdout.isatty())
        told = f"in {made}" if isinstance(made, Path) else f"this one, which is shown once:\n\n  {made}\n"
        say(f"the old tokens of admin are worthless; a new one is {told}")
    elif checks:
        starting.serve_and_check(found, say)
    else:
        starting.serve(found, say)


def show_page(say: Say) -> None:
    """The end of the tour: a page that somebody can use; where nobody is at a terminal, that it answers."""
    say("\n10. The same for a team: a service with a page, a ledger of its own, and the same theorems.\n")
    try:
        from viameter.service import starting
        from viameter.service.bundled import FOLDER, bundled_config
    except ModuleNotFoundError as missing:
        say(f"   ({missing.name} is not installed: pip install '.[service]')")
        return
    if sys.stdout.isatty() and sys.stdin.isatty():
        starting.serve(bundled_config(FOLDER), say)
        return
    with tempfile.TemporaryDirectory() as folder:
        starting.serve_and_check(bundled_config(folder, port=0), lambda text: say(f"   {text}"), sign_in=True)
