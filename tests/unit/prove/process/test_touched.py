"""What a proof will touch is said exactly, and "nothing" never where nothing enforces it."""

from streamproof.prove.process.apart import Apart
from streamproof.prove.process.touched import not_kept, touches


def test_where_the_kernel_keeps_all_of_it_that_is_said_and_nothing_is_left():
    apart = Apart(network=True, files=True)

    assert touches(apart).endswith("it has a network of its own, and every other folder is read-only")
    assert not not_kept(apart)


def test_a_host_that_is_allowed_is_named_with_what_nothing_keeps():
    apart = Apart(network=False, files=True, why="a host or a service was allowed by name")

    said = touches(apart, ["db.prod"])

    assert "services that it starts, and db.prod, which you allow." in said
    assert "The kernel keeps every other folder from it." in said
    assert said.endswith("connections of other C code and programs that the job starts")


def test_without_namespaces_files_and_connections_of_c_code_are_not_kept_and_of_an_old_java_neither():
    apart = Apart(network=False, files=False, why="this system does not allow namespaces")

    assert "The kernel" not in touches(apart)
    assert not_kept(apart).startswith("Not kept from real places (this system does not allow namespaces): connections and files of")
    assert "sockets of the JVM are refused" in touches(apart)
    assert "the JVM (Java 24 and later cannot)" in touches(apart, java_kept=False)
    assert "the JVM" not in not_kept(apart)
