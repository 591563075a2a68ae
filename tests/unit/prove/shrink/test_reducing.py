"""The reducing alone, over conditions that need no Spark: what is left fails, nothing more can be left out, and each part is asked once."""

from collections.abc import Callable

import pytest

from streamproof.errors import MissingExtra
from streamproof.prove.shrink import reducing
from streamproof.prove.shrink.kept import Kept
from streamproof.prove.shrink.reducing import Reduction


def whole(events: int, batches: int, *, fault: bool = True) -> Kept:
    return Kept(frozenset(range(events)), frozenset(range(batches - 1)), fault)


def reduced(start: Kept, fails: Callable[[Kept], bool], seconds: float = 60.0) -> tuple[Reduction, list[Kept], bool]:
    asked: list[Kept] = []

    def ask(part: Kept) -> bool:
        asked.append(part)
        return fails(part)

    reduction = Reduction(start, ask, seconds)
    return reduction, asked, reduction.run()


@pytest.mark.parametrize("cause", [0, 1, 2_500, 3_777, 4_999])
def test_one_event_of_five_thousand_is_found_within_forty_tries(cause: int):
    reduction, asked, done = reduced(whole(5_000, 3), lambda part: cause in part.events and part.fault)

    assert reduction.smallest == Kept(frozenset({cause}), frozenset(), fault=True)
    assert done
    assert len(asked) == reduction.tries <= 40


def test_what_belongs_together_stays_and_so_does_the_border_between_its_batches():
    cause = {12, 1_234, 3_777}

    reduction, _, done = reduced(whole(5_000, 5), lambda part: part.events >= cause and 2 in part.borders and part.fault)

    assert reduction.smallest == Kept(frozenset(cause), frozenset({2}), fault=True)
    assert done


def test_a_fault_that_is_not_needed_goes():
    reduction, _, _ = reduced(whole(40, 4), lambda part: 7 in part.events)

    assert reduction.smallest == Kept(frozenset({7}), frozenset(), fault=False)


def test_nothing_more_can_be_left_out_of_what_is_left():
    def fails(part: Kept) -> bool:
        return len(part.events & set(range(700, 900))) >= 10 and bool(part.borders)

    reduction, _, _ = reduced(whole(2_000, 8), fails)

    left = reduction.smallest
    assert len(left.events) == 10
    assert len(left.borders) == 1
    assert not any(fails(Kept(left.events - {one}, left.borders, left.fault)) for one in left.events)


def test_no_part_is_asked_twice_and_each_is_within_the_smallest_known():
    smallest = [whole(300, 3)]

    def fails(part: Kept) -> bool:
        assert part.within(smallest[0])
        assert part != smallest[0]
        failing = {17, 200} <= part.events
        if failing:
            smallest[0] = part
        return failing

    _, asked, _ = reduced(smallest[0], fails)

    assert len(asked) == len(set(asked))


def test_where_nothing_smaller_fails_the_whole_is_left():
    reduction, _, done = reduced(whole(12, 3), lambda part: False)

    assert reduction.smallest == whole(12, 3)
    assert done


def test_one_event_alone_is_not_asked_without_it():
    _, asked, done = reduced(whole(1, 1, fault=False), lambda part: True)

    assert asked == []
    assert done


def test_it_ends_within_its_time_and_says_so(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(reducing, "monotonic_seconds", lambda: clock[0])

    def fails(part: Kept) -> bool:
        clock[0] += 10.0
        return 3_777 in part.events

    reduction, asked, done = reduced(whole(5_000, 3), fails, seconds=55.0)

    assert not done
    assert len(asked) == 6
    assert 3_777 in reduction.smallest.events
    assert len(reduction.smallest.events) < 5_000
    assert reduction.seconds_left == 0


def test_a_long_time_is_spent_in_rounds_that_hypothesis_does_not_cut_short(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(reducing, "monotonic_seconds", lambda: clock[0])

    def fails(part: Kept) -> bool:
        clock[0] += 100.0
        return 3_777 in part.events and part.fault

    reduction, _, done = reduced(whole(5_000, 3), fails, seconds=10_000.0)

    assert reduction.smallest == Kept(frozenset({3_777}), frozenset(), fault=True)
    assert done


def test_a_guess_that_fails_is_where_it_begins():
    asked: list[Kept] = []

    def fails(part: Kept) -> bool:
        asked.append(part)
        return 3_777 in part.events

    reduction = Reduction(whole(5_000, 3), fails, 60.0)
    reduction.guess(
        [Kept(frozenset({5}), frozenset({0, 1}), fault=True), Kept(frozenset({3_777, 4_999}), frozenset({0, 1}), fault=True)]
    )
    reduction.run()

    assert reduction.smallest == Kept(frozenset({3_777}), frozenset(), fault=False)
    assert [len(part.events) for part in asked[:2]] == [1, 2]
    assert len(asked) < 10


def test_an_error_ends_it_at_once_and_is_raised_as_it_is():
    asked: list[Kept] = []

    def fails(part: Kept) -> bool:
        asked.append(part)
        if len(asked) == 3:
            raise OSError("the disk is full")
        return True

    with pytest.raises(OSError, match="the disk is full"):
        Reduction(whole(500, 2), fails, 60.0).run()
    assert len(asked) == 3


def test_without_hypothesis_it_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "hypothesis", None)

    with pytest.raises(MissingExtra, match=r"streamproof\[shrink\]"):
        Reduction(whole(10, 2), lambda part: True, 60.0).run()
