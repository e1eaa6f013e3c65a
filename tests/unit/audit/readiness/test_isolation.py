"""The checklist: quotas, Pod Security, networks, access to devices, sandboxes."""

from typing import Any

import pytest

from builders import GPU, custom, gpu_quota, resource_quota
from builders.checklists import checklist, definitions
from builders.estates import entry, estate, gpu_node
from builders.standings import namespaces
from usher import paths
from usher.audit.document import Standing
from usher.audit.estate import Estate
from usher.audit.readiness.wanted import NETWORK_POLICY
from usher.audit.standing.wanted import VALIDATING
from usher.install.manifests import webhooks as made
from usher.install.manifests.webhooks import Client
from usher.kinds.kind import Key

SPACE = "ml-research"
QUOTA: Key = ("", "ResourceQuota")
GPU_QUOTA: Key = ("gpu-usher.io", "GPUQuota")
TENANT = estate(workloads=[entry()])


@pytest.mark.parametrize(
    ("facts", "without", "standing"),
    [
        ([resource_quota({f"requests.{GPU}": 8})], [], Standing.PASS),
        ([gpu_quota("all", 8)], [], Standing.PASS),
        ([resource_quota({"requests.cpu": 8})], [GPU_QUOTA], Standing.FAIL),
        ([], [GPU_QUOTA, QUOTA], Standing.FAIL),
        ([], [GPU_QUOTA], Standing.NOT_KNOWN),
        ([resource_quota({"requests.cpu": 8})], [], Standing.NOT_KNOWN),
    ],
    ids=["ResourceQuota", "GPUQuota", "of cpu", "neither", "ResourceQuotas unknown", "GPUQuotas unknown"],
)
def test_a_quota_bounds_each_namespace(facts: Any, without: Any, standing: Standing) -> None:
    assert checklist(TENANT, [*facts, *namespaces(SPACE)], without=without)["quotas"].standing is standing


@pytest.mark.parametrize(
    ("level", "standing"),
    [
        ("restricted", Standing.PASS),
        ("baseline", Standing.PASS),
        ("privileged", Standing.FAIL),
        (None, Standing.FAIL),
    ],
)
def test_each_namespace_enforces_pod_security(level: str | None, standing: Standing) -> None:
    labels = {} if level is None else {"pod-security.kubernetes.io/enforce": level}

    assert checklist(TENANT, namespaces(SPACE, **labels))["pod-security"].standing is standing
    assert checklist(TENANT)["pod-security"].standing is Standing.NOT_KNOWN


def policy(**spec: Any) -> paths.Object:
    return custom("networking.k8s.io/v1", "NetworkPolicy", spec, name="deny", namespace=SPACE)


@pytest.mark.parametrize(
    ("value", "standing"),
    [
        (policy(podSelector={}, policyTypes=["Ingress"]), Standing.PASS),
        (policy(podSelector={}), Standing.PASS),
        (policy(podSelector={}, policyTypes=["Egress"]), Standing.FAIL),
        (policy(podSelector={}, policyTypes=["Ingress"], ingress=[{}]), Standing.FAIL),
        (policy(podSelector={}, ingress=[{"from": [{"podSelector": {}}]}]), Standing.PASS),
        (policy(podSelector={}, ingress=[{"from": [{"namespaceSelector": {}}]}]), Standing.FAIL),
        (policy(podSelector={}, ingress=[{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]), Standing.FAIL),
        (policy(podSelector={}, ingress=[{"ports": [{"port": 80}]}]), Standing.FAIL),
        (policy(podSelector={"matchLabels": {"app": "x"}}, policyTypes=["Ingress"]), Standing.FAIL),
        (policy(podSelector=None), Standing.FAIL),
    ],
    ids=[
        "denies",
        "by default",
        "outgoing",
        "allows all",
        "allows its own namespace",
        "allows all namespaces",
        "allows all addresses",
        "allows a port for all",
        "some pods",
        "hostile",
    ],
)
def test_each_namespace_denies_incoming_traffic(value: paths.Object, standing: Standing) -> None:
    seen = estate(workloads=[entry()], objects=[value])

    assert checklist(seen)["network-policies"].standing is standing


@pytest.mark.parametrize(
    ("item", "definition"),
    [
        ("network-policies", "ciliumnetworkpolicies.cilium.io"),
        ("pod-security", "securitycontextconstraints.security.openshift.io"),
    ],
)
def test_what_other_policies_may_hold_is_not_known(item: str, definition: str) -> None:
    seen = estate(workloads=[entry()], without=[NETWORK_POLICY.key])

    assert checklist(seen, namespaces(SPACE))[item].standing is Standing.FAIL
    assert checklist(seen, [*namespaces(SPACE), *definitions(definition)])[item].standing is Standing.NOT_KNOWN


def test_network_policies_that_may_not_be_listed() -> None:
    seen = estate(workloads=[entry()], unknown=[NETWORK_POLICY.key])

    assert checklist(seen)["network-policies"].standing is Standing.NOT_KNOWN


def test_where_only_the_system_uses_accelerators_tenancy_does_not_apply() -> None:
    found = checklist(estate(workloads=[entry(namespace="gpu-operator")]))

    assert {found[each].standing for each in ("quotas", "pod-security", "network-policies")} == {
        Standing.NOT_APPLICABLE
    }


def access(version: str = "1.20.0", *, webhooks: bool = True) -> Estate:
    policies = custom("nvidia.com/v1", "ClusterPolicy", {"toolkit": {"version": version}}, name="p", namespace=None)
    ours = made.configurations(client=Client())[1:] if webhooks else []
    return estate(nodes=[gpu_node()], objects=[policies, *ours], without=[VALIDATING] if not webhooks else [])


def test_access_to_accelerators_needs_a_safe_toolkit_and_judged_pods() -> None:
    assert checklist(access())["accelerator-access"].standing is Standing.PASS
    assert checklist(access("1.17.7"))["accelerator-access"].standing is Standing.FAIL
    assert checklist(access(webhooks=False))["accelerator-access"].standing is Standing.FAIL
    assert checklist(access("latest"))["accelerator-access"].standing is Standing.NOT_KNOWN
    assert checklist(estate())["accelerator-access"].standing is Standing.NOT_APPLICABLE


def runtime(handler: str) -> paths.Object:
    value = custom("node.k8s.io/v1", "RuntimeClass", {}, name="sandbox", namespace=None)
    return {**value, "handler": handler}


@pytest.mark.parametrize(
    ("handler", "standing"),
    [("kata-qemu", Standing.PASS), ("runsc", Standing.PASS), ("nvidia", Standing.NOT_APPLICABLE)],
)
def test_a_sandbox_is_known_by_its_handler(handler: str, standing: Standing) -> None:
    assert checklist(estate(), [runtime(handler)])["sandboxes"].standing is standing
    assert checklist(estate())["sandboxes"].standing is Standing.NOT_KNOWN
