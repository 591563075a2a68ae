"""The rows of an input are counted by Spark, as the readers of the job read them; none comes into the driver."""

from pyspark.sql import DataFrame

from streamproof.prove.subjects.pyspark.readers import Inputs, Reading

MODES = {"DROPMALFORMED": 2, "PERMISSIVE": 3}


def test_records_that_a_reader_leaves_out_are_not_counted_and_no_row_comes_into_the_driver(spark, tmp_path, monkeypatch):
    (tmp_path / "events.json").write_text('{"id": "a", "v": 1}\n{"id": "b", "v": \n{"id": "c", "v": 3}\n')
    (tmp_path / "none").mkdir()
    inputs = Inputs(spark, [], {}, None, {})
    for mode in MODES:
        inputs.shapes[mode] = Reading("json", "id string, v int", {"mode": mode}, str(tmp_path / "events.json"), spoilt=True)
    inputs.shapes["none"] = Reading("json", "id string", {}, str(tmp_path / "none"), spoilt=False)
    monkeypatch.setattr(DataFrame, "collect", None)
    monkeypatch.setattr(type(spark.range(1)), "collect", None)

    assert inputs.counted() == {**{mode: (rows, True) for mode, rows in MODES.items()}, "none": (0, False)}
