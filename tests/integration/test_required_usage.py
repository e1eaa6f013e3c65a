"""An audit whose usage could not be measured says so on standard error, and fails where usage is required."""

import json
from pathlib import Path
from typing import Final

import pytest

import builders
from builders.existing import existing
from integration import command

AWAY: Final = "http://127.0.0.1:1"
_SAID: Final = (
    "usher: usage is not measured, or not all of it: DCGM_FI_PROF_GR_ENGINE_ACTIVE is missing: Prometheus at "
    "http://127.0.0.1:1: it cannot be reached: Failed to establish a new connection: [Errno 111] Connection refused\n"
)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump.json"
    file.write_text(json.dumps(existing(builders.node("gpu-1"))))
    return file


def test_a_failed_measurement_is_said_outside_of_the_report_too(dump: Path, tmp_path: Path) -> None:
    run = command.usher("audit", dump, "--prometheus", AWAY, "--format", f"json={tmp_path}/x.json")

    assert (run.code, run.out, run.err) == (0, "", _SAID)


def test_required_usage_fails_the_command_after_the_reports_are_written(dump: Path, tmp_path: Path) -> None:
    given = ("audit", dump, "--prometheus", AWAY, "--require-usage", "--quiet", "--format", f"json={tmp_path}/x.json")

    run = command.usher(*given)

    assert (run.code, run.out, run.err) == (2, "", _SAID)
    assert tmp_path.joinpath("x.json").exists()


def test_quiet_leaves_the_warning_out(dump: Path, tmp_path: Path) -> None:
    run = command.usher("audit", dump, "--prometheus", AWAY, "--quiet", "--format", f"json={tmp_path}/x.json")

    assert (run.code, run.err) == (0, "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--require-usage",), "--require-usage is about the usage that --prometheus URL measures"),
        (("--require-usage", "--prometheus", AWAY, "--serve", "0"), "--serve has no exit code before its end"),
    ],
    ids=["without Prometheus", "in a browser"],
)
def test_required_usage_needs_a_prometheus_and_an_end(dump: Path, given: tuple[str, ...], said: str) -> None:
    run = command.usher("audit", dump, *given)

    assert run.code == 2
    assert said in run.err
