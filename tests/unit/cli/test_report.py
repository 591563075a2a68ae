def test_no_runs_yet(streamproof):
    result = streamproof("report", "list")

    assert (result.code, result.out) == (0, "nothing has been proved in . yet: streamproof prove .\n")


def test_a_run_that_is_not_there(streamproof):
    result = streamproof("report", "show", "7")

    assert result.code == 2
    assert 'no run "7"' in result.err
