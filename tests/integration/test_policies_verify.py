"""`usher policies verify`: the suites of Gatekeeper policies."""

from pathlib import Path
from typing import Any

import pytest

import opa_server
from builders import policies
from integration.command import Run, write

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

SERVICE: Any = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": {}}
CLEAN: Any = {**SERVICE, "metadata": {"name": "ok", "namespace": "shop", "labels": {"team": "a"}}}

TEAM: Any = {"parameters": {"labels": ["team"]}}
SCHEMA: Any = {"type": "object", "properties": {"labels": {"type": "array", "items": {"type": "string"}}}}


def cases(*found: Any, **fields: Any) -> Any:
    return {"name": "labels", "template": "t.yaml", "constraint": "c.yaml", "cases": list(found), **fields}


def verify(run_in: Any, folder: Path, *tests: Any, template: Any = None, constraint: Any = None) -> Run:
    write(folder / "suite" / "t.yaml", template or policies.template(schema=SCHEMA))
    write(folder / "suite" / "c.yaml", constraint or policies.constraint(**TEAM))
    write(folder / "suite" / "bad.yaml", SERVICE)
    write(folder / "suite" / "good.yaml", CLEAN)
    write(folder / "suite" / "suite.yaml", policies.suite(*tests))
    run: Run = run_in("policies", "verify", "suite")
    return run


YES, NO = {"violations": "yes"}, {"violations": "no"}


def test_a_suite_passes_where_every_case_finds_what_it_expects(run_in: Any, tmp_path: Path) -> None:
    message = {"violations": 1, "message": "^web lacks the labels"}

    run = verify(
        run_in, tmp_path, cases(policies.case("bad", "bad.yaml", YES, message), policies.case("good", "good.yaml", NO))
    )

    assert run.out == "ok       suite/suite.yaml  2 cases\n1 suite: 2 passed\n"
    assert run.code == 0


def test_a_case_that_finds_something_else_fails_with_what_was_found(run_in: Any, tmp_path: Path) -> None:
    run = verify(run_in, tmp_path, cases(policies.case("bad", "bad.yaml", NO), policies.case("good", "good.yaml", YES)))

    assert run.code == 1
    assert run.out == (
        "FAIL     suite/suite.yaml  2 cases\n"
        '  FAIL     labels/bad: expected 0 violations, found 1; the messages are: web lacks the labels {"team"}\n'
        "  FAIL     labels/good: expected 1 or more violations, found 0\n"
        "1 suite: 2 failed\n"
    )


def test_a_test_can_expect_that_parameters_do_not_fit(run_in: Any, tmp_path: Path) -> None:
    wrong = policies.constraint(parameters={"labels": "team"})

    assert verify(run_in, tmp_path, cases(invalid=True), constraint=wrong).code == 0
    fitting = verify(run_in, tmp_path, cases(invalid=True))
    assert fitting.code == 1
    assert "fit the schema of the template, and should not" in fitting.out


def test_a_case_may_compare_with_other_objects(run_in: Any, tmp_path: Path) -> None:
    template = policies.template("UniqueName", policies.UNIQUE_NAME, libs=(policies.UNIQUE_NAME_LIBRARY,))
    write(tmp_path / "suite" / "other.yaml", {**SERVICE, "metadata": {"name": "web", "namespace": "bank"}})
    found = cases(
        policies.case("alone", "bad.yaml", NO), policies.case("beside", "bad.yaml", YES, inventory=["other.yaml"])
    )

    run = verify(run_in, tmp_path, found, template=template, constraint=policies.constraint("UniqueName", "unique"))

    assert run.code == 0, run.out


def test_a_review_is_judged_as_a_review(run_in: Any, tmp_path: Path) -> None:
    rego = """package updates

violation[{"msg": msg}] {
	input.review.operation == "UPDATE"
	msg := sprintf("%v changed %v", [input.review.userInfo.username, input.review.oldObject.metadata.name])
}
"""
    request: Any = {"operation": "UPDATE", "object": CLEAN, "oldObject": SERVICE, "userInfo": {"username": "alice"}}
    review: Any = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    write(tmp_path / "suite" / "review.yaml", review)
    found = cases(policies.case("update", "review.yaml", {"violations": 1, "message": "alice changed web"}))

    run = verify(
        run_in, tmp_path, found, template=policies.template("Updates", rego), constraint=policies.constraint("Updates")
    )

    assert run.code == 0, run.out


def test_what_cannot_be_run_is_neither_passed_nor_failed(run_in: Any, tmp_path: Path) -> None:
    expanded = cases(policies.case("a", "bad.yaml", YES), expansion="e.yaml")
    skipped = cases(policies.case("b", "bad.yaml", NO), skip=True)

    run = verify(run_in, tmp_path, expanded, skipped)

    assert run.code == 2
    assert "not run  labels/a: it expands objects by an ExpansionTemplate" in run.out
    assert run.out.endswith("1 suite: 1 skipped, 1 not run\n")


def test_a_file_that_is_missing_fails_its_case_alone(run_in: Any, tmp_path: Path) -> None:
    run = verify(run_in, tmp_path, cases(policies.case("a", "none.yaml", YES), policies.case("b", "bad.yaml", YES)))

    assert run.code == 1
    assert "labels/a: suite/none.yaml: cannot be read: no such file or directory" in run.out
    assert "1 passed, 1 failed" in run.out


def test_the_results_for_programs_are_one_document(run_in: Any, tmp_path: Path) -> None:
    verify(run_in, tmp_path, cases(policies.case("bad", "bad.yaml", NO)))

    run = run_in("policies", "verify", "suite/...", "--format", "json")

    assert run.json == {
        "apiVersion": "gpu-usher.io/v1alpha1",
        "kind": "PolicyVerification",
        "cases": [
            {
                "suite": "suite/suite.yaml",
                "test": "labels",
                "case": "bad",
                "outcome": "failed",
                "reason": 'expected 0 violations, found 1; the messages are: web lacks the labels {"team"}',
            }
        ],
    }


def test_a_directory_without_a_suite_is_an_error(run_in: Any, tmp_path: Path) -> None:
    write(tmp_path / "suite" / "bad.yaml", SERVICE)

    run = run_in("policies", "verify", "suite")

    assert run.code == 2
    assert "no suite found in suite" in run.err
