"""`jars` prints what spark-submit takes after --jars, and nothing else."""

from streamproof import _jvm
from streamproof.runtime.spark import connector_jars


def test_a_job_on_files_needs_our_own_jar(streamproof, my_job):
    result = streamproof("jars", str(my_job))

    assert (result.code, result.out, result.err) == (0, f"{_jvm.production_jar()}\n", "")


def test_the_jars_that_a_job_names_itself_come_too(streamproof, my_job):
    file = my_job / "streamproof.toml"
    file.write_text(f'{file.read_text()}\n[spark]\n"spark.jars" = "theirs.jar,more.jar"\n')

    assert streamproof("jars", str(my_job)).out == f"{_jvm.production_jar()},theirs.jar,more.jar\n"


def test_the_jars_of_a_connector_stand_beside_it_in_one_line(streamproof, my_job, monkeypatch):
    monkeypatch.setattr(
        connector_jars, "connector_jars", lambda config: [f"/cache/{config.name}-kafka-{'long' * 60}.jar", "/cache/b.jar"]
    )

    line = streamproof("jars", str(my_job)).out

    assert line == f"{_jvm.production_jar()},/cache/risk_exposure-kafka-{'long' * 60}.jar,/cache/b.jar\n"
