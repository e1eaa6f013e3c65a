"""usher and the scheduler of Kubernetes agree about pods that claim devices.

The same sixty cases each time: whole GPUs, partitions by counters, shares of a GPU, taints, a network that two nodes
share, selectors with and without faults, alternatives, constraints and extended resources on four nodes.
"""

import contextlib
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import builders
from e2e import agreement, real_controllers
from e2e.agreement import CASES, SEED, Seen
from e2e.cluster import Cluster, Object, condition, create_pods, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import accelerator_node, add_nodes
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher import paths
from usher.authorities.verdict import Answer

pytestmark = pytest.mark.thorough

EACH: Final = 60
"""How many cases one control plane sees."""
MOST_UNKNOWN: Final = 6
"""How many answers of several seeds are unknown today, in sixty; fewer are better."""

GPU_DRIVER: Final = "gpu.nvidia.com"
NET_DRIVER: Final = "net.example.com"
SERVED: Final = "example.com/gpu"
GROUPS: Final = "scheduling.k8s.io/v1alpha2"
VERSION: Final = "resource.k8s.io/v1"
POOLS: Final[paths.Json] = [
    {"name": "all", "nodeSelector": {"pool": "all"}, "resources": [SERVED], "scalesFromZero": False}
]
NODES: Final = [
    accelerator_node(
        f"devices-{index}",
        labels={"pool": "all", "rack": f"r{index // 2}"},
        resources={"cpu": "32", "memory": "64Gi", "pods": "20", **({SERVED: "2"} if index == 3 else {})},
    )
    for index in range(4)
]


def device(name: str, kind: str = "gpu", memory: str = "80Gi", **more: Any) -> Object:
    capacity = more.pop("capacity", {"memory": {"value": memory}})
    attributes = {
        "type": {"string": kind},
        "productName": {"string": "NVIDIA H100"},
        "driverVersion": {"version": "580.1.8"},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci{more.pop('root', 0)}"},
        **more.pop("attributes", {}),
    }
    return {"name": name, "attributes": attributes, "capacity": capacity, **more}


def slice_of(
    name: str, pool: str, devices: list[Object], *, count: int = 1, generation: int = 1, **spec: Any
) -> Object:
    where = {} if {"allNodes", "nodeSelector"} & spec.keys() else {"nodeName": pool}
    driver = spec.pop("driver", GPU_DRIVER)
    content = {"devices": devices} if devices else {}
    return {
        "apiVersion": VERSION,
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            **where,
            **content,
            **spec,
        },
    }


def counters(gpu: int, **amounts: int) -> list[Object]:
    named = {name: {"value": str(amount)} for name, amount in amounts.items()}
    return [{"counterSet": f"gpu-{gpu}", "counters": named}]


def partitions(gpu: int) -> list[Object]:
    """One GPU whole, as two halves of 3 slices each, and as four single slices of 7."""
    whole = device(f"gpu-{gpu}", consumesCounters=counters(gpu, slices=7, memory=8))
    halves = [
        device(
            f"gpu-{gpu}-half-{index}",
            "mig",
            "40Gi",
            attributes={"profile": {"string": "3g.40gb"}},
            consumesCounters=counters(gpu, slices=3, memory=4),
        )
        for index in range(2)
    ]
    singles = [
        device(
            f"gpu-{gpu}-one-{index}",
            "mig",
            "10Gi",
            attributes={"profile": {"string": "1g.10gb"}},
            consumesCounters=counters(gpu, slices=1, memory=1),
        )
        for index in range(4)
    ]
    return [whole, *halves, *singles]


POLICY: Final = {"default": "8Gi", "validRange": {"min": "4Gi", "max": "40Gi", "step": "4Gi"}}
SLICES: Final = [
    slice_of("s0", "devices-0", [device(f"gpu-{index}", root=index // 2) for index in range(4)]),
    slice_of("s1", "devices-1", [*partitions(0), *partitions(1)], count=2),
    slice_of(
        "s1-counters",
        "devices-1",
        [],
        count=2,
        sharedCounters=[
            {"name": f"gpu-{gpu}", "counters": {"slices": {"value": "7"}, "memory": {"value": "8"}}} for gpu in range(2)
        ],
    ),
    slice_of(
        "s2",
        "devices-2",
        [
            device(
                "share-0",
                allowMultipleAllocations=True,
                capacity={"memory": {"value": "80Gi", "requestPolicy": POLICY}},
            ),
            device("ill-0", "old", taints=[{"key": "ill", "value": "yes", "effect": "NoSchedule"}]),
        ],
    ),
    slice_of("s3", "devices-3", [device("gpu-0")], generation=2),
    slice_of("s3-old", "devices-3", [device(f"old-{index}") for index in range(4)]),
    slice_of(
        "net",
        "fabric",
        [device(f"nic-{index}", "nic", "1Gi") for index in range(3)],
        driver=NET_DRIVER,
        nodeSelector={
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r0"]}]}]
        },
    ),
]


def device_class(name: str, expression: str, **spec: Any) -> Object:
    return {
        "apiVersion": VERSION,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


OF: Final = f'device.attributes["{GPU_DRIVER}"]'
CLASSES: Final = [
    device_class(
        "gpu.nvidia.com", f'device.driver == "{GPU_DRIVER}" && {OF}.type == "gpu"', extendedResourceName=SERVED
    ),
    device_class("mig.nvidia.com", f'device.driver == "{GPU_DRIVER}" && {OF}.type == "mig"'),
    device_class("any.nvidia.com", f'device.driver == "{GPU_DRIVER}"'),
    device_class("nic.example.com", f'device.driver == "{NET_DRIVER}"'),
]
SELECTORS: Final = [
    f'{OF}.productName.lowerAscii().contains("h100")',
    f'device.capacity["{GPU_DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
    f'device.capacity["{GPU_DRIVER}"].memory.compareTo(quantity("81Gi")) >= 0',
    f'has({OF}.profile) && {OF}.profile == "3g.40gb"',
    f'{OF}.?profile.orValue("") in ["1g.10gb", "3g.40gb"]',
    f'{OF}.profile == "1g.10gb"',
    f'{OF}.driverVersion.isGreaterThan(semver("570.0.0")) && !device.allowMultipleAllocations',
    f'cel.bind(d, {OF}, d.type == "gpu" || d.type == "mig")',
    f'device.attributes["other.example.com"].name == "x" || {OF}.type == "gpu"',
    f'{OF}.type == "mig" ? {OF}.profile == "1g.10gb" : true',
]


class Case(NamedTuple):
    job: Object
    beside: list[Object]
    minimum: int
    """How many pods must be placed for a start."""


def asked(choose: random.Random, *, alternative: bool = False) -> Object:
    name = choose.choice(["gpu.nvidia.com"] * 4 + ["mig.nvidia.com"] * 3 + ["any.nvidia.com", "nic.example.com"])
    found: Object = {"deviceClassName": name}
    if choose.random() < 0.15 and not alternative:
        found["allocationMode"] = "All"
    else:
        found["count"] = choose.choice([1, 1, 1, 1, 2, 2, 3, 4, 5])
    if name != "nic.example.com":
        chosen = choose.sample(SELECTORS, choose.choice([0, 0, 1, 1, 2]))
        if chosen:
            found["selectors"] = [{"cel": {"expression": each}} for each in chosen]
        if choose.random() < 0.3:
            memory = choose.choice(["1Gi", "4Gi", "10Gi", "30Gi", "41Gi", "80Gi"])
            found["capacity"] = {"requests": {choose.choice(["memory"] * 5 + ["cores"]): memory}}
    if choose.random() < 0.2:
        found["tolerations"] = [{"key": "ill", "operator": "Exists"}]
    return found


def template_of(choose: random.Random, name: str) -> Object:
    requests: list[Object] = []
    for index in range(choose.choice([1, 1, 1, 2])):
        if choose.random() < 0.2:
            listed = [{"name": f"a{each}", **asked(choose, alternative=True)} for each in range(2)]
            requests.append({"name": f"r{index}", "firstAvailable": listed})
        else:
            requests.append({"name": f"r{index}", "exactly": asked(choose)})
    devices: Object = {"requests": requests}
    if choose.random() < 0.25:
        form = choose.choice(["matchAttribute", "matchAttribute", "distinctAttribute"])
        attribute = choose.choice(["resource.kubernetes.io/pcieRoot", f"{GPU_DRIVER}/productName"])
        devices["constraints"] = [{form: attribute, "requests": [] if len(requests) > 1 else ["r0"]}]
    return {
        "apiVersion": VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"spec": {"devices": devices}},
    }


def generated(number: int) -> Case:
    """A Job, always the same for a number, with its claim template and the PodGroup that it may name."""
    choose = random.Random(SEED + number)
    pods = choose.choice([1, 1, 2, 3, 4, 6, 9])
    spec: dict[str, Any] = {"nodeSelector": {"pool": "all"}}
    beside, minimum = list[Object](), 1
    limits = {"cpu": choose.choice([1, 1, 1, 17])}
    if choose.random() < 0.2:
        name = choose.choice([SERVED, SERVED, "deviceclass.resource.kubernetes.io/mig.nvidia.com"])
        limits[name] = choose.choice([1, 2, 4, 5])
    else:
        beside.append(template_of(choose, f"claim-{number}"))
        spec["resourceClaims"] = [{"name": "devices", "resourceClaimTemplateName": f"claim-{number}"}]
    if choose.random() < 0.5:
        minimum = choose.randint(1, pods)
        metadata = {"name": f"group-{number}", "namespace": NAMESPACE}
        policy: Object = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
        beside.append({"apiVersion": GROUPS, "kind": "PodGroup", "metadata": metadata, "spec": policy})
        spec["schedulingGroup"] = {"podGroupName": f"group-{number}"}
    if choose.random() < 0.3:
        spec["nodeSelector"] = {"pool": "all", "rack": choose.choice(["r0", "r1"])}
    template = builders.template(builders.container(limits=limits), labels={"app": "ours"}, **spec)
    job = builders.job(template, name=f"case-{number}", namespace=NAMESPACE, parallelism=pods, completions=pods)
    return Case(job, beside, minimum)


@contextlib.contextmanager
def scheduling(directory: Path) -> Iterator[Cluster]:
    directory.mkdir()
    with control_plane(directory, pod_groups=True) as running:
        running.ensure_namespace(NAMESPACE)
        running.wait_for_service_account(NAMESPACE)
        add_nodes(running, *NODES)
        for each in [*CLASSES, *SLICES]:
            running.create(each)
        yield running


_NOT_YET: Final = ("does not exist", "not created", "waiting for")


def placed(cluster: Cluster, case: Case) -> int:
    """How many pods the scheduler places where it has all nodes and devices for them."""
    for each in case.beside:
        cluster.create(each)
    create_pods(cluster, case.job, namespace=NAMESPACE)

    def tried() -> list[Object] | None:
        found = list(cluster.objects("Pod", namespace=NAMESPACE))
        waiting = [condition(each, "PodScheduled") for each in found if not each["spec"].get("nodeName")]
        told = [
            each
            for each in waiting
            if each.get("status") and not any(text in each.get("message", "") for text in _NOT_YET)
        ]
        return found if len(told) == len(waiting) else None

    try:
        found = wait_until(tried, description="the scheduler has tried the pods", timeout=6)
    except TimeoutError:
        # Of groups that lack pods the scheduler says nothing.
        found = list(cluster.objects("Pod", namespace=NAMESPACE))
    count = sum(bool(each["spec"].get("nodeName")) for each in found)
    cluster.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods", query={"gracePeriodSeconds": "0"})
    for each in case.beside:
        metadata = each["metadata"]
        cluster.delete(each["kind"], metadata["name"], namespace=NAMESPACE, api_version=each["apiVersion"])
    wait_until(lambda: not list(cluster.objects("Pod", namespace=NAMESPACE)), description="the pods are gone")
    wait_until(
        lambda: not list(cluster.objects("ResourceClaim", namespace=NAMESPACE, api_version=VERSION)),
        description="the claims are gone",
        timeout=60,
    )
    return count


def compared(cluster: Cluster, numbers: Iterable[int]) -> list[Seen]:
    """The answers of usher about some cases, each with whether as many pods as must start together were placed."""
    found = list[Seen]()
    for number in numbers:
        case = generated(number)
        (outlook,), denying = agreeing.looked_at([case.job], [*NODES, *CLASSES, *SLICES, *case.beside], pools=POOLS)
        count = placed(cluster, case)
        did = {"starts": count >= case.minimum, "idle": True, "said": f"{count} of {case.minimum} pods placed"}
        found.append(agreement.seen(number, case._asdict(), outlook, denying, "", **did))
    return found


def test_the_scheduler_places_no_pods_that_usher_says_never_find_devices(tmp_path: Path) -> None:
    found = dict[int, Seen]()
    for start in range(0, CASES, EACH):
        with scheduling(tmp_path / str(start)) as cluster:
            found |= {each.number: each for each in compared(cluster, range(start, min(start + EACH, CASES)))}
        if again := [each.number for each in found.values() if each.number >= start and waits(each)]:
            # A scheduler may keep counters of claims that were deleted while pods of a group waited.
            with scheduling(tmp_path / f"{start}-again") as cluster:
                found |= {each.number: each for each in compared(cluster, again)}

    seen = list(found.values())
    agreement.record("devices", real_controllers.version_of("", "k8s.io/kubernetes"), seen)
    assert [str(each) for each in seen if each.false_never or each.false_not_now] == []
    assert [str(each) for each in seen if waits(each)] == []
    assert sum(each.answer is Answer.UNKNOWN for each in seen) <= max(MOST_UNKNOWN, MOST_UNKNOWN * CASES // 60)


def waits(case: Seen) -> bool:
    """Whether pods wait although usher says that they could start."""
    return case.false_fits or case.false_could
