"""Both webhooks of a cluster refuse attacks of tenants by their codes, and admit the nearest good neighbours.

Each way is tried under the presets, which decide by the severity of a finding; docs/domain has the sources of the ways.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import pytest

import builders
from e2e import accounts, crds
from e2e.cluster import ApiError, Cluster, Object
from e2e.registration import registered, serving
from generated_examples import in_turn

Preset = Literal["baseline", "recommended", "strict"]

PRESETS: Final[tuple[Preset, ...]] = ("baseline", "recommended", "strict")
"""The later ones deny what the earlier ones deny, and more."""

CONFIG: Final = """\
apiVersion: gpu-usher.io/v1alpha1
kind: Config
enforcement:
  preset: {preset}
parameters:
  - {{check: host-path-not-listed, values: {{paths: [/mnt/data]}}}}
"""

CLASS: Final[Object] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "compute"},
    "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}]},
}
"""A class of GPUs whose name says nothing of them."""

RESOURCES: Final[Object] = {"cpu": "1", "memory": "1Gi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """An object that a preset and all stricter ones deny by a code, and the good one that is most like it."""

    code: str
    denied_by: Preset
    bad: Object
    good: Object


def pod(*, env: Object | None = None, gpus: int | None = None, mounts: Any = None, **spec: Any) -> Object:
    container = builders.container(
        env=env, gpus=gpus, requests=RESOURCES, limits={"memory": "1Gi"}, **({"volumeMounts": mounts} if mounts else {})
    )
    return builders.pod(container, name="tried", **spec)


def with_path(path: str, *, read_only: bool = False) -> Object:
    mount = {"name": "files", "mountPath": "/files", "readOnly": read_only}
    return pod(mounts=[mount], volumes=[{"name": "files", "hostPath": {"path": path}}])


def of_path(path: str, code: str, *, denied_by: Preset = "recommended") -> Way:
    return Way(code=code, denied_by=denied_by, bad=with_path(path), good=with_path("/mnt/data"))


def of_variable(name: str, value: str) -> Way:
    return Way(code="USH201", denied_by="baseline", bad=pod(env={name: value}), good=pod(env={"MODEL": value}))


def of_own_gpu(name: str) -> Way:
    """A variable that opens more than the GPU of the container."""
    bad = pod(env={name: "enabled"}, gpus=1)
    return Way(code="USH201", denied_by="baseline", bad=bad, good=pod(env={name: "disabled"}, gpus=1))


def anti_affinity(**selected: Any) -> Object:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, **selected}
    return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def windows(*, host_process: bool) -> Object:
    return pod(hostNetwork=host_process, securityContext={"windowsOptions": {"hostProcess": host_process}})


def claim(**asked: Any) -> Object:
    spec: Object = {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "compute", **asked}}]}}
    return builders.custom("resource.k8s.io/v1", "ResourceClaim", spec, name="tried")


def workload(**priority: Any) -> Object:
    template = builders.template(builders.container(requests=RESOURCES, limits={"memory": "1Gi"}))
    spec: Object = {"queueName": "research", "podSets": [{"name": "main", "count": 1, "template": template}]}
    return builders.custom("kueue.x-k8s.io/v1beta2", "Workload", {**spec, **priority}, name="tried")


PATHS: Final = {
    "/": "USH216",
    "/dev": "USH216",
    "/dev/nvidia0": "USH204",
    "/etc/cdi": "USH215",
    "/etc/containerd": "USH215",
    "/etc/nri/conf.d": "USH215",
    "/etc/nvidia-container-runtime": "USH215",
    "/etc/systemd/system": "USH215",
    "/opt/cni/bin": "USH215",
    "/opt/nri/plugins": "USH215",
    "/proc/sys/kernel": "USH215",
    "/root": "USH216",
    "/root/.ssh": "USH215",
    "/run/systemd": "USH215",
    "/usr/local/nvidia/toolkit": "USH215",
    "/var//opt/./cni/bin/": "USH215",
    "/var/lib/containerd": "USH215",
    "/var/lib/kubelet/device-plugins": "USH215",
    "/var/run/docker.sock": "USH215",
    "/var/spool/cron": "USH215",
}

VARIABLES: Final = {
    "AMD_VISIBLE_DEVICES": "all",
    "ASCEND_VISIBLE_DEVICES": "0",
    "CAMBRICON_VISIBLE_DEVICES": "0",
    "DOCKER_RESOURCE_GPU": "0",
    "ENFLAME_VISIBLE_DEVICES": "all",
    "HABANA_VISIBLE_DEVICES": "all",
    "MTHREADS_VISIBLE_DEVICES": "all",
    "NVIDIA_GDRCOPY": "enabled",
    "NVIDIA_GDS": "enabled",
    "NVIDIA_IMEX_CHANNELS": "0",
    "NVIDIA_VISIBLE_DEVICES": "all",
}

WAYS: Final = {
    **{f"path {path}": of_path(path, code) for path, code in PATHS.items()},
    "path that only strict does not know": of_path("/data", "USH223", denied_by="strict"),
    **{f"variable {name}": of_variable(name, value) for name, value in VARIABLES.items()},
    **{f"variable {name} beside a GPU": of_own_gpu(name) for name in ("NVIDIA_MOFED", "NVIDIA_NVSWITCH")},
    "class of devices with another name": Way(
        code="USH1415", denied_by="strict", bad=claim(allocationMode="All"), good=claim(count=1)
    ),
    "anti-affinity across namespaces": Way(
        code="USH335", denied_by="recommended", bad=anti_affinity(namespaceSelector={}), good=anti_affinity()
    ),
    "Workload with a system class": Way(
        code="USH443",
        denied_by="recommended",
        bad=workload(
            priority=2_000_001_000,
            priorityClassRef={"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "system-node-critical"},
        ),
        good=workload(),
    ),
    "process of a Windows node": Way(
        code="USH205", denied_by="strict", bad=windows(host_process=True), good=windows(host_process=False)
    ),
}


@pytest.fixture(scope="module")
def tenant(cluster: Cluster) -> Iterator[tuple[Cluster, str]]:
    """The cluster for a tenant, and the namespace; Kueue's Workload is defined."""
    crds.install(cluster, ["kueue.x-k8s.io/workloads"])
    cluster.create(CLASS)
    namespace = cluster.create_namespace(prefix="tenant-")
    yield accounts.tenant(cluster, namespace), namespace
    cluster.delete("DeviceClass", "compute", api_version="resource.k8s.io/v1")
    cluster.delete_namespace(namespace, wait=False)


@pytest.fixture(scope="module", params=PRESETS)
def preset(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    tenant: tuple[Cluster, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Preset]:
    """A preset by which a server judges that knows the cluster. The API server lets in what it does not answer."""
    assert tenant
    directory = tmp_path_factory.mktemp(request.param)
    config: Path = directory / "usher.yaml"
    config.write_text(CONFIG.format(preset=request.param))
    live = ("--live", f"--kubeconfig={cluster.kubeconfig}")
    with serving(directory, config=config, arguments=live) as server, registered(cluster, server):
        yield request.param


def placed(value: Object, namespace: str) -> Object:
    return builders.replaced(value, "/metadata/namespace", namespace)


@pytest.mark.parametrize(
    "name", in_turn(WAYS, every=5, always=lambda name: not name.startswith(("path /", "variable ")))
)
def test_a_way_is_refused_and_its_good_neighbour_let_in(preset: Preset, tenant: tuple[Cluster, str], name: str) -> None:
    (cluster, namespace), way = tenant, WAYS[name]
    try:
        answer = cluster.answer_to_creation(placed(way.bad, namespace), dry_run=True)
        denial, warnings = "", answer.warnings
    except ApiError as error:
        denial, warnings = error.message, error.warnings
    made = cluster.create(placed(way.good, namespace), dry_run=True, strict=True)

    if PRESETS.index(preset) >= PRESETS.index(way.denied_by):
        assert f"{way.code} " in denial
        assert "gpu-usher.io" in denial
    else:
        assert denial == ""
        assert any(way.code in each for each in warnings) or way.denied_by == "strict"
    if "nvidia.com/gpu" in str(way.good):
        assert made["metadata"]["annotations"]["gpu-usher.io/mutations"]
