"""How a command ends whose streams are closed, or that a signal ends."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from generated_examples import in_turn
from integration import command
from integration.command import BAD_EXAMPLE

pytestmark = pytest.mark.process

_KILLED_WHILE_WRITING: Final = """
import os, signal, sys
from usher.cli import main
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGTERM)
main.main(sys.argv[1:])
"""

# Tests may run under nohup, which has SIGHUP ignored in all that it starts.
_NOT_IGNORING: Final = """
import signal, sys
signal.signal(int(sys.argv[1]), signal.SIG_DFL)
from usher.cli import main
main.main(["check", "-"])
"""


def run(script: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The result of a line of shell in which `usher` is this program."""
    line = f'usher() {{ "{sys.executable}" -m usher "$@"; }}; {script}'
    return subprocess.run(
        ["sh", "-c", line, "sh", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=command.environment(),
        check=False,
        timeout=120,
    )


def without_times(report: str) -> str:
    """A minute may end between two runs."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", report)


@pytest.mark.parametrize("given", in_turn(['check "$1"', "policies list", "--help", "audit --demo"], every=4))
def test_a_report_for_a_closed_standard_output_is_a_failure(given: str) -> None:
    done = run(f"usher {given} >&-", BAD_EXAMPLE)

    assert done.returncode == 2
    assert "Bad file descriptor" in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_a_report_in_a_file_needs_no_standard_output(tmp_path: Path) -> None:
    done = run('usher check "$1" --format json=x.json >&-', BAD_EXAMPLE, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert tmp_path.joinpath("x.json").read_text().startswith("{")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ('check "$1"', 1),
        pytest.param("audit --demo", 0, marks=pytest.mark.thorough),
        pytest.param("policies show nosuch", 2, marks=pytest.mark.thorough),
    ],
)
def test_a_closed_standard_error_changes_nothing_but_its_messages(given: str, code: int) -> None:
    closed, open_ = run(f"usher {given} 2>&-", BAD_EXAMPLE), run(f"usher {given}", BAD_EXAMPLE)

    assert (closed.returncode, without_times(closed.stdout)) == (code, without_times(open_.stdout))
    assert closed.stderr == ""


def test_a_closed_standard_input_is_empty() -> None:
    closed, empty = run("usher check - <&-"), run("usher check - </dev/null")

    assert (closed.returncode, closed.stderr) == (empty.returncode, empty.stderr)
    assert closed.returncode == 2


def test_with_all_streams_closed_the_exit_code_still_says_it(tmp_path: Path) -> None:
    done = run('usher check "$1" --format json=x.json <&- >&- 2>&-', BAD_EXAMPLE, cwd=tmp_path)

    assert done.returncode == 1
    assert tmp_path.joinpath("x.json").exists()


def test_a_run_that_is_ended_while_it_writes_leaves_the_old_reports_and_no_other_file(tmp_path: Path) -> None:
    for name in ("a.html", "b.json"):
        tmp_path.joinpath(name).write_text("old")

    done = subprocess.run(
        [
            sys.executable,
            "-c",
            _KILLED_WHILE_WRITING,
            "audit",
            "--demo",
            "--format=html=a.html",
            "--format=json=b.json",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=command.environment(),
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (143, "")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"a.html": "old", "b.json": "old"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_with_its_code_and_without_a_traceback(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _NOT_IGNORING, str(int(number))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=command.environment(),
    )
    assert process.stdin is not None
    # More than a pipe holds, so that when this returns the command is reading it.
    process.stdin.write(b"#" * 2**20)
    process.stdin.flush()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (128 + number, b"")


def test_a_signal_that_the_shell_ignores_stays_ignored() -> None:
    """As under nohup."""
    done = run('trap "" HUP; usher workload show "$1" & kill -HUP $!; wait $!', BAD_EXAMPLE)

    assert done.returncode == 0
