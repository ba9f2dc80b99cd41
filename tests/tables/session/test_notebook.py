"""Tables, answers and figures in a notebook, by a real kernel."""

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = {
    "table": """
import viameter as vm
rows = {"u": [f"u{n}" for n in range(300)], "ward": ["A", "B", "B"] * 100, "wait": list(range(300))}
table = vm.open(rows, unit=vm.per("u", rows=1), budget=vm.zcdp(10))
table""",
    "answer": """
asked = table.group_by("ward", keys=["A", "B", "none"]).agg(n=vm.count(), wait=vm.mean("wait", bounds=(0, 240)))
answer = asked.release(spend=vm.zcdp(1))
answer""",
    "intervals": "answer.plot()",
    "spending": """
space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
meter = vm.Odometer(space, vm.PureDP)([1, 2, 3])
released = meter(space >> vm.count() >> vm.laplace(scale=2))
vm.plot_spending(meter, d_in=1)""",
    "profiles": 'vm.plot_profiles([vm.zcdp("1/10"), vm.pure("1/2")])',
    "ledger": """
book = vm.ledger.in_memory()
book.define("visits", vm.pure(1), of=space, why="a test")
book.plot() if hasattr(book, "plot") else vm.plot_spending(meter, d_in=1)""",
    "widgets": "import importlib.util; importlib.util.find_spec('ipywidgets') is None",
}


@pytest.fixture(scope="module")
def shown() -> dict[str, dict[str, Any]]:
    """What each cell shows, by kind of content."""
    made: Any = nbformat.v4
    notebook = made.new_notebook(cells=[made.new_code_cell(cell) for cell in CELLS.values()])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    last = (next(o for o in cell.outputs if o.output_type == "execute_result") for cell in notebook.cells)
    return {name: output.data for name, output in zip(CELLS, last, strict=True)}


def test_a_table_opens_without_the_widgets_that_an_engine_draws_progress_with(shown: dict[str, dict[str, Any]]) -> None:
    assert shown["widgets"]["text/plain"] == "True"
    assert "wait" in shown["table"]["text/html"]


def test_an_answer_is_shown_with_what_is_unknown(shown: dict[str, dict[str, Any]]) -> None:
    html = shown["answer"]["text/html"]
    assert html.count("unknown</td>") == 1 and "[0, 240]" in html


@pytest.mark.parametrize("figure", ["intervals", "spending", "profiles", "ledger"])
def test_figures_are_shown_as_pictures(figure: str, shown: dict[str, dict[str, Any]]) -> None:
    assert len(shown[figure]["image/png"]) > 5000
