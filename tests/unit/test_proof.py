"""`prove --last-failed` where nothing has failed says so, and does not prove everything anew."""

import pytest

from streamproof.cli.init import write_templates
from streamproof.errors import ScenarioError
from streamproof.proof import prove


def test_without_a_failure_it_says_so(tmp_path):
    target = tmp_path / "my_job"
    write_templates(target)

    with pytest.raises(ScenarioError, match="Every scenario passed when it was last tried"):
        prove(target, last_failed=True)
