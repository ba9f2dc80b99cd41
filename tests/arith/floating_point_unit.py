"""Sets the floating-point unit of this thread as some libraries do, for the tests that it is noticed."""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager

can_be_set = sys.platform == "linux" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"

FLUSH_TO_ZERO = 0x8000
DENORMALS_ARE_ZERO = 0x0040
DOWNWARD, UPWARD, TOWARD_ZERO = 0x2000, 0x4000, 0x6000

_MXCSR_OFFSET = 28  # in glibc's fenv_t on x86-64


@contextmanager
def unit_set_to(flags: int) -> Iterator[None]:
    """Switch on flags of the MXCSR register; on the way out it is as it was."""
    libm = ctypes.CDLL("libm.so.6")
    before = ctypes.create_string_buffer(32)
    libm.fegetenv(before)
    changed = bytearray(before.raw)
    (register,) = struct.unpack_from("<I", changed, _MXCSR_OFFSET)
    struct.pack_into("<I", changed, _MXCSR_OFFSET, register | flags)
    libm.fesetenv(bytes(changed))
    try:
        yield
    finally:
        libm.fesetenv(before)
