"""Programs that are submitted as text are verified in a process of their own, within limits, and cannot reach out."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.service.forks import run_in_a_fork

from viameter.errors import FormatError, ParameterError, ViameterError
from viameter.logic.errors import SolverMissing
from viameter.logic.front.errors import ProgramError
from viameter.service import programs, sandbox
from viameter.service.programs import verify_submitted
from viameter_check.command import check_file

KEYS = {"program", "status", "bound", "explanation", "html", "certificate", "seconds"}
HEAD = "import viameter as vm\n"
ONE = """
@vm.program(adjacent=vm.all_differ("q", by=1))
def {name}(q: int, eps: vm.Eps) -> int:
    return {what}
"""
RIGHT = ONE.format(name="noisy", what="q + vm.lap(1 / eps)")
WRONG = ONE.format(name="doubled", what="q + 2 * vm.lap(1 / eps)")
HARD = """
@vm.program(adjacent=vm.all_differ("q", by=1))
def hard(q: vm.Between(0, 100000000)) -> int:
    return (q + vm.uniform(0, 100000000)) // 3
"""
# The search for a proof of this one is still in its first step when its time is over.
ENDLESS = ONE.format(name="endless", what="s + vm.lap(1 / eps)").replace("return", "s = q\n    return")
ENDLESS = ENDLESS.replace("    return", "    s = s * s + 1\n" * 60 + "    return")


@pytest.fixture
def fresh() -> None:
    """For tests of the process itself: one that is started as it is for users."""


@pytest.fixture(autouse=True)
def _forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "fresh" not in request.fixturenames:
        monkeypatch.setattr(programs, "run_alone", run_in_a_fork)


@pytest.mark.usefixtures("fresh")
def test_a_right_program_is_proved_with_a_certificate_that_holds(tmp_path: Path) -> None:
    (found,) = verify_submitted(HEAD + RIGHT, bound="eps")
    assert set(found) == KEYS
    assert (found["program"], found["status"], found["bound"]) == ("noisy", "PROVED", "eps")
    assert found["explanation"].startswith("PROVED: noisy costs at most eps")
    assert found["html"].startswith('<div class="viameter-verdict">') and "<details" in found["html"]
    assert isinstance(found["seconds"], float)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(found["certificate"]), encoding="utf-8")
    assert check_file(path).ok


def test_a_wrong_program_is_refuted_with_its_witness() -> None:
    (found,) = verify_submitted(HEAD + WRONG, bound="eps")
    assert (found["program"], found["status"], found["bound"]) == ("doubled", "REFUTED", "eps")
    assert "The witness:" in found["explanation"] and "inputs 1: q = " in found["html"]
    assert found["certificate"] is None


def test_without_a_bound_the_least_is_found_for_each_program_in_order() -> None:
    found = verify_submitted(HEAD + RIGHT + ONE.format(name="half", what="q + vm.lap(2 / eps)"))
    assert [(entry["program"], entry["status"], entry["bound"]) for entry in found] == [
        ("noisy", "PROVED", "eps"), ("half", "PROVED", "1/2*eps"),
    ]  # fmt: skip


@pytest.mark.long
def test_a_bound_may_be_a_loss() -> None:
    text = HEAD + ONE.format(name="normal", what="q + vm.gauss(10)").replace(", eps: vm.Eps", "")
    (found,) = verify_submitted(text, bound="zcdp 1/200")
    assert (found["status"], found["bound"]) == ("PROVED", "rho = 1/200")
    (found,) = verify_submitted(text, bound="approx 1/2 1e-6")
    assert (found["status"], found["bound"]) == ("PROVED", "epsilon = 1/2 with delta = 1/1000000")


def test_of_two_programs_one_may_be_wrong() -> None:
    right, wrong = verify_submitted(HEAD + RIGHT + WRONG, bound="eps")
    assert (right["program"], right["status"]) == ("noisy", "PROVED")
    assert (wrong["program"], wrong["status"]) == ("doubled", "REFUTED")


def test_what_is_not_decided_in_time_is_unknown() -> None:
    (found,) = verify_submitted(HEAD + HARD, bound="pure 1", seconds=0.5)
    assert set(found) == KEYS
    assert (found["program"], found["status"], found["bound"]) == ("hard", "UNKNOWN", "1")
    assert found["explanation"].startswith("UNKNOWN: neither a proof nor a counterexample was found")
    assert found["certificate"] is None


def test_the_time_is_shared_and_what_is_not_needed_is_left_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on only while `b` is verified, for as long as it was given."""
    child(monkeypatch, """
        from types import SimpleNamespace
        clock = [100.0]
        shares = {}
        def verify(program, bound, seconds):
            shares[program.name] = seconds
            clock[0] += seconds if program.name == "b" else 0
            raise ValueError
        verdict = p._verdict
        def told(name, *args):
            return {**verdict(name, *args), "share": shares[name]}
        p.verify, p._verdict, p.time = verify, told, SimpleNamespace(monotonic=lambda: clock[0])
    """)  # fmt: skip
    text = HEAD + "".join(ONE.format(name=name, what="q + vm.lap(1 / eps)") for name in "abcd")
    assert [entry["share"] for entry in verify_submitted(text, seconds=12)] == [3, 4, 4, 8]


@pytest.mark.long
@pytest.mark.usefixtures("fresh")
def test_programs_whose_turn_does_not_come_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import time
        def verify(program, bound, seconds):
            time.sleep(3 * seconds)
            raise ValueError
        p.verify = verify
    """)  # fmt: skip
    found = verify_submitted(HEAD + RIGHT + WRONG, seconds=1)
    assert [entry["explanation"] for entry in found] == [
        f"UNKNOWN: {programs.FAILED}.", f"UNKNOWN: {programs.OUT_OF_TIME}.",
    ]  # fmt: skip


# Texts that are wrong.


def test_a_wrong_text_is_an_error_at_its_line() -> None:
    with pytest.raises(ProgramError) as caught:
        verify_submitted(HEAD + RIGHT + ONE.format(name="power", what="q ** 2"))
    assert caught.value.line == 9 and "**" in caught.value.what and caught.value.hint == "multiply"
    assert str(caught.value).startswith("<text>:9: return q ** 2 : the operator ** is outside the subset")


def test_a_text_that_is_no_python_is_an_error_at_its_line() -> None:
    with pytest.raises(ProgramError, match="<text>:2: this is no Python : this is not Python") as caught:
        verify_submitted(HEAD + "this is no Python\n")
    assert caught.value.line == 2


def test_a_text_without_programs_is_a_format_error() -> None:
    with pytest.raises(FormatError, match="defines no program"):
        verify_submitted(HEAD)


def test_a_hint_that_means_nothing_is_an_error_at_its_program() -> None:
    text = HEAD + ONE.format(name="hinted", what='q + vm.lap(1 / eps, shift="nothing + 1")')
    with pytest.raises(ProgramError, match="the shift 'nothing \\+ 1' cannot be used") as caught:
        verify_submitted(text, bound="eps")
    assert caught.value.line == 3


@pytest.mark.parametrize("bound", ["", "2*rho", "zcdp 1/2", "pure x", "(" * 900, "approx 1"])
def test_a_bound_that_does_not_fit_is_a_format_error(bound: str) -> None:
    with pytest.raises(FormatError, match="bound"):
        verify_submitted(HEAD + RIGHT, bound=bound)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"text": b"x"}, ParameterError),
        ({"text": "#" * 100_001}, FormatError),
        ({"bound": 3}, FormatError),
        ({"bound": "1" * 1_001}, FormatError),
        ({"seconds": 0}, ParameterError),
        ({"seconds": -1}, ParameterError),
        ({"seconds": math.inf}, ParameterError),
        ({"seconds": math.nan}, ParameterError),
        ({"seconds": True}, ParameterError),
        ({"seconds": "1"}, ParameterError),
        ({"memory": 0}, ParameterError),
        ({"memory": (256 << 20) - 1}, ParameterError),
        ({"memory": 1e9}, ParameterError),
    ],
)  # fmt: skip
def test_arguments_that_make_no_sense_start_nothing(
    wrong: dict[str, Any], error: type[ViameterError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "run_alone", lambda *args: pytest.fail("a process was started"))
    with pytest.raises(error):
        verify_submitted(**{"text": HEAD + RIGHT, **wrong})


@pytest.mark.long
def test_texts_of_every_kind_come_through() -> None:
    text = HEAD + '"""Größe, \u2028, 🦆 and \\ud83e"""\n' + RIGHT
    assert [entry["status"] for entry in verify_submitted(text, bound="eps")] == ["PROVED"]
    with pytest.raises(FormatError, match="a character that cannot be read"):
        verify_submitted(HEAD + "# \ud83e\n" + RIGHT)
    with pytest.raises(FormatError, match="null byte"):
        verify_submitted(HEAD + "\0" + RIGHT)


# Texts that mean harm.


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("__import__('os').system('touch CANARY')\n" + HEAD + RIGHT, 1),
        (HEAD + "@__import__('pathlib').Path('CANARY').touch()\ndef f(): pass\n", 2),
        (HEAD + RIGHT.replace("by=1", "by=open('CANARY', 'w').write('x')"), 3),
        (HEAD + RIGHT.replace("q: int", "q: open('CANARY', 'w')"), 4),
        (HEAD + RIGHT.replace("vm.lap(1", "vm.lap(open('CANARY', 'w')"), 5),
        ("import os\nos.system('touch CANARY')\n" + HEAD + RIGHT, 1),
    ],
)
def test_a_text_is_never_executed(text: str, line: int, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    with pytest.raises(ProgramError) as caught:
        verify_submitted(text.replace("CANARY", str(canary)))
    assert caught.value.line == line and not canary.exists()


def test_all_text_of_the_user_is_escaped_in_the_html() -> None:
    text = HEAD + RIGHT.replace('vm.all_differ("q", by=1)', "vm.related('abs(q<1> - q<2>) <= 1')")
    for bound in ("eps", "1/2*eps"):
        (found,) = verify_submitted(text, bound=bound)
        assert "q<1>" in found["explanation"]
        assert "q&lt;1&gt;" in found["html"] and "<1>" not in found["html"]


@pytest.mark.usefixtures("fresh")
def test_a_text_that_takes_much_memory_to_read_is_a_format_error() -> None:
    """Twenty-four inputs that each change in one direction: sixteen million directions together."""
    names = [f"q{place}" for place in range(24)]
    parts = ", ".join(f"vm.all_differ('{name}', monotone=True)" for name in names)
    text = f"{HEAD}@vm.program(adjacent=[{parts}])\ndef f({', '.join(f'{name}: int' for name in names)}) -> int:\n"
    with pytest.raises(FormatError, match=r"too large|more memory"):
        verify_submitted(text + "    return q0 + vm.lap(1)\n", memory=256 << 20, seconds=60)


def test_a_text_that_is_nested_too_deeply_is_a_format_error() -> None:
    with pytest.raises(FormatError, match="nested too deeply"):
        verify_submitted(HEAD + "N = " + "-" * 50_000 + "1\n" + RIGHT)


# The process: what it may use, what it sees, and how it ends.


def child(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let the process run some code first; `p` is the module in it."""
    lines = code.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    script = "\n".join(["import viameter.service.programs as p", *(line[indent:] for line in lines), "p.main()"])
    command = programs._command

    def changed(seconds: float, memory: int) -> list[str]:
        *python, _, _, cpu, size = command(seconds, memory)
        return [*python, "-c", script, cpu, size]

    monkeypatch.setattr(programs, "_command", changed)


def told_by(monkeypatch: pytest.MonkeyPatch, code: str, **limits: Any) -> Any:
    """What `tell()` of the code returns in the process, in the place where texts are verified."""
    child(monkeypatch, code + """
        def verify(program, bound, seconds):
            raise RuntimeError
        def answer(request, say):
            say({"programs": ["p"]})
            say({"verdict": {"program": "p", "told": tell()}})
        p._answer = answer
    """)  # fmt: skip
    (found,) = verify_submitted(HEAD + RIGHT, **limits)
    return found["told"]


@pytest.mark.usefixtures("fresh")
def test_the_process_sees_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIAMETER_SECRET", "PYTHONPATH", "HOME", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD_NOT"):
        monkeypatch.setenv(name, "a secret of the parent")
    seen = told_by(monkeypatch, """
        def tell():
            import os
            return [dict(os.environ), open("/proc/self/environ").read()]
    """)  # fmt: skip
    assert set(seen[0]) <= {"PATH", "LD_LIBRARY_PATH", *sandbox.OWN}
    assert seen[0]["PATH"] == os.environ["PATH"]
    assert "secret" not in json.dumps(seen)


@pytest.mark.usefixtures("fresh")
def test_the_process_has_its_limits_before_it_reads_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = told_by(monkeypatch, """
        def tell():
            import resource
            names = ("CORE", "FSIZE", "CPU", "AS")
            return {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}
    """, seconds=2.5, memory=600 << 20)  # fmt: skip
    allowance = programs.ALLOWANCE
    assert seen == {
        "CORE": [0, 0], "FSIZE": [0, 0], "CPU": [allowance + 3, allowance + 4], "AS": [600 << 20, 600 << 20],
    }  # fmt: skip


@pytest.mark.usefixtures("fresh")
def test_the_process_is_isolated_and_writes_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target = tmp_path / "written"
    seen = told_by(monkeypatch, f"""
        def tell():
            import os, sys
            try:
                with open({str(target)!r}, "w") as file:
                    file.write("x")
            except OSError as problem:
                failed = type(problem).__name__
            files = len(os.listdir("/proc/self/fd"))
            return [sys.flags.isolated, os.getcwd(), os.getsid(0) == os.getpid(), failed, files]
    """)  # fmt: skip
    assert seen[:4] == [1, "/", True, "OSError"]
    assert seen[4] <= 6  # its three, the replies, and the folder that is listed
    assert not target.exists() or target.read_text(encoding="utf-8") == ""


@pytest.mark.usefixtures("fresh")
def test_more_memory_than_allowed_is_unknown_for_this_program_and_those_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child(monkeypatch, """
        verify = p.verify
        def greedy(program, bound, seconds):
            if program.name == "doubled":
                bytearray(300 << 20)
            return verify(program, bound, seconds=seconds)
        p.verify = greedy
    """)  # fmt: skip
    text = HEAD + RIGHT + WRONG + ONE.format(name="last", what="q + vm.lap(1 / eps)")
    found = verify_submitted(text, bound="eps", memory=400 << 20)
    assert [entry["status"] for entry in found] == ["PROVED", "UNKNOWN", "UNKNOWN"]
    assert [entry["explanation"] for entry in found[1:]] == [f"UNKNOWN: {programs.OUT_OF_MEMORY}."] * 2
    assert all(set(entry) == KEYS for entry in found)
    assert [entry["status"] for entry in verify_submitted(text, bound="eps")] == ["PROVED", "REFUTED", "PROVED"]


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        ("p.load().Z3Exception('out of memory')", programs.OUT_OF_MEMORY),
        ("p.load().Z3Exception('canceled')", programs.FAILED),
        ("RecursionError('a secret')", programs.TOO_DEEP),
        ("ValueError('a secret')", programs.FAILED),
    ],
)
@pytest.mark.long
def test_errors_of_the_search_are_said_in_constant_words(
    problem: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    child(monkeypatch, f"""
        def verify(program, bound, seconds):
            raise {problem}
        p.verify = verify
    """)  # fmt: skip
    (found,) = verify_submitted(HEAD + RIGHT)
    assert (found["status"], found["explanation"]) == ("UNKNOWN", f"UNKNOWN: {why}.")
    assert found["html"] == f"<p><strong>UNKNOWN</strong>: {why}.</p>"


def test_a_verdict_that_is_too_long_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        p.LARGEST_REPLY = 1000
    """)  # fmt: skip
    (found,) = verify_submitted(HEAD + RIGHT, bound="eps")
    assert (found["status"], found["explanation"]) == ("UNKNOWN", f"UNKNOWN: {programs.TOO_LONG}.")


def test_what_is_printed_in_the_process_is_no_part_of_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import os
        verify = p.verify
        def loud(program, bound, seconds):
            print('{"verdict": {"program": "noisy", "status": "PROVED"}}', flush=True)
            os.write(1, b'{"error": {"message": "x"}}')
            return verify(program, bound, seconds=seconds)
        p.verify = loud
    """)  # fmt: skip
    (found,) = verify_submitted(HEAD + WRONG, bound="eps")
    assert found["status"] == "REFUTED" and set(found) == KEYS


def test_a_missing_solver_is_an_error_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import sys
        sys.modules["z3"] = None
    """)  # fmt: skip
    with pytest.raises(SolverMissing, match=r"pip install 'viameter\[verify\]'"):
        verify_submitted(HEAD + RIGHT)


@pytest.mark.usefixtures("fresh")
def test_a_process_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LEAST_MEMORY", 1)
    with pytest.raises(ViameterError, match="did not start with memory=67108864"):
        verify_submitted(HEAD + RIGHT, memory=64 << 20)


def test_a_process_that_ends_while_it_reads_leaves_what_it_had_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import os
        p.programs_from_text = lambda text: os.abort()
    """)  # fmt: skip
    found = verify_submitted(HEAD + RIGHT + WRONG)
    assert [(entry["program"], entry["explanation"]) for entry in found] == [
        ("noisy", f"UNKNOWN: {programs.STOPPED}."), ("doubled", f"UNKNOWN: {programs.STOPPED}."),
    ]  # fmt: skip


def test_a_process_that_ends_before_it_knows_the_names_is_a_format_error(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import os
        p.names_from_text = lambda text: os.abort()
    """)  # fmt: skip
    with pytest.raises(FormatError, match="needs more memory or time to be read"):
        verify_submitted(HEAD + RIGHT)


@pytest.mark.usefixtures("fresh")
def test_half_a_line_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is stopped while it says that something is proved has not said so."""
    whole = json.dumps({"verdict": {"program": "a", "status": "PROVED"}})
    script = f"print('{{\"started\": 1}}'); print('{{\"programs\": [\"a\"]}}'); print({whole!r}, end='')"
    monkeypatch.setattr(programs, "_command", lambda seconds, memory: [sys.executable, "-I", "-c", script])
    assert [entry["status"] for entry in verify_submitted(HEAD + RIGHT)] == ["UNKNOWN"]
    monkeypatch.setattr(
        programs, "_command", lambda seconds, memory: [sys.executable, "-I", "-c", script.replace(", end=''", "")]
    )
    assert [entry["status"] for entry in verify_submitted(HEAD + RIGHT)] == ["PROVED"]


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def soon(holds: Callable[[], Any], seconds: float = 60) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = holds()
        if found:
            return found
        time.sleep(0.02)
    return None


@pytest.mark.usefixtures("fresh")
def test_when_its_time_is_over_the_process_is_killed_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "ALLOWANCE", 1)
    numbers = tmp_path / "numbers"
    script = f"""
import json, os, subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(numbers)!r}, "w").write(f"{{os.getpid()}} {{other.pid}}")
for line in ({{"started": True}}, {{"programs": ["a", "b"]}}, {{"verdict": {{"program": "a", "status": "PROVED"}}}}):
    print(json.dumps(line), flush=True)
time.sleep(600)
"""
    monkeypatch.setattr(programs, "_command", lambda seconds, memory: [sys.executable, "-I", "-c", script])
    first, second = verify_submitted(HEAD + RIGHT, seconds=4)
    assert first == {"program": "a", "status": "PROVED"}
    assert second["explanation"] == f"UNKNOWN: {programs.OUT_OF_TIME}."
    own, other = map(int, numbers.read_text(encoding="utf-8").split())
    assert soon(lambda: not alive(own) and not alive(other))


@pytest.mark.long
@pytest.mark.usefixtures("fresh")
def test_time_of_the_processor_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import time
        limit = p.limit_this_process
        def spin(program, bound, seconds):
            while True:
                pass
        p.limit_this_process, p.verify = lambda _, memory: limit(int(time.process_time()) + 3, memory), spin
    """)  # fmt: skip
    (found,) = verify_submitted(HEAD + RIGHT, seconds=100)
    assert found["explanation"] == f"UNKNOWN: {programs.OUT_OF_TIME}."


def children() -> list[int]:
    """The processes of this one that verify programs."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            command = (path / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if parent == os.getpid() and b"viameter.service.programs" in command:
            found.append(int(path.name))
    return found


def test_a_process_that_is_killed_has_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, """
        import os, signal
        verify = p.verify
        def killed(program, bound, seconds):
            if program.name == "doubled":
                os.kill(os.getpid(), signal.SIGKILL)
            return verify(program, bound, seconds=seconds)
        p.verify = killed
    """)  # fmt: skip
    first, second = verify_submitted(HEAD + RIGHT + WRONG, bound="eps")
    assert (first["program"], first["status"]) == ("noisy", "PROVED")
    assert (second["program"], second["status"]) == ("doubled", "UNKNOWN")
    assert second["explanation"] == f"UNKNOWN: {programs.STOPPED}." and set(second) == KEYS


@pytest.mark.long
@pytest.mark.usefixtures("fresh")
def test_a_search_that_does_not_end_is_killed() -> None:
    first, second = verify_submitted(HEAD + RIGHT + ENDLESS, bound="eps", seconds=2)
    assert (first["status"], second["status"]) == ("PROVED", "UNKNOWN")
    assert second["explanation"] == f"UNKNOWN: {programs.OUT_OF_TIME}."
    assert not children()


@pytest.mark.long
@pytest.mark.usefixtures("fresh")
def test_many_threads_may_ask_at_once() -> None:
    texts = [HEAD + ONE.format(name=f"p{place}", what=f"q + vm.lap({place + 1} / eps)") for place in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(verify_submitted, texts))
    assert [[(entry["program"], entry["bound"]) for entry in entries] for entries in found] == [
        [("p0", "eps")], [("p1", "1/2*eps")], [("p2", "1/3*eps")], [("p3", "1/4*eps")],
    ]  # fmt: skip
    assert not children()
