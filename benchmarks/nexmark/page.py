"""The tables of docs/reference/nexmark.md: what the queries are, and what was found of each."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.nexmark.measuring import LIMIT, MEAN_LIMIT, mean_and_worst
from benchmarks.nexmark.queries import NOT_SAID, QUERIES

NOT_YET = "not measured"
Found = Mapping[str, Mapping[str, Any]]
"""By query what was found: "rows" and "differences" where rows were compared, the fields of `Measured` where it was measured."""


def drawn(page: str, found: Found) -> str:
    """The page with its tables as they are now.

    Raises
    ------
    ValueError
        If the page lacks a place for a table.
    """
    for name, table in (("queries", queries()), ("not said", not_said()), ("results", results(found))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, found_begin, rest = page.partition(begin)
        _, found_end, after = rest.partition(end)
        if not (found_begin and found_end):
            raise ValueError(f"The page has no place for the table {name!r}: between {begin.strip()} and {end}.")
        page = f"{before}{begin}\n{table}\n\n{end}{after}"
    return page


def queries() -> str:
    return _table(("query", "what it asks", "what is another than in the public one"), _queries())


def _queries() -> Iterator[tuple[str, ...]]:
    for query in QUERIES.values():
        yield query.name, query.asks, query.differs


def not_said() -> str:
    return _table(
        ("query", "what it asks", "why no job says it"), ((query.name, query.asks, query.reason) for query in NOT_SAID.values())
    )


def results(found: Found) -> str:
    table = _table(("query", "rows compared", "the model", "with Streamproof", "by hand", "ratio"), _results(found))
    ratios = {name: one["ratio"] for name, one in found.items() if "ratio" in one}
    if set(ratios) != set(QUERIES):
        return table
    mean, worst = mean_and_worst(ratios)
    said = f"Geometric mean of the ratios: {mean:.3f} (aim: at most {MEAN_LIMIT:.2f}). Worst: {worst}, {ratios[worst]:.3f} (aim: at most {LIMIT:.2f})."
    return f"{table}\n\n{said}"


def _results(found: Found) -> Iterator[tuple[str, ...]]:
    for name in QUERIES:
        one = found.get(name, {})
        rows = "not compared" if "rows" not in one else "differ" if one["differences"] else f"{one['rows']:,}, equal"
        if "ratio" in one:
            times = (
                f"{one['ours_ns']:,.0f} ns",
                f"{one['by_hand_ns']:,.0f} ns",
                f"{one['ratio']:.3f} ({one['low']:.2f} to {one['high']:.2f})",
            )
        else:
            times = NOT_YET, NOT_YET, NOT_YET
        yield name, rows, "equal" if one.get("model") and not one["differences"] else "", *times


def _table(heads: tuple[str, ...], rows: "Iterator[tuple[str, ...]]") -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
