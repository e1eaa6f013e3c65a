"""Who is trusted and by what, as a real API server tells it: owners, node agents, names of namespaces, subresources."""

import json
from collections.abc import Iterator
from typing import Final

import pytest

import builders
from e2e.cluster import ApiError, Cluster, KubectlError, Object
from server_process import ServerProcess
from usher.install.manifests import webhooks as manifests
from usher.install.manifests.webhooks import Client

pytestmark = pytest.mark.usefixtures("webhooks")

TENANT: Final = ("--as=mallory", "--as-group=tenants")
CONTROLLER: Final = ("--as=system:serviceaccount:kube-system:cronjob-controller",)
OWNERS: Final = (("v1", "ConfigMap"), ("batch/v1", "CronJob"), ("example.com/v1", "Foo"), ("apps/v1", "Deployment"))
CHANGES_NOTHING: Final = {"attach", "exec", "log", "portforward", "proxy"}
"""Subresources that hold no object that could change."""
OTHERS: Final = {
    "pods/eviction": "it deletes the pod",
    "serviceaccounts/token": "it makes a token",
}


@pytest.fixture(scope="module", autouse=True)
def tenant(cluster: Cluster) -> None:
    """Mallory may do anything that RBAC can allow, so that whatever is denied to her is denied by us."""
    for user in ("mallory", "system:serviceaccount:kube-system:cronjob-controller"):
        name = user.rpartition(":")[2]
        cluster.kubectl(
            "create", "clusterrolebinding", f"trust-{name}", "--clusterrole=cluster-admin", f"--user={user}"
        )


def made(cluster: Cluster, value: Object, *user: str) -> str:
    """The output of kubectl when a user tries to create an object; "" for an admitted one without a warning."""
    arguments = ("create", "--dry-run=server", "--filename=-", *user)
    try:
        printed = cluster.kubectl(*arguments, stdin=json.dumps(value), with_warnings=True)
    except KubectlError as error:
        return error.stderr
    return printed


def job(pods: int, namespace: str) -> Object:
    """A Job that waits, of pods with 8 GPUs each."""
    template = builders.template(builders.container(gpus=8), restartPolicy="Never")
    value = builders.job(template, parallelism=pods, completions=100, name="train", namespace=namespace)
    return builders.replaced(value, "/spec/suspend", True)


def selecting(value: Object) -> Object:
    """The object with a selector for its pods."""
    labels: Object = {"app": "web"}
    labelled = builders.replaced(value, "/spec/template/metadata", {"labels": labels})
    return builders.replaced(labelled, "/spec/selector", {"matchLabels": labels})


def owned(value: Object, owner: tuple[str, str]) -> Object:
    version, kind = owner
    reference: Object = {"apiVersion": version, "kind": kind, "name": "owner", "uid": "1", "controller": True}
    return builders.replaced(value, "/metadata/ownerReferences", [reference])


@pytest.mark.parametrize("owner", OWNERS)
def test_an_owner_hides_no_size_unless_a_controller_names_it(
    cluster: Cluster, namespace: str, owner: tuple[str, str]
) -> None:
    large = owned(job(100, namespace), owner)

    assert "USH1301 gpus-per-workload" in made(cluster, large, *TENANT)
    assert "USH1301" not in made(cluster, large, *CONTROLLER)


def test_an_update_adds_no_owner(cluster: Cluster, namespace: str) -> None:
    small = job(1, namespace)
    cluster.create(small)
    reference = owned(small, ("batch/v1", "CronJob"))["metadata"]["ownerReferences"]
    patch = {"metadata": {"ownerReferences": reference}, "spec": {"parallelism": 100}}
    command = ("patch", "job", "train", f"--namespace={namespace}", "--type=merge", f"--patch={json.dumps(patch)}")

    with pytest.raises(KubectlError, match="USH1301 gpus-per-workload"):
        cluster.kubectl(*command, *TENANT)


def test_a_replica_set_of_a_tenant_is_denied_whatever_its_owner(cluster: Cluster, namespace: str) -> None:
    greedy = builders.template(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}))
    value = owned(selecting(builders.replica_set(greedy, name="web", namespace=namespace)), ("v1", "ConfigMap"))

    assert "USH201 visible-devices-set-by-hand" in made(cluster, value, *TENANT)
    assert "Error" not in made(cluster, value, *CONTROLLER)


def test_a_daemon_set_of_a_tenant_is_not_a_node_agent(cluster: Cluster, namespace: str) -> None:
    agent = selecting(builders.daemon_set(builders.template(builders.container(), hostPID=True), namespace=namespace))

    assert "USH220 node-agent-of-a-tenant" in made(cluster, agent, *TENANT)


def test_a_persistent_volume_of_a_tenant_leads_to_no_part_of_the_node(cluster: Cluster) -> None:
    spec: Object = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    value: Object = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "units"}, "spec": spec}
    units = builders.replaced(value, "/spec/hostPath", {"path": "/etc/systemd/system"})

    assert "USH215 host-path-to-node-control" in made(cluster, units, *TENANT)
    assert "USH215" not in made(cluster, units)
    assert "USH215" not in made(cluster, units, *CONTROLLER)
    assert "Error" not in made(cluster, builders.replaced(value, "/spec/hostPath", {"path": "/mnt/data"}), *TENANT)


@pytest.mark.parametrize("name", ["gpu-operator-resources", "volcano-system", "runai", "kubeflow", "openshift-gpus"])
def test_only_administrators_make_a_namespace_with_a_trusted_name(cluster: Cluster, name: str) -> None:
    value: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

    assert "USH1237 trusted-namespace-by-tenant" in made(cluster, value, *TENANT)
    assert "USH1237" not in made(cluster, value)


@pytest.mark.parametrize("sub_resource", ["status", "finalize"])
def test_no_subresource_of_a_namespace_takes_the_label_that_exempts_it(
    cluster: Cluster, namespace: str, sub_resource: str
) -> None:
    value = cluster.get("Namespace", namespace)
    value["metadata"]["labels"]["gpu-usher.io/exempt"] = "true"
    command = ("replace", f"--raw=/api/v1/namespaces/{namespace}/{sub_resource}", "--filename=-")

    with pytest.raises(KubectlError, match="USH1201 exemption-by-tenant"):
        cluster.kubectl(*command, *TENANT, stdin=json.dumps(value))
    assert "gpu-usher.io/exempt" not in cluster.get("Namespace", namespace)["metadata"]["labels"]


def test_the_metadata_that_comes_with_a_status_is_judged(cluster: Cluster, namespace: str) -> None:
    """Labels, annotations and owners of Kubernetes' own kinds can be written with their status."""
    cluster.create(job(1, namespace))
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1", "controller": True}
    patch = {"metadata": {"ownerReferences": [owner]}}

    printed = cluster.kubectl(
        *("patch", "job", "train", f"--namespace={namespace}", "--subresource=status", "--type=merge"),
        *(f"--patch={json.dumps(patch)}", *TENANT),
        with_warnings=True,
    )

    assert "USH1202 owner-forged" in printed


def resources(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Group and name of everything that the API server serves, subresources among them."""
    core: Object = json.loads(cluster.kubectl("get", "--raw=/api/v1"))
    yield from (("", each["name"]) for each in core["resources"])
    groups: Object = json.loads(cluster.kubectl("get", "--raw=/apis"))
    for group in groups["groups"]:
        for version in group["versions"]:
            served: Object = json.loads(cluster.kubectl("get", f"--raw=/apis/{version['groupVersion']}"))
            yield from ((group["name"], each["name"]) for each in served["resources"])


def test_every_subresource_of_what_usher_guards_is_judged_or_changes_nothing(cluster: Cluster) -> None:
    _, validating = manifests.configurations(client=Client())
    judged = {
        (rule["apiGroups"][0], resource)
        for webhook in json.loads(json.dumps(validating["webhooks"]))
        for rule in webhook["rules"]
        for resource in rule["resources"]
    }
    own = {"gpu-usher.io"}  # only our server may write the status of our kinds
    definitions: Object = json.loads(cluster.kubectl("get", "crds", "--output=json"))
    custom = {each["spec"]["group"] for each in definitions["items"]}

    missing = {
        (group, name)
        for group, name in resources(cluster)
        if "/" in name
        and (group, name.partition("/")[0]) in judged
        and (group, name) not in judged
        and name.rpartition("/")[2] not in CHANGES_NOTHING
        and name not in OTHERS
        and group not in own
        # The API server keeps the metadata of custom resources in requests to their status.
        and not (name.endswith("/status") and group in custom)
    }

    assert missing == set()


def test_a_tenant_gets_no_namespace_while_the_server_is_away(cluster: Cluster, webhooks: ServerProcess) -> None:
    assert webhooks.url
    _, validating = manifests.configurations(client=Client())
    (guard,) = [
        each for each in json.loads(json.dumps(validating["webhooks"])) if each["name"] == "exemptions.gpu-usher.io"
    ]
    dead = {**guard, "name": "away.gpu-usher.io", "clientConfig": {"url": "https://127.0.0.1:1/validate"}}
    configuration: Object = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "away"},
        "webhooks": [dead],
    }
    value: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "volcano-system"}}
    cluster.create(configuration)
    try:
        with pytest.raises((KubectlError, ApiError), match=r"USH1237|failed calling webhook"):
            cluster.kubectl("create", "--dry-run=server", "--filename=-", *TENANT, stdin=json.dumps(value))
    finally:
        cluster.delete("ValidatingWebhookConfiguration", "away", api_version="admissionregistration.k8s.io/v1")
