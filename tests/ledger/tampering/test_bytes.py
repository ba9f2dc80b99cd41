"""Bytes of a ledger's file that flip: found, unless they say nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.ledger.tampering.example import Example, dump, look_at, make_example
from tests.processes import folder_in_memory

PAGE = 4096


@pytest.fixture(scope="module")
def example() -> Iterator[Example]:
    with folder_in_memory() as folder:
        yield make_example(folder, signed=True)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with bits flipped, a sector lost, two pages exchanged, or its end cut off."""
    found = bytearray(content)
    kind = chance.choices(["bits", "sector", "pages", "end"], weights=[12, 1, 1, 1])[0]
    if kind == "bits":
        for _ in range(chance.choice([1, 1, 3])):
            found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    elif kind == "sector":
        at = chance.randrange(len(found) // 512) * 512
        found[at : at + 512] = bytes(512)
    elif kind == "pages":
        one, other = (PAGE * place for place in chance.sample(range(len(found) // PAGE), 2))
        found[one : one + PAGE], found[other : other + PAGE] = found[other : other + PAGE], found[one : one + PAGE]
    else:
        del found[chance.randrange(1, len(found)) :]
    return bytes(found)


def look_for(example: Example, times: int, seed: int) -> Counter[str]:
    """Damage copies of a file; how often that was found, and by whom."""
    chance = random.Random(seed)
    found = Counter[str]()
    with folder_in_memory() as folder:
        before = dump(example.put(folder))
        while found.total() < times:
            content = damaged(example.content, chance)
            path = example.put(folder)
            path.write_bytes(content)
            for beside in folder.glob("budget.db-*"):
                beside.unlink()
            same = dump(path) == before
            finding = look_at(path, example.key)
            # Where nothing was said, `look_at` has charged a request, and all was in order before and after.
            assert same or finding is not None, seed
            found["nobody, and nothing was changed" if finding is None else finding.by] += 1
    return found


def test_damaged_files_are_found(example: Example) -> None:
    found = look_for(example, 120, 5)
    assert found["open"] > 10 and found["verify"] > 10 and found["nobody, and nothing was changed"] > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_damaged_files_are_found(example: Example, seed: int) -> None:
    look_for(example, 1000, seed)


def test_damage_that_only_the_database_sees_is_found(example: Example) -> None:
    content = bytearray(example.content)
    content[39] ^= 1  # how many pages are free: nothing that is read depends on it
    with folder_in_memory() as folder:
        path = example.put(folder)
        before = dump(path)
        path.write_bytes(content)
        assert dump(path) == before
        found = look_at(path, example.key)
    assert found is not None and found.by == "verify" and "the database finds its file damaged" in str(found.error)
