"""Logs of libraries without the values of rows: of an error its class, its condition and its place stay, its words are left out.

Spark, PySpark and Python quote in an error the value that they could not take, and a value may be somebody's name. Nobody knows all forms of such
sentences. So a log does not lose what looks like a value: it keeps only the lines that can hold none. `log4j2.properties` has the same two
patterns for what the JVM logs; a test holds both to each other.
"""

import re

_NAME = r"(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*(?:Exception|Error|Failure|Interrupt|Throwable)"
_CONDITION = r"\[[A-Z][A-Z0-9]*[_.][A-Z0-9_.]*\]"
SAID = rf"({_NAME}(?=: )|{_CONDITION})(?:(?:: )({_CONDITION}))?[^\n]*"
"""What an error says, from its name or its condition to the end of the line."""
KEPT = "$1 $2"
_PLACES = (
    r"[ \t]*at [\w.$<>/@-]+\((?:[\w$]+\.(?:java|scala|py)(?::\d+)?|Native Method|Unknown Source|<generated>)\)",
    r"[ \t]*\.\.\. \d+ (?:more|elided)",
    rf"[ \t]*(?:Caused by: |Suppressed: |Wrapped by: )?{_NAME} ?(?:{_CONDITION})?",
    r'[ \t]*File "[^"\n]*", line \d+(?:, in [\w.<>]+)?',
    r'[ \t]*"\w+" was called from',
    r"[ \t]*[/\w.-]+\.(?:py|scala|java):\d+",
    r"Traceback \(most recent call last\):",
    r"Driver stacktrace:",
    r"During handling of the above exception, another exception occurred:",
    r"The above exception was the direct cause of the following exception:",
)
OTHER_LINES = rf"\n(?!(?:{'|'.join(_PLACES)})(?![^\n]))[^\n]*"
"""Each line after the first that is neither the name of an error nor a place."""
_SAID, _OTHER_LINES = re.compile(SAID), re.compile(OTHER_LINES)


def without_values(text: str) -> str:
    """The text of a log record and its traces: the first line up to what an error says, and of the others those that can hold no value of a row."""
    return _OTHER_LINES.sub("", _SAID.sub(lambda found: f"{found[1]} {found[2] or ''}", text))
