"""Whether a file of a checkpoint is whole, by what it says of itself and by the sums beside it. No JVM is needed.

- the sums of Hadoop's local disk: `.NAME.crc`, a CRC-32 of each 512 bytes
- the sums of Spark from 4.1 on, for files of a state in format 2: `NAME.crc`, JSON with a CRC-32C and the length
- a snapshot of RocksDB is a zip file, with a CRC-32 of each part; it names its table files with their lengths
- changes, and the files of HDFS-backed stores, are LZ4 blocks up to a last empty one, where Spark's default codec wrote them
- a table file of RocksDB ends with the magic number of block-based tables
"""

import json
import mmap
import struct
import zipfile
import zlib
from pathlib import Path

from streamproof.checkpoint.crc32c import crc32c
from streamproof.checkpoint.stores import snapshot_of

_HADOOP = b"crc\0"
_LZ4 = b"LZ4Block"
_LZ4_HEADER = 21
_SST_END = bytes.fromhex("f7cff485b741e288")


Bytes = bytes | mmap.mmap


def damage_of(path: Path) -> str | None:
    """What is wrong with a file, as the rest of a sentence that begins with its name; None where nothing is, as far as can be told."""
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:  # such a file has no map
                return _in(path, b"")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _in(path, data)
    except FileNotFoundError:
        return "is gone"
    except OSError as problem:
        return f"cannot be read ({problem.strerror})"


def _in(path: Path, data: Bytes) -> str | None:
    return _by_spark(path, data) or _by_itself(path, data) or _by_hadoop(path, data)


def _by_hadoop(path: Path, data: Bytes) -> str | None:
    sums = path.with_name(f".{path.name}.crc")
    try:
        written = sums.read_bytes()
    except OSError:
        return None
    if len(written) < 8 or not written.startswith(_HADOOP):
        return None  # the sum is torn, and says nothing of the file
    (size,) = struct.unpack(">I", written[4:8])
    wanted = [struct.unpack(">I", written[place : place + 4])[0] for place in range(8, len(written) - 3, 4)]
    found = [zlib.crc32(data[place : place + size]) for place in range(0, len(data), size)] if size else []
    return None if found == wanted else f"does not have the sums that Hadoop wrote for it into {sums.name}"


def _by_spark(path: Path, data: Bytes) -> str | None:
    try:
        said = json.loads(path.with_name(f"{path.name}.crc").read_text(encoding="utf-8"))
        length, algorithm, value = int(said["mainFileSize"]), said["algorithm"], int(said["value"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    if length != len(data):
        return f"has {len(data):,} bytes, and Spark wrote {length:,}"
    if algorithm == "CRC32C" and crc32c(data) != value % (1 << 32):  # Java writes it with a sign
        return "does not have the sum that Spark wrote for it"
    return None


def _by_itself(path: Path, data: Bytes) -> str | None:
    if path.suffix == ".zip":
        return _zip(path)
    if path.suffix == ".sst":
        return None if data[-len(_SST_END) :] == _SST_END else "does not end as a table file of RocksDB does: it is cut short"
    if path.suffix in (".delta", ".snapshot", ".changelog"):
        return _lz4(data)
    return None


def _zip(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        return "is no whole zip file: it is cut short or damaged"
    if bad is not None:
        return f"has a damaged part, {bad}"
    return None if snapshot_of(path) is not None else "does not say which table files belong to it"


def _lz4(data: Bytes) -> str | None:
    """Blocks are walked by their lengths, up to the last, which is empty."""
    if not data:
        return "is empty"
    if data[: len(_LZ4)] != _LZ4:
        return None  # another codec
    place = 0
    while data[place : place + len(_LZ4)] == _LZ4 and place + _LZ4_HEADER <= len(data):
        compressed, plain = struct.unpack("<II", data[place + 9 : place + 17])
        place += _LZ4_HEADER + compressed
        if compressed == plain == 0:
            return None if place == len(data) else "goes on behind its end"
    return "is cut short: its last block is not whole"
