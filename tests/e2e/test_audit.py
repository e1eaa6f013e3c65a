"""`usher audit` on a live cluster, with the rights that manifests/base gives to auditors and no others."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import builders
import reviews
import server_process
from e2e import crds
from e2e.cluster import Cluster, Object, wait_until
from e2e.registration import CONFIG
from integration import command
from server_process import ServerProcess

ROLE = Path(__file__).parents[2] / "manifests" / "base" / "audit-role.yaml"

API_VERSIONS = {"Deployment": "apps/v1", "Pod": "v1", "PyTorchJob": "kubeflow.org/v1"}


@pytest.fixture
def workloads(cluster: Cluster, namespace: str) -> str:
    """A namespace with workloads of several kinds; some are wrong, and one has pods of its own."""
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    unequal = builders.container("pytorch", requests={builders.GPU: 8}, limits={builders.GPU: 4})
    greedy = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    server = builders.deployment(
        builders.template(builders.container(gpus=1), labels={"app": "server"}),
        replicas=2,
        name="server",
        namespace=namespace,
    )
    for workload in (
        builders.pytorch_job(builders.template(unequal), workers=4, name="unequal", namespace=namespace),
        builders.pod(greedy, name="greedy", namespace=namespace),
        builders.pod(name="web", namespace=namespace),
        builders.replaced(server, "/spec/selector", {"matchLabels": {"app": "server"}}),
    ):
        cluster.create(workload)
    return namespace


@pytest.fixture
def knowing_server(cluster: Cluster, tmp_path: Path) -> Iterator[ServerProcess]:
    """A server that knows of the cluster what an audit knows."""
    arguments = (f"--config={CONFIG}", "--live", f"--kubeconfig={cluster.kubeconfig}")
    with server_process.running(tmp_path / "server", arguments=arguments) as running:
        yield running


@pytest.fixture
def auditor(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """The kubeconfig of an account that may do what the role gpu-usher-audit says."""
    role = yaml.safe_load(ROLE.read_text())
    cluster.apply(role)
    cluster.kubectl("create", "serviceaccount", "auditor", f"--namespace={namespace}")
    account = f"--serviceaccount={namespace}:auditor"
    cluster.kubectl("create", "clusterrolebinding", "e2e-auditor", f"--clusterrole={role['metadata']['name']}", account)
    token = cluster.kubectl("create", "token", "auditor", f"--namespace={namespace}")
    kubeconfig = yaml.safe_load(cluster.kubeconfig.read_text())
    kubeconfig["users"][0]["user"] = {"token": token}
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(kubeconfig))
    yield file
    cluster.delete("ClusterRoleBinding", "e2e-auditor", api_version="rbac.authorization.k8s.io/v1")
    cluster.delete("ClusterRole", role["metadata"]["name"], api_version="rbac.authorization.k8s.io/v1")


def audit(kubeconfig: Path, *arguments: str) -> command.Run:
    return command.usher("audit", "--kubeconfig", kubeconfig, "--config", CONFIG, *arguments)


def of_namespace(report: Object, namespace: str) -> dict[tuple[str, str], Object]:
    """The objects of a namespace in a report, without the Namespace itself, by kind and name."""
    return {
        (each["kind"], each["name"]): each
        for each in report["workloads"]
        if each["namespace"] == namespace and each["kind"] != "Namespace"
    }


def denied(workload: Object) -> list[str]:
    """The findings of a workload that deny it, as the webhook puts them."""
    return [
        f"  {each['code']} {each['name']}: {each['message']}. {each['remedy'][:1].upper()}{each['remedy'][1:]}."
        for each in workload["findings"]
        if each["outcome"] == "deny"
    ]


def denials(response: Object) -> list[str]:
    message: str = response.get("status", {}).get("message", "")
    return message.splitlines()[1:-1]


def warned(workload: Object) -> list[str]:
    return [each["code"] for each in workload["findings"] if each["outcome"] == "warn"]


def warnings(response: Object) -> list[str]:
    return [warning.split()[0] for warning in response.get("warnings", []) if warning.startswith("USH")]


def test_the_audit_finds_what_the_webhook_finds(
    cluster: Cluster, knowing_server: ServerProcess, workloads: str, auditor: Path
) -> None:
    """Each workload is listed once; the pods of the Deployment are part of it."""
    done = audit(auditor, "--format=findings")
    assert done.code == 0, done.err
    found = of_namespace(done.json, workloads)

    assert done.json["complete"]
    # Namespaces of other tests may be exempt until they are gone, which an audit of the whole cluster notes.
    assert [note for note in done.json["notes"] if "exempts it" not in note["reason"]] == []
    assert set(found) == {
        ("Deployment", "server"),
        ("Pod", "greedy"),
        ("Pod", "web"),
        ("PyTorchJob", "unequal"),
    }
    for (kind, name), workload in found.items():
        live = cluster.get(kind, name, namespace=workloads, api_version=API_VERSIONS[kind])
        response = knowing_server.review("validate", reviews.body(live))
        # What the mutations would have mended only warns in a review: these objects are older than the webhooks.
        refused = [text for text in denied(workload) if text in denials(response)]
        assert refused == denials(response)
        missed = [text.split()[0] for text in denied(workload) if text not in refused]
        assert sorted([*missed, *warned(workload)]) == sorted(warnings(response))
    assert {identity for identity, workload in found.items() if denied(workload)} == set(found) - {("Pod", "web")}


def test_the_audit_of_a_namespace_adds_up_its_gpus(workloads: str, auditor: Path) -> None:
    """Four workers of 8, and two replicas of 1 with one more during a rollout."""
    done = audit(auditor, f"--in-namespace={workloads}", "--fail-on=deny")

    assert done.code == 1
    assert "  asked for  34 to 35 GPUs, by 2 workloads with accelerators\n" in done.out


def test_a_kind_that_may_not_be_listed_is_named_and_the_rest_is_audited(
    cluster: Cluster, workloads: str, tmp_path: Path
) -> None:
    """An account that may list PyTorchJobs and Pods alone."""
    cluster.kubectl("create", "serviceaccount", "narrow", f"--namespace={workloads}")
    cluster.kubectl(
        "create",
        "role",
        "narrow",
        f"--namespace={workloads}",
        "--verb=list",
        "--resource=pytorchjobs.kubeflow.org,pods",
    )
    account = f"--serviceaccount={workloads}:narrow"
    cluster.kubectl("create", "rolebinding", "narrow", f"--namespace={workloads}", "--role=narrow", account)
    token = cluster.kubectl("create", "token", "narrow", f"--namespace={workloads}")
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["users"][0]["user"] = {"token": token}
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(content))

    done = command.usher("audit", f"--kubeconfig={file}", f"--in-namespace={workloads}", "--format=json")

    assert done.code == 0, done.err
    left_out = {gap["source"]: gap["reason"] for gap in done.json["completeness"]["leftOut"]}
    assert left_out["deployments.apps"] == (
        f"not read: user system:serviceaccount:{workloads}:narrow may not list them in namespace {workloads}; bind the "
        "ClusterRole of `usher manifests audit-role`"
    )
    assert {"pytorchjobs.kubeflow.org", "pods"}.isdisjoint(left_out)
    assert done.json["summary"]["gpus"] is None
    assert any(each["subject"]["kind"] == "PyTorchJob" for each in done.json["workloads"])


def test_a_kubeconfig_without_credentials_ends_with_the_way_to_log_in(cluster: Cluster, tmp_path: Path) -> None:
    """The API server takes usher for system:anonymous, or for no user at all."""
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["users"][0]["user"] = {}
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(content))

    done = command.usher("audit", f"--kubeconfig={file}")

    assert (done.code, done.out) == (2, "")
    assert "does not know you" in done.err or "does not accept the credentials (401 Unauthorized)" in done.err
    assert done.err.endswith("log in again, and see that `kubectl auth whoami` works\n")


def test_plain_http_is_named_as_the_cause(cluster: Cluster, tmp_path: Path) -> None:
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["clusters"][0]["cluster"]["server"] = cluster.server.replace("https:", "http:")
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(content))

    done = command.usher("audit", f"--kubeconfig={file}")

    assert (done.code, done.out) == (2, "")
    assert "this port speaks TLS; write https:// into the `server` of the cluster in the kubeconfig" in done.err


def test_pods_that_a_quota_refuses_are_missing_in_the_words_of_their_controller(
    cluster: Cluster, namespace: str, auditor: Path, tmp_path: Path
) -> None:
    cluster.create(builders.resource_quota({f"requests.{builders.GPU}": 1}, name="gpus", namespace=namespace))
    tolerations = [builders.toleration("nvidia.com/gpu", operator="Exists")]
    template = builders.template(builders.container(gpus=1), labels={"app": "server"}, tolerations=tolerations)
    deployment = builders.deployment(template, replicas=2, name="server", namespace=namespace)
    cluster.create(builders.replaced(deployment, "/spec/selector", {"matchLabels": {"app": "server"}}))
    config = tmp_path / "usher.yaml"
    command.config(config, audit={"pending": "1s"})

    def missing() -> list[str]:
        """The messages of the finding, once the refusal is older than a second."""
        arguments = ("--kubeconfig", auditor, "--config", config, "-n", namespace, "--format", "json")
        found = command.usher("audit", *arguments).json["findings"]
        return [each["message"] for each in found if each["code"] == "USA004"]

    (message,) = wait_until(missing, description="the controller was refused a pod")
    assert message.startswith('it wants 2 pods and has 1: pods "server-')
    assert "is forbidden: exceeded quota: gpus" in message
