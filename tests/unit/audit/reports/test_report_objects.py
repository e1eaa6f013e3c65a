"""Report objects: one for each namespace, worst first, each small enough for an API server."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_documents as audits
from usher.audit.document import Audit, FindingEntry
from usher.audit.reports import json_document
from usher.audit.reports.json_document import FAMILIES, MAX_PARTS, MAX_RESULTS

OPEN = FAMILIES["openreports"]


def objects(audit: Audit, family: str = "openreports") -> list[Any]:
    return list(json_document.objects(audit, FAMILIES[family]))


def of(*findings: FindingEntry) -> list[Any]:
    return objects(audits.audit(findings=findings))


def many(number: int, **fields: Any) -> tuple[FindingEntry, ...]:
    return tuple(
        audits.finding(f"{each}", subject=audits.subject(f"job-{each:06}"), **fields) for each in range(number)
    )


def test_each_namespace_has_an_object_and_the_cluster_has_one() -> None:
    found = of(
        audits.finding("a"),
        audits.finding("b", subject=audits.subject(namespace="other")),
        audits.finding("c", subject=audits.subject("gpu-0", kind="Node", namespace="")),
    )

    assert [(each["kind"], each["metadata"].get("namespace")) for each in found] == [
        ("ClusterReport", None),
        ("Report", "ml-research"),
        ("Report", "other"),
    ]


@pytest.mark.parametrize(
    ("family", "api_version", "kind"),
    [("openreports", "openreports.io/v1alpha1", "Report"), ("policyreport", "wgpolicyk8s.io/v1alpha2", "PolicyReport")],
)
def test_both_families_hold_the_same_results(family: str, api_version: str, kind: str) -> None:
    (found,) = objects(audits.audit(findings=(audits.finding(),)), family)

    assert (found["apiVersion"], found["kind"]) == (api_version, kind)
    assert found["results"] == of(audits.finding())[0]["results"]


def test_a_result_names_object_rule_remedy_and_owner() -> None:
    finding = audits.finding(team="nlp", gpus=8.0, remedy="Set the limit to 8.", path="spec.limits")
    (result,) = of(finding)[0]["results"]

    assert (result["policy"], result["rule"], result["result"]) == ("gpu-requests-equal-limits", "USH103", "fail")
    assert result["message"] == "GPU requests differ from limits: the request is 8 and the limit 4"
    assert result["resources"] == [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "namespace": "ml-research"}
    ]
    assert result["properties"] == {
        "code": "USH103",
        "field": "spec.limits",
        "remedy": "Set the limit to 8.",
        "team": "nlp",
        "gpus": "8",
        "fingerprint": "f1",
    }


@pytest.mark.parametrize(
    ("fields", "result"),
    [({}, "fail"), ({"outcome": "warn"}, "warn"), ({"outcome": "audit"}, "warn"), ({"exception": "OPS-7"}, "skip")],
)
def test_the_outcome_decides_the_result(fields: dict[str, str], result: str) -> None:
    (found,) = of(audits.finding(**fields))

    assert found["results"][0]["result"] == result
    assert found["summary"] == {"pass": 0, "fail": 0, "warn": 0, "error": 0, "skip": 0} | {result: 1}


def test_a_report_with_unread_parts_and_checks_without_a_verdict_has_errors() -> None:
    messages = [each["message"] for each in objects(audits.full())[0]["results"]]

    assert messages == [
        "rayjobs.ray.io could not be read: usher may not list them",
        "USH310 was not evaluated for 2 workloads: no facts about queues",
    ]


def test_many_findings_are_split_and_the_mildest_left_out_are_counted() -> None:
    found = of(*many(MAX_PARTS * MAX_RESULTS, severity="low"), audits.finding("worst", severity="critical"))

    assert [each["metadata"]["name"] for each in found[:2]] == ["gpu-usher-audit", "gpu-usher-audit-2"]
    assert len(found) == MAX_PARTS
    assert all(len(each["results"]) <= MAX_RESULTS for each in found)
    assert found[0]["results"][0]["severity"] == "critical"
    assert found[-1]["results"][-1]["message"].startswith("6 milder results are left out,")


def test_every_object_is_smaller_than_a_megabyte() -> None:
    found = of(*many(3_000, message="x" * 5_000, remedy="ä" * 5_000))

    assert len(found) > 1
    assert max(len(orjson.dumps(each)) for each in found) < 1_000_000


def test_the_same_audit_gives_the_same_objects() -> None:
    findings = many(50)

    assert of(*findings) == of(*reversed(findings))


@given(text=st.text(max_size=50) | st.sampled_from(["\ud800", "\x00", "a" * 100_000]))
def test_any_name_makes_an_object_that_is_json(text: str) -> None:
    finding = audits.finding(text, message=text, subject=audits.subject(text), team=text, remedy=text)

    for each in of(finding):
        assert orjson.loads(orjson.dumps(each)) == each


def test_the_annotation_says_when_the_audit_was_taken() -> None:
    assert objects(audits.full())[0]["metadata"]["annotations"]["gpu-usher.io/taken"] == audits.TAKEN
