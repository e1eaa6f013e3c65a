"""`usher audit --demo`: a whole report without a cluster."""

import json
import re
from typing import Any, Final

import pytest

from integration import command
from usher.audit.demo.synthetic_cluster import STORIES

FORMS: Final = ("json", "text", "markdown")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report in each form, of one run."""
    folder = tmp_path_factory.mktemp("demo")
    run = command.usher("audit", "--demo", *(f"--format={form}={form}" for form in FORMS), cwd=folder)
    assert run.code == 0, run.err
    return {form: (folder / form).read_text() for form in FORMS}


@pytest.fixture(scope="module")
def document(reports: dict[str, str]) -> Any:
    return json.loads(reports["json"])


def named(document: Any, code: str) -> set[str]:
    return {each["subject"]["name"] for each in document["findings"] if each["code"] == code}


def test_every_workload_of_the_cluster_is_in_the_report_once(document: Any) -> None:
    found = [(each["subject"]["namespace"], each["subject"]["name"]) for each in document["workloads"]]

    assert sorted(found) == sorted((story.namespace, story.name) for story in STORIES)


def test_the_report_finds_what_each_story_is_about(document: Any) -> None:
    assert named(document, "USA001") == {"tts-export", "reindex"}
    assert named(document, "USA002") == {"detector-sweep"}
    assert named(document, "USA003") == {"eval-suite"}
    assert named(document, "USA042") >= {"viewer", "notebook-dana"}
    assert named(document, "USA020") == {"contest-2025"}
    assert named(document, "USA034") == {"h100-9"}
    assert named(document, "USA035") == {"a100-5"}


def test_what_a_rule_finds_in_a_workload_that_waits_is_one_finding(document: Any) -> None:
    for cause, rule, names in (
        ("USA001", "USH330", {"tts-export", "reindex"}),
        ("USA002", "USH502", {"detector-sweep"}),
    ):
        found = [each for each in document["findings"] if each["code"] == cause]

        assert named(document, rule) & names == set()
        assert [each["foundBy"] for each in found] == [[rule]] * len(names)
        assert all(any(line.startswith(f"{rule}, ") for line in each["evidence"]) for each in found)
    outcomes = {each["subject"]["name"]: each["outcome"] for each in document["findings"] if each["never"]}
    assert outcomes == {"tts-export": "deny", "reindex": "warn"}


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_each_form_has_what_can_never_run_once(reports: dict[str, str], form: str) -> None:
    shown = reports[form]
    prevented = re.sub(r"(?m)^.*(USH330|USH502)\S* (Every pod fits|The pods of distributed).*$", "", shown)

    assert shown.count("one node has 96") == (1 if form == "text" else 2)  # Markdown lists what is new as well
    assert not re.search("USH330|one pod asks for 128", prevented)


def test_idle_notebooks_are_savings(document: Any) -> None:
    idle = {each["subject"]["name"] for each in document["savings"] if each["kind"] == "idle workload"}

    assert {"alice", "bob", "chen", "notebook-dana"} <= idle


def test_the_team_that_trains_all_week_has_no_idle_hours(document: Any) -> None:
    (teams,) = [each["rows"] for each in document["usage"] if each["by"] == "team"]
    idle = {each["name"]: each["usage"]["idle"] for each in teams}

    assert idle["foundation"] == 0
    assert max(idle, key=lambda name: idle[name]) == "vision"


def test_a_finding_is_not_older_than_the_audit_that_saw_it_first(document: Any) -> None:
    first, taken = document["trend"]["firstSeen"], document["taken"]

    assert set(first) == {each["fingerprint"] for each in document["findings"]}
    assert all(each["since"] <= first[each["fingerprint"]] <= taken for each in document["findings"])
    assert document["trend"]["new"] == sorted(each for each, seen in first.items() if seen == taken)


def test_the_numbers_of_the_audits_before_follow_from_new_and_fixed_findings(document: Any) -> None:
    trend, findings = document["trend"], document["findings"]
    *_, before, last = trend["points"]
    never = {str(each["subject"]) for each in findings if each["never"]}

    assert (before["taken"], last["taken"]) == (trend["previous"], document["taken"])
    assert before["findings"] - len(trend["fixed"]) + len(trend["new"]) == last["findings"] == len(findings)
    assert last["never"] == document["summary"]["workloadsNever"] == len(never)
    assert before["never"] == sum(each["code"] == "USA001" for each in trend["fixed"])


def test_what_was_fixed_counts_in_every_audit_that_had_it(document: Any) -> None:
    trend = document["trend"]
    still = {
        str(each["subject"]): trend["firstSeen"][each["fingerprint"]] for each in document["findings"] if each["never"]
    }
    for point in trend["points"]:
        fixed = [each for each in trend["fixed"] if each["firstSeen"] <= point["taken"] <= each["lastSeen"]]
        never = sum(each["code"] == "USA001" for each in fixed) + sum(
            first <= point["taken"] for first in still.values()
        )

        assert point["never"] >= never, point["taken"]
        assert point["findings"] >= len(fixed), point["taken"]


def test_all_gpus_are_as_busy_as_the_hours_of_all_nodes_say(document: Any) -> None:
    (activity,) = [each for each in document["targets"] if each["name"] == "activity"]
    summary = document["summary"]

    assert activity["hours"] == summary["capacity"] == 152 * 168
    assert activity["actual"] == pytest.approx(summary["used"] / summary["capacity"], abs=1e-6)


def test_a_path_or_a_cluster_beside_the_demo_is_refused() -> None:
    run = command.usher("audit", "--demo", "manifests/")

    assert run.code == 2
    assert "--demo brings its own cluster" in run.err
