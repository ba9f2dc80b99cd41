"""Programs with certificates that hold, written by hand; each function gives a new one."""

from typing import Any

from tests.viameter_check.programs.writing import Json, at, certificate, neighbors, proof

ALL = [("q", "abs(q<1>[any.k] - q<2>[any.k]) <= 1")]
"""Every element differs by at most 1."""
ONE: dict[str, Any] = {
    "each": [*ALL, ("q", "any.k == q.at or q<1>[any.k] == q<2>[any.k]")],
    "constants": ["q.at"],
}
"""One element differs, by at most 1."""

LAPLACE = """program laplace
input q: int
budget eps
begin
  noise :=$ lap(1/eps)
  result := q + noise
end
return result
"""


def laplace(claim: Json | str = "eps", *, fine: int = 1, **parts: Any) -> Json:
    shifts = {at(LAPLACE, "noise"): "q<1> - q<2>"}
    near = neighbors(["q"], "abs(q<1> - q<2>) <= 1")
    return certificate(LAPLACE, claim, proof(LAPLACE, near, **{"units": {"eps": fine}, "shifts": shifts, **parts}))


CENTERED = """program centered
input q: int
budget eps
begin
  result :=$ lap(2/eps, q)
end
return result
"""


def centered(claim: str = "1/2*eps") -> Json:
    near = neighbors(["q"], "abs(q<1> - q<2>) <= 1")
    return certificate(CENTERED, claim, proof(CENTERED, near, units={"eps": 2}))


ABOVE = """program above_threshold
input q: list
input t: int
budget eps
begin
  noise :=$ lap(2/eps)
  noisy_t := t + noise
  result := -1
  i := 0
  done := false
  while i < len(q) and not done do
    x :=$ lap(4/eps)
    if q[i] + x >= noisy_t then
      result := i
      done := true
    end
    i := i + 1
  end
end
return result
"""


def above_threshold(claim: str = "eps", *, fine: int = 1) -> Json:
    loop = at(ABOVE, "while")
    invariant = [
        "i<1> == i<2>",
        "done<1> == done<2>",
        "result<1> == result<2>",
        "noisy_t<2> == noisy_t<1> + 1",
        f"cost.eps <= ite(done<1>, {4 * fine}, {2 * fine})",
    ]
    shifts = {at(ABOVE, "noise"): "1", at(ABOVE, "x"): "ite(q<1>[i<1>] + x<1> >= noisy_t<1>, 2, 0)"}
    annotated = proof(
        ABOVE,
        neighbors(["q"], each=ALL, says="every query differs by at most 1"),
        units={"eps": 4 * fine},
        shifts=shifts,
        invariants={loop: invariant},
        variants={loop: "len(q) - i"},
    )
    return certificate(ABOVE, claim, annotated)


PREFIX = """program prefix_sum
input q: list
budget eps
begin
  s := 0
  i := 0
  while i < len(q) do
    noise :=$ lap(1/eps)
    s := s + q[i] + noise
    append(sums, s)
    i := i + 1
  end
end
return sums
"""


def prefix_sum(claim: str = "eps", *, fine: int = 1) -> Json:
    loop = at(PREFIX, "while")
    invariant = ["i<1> == i<2>", "s<1> == s<2>", "same.sums", f"cost.eps <= ite(i<1> > q.at, {fine}, 0)"]
    annotated = proof(
        PREFIX,
        neighbors(["q"], **ONE),
        units={"eps": fine},
        shifts={at(PREFIX, "noise"): "q<1>[i<1>] - q<2>[i<2>]"},
        invariants={loop: invariant},
        variants={loop: "len(q) - i"},
    )
    return certificate(PREFIX, claim, annotated)


def noisy_max_text(law: str) -> str:
    return f"""program noisy_max
input q: list
budget eps
begin
  i := 0
  best := 0
  winner := 0
  while i < len(q) do
    x :=$ {law}
    if i == 0 or q[i] + x > best then
      best := q[i] + x
      winner := i
    end
    i := i + 1
  end
end
return winner
"""


def noisy_max(claim: str = "eps", *, law: str = "lap(2/eps)", shift: str = "2", unit: int = 2, fine: int = 1) -> Json:
    text = noisy_max_text(law)
    loop = at(text, "while")
    invariant = [
        "i<1> == i<2>",
        "0 <= i<1>",
        "0 <= winner<1>",
        "i<1> > 0 => winner<1> < i<1>",
        "i<1> == 0 => winner<1> == 0 and winner<2> == 0",
        "0 < i<1> and i<1> <= out.R => best<2> <= best<1> + 1",
        "0 < i<1> and out.R < i<1> and winner<1> == out.R => winner<2> == out.R and best<2> >= best<1> + 1",
        f"cost.eps <= ite(out.R < i<1>, {unit * fine}, 0)",
    ]
    annotated = proof(
        text,
        neighbors(["q"], each=ALL),
        units={"eps": unit * fine},
        pointwise=True,
        shifts={at(text, "x"): f"ite(i<1> == out.R, {shift}, 0)"},
        split=[int(at(text, "if"))],
        invariants={loop: invariant},
        variants={loop: "len(q) - i"},
    )
    return certificate(text, claim, annotated)


SWAP = """program swap
input b: bool
budget eps
begin
  x :=$ expo(1/eps)
  seen := b and x == 0 or not b and x == 1
end
return seen
"""


def swap(claim: str = "eps") -> Json:
    """The shift exchanges 0 and 1: it depends on what is drawn, and costs -1 where that is 1."""
    shift = "ite(b<1> == b<2>, 0, ite(x<1> == 0, 1, ite(x<1> == 1, -1, 0)))"
    return certificate(SWAP, claim, proof(SWAP, neighbors(["b"]), units={"eps": 1}, shifts={at(SWAP, "x"): shift}))


RESPONSE = """program response
input b: bool
begin
  honest :=$ flip(3/4)
  answer := b == honest
end
return answer
"""


def response(claim: str = "ln(3)") -> Json:
    shifts = {at(RESPONSE, "honest"): "b<1> != b<2>"}
    return certificate(RESPONSE, claim, proof(RESPONSE, neighbors(["b"]), units={"ln(3)": 1}, shifts=shifts))


def pad_text(many: str = "10") -> str:
    last = "9" if many == "10" else f"{many} - 1"
    declared = "" if many == "10" else f"input {many}: int\nrequires 1 <= {many}\n"
    return f"""program pad
input q: int
{declared}begin
  key :=$ uniform(0, {last})
  result := (q + key) % {many}
end
return result
"""


def pad(many: str = "10", claim: str = "0") -> Json:
    text = pad_text(many)
    return certificate(text, claim, proof(text, neighbors(["q"]), shifts={at(text, "key"): "q<1> - q<2>"}))


SELECT = """program select
input q: list
budget eps
begin
  best :=$ choose(q, 2/eps)
end
return best
"""


def select(claim: str = "eps", *, fine: int = 1) -> Json:
    near, bounds = neighbors(["q"], each=ALL), {at(SELECT, "best"): ["-1", "1"]}
    return certificate(SELECT, claim, proof(SELECT, near, units={"eps": 2 * fine}, bounds=bounds))


GAUSS = """program gauss
input q: int
begin
  noise :=$ gauss(10)
  result := q + noise
end
return result
"""


def gauss(claim: Json | None = None) -> Json:
    line = at(GAUSS, "noise")
    annotated = proof(
        GAUSS,
        neighbors(["q"], "abs(q<1> - q<2>) <= 1"),
        units={"rho": 200},
        shifts={line: "q<1> - q<2>"},
        bounds={line: ["1"]},
    )
    return certificate(GAUSS, claim or {"measure": "zcdp", "amount": "1/200"}, annotated)


HISTOGRAM = """program histogram
input q: list
begin
  i := 0
  while i < len(q) do
    x :=$ gauss(10, q[i])
    append(counts, x)
    i := i + 1
  end
end
return counts
"""


def histogram() -> Json:
    """A bound that depends on the index: only one element costs anything."""
    loop = at(HISTOGRAM, "while")
    annotated = proof(
        HISTOGRAM,
        neighbors(["q"], **ONE),
        units={"rho": 200},
        bounds={at(HISTOGRAM, "x"): ["ite(i<1> == q.at, 1, 0)"]},
        invariants={loop: ["i<1> == i<2>", "same.counts", "cost.rho <= ite(i<1> > q.at, 1, 0)"]},
        variants={loop: "len(q) - i"},
    )
    return certificate(HISTOGRAM, {"measure": "zcdp", "amount": "1/200"}, annotated)


CLAMPED = """program clamped
input q: int
budget eps
begin
  if q > 10 then
    c := 10
  else
    if q < 0 then
      c := 0
    else
      c := q
    end
  end
  result :=$ lap(10/eps, c)
end
return result
"""


def clamped(claim: str = "eps") -> Json:
    """The runs take different branches, on inputs that have nothing in common."""
    split = [int(at(CLAMPED, "if")), int(at(CLAMPED, "if", 1))]
    return certificate(CLAMPED, claim, proof(CLAMPED, neighbors(["q"]), units={"eps": 10}, split=split))


EARLY = """program early
input q: list
budget eps
begin
  noise :=$ lap(1/eps)
  s := 0
  i := 0
  while i < len(q) do
    s := s + q[i]
    i := i + 1
  end
  result := s + noise
end
return result
"""
LATE = """program early
input q: list
budget eps
begin
  s := 0
  i := 0
  while i < len(q) do
    s := s + q[i]
    i := i + 1
  end
  noise :=$ lap(1/eps)
  result := s + noise
end
return result
"""


def early(claim: str = "eps") -> Json:
    """Noise that is drawn before the sum that it protects is moved behind it."""
    loop = at(LATE, "while")
    annotated = proof(
        LATE,
        neighbors(["q"], **ONE),
        moves=[{"line": int(at(EARLY, "noise")), "past": 3}],
        units={"eps": 1},
        shifts={at(LATE, "noise"): "s<1> - s<2>"},
        invariants={loop: ["i<1> == i<2>", "abs(s<1> - s<2>) <= ite(i<1> > q.at, 1, 0)", "cost.eps == 0"]},
        variants={loop: "len(q) - i"},
    )
    return certificate(EARLY, claim, annotated)


SPARSE = """program sparse
input q: list
input t: int
input N: int
budget eps
requires 1 <= N
begin
  noise :=$ lap(2/eps)
  noisy_t := t + noise
  count := 0
  i := 0
  while i < len(q) and count < N do
    x :=$ lap(4*N/eps)
    if q[i] + x >= noisy_t then
      append(answers, 1)
      count := count + 1
    else
      append(answers, 0)
    end
    i := i + 1
  end
end
return answers
"""


def sparse(claim: str = "eps", *, fine: int = 1) -> Json:
    loop = at(SPARSE, "while")
    invariant = [
        "i<1> == i<2>",
        "count<1> == count<2>",
        "count<1> <= N",
        "same.answers",
        "noisy_t<2> == noisy_t<1> + 1",
        f"cost.eps <= {2 * fine}*N + {2 * fine}*count<1>",
    ]
    annotated = proof(
        SPARSE,
        neighbors(["q"], each=ALL),
        units={"eps": {"number": 4 * fine, "factors": ["N"]}},
        shifts={at(SPARSE, "noise"): "1", at(SPARSE, "x"): "ite(q<1>[i<1>] + x<1> >= noisy_t<1>, 2, 0)"},
        invariants={loop: invariant},
        variants={loop: "len(q) - i"},
    )
    return certificate(SPARSE, claim, annotated)


CALLS = """program calls
input q: int
begin
  a :=$ call noisy(2*q)
  b :=$ call noisy(q)
  result := a + b
end
return result
"""


def calls(claim: Json | None = None) -> Json:
    mechanisms = {"noisy": {"distance": "2", "epsilon": "1/2", "delta": "1/1000", "says": "somebody said so"}}
    near = neighbors(["q"], "abs(q<1> - q<2>) <= 1")
    claim = claim or {"measure": "approx", "amount": "1", "delta": "1/500"}
    return certificate(CALLS, claim, proof(CALLS, near, units={"1": 2, "delta": 1000}), mechanisms=mechanisms)


MONOTONE = LAPLACE.replace("program laplace", "program monotone")


def monotone(claim: str = "eps") -> Json:
    """One direction of adjacency at a time: the second input is never below the first."""
    shifts = {at(MONOTONE, "noise"): "q<1> - q<2>"}
    up = proof(MONOTONE, neighbors(["q"], "0 <= q<2> - q<1> <= 1"), units={"eps": 1}, shifts=shifts)
    down = proof(MONOTONE, neighbors(["q"], "0 <= q<1> - q<2> <= 1"), units={"eps": 1}, shifts=shifts)
    return certificate(MONOTONE, claim, up, down)


ZOO = {
    "laplace": laplace, "centered": centered, "above_threshold": above_threshold, "prefix_sum": prefix_sum,
    "noisy_max": noisy_max, "noisy_max with one-sided noise": lambda: noisy_max(law="expo(2/eps)"), "swap": swap,
    "response": response, "pad": pad, "select": select, "gauss": gauss, "histogram": histogram, "clamped": clamped,
    "early": early, "sparse": sparse, "calls": calls, "monotone": monotone,
}  # fmt: skip
"""Every certificate that holds, by name."""
