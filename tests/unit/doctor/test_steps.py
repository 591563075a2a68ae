"""How much the doctor does for a text: it grows with the text, whatever the names in it are assigned from. Steps are counted, not seconds."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from streamproof.doctor.examine import examine
from streamproof.doctor.patient import Patient
from unit.doctor.patients import plain

MOST = 3_000_000
"""Calls of Python functions: what hangs makes more than these, and is cut off there."""
SCRIPT = """
df = spark.readStream.format("kafka").load().withWatermark("at", "1 minute")
other = spark.readStream.format("kafka").load().withWatermark("at", "1 minute")
{}
"""
ENDS = 'df.writeStream.format("parquet").option("checkpointLocation", "/c").start("/out")'


class TooManyStepsError(Exception):
    """The count has gone over `MOST`."""


@contextmanager
def counted() -> Iterator[list[int]]:
    """Counts the calls of functions, in the one number of the list."""
    steps = [0]

    def count(frame: object, event: str, argument: object) -> None:
        if event == "call":
            steps[0] += 1
            if steps[0] > MOST:
                raise TooManyStepsError

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield steps
    finally:
        sys.setprofile(before)


def steps_for(patient: Patient) -> int:
    with counted() as steps:
        examine(patient)
    return steps[0]


def again_and_again(times: int, *then: str) -> str:
    return "\n".join(
        [*(f'df = df.withColumn("c{n}", df.a + df.b + {n}).filter((df.a > {n}) & (df.b > {n}))' for n in range(times)), *then, ENDS]
    )


def grouped(times: int) -> str:
    return again_and_again(times, "df = df.groupBy(df.id, df.name).count()")


def joined(times: int) -> str:
    return again_and_again(times, "df = df.join(other, (df.id == other.id) & (df.name == other.name))")


def put_together(times: int) -> str:
    return "\n".join([*(f'df = df.withColumn("c{n}", df.a).union(df)' for n in range(times)), ENDS])


def a_path(times: int) -> str:
    lines = [f'path = path + "/" + str(path) + f"{{path}}{n}"' for n in range(times)]
    return "\n".join(['path = "/c"', *lines, ENDS.replace('"/c"', "path")])


def names_of_names(times: int) -> str:
    lines = [f'p{n + 1} = f"{{p{n}}}/{{p{n}}}" + f"{{p{n}}}{{p{n}}}" + p{n} + p{n}' for n in range(times)]
    return "\n".join(['p0 = "/c"', *lines, ENDS.replace('"/c"', f"p{times}")])


def a_writer(times: int) -> str:
    return "\n".join(["w = df.writeStream", *(f'w = w.option("o{n}", {n})' for n in range(times)), 'w.start("/out")'])


def functions(times: int) -> str:
    """Functions that call each other, each several times, and go to no service."""
    calls = "".join(f"    f{n}(row)\n" for n in range(times))
    return "\n".join([*(f"def f{n}(row):\n{calls}" for n in range(times)), "udf = F.udf(f0)", ENDS])


def attributes(times: int) -> str:
    """`self.df` is assigned again and again."""
    lines = "".join(
        f"        self.df = self.df.withColumn('c{n}', self.df.a).filter(self.df.b > self.df.c)\n" for n in range(times)
    )
    run = "        self.df.groupBy(self.df.id, self.df.name).count().writeStream.start('/out')\n"
    return f"class Job:\n    def run(self):\n        self.df = df\n{lines}{run}Job().run()"


def two_ways(times: int) -> str:
    """Functions that call two others each, and name one checkpoint."""
    lines = [f"def f{n}():\n    f{n + 1}()\n    f{n + 2}()\n    {ENDS}" for n in range(times)]
    return "\n".join([*lines, "f0()"])


@pytest.mark.parametrize("text", [attributes, two_ways, grouped, joined, put_together, a_path, names_of_names, a_writer, functions])
def test_a_text_twice_as_long_takes_not_many_times_as_many_steps(tmp_path, text: Callable[[int], str]):
    short, long = (steps_for(plain(tmp_path, SCRIPT.format(text(times)))) for times in (10, 20))

    assert long <= 6 * short


def test_a_chain_of_hundreds_of_calls(tmp_path):
    chain = "".join(f".withColumn('c{n}', F.lit({n}))" for n in range(600))
    saves = f"def save(rows, batch):\n    rows{chain}.write.mode('append').save('/out')\ndf.writeStream.foreachBatch(save).start()"
    patient = plain(tmp_path, SCRIPT.format(f"df{chain}.dropDuplicates(['c1']).writeStream.start()\n{saves}"))

    assert {"not-idempotent", "unbounded-state"} <= {str(one.code) for one in examine(patient).findings}
