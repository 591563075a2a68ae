import pytest

from streamproof.config.columns import UnreadableSchema, columns_of, sized_columns_of
from streamproof.config.entry import class_names, job_functions
from streamproof.errors import ConfigurationError


def test_functions_are_read_without_being_run(tmp_path):
    file = tmp_path / "job.py"
    file.write_text(
        "import nowhere\nimport streamproof as sp\nfrom streamproof import job\n"
        "@sp.job\ndef a(trades, clients): return sp.Outputs(x=trades, late=x.late)\n"
        "@job\ndef b(trades): ...\n"
        "def c(x): return 3\nclass Sink: ...\n"
    )

    a, b, c = job_functions(file)

    assert (a.parameters, a.is_job, a.outputs, a.main_outputs, a.line) == (("trades", "clients"), True, ("x", "late"), ("x",), 5)
    assert (b.is_job, b.outputs, c.is_job) == (True, None, False)
    assert class_names(file) == ("Sink",)


def test_what_is_not_python_is_named_with_its_line(tmp_path):
    (tmp_path / "job.py").write_text("x = 1\ndef broken(:\n")

    with pytest.raises(ConfigurationError, match=r"job\.py line 2: not valid Python"):
        job_functions(tmp_path / "job.py")


def test_columns_of_a_schema():
    ddl = (
        "a STRING, `b c` decimal(10, 2) NOT NULL, c: long, d struct<x: int, y: array<string>> COMMENT 'one, two', e map<string,int>"
    )

    assert sized_columns_of(ddl)["a"] == "string"
    assert sized_columns_of("n DECIMAL( 12 , 2 ) NOT NULL, m decimal, t varchar(5)") == {
        "n": "decimal(12,2)",
        "m": "decimal",
        "t": "varchar",
    }
    assert columns_of(ddl) == {"a": "string", "b c": "decimal", "c": "long", "d": "struct", "e": "map"}


@pytest.mark.parametrize("ddl", ["a", "a string,", "a string b", "a strin", "a string, A long", ""])
def test_what_is_no_schema(ddl):
    if ddl == "a string b":
        assert columns_of(ddl) == {"a": "string"}, "what follows the type is Spark's to judge"
        return
    with pytest.raises(UnreadableSchema):
        columns_of(ddl)
