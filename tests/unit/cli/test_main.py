"""Errors are said in the manner of UX.md, never as a trace; exit codes are those of DESIGN."""

from pathlib import Path

import pytest

import streamproof.config
from streamproof import __version__
from streamproof.errors import (
    CheckpointError,
    ConfigurationError,
    JobDefinitionError,
    JvmGone,
    RegistryError,
    RegistryUnavailable,
    SinkError,
    SinkUnavailable,
    SourceUnavailable,
    StreamproofError,
)

COMMANDS = ("init", "check", "run", "prove", "report")


def test_help_teaches_examples_and_exit_codes(streamproof):
    result = streamproof("--help")

    assert result.code == 0
    for word in (
        *COMMANDS,
        "streamproof prove my_job",
        "75  start it again later",
        "0  pass",
        "1  fail",
        "2  wrong usage",
        "3  unknown",
    ):
        assert word in result.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(streamproof, command):
    result = streamproof(command, "--help")

    assert result.code == 0
    assert f"streamproof {command} " in result.out.split("Example", 1)[1]


def test_what_is_not_there_yet_is_not_offered(streamproof):
    text = streamproof("--help").out

    assert not any(f"  {command} " in text for command in ("savepoint", "replay"))


def test_version(streamproof):
    assert streamproof("--version").out == f"streamproof {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prov",), "Did you mean 'prove'?"),
        (("prove", "--sed", "7"), "--seed"),
        (("prove", "--seed", "seven"), "'--seed'"),
        (("prove", "--time-budget", "soon"), '"soon" is not a duration'),
        (("prove", "--max-scenarios", "0"), "'--max-scenarios'"),
        (("run", "--new-output", "x", "--replace-output"), "exclude each other"),
        (("init",), "DIR"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_names_the_help(streamproof, arguments, said):
    result = streamproof(*arguments)

    assert result.code == 2
    assert result.err.startswith("error  ")
    assert said in result.err
    assert "--help shows what it takes." in result.err


@pytest.mark.parametrize("command", ["run", "prove"])
def test_a_target_that_is_not_there(streamproof, monkeypatch, command):
    result = streamproof(command, "nowhere")

    assert result.code == 2
    assert "nowhere" in result.err
    assert "Traceback" not in result.err


def fail_with(monkeypatch, problem, *, file=streamproof.config.__file__):
    """Lets a function of Streamproof's own raise, or one of another file that it calls."""
    named = {"problem": problem}
    exec(compile("def load(*_, **__):\n    raise problem\n", file, "exec"), named)
    monkeypatch.setattr("streamproof.config.load", named["load"])


def test_every_line_of_an_error_is_printed_below_the_first_word(streamproof, monkeypatch):
    fail_with(monkeypatch, ConfigurationError("a/b.toml line 9: no key.", required="It takes x.", remedy="Write x."))

    result = streamproof("run")

    assert result.err == "error  a/b.toml line 9: no key.\n       It takes x.\n       Write x.\n"
    assert result.out == ""


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (ConfigurationError("x"), 2),
        (JobDefinitionError("x"), 2),
        (CheckpointError("x"), 1),
        (SinkError("x"), 1),
        (StreamproofError("The query stopped: x"), 1),
        (SinkUnavailable("x"), 75),
        (RegistryError("refused"), 1),
        (RegistryUnavailable("silent"), 75),
        (SourceUnavailable("x"), 75),
        (JvmGone("x"), 75),
    ],
)
def test_the_exit_code_is_the_errors(streamproof, monkeypatch, problem, code):
    fail_with(monkeypatch, problem)

    assert streamproof("run").code == code


def test_square_brackets_are_not_taken_for_markup_and_long_lines_not_folded(streamproof, monkeypatch):
    fail_with(monkeypatch, ConfigurationError("[source.trades] [bold]x[/bold] " + "word " * 60 + "end"))

    assert streamproof("run").err == "error  [source.trades] [bold]x[/bold] " + "word " * 60 + "end\n"


def test_an_unexpected_error_is_one_sentence_and_its_trace_is_kept(streamproof, monkeypatch):
    monkeypatch.setenv("STREAMPROOF_TEST_SECRET", "hunter2-hunter2")
    monkeypatch.setattr("streamproof.config.secret._known", {})
    from streamproof.config.secret import substitute

    fail_with(monkeypatch, ZeroDivisionError(f"of {substitute('${env:STREAMPROOF_TEST_SECRET}')}"))

    result = streamproof("run")

    assert result.code == 70
    assert result.err.endswith("This is a fault of Streamproof's: please report it.\n")
    assert result.err.startswith("error  Unexpected: ZeroDivisionError: of ${env:STREAMPROOF_TEST_SECRET}\n")
    assert "Traceback" not in result.err
    kept = Path(".streamproof/last-error.txt").read_text()
    assert "Traceback" in kept
    assert "hunter2" not in kept + result.err


def test_of_an_unexpected_error_no_value_is_kept_and_none_is_said(streamproof, monkeypatch):
    fail_with(monkeypatch, ValueError("[CAST_INVALID_INPUT] The value 'ann@example.org' cannot be cast."))

    result = streamproof("run")

    kept = Path(".streamproof/last-error.txt").read_text()
    assert "ann@example.org" not in kept + result.err
    assert "ValueError [CAST_INVALID_INPUT]" in kept
    assert 'File "' in kept


def test_what_the_users_code_raises_names_its_line_and_is_no_fault_of_ours(streamproof, monkeypatch):
    fail_with(monkeypatch, KeyError("eur"), file=str(Path("sink.py").absolute()))

    result = streamproof("run")

    assert result.code == 2
    assert result.err.startswith("error  sink.py line 2, in load: KeyError: 'eur'.\n")
    assert "Streamproof's" not in result.err
    assert "Traceback" not in result.err


def test_the_module_that_is_missing_is_named(streamproof, monkeypatch):
    problem = ModuleNotFoundError("No module named 'polars'", name="polars")
    fail_with(monkeypatch, problem, file=str(Path("sink.py").absolute()))

    result = streamproof("run")

    assert result.code == 2
    assert "sink.py line 2, in load: the module polars is missing." in result.err
    assert "-m pip install polars" in result.err


def test_debug_prints_the_trace_of_that_command_alone(streamproof, monkeypatch):
    fail_with(monkeypatch, ConfigurationError("wrong"))

    assert "Traceback" in streamproof("run", "--debug").err
    assert "Traceback" not in streamproof("run").err


def test_ctrl_c_is_130_and_says_what_is_kept(streamproof, monkeypatch, my_job):
    pytest.importorskip("streamproof.runtime.run")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("streamproof.runtime.run.run_job", interrupted)
    monkeypatch.setattr("streamproof.runtime.spark.environment.find_java", lambda: None)

    result = streamproof("run", "my_job")

    assert result.code == 130
    assert "Published batches stay" in result.err
    assert "streamproof run my_job" in result.err
