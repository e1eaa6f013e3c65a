"""The command line: exit codes, and messages when it cannot continue."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forked_server
from integration import command
from integration.command import (
    BAD_EXAMPLE,
    EXAMPLES,
    bad,
    bad_line,
    good,
    manifest,
    usher,
    usher_process,
    warned,
    write,
)
from usher.cli import main


def test_a_clean_manifest_ends_with_0(tmp_path: Path) -> None:
    run = usher_process("check", write(tmp_path / "good.yaml", good()), cwd=tmp_path)

    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines()[-1] == "1 file, 1 workload, 0 GPUs: no errors, no warnings"


def test_warnings_are_clean(tmp_path: Path) -> None:
    run = usher("check", write(tmp_path / "warned.yaml", warned()), "--as-written", cwd=tmp_path)

    assert run.code == 0
    assert "  warn   USH301 " in run.out


def test_a_denial_ends_with_1_and_shows_the_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    write(file, good(), bad())
    line = bad_line(file)

    run = usher_process("check", "bad.yaml", cwd=tmp_path)

    assert (run.code, run.err) == (1, "")
    assert run.out.splitlines()[0] == "bad.yaml"
    assert f"  {line}:29  error  USH103 gpu-requests-equal-limits  Job ml-research/bad (1 pod)" in run.out
    assert run.out.splitlines()[-1].startswith("1 file, 2 workloads, 2 GPUs: 1 error (in workloads of 2 GPUs)")


def test_a_file_that_cannot_be_read_ends_with_2_and_the_others_are_judged(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: [\n")

    run = usher_process("check", tmp_path, cwd=tmp_path)

    assert run.code == 2
    assert "USH103" in run.out
    assert "INCOMPLETE, 1 input could not be read; in the rest 1 error" in run.out.replace("\n  ", " ")


def test_a_file_that_does_not_exist_never_reads_as_clean(tmp_path: Path) -> None:
    run = usher("check", "nothing.yaml", cwd=tmp_path)

    assert run.code == 2
    assert run.out.splitlines()[1] == "  error  cannot be read: no such file or directory"
    assert run.out.splitlines()[-1] == "0 files, 0 workloads, 0 GPUs: INCOMPLETE, 1 input could not be read"


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (
            ["check", "."],
            "",
            "no manifests found in .: of a directory, usher reads the files that end in .yaml, .yml or .json",
        ),
        (["check", "-"], "", "no manifests found in standard input: "),
        (["check", "-"], "a: 1", "no manifests found in standard input: <stdin>:1: not a Kubernetes object: no "),
        (["audit", "."], "", "no manifests found in .: "),
        (["workload", "show", "."], "", "no manifests found in .: "),
        (["workload", "show", "-"], "a: [", "<stdin>:"),
        (["workload", "show", "-"], "apiVersion: v1\nkind: Secret", "-: no object in it makes pods"),
        (
            ["policies", "list", "--category", "isolatio"],
            "",
            "no category isolatio; did you mean isolation?; there are cost, fabric,",
        ),
        (
            ["policies", "show", "nonsense"],
            "",
            "no check or mutation has the code or name nonsense; `usher policies li",
        ),
        (
            ["policies", "show", "gpu-togeration"],
            "",
            "no check or mutation has the code or name gpu-togeration; did you",
        ),
        (
            ["explain", "USH3O2"],
            "",
            "no check or mutation has the code or name USH3O2; did you mean USH302?",
        ),
        (["certs", "show", "no"], "", "no/tls.crt: the file does not exist; "),
        (["check", "--config", "no.yaml", "."], "", "no.yaml: cannot be read: No such file or directory"),
        (["check", "-", "--engine", "opa", "--opa-url", "http://127.0.0.1:1"], "", "OPA at http://127.0.0.1:1 "),
    ],
)
def test_what_could_not_be_run_ends_with_2_and_one_message(
    tmp_path: Path, arguments: list[str], stdin: str, message: str
) -> None:
    run = usher(*arguments, stdin=stdin, cwd=tmp_path)

    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith(f"usher: {message}")
    assert "Traceback" not in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "name a PATH"),
        (["check", "-", "--format", "xml"], "'xml' is not one of 'text', 'json', "),
        (["check", "-", "--format", "json="], "'json=' names no file; write json=FILE, or json for standard output"),
        (["check", "-", "--color", "pink"], "'pink' is not one of 'auto', 'always', 'never'"),
        (["check", "-", "--engine", "regorus"], "'regorus' is not one of 'wasm', 'opa'"),
        (["check", "-", "--opa-url", "http://127.0.0.1:1"], "--opa-url needs --engine opa"),
        (["audit", "--fail-on", "warning"], "'warning' is not one of 'deny', 'warn', 'audit', 'never'"),
        (["chekc"], "No such command 'chekc'. Did you mean 'check'?"),
        (["policies", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["check", "--nonsense"], "No such option '--nonsense'"),
        (["policies", "show"], "Missing argument 'CODE_OR_NAME'"),
        (["workload", "show", "-", "--format", "yaml"], "'yaml' is not one of 'text', 'json'"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_names_the_error(arguments: list[str], message: str) -> None:
    run = usher(*arguments)

    assert run.code == 2
    assert run.out == ""
    assert message in run.err


def test_an_internal_error_prints_how_to_report_it_and_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("usher.check.runner.report", broken)

    with pytest.raises(SystemExit) as quiet:
        main.main(["check", BAD_EXAMPLE])
    message = capsys.readouterr().err
    with pytest.raises(SystemExit):
        main.main(["check", BAD_EXAMPLE, "--debug"])

    assert quiet.value.code == 2
    assert message == (
        "usher: internal error: ZeroDivisionError: on purpose. "
        "This is a bug in usher; please report it with the output of --debug\n"
    )
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_json_is_one_document_on_standard_output_and_the_same_every_time(tmp_path: Path) -> None:
    write(tmp_path / "jobs" / "bad.yaml", bad())
    (tmp_path / "jobs" / "broken.yaml").write_text("kind: [\napiVersion: v1\n")

    first = usher("check", "jobs", "--format", "json", cwd=tmp_path)
    second = usher("check", "jobs", "--format", "json", cwd=tmp_path)

    assert first == second
    assert (first.json["apiVersion"], first.json["kind"]) == ("gpu-usher.io/v1alpha1", "Report")
    assert first.json["complete"] is False
    assert first.err.startswith("usher: jobs/broken.yaml:")


def test_a_report_is_written_to_a_file_and_failures_to_standard_error(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())

    run = usher_process("check", "bad.yaml", "missing.yaml", "--output", "report.txt", cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert run.err == "usher: missing.yaml: cannot be read: no such file or directory\n"
    assert "USH103" in (tmp_path / "report.txt").read_text()
    assert [file.name for file in tmp_path.iterdir() if "report" in file.name] == ["report.txt"]


def test_the_old_report_stays_when_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())
    (tmp_path / "closed").mkdir()

    run = usher("check", "bad.yaml", "--output", "nowhere/report.txt", cwd=tmp_path)

    assert run.code == 2
    assert (
        run.err
        == "usher: nowhere/report.txt: the report cannot be written: the folder nowhere does not exist; make it\n"
    )


def test_a_report_keeps_the_permissions_of_the_file_that_it_replaces(tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.write_text("old")
    report.chmod(0o600)

    usher("check", write(tmp_path / "good.yaml", good()), "--output", report, cwd=tmp_path)

    assert report.read_text() != "old"
    assert report.stat().st_mode & 0o777 == 0o600


def test_a_report_can_be_written_to_a_device() -> None:
    run = usher_process("check", "-", "--output", "/dev/stdout", stdin=manifest(good()))

    assert run.out.endswith("no errors, no warnings\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["check", str(EXAMPLES / "good-pytorchjob.yaml")], ["policies", "list"]])
def test_a_full_disk_is_an_error_and_never_a_clean_result(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*forked_server.command_line(command.environment()), *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=command.environment(),
            check=False,
        )

    assert done.returncode == 2
    assert b"cannot be written: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["policies", "list"], ["check", BAD_EXAMPLE], ["workload", "show", BAD_EXAMPLE]])
def test_a_reader_that_goes_away_is_not_an_error(arguments: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [*forked_server.command_line(command.environment()), *arguments],
            stdout=write_end,
            stderr=subprocess.PIPE,
            env=command.environment(),
            check=False,
        )
    finally:
        os.close(write_end)

    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupted_run_ends_with_130_and_without_a_traceback() -> None:
    # Where the tests run in the background of a shell, signals of the terminal are ignored, here and in what we start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "usher", "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=command.environment(),
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdin is not None
    # More than a pipe holds, so that when this returns the command is reading it.
    process.stdin.write(b"#" * 2**20)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (130, b"")


def test_a_wrong_option_cannot_write_a_command_of_a_ci_system(tmp_path: Path) -> None:
    run = usher("check", "--fail-on", "##[add-mask]x", "\x1b[31m", cwd=tmp_path)
    other = usher("check", "--\n::add-mask::x", cwd=tmp_path)

    assert (run.code, other.code) == (2, 2)
    assert "##[" not in run.err
    assert not [line for line in other.err.splitlines() if line.startswith("::")]
    assert run.err.startswith("Usage: usher check [OPTIONS] PATH...\n")
