"""`usher replay` of manifests and of a cluster, and the page about it."""

from pathlib import Path
from typing import Final

import pytest

from integration import command
from integration.api_server import ApiServer
from integration.audited import gpu_pod, wrong_job

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "tests/data/replay"
SIDES: Final = ("--config", "usher.yaml", "--against", "stricter.yaml")


@pytest.fixture
def off(tmp_path: Path) -> Path:
    """A configuration under which `command.bad` is not denied."""
    return command.config(tmp_path / "off.yaml", **command.SWITCHED_OFF)


@pytest.fixture
def on(tmp_path: Path) -> Path:
    return command.config(tmp_path / "on.yaml")


@pytest.mark.parametrize("name", ["markdown", "json"])
def test_a_format_reads_as_its_golden_file(name: str) -> None:
    run = command.usher("replay", "jobs.yaml", *SIDES, "--format", name, cwd=DATA)

    expected = (DATA / f"report.{name}").read_text(encoding="utf-8")
    shown = run.out
    if name == "json":
        shown = shown.replace(run.json["before"]["policies"], "REVISION")
        shown = shown.replace(f'"version": "{run.json["before"]["version"]}"', '"version": "VERSION"')
    assert shown == expected


def test_without_the_check_nothing_is_newly_denied(tmp_path: Path, off: Path, on: Path) -> None:
    jobs = command.write(tmp_path / "jobs.yaml", command.bad(), command.good())

    there = command.usher("replay", jobs, "--config", on, "--against", off)
    back = command.usher("replay", jobs, "--config", off, "--against", on)

    assert (there.code, back.code) == (0, 1)
    assert there.out.startswith("newly denies nothing; no longer denies 1 Job = 2 GPUs\n")
    assert back.out.startswith("newly denies 1 Job = 2 GPUs\n")


@pytest.mark.parametrize(("fail_on", "code"), [("deny", 0), ("warn", 0), ("audit", 1), ("never", 0)])
def test_the_exit_code_counts_what_fail_on_names(tmp_path: Path, off: Path, on: Path, fail_on: str, code: int) -> None:
    jobs = command.write(tmp_path / "jobs.yaml", command.bad())

    run = command.usher("replay", jobs, "--config", on, "--against", off, "--fail-on", fail_on)

    assert run.code == code


def test_an_input_that_cannot_be_read_makes_the_comparison_incomplete(tmp_path: Path, off: Path, on: Path) -> None:
    command.write(tmp_path / "jobs/good.yaml", command.bad())
    (tmp_path / "jobs/broken.yaml").write_text("apiVersion: v1\nkind: [\n")

    run = command.usher("replay", tmp_path / "jobs", "--config", off, "--against", on)

    assert run.code == 2
    assert "newly denies 1 Job" in run.out
    assert f"not read: {tmp_path}/jobs/broken.yaml:" in run.out
    assert run.out.endswith("INCOMPLETE: 1 input could not be read\n")


def test_verdicts_that_one_run_saved_are_a_side_of_another(tmp_path: Path, off: Path, on: Path) -> None:
    jobs = command.write(tmp_path / "jobs.yaml", command.bad(), command.good())
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    saved = command.usher("replay", jobs, "--config", off, "--save", first)
    command.usher("replay", jobs, "--config", on, "--save", second)

    judged = command.usher("replay", jobs, "--before", first, "--config", on, "--format", "json")
    loaded = command.usher("replay", "--before", first, "--against", second, "--format", "json")

    assert saved.out == f"{first}: 2 verdicts, {off} (preset recommended)\n"
    assert judged.code == loaded.code == 1
    assert judged.json["byDifference"] == loaded.json["byDifference"]
    assert command.usher("replay", jobs, "--config", off, "--against", first).code == 0


def test_objects_that_only_saved_verdicts_have_do_not_pass(tmp_path: Path, on: Path) -> None:
    jobs = command.write(tmp_path / "jobs.yaml", command.bad(), command.good())
    saved = tmp_path / "saved.json"
    command.usher("replay", jobs, "--config", on, "--save", saved)
    command.write(jobs, command.good())

    run = command.usher("replay", jobs, "--before", saved, "--config", on)

    assert run.code == 2
    assert "1 Job = 2 GPUs seen by one side alone" in run.out
    assert command.usher("replay", jobs, "--before", saved, "--config", on, "--allow-unknown").code == 0


def test_a_directory_of_policies_is_a_new_side(tmp_path: Path, on: Path) -> None:
    jobs = command.write(tmp_path / "jobs.yaml", command.bad())

    same = command.usher("replay", jobs, "--config", on, "--against", ROOT / "policies", "--format", "json")
    both = command.usher("replay", jobs, "--config", on, "--against", on, "--against-policies", ROOT / "policies")
    bad = command.usher("replay", jobs, "--config", on, "--against", tmp_path)

    assert (same.code, both.code, bad.code) == (0, 0, 2)
    assert same.json["after"]["label"] == f"{on} (preset recommended, policies of {ROOT / 'policies'})"
    assert "the policy bundle cannot be read" in bad.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--against", "on.yaml"), "name a PATH"),
        (("jobs.yaml",), "name the new side with --against"),
        (("jobs.yaml", "--against", "missing.yaml"), "missing.yaml: cannot be read: no such file or directory"),
        (("jobs.yaml", "--save", "a.json", "--against", "on.yaml"), "--save writes the verdicts of --config"),
        (("jobs.yaml", "--before", "on.yaml"), "on.yaml:1: not complete JSON; write it again"),
        (("empty", "--against", "on.yaml"), "no manifests found in empty"),
        (("facts.json.gz", "--against", "on.yaml"), "a snapshot holds facts and no workloads; give it with --facts"),
    ],
)
def test_wrong_input_is_refused_with_a_remedy(
    tmp_path: Path, on: Path, arguments: tuple[str, ...], message: str
) -> None:
    command.write(tmp_path / "jobs.yaml", command.bad())
    (tmp_path / "empty").mkdir()
    (tmp_path / "facts.json.gz").write_bytes(b"\x1f\x8b\x08")
    assert on.exists()

    run = command.usher("replay", *arguments, cwd=tmp_path)

    assert run.code == 2
    assert message in run.err


def test_the_workloads_of_a_cluster_are_judged_by_both_sides(
    api: ApiServer, kubeconfig: Path, off: Path, on: Path
) -> None:
    api.add(wrong_job(), *(gpu_pod(f"pod-{number}") for number in range(3)))

    run = command.usher(
        "replay", "--facts", "live", "--kubeconfig", kubeconfig, "--config", off, "--against", on, "--format", "json"
    )

    assert run.code == 1, run.err
    assert run.json["whole"]["objects"] == 4
    assert run.json["byDifference"]["newly denied"]["gpus"]["number"] == 16


def test_the_workloads_of_a_snapshot_are_judged_as_those_of_the_cluster(
    api: ApiServer, kubeconfig: Path, tmp_path: Path, off: Path, on: Path
) -> None:
    api.add(wrong_job(), *(gpu_pod(f"pod-{number}") for number in range(3)))
    facts, workloads, sides = (
        tmp_path / "facts.json.gz",
        tmp_path / "workloads.jsonl",
        ("--config", off, "--against", on),
    )
    taken = command.usher("snapshot", "-o", facts, "--workloads", workloads, "--kubeconfig", kubeconfig, "--partial")

    live = command.usher("replay", "--facts", "live", "--kubeconfig", kubeconfig, *sides, "--format", "json")
    run = command.usher("replay", workloads, "--facts", facts, *sides, "--format", "json")

    assert f"{workloads}: 4 workloads, {workloads.stat().st_size:,} bytes\n" in taken.out
    assert run.json["byDifference"] == live.json["byDifference"]
    assert "recorded" not in run.json["before"], "no server answered"


def test_a_namespace_that_the_cluster_lacks_does_not_look_like_a_pass(
    api: ApiServer, kubeconfig: Path, off: Path, on: Path
) -> None:
    api.add(wrong_job())

    run = command.usher("replay", "--kubeconfig", kubeconfig, "-n", "typo", "--config", off, "--against", on)

    assert run.code == 2
    assert "no workload is in namespace typo of the cluster of context test" in run.err


def test_the_report_goes_to_a_file_whole(tmp_path: Path, off: Path, on: Path) -> None:
    jobs, comment = command.write(tmp_path / "jobs.yaml", command.bad()), tmp_path / "comment.md"

    run = command.usher("replay", jobs, "--config", off, "--against", on, "--format", "markdown", "--output", comment)

    assert (run.code, run.out) == (1, "")
    assert comment.read_text().startswith("<!-- gpu-usher:replay -->\n## gpu-usher: newly denies 1 Job = 2 GPUs\n")
