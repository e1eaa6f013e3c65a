"""The floor on a real API server: it holds while no webhook of ours exists, and a rescue goes around it."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import record_findings
import yaml

import builders
from e2e import accounts, api_server_alone
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.pods import running_pods
from integration import command
from usher.policy.decision import Request

EXAMPLES = Path(__file__).parents[2] / "policies/usher/mutations/isolation/visible_devices_void/examples"

GREEDY = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
VOID = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
REFUSED: dict[str, Object] = {
    "USH201": builders.pod(GREEDY, name="greedy"),
    "USH204": builders.pod(name="paths", volumes=[{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]),
    "USH601": builders.pod(name="important", priorityClassName="system-node-critical"),
}


def floor(*arguments: str) -> str:
    printed = command.usher("manifests", "floor", *arguments)
    assert printed.code == 0, printed.err
    return printed.out


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Iterator[None]:
    text = floor()
    cluster.kubectl("apply", "--filename=-", stdin=text)
    yield
    cluster.kubectl("delete", "--filename=-", stdin=text)


@pytest.fixture
def tenant(cluster: Cluster, namespace: str, installed: None) -> Cluster:  # noqa: ARG001 - policies are there
    made = accounts.tenant(cluster, namespace)
    # It compiles each policy on its own.
    wait_until(
        lambda: all(code in refusal(made, within(value, namespace)) for code, value in REFUSED.items()),
        description="the API server has compiled the policies",
    )
    wait_until(
        lambda: any(environment(made.create(within(builders.pod(), namespace), dry_run=True))),
        description="the API server has compiled the mutation",
    )
    return made


def within(value: Object, namespace: str) -> Object:
    return {**value, "metadata": {**value["metadata"], "namespace": namespace}}


def refusal(cluster: Cluster, value: Object) -> str:
    """Why an object is refused; empty if it is let in."""
    try:
        cluster.create(value, dry_run=True)
    except ApiError as error:
        return error.message
    return ""


def environment(pod: Object) -> list[Any]:
    spec = pod["spec"]
    return [container.get("env") for container in (*spec.get("initContainers", []), *spec["containers"])]


@pytest.mark.thorough
def test_the_api_server_takes_every_policy_without_a_warning_about_its_types(cluster: Cluster, installed: None) -> None:
    assert installed is None
    names = {
        each["metadata"]["name"] for each in yaml.safe_load_all(floor()) if each["kind"] == "ValidatingAdmissionPolicy"
    }
    for name in names:
        # A controller checks the types; a policy that it has not seen yet has no status.
        status = wait_until(
            partial(status_of, cluster, name), description=f"the types of {name} are checked", timeout=120
        )
        assert status["typeChecking"].get("expressionWarnings", []) == []


def status_of(cluster: Cluster, policy: str) -> Object | None:
    found = cluster.get("ValidatingAdmissionPolicy", policy, api_version="admissionregistration.k8s.io/v1")
    status: Object = found.get("status", {})
    return status if "typeChecking" in status else None


@pytest.mark.parametrize("code", REFUSED)
def test_what_usher_denies_is_denied_with_the_same_code_and_a_remedy(
    tenant: Cluster, cluster: Cluster, namespace: str, code: str
) -> None:
    told = refusal(tenant, within(REFUSED[code], namespace))

    assert code in told
    assert "Remove" in told or "Use" in told or "Ask" in told
    assert refusal(cluster, within(REFUSED[code], namespace)) == "", "an administrator goes around it"


def test_a_job_whose_template_breaks_a_rule_is_denied(tenant: Cluster, namespace: str) -> None:
    job = builders.job(builders.template(GREEDY, restartPolicy="Never"), namespace=namespace)

    assert "USH201" in refusal(tenant, job)


def test_usual_workloads_run_and_see_no_gpu_that_they_did_not_ask_for(tenant: Cluster, namespace: str) -> None:
    tenant.create(builders.job(builders.template(builders.container(), restartPolicy="Never"), namespace=namespace))

    pods = running_pods(tenant, namespace, count=1)
    assert [environment(each) for each in pods.values()] == [[VOID]]


def test_a_daemon_set_of_a_tenant_sees_no_more_than_other_pods(tenant: Cluster, namespace: str) -> None:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": builders.pod(builders.container())["spec"]}
    spec: Object = {"selector": {"matchLabels": labels}, "template": template}
    tenant.create(builders.custom("apps/v1", "DaemonSet", spec, name="agent", namespace=namespace))

    pods = wait_until(lambda: tenant.objects("Pod", namespace=namespace), description="it has pods")
    assert all(environment(each) == [VOID] for each in pods)
    tenant.delete("DaemonSet", "agent", namespace=namespace, api_version="apps/v1")


@pytest.mark.parametrize("name", sorted(file.stem for file in EXAMPLES.glob("before_*.yaml")))
def test_pods_get_the_variables_that_our_mutation_gives(tenant: Cluster, namespace: str, name: str) -> None:
    value = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    expected = record_findings.evaluator_of(EXAMPLES).mutate(
        Request(value=value), only="isolation/visible_devices_void"
    )
    asked = within(value, namespace)
    asked["spec"].pop("ephemeralContainers", None)  # no creation may have any
    asked["metadata"].pop("ownerReferences", None)  # its uid is not of this cluster

    assert environment(tenant.create(asked, dry_run=True)) == environment(expected.value)


def test_an_api_server_keeps_it_from_files_alone(tmp_path: Path) -> None:
    """KEP-5793: policies that exist before the API server answers, and that no client can delete."""
    files = tmp_path / "policies"
    for kind in ("Validating", "Mutating"):
        (files / kind).mkdir(parents=True)
    for each in yaml.safe_load_all(floor("--static")):
        kind = each["kind"].partition("Admission")[0]
        (files / kind / f"{each['kind']}-{each['metadata']['name']}.json").write_text(json.dumps(each))
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [
            {
                "name": f"{kind}AdmissionPolicy",
                "configuration": {
                    "apiVersion": "apiserver.config.k8s.io/v1",
                    "kind": f"{kind}AdmissionPolicyConfiguration",
                    "staticManifestsDir": str(files / kind),
                },
            }
            for kind in ("Validating", "Mutating")
        ],
    }
    (tmp_path / "admission.yaml").write_text(json.dumps(configuration))
    cluster_files = tmp_path / "cluster"
    cluster_files.mkdir()
    more = (
        f"--admission-control-config-file={tmp_path / 'admission.yaml'}",
        "--feature-gates=ManifestBasedAdmissionControlConfig=true",
    )
    with api_server_alone.prepared(cluster_files, more=more) as alone:
        alone.start()
        cluster = alone.cluster
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        account = {"name": "default", "namespace": "team"}
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        tenant = accounts.tenant(cluster, "team")

        assert "USH201" in refusal(tenant, within(REFUSED["USH201"], "team"))
        created = tenant.create(within(builders.pod(), "team"), dry_run=True)
        assert environment(created) == [VOID]
        assert cluster.objects("ValidatingAdmissionPolicy", api_version="admissionregistration.k8s.io/v1") == []
