"""The machine types that pools of autoscalers allow, and what they mean for pods."""

from typing import Any

import pytest

from usher import paths
from usher.cluster.facts import autoscaled_pools

TYPE = "node.kubernetes.io/instance-type"


def node_pool(*requirements: dict[str, Any], group: str = "karpenter.k8s.aws") -> paths.Object:
    spec: dict[str, Any] = {
        "nodeClassRef": {"group": group, "kind": "EC2NodeClass", "name": "gpu"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
        "requirements": list(requirements),
    }
    template: dict[str, Any] = {"metadata": {"labels": {"team": "nlp"}}, "spec": spec}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {"template": template},
    }


def wants(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def allowed(*requirements: dict[str, Any], group: str = "karpenter.k8s.aws") -> list[str] | None:
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": node_pool(*requirements, group=group)}})
    return None if pool.types is None else [each.name for each in pool.types]


@pytest.mark.parametrize(
    ("requirements", "types"),
    [
        ([wants(TYPE, "In", "g6e.xlarge", "m6i.large")], ["g6e.xlarge"]),
        ([wants("karpenter.k8s.aws/instance-gpu-name", "In", "h100"),
          wants("karpenter.k8s.aws/instance-gpu-count", "Gt", "4")], ["p5.48xlarge"]),
        ([wants("karpenter.k8s.aws/instance-family", "In", "g6e"), wants("karpenter.k8s.aws/instance-cpu", "Lt", "9")],
         ["g6e.2xlarge", "g6e.xlarge"]),
        ([wants("karpenter.k8s.aws/instance-family", "In", "p5"), wants("karpenter.sh/capacity-type", "In", "spot")],
         ["p5.48xlarge", "p5.4xlarge"]),
        ([wants("karpenter.k8s.aws/instance-category", "In", "m", "c")], []),
        # A type that is newer than the table may have any number of GPUs.
        ([wants(TYPE, "In", "g6e.xlarge", "p9.48xlarge")], None),
    ],
    ids=["named", "by GPU", "by family and size", "labels of no type", "no accelerators", "newer"],
)  # fmt: skip
def test_a_node_pool_allows_the_types_that_meet_its_requirements(
    requirements: list[dict[str, Any]], types: list[str] | None
) -> None:
    assert allowed(*requirements) == types


@pytest.mark.parametrize(
    ("group", "requirements", "types"),
    [
        ("karpenter.azure.com", [wants(TYPE, "In", "Standard_NC24ads_A100_v4")], ["Standard_NC24ads_A100_v4"]),
        ("karpenter.azure.com", [wants("karpenter.azure.com/sku-name", "In", "Standard_NC99")], None),
        ("karpenter.azure.com", [wants("karpenter.azure.com/sku-gpu-count", "Gt", "7"),
                                 wants("karpenter.azure.com/sku-gpu-manufacturer", "In", "amd")],
         ["Standard_ND96isr_MI300X_v5"]),
        ("karpenter.k8s.gcp", [wants(TYPE, "In", "a3-megagpu-8g", "n2-standard-8")], ["a3-megagpu-8g"]),
        ("karpenter.k8s.gcp", [wants(TYPE, "In", "n1-standard-8")], None),
        ("eks.amazonaws.com", [wants("eks.amazonaws.com/instance-gpu-name", "In", "h100")],
         ["p5.48xlarge", "p5.4xlarge"]),
        ("karpenter.example.com", [wants(TYPE, "In", "p5.48xlarge")], None),
    ],
    ids=["AKS", "AKS newer", "AKS by GPUs", "GKE", "GPUs of N1", "EKS Auto Mode", "another cloud"],
)  # fmt: skip
def test_a_node_pool_allows_types_of_its_own_cloud(
    group: str, requirements: list[dict[str, Any]], types: list[str] | None
) -> None:
    assert allowed(*requirements, group=group) == types


def test_limits_bound_a_node_and_the_number_of_nodes() -> None:
    spec: Any = node_pool(wants(TYPE, "In", "p5.48xlarge", "g6.xlarge"))["spec"]
    value: paths.Object = {"spec": {**spec, "limits": {"nvidia.com/gpu": 4, "cpu": "1000"}}}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": value}})
    small, large = pool.types or ()

    assert (pool.most_nodes(small), pool.most_nodes(large)) == (4, 0)
    assert pool.amounts(large)["nvidia.com/gpu"] == 4
    assert [pool.title(small), pool.title(large)] == [
        "NodePool gpu (g6.xlarge)", "NodePool gpu (p5.48xlarge, within its limits)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("types", "cpus", "most"),
    [
        (["g5.2xlarge"], 8, 1),
        (["g5.2xlarge"], 15, 1),
        (["g5.2xlarge"], 7, 0),
        (["p4d.24xlarge"], 190, 8),
        (["g5.2xlarge", "g5.xlarge"], 16, 4),
    ],
)
def test_a_limit_of_cpus_bounds_the_gpus_by_whole_nodes(types: list[str], cpus: int, most: int) -> None:
    spec: Any = node_pool(wants(TYPE, "In", *types))["spec"]
    value: paths.Object = {"spec": {**spec, "limits": {"cpu": cpus}}}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": value}})

    assert pool.limits["nvidia.com/gpu"] == most


def test_overlays_add_resources_to_the_types_that_they_match() -> None:
    overlay: paths.Object = {
        "spec": {
            "requirements": [wants(TYPE, "In", "g6.xlarge")],
            "capacity": {"nvidia.com/gpu.shared": 4},
        }
    }
    pools = {"gpu": node_pool(wants(TYPE, "In", "p5.48xlarge", "g6.xlarge"))}
    [pool] = autoscaled_pools.read_pools(
        {autoscaled_pools.NODE_POOL: pools, autoscaled_pools.NODE_OVERLAY: {"shares": overlay}}
    )

    assert [each.amounts.get("nvidia.com/gpu.shared") for each in pool.types or ()] == [4, None]


@pytest.mark.parametrize(
    ("name", "resource", "amount", "arch"),
    [
        ("gpu_8x_h100_sxm5", "nvidia.com/gpu", 8, "amd64"),
        ("gpu_1x_gh200", "nvidia.com/gpu", 1, "arm64"),
        ("h200-141gb-sxm-ib.8x", "nvidia.com/gpu", 8, "amd64"),
        ("gb200-186gb-nvl-ib.4x", "nvidia.com/gpu", 4, "arm64"),
        ("vcg-a100-96c-960g-640vram", "nvidia.com/gpu", 8, "amd64"),
        ("vbm-256c-3072gb-8-mi355x-gpu", "amd.com/gpu", 8, "amd64"),
        ("gpu-h100x8-640gb", "nvidia.com/gpu", 8, "amd64"),
        ("H100-2-80G", "nvidia.com/gpu", 2, "amd64"),
        ("a100-360", "nvidia.com/gpu", 2, "amd64"),
    ],
)
def test_machine_types_of_smaller_clouds_are_known(name: str, resource: str, amount: int, arch: str) -> None:
    machine = autoscaled_pools.machine_types()[name]

    assert (machine.amounts[resource], machine.labels["kubernetes.io/arch"]) == (amount, arch)


def compute_class(*rules: dict[str, Any], **spec: Any) -> list[str] | None:
    value: paths.Object = {"spec": {"priorities": list(rules), "whenUnsatisfiable": "DoNotScaleUp", **spec}}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.COMPUTE_CLASS: {"l4": value}})
    assert pool.labels == {"cloud.google.com/compute-class": "l4"}
    return None if pool.types is None else [each.name for each in pool.types]


def test_a_compute_class_allows_the_machines_of_its_rules() -> None:
    l4: dict[str, Any] = {"gpu": {"type": "nvidia-l4", "count": 2}}
    v5e: dict[str, Any] = {"tpu": {"type": "tpu-v5-lite-podslice", "count": 4, "topology": "2x4"}}

    assert compute_class(l4, {"machineFamily": "n2"}) == ["g2-standard-24"]
    assert compute_class(v5e, {"machineType": "a3-highgpu-8g"}) == ["ct5lp-hightpu-4t", "a3-highgpu-8g"]
    assert compute_class(l4, {"nodepools": ["gpu"]}) is None
    assert compute_class({"gpu": {"type": "nvidia-tesla-t4", "count": 1}}) is None
    assert compute_class(l4, whenUnsatisfiable="ScaleUpAnyway") is None


def test_annotations_describe_the_nodes_of_cluster_api() -> None:
    start = "capacity.cluster-autoscaler.kubernetes.io"
    annotations: paths.Object = {
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "3",
        f"{start}/cpu": "16",
        f"{start}/memory": "128G",
        f"{start}/gpu-count": "2",
        f"{start}/labels": "pool=a10, zone=a",
        f"{start}/taints": "nvidia.com/gpu=present:NoSchedule",
    }
    values: dict[str, paths.Object] = {"a10": {"metadata": {"annotations": annotations}}, "fixed": {"metadata": {}}}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.MACHINE_DEPLOYMENT: values})

    assert (pool.name, pool.labels) == ("a10", {"pool": "a10", "zone": "a"})
    assert [str(each) for each in pool.taints] == ["nvidia.com/gpu=present:NoSchedule"]
    assert [each.amounts for each in pool.types or ()] == [{"cpu": 16000, "memory": 128 * 10**9, "nvidia.com/gpu": 2}]


def machine_set(machine: str, **annotations: str) -> paths.Object:
    spec: paths.Object = {
        "metadata": {"labels": {"team": "nlp"}},
        "taints": [{"key": "gpu", "effect": "NoSchedule"}],
        "providerSpec": {"value": {"instanceType": machine}},
    }
    given: paths.Object = {f"machine.openshift.io/{key}": text for key, text in annotations.items()}
    return {"metadata": {"annotations": given}, "spec": {"template": {"spec": spec}}}


def machine_autoscaler(most: Any = 2) -> dict[str, paths.Object]:
    spec: paths.Object = {"maxReplicas": most, "scaleTargetRef": {"kind": "MachineSet", "name": "gpu"}}
    return {"machines/gpu": {"spec": spec}}


@pytest.mark.parametrize(
    ("found", "gpus"),
    [
        ({"machines/gpu": machine_set("g5.12xlarge")}, [4]),
        ({"machines/gpu": machine_set("own", vCPU="8", memoryMb="65536", GPU="2")}, [2]),
        ({"machines/gpu": machine_set("m6i.large")}, []),
        ({"machines/gpu": machine_set("p9.large")}, None),
        ({}, None),
    ],
)
def test_a_machine_set_with_an_autoscaler_is_a_pool(found: dict[str, paths.Object], gpus: list[int] | None) -> None:
    objects = {autoscaled_pools.MACHINE_SET: found, autoscaled_pools.MACHINE_AUTOSCALER: machine_autoscaler()}
    [pool] = autoscaled_pools.read_pools(objects)

    assert (None if pool.types is None else [each.amounts["nvidia.com/gpu"] for each in pool.types]) == gpus
    assert pool.labels == ({"team": "nlp"} if found else {})


@pytest.mark.parametrize("most", [0, "2", None, [2]])
def test_a_machine_set_that_nothing_scales_is_left_out(most: Any) -> None:
    objects = {autoscaled_pools.MACHINE_AUTOSCALER: machine_autoscaler(most)}

    assert autoscaled_pools.read_pools(objects) == ()


@pytest.mark.parametrize(
    ("requirement", "others"),
    [
        (wants("karpenter.k8s.aws/instance-family", "In", "g6", "g6e"), False),
        (wants("karpenter.k8s.aws/instance-gpu-count", "Gt", "0"), False),
        (wants("karpenter.k8s.aws/instance-category", "In", "g", "m"), True),
        (wants("kubernetes.io/arch", "In", "amd64"), True),
    ],
)
def test_a_pool_may_add_nodes_without_accelerators(requirement: dict[str, Any], others: bool) -> None:
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": node_pool(requirement)}})

    assert pool.may_have_others is others


def test_nodes_have_the_labels_and_taints_of_the_template() -> None:
    [pool] = autoscaled_pools.read_pools(
        {autoscaled_pools.NODE_POOL: {"gpu": node_pool(wants("karpenter.sh/capacity-type", "In", "spot"))}}
    )

    assert pool.labels == {"team": "nlp", "karpenter.sh/capacity-type": "spot", "karpenter.sh/nodepool": "gpu"}
    assert [str(taint) for taint in pool.taints] == ["nvidia.com/gpu=present:NoSchedule"]


@pytest.mark.parametrize("damaged", [{}, {"spec": 1}, {"spec": {"template": "text"}}])
def test_node_pools_that_cannot_be_read_are_left_out(damaged: paths.Object) -> None:
    assert autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": damaged}}) == ()


def test_damaged_requirements_and_taints_say_nothing() -> None:
    spec: paths.Object = {"template": {"spec": {"requirements": [1, {}], "taints": 3}}}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": {"spec": spec}}})

    assert (pool.types, pool.taints) == (None, ())


def test_a_machine_has_what_pods_get_of_it() -> None:
    machine = autoscaled_pools.machine_types()["p5.48xlarge"]

    assert (machine.amounts["nvidia.com/gpu"], machine.amounts["vpc.amazonaws.com/efa"]) == (8, 32)


@pytest.mark.parametrize(
    ("disruption", "consolidates"),
    [
        ({}, True),
        ({"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"}, True),
        ({"consolidationPolicy": "WhenEmpty"}, False),
        ({"consolidateAfter": "Never"}, False),
        ({"budgets": [{"nodes": "0"}]}, False),
        ({"budgets": [{"nodes": "0", "schedule": "0 9 * * *", "duration": "8h"}]}, True),
    ],
)
def test_a_node_pool_consolidates_unless_it_says_otherwise(disruption: paths.Object, consolidates: bool) -> None:
    [pool] = autoscaled_pools.read_pools(
        {autoscaled_pools.NODE_POOL: {"gpu": {"spec": {"disruption": disruption, "template": {}}}}}
    )

    assert pool.consolidates is consolidates


def of_class(spec: dict[str, Any], *types: str, kind: str = "EC2NodeClass", group: str = "karpenter.k8s.aws") -> Any:
    value = node_pool(wants(TYPE, "In", *(types or ("p5.48xlarge",))), group=group)
    template: Any = value["spec"]
    template["template"]["spec"]["nodeClassRef"]["kind"] = kind
    classes: dict[str, paths.Object] = {"gpu": {"spec": spec}}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": value}, (group, kind): classes})
    return pool


def amount(name: str, spec: dict[str, Any], **more: Any) -> int:
    [machine] = of_class(spec, **more).types
    found: int = machine.amounts[name]
    return found


@pytest.mark.parametrize(
    ("spec", "gibibytes"),
    [
        ({"amiSelectorTerms": [{"alias": "al2023@latest"}]}, 17),
        ({"amiSelectorTerms": [{"alias": "al2023@latest"}],
          "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "200Gi"}}]}, 179),
        # The second disk of Bottlerocket holds images and files of pods.
        ({"amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
          "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "200Gi"}}]}, 17),
        ({"amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
          "blockDeviceMappings": [{"deviceName": "/dev/xvdb", "ebs": {"volumeSize": "200Gi"}}]}, 179),
        ({"amiSelectorTerms": [{"id": "ami-1"}],
          "blockDeviceMappings": [{"deviceName": "/dev/sda1", "ebs": {"volumeSize": "100Gi"}}]}, 89),
        ({"amiFamily": "AL2", "blockDeviceMappings": [{"rootVolume": True, "ebs": {"volumeSize": "100Gi"}}]}, 89),
        ({"amiFamily": "AL2", "kubelet": {"evictionHard": {"nodefs.available": "5%"}}}, 20),
    ],
    ids=["default", "root", "root of Bottlerocket", "files of Bottlerocket", "own image", "named root", "own limits"],
)  # fmt: skip
def test_the_disk_of_an_ec2_node_class_bounds_the_files_of_pods(spec: dict[str, Any], gibibytes: int) -> None:
    assert amount("ephemeral-storage", spec) == gibibytes * 2**30


def test_disks_that_usher_cannot_tell_bound_nothing() -> None:
    for spec in ({"instanceStorePolicy": "RAID0"}, {"amiSelectorTerms": [{"alias": "windows2022@latest"}]}):
        [machine] = of_class(spec).types
        assert "ephemeral-storage" not in machine.amounts


def test_a_node_class_bounds_the_pods_of_a_node() -> None:
    assert amount("pods", {"kubelet": {"maxPods": 8}}) == 8
    [machine] = of_class({"kubelet": {"podsPerCore": 1}}, "g6.xlarge").types
    assert machine.amounts["pods"] == 4
    azure = {"kind": "AKSNodeClass", "group": "karpenter.azure.com"}
    [machine] = of_class({"maxPods": 30}, "Standard_NC24ads_A100_v4", **azure).types
    assert (machine.amounts["pods"], machine.amounts["ephemeral-storage"]) == (30, 128 * 2**30)


def test_a_public_address_takes_efa_from_machines_with_several_cards() -> None:
    pool = of_class({"associatePublicIPAddress": True}, "p5.48xlarge", "g6.xlarge")

    assert [pool.title(each) for each in pool.types] == [
        "NodePool gpu (g6.xlarge)",
        "NodePool gpu (p5.48xlarge, without EFA because its NodeClass sets associatePublicIPAddress)",
    ]
    assert pool.types[1].amounts["vpc.amazonaws.com/efa"] == 0


def test_a_gce_node_class_has_a_disk_and_may_taint_nodes_with_gpus() -> None:
    google = {"kind": "GCENodeClass", "group": "karpenter.k8s.gcp"}
    disks = [{"boot": True, "sizeGiB": 60}]
    pool = of_class({"disks": disks, "autoGPUTaint": True}, "a3-megagpu-8g", **google)

    assert pool.types[0].amounts["ephemeral-storage"] == 60 * 2**30
    assert [each.key for each in pool.taints] == ["nvidia.com/gpu"]
    local = of_class({"disks": disks, "localSsdMode": "Ephemeral"}, "a3-megagpu-8g", **google)
    assert "ephemeral-storage" not in local.types[0].amounts


@pytest.mark.parametrize(
    ("budgets", "consolidates"),
    [
        ([{"nodes": "0"}], False),
        ([{"nodes": "0", "reasons": ["Underutilized"]}], False),
        ([{"nodes": "0", "reasons": ["Drifted"]}], True),
        ([{"nodes": "0", "schedule": "@daily", "duration": "8h"}], True),
    ],
)
def test_budgets_of_no_node_stop_the_consolidation(budgets: list[dict[str, Any]], *, consolidates: bool) -> None:
    value = node_pool()
    spec: Any = value["spec"]
    spec["disruption"] = {"budgets": budgets}
    [pool] = autoscaled_pools.read_pools({autoscaled_pools.NODE_POOL: {"gpu": value}})

    assert pool.consolidates is consolidates
