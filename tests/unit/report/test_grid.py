"""The grid: a cell for each crash point, as bad as the worst scenario there, red ones first."""

from streamproof.report import explain, grid


def built(report):
    return grid.build(report, explain.worst_first(report))


def test_each_enumerated_step_is_one_cell_in_its_phase_and_batch(green):
    found = built(green)

    assert found.size == len(green["steps"]) == 516
    assert found.batches == tuple(range(12))
    assert [row.phase for row in found.rows] == ["start", "plan", "work", "stage", "publish", "commit", "maintenance"]
    assert {cell.state for row in found.rows for group in row.groups for cell in group} == {"pass"}
    assert all(
        cell.batch == batch for row in found.rows for batch, group in zip(found.batches, row.groups, strict=True) for cell in group
    )


def test_red_cells_come_first_and_share_the_scenario_of_their_disk(red):
    found = built(red)
    publish = next(row for row in found.rows if row.phase == "publish")

    assert [cell.step for cell in publish.groups[3] if cell.state == "fail"] == [
        "publish/exposure@3:after",
        "publish/late@3:before",
    ]
    assert [cell.state for cell in publish.groups[3]][:3] == ["fail", "fail", "pass"]
    assert publish.groups[3][0].scenarios == publish.groups[3][1].scenarios == (0,)


def test_a_live_crash_that_disagrees_turns_the_cell_red(green):
    live = next(entry for entry in green["scenarios"] if entry["id"] == "publish/rejected@4:after+live")
    live["verdict"] = "fail"

    assert [cell.step for cell in built(green).red] == ["publish/rejected@4:after"]


def test_a_step_without_a_finished_scenario_is_untried_and_never_green(unknown, green):
    assert built(unknown).untried == 175
    green["steps"][0]["scenario"] = None
    green["scenarios"] = [entry for entry in green["scenarios"] if entry["step"] != green["steps"][0]["id"]]
    assert built(green).untried == 1


def test_several_queries_have_rows_of_their_own(green):
    green["steps"] += [step | {"id": f"audit:{step['id']}"} for step in green["steps"]]

    found = built(green)

    assert found.size == 2 * 516
    assert {row.query for row in found.rows} == {"", "audit"}
