"""Findings that the author of an object suppresses by an annotation, and what usher.yaml lets authors suppress."""

from pathlib import Path
from typing import Any

import pytest

import builders
from integration.command import Run, config, usher, write
from usher import paths

ANNOTATION = "gpu-usher.io/ignore"
DENY = {"check": "USH1305", "action": "deny"}
ISOLATED = "USH201"


def job() -> paths.Object:
    """USH1305 warns that it has no deadline."""
    return builders.job(
        builders.template(builders.container(gpus=1), restartPolicy="Never"), name="bad", namespace="ml-research"
    )


def annotated(text: str, value: paths.Object | None = None) -> paths.Object:
    value = job() if value is None else value
    return {**value, "metadata": {**paths.metadata(value), "annotations": {ANNOTATION: text}}}


def all_devices() -> paths.Object:
    """A pod that takes all GPUs of its node, which USH201 finds."""
    container = builders.container(gpus=1, env={"NVIDIA_VISIBLE_DEVICES": "all"})
    return builders.pod(container, name="thief")


def check(folder: Path, value: paths.Object, *, command: str = "check", **enforcement: Any) -> Run:
    site = config(folder / "site/usher.yaml", enforcement={"preset": "strict", **enforcement})
    return usher(command, write(folder / "jobs/job.yaml", value), "--config", site, "--format", "json")


def outcomes(run: Run) -> dict[str, str]:
    return {each["code"]: each["outcome"] for value in run.json["workloads"] for each in value["findings"]}


def told(run: Run) -> list[str]:
    return [each["reason"] for each in run.json["notes"] if ANNOTATION in each["reason"]]


def test_an_author_suppresses_a_warning_and_the_report_says_so(tmp_path: Path) -> None:
    run = check(tmp_path, annotated("USH1305: the sidecar bursts on purpose"))

    assert outcomes(run)["USH1305"] == "audit"
    assert told(run) == [
        "Job ml-research/bad: gpu-usher.io/ignore: USH1305 suppressed, 1 finding: the sidecar bursts on purpose"
    ]
    text = usher("check", tmp_path / "jobs/job.yaml", "--config", tmp_path / "site/usher.yaml").out
    assert "USH1305 suppressed, 1 finding: the sidecar bursts on purpose" in text


def test_the_name_of_a_check_is_as_good_as_its_code(tmp_path: Path) -> None:
    run = check(tmp_path, annotated("job-without-deadline until 2999-12-31: until the rewrite"))

    assert outcomes(run)["USH1305"] == "audit"


def test_a_denial_stays_unless_usher_yaml_allows_it(tmp_path: Path) -> None:
    written = annotated("USH1305: I know better")

    denied = check(tmp_path, written, rules=[DENY])
    allowed = check(tmp_path, written, rules=[DENY], suppressions=[{"checks": ["USH1305"], "denials": True}])
    elsewhere = check(
        tmp_path,
        written,
        rules=[DENY],
        suppressions=[{"checks": ["USH1305"], "denials": True, "namespaces": ["sandbox-*"]}],
    )

    assert (denied.code, outcomes(denied)["USH1305"]) == (1, "deny")
    assert told(denied)[0].endswith(
        "USH1305 is not suppressed: enforcement.suppressions of usher.yaml does not allow it for denials"
    )
    assert (allowed.code, outcomes(allowed)["USH1305"]) == (0, "audit")
    assert (elsewhere.code, outcomes(elsewhere)["USH1305"]) == (1, "deny")


def test_usher_yaml_may_ask_for_a_last_day(tmp_path: Path) -> None:
    rules = [{"checks": ["USH1305"], "denials": True, "needsEnd": True}]

    without = check(tmp_path, annotated("USH1305: later"), rules=[DENY], suppressions=rules)
    ended = check(tmp_path, annotated("USH1305 until 2020-01-31: later"), rules=[DENY], suppressions=rules)
    good = check(tmp_path, annotated("USH1305 until 2999-01-31: later"), rules=[DENY], suppressions=rules)

    assert [run.code for run in (without, ended, good)] == [1, 1, 0]
    assert "usher.yaml asks for a last day: write `USH1305 until YYYY-MM-DD: reason`" in told(without)[0]
    assert "the suppression ended on 2020-01-31" in told(ended)[0]


@pytest.mark.parametrize("words", [["*"], ["resources", "*"]])
def test_what_protects_others_stays_unless_usher_yaml_names_the_check(words: list[str], tmp_path: Path) -> None:
    pod = annotated(f"{ISOLATED}: I need all of them", all_devices())
    rules = [{"check": ISOLATED, "action": "warn"}]

    wide = check(tmp_path, pod, rules=rules, suppressions=[{"checks": words, "denials": True}])
    by_default = check(tmp_path, pod, rules=rules)
    named = check(tmp_path, pod, rules=rules, suppressions=[{"checks": [ISOLATED]}])

    assert outcomes(wide)[ISOLATED] == outcomes(by_default)[ISOLATED] == "warn"
    assert "names it, which critical checks and checks of isolation need" in told(by_default)[0]
    assert outcomes(named)[ISOLATED] == "audit"


def test_an_empty_list_allows_nothing(tmp_path: Path) -> None:
    assert outcomes(check(tmp_path, annotated("USH1305: no"), suppressions=[]))["USH1305"] == "warn"


def test_an_audit_does_not_honour_it_unless_usher_yaml_says_so(tmp_path: Path) -> None:
    written = annotated("USH1305: quiet")

    audit = check(tmp_path, written, command="audit")
    there = check(tmp_path, written, command="check", suppressions=[{"checks": ["*"], "places": ["audit"]}])

    assert {each["outcome"] for each in audit.json["findings"] if each["code"] == "USH1305"} == {"warn"}
    assert outcomes(there)["USH1305"] == "warn"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("USH1305", "'USH1305' is not `CODE: reason` or `CODE until YYYY-MM-DD: reason`"),
        ("USH1305:   ", "is not `CODE: reason`"),
        ("* : all", "is not `CODE: reason`"),
        ("isolation: all", "no check is called isolation"),
        ("USH1305 until 2026-13-40: never", "is not `CODE: reason`"),
        ("USH130x: reason", "no check is called USH130x; did you mean USH130"),
        ("USH1305: one\nUSH1305: two", "USH1305 is named twice; the first line counts"),
        ("USH101: reason", "USH101 finds nothing to suppress here; remove the line"),
        ("USH1305: \x1b[31mred\n" + "x\n" * 40, "only the first 20 lines and 8,192 characters are read"),
    ],
)
def test_a_line_without_effect_is_named(text: str, message: str, tmp_path: Path) -> None:
    found = told(check(tmp_path, annotated(text)))

    assert any(message in each for each in found), found
    assert not any("\x1b" in each for each in found)


def test_usher_yaml_names_checks_that_exist(tmp_path: Path) -> None:
    run = check(tmp_path, job(), suppressions=[{"checks": ["USH130x"]}, {"checks": ["isolation"]}])

    assert run.code == 2
    assert "USH130x" in run.err
    assert "no author may suppress all checks of isolation; name the checks one by one" in run.err
