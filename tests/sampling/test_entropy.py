"""Where bits come from: fresh for every call, different after a fork, the same from a tape; and nothing else draws."""

import ast
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.processes import alone

import viameter.sampling
from viameter.sampling import SYSTEM, Tape, TapeExhausted, discrete_gaussian, discrete_laplace
from viameter.sampling.entropy import FEW_BYTES, CipherStream, SystemStream
from viameter.sampling.noise import laplace_engine

SOURCE = Path(viameter.sampling.__file__).parent


def test_the_keystream_is_that_of_aes_256_in_counter_mode() -> None:
    # NIST SP 800-38A, F.5.5.
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    secret = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5")
    stream = CipherStream(key + counter).take(len(plain))
    assert bytes(a ^ b for a, b in zip(plain, stream, strict=True)) == secret


def test_a_stream_goes_on_where_it_stopped_whatever_was_taken() -> None:
    whole = bytes(CipherStream(bytes(48)).take(1_000_000))
    parts, stream = b"", CipherStream(bytes(48))
    for size in (1, 15, 16, 17, 4096, 2**18, 2**18 + 1, 0, 3):
        parts += bytes(stream.take(size))
    assert whole.startswith(parts)


def test_every_stream_takes_a_fresh_key(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = os.urandom

    def counted(size: int) -> bytes:
        asked.append(size)
        return real(size)

    monkeypatch.setattr("viameter.sampling.entropy.os.urandom", counted)
    first, second = SYSTEM.stream(FEW_BYTES + 1), SYSTEM.stream(FEW_BYTES + 1)
    assert asked == [48, 48]
    assert bytes(first.take(32)) != bytes(second.take(32))
    assert isinstance(SYSTEM.stream(FEW_BYTES), SystemStream)
    assert (discrete_laplace(1000, 10) != discrete_laplace(1000, 10)).any()


@alone
def test_eight_forks_and_their_parent_draw_different_noise() -> None:
    laplace_engine.cache_clear()
    discrete_laplace(1000, 1000)
    seen = set()
    for _ in range(8):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, discrete_laplace(1000, 1000).tobytes() + discrete_gaussian(100, 1000).tobytes())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            seen.add(pipe.read())
        assert os.waitpid(child, 0)[1] == 0
    seen.add(discrete_laplace(1000, 1000).tobytes() + discrete_gaussian(100, 1000).tobytes())
    assert len(seen) == 9


def test_a_tape_replays_and_runs_out() -> None:
    assert (
        discrete_laplace(1000, 7, entropy=Tape.seeded(3)) == discrete_laplace(1000, 7, entropy=Tape.seeded(3))
    ).all()
    tape = Tape(bytes(range(10)))
    assert [tape.bits(8), tape.bits(4), tape.bits(16)] == [0, 0, 0x0203]
    with pytest.raises(TapeExhausted, match="10 bytes"):
        tape.take(7)


def test_threads_may_draw_at_once_also_at_a_scale_nobody_used_before() -> None:
    laplace_engine.cache_clear()
    drawn: list[np.ndarray] = []

    def draw() -> None:
        drawn.extend(discrete_laplace(5000, scale) for scale in range(100, 110))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 80
    assert len({block.tobytes() for block in drawn}) == 80


def test_no_other_source_of_randomness_is_used() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            assert not {"random", "secrets", "time"} & {*names, module.partition(".")[0]}, path
            if isinstance(node, ast.Attribute):
                assert node.attr != "random", path


def test_no_room_but_sampling_draws() -> None:
    for path in sorted(SOURCE.parent.rglob("*.py")):
        if SOURCE not in path.parents:
            text = path.read_text()
            assert "urandom" not in text and "import secrets" not in text.replace(">>> import secrets", ""), path
            assert "np.random" not in text and not re.search(r"\bimport random\b", text), path
