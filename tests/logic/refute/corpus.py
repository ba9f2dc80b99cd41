"""Programs of the core language, right and wrong, with the adjacency that each is made for."""

from __future__ import annotations

from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_amount, read_program, read_term
from viameter.logic.lang.scales import Amount
from viameter.logic.neighbors import Neighbors, sorts_of


def program_of(text: str) -> Program:
    return read_program(text)


def claim_of(program: Program, text: str = "eps") -> Amount:
    return read_amount(text, frozenset(program.budgets), sorts_of(program))


def all_differ(program: Program, name: str = "q", by: int = 1) -> Neighbors:
    fact = read_term(f"abs({name}<1>[any.k] - {name}<2>[any.k]) <= {by}", sorts_of(program))
    return Neighbors(frozenset({name}), each=((name, fact),), says=f"every {name}[k] differs by at most {by}")


def one_differs(program: Program, name: str = "q", by: int = 1) -> Neighbors:
    sorts = sorts_of(program, ("j",))
    near = read_term(f"abs({name}<1>[any.k] - {name}<2>[any.k]) <= {by}", sorts)
    same = read_term(f"any.k == j or {name}<1>[any.k] == {name}<2>[any.k]", sorts)
    return Neighbors(
        frozenset({name}), each=((name, near), (name, same)), constants=("j",), says=f"one {name}[k] differs"
    )


def number_differs(program: Program, name: str = "q", by: int = 1) -> Neighbors:
    fact = read_term(f"abs({name}<1> - {name}<2>) <= {by}", sorts_of(program))
    return Neighbors(frozenset({name}), facts=(fact,), says=f"{name} differs by at most {by}")


LAPLACE = """program laplace
input q: int
budget eps
begin
  n :=$ lap(SCALE)
  result := OUT
end
return result
"""


def laplace(scale: str = "1/eps", out: str = "q + n") -> Program:
    return read_program(LAPLACE.replace("SCALE", scale).replace("OUT", out))


PARTIAL_SUM = """program partial_sum
input q: list
budget eps
begin
  i := 0
  s := 0
  while i < len(q) do
    s := s + q[i]
    i := i + 1
  end
  n :=$ lap(SCALE)
  result := s + n
end
return result
"""


def partial_sum(scale: str = "1/eps") -> Program:
    return read_program(PARTIAL_SUM.replace("SCALE", scale))


ABOVE = """program above_threshold
input q: list
input t: int
budget eps
begin
  a :=$ lap(2/eps)
  noisy := t + a
  i := 0
  found := false
  result := -1
  while i < len(q) and not found do
    NOISE
    if q[i] + b >= noisy then
      result := i
      found := true
    end
    i := i + 1
  end
end
return result
"""


def above_threshold(noise: str = "b :=$ lap(4/eps)") -> Program:
    return read_program(ABOVE.replace("NOISE", noise))


SVT = """program svt
input q: list
input t: int
input N: int
budget eps
requires 1 <= N
begin
  a :=$ lap(2/eps)
  noisy := t + a
  i := 0
  c := 0
  while i < len(q) and (c < N or FOREVER) do
    b :=$ lap(SCALE)
    if q[i] + b >= noisy then
      append(out, YES)
      c := c + 1
    else
      append(out, NO)
    end
    i := i + 1
  end
end
return out
"""


def svt(scale: str = "4*N/eps", yes: str = "true", no: str = "false", *, forever: bool = False) -> Program:
    text = SVT.replace("SCALE", scale).replace("YES", yes).replace("NO", no)
    return read_program(text.replace("FOREVER", "true" if forever else "false"))


NOISY_MAX = """program noisy_max
input q: list
budget eps
begin
  i := 0
  best := 0
  index := 0
  while i < len(q) do
    n :=$ lap(SCALE)
    v := q[i] + n
    if v > best or i == 0 then
      best := v
      index := i
    end
    i := i + 1
  end
end
return RESULT
"""


def noisy_max(scale: str = "2/eps", result: str = "index") -> Program:
    return read_program(NOISY_MAX.replace("SCALE", scale).replace("RESULT", result))


SMART_SUM = """program smart_sum
input q: list
input M: int
budget eps
requires 1 <= M
begin
  i := 0
  next := 0
  s := 0
  while i < len(q) do
    if (i + 1) % M == 0 then
      BLOCK
      next := s + q[i] + a
      s := 0
    else
      b :=$ lap(1/eps)
      next := next + q[i] + b
      s := s + q[i]
    end
    append(out, next)
    i := i + 1
  end
end
return out
"""


def smart_sum(block: str = "a :=$ lap(1/eps)") -> Program:
    return read_program(SMART_SUM.replace("BLOCK", block))


HISTOGRAM = """program histogram
input q: list
budget eps
begin
  i := 0
  while i < len(q) do
    n :=$ lap(1/eps)
    append(out, q[i] + n)
    i := i + 1
  end
end
return out
"""

RESPONSE = """program response
input x: bool
begin
  keep :=$ flip(3/4)
  result := x == keep
end
return result
"""
