"""`streamproof jars TARGET`: the jars that a job needs where spark-submit starts the JVM, joined with commas."""

from streamproof.cli import screen
from streamproof.cli.check import Profile, Target

EXAMPLES = """\b
Example:
  spark-submit --master spark://host:7077 --jars "$(streamproof jars my_job)" submit.py run my_job
"""


def jars(target: Target = ".", profile: Profile = None) -> None:
    """Print the paths of the jars that the job needs on driver and executors: ours, its connectors' and its own."""
    from streamproof import _jvm
    from streamproof.config import load
    from streamproof.runtime.spark.connector_jars import connector_jars

    config = load(target, profile=profile)
    found = [*_jvm.jars(), *connector_jars(config), config.spark.get("spark.jars", "")]
    screen.console().print(",".join(filter(None, found)))
