import tomllib

import pytest

from streamproof.config.positions import key_lines

TEXT = '''\
# a comment with = and [brackets]
title = "a [text] # with = signs"

[job]
entry = "x" # [not.a.table]
"quoted key" = 1
text = """
[inside] = 3
""" # after
dotted.inner.deep = true

[source.trades]
event_time = { column = "ts", lag = "1 s" }
list = [
  1, # one
  { a = 1 },
]
[[many]]
x = 1
[sink."strange.name"]
path = 'lit # eral'
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("job",), 4),
        (("job", "entry"), 5),
        (("job", "quoted key"), 6),
        (("job", "text"), 7),
        (("job", "dotted"), 10),
        (("job", "dotted", "inner", "deep"), 10),
        (("source",), 12),
        (("source", "trades"), 12),
        (("source", "trades", "event_time", "lag"), 13),
        (("source", "trades", "list"), 14),
        (("source", "trades", "list", "a"), 16),
        (("many", "x"), 19),
        (("sink", "strange.name", "path"), 21),
    ],
)
def test_every_key_is_found_on_its_line(path, line):
    tomllib.loads(TEXT)

    assert key_lines(TEXT)[path] == line


def test_nothing_else_is_taken_for_a_key():
    assert ("inside",) not in key_lines(TEXT)
    assert ("not", "a", "table") not in key_lines(TEXT)
    assert key_lines("") == {}
