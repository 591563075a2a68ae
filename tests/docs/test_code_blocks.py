"""Every code block of the tutorials, guides and explanations does what the page says, or says why it is not executed.

Pages that start a JVM are executed by tests/pages.
"""

import pytest

from docs.blocks import EXECUTED, PAGES, ROOT, Block, blocks_of, commands_of, execute, missing_line, runs


def test_there_are_blocks_to_execute():
    executed = [block for blocks in PAGES.values() for block in blocks if EXECUTED in block.marks]
    assert {block.language for block in executed} == {"python", "console"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_block_says_whether_it_is_executed(path):
    undecided = [f"line {block.line}: ```{block.language}" for block in PAGES[path] if not block.decided]
    assert undecided == []


def examples_shown() -> list[tuple[str, str]]:
    return [(block.marks["of"], block.code) for blocks in PAGES.values() for block in blocks if "of" in block.marks]


@pytest.mark.parametrize(("file", "code"), examples_shown(), ids=lambda value: value if value.endswith(".py") else "")
def test_a_file_on_a_page_is_the_file_of_the_repository(file, code):
    assert code == (ROOT / file).read_text(encoding="utf-8")


def test_every_example_with_a_sample_has_a_page_with_its_job():
    samples = (ROOT / "examples").glob("*/sample.py")

    assert {f"examples/{path.parent.name}/job.py" for path in samples} == {file for file, _ in examples_shown()}


@pytest.mark.parametrize("blocks", runs(with_spark=False))
def test_the_blocks_of_a_page_do_what_they_say(blocks, tmp_path):
    execute(blocks, tmp_path)


def test_a_block_is_read_with_its_marks_and_its_place():
    text = 'a\n\n```console exec spark exits="1"\n$ false\n```\n\n    ```python\n    x\n    ```\n\n```toml\n```\n'

    first, second = blocks_of(text)

    assert first == Block("console", {"exec": "", "spark": "", "exits": "1"}, "$ false\n", 3)
    assert second.code == "x\n"
    assert first.decided
    assert not second.decided


def test_a_command_has_the_lines_below_it():
    assert list(commands_of("$ one\nA\n\nB\n$ two\n")) == [("one", ["A", "B"]), ("two", [])]


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [(["a  b", "d"], None), (["a b c"], "a b c"), (["d", "a b"], "a b"), (["a … b"], "a … b"), (["a…", "…d"], None)],
)
def test_lines_must_be_printed_in_order(wanted, missing):
    assert missing_line(wanted, "a b\nc\n  d\n") == missing


@pytest.mark.parametrize(
    "block",
    [
        Block("console", {"exec": ""}, "$ false\n", 1),
        Block("console", {"exec": "", "exits": "1"}, "$ true\n", 1),
        Block("console", {"exec": ""}, "$ echo this\nthat\n", 1),
        Block("python", {"exec": ""}, "1 / 0", 1),
    ],
)
def test_a_block_that_does_something_else_is_seen(block, tmp_path):
    with pytest.raises(AssertionError, match="line 1"):
        execute([block], tmp_path)


def test_a_file_of_the_page_is_there_for_the_blocks_below(tmp_path):
    execute(
        [Block("python", {"file": "a/b.py"}, "print('hello')", 1), Block("console", {"exec": ""}, "$ python a/b.py\nhello\n", 2)],
        tmp_path,
    )
