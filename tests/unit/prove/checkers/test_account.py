"""The account adds up, as numbers and as hashes."""

from dataclasses import replace

import pytest

from streamproof.core.manifest import Fingerprint, LedgerEntry, Manifest
from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import History, OutputHistory, OutputRow, StateContents
from unit.prove.small import (
    DEDUPLICATED,
    FILE,
    RECORDS,
    at,
    changed,
    check,
    faultless,
    held_by,
    only_finding,
    rows_of,
    with_held,
    with_left,
    with_left_by,
    with_rows,
)


def test_r15_an_event_in_no_place_is_named(once):
    finding = only_finding("account", with_rows(once, "late", rows_of(once, "late")[1:]))

    assert (finding.event, finding.what) == ("e-9", "is in no place of the account of totals")
    assert finding.expected == "input 11"
    assert finding.found == "emitted 4 + open_state 2 + late 1 + rejected 1 + duplicate 1 + filtered 1 = 10"


def test_r15_an_event_in_two_places_is_named(once):
    finding = only_finding("account", with_rows(once, "late", [*rows_of(once, "late"), OutputRow(2, FILE, {"_trace": "e-8"})]))

    assert (finding.event, finding.what) == ("e-8", "is in two places of the account of totals")


def test_r15_a_final_window_that_is_still_in_state_counts_in_both_places(once):
    """Only where a window gives several rows is it in state after the first one."""
    view = once.queries[0]
    (by, _), contents = next(iter(view.model.emitted.items()))
    windows = {**held_by(view.left.state).groups, (by, contents.end_us): contents.vector}
    left = replace(view.left, state=with_held(view.left.state, groups=windows))

    finding = only_finding("account", with_left(once, left))
    assert finding.what == "the account of totals has 3 records too many"
    assert finding.found is not None
    assert finding.found.startswith("emitted 4 + open_state 5 + ")


def test_r15_numbers_that_add_up_by_chance_do_not_pass(once):
    rows = rows_of(once, "late")
    rows[0] = changed(rows[0], _trace="e-1")

    assert "adds up in number" in only_finding("account", with_rows(once, "late", rows)).what


def with_named_copies(*names: str) -> History:
    """A run whose first batch drops a copy by one side output of a name, and the second by another; these of them have rows."""
    history = faultless(DEDUPLICATED, [RECORDS[0], [*RECORDS[1], at("e-2+1", 62)]])
    (view,) = history.queries
    named = []
    for outcome, name in zip(view.model.batches, ("left", "right"), strict=True):
        steps = {
            node: replace(step, sides={(kind, name if kind == "duplicate" else ""): rows for (kind, _), rows in step.sides.items()})
            for node, step in outcome.steps.items()
        }
        named.append(replace(outcome, steps=steps))
    rows = dict(zip(("left", "right"), rows_of(history, "again"), strict=True))
    others = {name: output for name, output in view.left.outputs.items() if name != "again"}
    sides = {f"again_{name}": OutputHistory(f"again_{name}", f"duplicate:{name}", (rows[name],)) for name in names}
    model = replace(view.model, batches=tuple(named))
    return replace(history, queries=[replace(view, model=model, left=replace(view.left, outputs={**others, **sides}))])


@pytest.mark.parametrize("names", [(), ("left",), ("left", "right")], ids=" ".join)
def test_what_leaves_by_side_outputs_of_names_adds_up_and_what_has_no_output_is_the_models(names):
    history = with_named_copies(*names)

    assert [check(name, history).verdict for name in ("account", "duplicate-routing")] == [Verdict.PASS] * 2


def test_rows_of_a_side_output_of_a_name_are_held_against_the_account():
    history = with_rows(with_named_copies("left", "right"), "again_right", [])

    assert only_finding("account", history).what == "is in no place of the account of totals"
    assert only_finding("duplicate-routing", history).event == "e-2"


def test_rows_in_the_side_output_of_another_name_are_found():
    history = with_named_copies("left", "right")
    left, right = rows_of(history, "again_left"), rows_of(history, "again_right")
    mixed = with_rows(with_rows(history, "again_left", right), "again_right", left)

    assert check("duplicate-routing", mixed).verdict is Verdict.FAIL


def test_an_account_without_state_is_unknown(once):
    assert check("account", with_left(once, replace(once.queries[0].left, state=None))).verdict is Verdict.UNKNOWN


def test_what_a_transform_lost_makes_the_account_unknown(once):
    view = once.queries[0]
    outcome = with_left_by(view.model.batches[0], "unknown", "e-2")
    model = replace(view.model, batches=(outcome, *view.model.batches[1:]))

    result = check("account", replace(once, queries=[replace(view, model=model)]))

    assert (result.verdict, result.problem) == (Verdict.UNKNOWN, "e-2 left totals by a plain transform, which nothing counts.")


def with_printed(history: History, **other: int) -> History:
    """The history with manifests whose totals are the model's, but for some places."""
    view = history.queries[0]
    totals = {f"total.{place}": vector.count for place, vector in view.model.places.items()}
    counts = totals | {f"total.{place}": count for place, count in other.items()}
    manifests = {
        outcome.batch: Manifest("m", "small", "totals", "i", outcome.batch, "a", Fingerprint(0, (), {}), "", {}, (), counts)
        for outcome in view.batches
    }
    return with_left(history, replace(view.left, manifests=manifests))


@pytest.mark.parametrize("place", ["input", "emitted", "late", "rejected", "duplicate", "filtered"])
def test_r15_what_a_run_prints_is_what_the_model_says(once, place):
    assert check("account", with_printed(once)).verdict is Verdict.PASS

    finding = only_finding("account", with_printed(once, **{place: 99}))

    assert finding.what == f"totals prints another number of {place} records than there are"
    assert finding.found == "99"


def test_a_missing_manifest_is_found_unless_a_power_failure_took_it(once):
    history = with_printed(once)
    left = history.queries[0].left
    history = with_left(history, replace(left, manifests=dict(list(left.manifests.items())[1:])))

    assert "has no manifest of a batch" in only_finding("account", history).what
    assert check("account", replace(history, power_failure=True)).verdict is Verdict.PASS


def test_a_power_failure_does_not_take_the_manifest_of_the_newest_batch_for_good(once):
    history = with_printed(once)
    left = history.queries[0].left
    history = with_left(history, replace(left, manifests=dict(list(left.manifests.items())[:-1])))

    finding = only_finding("account", replace(history, power_failure=True))

    assert "no manifest of its newest batch" in finding.what


def test_what_is_published_by_ledgers_has_manifests(once):
    left = once.queries[0].left
    main = left.outputs["totals"]
    entry = LedgerEntry("small", "totals", "i", 2, 0, "m", "f", len(main.by_batch[2]), 0)
    outputs = {**left.outputs, "totals": replace(main, ledgers={2: entry})}

    assert check("account", once).verdict is Verdict.PASS
    assert "has no manifest of a batch" in only_finding("account", with_left(once, replace(left, outputs=outputs))).what


def test_a_state_that_cannot_be_read_leaves_the_account_unknown_and_says_why(once):
    left = once.queries[0].left
    result = check("account", with_left(once, replace(left, state=StateContents(unread="KeyError: 'end_us'"))))

    assert (result.verdict, result.problem) == (Verdict.UNKNOWN, "The state of totals was not read: KeyError: 'end_us'.")


def without_a_manifest(history, unknown_since: int | None):
    """A power failure has taken the manifest of the first batch, and the newest one prints other totals."""
    left = with_printed(history, emitted=99).queries[0].left
    manifests = {number: replace(manifest, unknown_since=unknown_since) for number, manifest in list(left.manifests.items())[1:]}
    return replace(with_left(history, replace(left, manifests=manifests)), power_failure=True)


def test_r31_totals_that_leave_out_a_lost_manifest_say_since_when_they_are_unknown(once):
    assert check("account", without_a_manifest(once, 0)).verdict is Verdict.PASS

    assert "prints another number of emitted" in only_finding("account", without_a_manifest(once, None)).what


def test_r31_an_account_is_not_unknown_where_no_manifest_is_lost(once):
    history = with_printed(once)
    left = history.queries[0].left
    manifests = {number: replace(manifest, unknown_since=1) for number, manifest in left.manifests.items()}

    assert "no manifest is lost" in only_finding("account", with_left(history, replace(left, manifests=manifests))).what
