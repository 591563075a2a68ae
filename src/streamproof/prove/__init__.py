"""Proving a job: scenarios, the events they make, what a run leaves behind, the oracle and the checkers."""

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """Lets `sp.prove(target)` be the function although `streamproof.prove` is also this package."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from streamproof.proof import prove

        return prove(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
