"""With failurePolicy Fail, only Pods that take accelerators are refused: the API server's own code says so."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from integration import command
from match_conditions import ACCELERATORS, CALLED, OTHERS, answer, answers, configuration, creation, needs_go, update
from usher import paths
from usher.config import models
from usher.install.manifests import conditions

pytestmark = [needs_go, pytest.mark.process]

Object = dict[str, Any]


def pod(*containers: Object, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    found: Object = builders.pod(*containers, **spec)
    if annotations:
        found["metadata"]["annotations"] = annotations
    return found


def host_path(path: str) -> Object:
    return pod(volumes=[{"name": "devices", "hostPath": {"path": path}}])


def with_debug_container(**fields: Any) -> Object:
    return pod(ephemeralContainers=[builders.container("debug", **fields)])


GPU_POD = pod(builders.container(gpus=1))
CPU_POD = pod(builders.container(requests={"cpu": "1", "memory": "1Gi"}, limits={"hugepages-2Mi": "2Mi"}))

TAKING: dict[str, Object] = {
    "an extended resource in limits": GPU_POD,
    "an extended resource in requests": pod(builders.container(requests={"amd.com/gpu": 1})),
    "an init container": pod(builders.container(), initContainers=[builders.container("first", gpus=1)]),
    "a sidecar": pod(builders.container(), initContainers=[builders.sidecar(gpus="1")]),
    "a MIG slice": pod(builders.container(limits={"nvidia.com/mig-1g.10gb": 1})),
    "memory of a share": pod(builders.container(limits={"aliyun.com/gpu-mem": 3})),
    "a TPU": pod(builders.container(limits={"google.com/tpu": 4})),
    "a Gaudi": pod(builders.container(limits={"habana.ai/gaudi": 8})),
    "an NPU of Huawei": pod(builders.container(limits={"huawei.com/Ascend910B": 8})),
    "a resource of a device class": pod(
        builders.container(limits={"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1})
    ),
    "a resource that looks like an accelerator": pod(builders.container(limits={"example.com/h100-gpu": 1})),
    "overhead": pod(overhead={"nvidia.com/gpu": "1"}),
    "a device claim": pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}]),
    "a fraction": pod(annotations={"gpu-fraction": "0.5"}),
    "memory by annotation": pod(annotations={"gpu-memory": "2000"}),
    "devices of GKE": pod(annotations={"devices.gke.io/container.main": "- path: /dev/nvidia0"}),
    "devices of CDI": pod(annotations={"cdi.k8s.io/devices": "nvidia.com/gpu=all"}),
    "devices of NVIDIA's plugin": pod(annotations={"nvidia.cdi.k8s.io/container.main": "nvidia.com/gpu=all"}),
    "devices of the injector": pod(annotations={"devices.nri.io/container.main": "- path: /dev/nvidia0"}),
    "a variable from elsewhere": pod(
        builders.container(env={"NVIDIA_VISIBLE_DEVICES": {"fieldRef": {"fieldPath": "metadata.annotations['x']"}}})
    ),
    "a runtime class": pod(runtimeClassName="nvidia"),
    "a mount that names a device": pod(
        builders.container(volumeMounts=[{"name": "x", "mountPath": "/var/run/nvidia-container-devices/all"}])
    ),
    "a mount with more slashes": pod(
        builders.container(volumeMounts=[{"name": "x", "mountPath": "var//run/nvidia-container-devices/all"}])
    ),
    "a mount whose path goes up": pod(
        builders.container(volumeMounts=[{"name": "x", "mountPath": "/var/x/../run/nvidia-container-devices/all"}])
    ),
    "a host path": host_path("/dev/nvidia0"),
    "a host path without a slash in front": host_path("dev/nvidia0"),
    "a host path through the root of a process": host_path("/proc/1/root/dev/nvidia0"),
    "a host path with more slashes": host_path("//dev/.//dri/"),
    "a host path below a directory": host_path("/dev/vfio/12"),
    "a host path by another name": host_path("/var/run/nvidia/driver"),
    **{f"{name}": pod(builders.container(env={name: "all"})) for name in conditions.VARIABLES},
}

ORDINARY: dict[str, Object] = {
    "no resources": pod(),
    "cpu, memory and huge pages": CPU_POD,
    "no GPUs": pod(builders.container(gpus=0)),
    "a network card": pod(builders.container(limits={"rdma/hca_shared_devices_a": 1, "vpc.amazonaws.com/efa": 1})),
    "a virtual machine": pod(builders.container(limits={"devices.kubevirt.io/kvm": 1})),
    "an empty list of devices": pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "void"})),
    "a variable that hides devices": pod(builders.container(env={"CUDA_VISIBLE_DEVICES": "0"})),
    "other annotations": pod(annotations={"prometheus.io/scrape": "true", "gpu-usher.io/mutations": "USM001"}),
    "another runtime class": pod(runtimeClassName="gvisor"),
    "a host path without devices": host_path("/dev/shm"),
    "a host path with a longer name": host_path("/dev/drive"),
    "privileges": pod(builders.container(securityContext={"privileged": True})),
}


@pytest.fixture(scope="module")
def judged() -> dict[str, list[str]]:
    """Which webhooks judge the creation of each Pod."""
    found = answers(creation(value) for value in (TAKING | ORDINARY).values())
    assert not [each.unreadable for each in found if each.unreadable]
    return {route: each.judged for route, each in zip(TAKING | ORDINARY, found, strict=True)}


@pytest.mark.parametrize("route", TAKING)
def test_a_pod_that_takes_accelerators_fails_closed(judged: dict[str, list[str]], route: str) -> None:
    assert judged[route] == [ACCELERATORS]


@pytest.mark.parametrize("route", ORDINARY)
def test_an_ordinary_pod_is_let_in_and_judged_while_usher_answers(judged: dict[str, list[str]], route: str) -> None:
    assert judged[route] == [OTHERS]


@pytest.mark.parametrize(
    "who", [{"groups": ["system:masters", "system:authenticated"]}, {"namespace": "calico-system"}],
    ids=["an administrator", "a namespace that heals the cluster"],
)  # fmt: skip
def test_requests_that_may_have_to_rescue_the_cluster_are_judged_but_never_refused_for_us(who: Object) -> None:
    assert answer(creation(GPU_POD, **who)).judged == [OTHERS]


@pytest.mark.parametrize(
    "namespace",
    ["cert-manager", "kube-flannel", "istio-system", "nvidia-gpu-operator", "openshift-ingress", "gke-managed-cim"],
)
def test_namespaces_that_heal_a_cluster_are_known_by_name(namespace: str) -> None:
    assert answer(creation(GPU_POD, namespace=namespace)).judged == [OTHERS]


@pytest.mark.parametrize("namespace", ["my-cert-manager", "cert-manager-2", "kubernetes", "team-kube-system", ""])
def test_similar_names_heal_nothing(namespace: str) -> None:
    assert answer(creation(GPU_POD, namespace=namespace)).judged == [ACCELERATORS]


def test_a_label_of_the_pod_changes_nothing() -> None:
    labelled = builders.replaced(GPU_POD, "/metadata/labels", {"kubernetes.io/metadata.name": "calico-system"})

    assert answer(creation(labelled)).judged == [ACCELERATORS]


RUNNING = builders.replaced(GPU_POD, "/spec/nodeName", "gpu-0")
FRACTION = pod(annotations={"gpu-fraction": "0.5"})

CHANGES: dict[str, tuple[Object, Object]] = {
    "a finalizer": (RUNNING, builders.replaced(RUNNING, "/metadata/finalizers", ["example.com/x"])),
    "a label": (RUNNING, builders.replaced(RUNNING, "/metadata/labels", {"a": "b"})),
    "another annotation": (RUNNING, builders.replaced(RUNNING, "/metadata/annotations", {"cni/ip": "10.0.0.1"})),
    "the end": (
        builders.replaced(RUNNING, "/metadata/deletionTimestamp", "2026-01-01T00:00:00Z"),
        builders.replaced(
            builders.replaced(GPU_POD, "/metadata/deletionTimestamp", "2026-01-01T00:00:00Z"),
            "/spec/activeDeadlineSeconds",
            1,
        ),
    ),
    "an annotation less": (FRACTION, pod()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_happens_to_pods_all_the_time_goes_on(change: str) -> None:
    assert answer(update(*CHANGES[change])).judged == [OTHERS]


@pytest.mark.parametrize(
    ("before", "after"),
    [(GPU_POD, RUNNING), (pod(), FRACTION), (FRACTION, pod(annotations={"gpu-fraction": "0.9"}))],
    ids=["the spec", "a new fraction", "a larger fraction"],
)
def test_a_change_of_devices_fails_closed(before: Object, after: Object) -> None:
    assert answer(update(before, after)).judged == [ACCELERATORS]


def test_debug_containers_fail_closed_only_if_they_name_devices() -> None:
    before = builders.pod(builders.container(gpus=1))
    plain, taking = ({**before, "spec": {**before["spec"], "ephemeralContainers": [each]}} for each in (  # type: ignore[dict-item]  # made by builders
        builders.container("debug"), builders.container("debug", env={"NVIDIA_VISIBLE_DEVICES": "all"})
    ))  # fmt: skip

    assert answer(update(before, plain, subresource="ephemeralcontainers")).judged == [OTHERS]
    assert answer(update(before, taking, subresource="ephemeralcontainers")).judged == [ACCELERATORS]


def test_a_resize_never_fails_closed() -> None:
    """It changes only cpu and memory."""
    assert OTHERS in answer(update(GPU_POD, RUNNING, subresource="resize")).judged


def site(**sections: Any) -> Object:
    return configuration(models.Config(**sections))


def test_names_of_the_site_count_and_ignored_ones_do_not() -> None:
    mine = pod(builders.container(limits={"example.com/board": 1}))
    quiet = pod(builders.container(limits={"example.com/gpu-licence": 1}))
    of = site(accelerators={"names": ["example.com/board"], "ignored": ["example.com/gpu-licence"]})

    assert [each.judged for each in answers([creation(mine), creation(quiet)])] == [[OTHERS], [ACCELERATORS]]
    assert [each.judged for each in answers([creation(mine), creation(quiet)], of=of)] == [[ACCELERATORS], [OTHERS]]


def test_prefixes_and_patterns_of_the_site_are_text_and_no_expressions() -> None:
    of = site(accelerators={"prefixes": ["example.com/x."]}, identities={"administrators": {"users": ["ops.*@a.b"]}})
    asked = [
        creation(pod(builders.container(limits={"example.com/x.1": 1}))),
        creation(pod(builders.container(limits={"example.com/xy1": 1}))),
        creation(GPU_POD, user="ops.ada@a.b"),
        creation(GPU_POD, user="opsXada@aXb"),
        creation(GPU_POD, groups=["system:masters"]),
    ]

    assert [each.judged for each in answers(asked, of=of)] == [
        [ACCELERATORS], [OTHERS], [OTHERS], [ACCELERATORS], [ACCELERATORS]
    ]  # fmt: skip


def test_a_pattern_of_exempt_namespaces_is_asked_about_by_no_webhook() -> None:
    of = site(exempt_namespaces=["kube-system", "lab-*"])

    assert answer(creation(GPU_POD, namespace="lab-7"), of=of).judged == []
    assert answer(creation(GPU_POD, namespace="laboratory"), of=of).judged == [ACCELERATORS]


def test_the_largest_pods_in_use_stay_far_within_the_cost_that_the_api_server_allows() -> None:
    variables: dict[str, paths.Json] = {f"VARIABLE_{number}": "x" * 100 for number in range(100)}
    containers = [
        builders.container(f"c{number}", env=variables, requests={"cpu": 1, "example.com/card": 1})
        for number in range(60)
    ]

    assert answer(creation(pod(*containers))).judged == [OTHERS]


def test_a_pod_that_is_made_to_exceed_that_cost_is_refused_and_never_skipped() -> None:
    """Where a condition is an error, Ignore skips a webhook and Fail refuses the request."""
    limits: dict[str, Any] = {f"example.com/{'x' * 50}-{number}": 1 for number in range(3000)}
    found = answer(creation(pod(builders.container(limits=limits))))

    assert found.fails_closed
    assert "cost" in found.webhooks[ACCELERATORS]
    assert found.webhooks[ACCELERATORS] != CALLED


def printed(*arguments: str) -> Object:
    done = command.usher("manifests", "webhooks", *arguments)
    assert done.code == 0, done.err
    _, validating = yaml.safe_load_all(done.out)
    return dict(validating)


def test_the_command_prints_the_conditions_of_the_site(tmp_path: Path) -> None:
    config = tmp_path / "usher.yaml"
    config.write_text(
        "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
        "exemptNamespaces: [kube-system, 'lab-*']\nidentities: {administrators: {groups: [platform]}}\n"
    )
    of = printed("--validate-failure-policy", "Fail", "--config", str(config))

    assert answer(creation(GPU_POD), of=of).judged == [ACCELERATORS]
    assert answer(creation(GPU_POD, groups=["platform"]), of=of).judged == [OTHERS]
    assert answer(creation(GPU_POD, namespace="lab-1"), of=of).judged == []


def test_without_the_option_one_webhook_judges_all_workloads() -> None:
    assert [each["name"] for each in printed()["webhooks"]].count(ACCELERATORS) == 0
