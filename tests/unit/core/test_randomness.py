from collections import Counter

from streamproof.core.randomness import Seeded


def test_the_same_seed_and_path_give_these_numbers_on_every_machine():
    numbers = Seeded(7, "trades")

    assert [numbers.below(1_000_000) for _ in range(4)] == [525397, 671233, 980587, 861564]


def test_another_path_or_seed_gives_others():
    first = [Seeded(7, "a").uniform(), Seeded(7, "b").uniform(), Seeded(8, "a").uniform(), Seeded(7, "a", "b").uniform()]

    assert len(set(first)) == 4


def test_ranges():
    numbers = Seeded(1, "x")

    assert all(2.0 <= numbers.between(2.0, 3.0) < 3.0 for _ in range(1000))
    assert {numbers.below(3) for _ in range(100)} == {0, 1, 2}
    assert not any(numbers.chance(0.0) for _ in range(100))
    assert all(numbers.chance(1.0) for _ in range(100))
    assert all(numbers.exponential(2.0) >= 0 for _ in range(1000))
    assert 1.8 < sum(numbers.exponential(2.0) for _ in range(10_000)) / 10_000 < 2.2


def test_shuffling_keeps_what_is_there_and_every_order_comes():
    numbers = Seeded(1, "x")
    orders = Counter(tuple(numbers.shuffled([1, 2, 3])) for _ in range(6000))

    assert all(sorted(order) == [1, 2, 3] for order in orders)
    assert len(orders) == 6
    assert all(800 < count < 1200 for count in orders.values())
