"""The settings of Spark that a text gives: `.config("spark.x", 1)`, `spark.conf.set("spark.x", "1")`, `.master("local")`."""

import ast
from collections.abc import Iterator, Mapping

from streamproof.doctor.finding import Place
from streamproof.doctor.text.options import given_options
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import argument, method_of


def settings_of(program: Program) -> Mapping[str, str]:
    """The settings by name; of those that are given several times the last one."""
    return {name: value for _, name, value in _set(program)}


def place_of_setting(program: Program, name: str) -> Place:
    """Where a setting is given."""
    return next((program.place(call) for call, given, _ in _set(program) if given == name), Place(program.path))


def _set(program: Program) -> Iterator[tuple[ast.Call, str, str]]:
    for call in program.calls:
        method = method_of(call)
        if method in ("config", "set"):
            for key, given in given_options(program, call):
                if key.startswith("spark.") and (value := program.constant(given)) is not None:
                    yield call, key, value
        elif method == "master" and (value := program.constant(argument(call, 0, "master"))) is not None:
            yield call, "spark.master", value
