"""Which columns a SQL text names: all of them, and nothing that is none."""

import pytest

from streamproof.runtime.checks.sql_names import parts_of, read_text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("notional > 0", {"notional"}),
        ("notional > 0 AND client IS NOT NULL", {"notional", "client"}),
        ("price * (1 - fee) BETWEEN low AND high", {"price", "fee", "low", "high"}),
        ("`my column` > 0 and `a.b` = 1", {"my column", "a.b"}),
        ("address.city = 'Bonn'", {"address.city"}),
        ("tags[0] = 'x' or attributes['k'] is null", {"tags", "attributes"}),
        ("exists(items, x -> x.price > floor)", {"items", "floor"}),
        ("aggregate(items, 0D, (acc, x) -> acc + x.price)", {"items"}),
        ("transform(xs, (x, i) -> x + i + y)", {"xs", "y"}),
        ("filter(map_values(m), each -> each > 1)", {"m"}),
        ("named_struct('a', a, 'b', b + 1)", {"a", "b"}),
        ("CASE WHEN side = 'B' THEN 1 ELSE -1 END * size", {"side", "size"}),
        ("cast(at as timestamp) > current_timestamp() - INTERVAL 1 DAY", {"at"}),
        ("at < current_timestamp and day = current_date", {"at"}),
        ("timestampadd(HOUR, 1, at) > at", {"at"}),
        ("date_diff(DAY, a, b) > extract(HOUR FROM c)", {"a", "b", "c"}),
        ("datediff(a, b) > 1", {"a", "b"}),
        ("date_trunc('hour', at) = at", {"at"}),
        ("event_type RLIKE '^a.*b$' and name NOT LIKE '%x%'", {"event_type", "name"}),
        ("amount <=> other", {"amount", "other"}),
        ("size(array_distinct(xs)) = size(xs)", {"xs"}),
        ("v DIV 2 = 1 and v % 3 = 0 and NOT flag", {"v", "flag"}),
        ("get_json_object(payload, '$.user.id') is not null", {"payload"}),
        ("try_cast(text as decimal(10,2)) is not null", {"text"}),
        ("status IN ('a', 'b') AND (kind, status) IN (('x', 'a'))", {"status", "kind"}),
        ("percentile_approx(ms, array(0.5, 0.9), 100)[0] > 1", {"ms"}),
        ("count_if(v > 1) filter (where ok)", {"v", "ok"}),
        ("xxhash64(id, ts) % 10 = 0", {"id", "ts"}),
        ("coalesce(a, b, 0) != 0 and a == b", {"a", "b"}),
        ("v > 1e3 and w < 10L and x = 2.5BD and y = 1Y", {"v", "w", "x", "y"}),
        ("ts > TIMESTAMP '2026-01-01' and d > DATE'2026-01-01'", {"ts", "d"}),
        ("a || b = concat(a, b)", {"a", "b"}),
        ("isnotnull(a) and nvl(b, 1) > ifnull(c, 2)", {"a", "b", "c"}),
        ("v = double('NaN') or isnan(v)", {"v"}),
        ("make_interval(0, 0, 0, d) > interval '1' day", {"d"}),
        ("sequence(a, b, interval 1 hour)[0] = a", {"a", "b"}),
        ("map_filter(m, (k, v) -> k > v)", {"m"}),
        ("zip_with(a, b, (x, y) -> x + y)", {"a", "b"}),
        ("struct(a, b).a > 0", {"a", "b"}),
    ],
)
def test_the_names_of_a_text(text, names):
    found = read_text(text)
    assert found is not None
    assert {".".join(name) for name in found.names} == names


def test_what_cannot_be_read_is_not_known():
    assert read_text("v +") is None
    assert read_text("") is None
    assert read_text("v in (select v from other)") is None


def test_what_a_text_calls_its_value():
    assert read_text("v + 1 as w").output == "w"
    assert read_text("v").output == "v"
    assert read_text("address.city").output == "city"
    assert read_text("v + 1").output == ""
    assert read_text("*").star


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("v", ("v",)),
        ("a.b", ("a", "b")),
        ("`a.b`", ("a.b",)),
        ("a.`b c`", ("a", "b c")),
        ("`a`.b", ("a", "b")),
        ("`a", None),
        ("", None),
    ],
)
def test_the_parts_of_a_name(name, parts):
    assert parts_of(name) == parts
