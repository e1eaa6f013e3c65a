"""A terminal or a log gets colour where the user wants it, and no control sequences of an object."""

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import builders
import forked_server
from integration import command
from integration.command import (
    BAD_EXAMPLE,
    bad,
    usher,
    usher_process,
    write,
)

pytestmark = pytest.mark.process


def on_a_terminal(*arguments: str, env: dict[str, str] | None = None) -> str:
    """The output on a terminal of 80 columns."""
    variables = command.environment(**{"TERM": "xterm", **(env or {})})
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            [*forked_server.command_line(variables), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
            env=variables,
        )
        os.close(follower)
        text = b"".join(received(terminal))
        process.wait(timeout=60)
    return text.decode()


def received(terminal: Any) -> Iterator[bytes]:
    while True:
        try:
            data = terminal.read(4096)
        except OSError:  # Linux ends a terminal without writers so
            return
        if not data:
            return
        yield data


def test_a_terminal_gets_colour() -> None:
    assert "\x1b[1;31merror" in on_a_terminal("check", BAD_EXAMPLE)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colour_gets_plain_text(env: dict[str, str]) -> None:
    assert "\x1b" not in on_a_terminal("check", BAD_EXAMPLE, env=env)


def test_no_colour_goes_into_a_pipe_unless_it_is_asked_for() -> None:
    assert "\x1b" not in usher_process("check", BAD_EXAMPLE).out
    assert "\x1b[1;31m" in usher_process("check", BAD_EXAMPLE, "--color", "always", env={"NO_COLOR": "1"}).out


def test_colour_can_be_switched_off_on_a_terminal() -> None:
    assert "\x1b" not in on_a_terminal("check", BAD_EXAMPLE, "--color", "never")


def test_the_report_fits_the_width_that_is_said() -> None:
    lines = usher("check", BAD_EXAMPLE, env={"COLUMNS": "70"}).out.splitlines()

    assert max(map(len, lines)) <= 70


def test_a_person_reads_which_files_were_written_and_a_log_does_not(tmp_path: Path) -> None:
    arguments = ["check", str(BAD_EXAMPLE), "--format", f"json={tmp_path / 'report.json'}"]

    assert f"usher: wrote {tmp_path}/report.json" in on_a_terminal(*arguments).replace("\r\n", "")
    assert "wrote" not in on_a_terminal(*arguments, "--quiet")
    assert "wrote" not in usher_process(*arguments).err


def test_names_outside_the_locale_are_escaped_without_a_failure(tmp_path: Path) -> None:
    write(tmp_path / "größe.yaml", bad("größe"))

    run = usher_process("check", ".", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})

    assert run.code == 1
    assert "gr\\xf6\\xdfe.yaml" in run.out


HOSTILE = "\x1b[2J\x1b[31m[bold red]x[/]\n::error::owned\n##vso[task.complete result=Succeeded]"


@pytest.mark.parametrize("arguments", [["check"], ["check", "--diff"], ["audit"], ["workload", "show"]])
def test_a_hostile_manifest_is_shown_and_not_obeyed(tmp_path: Path, arguments: list[str]) -> None:
    container = builders.container(HOSTILE, requests={builders.GPU: 2}, limits={builders.GPU: 1})
    job = builders.job(builders.template(container), name=HOSTILE, namespace=HOSTILE)
    file = tmp_path / "evil\x1b[31m[red]\n::error::x.yaml"
    write(file, job)

    run = usher(*arguments, str(file), cwd=tmp_path)

    assert run.code in (0, 1)
    assert "\x1b" not in run.out + run.err
    assert [line for line in (run.out + run.err).splitlines() if line.lstrip().startswith("::")] == []
    assert "##vso[" not in run.out + run.err
    assert "[bold red]" in run.out
    assert "\\x1b[2J" in run.out


def test_a_hostile_file_name_is_escaped_in_errors_too(tmp_path: Path) -> None:
    run = usher("check", "--format", "json", "no\x1b[31m\n::error::x.yaml", cwd=tmp_path)

    assert run.code == 2
    assert run.err == "usher: no\\x1b[31m\\n::error::x.yaml: cannot be read: no such file or directory\n"


def test_hostile_names_stay_as_they_are_in_json(tmp_path: Path) -> None:
    file = write(tmp_path / "evil.yaml", bad(HOSTILE))

    assert usher("check", file, "--format", "json", cwd=tmp_path).json["workloads"][0]["name"] == HOSTILE
