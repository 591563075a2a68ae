"""Lines for a schema by a seed: what its columns hold and what they cannot hold, written in every way that JSON has, whole and damaged."""

import json
import random
from collections.abc import Callable, Iterator, Mapping

SCHEMA = (
    "id string, n bigint, i int, s smallint, t tinyint, v double, ok boolean, p decimal(9,2), q decimal(30,6), at timestamp, "
    "local timestamp_ntz, day date, inner struct<a: int, b: array<string>, c: struct<x: double>>, m map<string, bigint>, "
    "list array<struct<k: string, v: decimal(4,1)>>, `kéy` string, `a.b` int"
)
"""Every type that is read in one pass."""
MORE_KEYS = ("more", "x", "id2", "ID", "é", "", "n ")
WORDS = ("", "a", "o-17", "tab\t", 'quote"', "back\\slash", "ü€", "😀", "\x00", "\x7f", " ", "1", "null", "NaN", "}", "a" * 40)
NUMBERS = """
0 -0 1 -1 7 12.5 -0.0 0.1 1e3 1E+2 1e-7 1e400 -1e400 1e-400 4.9e-324 1.7976931348623157e308 9007199254740993 127 128 -129 200 32768 2147483648
-2147483649 9223372036854775807 -9223372036854775808 9223372036854775808 -9223372036854775809 1234567890123456789 99999999.99 9999999.99
9999999.994 12345.670 0.000001 123456789012345678.123456 999999999999999999999999.999999 0.30000000000000004 2.2250738585072011e-308
123456789012345678901234567890 999.9 999.95 01 1. .5 -.5 +1 1e 1e+ -- 0x10 1_000 -Infinity NaN Infinity
""".split()  # noqa: SIM905 -- a list would have a line for each
TIMES = """
2026-01-05 2026-1-5 2026-02-29 2024-02-29 0000-01-01 9999-12-31 10000-01-01 1582-10-10 2026-01-05T09:00:00 2026-01-05T09:00:00Z
2026-01-05T09:00:00.25+02:00 2026-01-05T09:00:00.123456Z 2026-01-05T09:00:00.1234567Z 2026-01-05T09:00:00.1234560Z 2026-01-05T24:00:00
2026-01-05T09:60:00 2026-01-05T09:00 2026-01-05T9:00:00 2026-03-08T02:30:00 2026-11-01T01:30:00 1883-11-18T12:00:00 2026-01-05T09:00:00+18:00
2026-01-05T09:00:00-17:59 2026-01-05T09:00:00+02 2026-01-05T09:00:00+0200 2026-01-05T09:00:00+2:00 2026-01-05T09:00:00z T09:00:00 yesterday
2026-01-05T09:00:00.Z 2026-01-05T09:00:00+19:00 2026-01-05T09:00:00-00:00 1969-12-31T23:59:59.999999Z 0001-01-01T00:00:00Z
""".split()  # noqa: SIM905 -- a list would have a line for each
SPACES = ("", "", "", " ", "  ", "\t", "\n", "\r\n")
INSERTED = (b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\x00", b"\x01", b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\xc0\xaf", b"\\u", b"\\ud83d",
            b"\\u0000", b"\\x", b"/", b"'", b"0", b"-", b"e", b".", b"\xef\xbb\xbf", b"\xe2\x82\xac", b" ", b"null", b"{}", b"/*c*/")  # fmt: skip


def lines(seed: int, count: int) -> Iterator[bytes]:
    """So many lines: two of three as they were made, the others damaged in one place or in two."""
    choose = random.Random(seed)
    for _ in range(count):
        line = _record(choose).encode("utf-8", "surrogatepass")
        for _ in range(choose.choice((0, 0, 0, 0, 1, 2))):
            line = _damaged(choose, line)
        yield line


def _record(choose: random.Random) -> str:
    if choose.random() < 0.02:
        return choose.choice(("", " ", "[]", "5", '"text"', "null", "{}", " {} ", "{} {}", "[{}]", "{", "}"))
    fields = [(name, make(choose)) for name, make in COLUMNS.items() if choose.random() < 0.22]
    fields += [(choose.choice(MORE_KEYS), _any(choose, 0)) for _ in range(choose.choice((0, 0, 0, 1, 2)))]
    if choose.random() < 0.3:
        choose.shuffle(fields)
    if fields and choose.random() < 0.03:
        fields.append(choose.choice(fields))
    return _space(choose) + _object(choose, fields) + _space(choose)


def _object(choose: random.Random, fields: list[tuple[str, str]]) -> str:
    written = [
        f"{_space(choose)}{_text(choose, name)}{_space(choose)}:{_space(choose)}{value}{_space(choose)}" for name, value in fields
    ]
    return "{" + ",".join(written) + "}"


def _space(choose: random.Random) -> str:
    return choose.choice(SPACES)


def _text(choose: random.Random, text: str) -> str:
    if choose.random() < 0.02:
        return (
            '"' + "".join(f"\\u{ord(letter):04{choose.choice('xX')}}" if ord(letter) < 0x10000 else letter for letter in text) + '"'
        )
    return json.dumps(text, ensure_ascii=choose.random() < 0.5)


def _number(choose: random.Random) -> str:
    drawn = choose.random()
    if drawn < 0.15:
        return choose.choice(NUMBERS)
    if drawn < 0.45:
        return str(choose.randrange(-(10 ** choose.randrange(1, 21)), 10 ** choose.randrange(1, 21)))
    if drawn < 0.75:
        return f"{choose.randrange(10 ** choose.randrange(1, 12))}.{choose.randrange(10 ** choose.randrange(1, 8)):0{choose.randrange(1, 8)}}"
    return repr(choose.choice((choose.random(), choose.gauss(0, 1e5), choose.random() * 10 ** choose.randrange(-320, 309))))


def _time(choose: random.Random, shape: str = "") -> str:
    """A date, a time with an offset, or one without ("d", "z", "l"): mostly one that there is."""
    if choose.random() < 0.1:
        return json.dumps(choose.choice(TIMES))
    shape = choose.choice("dzl") if not shape or choose.random() < 0.03 else shape
    beyond = choose.random() < 0.05
    day = f"{choose.randrange(10000):04}-{choose.randrange(1, 14 if beyond else 13):02}-{choose.randrange(1, 33 if beyond else 29):02}"
    if shape == "d":
        return json.dumps(day)
    time = f"{choose.randrange(25 if beyond else 24):02}:{choose.randrange(61 if beyond else 60):02}:{choose.randrange(60):02}"
    fraction = "." + "".join(choose.choice("0123456789") for _ in range(choose.randrange(1, 8))) if choose.random() < 0.5 else ""
    offset = f"{choose.choice('+-')}{choose.randrange(20 if beyond else 18):02}:{choose.randrange(62 if beyond else 60):02}"
    return json.dumps(
        f"{day}{choose.choice('TTTTTt' if beyond else 'TT ')}{time}{fraction}{choose.choice(('', 'Z', offset)) if shape == 'z' else ''}"
    )


def _word(choose: random.Random) -> str:
    return _text(choose, choose.choice(WORDS) + choose.choice(("", "", choose.choice(WORDS))))


def _array(choose: random.Random, make: Callable[[random.Random], str]) -> str:
    return "[" + ",".join(_space(choose) + make(choose) for _ in range(choose.randrange(4))) + _space(choose) + "]"


def _any(choose: random.Random, depth: int) -> str:
    kinds = ("true", "false", "null", _number(choose), _word(choose), _time(choose))
    if depth < 3 and choose.random() < 0.3:
        if choose.random() < 0.5:
            return _array(choose, lambda choose: _any(choose, depth + 1))
        return _object(choose, [(choose.choice(WORDS), _any(choose, depth + 1)) for _ in range(choose.randrange(4))])
    return choose.choice(kinds)


def _mostly(make: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    """What a column holds, sometimes null, seldom anything else."""

    def value(choose: random.Random) -> str:
        drawn = choose.random()
        return "null" if drawn < 0.05 else _any(choose, 1) if drawn < 0.06 else make(choose)

    return value


def _small(limit: int) -> Callable[[random.Random], str]:
    return lambda choose: _number(choose) if choose.random() < 0.05 else str(choose.randrange(-limit, limit))


def _decimal(digits: int, places: int) -> Callable[[random.Random], str]:
    def value(choose: random.Random) -> str:
        if choose.random() < 0.05:
            return _number(choose)
        return (
            f"{choose.choice(('', '-'))}{choose.randrange(10 ** choose.randrange(digits))}.{choose.randrange(10**places):0{places}}"
        )

    return value


def _inner(choose: random.Random) -> str:
    fields = [
        ("a", _small(1000)(choose)),
        ("b", _array(choose, _mostly(_word))),
        ("c", _object(choose, [("x", _number(choose))])),
        ("d", _any(choose, 2)),
    ]
    return _object(choose, [field for field in fields if choose.random() < 0.6])


def _map(choose: random.Random) -> str:
    return _object(choose, [(choose.choice(WORDS), _small(10**6)(choose)) for _ in range(choose.randrange(4))])


def _entry(choose: random.Random) -> str:
    return _object(choose, [("k", _word(choose)), ("v", _decimal(3, 1)(choose))])


COLUMNS: Mapping[str, Callable[[random.Random], str]] = {
    "id": _mostly(_word),
    "n": _mostly(_small(10**18)),
    "i": _mostly(_small(2**31)),
    "s": _mostly(_small(2**15)),
    "t": _mostly(_small(2**7)),
    "v": _mostly(_number),
    "ok": _mostly(lambda choose: choose.choice(("true", "false"))),
    "p": _mostly(_decimal(7, 2)),
    "q": _mostly(_decimal(11, 6)),
    "at": _mostly(lambda choose: _time(choose, "z")),
    "local": _mostly(lambda choose: _time(choose, "l")),
    "day": _mostly(lambda choose: _time(choose, "d")),
    "inner": _mostly(_inner),
    "m": _mostly(_map),
    "list": _mostly(lambda choose: _array(choose, _mostly(_entry))),
    "kéy": _mostly(_word),
    "a.b": _mostly(_small(1000)),
}


def _damaged(choose: random.Random, line: bytes) -> bytes:
    at = choose.randrange(len(line) + 1)
    match choose.randrange(5):
        case 0:
            return line[:at]
        case 1:
            return line[:at] + line[at + 1 :]
        case 2:
            return line[:at] + choose.choice(INSERTED) + line[at + 1 :]
        case 3:
            return line[:at] + line[max(0, at - choose.randrange(1, 12)) :]
        case _:
            return line[:at] + choose.choice(INSERTED) + line[at:]
