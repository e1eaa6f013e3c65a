"""Policies of Gatekeeper: `usher check --policies` and `usher policies build`."""

from pathlib import Path
from typing import Any

import pytest

import builders
import opa_server
from builders import policies
from integration.command import Run, write

pytestmark = [*opa_server.needs_opa, pytest.mark.costly]

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
    assert "/nonexistent/opa: the program was not found" in run.err
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
