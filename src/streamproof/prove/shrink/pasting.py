"""The smallest scenario as a pytest test, ready to paste, and its events as lines for people."""

import keyword
import pprint
import re

from streamproof.prove.scenario.exactly import Exactly

_WIDTH = 120


def pasted(job: str, target: str, scenario: str, exactly: Exactly, options: str = "") -> str:
    """A module of pytest with one test: it fails as long as the scenario does, and passes once the job is mended.

    Parameters
    ----------
    job
        What the job is called.
    target
        The target as a proof takes it.
    scenario
        The id of the scenario.
    options
        Further arguments of `streamproof.prove`, such as `, profile="prod"`.
    """
    name = re.sub(r"\W+", "_", f"{job}_{scenario}").strip("_").lower()
    name = f"{name}_" if keyword.iskeyword(name) else name
    events = pprint.pformat(exactly.as_value(), width=_WIDTH, sort_dicts=False)
    return "\n".join(
        [
            "import streamproof as sp",
            "",
            f"EVENTS = {events}",
            "",
            "",
            f"def test_{name}():",
            f"    assert sp.prove({target!r}, only={scenario!r}, exactly=EVENTS{options})",
            "",
        ]
    )
