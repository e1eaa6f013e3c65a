"""The checklist: labels, taints, MIG, sharing, claims, autoscalers."""

from typing import Any

import pytest

from builders import custom
from builders.autoscalers import node_pool
from builders.checklists import checklist
from builders.estates import H100, entry, estate, gpu_node
from usher import model, paths
from usher.audit.document import Standing
from usher.audit.estate import Estate
from usher.audit.readiness.wanted import API_SERVICE
from usher.check.devices import Amount
from usher.config import models
from usher.kinds.kind import Key

DEVICE_CLASS: Key = ("resource.k8s.io", "DeviceClass")


def test_labels_say_the_board_of_each_node() -> None:
    found = checklist(estate(nodes=[gpu_node(), gpu_node("bare", product="")]))["node-labels"]

    assert (found.standing, found.evidence) == (Standing.FAIL, ("no label says the board of bare",))
    assert checklist(estate(nodes=[gpu_node()]))["node-labels"].evidence == (f"boards: {H100}",)


def test_a_taint_keeps_other_pods_off() -> None:
    soft = gpu_node("soft", taints=(("gpu", "", "PreferNoSchedule"), ("node.kubernetes.io/x", "", "NoSchedule")))

    found = checklist(estate(nodes=[gpu_node(), soft]))["node-taints"]
    assert (found.standing, found.evidence) == (Standing.FAIL, ("without a taint: 1 of 2 nodes, soft",))
    assert checklist(estate(nodes=[gpu_node()]))["node-taints"].standing is Standing.PASS


def test_where_other_pods_have_no_other_nodes_a_taint_does_not_apply() -> None:
    own: paths.Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "home"}}

    found = checklist(estate(nodes=[gpu_node("home", taints=())], objects=[own]))["node-taints"]
    assert (found.standing, found.evidence) == (
        Standing.NOT_APPLICABLE,
        ("every node for other pods has accelerators, so a taint would leave those pods no node",),
    )


@pytest.mark.parametrize("item", ["node-labels", "node-taints", "mig", "gpu-sharing"])
def test_without_nodes_or_without_knowing_them(item: str) -> None:
    assert checklist(estate())[item].standing is Standing.NOT_APPLICABLE
    assert checklist(estate(nodes=None))[item].standing is Standing.NOT_KNOWN


@pytest.mark.parametrize(
    ("state", "standing"),
    [
        ("success", Standing.PASS),
        ("failed", Standing.FAIL),
        ("pending", Standing.NOT_KNOWN),
        ("", Standing.NOT_KNOWN),
    ],
)
def test_the_state_of_mig_decides(state: str, standing: Standing) -> None:
    labels = {"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": state}

    assert checklist(estate(nodes=[gpu_node(labels=labels)]))["mig"].standing is standing


def test_a_node_that_offers_nothing_because_mig_failed_counts_too() -> None:
    labels = {"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed"}
    node: paths.Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lost", "labels": dict(labels)}}

    found = checklist(estate(nodes=[gpu_node()], objects=[node]))["mig"]
    assert (found.standing, found.evidence) == (Standing.FAIL, ("the configuration failed on lost",))


def test_disabled_mig_is_not_a_configuration() -> None:
    labels = {"nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": "success"}

    assert checklist(estate(nodes=[gpu_node(labels=labels)]))["mig"].standing is Standing.NOT_APPLICABLE


def test_slices_and_shares_are_parts_of_gpus() -> None:
    slices = {"nvidia.com/mig-1g.10gb": Amount(number=7)}

    assert checklist(estate(nodes=[gpu_node(capacity=slices)]))["gpu-sharing"].standing is Standing.PASS
    assert checklist(estate(nodes=[gpu_node(shared_by=4)]))["gpu-sharing"].standing is Standing.PASS
    assert checklist(estate(nodes=[gpu_node()]))["gpu-sharing"].standing is Standing.NOT_APPLICABLE


def test_device_claims_are_served_and_their_drivers_named() -> None:
    piece = custom("resource.k8s.io/v1", "ResourceSlice", {"driver": "gpu.nvidia.com"}, name="a", namespace=None)

    found = checklist(estate(objects=[piece]), without=[DEVICE_CLASS])["device-claims"]
    assert (found.standing, found.evidence[1]) == (Standing.PASS, "drivers with devices: gpu.nvidia.com")
    assert checklist(estate())["device-claims"].standing is Standing.NOT_KNOWN


@pytest.mark.parametrize(
    ("seen", "standing"),
    [
        (estate(objects=[node_pool(limits={"nvidia.com/gpu": 64})]), Standing.PASS),
        (estate(objects=[node_pool(), node_pool("more", limits={"cpu": 1})]), Standing.FAIL),
        (estate(objects=[node_pool("cpus", key="kubernetes.io/arch")]), Standing.NOT_APPLICABLE),
        (estate(), Standing.NOT_KNOWN),
    ],
)
def test_an_autoscaler_has_a_limit(seen: Estate, standing: Standing) -> None:
    assert checklist(seen)["node-autoscaling"].standing is standing


def test_cluster_autoscaler_is_known_by_its_status() -> None:
    status: paths.Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"},
    }
    config = models.Config.model_validate({"pools": [{"name": "a", "nodeSelector": {"a": "b"}, "maxNodes": 4}]})

    assert checklist(estate(), [status])["node-autoscaling"].standing is Standing.PASS
    assert checklist(estate(), config=config)["node-autoscaling"].standing is Standing.PASS


def api(name: str, status: str) -> paths.Object:
    value = custom("apiregistration.k8s.io/v1", "APIService", {}, name=name, namespace=None)
    return {**value, "status": {"conditions": [{"type": "Available", "status": status}]}}


def test_services_scale_by_their_own_metrics() -> None:
    name = "v1beta1.custom.metrics.k8s.io"
    services = [entry("Deployment", role=role) for role in (model.Role.INFERENCE, model.Role.SERVICE)]

    def standing(*objects: paths.Object, **fields: Any) -> Standing:
        return checklist(estate(objects=objects, **fields))["pod-autoscaling"].standing

    assert standing(api(name, "True")) is Standing.PASS
    assert standing(api(name, "False")) is Standing.FAIL
    assert [standing(api("v1.apps", "True"), workloads=[each]) for each in services] == [Standing.FAIL] * 2
    assert standing(api("v1.apps", "True")) is Standing.NOT_APPLICABLE
    assert standing(unknown=[API_SERVICE.key]) is Standing.NOT_KNOWN
