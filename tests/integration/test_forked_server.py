"""Servers of tests that are forks: they end, write and read variables as new processes do."""

import signal
import sys
from pathlib import Path

import pytest

import forked_server
import server_process
from forked_server import Forked
from integration import command
from usher import __version__

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")]


def started(log: Path, *arguments: str) -> Forked:
    with log.open("ab") as output:
        return forked_server.start(arguments, log=output, env=command.environment())


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [(["--version"], 0, f"usher {__version__}\n"), (["serve", "--no-such-option"], 2, "No such option")],
)
def test_it_writes_to_its_log_and_ends_with_its_exit_code(
    arguments: list[str], code: int, text: str, tmp_path: Path
) -> None:
    process = started(tmp_path / "log", *arguments)

    assert process.wait(60) == code
    assert process.poll() == code
    assert text in (tmp_path / "log").read_text()


def test_a_signal_that_kills_it_is_its_exit_code(tmp_path: Path) -> None:
    with server_process.running(tmp_path) as server:
        assert server.running.process.poll() is None
        server.running.process.kill()

        assert server.running.process.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("variable", ["PYTHONHASHSEED", "COVERAGE_PROCESS_CONFIG"])
def test_variables_that_the_interpreter_reads_need_a_new_process(variable: str) -> None:
    env = {key: value for key, value in command.environment().items() if not key.startswith("COVERAGE")}

    assert forked_server.can_start(env)
    assert not forked_server.can_start({**env, variable: "1"})
