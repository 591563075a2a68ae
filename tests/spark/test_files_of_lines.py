"""Files of CSV and text: each byte of each file is in a row that passes, or in a rejected one with its reason."""

import gzip
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.errors import DataError

HEADER = "id,client,v,ts"
TS = event("a", 0)["ts"]


def line(identity: str, client: str = "a", v: str = "1.5", end: str = "\n") -> str:
    return f"{identity},{client},{v},{TS}{end}"


def original(row: dict[str, Any]) -> bytes:
    text: str | None = row["original"]
    return b64decode(row["original_base64"]) if text is None else text.encode()


def test_every_line_of_csv_is_kept_or_rejected_with_its_bytes(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(KEPT, Binding(format="csv", files_per_batch=3))
    job.feed_bytes(
        "\ufeffid,client,v,ts\r\n".encode()
        + line("quotes", '"say ""hi"", then go"', end="\r\n").encode()
        + line("breaks", '"two\r\nlines\nand more"', end="\r\n").encode()
        + line("none", "").encode()
        + line("empty", '""', " 007.50 ").encode()
        + line("fraction", "ä", ".5").encode()
        + line("last", "z", "+2e1", end="").encode(),
        "csv",
    )
    job.feed_bytes(f"v,more,ts,client,id\n3,x,{TS},b,other-order\n".encode(), "csv")
    wrong_header = [HEADER.replace(",", ";"), line("semicolons").strip().replace(",", ";"), '"open', "x"]
    job.feed_bytes("\n".join(wrong_header).encode(), "csv")
    job.feed_bytes(b"", "csv")
    job.feed_bytes(f"{HEADER}\n".encode(), "csv")
    broken = [
        line("fewer", "x").rpartition(",")[0].encode(),
        line("more", "x,y", end="").encode(),
        b'open,"never closed,1,2',
        line("behind", '"x"y', end="").encode(),
        line("number", "x", "a lot", end="").encode(),
        line("bytes", "x", end="").encode().replace(b"x", b"\xff\xfe"),
        b"",
        line("negative", "x", "-1", end="").encode(),
    ]
    job.feed_bytes(
        b"\n".join([HEADER.encode(), *broken, line("sound", '"after, all"', end="").encode(), HEADER.encode(), b""]), "csv"
    )

    result = job.run()

    rows = {row["id"]: row for row in job.rows("kept")}
    assert set(rows) == {"quotes", "breaks", "none", "empty", "fraction", "last", "other-order", "sound"}
    assert {name: row["client"] for name, row in rows.items()} == {
        "quotes": 'say "hi", then go',
        "breaks": "two\r\nlines\nand more",
        "none": None,
        "empty": "",
        "fraction": "ä",
        "last": "z",
        "other-order": "b",
        "sound": "after, all",
    }
    assert [rows[name]["v"] for name in ("quotes", "empty", "fraction", "last", "other-order")] == [1.5, 7.5, 0.5, 20, 3]
    rejected = {original(row): row["reason"] for row in job.rows("rejected")}
    assert rejected == {
        **dict.fromkeys((each.encode() for each in wrong_header), "the header of its file has no column id"),
        broken[0]: "fewer fields than columns",
        broken[1]: "more fields than columns",
        broken[2]: "text after a closing quote",
        broken[3]: "text after a closing quote",
        broken[4]: "not parseable: v is no double",
        broken[5]: "bytes that are not UTF-8",
        broken[6]: "an empty line",
        broken[7]: "v >= 0",
        HEADER.encode(): "not parseable: v is no double",
    }
    assert result.rows_in == len(rows) + len(rejected), "line ends, empty files and headers are no records"


def test_csv_in_another_dialect_and_packed(small_job: Callable[..., SmallJob]) -> None:
    dialect = {"header": False, "delimiter": "\t", "quote": "'", "escape": "\\", "null": "NULL"}
    job = small_job(KEPT, Binding(format="csv", tables={"source.events.csv": dialect}))
    lines = f"1\t'it\\'s'\t1\t{TS}\n2\tNULL\t1\t{TS}\n3\t'NULL'\t1\t{TS}\n4\t\"\t1\t{TS}\n"
    job.feed_bytes(gzip.compress(lines.encode()), "csv.gz")

    job.run()

    assert {row["id"]: row["client"] for row in job.rows("kept")} == {"1": "it's", "2": None, "3": "NULL", "4": '"'}


def test_a_packed_file_that_is_broken_stops_the_job_and_is_named(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(KEPT, Binding(format="csv"))
    path = job.feed_bytes(gzip.compress(line("x").encode() * 1000)[:-20], "csv.gz")

    error = job.stopped(DataError)

    assert path.name in error.message


def test_lines_of_text_are_records(small_job: Callable[..., SmallJob]) -> None:
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(level="value like '%ERROR%'")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
    job = small_job(text, Binding(format="text", schema=None, event_time=""))
    job.feed_bytes(b'1 ERROR a, "b"\r\n2 INFO\n\n3 ERROR \xff\n4 ERROR', "log")

    job.run()

    assert [row["value"] for row in job.rows("kept")] == ['1 ERROR a, "b"', "4 ERROR"]
    assert {original(row): row["reason"] for row in job.rows("rejected")} == {
        b"2 INFO": "value like '%ERROR%'",
        b"": "value like '%ERROR%'",
        b"3 ERROR \xff": "bytes that are not UTF-8",
    }
