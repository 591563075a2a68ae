"""A hint names only code that the proved function reaches: by names, through the modules beside the job."""

import ast
from pathlib import Path

import pytest

from streamproof.prove.subjects.pyspark.reached import reached_code

OTHERS = "def unused(rows, n):\n    never()\n"
REACHED = {
    "a function that it calls": "def job(c):\n    return step(c)\ndef step(c):\n    wanted()\n",
    "one that it hands on": "def job(c):\n    c.writeStream.foreachBatch(keep).start()\ndef keep(rows, n):\n    wanted()\n",
    "one within it": "def job(c):\n    def keep(rows, n):\n        wanted()\n    return keep\n",
    "a method of a class that it makes": "def job(c):\n    return Keeper()\nclass Keeper:\n    def keep(self):\n        wanted()\n",
    "one of a base class": "def job(c):\n    return Mine()\nclass Mine(Base):\n    pass\nclass Base:\n    def keep(self):\n        wanted()\n",
    "one of a table of the module": "STEPS = {'a': one}\ndef one(c):\n    wanted()\ndef job(c):\n    return STEPS['a'](c)\n",
    "a statement of the module": "wanted()\ndef job(c):\n    return c\n",
    "a decorator": "def job(c):\n    return c\ndef around(f):\n    wanted()\n@around\ndef helper():\n    pass\n",
    "from a module": "from steps import one\ndef job(c):\n    return one(c)\n",
    "from a module by another name": "import steps as s\ndef job(c):\n    return s.one(c)\n",
    "of a package": "from lib.more import two\ndef job(c):\n    return two(c)\n",
    "of a package, dotted": "import lib.more\ndef job(c):\n    return lib.more.two(c)\n",
    "handed on by a package": "from lib import two\ndef job(c):\n    return two(c)\n",
    "imported where it is used": "def job(c):\n    from steps import one\n    return one(c)\n",
    "with a star": "from steps import *\ndef job(c):\n    return one(c)\n",
}
NOT_REACHED = {
    "another function": "def job(c):\n    return c\ndef other(c):\n    wanted()\n",
    "another job that is run as a script": "def job(c):\n    return c\ndef other(c):\n    wanted()\nif __name__ == '__main__':\n    other(1)\n",
    "a class that nobody makes": "def job(c):\n    return c\nclass Keeper:\n    def keep(self):\n        wanted()\n",
    "a function of a module beside it": "from steps import good\ndef job(c):\n    return good(c)\n",
    "a module that nobody imports": "def job(c):\n    return c\n",
    "a method of the same name in a library": "import json\ndef job(c):\n    return json.one(c)\ndef one(c):\n    wanted()\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "steps.py").write_text("def one(c):\n    wanted()\ndef good(c):\n    return c\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("from .more import two\n")
    (tmp_path / "lib" / "more.py").write_text("from . import deep\ndef two(c):\n    return deep.three(c)\n")
    (tmp_path / "lib" / "deep.py").write_text("def three(c):\n    wanted()\n")
    return tmp_path


def called(folder: Path, text: str, function: str = "job") -> set[str]:
    (folder / "job.py").write_text(text + OTHERS)
    found = (node for reached in reached_code(folder / "job.py", function) for node in ast.walk(reached.node))
    return {node.func.id for node in found if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


@pytest.mark.parametrize("text", REACHED.values(), ids=REACHED.keys())
def test_it_reaches(folder: Path, text: str) -> None:
    assert "wanted" in called(folder, text)
    assert "never" not in called(folder, text)


@pytest.mark.parametrize("text", NOT_REACHED.values(), ids=NOT_REACHED.keys())
def test_it_does_not_reach(folder: Path, text: str) -> None:
    assert "wanted" not in called(folder, text)


def test_a_script_reaches_what_its_last_lines_call(folder: Path) -> None:
    assert "wanted" in called(folder, NOT_REACHED["another job that is run as a script"], "")


def test_modules_that_import_each_other_come_to_an_end(folder: Path) -> None:
    (folder / "a.py").write_text("from b import f\n")
    (folder / "b.py").write_text("from a import f\n")

    assert called(folder, "from a import f\ndef job(c):\n    return f(c)\n")


def test_of_a_file_that_is_not_there_or_no_python_nothing_is_reached(folder: Path) -> None:
    (folder / "bad.py").write_text("def job(:\n")

    assert reached_code(folder / "none.py", "job") == reached_code(folder / "bad.py", "job") == []
