"""Verdicts as LaTeX: braces balance, special characters are escaped, and nothing is lost."""

import re
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.logic.present.verdicts import PROVED, eps, nodes, of, unknown

from viameter.logic.present.latex import as_latex, escaped, typewriter
from viameter.logic.present.tree import tree_of
from viameter.logic.search.prover import NotProved

PRINTS = {
    r"\textbackslash{}": "\\", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#", r"\%": "%", r"\_": "_",
    r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<", r"\textgreater{}": ">",
    r"\textbar{}": "|", r"\char34{}": '"', r"\char39{}": "'", r"\char96{}": "`", "{-}": "-", r"\ ": " ",
    r"\ensuremath{\neq}": "≠", r"\ldots{}": "…", "<{}": "<", ">{}": ">", "-{}": "-",
}  # fmt: skip
COMMANDS = {
    "par", "parindent", "raggedright", "def", "vmrow", "noindent", "hangindent", "hangafter", "hspace", "textbf",
    "textit", "texttt", "medskip", "footnotesize", "small", "textbullet", "begin", "end",
}  # fmt: skip
MACRO = r"\def\vmrow#1#2#3{\par\noindent\hangindent=#2em\hangafter=1\hspace*{#1em}#3}"
_PRINTED = re.compile("|".join(re.escape(text) for text in sorted(PRINTS, key=len, reverse=True)))


def printed(source: str) -> str:
    """What escaped text prints as; a special character that nothing escapes is refused."""
    rest = _PRINTED.sub("", source)
    assert not set(rest) & set("\\{}$&#%_^~"), rest
    return _PRINTED.sub(lambda found: PRINTS[found[0]], source)


def check(fragment: str) -> str:
    """Braces balance, environments close, commands are of base LaTeX; what is left, without the commands."""
    lines = fragment.splitlines()
    assert lines[0] == "{% a verdict of viameter" and lines[-1] == r"\par}" and lines.count(MACRO) == 1
    rest = "\n".join(line for line in ["{", *lines[1:]] if line != MACRO)
    assert re.findall(r"\\begin\{(\w+)\}", rest) == re.findall(r"\\end\{(\w+)\}", rest)
    tabular = "\\begin{tabular}" in rest
    rest = _PRINTED.sub("", rest)
    depth = 0
    for letter in rest:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    assert set(re.findall(r"\\([a-zA-Z]+)", rest)) <= COMMANDS
    bare = set(rest) & set("$#%_^~<>|\"'`&" if not tabular else "$#%_^~|\"'`")
    assert bare <= {"<", ">"}, bare
    return rest


@for_each("name", [*PROVED, "no_query_noise"])
def test_a_verdict_is_base_latex_with_balanced_braces(name: str) -> None:
    check(as_latex(of(name)))


@for_each("name", PROVED)
def test_the_whole_proof_is_in_it(name: str) -> None:
    (proved,) = of(name).proofs
    rows = [line for line in as_latex(of(name)).splitlines() if line.startswith(r"\vmrow")]
    typed = {printed(found) for row in rows for found in re.findall(r"\\texttt\{((?:\\.|\{[^{}]*\}|[^{}\\])*)\}", row)}
    for node in nodes(tree_of(proved)):
        assert node.head in typed
        for note in node.notes:
            assert set(note.lines) <= typed


def test_depth_is_not_bounded_and_shows_as_indentation() -> None:
    rows = re.findall(r"\\vmrow\{([\d.]+)\}\{[\d.]+\}\{(\d+) \\texttt", as_latex(of("above_threshold")))
    at = {int(line): float(indent) for indent, line in rows}
    assert at[6] == at[10] < at[11] == at[12] < at[13] == at[16] > at[19]


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_escaped_text_prints_as_itself(text: str) -> None:
    assert printed(escaped(text)) == text
    assert not set(_PRINTED.sub("", escaped(text))) & set("<>|\"'`")


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), min_size=1))
@example("a -- b << c >> d --- e  f")
def test_typewriter_text_prints_as_itself_with_its_spaces(text: str) -> None:
    source = typewriter(text)
    assert source.startswith(r"\texttt{") and source.endswith("}")
    inner = source[len(r"\texttt{") : -1]
    assert printed(inner) == text
    assert "--" not in inner and "<<" not in inner and ">>" not in inner
    assert not inner.startswith(" ") and "  " not in inner.replace("\\ ", "")


HOSTILE = r"\input{x} 50% of $a_b^c$ & #1 ~ {open \end{verbatim} | <1> -- 'q' \"r\""


def test_whatever_an_unknown_verdict_says_is_escaped() -> None:
    model = {"q<1>[0]": 3, "q<2>[0]": -4, "len(q)": 1}
    verdict = replace(unknown(NotProved(HOSTILE, 3, model), bound=eps()), program=HOSTILE, adjacency=HOSTILE)
    fragment = as_latex(verdict)
    check(fragment)
    assert "input" in fragment and r"\input" not in fragment
    assert r"q[0] & 3 & {-}4 & \ensuremath{\neq} \\" in fragment


def test_the_witness_is_in_it_and_the_snippet_is_not() -> None:
    verdict = of("no_query_noise")
    fragment = as_latex(verdict)
    assert verdict.witness is not None
    for line in verdict.witness.text().splitlines()[1:]:
        assert typewriter(line.strip()) in fragment
    assert "REFUTED" in fragment and "import" not in fragment
