"""A question to a run: by which names events are found, what other scenarios say, and which events made a row."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from streamproof.errors import ConfigurationError
from streamproof.prove.artifacts.history import History
from streamproof.prove.lineage import words
from streamproof.prove.lineage.kept import FOLDER, Keeper, Kept
from streamproof.prove.lineage.tracing import FAULT_FREE, Run
from unit.prove.lineage.recorded import CRASHED, keep, reported, run_of
from unit.prove.small import FILE, ONCE, RECORDS, batches_of, changed, faultless, rows_of, with_left, with_rows


@pytest.fixture
def sound() -> History:
    return faultless(ONCE, RECORDS)


@pytest.fixture
def doubled(sound: History) -> History:
    """The same with a row of client a published once more."""
    rows = rows_of(sound, "totals")
    return with_rows(sound, "totals", [*rows, *(replace(row, batch=3, file=FILE) for row in rows if row.values["client"] == "a")])


def told(run: Run, name: str) -> str:
    return "\n".join(
        f"{label} {text}" for one in run.event(name) for label, text in words.event_lines(one, run.setting, run.events)
    )


# -- events by their names


def test_an_event_is_found_by_its_id_with_its_copies_and_a_copy_alone(tmp_path: Path, sound: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound})

    assert [one.event.trace for one in run.event("e-1")] == ["e-1", "e-1+1"]
    assert [one.event.trace for one in run.event("e-1+1")] == ["e-1+1"]


def test_an_event_that_is_nowhere_says_what_ids_look_like_and_which_are_near(tmp_path: Path, sound: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound})

    with pytest.raises(ConfigurationError) as raised:
        run.event("e-11")

    assert 'There is no event "e-11" among the 11 of this run' in str(raised.value)
    assert "An id looks like e-1 (the last one is e-10)" in str(raised.value)
    assert "Nearest: e-1" in str(raised.value)


# -- other scenarios


def test_p9_scenarios_that_end_alike_are_counted_and_those_that_contradict_the_model_are_named(
    tmp_path: Path, sound: History, doubled: History
) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound, "work/a@1:after": sound, CRASHED: doubled})

    elsewhere = run.event("e-1")[0].elsewhere
    assert (elsewhere.others, elsewhere.wrong) == (2, (CRASHED,))
    assert f"WRONG in 1 of 2 other scenarios, such as {CRASHED}" in told(run, "e-1")
    assert "it ends alike in all 2 other scenarios" in told(run, "e-3")


def test_an_event_that_is_given_by_another_batch_ends_alike(tmp_path: Path, sound: History) -> None:
    """After a crash the events that are left are read in other batches."""
    first, second, third = RECORDS
    reads = batches_of(ONCE, [first, [], second, third])
    files = [("part-0-0.json",), (), ("part-1-0.json",), ("part-2-0.json",)]
    later = faultless(ONCE, RECORDS, reads=[replace(read, files=its) for read, its in zip(reads, files, strict=True)])
    run = run_of(tmp_path, {FAULT_FREE: sound, CRASHED: later})

    assert "given by batch 2" in told(run, "e-1")
    assert "given by batch 3" in told(Run(Kept(tmp_path), [], CRASHED), "e-1")
    assert run.event("e-1")[0].elsewhere.differing == ()
    assert run.event("e-8")[0].elsewhere.differing == ()


def test_p9_a_batch_that_ran_twice_is_told_with_whose_rows_are_published(tmp_path: Path, sound: History) -> None:
    view = sound.queries[0]
    batches = tuple(replace(read, run="a" if read.batch < 2 else "b") for read in view.left.batches)
    crashed = with_left(sound, replace(view.left, batches=batches))
    report = [reported(FAULT_FREE), reported(CRASHED, 0, 2)]

    run = run_of(tmp_path, {FAULT_FREE: sound, CRASHED: crashed}, scenario=CRASHED, report=report)

    said = told(run, "e-1")
    assert (
        "batch 0 ran twice: the crash ended the first attempt, and the recovery ran it again; what is published of it was staged by the first attempt"
        in said
    )
    assert "batch 2 ran twice" in said
    assert "staged after the recovery" in said
    assert ("crash", "after output totals of batch 1 was published") in list(words.scenario_lines(run.setting))


def test_the_contents_of_scenarios_that_left_the_same_are_kept_once(tmp_path: Path, sound: History, doubled: History) -> None:
    keep(tmp_path, {FAULT_FREE: sound, "a": sound, "b": sound})
    once = len(list((tmp_path / FOLDER / "parts").iterdir()))
    keep(tmp_path, {"c": doubled})

    assert len(list((tmp_path / FOLDER / "parts").iterdir())) == once + 1
    assert len((tmp_path / FOLDER / "scenarios.jsonl").read_text().splitlines()) == 4


def test_a_scenario_that_is_not_there_names_those_that_are(tmp_path: Path, sound: History) -> None:
    with pytest.raises(ConfigurationError, match='There is no scenario "x" in this run') as raised:
        run_of(tmp_path, {FAULT_FREE: sound}, scenario="x")

    assert "An event can be followed in fault-free" in str(raised.value)


# -- rows


def test_p9_the_events_that_made_a_row_are_named_with_their_batches(tmp_path: Path, sound: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound})

    (origin,) = run.rows("client = 'a'", "totals")

    assert origin.traces == ("e-1", "e-2", "e-6")
    assert (origin.by, origin.agrees, dict(origin.batches)) == (2, True, {"e-1": 0, "e-2": 0, "e-6": 1})
    lines = dict(words.row_lines(origin, run.setting, run.events))
    assert lines["made of"] == "3 events: e-1, e-2 (read by batch 0); e-6 (read by batch 1)"
    assert lines["published"] == "totals, batch=000002, given by batch 2"


def test_windows_are_asked_for_by_texts_in_utc(tmp_path: Path, sound: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound})

    assert {origin.row["values"]["client"] for origin in run.rows("window_start = '1970-01-01 00:01:00'")} == {"a", "b"}


def test_p9_a_row_of_other_records_than_the_model_has_does_not_agree(tmp_path: Path, sound: History) -> None:
    rows = [changed(row, _records=4) for row in rows_of(sound, "totals")]
    run = run_of(tmp_path, {FAULT_FREE: with_rows(sound, "totals", rows)})

    (origin,) = run.rows("client = 'a'", "totals")

    assert origin.agrees is False
    assert ("WRONG", "the row was made of 4 records, the model has 3 in it; their count or their hash sum differ") in list(
        words.row_lines(origin, run.setting, run.events)
    )


@pytest.mark.parametrize(
    ("condition", "clients"),
    [
        ("total > 5000", {"b"}),
        ("total = 12.5", {"a"}),
        ("total = '12.50'", {"a"}),
        ("total < 100", {"a"}),
        ("coalesce(total, 0) >= 9000 and total * 2 < 18001", {"b"}),
        ("total between 12 and 13", {"a"}),
        ("total > 0", {"a", "b"}),
    ],
)
def test_decimals_are_compared_as_numbers(tmp_path: Path, sound: History, condition: str, clients: set[str]) -> None:
    totals = {"a": Decimal("12.50"), "b": Decimal("9000.00")}
    rows = [changed(row, total=totals.get(row.values["client"])) for row in rows_of(sound, "totals")]
    run = run_of(tmp_path, {FAULT_FREE: with_rows(sound, "totals", rows)})

    found = run.rows(condition, "totals")

    assert {origin.values["client"] for origin in found} == clients
    assert {origin.values["total"] for origin in found} == {str(totals[client]) for client in clients}


def test_a_row_of_a_side_output_is_of_the_event_whose_bytes_it_holds(tmp_path: Path, sound: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound})

    (origin,) = run.rows("reason = 'total > 0'")

    assert (origin.output, origin.traces) == ("rejected", ("e-4",))


@pytest.mark.parametrize(
    ("condition", "output", "said"),
    [
        ("client = 'zz'", None, "No published row fits"),
        ("nobody = 1", None, "no such column: nobody"),
        ('"nobody" = 1', None, "no such column: nobody"),
        ("client = ", None, "syntax error"),
        ("client = 'a'", "nowhere", 'There is no output "nowhere"'),
    ],
)
def test_a_condition_that_finds_nothing_says_why_and_what_there_is(
    tmp_path: Path, sound: History, condition: str, output: str | None, said: str
) -> None:
    run = run_of(tmp_path, {FAULT_FREE: sound})

    with pytest.raises(ConfigurationError) as raised:
        run.rows(condition, output)

    assert said in str(raised.value)
    assert "totals" in str(raised.value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.5, "1.50"),
        (1007.21, "1,007.21"),
        (0.004, "0.004"),
        (1.5e-5, "1.5e-05"),
        (2.675, "2.675"),
        (-0.0, "-0.00"),
        (1234567.125, "1,234,567.125"),
        (1e22, "1e+22"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ("12.50", "12.50"),
        (7, "7"),
    ],
)
def test_a_number_is_shown_as_it_is(value: object, shown: str) -> None:
    """Two decimals where they say all of it: else a row would not be found by what is shown of it."""
    assert words.values_in_words({"total": value}) == f"total {shown}"


# -- what is kept


def test_a_run_without_lineage_says_to_prove_again(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="has no lineage") as raised:
        Kept(tmp_path)

    assert "Prove again" in str(raised.value)


def test_what_cannot_be_kept_ends_no_proof_and_is_said_afterwards(tmp_path: Path, sound: History) -> None:
    def broken() -> None:
        raise ValueError("a row that nobody can write")

    Keeper(tmp_path / FOLDER).keep(FAULT_FREE, list, broken)

    with pytest.raises(ConfigurationError, match="a row that nobody can write"):
        Run(Kept(tmp_path), [reported(FAULT_FREE)])


def test_a_line_that_was_cut_short_at_the_end_is_left_out_and_damage_is_named(tmp_path: Path, sound: History) -> None:
    keep(tmp_path, {FAULT_FREE: sound})
    lines = tmp_path / FOLDER / "scenarios.jsonl"
    whole = lines.read_text()

    lines.write_text(whole + '{"id": "a')
    assert list(Kept(tmp_path).scenarios) == [FAULT_FREE]

    lines.write_text('{"id": "a\n' + whole)
    with pytest.raises(ConfigurationError, match="line 1 is no JSON"):
        assert Kept(tmp_path).scenarios

    lines.write_text(whole)
    for part in (tmp_path / FOLDER / "parts").iterdir():
        part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Run(Kept(tmp_path), [reported(FAULT_FREE)])


def test_the_result_is_json(tmp_path: Path, sound: History, doubled: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: doubled, CRASHED: sound})

    found = json.loads(json.dumps([one.as_dict() for one in run.event("e-1")]))

    assert found[0]["ways"][0]["moments"][-1]["kind"] == "doubled"
    assert json.loads(json.dumps([one.as_dict() for one in run.rows("client = 'a'")]))[0]["events"][0]["trace"] == "e-1"
