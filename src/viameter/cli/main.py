"""The command `viameter`, whose parts are imported when they are called."""

from __future__ import annotations

from typing import Any

import click

from viameter import __version__
from viameter.cli.ledger import ledger

MEASURES = ["pure", "approx", "zcdp", "approx-zcdp", "gdp", "bounded-range", "renyi"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="viameter")
def main() -> None:
    """Compose differential privacy with proofs."""


main.add_command(ledger)


@main.command()
@click.option(
    "--report", metavar="FILE", help="Write the questions over a table, with pictures, into this page of HTML."
)
@click.option("--ledger", metavar="FILE", help="Keep what is spent in this ledger; run it twice, or kill it.")
@click.option("--serve", "serves", is_flag=True, help="End with a running page; without a terminal, check it and stop.")
def demo(report: str | None, ledger: str | None, serves: bool) -> None:
    """Show what viameter does, on bundled data about invented people and on flights from New York."""
    from viameter.cli.demo import show_demo

    show_demo(click.echo, report=report, ledger=ledger)
    if serves:
        from viameter.cli.serve import show_page

        show_page(click.echo)


@main.command()
@click.option("--config", metavar="FILE", help="A TOML file; without one, the bundled data are served.")
@click.option("--folder", metavar="DIR", help="Without a configuration: where files are kept [viameter-service].")
@click.option("--host", help="Where to listen, instead of what the configuration says [127.0.0.1].")
@click.option("--port", type=click.IntRange(0, 65535), help="The port, instead of what the configuration says [8321].")
@click.option(
    "--new-admin-token", is_flag=True, help="Make a new token for the admin, the old ones worthless, and exit."
)
@click.option(
    "--to",
    metavar="FILE",
    help="Write that token to a new file, for its owner alone. Without a terminal it goes to one beside the state.",
)
@click.option(
    "--check", "checks", is_flag=True, help="Say what would be found and made at the start, and make nothing."
)
def serve(**options: Any) -> None:
    """Serve questions, budgets and history to a team: an API and a page.

    Without --config it listens at 127.0.0.1 only, keeps its files in a folder of its own, and serves the data that come
    with the package. The first time it says a token for the admin, once.
    """
    from viameter.errors import ViameterError

    try:
        from viameter.cli.serve import run

        run(click.echo, **options)
    except ViameterError as problem:
        raise click.UsageError(str(problem)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


@main.command()
@click.argument("slug", required=False)
def theorems(slug: str | None) -> None:
    """List the theorems that numbers rest on, or show the one called SLUG."""
    from viameter.cli.theorems import show_theorem, theorem_list
    from viameter.errors import RegistryError

    if slug is None:
        click.echo(theorem_list())
        return
    try:
        click.echo(show_theorem(slug))
    except RegistryError as problem:
        raise click.UsageError(str(problem)) from None


@main.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(file: str, as_json: bool) -> None:
    """Derive every number of the certificate in FILE again; exit with 1 if one does not hold."""
    from viameter.cli.check import check_certificate
    from viameter.errors import FormatError

    try:
        holds, report = check_certificate(file, as_json=as_json)
    except FormatError as problem:
        raise click.UsageError(str(problem)) from None
    click.echo(report)
    raise SystemExit(0 if holds else 1)


@main.command()
@click.argument("file")
@click.option("--into", type=click.Choice(MEASURES), help="The measure to compose in; else the first that all fit.")
@click.option(
    "--adaptivity",
    type=click.Choice(["non-adaptive", "adaptive", "fully-adaptive"]),
    default="non-adaptive",
    show_default=True,
    help="How the mechanisms are chosen.",
)
@click.option("--delta", help="Show the total as an epsilon at this delta.")
@click.option("--claim", help="A claim to judge, as 'pure 0.5', for a TOML file; it replaces the file's own.")
@click.option("--json", "as_json", is_flag=True, help="Print the total as JSON.")
def compose(file: str, into: str | None, adaptivity: str, delta: str | None, claim: str | None, as_json: bool) -> None:
    """Compose the losses in FILE: a JSON list, as in [{"measure": "pure", "epsilon": "1/10", "times": 10}].

    A FILE that ends in .toml declares who is protected, how the data are cut into parts, and what mechanisms on the
    parts cost. A claim is judged: exit code 0 if it is RIGHT or LOOSE, 1 if it is WRONG, 4 if it is UNPROVED.
    """
    from viameter.errors import ViameterError

    declares = file.lower().endswith(".toml")
    if declares and adaptivity != "non-adaptive":
        raise click.UsageError("--adaptivity is for a JSON list of losses; a TOML file declares what is fixed")
    if not declares and claim is not None:
        raise click.UsageError("--claim is for a TOML file that declares who is protected, and leaves")
    try:
        if declares:
            from viameter.cli.neighborhoods import compose_declared

            code, report = compose_declared(file, into=into, delta=delta, claim=claim, as_json=as_json)
        else:
            from viameter.cli.compose import compose_file

            code = 0
            report = compose_file(file, into=into, adaptivity=adaptivity, delta=delta, as_json=as_json)
    except ViameterError as problem:
        raise click.UsageError(str(problem)) from None
    click.echo(report)
    raise SystemExit(code)


@main.command()
@click.argument("file")
@click.option("--bound", help="What each program may cost, as '2*eps' or 'zcdp 1/200'; else the least is looked for.")
@click.option("--only", metavar="NAME", help="Verify the program of this name alone.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="How long to try, for each program.")
@click.option("--explain", is_flag=True, help="Show proofs and witnesses of several programs, too.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of verdicts as JSON.")
@click.option(
    "--certificate",
    metavar="OUT",
    help="Write the proof for `viameter check`; of several programs, one file each into directory OUT, which is made.",
)
@click.option("--html", metavar="OUT", help="Write what --explain shows as a page of HTML.")
@click.option("--latex", metavar="OUT", help="Write what --explain shows as LaTeX, to be put into a document.")
def verify(file: str, **options: Any) -> None:
    """Prove what the programs in the Python file FILE cost, or refute it.

    Programs are the functions under @vm.program that FILE itself defines. FILE is executed, as a module (not as a
    script): verify only files that you would run.

    Exit code 0 if every program is PROVED, 3 if one is REFUTED, else 4 if one is UNKNOWN; 2 if FILE has no programs, or
    something that no program may contain.
    """
    from viameter.errors import ViameterError

    try:
        from viameter.cli.verify import Request, verify_file

        code = verify_file(Request(file=file, **options), click.echo)
    except ViameterError as problem:
        raise click.UsageError(str(problem)) from None
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        raise SystemExit(130) from None
    raise SystemExit(code)


@main.command()
@click.argument("file")
@click.option("--release", is_flag=True, help="Spend and answer; without it, only what questions would cost is shown.")
@click.option("--dry-run", type=int, metavar="ROWS", help="Answer from so many made-up rows of the same columns.")
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON.")
@click.option("--certificate", metavar="OUT", help="Write a certificate of each release into directory OUT.")
def query(file: str, **options: Any) -> None:
    """Ask the questions in the TOML file FILE of a private table: what they would cost, or their answers.

    Exit code 0; 1 if a question does not fit into the budget; 2 if FILE is not understood.
    """
    from viameter.errors import ViameterError

    try:
        from viameter.cli.query import Request, run_file

        code = run_file(Request(file=file, **options), click.echo)
    except ViameterError as problem:
        raise click.UsageError(str(problem)) from None
    except KeyboardInterrupt:
        click.echo("interrupted; what was charged stays charged", err=True)
        raise SystemExit(130) from None
    raise SystemExit(code)


@main.command()
@click.argument("text")
@click.option("--source", required=True, metavar="SOURCE", help="A file, or the URL of a database.")
@click.option("--table", metavar="NAME", help="Which table of a database.")
@click.option("--unit", required=True, metavar="TEXT", help="Whom answers protect, as 'per patient rows 20' or 'row'.")
@click.option("--budget", metavar="TEXT", help="A measure and its numbers, as 'zcdp 1/2'; a ledger may know it.")
@click.option("--spend", metavar="TEXT", help="What it may cost, as 'zcdp 1/10', if its OPTIONS do not say it.")
@click.option("--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Of a CSV file, as 'wait=integer'.")
@click.option("--public", multiple=True, metavar="NAME=FILE", help="A public table to join with: CSV or Parquet.")
@click.option("--ledger", metavar="FILE", help="Where what is spent is kept.")
@click.option("--key", metavar="TEXT", help="With a ledger: the same answer when it is asked again.")
@click.option("--release", is_flag=True, help="Spend and answer; without it, only what it would cost is shown.")
@click.option("--dry-run", type=int, metavar="ROWS", help="Answer from so many made-up rows of the same columns.")
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON.")
@click.option("--certificate", metavar="OUT", help="Write a certificate of the release into this file.")
def sql(text: str, **options: Any) -> None:
    """Ask the question TEXT, in SQL, of a private table: what it would cost, or its answer.

    TEXT may be @FILE, which has it. It is read, and never executed.

    Exit code 0; 1 if the question does not fit into the budget; 2 if it is not understood.
    """
    from viameter.errors import ViameterError

    try:
        from viameter.cli.sql import Request, run_sql

        code = run_sql(Request(text=text, **options), click.echo)
    except ViameterError as problem:
        raise click.UsageError(str(problem)) from None
    except KeyboardInterrupt:
        click.echo("interrupted; what was charged stays charged", err=True)
        raise SystemExit(130) from None
    raise SystemExit(code)
