"""Confluent's wire format: a zero byte, the id of the schema in four bytes, then the record; Protobuf names its message in between."""

import struct
from collections.abc import Sequence

_HEADER = struct.Struct(">bI")


class Broken(ValueError):
    """Why bytes are no record, in words without values."""


class Undecodable(Broken):
    """The schema is known and fits; the bytes are no record of it."""


def framed(schema_id: int, payload: bytes = b"") -> bytes:
    """A record with its header; without a payload the header alone."""
    return _HEADER.pack(0, schema_id) + payload


def unframed(value: bytes) -> tuple[int, bytes]:
    """The id of the writer's schema, and the payload.

    Raises
    ------
    Broken
        If there is no such header.
    """
    if value and value[0] != 0:
        raise Broken(f"not in the registry's wire format (begins with 0x{value[0]:02x})")
    if len(value) < _HEADER.size:
        raise Broken("too short for a schema id")
    return _HEADER.unpack_from(value)[1], value[_HEADER.size :]


def indexed(indexes: Sequence[int]) -> bytes:
    """Which message of a file, as a path of indexes through the messages that hold it; the first of all is a single zero."""
    if list(indexes) == [0]:
        return b"\0"
    return b"".join(_varint(number) for number in (len(indexes), *indexes))


def unindexed(payload: bytes) -> tuple[Sequence[int], bytes]:
    """The path of indexes, and what is after it.

    Raises
    ------
    Broken
        If there is none.
    """
    count, at = _number(payload, 0)
    if count == 0:
        return (0,), payload[at:]
    if not 0 < count <= len(payload):
        raise Broken("no message indexes")
    indexes = []
    for _ in range(count):
        number, at = _number(payload, at)
        indexes.append(number)
    return tuple(indexes), payload[at:]


def _varint(number: int) -> bytes:
    """A number that is not negative, zigzag, seven bits a byte."""
    left, written = number << 1, bytearray()
    while left > 0x7F:
        written.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*written, left])


def _number(payload: bytes, at: int) -> tuple[int, int]:
    found = 0
    for shift in range(0, 35, 7):
        if at >= len(payload):
            break
        found |= (payload[at] & 0x7F) << shift
        at += 1
        if payload[at - 1] < 0x80:
            return (found >> 1) ^ -(found & 1), at
    raise Broken("no message indexes")
