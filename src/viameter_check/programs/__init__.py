"""Certificates of programs: the proof is replayed backward, from what is claimed to what is assumed, and cvc5 decides.

What is checked is a statement about two runs of one program on adjacent inputs. Nothing here is shared with the prover:
the text is parsed anew, weakest preconditions are computed from the last statement to the first, and another solver is
asked. Only this folder needs more than the standard library: cvc5, which is imported when the first question is asked.

- `checking`: the whole check. `frame`: what a certificate must have. `report`: what is said of it.
- `terms`, `walking`, `showing`: expressions. `tokens`, `scopes`, `reading`, `scales`: their text.
- `syntax`, `laws`, `texts`: programs, and their text. `moves`: draws that are made later.
- `relations`, `adjacency`: which inputs are adjacent. `facts`: what is known of them.
- `claims`, `units`, `annotations`, `proofs`: what is claimed, what costs are counted in, what a proof adds to its text.
- `words`: adjacency in words. `inputs`, `slots`, `steps`: a program as a measurement, its data and their distances.
- `preconditions`, `draws`: the rules. `tree`: which is used where. `questions`, `solving`: what the solver is asked.
"""

from viameter_check.programs.checking import check_program
from viameter_check.programs.frame import FORMAT
from viameter_check.programs.report import Discharged, ProgramReport

__all__ = ["FORMAT", "Discharged", "ProgramReport", "check_program"]
