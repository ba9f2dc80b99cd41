"""`viameter ledger`: budgets that many processes share. What it does is imported when it is called."""

from __future__ import annotations

import functools
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Witness = str | bool

RENEWALS = ["day", "week", "month", "quarter", "year", "rows"]
RULES = ["concentrated", "advanced"]
PICTURES = (".png", ".svg", ".pdf")
OF_LEDGERS = {"rich", "sqlalchemy", "alembic"}
"""Packages that the extra `ledger` brings."""


class Refused(click.ClickException):
    """An error of one line: it cannot be done."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        from viameter.cli.ledger_values import one_line

        super().__init__(one_line(" ".join(message.splitlines())))


class Wrong(Refused):
    """Something was found wrong with a ledger."""

    exit_code = 1


CONFIGURED = "(the ledger of --config)"
"""What stands for LOCATION until it is read from a configuration; a URL with a password is in no message of usage."""


class LedgerCommand(click.Command):
    """A command on a ledger: at LOCATION, or that of a service by its `--config`, with its witness and signing key."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        help = "The ledger of a service, with its witness and key, by its configuration; LOCATION is left out then."
        self.params.append(click.Option(["--config"], metavar="SERVICE.toml", help=help, expose_value=False))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read arguments; with a configuration, the place of LOCATION is taken by what it says."""
        config = _option(args, "--config")
        if config is None:
            return super().parse_args(ctx, args)
        from viameter.service.config import read_storage

        storage = read_storage(config)
        names = [one.name for one in self.params if isinstance(one, click.Argument)]
        at = 0 if names[0] == "location" else len(args)  # the last one of `restore`, else the first
        ctx.default_map = {
            "witness": None if "--no-witness" in args else storage.witness,
            "sign_with": storage.signing_key,
            "public_key": _public_key(storage.signing_key),
        }
        rest = super().parse_args(ctx, [*args[:at], CONFIGURED, *args[at:]])
        ctx.params["location"] = storage.ledger
        return rest


def _option(args: list[str], name: str) -> str | None:
    """The value of an option among arguments that were not read yet."""
    for number, word in enumerate(args):
        if word == "--":
            return None
        if word == name and number + 1 < len(args):
            return args[number + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _public_key(signing_key: str | None) -> str | None:
    """The public half of a service's key, for whoever may read the key."""
    from viameter.errors import ViameterError
    from viameter.ledger import SigningKey

    try:
        return None if signing_key is None else SigningKey.read(signing_key).public
    except (OSError, ViameterError):
        return None


class LedgerGroup(click.Group):
    """Commands whose errors are one line each."""

    command_class = LedgerCommand

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        from viameter.errors import LedgerBehind, LedgerTampered, ViameterError

        try:
            return super().invoke(ctx)
        except (LedgerTampered, LedgerBehind) as problem:
            raise Wrong(str(problem)) from None
        except ViameterError as problem:
            raise Refused(str(problem)) from None
        except ModuleNotFoundError as problem:
            missing = str(problem.name).partition(".")[0]
            if missing not in OF_LEDGERS:
                raise
            raise Refused(f"ledgers need {missing}: pip install 'viameter[ledger]'") from None
        except KeyboardInterrupt:
            click.echo("interrupted; what was charged stays charged", err=True)
            raise SystemExit(130) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # of the command line itself; a reader of the output that went away, too
        except Exception:
            # Not with 1, as Python would: that says that something is wrong with the ledger.
            traceback.print_exc()
            raise SystemExit(2) from None


def _example(*lines: str) -> str:
    """Lines below the options of a command, each left as it is."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])


@click.group(
    cls=LedgerGroup,
    epilog=_example(
        "viameter ledger init budget.db",
        'viameter ledger define budget.db visits --budget "zcdp 1/2" --unit "per patient" --why "decided in May"',
        "viameter ledger show budget.db",
    ),
)
def ledger() -> None:
    """Keep budgets that many processes share, and that no crash, copy or retry gives back.

    LOCATION is a path (SQLite) or a URL (postgresql://user@host/database); of a service, --config SERVICE.toml says it,
    and LOCATION is left out. Exit code 0; 1 if a ledger was changed or
    lost entries; 2 if it cannot be done.
    """


def _beside(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say where the witness is: a path, True for where it is looked for, False for none."""

    @functools.wraps(command)
    def run(*, witness: str | None, no_witness: bool, **given: Any) -> None:
        if witness is not None and no_witness:
            raise click.UsageError("give either --witness or --no-witness")
        command(witness=(not no_witness) if witness is None else witness, **given)

    path = click.option("--witness", metavar="PATH", help="The witness, if it is not where it is looked for.")
    none = click.option("--no-witness", is_flag=True, help="Do without one: an older copy is not noticed.")
    return path(none(run))


def _writing(command: Callable[..., None]) -> Callable[..., None]:
    """Options of commands that write."""
    key = click.option(
        "--sign-with", metavar="KEY.pem", help="The key of a ledger whose heads are signed; else $VIAMETER_LEDGER_KEY."
    )
    by = click.option("--by", metavar="NAME", help="Who does it; else the user of this system.")
    return _beside(key(by(command)))


def _open(location: str, witness: Witness, **options: Any) -> Any:
    """A ledger that is there."""
    from viameter import ledger as ledgers

    return ledgers.open(location, create=False, witness=witness, **options)


def _told(what: str) -> Any:
    from viameter.cli.ledger_show import Told

    return Told(what)


@ledger.command(epilog=_example("viameter ledger init budget.db --sign-with ledger.pem"))
@click.argument("location")
@click.option("--sign-with", metavar="KEY.pem", help="Sign heads with this key, which is made if there is none.")
@_beside
def init(location: str, sign_with: str | None, witness: Witness) -> None:
    """Make a new ledger, and its witness beside it."""
    from viameter import ledger as ledgers
    from viameter.cli.ledger_values import say
    from viameter.errors import LedgerUnavailable, ParameterError

    try:
        with _open(location, witness, read_only=True) as book:
            if sign_with is not None and book.public_key is None:
                raise ParameterError(f"{book.place} is a ledger already, whose heads are not signed")
            if sign_with is not None and ledgers.SigningKey.read(sign_with).public != book.public_key:
                raise ParameterError(f"{book.place} is a ledger already, whose heads are signed by another key")
            say(f"{book.place} is a ledger already, at entry {book.head.seq}; nothing was changed")
            return
    except LedgerUnavailable:
        pass  # there is none yet; if that was not why, it is said again below
    key = None
    if sign_with is not None:
        key = ledgers.SigningKey.read(sign_with) if Path(sign_with).exists() else ledgers.SigningKey.make(sign_with)
    with ledgers.open(location, witness=witness, signing_key=key) as book:
        say(f"made the ledger {book.place} ({book.id[:12]})")
        if book.witness is None:
            say("it has no witness: an older copy in its place would not be noticed")
        else:
            say(f"its witness is {book.witness.place}: back the two up apart from one another")
        if book.public_key is None:
            say("its heads are not signed: who can write it can rewrite it (--sign-with KEY.pem)")
        else:
            say(f"its heads are signed; whoever checks it (verify --public-key) needs {book.public_key}")


@ledger.command(
    epilog=_example(
        'viameter ledger define budget.db visits --budget "zcdp 1/2" --unit "per patient" --why "decided in May"'
    )
)
@click.argument("location")
@click.argument("name")
@click.option("--budget", required=True, metavar="TEXT", help="A measure and its numbers, as 'zcdp 1/2'.")
@click.option("--of", metavar="TEXT", help="Whom it is for: a granularity, as 'unbounded', or a metric as text.")
@click.option("--unit", metavar="TEXT", help="Whom it is for, as in vm.open: 'row', 'per patient', 'event day'.")
@click.option("--d-in", default="1", show_default=True, metavar="NUMBER", help="How far apart neighbors are.")
@click.option("--rule", type=click.Choice(RULES), help="How losses are counted; else the sum of the measure.")
@click.option("--slack", metavar="NUMBER", help="The delta that the rule uses up.")
@click.option("--parts", metavar="FILE.toml", help="Parts, and what a change of one unit touches of them.")
@click.option("--renews", type=click.Choice(RENEWALS), help="When the budget starts over; else never.")
@click.option("--why", default="", metavar="TEXT", help="The reason, which is written down.")
@_writing
def define(
    location: str,
    name: str,
    budget: str,
    of: str | None,
    unit: str | None,
    parts: str | None,
    sign_with: str | None,
    witness: Witness,
    **terms: Any,
) -> None:
    """Define the budget called NAME. One of the same terms is left as it is."""
    from viameter.cli.ledger_values import read_budget, read_neighbors, read_parts, say

    declared = None if parts is None else read_parts(parts)
    loss = read_budget(budget, "--budget")
    neighbors = read_neighbors(of, unit, declared)
    with _open(location, witness, signing_key=sign_with) as book:
        before = book.head.seq
        scope = book.define(name, loss, neighbors, parts=declared, **terms)
        new = "" if scope.seq > before else "; it was there already"
        say(f"{scope.name!r}: {scope.budget!r} for {scope.terms.neighborhood}{new}")


@ledger.command(epilog=_example("viameter ledger show budget.db --scope visits"))
@click.argument("location")
@click.option("--scope", metavar="NAME", help="This scope alone.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@_beside
def show(location: str, scope: str | None, as_json: bool, witness: Witness) -> None:
    """Show what was spent of every scope, and what is left. Also how that went, and what the ledger rests on."""
    from viameter.cli import ledger_show

    with _open(location, witness, read_only=True) as book:
        scopes = book.scopes() if scope is None else (book.scope(scope),)
        if as_json:
            click.echo(json.dumps(ledger_show.as_json(book, scopes), indent=2))
        else:
            from rich.console import Console

            ledger_show.draw(book, scopes, Console(highlight=False))


@ledger.command(epilog=_example("viameter ledger history budget.db --scope visits --last 20"))
@click.argument("location")
@click.option("--scope", metavar="NAME", help="What concerns this scope alone.")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The last N lines alone.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of lines as JSON.")
@_beside
def history(location: str, scope: str | None, last: int | None, as_json: bool, witness: Witness) -> None:
    """List what happened: number, time, who, and what."""
    from viameter import ledger as ledgers
    from viameter.cli.ledger_values import say

    with _open(location, witness, read_only=True) as book:
        lines = ledgers.history(book, scope=scope, last=last)
    if as_json:
        click.echo(json.dumps([_line_as_json(line) for line in lines], indent=2))
        return
    number = max((len(str(line.seq)) for line in lines), default=1)
    name = min(max((len(line.by) for line in lines), default=1), 24)
    for line in lines:
        say(f"{line.seq:>{number}}  {line.at}  {line.by:<{name}}  {line.kind:<7}  {line.text}")


def _line_as_json(line: Any) -> dict[str, Any]:
    costs = [
        {"scope": scope, "part": part, "cost": cost.to_json(), "spent": spent.to_json()}
        for scope, part, cost, spent in line.costs
    ]
    said = {name: getattr(line, name) for name in ("seq", "at", "by", "kind", "text", "key", "label", "query")}
    return {**said, "costs": costs, "theorems": list(line.theorems), "certificate": line.certificate}


@ledger.command(
    epilog=_example(
        "viameter ledger verify budget.db --public-key 9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    )
)
@click.argument("location")
@click.option("--public-key", metavar="HEX", help="The key that heads should be signed with, as you were given it.")
@click.option("--new-witness", is_flag=True, help="If nothing is wrong, trust it as it is and make a new witness.")
@_beside
def verify(location: str, public_key: str | None, new_witness: bool, witness: Witness) -> None:
    """Read everything again from the first entry on. Exit with 1 if anything is wrong, each problem on its line."""
    from viameter import ledger as ledgers
    from viameter.cli.ledger_values import read_public_key, say

    if new_witness and witness is False:
        raise click.UsageError("give either --new-witness or --no-witness")
    key = read_public_key(public_key)
    book, problems = _open_to_verify(location, witness, new_witness)
    with book:
        with _told("entries") as progress:
            verified = ledgers.verify(book, progress=progress, public_key=key)
        found = list(dict.fromkeys([*map(str, problems), *map(str, verified.problems)]))
        for text in found:
            say(text)
        if found:
            raise SystemExit(1)
        say(f"{book.place}: {verified.entries} entries, all in order")
        say(f"head: entry {verified.head.seq}, {verified.head.hash}")
        _say_witness(book, verified.head, new=new_witness)
        if book.public_key is None:
            say("signed: no; who can write it can rewrite it")
        else:
            known = "the key that was given" if key is not None else f"its own key {book.public_key}"
            say(f"signed: by {known}")


def _open_to_verify(location: str, witness: Witness, new_witness: bool) -> tuple[Any, list[Exception]]:
    """A ledger to be read, whatever is wrong with it, and what is known to be wrong already."""
    from viameter import ledger as ledgers
    from viameter.errors import LedgerBehind, LedgerTampered
    from viameter.ledger.opening import dialect_of

    options: dict[str, Any] = {"create": False, "read_only": True}
    try:
        return ledgers.open(location, witness=witness, new_witness=new_witness, **options), []
    except LedgerBehind as problem:
        known: Exception = problem
    except LedgerTampered as problem:
        known = problem
    dialect = dialect_of(location, read_only=True)
    if not dialect.exists():
        raise known

    def connect() -> Any:
        from viameter.ledger.stores.sql import SQLStore

        return SQLStore(dialect)

    return ledgers.Ledger(connect, read_only=True), [known]


def _say_witness(book: Any, head: Any, *, new: bool) -> None:
    from viameter.cli.ledger_values import say
    from viameter.ledger.witness import Seen

    if book.witness is None:
        say("witness: none; an older copy in its place would not be noticed")
        return
    seen = book.witness.read()
    if seen is None and new:
        book.witness.advance(Seen(book.id, head), book.store.has)
        say(f"witness: {book.witness.place}, made now: what was there before it is trusted as it is")
    elif seen is None:
        say(f"witness: {book.witness.place} is not there yet; whoever writes makes it")
    else:
        say(f"witness: {book.witness.place} saw entry {seen.head.seq}")


@ledger.command(epilog=_example("viameter ledger export budget.db charges.csv"))
@click.argument("location")
@click.argument("out", metavar="OUT.csv|OUT.json")
@click.option("--answers", is_flag=True, help="Also the answers that were released (JSON, in base64).")
@_beside
def export(location: str, out: str, answers: bool, witness: Witness) -> None:
    """Write charges as CSV, or all of it as JSON. CSV has a row for each charge and scope."""
    from viameter.cli.ledger_values import say
    from viameter.ledger.exporting import export as write

    with _open(location, witness, read_only=True) as book:
        count = write(book, out, answers=answers)
    say(f"{out}: {count} {'rows, one for each charge and scope' if out.lower().endswith('.csv') else 'entries'}")


@ledger.command(
    epilog=_example('viameter ledger budget budget.db visits "zcdp 1" --why "the second study was approved"')
)
@click.argument("location")
@click.argument("scope")
@click.argument("amount", metavar="BUDGET")
@click.option("--why", required=True, metavar="TEXT", help="The reason, which is written down.")
@_writing
def budget(
    location: str,
    scope: str,
    amount: str,
    why: str,
    by: str | None,
    sign_with: str | None,
    witness: Witness,
) -> None:
    """Give SCOPE another BUDGET; not below what was spent."""
    from viameter.cli.ledger_values import read_budget, say

    loss = read_budget(amount, "BUDGET")
    with _open(location, witness, signing_key=sign_with) as book:
        was = book.scope(scope).budget
        now = book.set_budget(scope, loss, why=why, by=by)
        say(f"{now.name!r}: from {was!r} to {now.budget!r}; {now.spent!r} is spent, {now.left!r} is left")


@ledger.command(
    epilog=_example('viameter ledger renew budget.db sensors --why "the rows of June, in a table of their own"')
)
@click.argument("location")
@click.argument("scope")
@click.option("--why", required=True, metavar="TEXT", help="Which rows have arrived, which is written down.")
@_writing
def renew(location: str, scope: str, why: str, by: str | None, sign_with: str | None, witness: Witness) -> None:
    """Start SCOPE over: new rows have arrived. For scopes that renew so; questions are about the new rows alone."""
    from viameter.cli.ledger_values import say

    with _open(location, witness, signing_key=sign_with) as book:
        now = book.renew(scope, why=why, by=by)
        say(f"{now.name!r} starts over: {now.left!r} is left; {now.lifetime!r} was spent in its lifetime")


@ledger.command(epilog=_example("viameter ledger backup postgresql://ledger@db/budgets monday.db"))
@click.argument("location")
@click.argument("out", metavar="OUT.db")
@_beside
def backup(location: str, out: str, witness: Witness) -> None:
    """Copy the ledger, as it is now, into a new SQLite file. `restore` brings it back."""
    from viameter import ledger as ledgers
    from viameter.cli.ledger_values import say

    with _open(location, witness, read_only=True) as book, _told("rows") as progress:
        head = ledgers.backup(book, out, progress=progress)
    say(f"{out}: {head.seq} entries, up to {head.hash}")


@ledger.command(epilog=_example('viameter ledger restore monday.db budget.db --why "the disk failed"'))
@click.argument("backup", metavar="BACKUP")
@click.argument("location")
@click.option("--why", default="", metavar="TEXT", help="The reason, which is written down.")
@_writing
def restore(
    backup: str,
    location: str,
    why: str,
    by: str | None,
    sign_with: str | None,
    witness: Witness,
) -> None:
    """Bring BACKUP back to LOCATION, where the ledger is gone. What was charged since stays spent, whatever it was.

    The witness of the lost ledger tells whether anything was. If so, or if there is no witness, all that was left of
    every scope counts as spent.
    """
    from viameter import ledger as ledgers
    from viameter.cli.ledger_values import say

    with _told("rows") as progress:
        done = ledgers.restore(
            backup, location, witness=witness, signing_key=sign_with, by=by, why=why, progress=progress
        )
    with _open(location, witness, read_only=True) as book:
        scopes, place = book.scopes(), book.place
    say(f"restored {place} from {backup}, up to entry {done.head.seq}")
    if not done.closed:
        say("the witness saw no later entry: nothing was lost, and every budget is as it was")
        return
    if done.seen is None:
        say("there was no witness, so nobody knows what was charged since")
    elif done.seen.seq > done.head.seq:
        lost = done.seen.seq - done.head.seq
        say(f"the witness had seen entry {done.seen.seq}: {lost} {'entry is' if lost == 1 else 'entries are'} lost")
    else:
        say(f"the witness here had seen entry {done.seen.seq}, and others may have charged since")
    for scope in scopes:
        say(f"closed {scope.name!r}: {scope.spent!r} counts as spent, {scope.left!r} is left")
    say("what was really spent of these is not known, and they stay closed: going on takes a new scope, defined anew")


@ledger.command(epilog=_example("viameter ledger plot budget.db burndown.png --scope visits"))
@click.argument("location")
@click.argument("out", metavar="OUT.png|OUT.svg|OUT.pdf")
@click.option("--scope", multiple=True, metavar="NAME", help="This scope alone; may be given several times.")
@click.option("--over", type=click.Choice(["charges", "time"]), help="What goes from left to right.")
@_beside
def plot(location: str, out: str, scope: tuple[str, ...], over: Any, witness: Witness) -> None:
    """Draw what was spent of each scope, below its budget."""
    from viameter.cli.ledger_values import say
    from viameter.errors import ParameterError
    from viameter.ledger.plots import plot_burndown

    if not out.lower().endswith(PICTURES):
        raise ParameterError(f"{out}: expected a file that ends in {', '.join(PICTURES)}")
    with _open(location, witness, read_only=True) as book:
        figure = plot_burndown(book, list(dict.fromkeys(scope)) or None, over=over)
    try:
        figure.savefig(out)
    except OSError as problem:
        raise ParameterError(f"{out} cannot be written: {problem.strerror}") from None
    say(f"{out}: {len(figure.axes)} {'scope' if len(figure.axes) == 1 else 'scopes'}")
