"""Policies of Gatekeeper: `usher check --policies`, `usher policies build` and `usher policies verify`."""

from pathlib import Path
from typing import Any

import pytest

import builders
import opa_server
from builders import policies
from integration.command import Run, usher, write

pytestmark = opa_server.needs_opa

SERVICE: Any = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": {}}
CLEAN: Any = {**SERVICE, "metadata": {"name": "ok", "namespace": "shop", "labels": {"team": "a"}}}
NAMESPACE: Any = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"env": "prod"}}}

TEAM: Any = {"parameters": {"labels": ["team"]}}
SCHEMA: Any = {"type": "object", "properties": {"labels": {"type": "array", "items": {"type": "string"}}}}

FAILING = """package failing

violation[{"msg": msg}] {
	msg := sprintf("%[1]s", [input.review.object.metadata.name])
}
"""
CALLING = """package calling

violation[{"msg": msg}] {
	msg := http.send({"method": "get", "url": "http://127.0.0.1:1"}).body
}
"""
LOOPING = """package looping

violation[{"msg": "found"}] {
	many := numbers.range(1, 1000)
	count([1 | a := many[_]; b := many[_]; c := many[_]; d := many[_]; a < b; b < c; c < d; d < a]) > 0
}
"""


@pytest.fixture
def run_in(tmp_path: Path) -> Any:
    def run(*arguments: str | Path, opa: str | Path = opa_server.OPA) -> Run:
        return usher(*arguments, cwd=tmp_path, env={"USHER_OPA": str(opa)})

    return run


def check(run_in: Any, folder: Path, objects: list[Any], given: list[Any], *more: str) -> Run:
    write(folder / "objects.yaml", *objects)
    write(folder / "policies" / "all.yaml", *given)
    run: Run = run_in("check", "objects.yaml", "--policies", "policies", *more)
    return run


# check


def test_all_objects_are_judged_beside_the_checks_of_usher(run_in: Any, tmp_path: Path) -> None:
    objects = [SERVICE, CLEAN, builders.gpu_job(name="train", namespace="shop")]

    run = check(run_in, tmp_path, objects, [policies.template(), policies.constraint(**TEAM)], "--format", "json")

    found = {(each["kind"], each["name"]): each for each in run.json["workloads"]}
    assert run.code == 1
    assert set(found) == {("Service", "web"), ("Job", "train")}
    assert found["Service", "web"]["findings"] == [
        {
            "check": "gatekeeper/RequiredLabels/labels",
            "code": "RequiredLabels",
            "name": "labels",
            "outcome": "deny",
            "path": "",
            "field": ".",
            "message": 'web lacks the labels {"team"}',
            "line": 2,
            "column": 7,
            "excerpt": "kind: Service",
        }
    ]
    assert {each["code"][:3] for each in found["Job", "train"]["findings"]} >= {"Req"}
    assert run.json["summary"]["objects"] == 3


@pytest.mark.parametrize(("action", "code", "word"), [("deny", 1, "error"), ("warn", 0, "warn"), ("dryrun", 0, "note")])
def test_the_enforcement_action_is_the_outcome(run_in: Any, tmp_path: Path, action: str, code: int, word: str) -> None:
    given = [policies.template(), policies.constraint(enforcementAction=action, **TEAM)]

    run = check(run_in, tmp_path, [SERVICE], given)

    assert run.code == code
    assert f"{word:<5}  RequiredLabels labels  Service shop/web" in run.out
    assert 'web lacks the labels {"team"}' in run.out


def test_objects_are_compared_with_all_objects_of_the_run(run_in: Any, tmp_path: Path) -> None:
    other = {**SERVICE, "metadata": {"name": "web", "namespace": "bank"}}
    template = policies.template("UniqueName", policies.UNIQUE_NAME, libs=(policies.UNIQUE_NAME_LIBRARY,))

    run = check(run_in, tmp_path, [SERVICE, other, CLEAN], [template, policies.constraint("UniqueName", "unique")])

    assert run.out.count("has a Service with this name") == 2
    assert "the namespace bank has a Service" in run.out


def test_an_object_without_a_namespace_is_in_that_of_the_command(run_in: Any, tmp_path: Path) -> None:
    bare = {**SERVICE, "metadata": {"name": "web"}}
    given = [policies.template(), policies.constraint(match={"namespaces": ["bank"]}, **TEAM)]

    assert check(run_in, tmp_path, [bare], given, "--namespace", "bank").code == 1
    assert check(run_in, tmp_path, [bare], given, "--namespace", "shop").code == 0


def test_a_policy_sees_what_the_mutating_webhook_makes_of_an_object(run_in: Any, tmp_path: Path) -> None:
    rego = """package tolerates

violation[{"msg": "tolerates"}] {
	input.review.object.spec.template.spec.tolerations[_].key == "nvidia.com/gpu"
}
"""
    given = [policies.template("Tolerates", rego), policies.constraint("Tolerates", "none", enforcementAction="warn")]

    assert "Tolerates none" in check(run_in, tmp_path, [builders.gpu_job()], given).out
    assert "Tolerates none" not in check(run_in, tmp_path, [builders.gpu_job()], given, "--as-written").out


IN_PROD: Any = {"match": {"namespaceSelector": {"matchLabels": {"env": "prod"}}}, **TEAM}


def test_the_labels_of_a_namespace_come_from_its_manifest_or_from_facts(run_in: Any, tmp_path: Path) -> None:
    given = [policies.template(), policies.constraint(**IN_PROD)]
    facts = write(tmp_path / "facts.yaml", NAMESPACE)

    beside = check(run_in, tmp_path, [CLEAN, SERVICE, NAMESPACE], given)
    of_facts = check(run_in, tmp_path, [SERVICE], given, "--facts", str(facts))

    assert "Service shop/web" in beside.out
    assert of_facts.code == 1
    assert "Service shop/web" in of_facts.out


def test_without_them_the_object_is_neither_passed_nor_denied(run_in: Any, tmp_path: Path) -> None:
    given = [policies.template(), policies.constraint(**IN_PROD)]

    run = check(run_in, tmp_path, [SERVICE], given)

    assert run.code == 2
    assert "unknown  Service shop/web" in run.out
    assert "labels of the Namespace shop, which is not known; give its manifest" in " ".join(run.out.split())
    assert check(run_in, tmp_path, [SERVICE], given, "--allow-unknown").code == 0


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (policies.template("Odd", targets=[policies.code("K8sNativeValidation", validations=[])]), "written in CEL"),
        (policies.template("Odd", CALLING), "calls http.send, which WebAssembly lacks"),
    ],
)
def test_a_template_that_is_not_evaluated_is_said_once_and_does_not_pass(
    run_in: Any, tmp_path: Path, template: Any, reason: str
) -> None:
    run = check(run_in, tmp_path, [SERVICE, CLEAN], [template, policies.constraint("Odd", "odd")])

    assert run.code == 2
    assert run.out.count(reason) == 1
    assert "not evaluated: Odd, 2 objects: " in run.out
    assert "1 part not judged" in run.out
    assert (
        check(run_in, tmp_path, [SERVICE], [template, policies.constraint("Odd", "odd")], "--allow-unknown").code == 0
    )


@pytest.mark.parametrize(
    ("rego", "reason"), [(FAILING, "sprintf: usher does not know"), (LOOPING, "took longer than 1 s")]
)
def test_a_policy_that_fails_leaves_its_object_unknown(run_in: Any, tmp_path: Path, rego: str, reason: str) -> None:
    run = check(run_in, tmp_path, [SERVICE], [policies.template("Odd", rego), policies.constraint("Odd", "odd")])

    assert run.code == 2
    assert "Odd/odd: entry point" in run.out
    assert reason in " ".join(run.out.split())


def test_reports_for_ci_systems_name_each_constraint(run_in: Any, tmp_path: Path) -> None:
    odd = policies.template("Odd", CALLING)
    given = [policies.template(), policies.constraint(name="team", **TEAM), policies.constraint(name="owner", **TEAM)]
    given += [odd, policies.constraint("Odd", "odd")]

    sarif = check(run_in, tmp_path, [SERVICE], given, "--format", "sarif").json["runs"][0]
    junit = check(run_in, tmp_path, [SERVICE], given, "--format", "junit").out

    assert [each["ruleId"] for each in sarif["results"]] == ["RequiredLabels/owner", "RequiredLabels/team"]
    assert {each["id"] for each in sarif["tool"]["driver"]["rules"]} == {
        "Odd",
        "RequiredLabels/owner",
        "RequiredLabels/team",
    }
    assert junit.count("<failure") == 2
    assert '<error message="1 object: the compiled policy calls http.send' in junit


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([policies.template()], "no constraint found in policies"),
        ([policies.constraint()], "policies/all.yaml:1: kind: no ConstraintTemplate defines RequiredLabels"),
        ([policies.template(), policies.template()], "RequiredLabels is also defined in policies/all.yaml:1"),
        (
            [policies.template(rego="package a"), policies.constraint()],
            "RequiredLabels does not compile: it has no rule",
        ),
        ([policies.template(rego="package a\nviolation {"), policies.constraint()], "does not compile: "),
        (
            [policies.template(schema=SCHEMA), policies.constraint(parameters={"labels": [1]})],
            "spec.parameters.labels[0]: must be a text, and is a number (the schema is in policies/all.yaml:1)",
        ),
    ],
)
def test_policies_that_are_not_right_are_an_error_before_anything_is_judged(
    run_in: Any, tmp_path: Path, given: list[Any], message: str
) -> None:
    run = check(run_in, tmp_path, [SERVICE], given)

    assert run.code == 2
    assert run.out == ""
    assert message in run.err


def test_many_files_are_judged_the_same_every_time(run_in: Any, tmp_path: Path) -> None:
    for number in range(120):
        write(tmp_path / "many" / f"{number}.yaml", builders.pod(name=f"pod-{number}", namespace="shop"))
    policy = write(tmp_path / "policies.yaml", policies.template(), policies.constraint(**TEAM))

    without = run_in("check", "many")
    found = [run_in("check", "many", "--policies", policy, "--jobs", "2") for _ in range(2)]

    assert without.code == 0
    assert [run.code for run in found] == [1, 1]
    assert "120 errors" in found[0].out
    assert found[0].out == found[1].out


def test_without_opa_the_error_says_what_to_do(run_in: Any, tmp_path: Path) -> None:
    write(tmp_path / "objects.yaml", SERVICE)
    write(tmp_path / "policies.yaml", policies.template(), policies.constraint(**TEAM))

    run = run_in("check", "objects.yaml", "--policies", "policies.yaml", opa="/nonexistent/opa")

    assert run.code == 2
    assert "/nonexistent/opa: no such program" in run.err
    assert "usher policies build" in run.err


# build


def test_a_bundle_judges_the_same_without_opa(run_in: Any, tmp_path: Path) -> None:
    given = [policies.template(), policies.constraint(**TEAM)]
    from_files = check(run_in, tmp_path, [SERVICE, CLEAN], given)

    built = run_in("policies", "build", "policies", "--output", "policies.bundle")
    from_bundle = run_in("check", "objects.yaml", "--policies", "policies.bundle", opa="/nonexistent/opa")

    assert built.out == "policies.bundle: 1 template, 1 constraint\n"
    assert from_bundle.out == from_files.out
    assert from_bundle.code == from_files.code == 1


def test_constraints_may_stand_beside_a_bundle(run_in: Any, tmp_path: Path) -> None:
    write(tmp_path / "objects.yaml", SERVICE)
    write(tmp_path / "policies.yaml", policies.template(), policies.constraint(enforcementAction="dryrun"))
    more = write(tmp_path / "more.yaml", policies.constraint(name="team", **TEAM))
    run_in("policies", "build", "policies.yaml", "-o", "policies.bundle")

    run = run_in("check", "objects.yaml", "--policies", "policies.bundle", "--policies", more, opa="/nonexistent/opa")

    assert run.code == 1
    assert "RequiredLabels team" in run.out


# verify


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
