"""`--format`: several reports of one run, each in its place; standard output holds one document."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import forked_server
from integration import command
from integration.command import bad, good, usher, usher_process, warned, write
from usher import paths


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    write(tmp_path / "jobs" / "bad.yaml", bad())
    write(tmp_path / "jobs" / "good.yaml", good())
    return tmp_path


def test_one_run_writes_several_reports(jobs: Path) -> None:
    run = usher_process(
        "check", "jobs", "--format", "text", "--format", "sarif=out.sarif", "--format=junit=out=1.xml", cwd=jobs
    )

    assert (run.code, run.err) == (1, "")
    assert run.out == usher("check", "jobs", cwd=jobs).out
    (document,) = json.loads((jobs / "out.sarif").read_text())["runs"]
    assert {result["ruleId"] for result in document["results"]} >= {"USH103"}
    assert document["invocations"][0]["exitCode"] == 1
    assert ET.fromstring((jobs / "out=1.xml").read_text()).attrib["failures"] == "1"


def test_reports_in_files_alone_leave_standard_output_empty(jobs: Path) -> None:
    run = usher("check", "jobs", "--format", "sarif=out.sarif", cwd=jobs)

    assert (run.code, run.out, run.err) == (1, "", "")


def test_the_order_of_the_formats_changes_no_report(jobs: Path) -> None:
    usher("check", "jobs", "--format", "json=a.json", "--format", "sarif=a.sarif", cwd=jobs)
    usher("check", "jobs", "--format", "sarif=b.sarif", "--format", "json=b.json", cwd=jobs)

    for ending in ("json", "sarif"):
        assert (jobs / f"a.{ending}").read_bytes() == (jobs / f"b.{ending}").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "json", "--format", "sarif"], "standard output holds one document, not json and sarif"),
        (["--format", "json", "--format", "sarif=-"], "standard output holds one document, not json and sarif"),
        (["--format", "json=a", "--format", "sarif=./a"], "two reports cannot be written to one file: a"),
        (["--format", "json", "--format", "sarif=a", "--output", "b"], "--output is for a single --format NAME"),
        (["--format", "json=a", "--output", "b"], "--output is for a single --format NAME"),
    ],
)
def test_two_reports_in_one_place_are_refused(jobs: Path, arguments: list[str], message: str) -> None:
    run = usher("check", "jobs", *arguments, cwd=jobs)

    assert (run.code, run.out) == (2, "")
    assert message in run.err
    assert not (jobs / "a").exists()


def test_where_one_file_cannot_be_written_standard_output_claims_nothing(jobs: Path) -> None:
    run = usher("check", "jobs", "--format", "text", "--format", "sarif=nowhere/out.sarif", cwd=jobs)

    assert (run.code, run.out) == (2, "")
    assert (
        run.err
        == "usher: nowhere/out.sarif: the report cannot be written: the folder nowhere does not exist; make it\n"
    )


def test_what_could_not_be_read_is_on_standard_error_unless_a_person_sees_it_on_standard_output(jobs: Path) -> None:
    (jobs / "jobs" / "broken.yaml").write_text("kind: [\napiVersion: v1\n")

    seen = usher("check", "jobs", "--format", "github", "--format", "sarif=out.sarif", cwd=jobs)
    unseen = usher("check", "jobs", "--format", "text=out.txt", cwd=jobs)

    assert (seen.code, seen.err) == (2, "")
    assert "::error file=jobs/broken.yaml," in seen.out
    assert unseen.err.startswith("usher: jobs/broken.yaml:")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "--format", "csv=tables"], "'csv' is a format of `usher audit`; here it is not one of 'text',"),
        (["audit", "--format", "nothing"], "'nothing' is not one of 'text',"),
        (["audit", "--format", "csv"], "csv is several files; name a folder for them: csv=FOLDER."),
        (["audit", "--format", "csv=audit.csv"], "csv is several files; name a folder for them: csv=FOLDER."),
        (["audit", "--format", "parquet="], "'parquet=' names no file; write parquet=FOLDER"),
    ],
)
def test_a_format_that_does_not_fit_is_refused_with_one_that_does(
    jobs: Path, arguments: list[str], message: str
) -> None:
    command_name, *options = arguments
    run = usher(command_name, "jobs", *options, cwd=jobs)

    assert (run.code, run.out) == (2, "")
    assert message in " ".join(run.err.split())


def test_tables_of_parquet_are_written_without_a_message(jobs: Path) -> None:
    """A process of its own: at its end DuckDB would list what Python has not collected."""
    run = usher_process("audit", "jobs", "--format", "parquet=tables", cwd=jobs)

    assert (run.code, run.out, run.err) == (0, "", "")
    assert (jobs / "tables/findings.parquet").read_bytes().startswith(b"PAR1")


def test_an_audit_has_the_same_formats(jobs: Path) -> None:
    run = usher("audit", "jobs", "--format", "github", "--format", "junit=out.xml", cwd=jobs)

    assert run.code == 0
    assert run.out.startswith("::error file=jobs/bad.yaml,")
    assert (jobs / "out.xml").exists()


@pytest.mark.parametrize(
    ("manifest", "options", "code"),
    [
        (bad(), [], 1),
        (bad(), ["--fail-on", "never"], 0),
        (warned(), ["--as-written"], 0),
        (warned(), ["--as-written", "--fail-on", "warn"], 1),
        (warned(), ["--as-written", "--fail-on", "audit"], 1),
        (good(), ["--fail-on", "audit"], 0),
    ],
)
def test_fail_on_names_the_mildest_outcome_that_fails(
    tmp_path: Path, manifest: paths.Object, options: list[str], code: int
) -> None:
    assert usher("check", write(tmp_path / "job.yaml", manifest), *options, cwd=tmp_path).code == code


def test_an_audit_fails_for_findings_only_where_fail_on_says_so(jobs: Path) -> None:
    codes = [usher("audit", "jobs", *option, cwd=jobs).code for option in ([], ["--fail-on=deny"], ["--fail-on=warn"])]

    assert codes == [0, 1, 1]


NO_WORKLOAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
EXEMPT = bad(namespace="kube-system")


@pytest.mark.parametrize("manifest", [NO_WORKLOAD, command.manifest(EXEMPT)])
def test_require_match_does_not_accept_a_run_that_judged_nothing(manifest: str) -> None:
    lenient = usher("check", "-", stdin=manifest)
    strict = usher("check", "-", "--require-match", stdin=manifest)

    assert (lenient.code, lenient.err) == (0, "")
    assert (strict.code, strict.out) == (2, lenient.out)
    assert strict.err == "usher: no workload was judged, so this does not pass with --require-match (exit code 2)\n"


def test_require_match_accepts_a_clean_workload() -> None:
    assert usher("check", "-", "--require-match", stdin=command.manifest(good())).code == 0


def test_quiet_writes_nothing_for_a_clean_run(jobs: Path) -> None:
    run = usher("check", "jobs/good.yaml", "--quiet", cwd=jobs)

    assert (run.code, run.out, run.err) == (0, "", "")


def test_quiet_shows_findings_and_what_could_not_be_read(jobs: Path) -> None:
    (jobs / "jobs" / "broken.yaml").write_text("kind: [\napiVersion: v1\n")

    run = usher("check", "jobs", "-q", cwd=jobs)

    assert run.code == 2
    assert "USH103" in run.out
    assert run.out.startswith("jobs/broken.yaml\n")
    assert "configuration:" not in run.out
    assert "mutating webhook" not in run.out


PROFILES = {
    # denied, denied with --fail-on warn, warned with --fail-on warn, an input that cannot be read, a missing file
    "usher": (1, 1, 1, 2, 2),
    "gator": (1, 1, 1, 1, 1),
    "kyverno": (1, 1, 1, 1, 1),
    "conftest": (1, 2, 1, 1, 1),
}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_ends_as_the_other_tool_does(tmp_path: Path, profile: str) -> None:
    write(tmp_path / "bad.yaml", bad())
    write(tmp_path / "warned.yaml", warned())
    (tmp_path / "broken.yaml").write_text("kind: [\napiVersion: v1\n")
    runs = (
        ["bad.yaml"],
        ["bad.yaml", "--fail-on", "warn"],
        ["warned.yaml", "--as-written", "--fail-on", "warn"],
        ["broken.yaml"],
        ["bad.yaml", "--config", "missing.yaml"],
    )

    codes = [usher("check", *arguments, "--exit-codes", profile, cwd=tmp_path).code for arguments in runs]

    assert tuple(codes) == PROFILES[profile]


def test_a_clean_run_ends_with_0_in_every_profile(jobs: Path) -> None:
    assert {usher("check", "jobs/good.yaml", "--exit-codes", each, cwd=jobs).code for each in PROFILES} == {0}


def test_a_usage_error_ends_with_2_in_every_profile() -> None:
    assert {usher("check", "--exit-codes", each).code for each in PROFILES} == {2}


@pytest.mark.process
def test_a_log_of_a_ci_system_never_shows_progress(jobs: Path) -> None:
    """Some runners give a terminal that is a log; the variable CI tells the two apart."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*forked_server.command_line(command.environment()), "check", "jobs"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        cwd=jobs,
        env=command.environment(CI="true"),
        check=False,
    )
    os.close(theirs)
    os.set_blocking(ours, False)

    assert done.returncode == 1
    with pytest.raises((BlockingIOError, OSError)):
        os.read(ours, 1)


@pytest.mark.process
def test_the_help_of_check_imports_no_format() -> None:
    """It has to be quick, and formats bring their libraries."""
    code = (
        "import sys, usher.cli.check\n"
        "heavy = ('usher.check.formats.', 'usher.audit.reports.', 'rich')\n"
        "print(*(name for name in sys.modules if name.startswith(heavy)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=command.environment())

    assert done.stdout.decode().split() == []
