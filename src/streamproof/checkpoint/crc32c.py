"""CRC-32C (Castagnoli, RFC 3720), by which Spark sums the files of a state from 4.1 on; Python's standard library has only the other CRC-32."""

from functools import cache
from mmap import mmap

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_LANES = 4096
_SHORT = 1 << 16
"""Up to so many bytes one after another is quicker."""


def crc32c(data: bytes | mmap) -> int:
    """The sum of bytes: of b"123456789" it is 0xE3069283."""
    register, begin = _ONES, 0
    if len(data) > _SHORT:
        length = len(data) // _LANES
        begin = length * _LANES
        matrix = _zeros(length)
        # Each lane by itself, all at once; a register that has seen zeros alone says what those before it leave.
        for lane in _lanes(np.frombuffer(data, dtype=np.uint8, count=begin).reshape(_LANES, length)):
            register = _applied(matrix, register) ^ int(lane)
    table = _table()
    for byte in data[begin:]:
        register = table[(register ^ byte) & 0xFF] ^ (register >> 8)
    return register ^ _ONES


def _lanes(bytes_: "np.ndarray") -> "np.ndarray":
    table = np.array(_table(), dtype=np.uint32)
    registers = np.zeros(_LANES, dtype=np.uint32)
    for column in np.ascontiguousarray(bytes_.T):
        registers = table[(registers ^ column) & 0xFF] ^ (registers >> 8)
    return registers


@cache
def _table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


def _zeros(count: int) -> tuple[int, ...]:
    """The matrix over GF(2) of what so many zero bytes make of a register: for each bit what it becomes."""
    table = _table()
    step = tuple(table[(1 << bit) & 0xFF] ^ ((1 << bit) >> 8) for bit in range(32))
    found = tuple(1 << bit for bit in range(32))
    while count:
        if count & 1:
            found = tuple(_applied(step, one) for one in found)
        step = tuple(_applied(step, one) for one in step)
        count >>= 1
    return found


def _applied(matrix: tuple[int, ...], register: int) -> int:
    found = 0
    while register:
        low = register & -register
        found ^= matrix[low.bit_length() - 1]
        register ^= low
    return found
