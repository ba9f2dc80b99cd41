"""Whole proofs at random: whatever the kernel proves of a random program is true of its exact laws."""

from fractions import Fraction
from random import Random

from tests.logic.kernel.enumerator import World, excess
from tests.logic.kernel.proving import CLOSE, oracle, program, proves, term

from viameter.errors import ParameterError
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.core import Flip, If, Program, Sample, statements_of
from viameter.logic.solving.oracle import Oracle

DRAWS = (
    "x :=$ lap(1/eps)", "x :=$ lap(1/eps, q)", "x :=$ lap(2/eps, q)", "x :=$ expo(1/eps)", "x :=$ lap(1/eps, x)",
    "x :=$ uniform(0, 2)", "b :=$ flip(1/2)", "y :=$ lap(1/eps, x)", "y :=$ lap(2/eps, q + x)", "y :=$ lap(1/eps)",
)  # fmt: skip
STEPS = (
    "x := q + x", "y := x + 1", "y := y + x", "y := q - y", "r := x", "r := x + y", "r := q + y", "r := 2*x + q",
    "if x > 0 then\n  r := 1\nend", "if b then\n  r := x\nend", "if q + x > y then\n  r := 1\nelse\n  r := 2\nend",
    "if x > 0 then\n  y := q\nelse\n  x := 3\nend", "if b then\n  y := 0 - y\nend", "r := max(x, y)", "r := x // 2",
)  # fmt: skip
SHIFTS = ("0", "1", "-1", "q<1> - q<2>", "q<2> - q<1>", "2", "ite(x<1> > 0, 1, 0)", "ite(q<1> > q<2>, 1, 0)",
          "ite(out.R == 1, 1, 0)", "ite(x<1> == out.R, 0, 2)", "x<1> - x<2>", "-x<1>")  # fmt: skip
RELATIONS = (CLOSE, CLOSE, "q<1> == q<2> + 1", "q<2> == q<1> + 1")
WORLD = World({"eps": (Fraction(2), 2)}, window=6)


def random_program(random: Random) -> Program | None:
    body = ["x := 0", "y := 0", "b := false", random.choice(DRAWS)]
    body += random.choices((*DRAWS, *STEPS, *STEPS), k=random.randint(1, 4))
    if random.random() < 0.7:
        body.append(random.choice(("r := x", "r := y", "r := x + q", "r := x + y")))
    try:
        return program(*(line for text in body for line in text.split("\n")))
    except ParameterError:
        return None


def random_proof(random: Random, asks: Oracle, made: Program) -> Proof:
    choices = {}
    for statement in statements_of(made.body):
        if isinstance(statement, Sample):
            coin = isinstance(statement.law, Flip)
            text = random.choice(("false", "true", "q<1> > q<2>")) if coin else random.choice(SHIFTS)
            if random.random() < 0.3:
                text = "false" if coin else "0"
            choices[statement.at] = Choice(term(asks, text))
    branches = [s.at for s in statements_of(made.body) if isinstance(s, If) and random.random() < 0.6]
    return Proof(random.random() < 0.5, choices, frozenset(branches))


def test_what_is_proved_of_a_random_program_is_true() -> None:
    random, proved, tight = Random(0), 0, 0
    for _ in range(90):
        made = random_program(random)
        if made is None or made.output.sort != "int":
            continue
        relation = random.choice(RELATIONS)
        times = random.randint(0, 4)
        asks = oracle(made, f"{times}/2*eps", relation)
        try:
            if not proves(asks, f"{times}/2*eps", random_proof(random, asks, made)):
                continue
        except ParameterError:
            continue
        proved += 1
        factor = Fraction(2) ** times
        for first, second in ((0, 1), (1, 0), (2, 1), (-1, 0), (1, 1)):
            gap = first - second
            if relation != CLOSE and gap != (1 if relation.startswith("q<1>") else -1):
                continue
            one, _ = WORLD.outputs(made.body, {"q": first}, "r")
            other, lost = WORLD.outputs(made.body, {"q": second}, "r")
            assert excess(one, other, factor) <= factor * lost, (made.body, relation, times)
            tight += excess(one, other, factor * Fraction(3, 4)) > factor * lost
    assert proved >= 10 and tight >= 2
