"""Read CSV files such that what stands in one record has no say in how another is read.

The dialect: UTF-8 (with or without a byte order mark), commas, records that end with LF or CRLF, and values in double
quotes, in which a quote is written twice; whatever stands within quotes belongs to the value, line ends too, and CR
elsewhere than before LF. An empty value is NULL, in quotes or not.

A byte is within quotes if the number of quotes before it is odd. A record is what lies between two ends of lines that
are not within quotes. A correct writer writes a record in which the number of quotes is even, and odd before each end
of line inside of it. So a record that is put in or taken out between two others changes neither where these begin and
end nor, since a record is then read by itself, what is read of them. There is no resynchronization: a file that is not
of the dialect is refused as a whole, by the line at which its first fault is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from viameter.tables.engines.errors import UnreadableData
from viameter.tables.engines.names import require_different

BLOCK = 2**23
"""Bytes that are read at a time."""
LONGEST_RECORD = 2**26
"""Bytes of the longest record: a quote that is not closed must not bring the rest of a large file into memory."""

COMMA, LF, CR, QUOTE, MARK = b",", b"\n", b"\r", b'"', b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Some whole records of a file."""

    bytes: bytes
    line: int
    """The line of the file at which it begins."""
    ends: Any
    """Where each value ends: the place of the comma or LF behind it."""
    is_last: Any
    """Whether it is the last value of its record."""


def read_csv(path: Path) -> tuple[list[str], Iterator[Any]]:
    """The names in the first record, and the other records as Arrow tables of text, some at a time."""
    blocks = _blocks(path)
    first = next(blocks, None)
    names = [] if first is None else _fields(path, first).slice(0, int(first.is_last.argmax()) + 1).to_pylist()
    if first is None or not any(names):
        raise UnreadableData(f"{str(path)!r} has no header: expected a first line of names, with commas between")
    if not all(names):
        raise UnreadableData(
            f"{str(path)!r}: name {names.index(None) + 1} of the first line is empty: expected a name for each column "
            "(pandas writes an index without one unless it is told index=False)"
        )
    require_different(names, where=str(path))
    if any("\r" in name.replace("\r\n", "") for name in names):
        raise UnreadableData(f"{str(path)!r}: lines end with CR alone; expected LF, or CR and LF")
    tables = (_table(path, block, names) for block in chain([first], blocks))
    return names, (table.slice(1) if number == 0 else table for number, table in enumerate(tables))


def _blocks(path: Path) -> Iterator[Block]:
    import numpy as np

    line, rest, at_end = 1, b"", False
    with path.open("rb") as file:
        rest = file.read(len(MARK)).removeprefix(MARK)
        while not at_end:
            read = file.read(max(BLOCK, len(rest)))
            at_end = not read
            text = rest + read
            if at_end and text and not text.endswith(LF):
                text += LF
            letters = np.frombuffer(text, np.uint8)
            separates = (letters == ord(COMMA)) | (letters == ord(LF))
            if QUOTE in text:
                separates &= np.bitwise_xor.accumulate((letters == ord(QUOTE)).view(np.uint8)) == 0
            ends = np.flatnonzero(separates)
            is_last = letters[ends] == ord(LF)
            count = int(np.flatnonzero(is_last)[-1]) + 1 if is_last.any() else 0
            size = int(ends[count - 1]) + 1 if count else 0
            rest = text[size:]
            if count:
                yield Block(text[:size], line, ends[:count], is_last[:count])
                line += text.count(LF, 0, size)
            if rest and (at_end or len(rest) > LONGEST_RECORD):
                why = "the file ends before" if at_end else f"it is longer than {LONGEST_RECORD} bytes"
                raise UnreadableData(
                    f"{str(path)!r}: the record at line {line} does not end ({why}): is a quote missing?"
                )


def _table(path: Path, block: Block, names: list[str]) -> Any:
    """The records of a block. Lines with nothing on them are none, where a record has several values."""
    import numpy as np
    import pyarrow as pa

    values, width = _fields(path, block), len(names)
    ends, is_last = block.ends, block.is_last
    if width > 1:
        is_record = is_last & np.concatenate(([True], is_last[:-1]))
        is_blank = is_record & np.asarray(values.is_null()) & (np.diff(ends, prepend=-1) <= 2)
        values, ends, is_last = values.filter(pa.array(~is_blank)), ends[~is_blank], is_last[~is_blank]
    expected = np.arange(len(ends)) % width == width - 1
    if len(ends) % width or (is_last != expected).any():
        wrong = int((is_last != expected).argmax()) if (is_last != expected).any() else len(ends) - 1
        begins = int(ends[np.flatnonzero(is_last[:wrong])[-1]]) + 1 if is_last[:wrong].any() else 0
        raise UnreadableData(
            f"{str(path)!r}: the record at line {block.line + block.bytes.count(LF, 0, begins)} has another number of "
            f"values than the {width} of the first line"
        )
    places = np.arange(0, len(values), width)
    return pa.table([values.take(pa.array(places + place)) for place in range(width)], names=names)


def _fields(path: Path, block: Block) -> Any:
    """All values of a block as Arrow text, each read by itself."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        block.bytes.decode()
    except UnicodeDecodeError as error:
        place = block.line + block.bytes.count(LF, 0, error.start)
        raise UnreadableData(f"{str(path)!r}: line {place} is not UTF-8") from None
    offsets = np.concatenate(([0], block.ends + 1)).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(block.bytes)]
    values = pc.binary_slice(pa.BinaryArray.from_buffers(pa.binary(), len(block.ends), buffers), 0, -1)
    has_cr = pc.and_(pa.array(block.is_last), pc.ends_with(values, CR))
    values = pc.if_else(has_cr, pc.binary_slice(values, 0, -1), values)
    has_quote = pc.match_substring(values, QUOTE)
    quoted = values.filter(has_quote)
    inner = pc.binary_slice(quoted, 1, -1)
    # Between two separators the number of quotes is even.
    is_left = pc.match_substring(pc.replace_substring(inner, QUOTE * 2, b""), QUOTE)
    is_wrong = pc.or_(is_left, pc.invert(pc.and_(pc.starts_with(quoted, QUOTE), pc.ends_with(quoted, QUOTE))))
    if pc.any(is_wrong).as_py():
        wrong = np.flatnonzero(np.asarray(has_quote))[np.asarray(is_wrong).argmax()]
        place = block.line + block.bytes.count(LF, 0, int(offsets[wrong]))
        raise UnreadableData(
            f"{str(path)!r}: a value at line {place} has a quote that is neither around it nor doubled"
        )
    values = pc.replace_with_mask(values, has_quote, pc.replace_substring(inner, QUOTE * 2, QUOTE))
    return pc.if_else(pc.equal(values, b""), None, values).cast(pa.string())
