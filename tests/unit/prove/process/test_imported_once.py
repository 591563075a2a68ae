"""What forks find imported: names that exist, and nothing of ours is left out in silence."""

from importlib.util import find_spec

import pytest

from streamproof.prove.process.imported_once import TASKS, import_all
from streamproof.prove.subjects.job.imported import SCENARIOS_ON_SERVICES
from streamproof.prove.subjects.pyspark.preparation import PYSPARK_JOBS


@pytest.mark.parametrize("module", [*SCENARIOS_ON_SERVICES, *PYSPARK_JOBS, *TASKS])
def test_a_module_is_there(module: str) -> None:
    assert find_spec(module) is not None


def test_an_extra_that_is_not_installed_is_left_out_and_a_module_of_ours_is_not() -> None:
    import_all(["no_library_is_called_so"])
    with pytest.raises(ImportError):
        import_all(["streamproof.no_module_is_called_so"])


def test_a_module_of_others_that_breaks_off_is_left_out(tmp_path, monkeypatch) -> None:
    """What PySpark 3.5 tests with asks numpy 2 for a name that it does not have any more."""
    (tmp_path / "breaks_off.py").write_text("import numpy\nnumpy.NaN\n")
    monkeypatch.syspath_prepend(tmp_path)

    import_all(["breaks_off"])
