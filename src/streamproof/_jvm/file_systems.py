"""Calls of Hadoop's file system that Python makes through the gateway, such as `spark._jvm...FileSystem.get(conf).delete(path, True)`."""

from collections.abc import Callable

_METHODS = ("delete", "exists")
FileSystemCall = Callable[[str, str], bool | None]
"""Given "delete" or "exists" and a path: the answer, or None where the call goes on to the JVM."""


def answer_file_system_calls(answer: FileSystemCall) -> None:
    """Has these calls answered here, in this process."""
    from py4j.java_gateway import JavaMember, JavaObject

    real = JavaMember.__call__

    def call(self: JavaMember, *arguments: object) -> object:
        if self.name in _METHODS and arguments and isinstance(arguments[0], JavaObject):
            answered = answer(str(self.name), str(arguments[0].toString()))
            if answered is not None:
                return answered
        return real(self, *arguments)

    JavaMember.__call__ = call
