"""Findings about a cluster and its checklist, from what an API server serves to the document of an audit."""

from pathlib import Path
from typing import Any

import builders
from integration import command
from integration.api_server import ApiServer, Response, status
from usher import paths

ROOT = "/apis/admissionregistration.k8s.io/v1"
VALIDATING = "validatingwebhookconfigurations"


def cluster(api: ApiServer) -> None:
    """A cordoned node with 8 GPUs, one without GPUs, and a Job that asks for 16 on one node and waits."""
    api.add(builders.node("cpu-0"))
    node = builders.node("gpu-0", gpus=8, labels={"nvidia.com/gpu.present": "true"}, unschedulable=True)
    api.add(builders.replaced(node, "/status/capacity", {builders.GPU: "8"}))
    job = builders.gpu_job(16, name="large")
    api.add(builders.replaced(job, "/metadata/creationTimestamp", "2026-01-01T00:00:00Z"))
    api.serve_kind("admissionregistration.k8s.io/v1", VALIDATING)
    api.serve_kind("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations")


def audited(kubeconfig: Path) -> Any:
    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")
    assert run.code == 0, run.err
    return run.json


def of_the_cluster(document: Any) -> dict[str, Any]:
    return {each["code"]: each for each in document["findings"] if each["category"] == "cluster"}


def test_an_audit_reports_what_can_never_run_and_what_nothing_covers(api: ApiServer, kubeconfig: Path) -> None:
    cluster(api)

    document = audited(kubeconfig)
    found = of_the_cluster(document)
    assert {code: each["gpus"] for code, each in found.items()} == {
        "USA001": 16,
        "USA030": 8,
        "USA034": 8,
        "USA042": 16,
        "USA050": 16,
    }
    assert found["USA001"]["never"] is True
    assert found["USA001"]["heldBy"] == "the nodes"
    assert document["summary"]["gpusNever"] == 16


def test_webhooks_that_may_not_be_listed_leave_no_finding_and_no_pass(api: ApiServer, kubeconfig: Path) -> None:
    cluster(api)
    refused = status(403, f"{VALIDATING} is forbidden")
    api.troubles.append(lambda path, _: refused if path == f"{ROOT}/{VALIDATING}" else None)

    document = audited(kubeconfig)
    assert "USA050" not in of_the_cluster(document)
    items = {each["id"]: each for each in document["readiness"]}
    assert items["usher-webhooks"]["standing"] == "not known"
    assert VALIDATING in items["usher-webhooks"]["evidence"][0]


def test_the_version_of_the_server_is_held_against_the_ends_of_releases(api: ApiServer, kubeconfig: Path) -> None:
    cluster(api)

    api.trouble("/version", Response(value={"gitVersion": "v1.29.3"}))

    items = {each["id"]: each for each in audited(kubeconfig)["readiness"]}
    assert items["kubernetes-version"]["standing"] == "fail"
    assert items["kubernetes-version"]["evidence"] == ["Kubernetes 1.29; usher needs 1.30 or newer"]


def test_no_secret_and_no_content_of_a_config_map_is_asked_for(api: ApiServer, kubeconfig: Path) -> None:
    cluster(api)
    maps: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}
    api.objects["/api/v1", "configmaps"] = [{**maps, "data": {"password": "hidden"}}]

    document = audited(kubeconfig)
    assert not [path for path, _ in api.requests if path.endswith("/secrets")]
    assert "hidden" not in str(document)


EXCEPTIONS = """
apiVersion: gpu-usher.io/v1alpha1
kind: Config
enforcement:
  exceptions:
  - {checks: [gpu-requests-equal-limits], namespaces: [ml-research], owner: nlp, reason: r, ticket: T-1,
     expires: 2999-01-01}
  - {checks: [gpu-requests-equal-limits], names: [large], owner: nlp, reason: r, ticket: T-2, expires: 2026-01-01}
  - {checks: [gpu-requests-equal-limits], kinds: [RayJob], owner: nlp, reason: r, ticket: T-3, expires: 2999-01-01}
"""


def exceptions(document: Any) -> dict[str, str]:
    return {
        each["subject"]["name"]: each["code"] for each in document["findings"] if each["subject"]["kind"] == "Config"
    }


def test_exceptions_that_nothing_needs_are_named_if_every_kind_was_listed(
    api: ApiServer, kubeconfig: Path, tmp_path: Path
) -> None:
    cluster(api)
    config = tmp_path / "usher.yaml"
    config.write_text(EXCEPTIONS)

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--config", config, "--format", "json")
    assert exceptions(run.json) == {"T-1": "USA012", "T-2": "USA011", "T-3": "USA010"}
    assert [each["state"] for each in run.json["exceptions"]] == ["not needed", "expired", "unused"]

    api.trouble("/apis/batch/v1/jobs", status(403, "jobs.batch is forbidden"))
    run = command.usher("audit", "--kubeconfig", kubeconfig, "--config", config, "--format", "json")
    assert exceptions(run.json) == {"T-2": "USA011"}
