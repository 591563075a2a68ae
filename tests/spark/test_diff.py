"""`streamproof diff` on Spark: against a slow comparison in Python, over formats, and what it says of outputs that a job has published."""

import json
import random
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from full_tables import beyond, full
from spark.small_job import KEPT, Binding, event
from spark.test_file_names import write
from streamproof.cli.main import main
from streamproof.connectors.files.formats import AVRO
from streamproof.errors import ConfigurationError
from streamproof.replay.diff.compare import Asked, compare
from streamproof.replay.diff.result import Kind

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("n", pa.int64()),
        ("v", pa.float64()),
        ("m", pa.decimal128(12, 2)),
        ("at", pa.timestamp("us", "UTC")),
        ("tags", pa.list_(pa.string())),
    ]
)


@pytest.fixture
def sides(spark, tmp_path):
    """Compares two lists of rows: `sides(a, b, key=("k",))`; each is written as Parquet, or is a folder already."""

    def compared(a, b, **asked):
        places = []
        for name, side in (("a", a), ("b", b)):
            if isinstance(side, list):
                folder = tmp_path / name
                folder.mkdir(exist_ok=True)
                pq.write_table(pa.Table.from_pylist(side, schema=SCHEMA), folder / "rows.parquet")
                side = folder
            places.append(str(side))
        return compare(spark, *places, Asked(**asked))

    return compared


def row(k, n=1, v=1.0, m="1.00", at=0, tags=("x",)):
    return {
        "k": k,
        "n": n,
        "v": v,
        "m": None if m is None else Decimal(m),
        "at": NINE + timedelta(seconds=at),
        "tags": None if tags is None else list(tags),
    }


def test_what_differs_is_found_by_key_with_its_columns_sums_and_rows(sides):
    a = [
        row("same"),
        row(None),
        row("nan", v=float("nan")),
        row("last digits", v=0.1 + 0.2),
        row("gone"),
        row("other", n=5, v=2.0, m="3.10", tags=["x", "y"]),
    ]
    b = [
        row("same"),
        row(None),
        row("nan", v=float("nan")),
        row("last digits", v=0.3),
        row("new", m=None),
        row("other", n=7, v=2.5, m="3.15", tags=["y"]),
    ]

    (found,) = sides(a, b, key=["k"]).outputs

    assert (
        found.counts.rows,
        found.counts.same,
        found.counts.only_a,
        found.counts.only_b,
        found.counts.different,
        found.counts.several,
    ) == ((6, 6), 4, 1, 1, 1, (0, 0))
    assert {one.name: (one.rows, one.largest) for one in found.by_column} == {
        "n": (1, 2.0),
        "v": (1, 0.5),
        "m": (1, pytest.approx(0.05)),
        "tags": (1, None),
    }
    assert {one.column: (one.a, one.b, one.difference) for one in found.sums if one.column != "v"} == {
        "n": (10, 12, 2),
        "m": (Decimal("8.10"), Decimal("7.15"), Decimal("-0.95")),
    }
    shown = {one.kind: one for one in found.shown}
    assert shown[Kind.DIFFERENT].key == {"k": "other"}
    assert (shown[Kind.DIFFERENT].a["m"], shown[Kind.DIFFERENT].b["m"]) == (Decimal("3.10"), Decimal("3.15"))
    assert "at" not in shown[Kind.DIFFERENT].a
    assert (shown[Kind.ONLY_A].key, shown[Kind.ONLY_A].a["at"]) == ({"k": "gone"}, "2026-01-05T09:00:00.000000Z")
    assert (shown[Kind.ONLY_B].key, shown[Kind.ONLY_B].b["m"]) == ({"k": "new"}, None)
    json.dumps(found.as_dict())


@pytest.mark.parametrize("seed", beyond(1, range(3)))
def test_without_a_key_rows_are_compared_as_often_as_they_are_there(seed, sides):
    dice = random.Random(seed)
    a, b = ([row(dice.choice("abc"), n=dice.randrange(2), at=dice.randrange(2)) for _ in range(40)] for _ in range(2))
    in_a, in_b = (Counter((one["k"], one["n"], one["at"]) for one in side) for side in (a, b))

    (found,) = sides(a, b, shown=100).outputs

    assert (found.counts.only_a, found.counts.only_b, found.counts.different) == ((in_a - in_b).total(), (in_b - in_a).total(), 0)
    assert found.counts.same == (in_a & in_b).total()
    shown = Counter((one.kind, (one.a or one.b)["k"]) for one in found.shown)
    assert shown == Counter(
        [(Kind.ONLY_A, k) for k, *_ in (in_a - in_b).elements()] + [(Kind.ONLY_B, k) for k, *_ in (in_b - in_a).elements()]
    )


@pytest.mark.full
def test_keys_with_several_rows_are_counted_and_equal_ones_cancel_out(sides):
    a = [row("k", n=1), row("k", n=2), row("k", n=2), row("j")]
    b = [row("k", n=2), row("j")]

    (found,) = sides(a, b, key=["k"]).outputs

    assert (found.counts.several, found.counts.only_a, found.counts.only_b, found.counts.different, found.counts.same) == (
        (1, 0),
        2,
        0,
        0,
        2,
    )
    assert sorted(one.a["n"] for one in found.shown) == [1, 2]


@pytest.mark.full
def test_the_tolerance_is_a_share_of_the_larger_number_or_absolute(sides):
    a, b = [row("k", n=1_000, v=1_000.0, m="0.10")], [row("k", n=1_004, v=1_004.0, m="0.103".rstrip("3"))]

    exact, loose, strict = (sides(a, b, key=["k"], tolerance=tolerance) for tolerance in (0, 0.005, 0.001))

    assert (exact.is_same, loose.is_same, strict.is_same) == (False, True, False)
    last_digits = [row("k", v=0.1 + 0.2)], [row("k", v=0.3)]
    assert (sides(*last_digits).is_same, sides(*last_digits, tolerance=0).is_same) == (True, False)
    assert sides(*last_digits, key=["k"], tolerance=0).outputs[0].counts.different == 1


@pytest.mark.full
def test_the_newest_of_several_rows_is_taken_where_it_is_asked(sides):
    a = [row("k", n=0, v=1.0), row("k", n=2, v=3.0), row("k", n=1, v=2.0), row("j", n=0)]
    b = [row("k", n=9, v=3.0), row("j", n=5)]

    assert sides(a, b, key=["k"], newest="n").is_same
    assert not sides(a, b, key=["k"]).is_same


@pytest.mark.full
def test_other_columns_and_other_types_are_said_and_the_rest_is_compared(sides, tmp_path):
    others = tmp_path / "others"
    others.mkdir()
    (others / "rows.json").write_text('{"K": "a", "n": "one", "v": 1, "m": 1.0, "at": "2026-01-05T09:00:00Z", "more": true}\n')

    (found,) = sides([row("a")], others, key=["k"]).outputs

    assert {(one.name, one.why.value) for one in found.apart} == {
        ("n", "other-types"),
        ("tags", "only-in-a"),
        ("more", "only-in-b"),
    }
    assert (found.columns, found.counts.different, found.counts.only_a, found.counts.only_b) == (["k", "v", "m", "at"], 0, 0, 0)
    assert not found.is_same
    assert sides([row("a")], others, key=["k"], ignored=["n", "TAGS", "more"]).is_same


@pytest.mark.full
def test_csv_json_and_parquet_of_the_same_rows_are_the_same(sides, tmp_path):
    rows = [row(f"k{place}", n=place, v=place / 8, at=place) for place in range(20)]
    for name in ("csv", "json"):
        (tmp_path / name).mkdir()
    (tmp_path / "csv" / "r.csv").write_text(
        "k,n,v,m,at\n" + "".join(f"{one['k']},{one['n']},{one['v']},{one['m']},{one['at'].isoformat()}\n" for one in rows)
    )
    (tmp_path / "json" / "r.jsonl").write_text(
        "".join(json.dumps({**one, "m": float(one["m"]), "at": one["at"].isoformat()}) + "\n" for one in rows)
    )

    assert sides(rows, tmp_path / "csv", key=["k"], ignored=["tags"]).is_same
    assert sides(rows, tmp_path / "json").is_same
    (tmp_path / "json" / "r.jsonl").write_text('{"k": "k0", "at": "noon"}\n')
    (noon,) = sides(rows, tmp_path / "json", key=["k"], ignored=["n", "v", "m", "tags"]).outputs
    assert [(one.name, one.types) for one in noon.apart] == [("at", ("timestamp", "string"))]


@pytest.mark.full
def test_fields_of_csv_are_texts_with_quotes_and_line_ends(sides, tmp_path):
    """As the sink writes them; an account number keeps its zeros, a decimal the digits that the other side has no room for."""
    for name, text in {
        "a": '"k","n","m","v"\n"007",9,3.104,1.0\n"say ""hi"", she\nsaid\r\nso",10,2.00,0.5\n"","",,\n',
        "b": '"k","n","m","v"\n"7",9,3.104,1.0\n"say ""hi"", she\nsaid\r\nso",10,2.00,0.5\n"","",,\n',
        "nulls": "k,n\n,1\n",
        "empty": 'k,n\n"",1\n',
        "revised": "k,revision,n\nx,9,1\nx,10,2\n",
    }.items():
        (tmp_path / f"{name}.csv").write_bytes(text.encode())
    typed = [
        row("007", n=9, m="3.10"),
        row('say "hi", she\nsaid\r\nso', n=10, v=0.5, m="2.00"),
        {**row("", m=None), "n": None, "v": None},
    ]

    (texts,) = sides(tmp_path / "a.csv", tmp_path / "b.csv", key=["k"]).outputs
    (nulls,) = sides(tmp_path / "nulls.csv", tmp_path / "empty.csv").outputs
    (other,) = sides(typed, tmp_path / "a.csv", key=["k"], ignored=["at", "tags"]).outputs

    assert (texts.counts.same, texts.counts.only_a, texts.counts.only_b) == (2, 1, 1)
    assert {one.kind: one.key for one in texts.shown} == {Kind.ONLY_A: {"k": "007"}, Kind.ONLY_B: {"k": "7"}}
    assert (nulls.counts.same, nulls.counts.only_a, nulls.counts.only_b) == (0, 1, 1)
    assert (other.counts.same, other.counts.only_a, other.counts.only_b, list(other.apart)) == (2, 0, 0, [])
    assert [(one.name, one.rows, one.largest) for one in other.by_column] == [("m", 1, pytest.approx(0.004))]
    assert other.notes == ("The fields of CSV are texts: those of B are read as the types that A has.",)
    assert sides([row("x", n=2)], tmp_path / "revised.csv", key=["k"], newest="revision", ignored=["v", "m", "at", "tags"]).is_same


@pytest.mark.parametrize("form", ["parquet", "avro"])
@pytest.mark.full
def test_a_column_that_came_later_is_compared(form, spark, sides, tmp_path):
    """Of a plain folder and of one file; the files of Avro are read by the class that Spark has for them."""
    for side, later in (("old", 1), ("new", 2)):
        for place, columns in enumerate(("1 AS n, 'a' AS k", f"2 AS n, 'b' AS k, {later} AS later")):
            written = tmp_path / "written"
            spark.sql(f"SELECT {columns}").coalesce(1).write.format(AVRO if form == "avro" else form).save(str(written))
            (file,) = written.glob(f"*.{form}")
            (tmp_path / side).mkdir(exist_ok=True)
            file.rename(tmp_path / side / f"part {place}.{form}")
            shutil.rmtree(written)

    (found,) = sides(tmp_path / "old", tmp_path / "new", key=["k"]).outputs

    assert (found.counts.rows, found.columns, found.counts.different) == ((2, 2), ["n", "k", "later"], 1)
    assert [(one.name, one.rows) for one in found.by_column] == [("later", 1)]
    assert sides(tmp_path / "old", tmp_path / "old" / f"part 0.{form}").outputs[0].counts.rows == (2, 1)


@pytest.mark.full
def test_no_more_rows_are_collected_than_are_shown(sides):
    a, b = [row(f"a{place}") for place in range(50)], [row(f"b{place}") for place in range(30)]

    (found,) = sides(a, b, key=["k"], shown=3).outputs

    assert (found.counts.only_a, found.counts.only_b, len(found.shown)) == (50, 30, 6)
    assert sides(a, b, shown=0).outputs[0].shown == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"key": ["kk"]}, 'has no column "kk". Did you mean "k"?'),
        ({"newest": "n"}, "--newest is given without --key"),
        ({"key": ["k"], "newest": "revision"}, 'neither side has a column "revision"'),
        ({"output": "kept"}, 'has no output "kept"'),
    ],
)
def test_wrong_usage_says_what_is_there(asked, said, sides):
    with pytest.raises(ConfigurationError, match=said.replace("?", r"\?")):
        sides([row("a")], [row("a")], **asked)


def test_sides_that_cannot_be_read_or_share_nothing_are_refused(sides, tmp_path):
    bad = {"bad.json": '{"k": 1}\n{"k"', "bad.parquet": "PAR1 no", "none.json": '{"zzz": 1}\n'}
    said = {"bad.json": "cannot be read", "bad.parquet": "cannot be read", "none.json": "have no column to compare"}
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(ConfigurationError, match=said[name]):
            sides([row("a")], tmp_path / name)
    (tmp_path / "number.json").write_text('{"k": [1]}\n')
    with pytest.raises(ConfigurationError, match="--key k: it is string in A and array<bigint> in B"):
        sides([row("a")], tmp_path / "number.json", key=["k"])


@pytest.mark.full
def test_two_runs_of_a_job_are_compared_by_what_they_have_published(small_job, tmp_path, capsys, monkeypatch):
    """Other batches, the same rows; then one run reads a file more."""
    formats = Binding(sinks={"kept": "avro", "rejected": "json"})
    one, other = small_job_of(small_job, "one", formats), small_job_of(small_job, "two", Binding(files_per_batch=3))
    one.run(), other.run()
    (one.folder / "out" / "kept" / "batch=000009").mkdir()
    (one.folder / "out" / "kept" / "batch=000009" / "x.json").write_text('{"id": "unpublished"}\n')
    monkeypatch.chdir(tmp_path)

    assert main(["diff", "one", "two", "--key", "id", "--html", "diff.html"]) == 0
    assert "SAME" in (tmp_path / "diff.html").read_text()
    out = capsys.readouterr().out
    assert out.startswith("SAME  6 rows on each side")
    assert "1 batch has no ledger in A" in out
    other.feed([event("late comer", 90, v=4.5), event("bad", 91, v=-1.0)])
    other.run()

    assert main(["diff", "one", "two", "--key", "id", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    kept, rejected = sorted(found["outputs"], key=lambda output: output["name"])
    assert (kept["rows"], kept["only_in_b"], kept["sums"][0]["difference"]) == ({"a": 5, "b": 6, "same": 5}, 1, 4.5)
    assert "batch" not in kept["columns"]
    assert (rejected["name"], rejected["only_in_b"]) == ("rejected", 1)
    assert main(["diff", "one", "two/out/kept"]) == 2
    assert "is one output, and one has several" in capsys.readouterr().err
    assert main(["diff", "one", "two", "--output", "kept", "--key", "client,"]) == 2
    assert main(["diff", "one/out/kept", "two/out/kept"]) == 1


def small_job_of(small_job, folder, binding):
    job = small_job(KEPT, binding, folder=folder)
    for start in range(3):
        job.feed([event(f"e{start}-{place}", start * 30 + place) for place in range(2 - (start == 2))])
    job.feed([event("bad0", 80, v=-2.0)])
    return job


@pytest.mark.parametrize("form", ["parquet", "json", *full("csv", "avro")])
def test_a_side_whose_name_looks_like_a_pattern_is_itself(spark, tmp_path, form):
    """Beside it lies the folder that the pattern means, with the rows of the other side."""
    for name, n in (("d[1]", 1), ("d1", 2)):
        for part in range(2):
            write(tmp_path / name / f"x{part}.{form}", [{"id": f"i{part}", "ts": 0, "v": n}])

    for one, other in ((tmp_path / "d[1]", tmp_path / "d1"), (tmp_path / "d[1]" / f"x0.{form}", tmp_path / "d1" / f"x0.{form}")):
        (found,) = compare(spark, str(one), str(other), Asked(key=["id"])).outputs
        assert [column.name for column in found.by_column] == ["v"]


def test_a_published_output_below_a_folder_that_looks_like_a_pattern_is_itself(small_job, spark):
    places = {"one": "o[1]", "other": "o1"}
    tables = {f"sink.kept.{name}": {"connector": "files", "path": f"{at}/kept", "format": "avro"} for name, at in places.items()}
    job = small_job(KEPT, Binding(tables=tables, sinks={}))
    for number in range(2):
        job.feed([event(str(number), number)])
    job.run()

    assert compare(spark, str(job.folder / "o[1]/kept"), str(job.folder / "o1/kept"), Asked(key=["id"])).is_same
