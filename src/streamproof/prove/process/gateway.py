"""A child's connection to the warm JVM."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streamproof import _jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def attach(port: int, secret: str) -> "SparkSession":
    """A session of its own on the JVM behind a gateway."""
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _ask_once()
    gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
    # A child lives for seconds: what it holds in the JVM goes with its gateway, not object by object.
    gateway._gateway_client.gateway_property.enable_memory_management = False
    _jvm.listen_to_jvm(gateway)
    session = _jvm.default_session(gateway.jvm)
    java_context = getattr(gateway.jvm, "org.apache.spark.api.java.JavaSparkContext")(session.sparkContext())
    context = SparkContext(gateway=gateway, jsc=java_context, conf=SparkConf(_jconf=java_context.getConf()))
    if "PYTHONPATH" in os.environ:  # workers are the JVM's children, and import what this child imports
        context.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return SparkSession(context, session.newSession())


def _ask_once() -> None:
    """py4j asks the JVM for a class and for a static method each time it is named: half of all that a child asks."""
    from py4j.java_gateway import JavaClass, JavaMember, JVMView

    def remembering(look_up: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        def looked_up(owner: Any, name: str) -> Any:
            found = look_up(owner, name)
            if isinstance(found, JavaClass | JavaMember):  # not the value of a static field, which changes
                owner.__dict__[name] = found
            return found

        return looked_up

    for owner in (JVMView, JavaClass):
        owner.__getattr__ = remembering(owner.__getattr__)
