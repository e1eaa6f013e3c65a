"""Check, audit and webhook find the same in an object, by policies of Gatekeeper as by the checks of usher."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import builders
import opa_server
import server_process
import site_bundles
from builders import policies
from integration.command import usher, write
from reviews import body
from server_process import ServerProcess

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

PRIVILEGED = """package privileged

violation[{"msg": msg, "details": {"name": c.name}}] {
	c := containers[_]
	c.securityContext.privileged
	msg := sprintf("container %q of %v is privileged, with %d ports", [c.name, input.review.kind.kind, count(ports(c))])
}

containers[c] { c := input.review.object.spec.containers[_] }
containers[c] { c := input.review.object.spec.template.spec.containers[_] }

ports(c) := p { p := c.ports } else := []
"""
REPLICAS = """package replicas

violation[{"msg": msg}] {
	found := input.review.object.spec.replicas
	found > input.parameters.most
	msg := sprintf("%v replicas, and at most %v in %v", [found, input.parameters.most, input.review.namespace])
}
"""
GIVEN = (
    policies.template(),
    policies.constraint(parameters={"labels": ["team", "owner"]}, match={"scope": "Namespaced"}),
    policies.constraint(
        name="only-some",
        parameters={"labels": ["stage"]},
        enforcementAction="warn",
        match={"excludedNamespaces": ["kube-*"], "labelSelector": {"matchLabels": {"app": "web"}}},
    ),
    policies.template("Privileged", PRIVILEGED),
    policies.constraint("Privileged", name="none", match={"kinds": [{"apiGroups": ["*"], "kinds": ["*"]}]}),
    policies.template("Replicas", REPLICAS, schema={"type": "object", "properties": {"most": {"default": 3}}}),
    policies.constraint("Replicas", name="few", parameters={}, enforcementAction="dryrun"),
)
"""Policies about names, fields, numbers, defaults of parameters, and criteria of every sort."""

_PRIVILEGED = builders.container(securityContext={"privileged": True}, ports=[{"containerPort": 1}])


def of(kind: str, *, api_version: str = "v1", **fields: Any) -> Any:
    metadata = {"name": kind.lower(), "namespace": "shop", **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


OBJECTS: list[Any] = [
    of("Service"),
    of("Service", metadata={"name": "labelled", "labels": {"app": "web", "team": "a", "owner": "b"}}),
    of("ConfigMap", data={"é": "line\nline", "percent": "%v %d"}),
    of("Secret", metadata={"namespace": "kube-public", "labels": {"app": "web"}}),
    of("Gateway", api_version="example.com/v1", spec={"replicas": 2**40}),
    of(
        "Role", api_version="rbac.authorization.k8s.io/v1", metadata={"labels": {"team": "a", "owner": "b", "app": "x"}}
    ),
    builders.pod(_PRIVILEGED, builders.container("second"), name="pod", namespace="shop"),
    builders.deployment(builders.template(_PRIVILEGED), replicas=4, name="four", namespace="shop"),
    builders.gpu_job(name="train", namespace="shop"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("agreement")
    site_bundles.gatekeeper(made, *GIVEN)
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ServerProcess]:
    with server_process.running(folder, arguments=(f"--policies={folder / 'policies.bundle'}",)) as started:
        yield started


def of_command(folder: Path, command: str, value: Any, *more: str) -> set[tuple[str, str, str]]:
    """The findings of policies by a command: constraint, outcome and message."""
    file = write(folder / "object.yaml", value)
    form = "findings" if command == "audit" else "json"
    run = usher(command, file, "--policies", folder / "policies.bundle", "--format", form, *more)
    return {
        (f"{finding['code']}/{finding['name']}", finding["outcome"], finding["message"])
        for each in run.json["workloads"]
        for finding in each["findings"]
        if finding["check"].startswith("gatekeeper/")
    }


@pytest.mark.parametrize("number", range(len(OBJECTS)), ids=[f"{each['kind']}-{n}" for n, each in enumerate(OBJECTS)])
def test_check_audit_and_webhook_find_the_same(folder: Path, server: ServerProcess, number: int) -> None:
    value = OBJECTS[number]
    checked = of_command(folder, "check", value, "--as-written")

    answer = server.review("validate", body(value))

    assert of_command(folder, "audit", value) == checked
    # The answer cuts what is long, and names no outcome of `dryrun` but in its annotations.
    said = {
        outcome: {word for word in answer.get("auditAnnotations", {}).get(outcome, "").split(",") if "/" in word}
        for outcome in ("deny", "warn", "audit")
    }
    assert said == {outcome: {each[0] for each in checked if each[1] == outcome} for outcome in said}
    denials = answer.get("status", {}).get("message", "").splitlines()
    for constraint, outcome, message in checked:
        line = f"{constraint.replace('/', ' ')}: {message}"
        assert outcome != "deny" or f"  {line}" in denials
        assert outcome != "warn" or line in answer["warnings"]


def test_the_objects_are_worth_comparing(folder: Path) -> None:
    found = {each[:2] for value in OBJECTS for each in of_command(folder, "check", value, "--as-written")}

    assert found == {
        ("RequiredLabels/labels", "deny"),
        ("RequiredLabels/only-some", "warn"),
        ("Privileged/none", "deny"),
        ("Replicas/few", "audit"),
    }
