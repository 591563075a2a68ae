"""SQL of a job in a proof may read and change the session; whatever else it does is refused by name. No Spark is started."""

from types import SimpleNamespace

import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.redirect import _guarded_sql

HARMLESS = [
    "SELECT * FROM t",
    "  select 1 ;",
    "-- totals\nSELECT 1",
    "/* INSERT INTO t */ SELECT 1",
    "/* a /* nested */ comment */ SELECT 1",
    "(SELECT 1) UNION (SELECT 2)",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "WITH x AS (SELECT 'delete from' AS n, \"merge\" AS m, `update`, t.insert FROM t) SELECT * FROM x",
    "WITH x AS (SELECT insert('abc', 1, 1, 'x') AS n) SELECT * FROM x",
    "WITH x AS (SELECT 1) -- then INSERT INTO t\nSELECT * FROM x",
    r"WITH x AS (SELECT 'it\'s an insert', r'\') SELECT * FROM x",
    "RESET spark.sql.ansi.enabled",
    "SHOW TABLES",
    "DESCRIBE t",
    "DESC t",
    "EXPLAIN INSERT INTO t VALUES (1)",
    "VALUES (1), (2)",
    "FROM t SELECT n",
    "TABLE t",
    "CACHE TABLE t",
    "UNCACHE TABLE t",
    "CLEAR CACHE",
    "REFRESH TABLE t",
    "CREATE TEMP VIEW v AS SELECT 1",
    "create or replace temporary view v as select 1",
    "CREATE OR REPLACE GLOBAL TEMPORARY VIEW v AS SELECT 1",
    "CREATE TEMPORARY FUNCTION f AS 'some.Class'",
    "DROP VIEW v",
    "DROP VIEW IF EXISTS global_temp.v",
    "DROP TEMPORARY FUNCTION f",
    "USE bronze",
    "DECLARE VARIABLE n INT DEFAULT 5",
]
WRITES = [
    ("INSERT INTO t VALUES (1)", "INSERT INTO t"),
    ("-- totals\nINSERT INTO t VALUES (1)", "INSERT INTO t"),
    ("/* totals */ insert overwrite t select 1", "insert overwrite t"),
    ("/*/**/*/ DROP TABLE t", "DROP TABLE t"),
    ("-- one \\\n still one\nDELETE FROM t", "DELETE FROM t"),
    ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "INSERT INTO t"),
    ("WITH x AS (SELECT '--' AS n) INSERT INTO t SELECT * FROM x", "INSERT INTO t"),
    ("WITH x AS (SELECT '/*' AS n)\nMERGE INTO t USING x ON true WHEN MATCHED THEN DELETE", "MERGE INTO t"),
    (r"WITH x AS (SELECT r'\' AS n) UPDATE t SET n = 1 -- '", "UPDATE t SET"),
    ("WITH x AS (SELECT 1) DELETE FROM t", "DELETE FROM t"),
    ("FROM s INSERT INTO t SELECT n", "INSERT INTO t"),
    ("MERGE INTO t USING s ON t.k = s.k", "MERGE INTO t"),
    ("UPDATE t SET n = 1", "UPDATE t SET"),
    ("REPLACE TABLE t AS SELECT 1", "REPLACE TABLE t"),
    ("CREATE TABLE t (n INT)", "CREATE TABLE t"),
    ("CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE OR REPLACE"),
    ("CREATE DATABASE d", "CREATE DATABASE d"),
    ("DROP TABLE t", "DROP TABLE t"),
    ("DROP VIEW lake.v", "DROP VIEW lake.v"),
    ("TRUNCATE TABLE t", "TRUNCATE TABLE t"),
    ("ALTER TABLE t ADD COLUMN n INT", "ALTER TABLE t"),
    ("OPTIMIZE t", "OPTIMIZE t"),
    ("VACUUM t RETAIN 0 HOURS", "VACUUM t RETAIN"),
    ("RESTORE TABLE t TO VERSION AS OF 1", "RESTORE TABLE t"),
    ("COPY INTO t FROM '/lake'", "COPY INTO t"),
    ("MSCK REPAIR TABLE t", "MSCK REPAIR TABLE"),
    ("LOAD DATA INPATH '/x' INTO TABLE t", "LOAD DATA INPATH"),
    ("EXECUTE IMMEDIATE 'DROP TABLE t'", "EXECUTE IMMEDIATE"),
    ("BEGIN DELETE FROM t; END", "BEGIN DELETE FROM"),
    ("# SELECT\nDROP TABLE t", "# SELECT DROP"),
]


class Session:
    """What is asked of a session."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.conf = SimpleNamespace(set=self.settings.__setitem__)
        self.sql = _guarded_sql(lambda _, statement: f"ran {statement}").__get__(self)


@pytest.mark.parametrize("statement", HARMLESS)
def test_what_reads_or_changes_the_session_runs_as_it_is_written(statement):
    assert Session().sql(statement) == f"ran {statement}"


@pytest.mark.parametrize(("statement", "named"), WRITES)
def test_what_writes_is_refused_by_its_words(statement, named):
    with pytest.raises(ScenarioError) as refused:
        Session().sql(statement)

    assert f"sql({named}" in refused.value.message


@pytest.mark.parametrize("comment", ["", "-- small\n", "/* small */ "])
def test_a_setting_is_taken_by_the_session_behind_a_comment_too(comment):
    session = Session()

    assert session.sql(f"{comment}SET spark.sql.shuffle.partitions=300") == "ran SET spark.sql.shuffle.partitions"
    assert session.settings == {"spark.sql.shuffle.partitions": "300"}
