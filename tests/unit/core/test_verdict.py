import pytest

from streamproof.core.account import Account
from streamproof.core.verdict import Verdict, worst


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "unknown"], "unknown"),
        (["unknown", "fail", "pass"], "fail"),
        ([], "unknown"),
    ],
)
def test_the_worst_verdict_wins_and_nothing_looked_at_is_unknown(verdicts, expected):
    assert worst(Verdict(verdict) for verdict in verdicts) == expected


def test_exit_codes():
    assert {verdict.value: verdict.exit_code for verdict in Verdict} == {"pass": 0, "fail": 1, "unknown": 3}


def test_the_account_counts_every_place_once():
    account = Account(emitted=5, late=1, rejected=4)

    assert account.total == 10
    assert Account.of(account.as_dict()) == account
    assert Account.of({"emitted": 1, "elsewhere": 5}) == Account(emitted=1)
