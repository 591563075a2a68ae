"""The scenario that comes of a part: batches are put together and counted anew, and the crash goes with its batch."""

import pytest

from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.shrink.kept import Kept, Whole


def event(trace: str, arrival: int, batch: int) -> Event:
    return Event(trace, Kind.OK, {"id": trace}, arrival, b"{}", arrival, batch, arrival % 2)


WHOLE = Whole(
    {
        "left": [event(f"l{number}", number, number // 2) for number in range(8)],
        "right": [event(f"r{number}", number, number) for number in range(3)],
    }
)
BORDERS = frozenset({0, 1, 2})


def batches(kept: Kept) -> dict[str, list[tuple[str, int]]]:
    return {name: [(one.trace, one.batch) for one in events] for name, events in WHOLE.of(kept).exactly.of_source.items()}


def test_all_of_it_is_the_scenario_itself():
    smaller = WHOLE.of(WHOLE.all(fault=True))

    assert smaller.exactly.batches == WHOLE.batches == 4
    assert smaller.exactly.total == WHOLE.events == 11
    assert [smaller.batch(number) for number in range(6)] == [0, 1, 2, 3, 4, 5]


def test_a_batch_without_an_event_is_no_batch_any_more():
    # in the order of batches: l0 l1 r0, l2 l3 r1, l4 l5 r2, l6 l7
    kept = Kept(frozenset({1, 9}), BORDERS, fault=True)

    assert batches(kept) == {"left": [("l1", 0), ("l6", 1)], "right": []}
    assert [WHOLE.of(kept).batch(number) for number in range(5)] == [0, 1, 1, 1, 2]


def test_batches_without_a_border_are_put_together():
    kept = Kept(frozenset(range(11)), frozenset({1}), fault=True)

    assert {batch for _, batch in batches(kept)["left"]} == {0, 1}
    assert [WHOLE.of(kept).batch(number) for number in range(5)] == [0, 0, 1, 1, 2]


def test_a_crash_after_the_last_batch_that_has_events_goes_to_that():
    kept = Kept(frozenset({0}), BORDERS, fault=True)

    assert WHOLE.of(kept).batch(3) == 0


def test_arrivals_are_counted_anew_and_a_file_keeps_its_events():
    made = WHOLE.of(Kept(frozenset({1, 9}), BORDERS, fault=True)).exactly.of_source["left"]

    assert [(one.arrival, one.partition) for one in made] == [(0, 1), (1, 0)]


def test_a_scenario_without_an_event_is_none():
    with pytest.raises(ValueError, match="without an event"):
        WHOLE.of(Kept(frozenset(), BORDERS, fault=True))
