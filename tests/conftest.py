"""How many examples a property test has; and no deadlines, since the machine is shared and no test asserts a time.

`VIAMETER_EXAMPLES=long` is what `make test-long` says. Mutants need a failure that can be
repeated, and not the smallest one.
"""

import os

from hypothesis import Phase, settings

settings.register_profile("fast", deadline=None, print_blob=True, max_examples=50)
settings.register_profile("long", settings.get_profile("fast"), max_examples=1000)
settings.register_profile("mutants", settings.get_profile("fast"), phases=[Phase.explicit, Phase.reuse, Phase.generate])
settings.load_profile(os.environ.get("VIAMETER_EXAMPLES", "fast"))
