"""Comparing two runs: what broke, what is mended, where the account moved, and whether they can be compared at all."""

import io

from rich.console import Console

from streamproof.core.verdict import Verdict
from streamproof.report.compare import compare, print_comparison


def printed(found):
    out = io.StringIO()
    print_comparison(found, Console(file=out, width=100), names=("0006", "0007"))
    return out.getvalue()


def test_a_broken_run_against_a_good_one(green, red):
    found = compare(green, red)

    assert found.verdict == (Verdict.PASS, Verdict.FAIL)
    assert found.counts == {"pass": (265, 258), "fail": (0, 7), "unknown": (0, 0)}
    assert found.new_failures == tuple(f"publish/exposure@{batch}:after" for batch in range(3, 10))
    assert (found.fixed, found.still_failing) == ((), ())
    assert (found.account, found.worst_account) == ({}, {"emitted": (47_912, 52_078)})


def test_a_mended_run_against_a_broken_one(green, red):
    found = compare(red, green)

    assert len(found.fixed) == 7
    assert found.new_failures == ()
    assert not found.same


def test_the_same_run_twice_is_the_same_whatever_the_time(red):
    found = compare(red, red | {"seconds": 9.0})

    assert found.same
    assert len(found.still_failing) == 7


def test_what_is_new_gone_or_no_longer_decided_is_named(green, unknown):
    found = compare(green, unknown)

    assert found.undecided == ("work/state.0.1@3:after", "commit/metrics@5:after")
    assert len(found.gone) == 265 - 177
    assert "publish/exposure@11:after" in found.gone
    assert compare(unknown, green).added == found.gone
    assert found.setting == {"plan": ("standard", "part")}


def test_it_is_printed_on_a_screen(green, red):
    lines = printed(compare(green, red | {"seed": 8})).splitlines()
    text = "\n".join(lines)

    assert lines[0] == "0006 → 0007   PASS → FAIL"
    assert "not alike   seed 7 → 8" in text
    assert "scenarios   pass 265 → 258 · fail 0 → 7 · unknown 0" in text
    assert "new fails   7: publish/exposure@3:after" in text
    assert "account     the same" in text
    assert "worst       emitted 47,912 → 52,078" in text
    assert len(lines) <= 24
