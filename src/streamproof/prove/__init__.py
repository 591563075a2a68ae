"""Proving a job: scenarios, the events they make, what a run leaves behind, the oracle and the checkers.

The package can be called: `streamproof.prove("my_job")` is the function `streamproof.proof.prove`, whose help says what it takes.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """Lets `sp.prove(target)` be the function although `streamproof.prove` is also this package."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # By name: the public door lies above this package, and nothing in here depends on it.
        return import_module("streamproof.proof").prove(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
