"""Interconnect profiles: the settings that pods on a fabric get, and the profiles that come with gpu-usher.

A node pool names its profile; usher never guesses it from the model of a GPU. A profile holds the settings for every
cluster with that fabric. Names of devices and networks differ between machines; a site adds them (`base`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple

import orjson
from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from usher.config.selection import LabelKey, Name, ResourceName, Role, Section, VariableName, repeated

_LARGEST: Final = 16 * 1024
"""Bytes of one container or volume as JSON."""
_PLAIN_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_CLAIMING: Final = ("claims",)


def _is_named(value: dict[str, Any]) -> dict[str, Any]:
    name = value.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("it has no name; give it one, as in a pod")
    if len(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)) > _LARGEST:
        raise ValueError(f"{name} has more than {_LARGEST} bytes")
    return value


def _is_container(value: dict[str, Any]) -> dict[str, Any]:
    name, image, resources = value["name"], value.get("image"), value.get("resources", {})
    if not isinstance(image, str) or not image:
        raise ValueError(f"container {name} has no image; name one that the site offers")
    if not isinstance(resources, dict):
        raise ValueError(f"resources of container {name} is not a mapping")
    devices = {
        key
        for amounts in ("limits", "requests")
        for key in (resources.get(amounts) or {})
        if key not in _PLAIN_RESOURCES
    }
    if devices or any(resources.get(key) for key in _CLAIMING):
        raise ValueError(
            f"container {name} asks for {', '.join(sorted(devices)) or 'device claims'}; a recipe may ask only for "
            f"{', '.join(sorted(_PLAIN_RESOURCES))}, because devices belong to the pod's own containers"
        )
    return value


def _is_volume(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) != 2:
        raise ValueError(f"volume {value['name']} needs exactly one source beside its name, for example hostPath")
    return value


def _is_mount(value: dict[str, Any]) -> dict[str, Any]:
    if not str(value.get("mountPath", "")).startswith("/"):
        raise ValueError(f"the mount of volume {value['name']} has no absolute mountPath")
    return value


Named = Annotated[dict[str, Any], AfterValidator(_is_named)]
Container = Annotated[Named, AfterValidator(_is_container)]
Volume = Annotated[Named, AfterValidator(_is_volume)]
Mount = Annotated[Named, AfterValidator(_is_mount)]


class Recipe(Section):
    """Parts of a pod that a plugin of the fabric needs, written as in a pod; usher adds all of them or nothing."""

    init_containers: list[Container] = Field(
        default=[],
        max_length=8,
        description="Init containers. One with `restartPolicy: Always` runs beside the training as a sidecar, which "
        "needs Kubernetes 1.29; older versions would wait for it for ever.",
    )
    containers: list[Container] = Field(
        default=[],
        max_length=8,
        description="Containers beside those of the pod. A Job ends only when these end too, so prefer a sidecar among "
        "initContainers.",
    )
    volumes: list[Volume] = Field(default=[], max_length=32, description="Volumes of the pod.")
    volume_mounts: list[Mount] = Field(
        default=[], max_length=32, description="Mounts of these volumes in the containers that train."
    )

    annotations: dict[LabelKey, str] = Field(
        default={},
        max_length=16,
        description="Annotations of the pods that name a container of the recipe, as GKE reads them: "
        "devices.gke.io/container.tcpxo-daemon.",
    )

    @model_validator(mode="after")
    def _check_names(self) -> "Recipe":
        for what, entries in (("container", [*self.init_containers, *self.containers]), ("volume", self.volumes)):
            names = [each["name"] for each in entries]
            twice = repeated(names)
            if twice:
                raise ValueError(f"several entries are {what}s named {', '.join(twice)}; give each its own name")
        volumes = {each["name"] for each in self.volumes}
        inside = [mount for each in (*self.init_containers, *self.containers) for mount in each.get("volumeMounts", [])]
        stray = sorted({str(mount["name"]) for mount in (*self.volume_mounts, *inside)} - volumes)
        if stray:
            raise ValueError(f"{', '.join(stray)} is mounted, but volumes has no volume of that name; add it")
        containers = {each["name"] for each in (*self.init_containers, *self.containers)}
        foreign = [key for key in self.annotations if key.partition("/")[2].partition(".")[2] not in containers]
        if foreign:
            raise ValueError(f"{', '.join(foreign)} does not end with the name of a container of the recipe")
        if not (self.init_containers or self.containers or self.volumes):
            raise ValueError("the recipe is empty; set initContainers, containers or volumes, or leave it out")
        return self


_DECIDES_DEVICES: Final = "it decides which devices a container sees, and only the device plugin may decide that"
_DIFFERS_BY_POD: Final = "it differs from pod to pod, and the operator of the job sets it"
_OF_THE_IMAGE: Final = "it would replace the value of the image; set it in the image or the manifest"
RESERVED_VARIABLES: Final = {
    **dict.fromkeys(
        (
            "CUDA_VISIBLE_DEVICES",
            "HABANA_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES",
            "NEURON_RT_VISIBLE_CORES",
            "NVIDIA_IMEX_CHANNELS",
            "NVIDIA_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "TPU_VISIBLE_CHIPS",
        ),
        _DECIDES_DEVICES,
    ),
    **dict.fromkeys(
        ("JOB_COMPLETION_INDEX", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "RANK", "WORLD_SIZE"),
        _DIFFERS_BY_POD,
    ),
    **dict.fromkeys(("LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"), _OF_THE_IMAGE),
}
"""Variables that a fabric cannot set, with the reason (docs/domain/fabrics.md#variables)."""

_TOPOLOGY: Final = "NCCL_TOPO_FILE"

_OF_OTHERS: Final = (
    "cdi.k8s.io/",
    "devices.gke.io/",
    "gpu-usher.io/",
    "k8s.v1.cni.cncf.io/",
    "kueue.x-k8s.io/",
    "nvidia.cdi.k8s.io",
)
"""Annotations that a fabric cannot set: they give devices to pods, or the profile has a field for them."""

_FILE: Final = r"\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*"
FileName = Annotated[str, StringConstraints(pattern=rf"^{_FILE}$", max_length=253)]
"""Key of a ConfigMap, which cannot lead out of its folder."""
ClaimName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
FilePath = Annotated[str, StringConstraints(pattern=rf"^(/{_FILE})+$", max_length=253)]
Network = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[a-z0-9][-a-z0-9.]*(@[a-zA-Z0-9][-a-zA-Z0-9_.]{0,14})?$")
]
"""A NetworkAttachmentDefinition as Multus reads it: `[namespace/]name[@interface]`."""
VariablePattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\*?$", max_length=256)]
"""Name of a variable, or with a `*` at its end the beginning of several."""


class TopologyFile(Section):
    """An NCCL topology for machines that do not show theirs, for example virtual machines."""

    config_map: Name = Field(description="ConfigMap that holds it, in the namespace of the pods.")
    key: FileName = Field(default="nccl-topo.xml", description="Its key in the ConfigMap.")
    path: FilePath = Field(default="/etc/nccl-topo.xml", description="Where the containers see it: NCCL_TOPO_FILE.")


class SettingsFile(Section):
    """The variables as a file, for ranks that do not see those of their container (workers of an MPIJob)."""

    config_map: Name = Field(description="ConfigMap that holds it, in the namespace of the pods.")
    key: FileName = Field(default="nccl.conf", description="Its key in the ConfigMap.")


class Claim(Section):
    """A device claim of training pods by DRA: a channel of a ComputeDomain, or network cards."""

    name: ClaimName = Field(description="Name of the claim in the pod.")
    resource_claim_template: Name = Field(
        description="ResourceClaimTemplate in the namespace of the pods; of a ComputeDomain, that of its channel."
    )
    roles: list[Role] = Field(
        default=["training"], min_length=1, description="Roles of the workloads that get it; by default training."
    )


class Fabric(Section):
    """An interconnect profile, for the training containers of workloads with several pods."""

    base: Name | None = Field(
        default=None, description="The shipped profile that this one adds to; docs/fabrics.md lists them."
    )
    env: dict[VariableName, str] = Field(
        default={}, max_length=100, description="Environment variables of the containers that train."
    )
    topology: TopologyFile | None = Field(default=None, description="The topology file of NCCL.")
    nccl_conf: SettingsFile | None = Field(
        default=None, description="The file of settings that NCCL reads where ranks do not get the environment."
    )
    resources: dict[ResourceName, Annotated[int, Field(ge=1, le=1024)]] = Field(
        default={},
        max_length=16,
        description="Devices of the network that a training container asks for beside all GPUs of a node. A container "
        "with fewer GPUs than the pool's `gpu.perNode` gets its part of them, but at least one.",
    )
    networks: list[Network] = Field(
        default=[], max_length=32, description="NetworkAttachmentDefinitions that a pod is attached to by Multus."
    )
    annotations: dict[LabelKey, str] = Field(default={}, max_length=16, description="Annotations of the pods.")
    ipc_lock: bool = Field(
        default=False,
        description="Whether containers get IPC_LOCK, in the namespaces of isolation.ipcLock: RDMA pins memory.",
    )
    whole_nodes: bool = Field(
        default=False,
        description="Whether only pods with all GPUs of a node (`gpu.perNode` of the pool) get the profile, because "
        "pods of one node cannot share its network cards.",
    )
    claims: list[Claim] = Field(
        default=[],
        max_length=8,
        description="Device claims of pods that take all GPUs of a node, and of their containers that train.",
    )
    recipe: Recipe | None = Field(
        default=None, description="Containers, volumes and mounts that a plugin of the fabric needs in the pods."
    )
    needs: list[str] = Field(
        default=[],
        max_length=16,
        description="What else a pod needs. The webhook warns of it where pods have no network device, and the profile "
        "gives no devices, claims, networks or recipe. An empty list silences the warning.",
    )
    forbidden: dict[VariablePattern, str] = Field(
        default={}, max_length=100, description="Variables that must not be set on this fabric, with the reason."
    )
    excepted: list[VariableName] = Field(
        default=[], max_length=100, description="Variables that may be set although forbidden covers them by a `*`."
    )

    @field_validator("env")
    @classmethod
    def _check_nothing_reserved(cls, env: dict[str, str]) -> dict[str, str]:
        reserved = [
            f"{name} cannot be set here: {RESERVED_VARIABLES[name]}" for name in env if name in RESERVED_VARIABLES
        ]
        if reserved:
            raise ValueError("; ".join(reserved))
        return env

    @field_validator("networks")
    @classmethod
    def _check_networks_are_unique(cls, networks: list[str]) -> list[str]:
        names = [network.partition("@")[0] for network in networks]
        twice = repeated(names)
        if twice:
            raise ValueError(f"{', '.join(twice)} is listed twice; a pod attaches to a network once")
        return networks

    @field_validator("claims")
    @classmethod
    def _check_claims_are_unique(cls, claims: list[Claim]) -> list[Claim]:
        names = [claim.name for claim in claims]
        twice = repeated(names)
        if twice:
            raise ValueError(f"several claims are named {', '.join(twice)}; give each claim its own name")
        return claims

    @field_validator("annotations")
    @classmethod
    def _check_own_annotations(cls, annotations: dict[str, str]) -> dict[str, str]:
        stray = [key for key in annotations if key.startswith(_OF_OTHERS)]
        if stray:
            raise ValueError(
                f"{', '.join(stray)} cannot be set here: it gives devices to pods, or belongs to a controller"
            )
        return annotations

    @model_validator(mode="after")
    def _check_not_empty(self) -> "Fabric":
        if not any(getattr(self, name) for name in self.model_fields_set):
            raise ValueError("the fabric is empty; set env, or base to a shipped fabric")
        if self.topology is not None and _TOPOLOGY in self.env:
            raise ValueError(f"{_TOPOLOGY} is set together with the file of topology; leave it out of env")
        refused = [f"{name} cannot be set: {reason}" for name in self.env if (reason := self.refusal(name))]
        if refused:
            raise ValueError("; ".join(refused))
        return self

    def refusal(self, variable: str) -> str:
        """Why a variable must not be set on this fabric; empty if it may be set."""
        if variable in self.forbidden:
            return self.forbidden[variable]
        for pattern, reason in self.forbidden.items() if variable not in self.excepted else ():
            if pattern.endswith("*") and variable.startswith(pattern[:-1]):
                return reason
        return ""


class Shipped(NamedTuple):
    """A profile that comes with gpu-usher, with its documentation."""

    profile: Fabric
    about: str
    """The fabric, and what the profile does, in one or two sentences."""
    add: tuple[str, ...]
    """The settings that sites usually add in their own profiles."""
    sources: tuple[str, ...]


def with_base(fabric: Fabric, base: Fabric) -> Fabric:
    """The profile, with the fields of its base that it does not set itself; mappings are joined by key.

    Raises:
        ValueError: it sets a variable that the base forbids.
    """
    own = {name: getattr(fabric, name) for name in fabric.model_fields_set if name != "base"}
    joined = {
        name: {**getattr(base, name), **value} if isinstance(value, dict) else value for name, value in own.items()
    }
    return Fabric.model_validate({**{name: getattr(base, name) for name in base.model_fields_set}, **joined})


NCCL: Final = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_MULTUS: Final = "https://github.com/k8snetworkplumbingwg/multus-cni/blob/master/docs/how-to-use.md"
_OPERATOR: Final = "https://github.com/Mellanox/network-operator"
_RDMA_PLUGIN: Final = "https://github.com/Mellanox/k8s-rdma-shared-dev-plugin"

SWITCHED_OFF: Final = "it switches off the fabric that the pool is there for"
OVER_PODS: Final = {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "=eth0"}
"""NCCL finds the cards itself. The ranks only meet on the pod network, whose interface is eth0 in every runtime."""

_NEEDS_OF_RDMA: Final = [
    "a resource of an RDMA device plugin, for example rdma/ib: 1",
    "IPC_LOCK (isolation.ipcLock), or nodes whose memlock limit is unlimited",
]

OWN_NETWORK_PROFILES: Final = {
    "infiniband": Shipped(
        profile=Fabric(
            env=OVER_PODS,
            ipc_lock=True,
            needs=_NEEDS_OF_RDMA,
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about="InfiniBand, with NVIDIA's network operator or a device plugin like it. NCCL finds the cards by itself.",
        add=(
            '`env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}` with the cards of the machine type that are for training',
            '`env: {NCCL_COLLNET_ENABLE: "1"}` where the switches reduce (SHARP) and the image brings its plugin',
            '`env: {NCCL_IB_PCI_RELAXED_ORDERING: "1"}` and `topology` in virtual machines',
            "`resources: {rdma/ib: 1}`, as the device plugin names them",
            "`networks: [rdma-net]` where Multus attaches the pods",
        ),
        sources=(NCCL, _RDMA_PLUGIN, _OPERATOR),
    ),
    "infiniband-mlx5": Shipped(
        profile=Fabric(
            env={
                **OVER_PODS,
                "NCCL_IB_HCA": "mlx5",
                "UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1",
            },
            ipc_lock=True,
            needs=_NEEDS_OF_RDMA,
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about=(
            "InfiniBand on machines whose cards are called mlx5_0 to mlx5_3, all of them for training: the variables "
            "that most guides name. NCCL_IB_DISABLE=0, which they name as well, is NCCL's default."
        ),
        add=(
            '`env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}` where some cards are for storage or Ethernet: mlx5 takes all',
            "`topology: {configMap: nccl-topology}` in virtual machines",
            "`resources: {rdma/ib: 1}`, as the device plugin names them",
        ),
        sources=(NCCL, "https://openucx.readthedocs.io/en/master/faq.html", _RDMA_PLUGIN),
    ),
    "roce": Shipped(
        profile=Fabric(
            env=OVER_PODS,
            ipc_lock=True,
            needs=[
                *_NEEDS_OF_RDMA,
                "an interface on every rail, which Multus attaches by the annotation k8s.v1.cni.cncf.io/networks",
            ],
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about="RDMA over converged Ethernet, version 2. Recent versions of NCCL choose the GID by themselves.",
        add=(
            '`env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}` with the cards of the rails',
            '`env: {NCCL_IB_GID_INDEX: "3"}` where NCCL is older than 2.21, with the index of the site',
            '`env: {NCCL_IB_TC: "106"}` with the traffic class for which the switches are lossless',
            "`networks: [rail-0, rail-1]`",
            "`resources: {rdma/roce: 1}`, as the device plugin names them",
        ),
        sources=(NCCL, _MULTUS, _RDMA_PLUGIN),
    ),
    "ethernet": Shipped(
        profile=Fabric(env={**OVER_PODS, "NCCL_IB_DISABLE": "1"}),
        about=(
            "The ordinary network of the pods, without RDMA. NCCL does not look for cards that it cannot use, and does "
            "not take other interfaces for faster ones."
        ),
        add=(
            '`env: {NCCL_SOCKET_IFNAME: "=net1"}` where another interface of the pods is the fast one',
            '`env: {NCCL_SOCKET_NTHREADS: "4", NCCL_NSOCKS_PERTHREAD: "4"}` on 100 Gbit/s',
        ),
        sources=(NCCL,),
    ),
    "mnnvl": Shipped(
        profile=Fabric(
            env={"NCCL_DEBUG": "WARN"},
            needs=[
                "a claim of a ComputeDomain's channel: resourceClaims of the pod, and claims of the container",
                "nodes of one NVLink domain: affinity by the label nvidia.com/gpu.clique",
            ],
        ),
        about=(
            "NVLink between nodes (GB200 and GB300 NVL72). NCCL uses it by itself where the pods hold a channel of "
            "IMEX, which the DRA driver gives with a ComputeDomain."
        ),
        add=(
            '`env: {NCCL_CUMEM_ENABLE: "1"}` where NCCL is too old to choose it',
            "the variables of the network between the domains, for example NCCL_IB_HCA",
        ),
        sources=(
            NCCL,
            "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/dra-cds.html",
            "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/gpudirect-rdma/nccl-test-imex-a4x.yaml",
        ),
    ),
}

_EFA: Final = "https://github.com/aws-samples/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md"
_GKE: Final = "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master"
_WHOLE_NODES: Final = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx"
_AZURE: Final = "https://github.com/Azure/azhpc-images/blob/master/components/customizations"

_OLD_PLUGIN: Final = "only aws-ofi-nccl before 1.7 needs it; later ones choose better by themselves"
_DEFAULT: Final = "the plugin's default is right for every machine"
_OF_SCRIPT: Final = "nccl-env-profile.sh of the node sets it, and its checker aborts the workload where it is another"
_OF_GIB: Final = "set_nccl_env.sh of the node sets it for the machine type"

CLOUD_PROFILES: Final = {
    "aws-efa": Shipped(
        profile=Fabric(
            # Interfaces of nodes have other names than those of pods; interfaces that lead to no other node are left
            # out.
            env={"FI_EFA_USE_HUGE_PAGE": "0", "NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "^docker,lo,veth"},
            needs=[
                "vpc.amazonaws.com/efa, as many as the machine has (p4d 4, p5 32), or a claim of the EFA DRA driver",
                "an image with libfabric 1.18 and aws-ofi-nccl 1.7, or later",
                "a security group that allows all traffic within itself",
            ],
            forbidden={
                "RDMAV_*": "it is of another library, and breaks forks beside EFA",
                "FI_PROVIDER": _OLD_PLUGIN,
                "FI_EFA_USE_DEVICE_RDMA": _OLD_PLUGIN,
                "FI_EFA_FORK_SAFE": "no kernel since 5.15 needs it",
                "FI_EFA_ENABLE_SHM_TRANSFER": "it is the default",
                "NCCL_PROTO": _OLD_PLUGIN,
                "NCCL_BUFFSIZE": _DEFAULT,
                "NCCL_MIN_CHANNELS": _DEFAULT,
                "NCCL_MIN_NCHANNELS": _DEFAULT,
            },
        ),
        about=(
            "Elastic Fabric Adapter of AWS, with libfabric 1.18 and aws-ofi-nccl 1.7 or later, which need next to "
            "nothing. FI_EFA_USE_HUGE_PAGE=0 lets data loaders fork. For an older image write a profile without a base."
        ),
        add=("`resources: {vpc.amazonaws.com/efa: 32}`, as many as the machine type has",),
        sources=(_EFA, "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html", NCCL),
    ),
    "gcp-tcpx": Shipped(
        profile=Fabric(
            env=OVER_PODS,
            whole_nodes=True,
            needs=[
                "the sidecar tcpx-daemon, with the annotation devices.gke.io/container.tcpx-daemon",
                "the volume of the plugin's libraries (/home/kubernetes/bin/nvidia/lib64), and LD_LIBRARY_PATH with it",
                "the volume of the daemon's socket, mounted by both containers",
                "the variables of NCCL_GPUDIRECTTCPX_* that the recipe of the plugin's release names",
            ],
        ),
        about=(
            "GPUDirect-TCPX of Google, on A3 High. Most of it is a recipe of sidecar, volumes and variables of one "
            "release of the plugin, which belongs into the manifest as a whole."
        ),
        add=("`annotations` of networking.gke.io/default-interface and networking.gke.io/interfaces: eth0 to eth4",),
        sources=(
            f"{_GKE}/gpudirect-tcpx/nccl-config.yaml",
            f"{_GKE}/gpudirect-tcpx/nccl-test.yaml",
            _WHOLE_NODES,
            NCCL,
        ),
    ),
    "gcp-tcpxo": Shipped(
        profile=Fabric(
            env={"NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices"},
            whole_nodes=True,
            needs=[
                "the sidecar tcpxo-daemon, with the annotation devices.gke.io/container.tcpxo-daemon",
                "the volumes of the plugin's libraries (/home/kubernetes/bin/nvidia) and of /dev/aperture_devices",
                "a command that begins with `source /usr/local/nvidia/lib64/nccl-env-profile.sh`",
            ],
            forbidden={"NCCL_*": _OF_SCRIPT},
            excepted=["NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY"],
        ),
        about=(
            "GPUDirect-TCPXO (FasTrak) of Google, on A3 Mega. A script of the node sets the variables of its release, "
            "and the plugin's checker aborts a workload in which one is missing or another."
        ),
        add=("`annotations` of networking.gke.io/default-interface and networking.gke.io/interfaces: eth0 to eth8",),
        sources=(
            f"{_GKE}/gpudirect-tcpxo/README.md",
            f"{_GKE}/gpudirect-tcpxo/best-practice.md",
            f"{_GKE}/gpudirect-tcpxo/nccl-test-latest.yaml",
            _WHOLE_NODES,
        ),
    ),
    "gcp-gib": Shipped(
        profile=Fabric(
            env={"NCCL_DEBUG": "WARN"},
            ipc_lock=True,
            whole_nodes=True,
            needs=[
                "the volumes /home/kubernetes/bin/nvidia and /home/kubernetes/bin/gib, mounted below /usr/local",
                "LD_LIBRARY_PATH with /usr/local/nvidia/lib64",
                "a command that begins with `source /usr/local/gib/scripts/set_nccl_env.sh`",
                "annotations networking.gke.io/interfaces with the eight networks of the cards",
            ],
            forbidden={"NCCL_IB_*": _OF_GIB, "NCCL_NET": _OF_GIB},
        ),
        about=(
            "RDMA over converged Ethernet on A3 Ultra and A4 of Google, by the plugin gIB. A script of the node sets "
            "the variables of the machine type."
        ),
        add=(
            "`annotations` of networking.gke.io/default-interface and networking.gke.io/interfaces: rdma-0 to rdma-7",
            '`env: {NCCL_SOCKET_IFNAME: "eth0,eth1"}` where the pods have the interface of the second gVNIC',
        ),
        sources=(f"{_GKE}/gpudirect-rdma/nccl-test.yaml", f"{_GKE}/gpudirect-rdma/nccl-test-a4.yaml"),
    ),
    "azure-nd": Shipped(
        profile=Fabric(
            env={**OVER_PODS, "NCCL_IB_PCI_RELAXED_ORDERING": "1", "NCCL_IGNORE_CPU_AFFINITY": "1"},
            ipc_lock=True,
            needs=[
                "a resource of an RDMA device plugin",
                "IPC_LOCK (isolation.ipcLock), or nodes whose memlock limit is unlimited",
            ],
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about=(
            "InfiniBand of Azure's ND machines (A100 v4, H100 v5, H200). They are virtual and hide their topology, and "
            "the file that Azure's images keep in /opt/microsoft is on the node, not in the container."
        ),
        add=(
            "`topology: {configMap: ndv5-topology, key: topo.xml}` with the file of the machine type",
            "`env: {CUDA_DEVICE_ORDER: PCI_BUS_ID}`, and `UCX_NET_DEVICES: eth0` where UCX only starts the ranks",
            "`env: {NCCL_IB_HCA: mlx5_ib}` where the nodes name their cards so",
            "`resources: {rdma/ib: 1}`, as the device plugin names them",
        ),
        sources=(f"{_AZURE}/ndv5.sh", f"{_AZURE}/ndv4.sh", NCCL),
    ),
}

SHIPPED: Final[Mapping[str, Shipped]] = MappingProxyType({**OWN_NETWORK_PROFILES, **CLOUD_PROFILES})
"""The shipped profiles by name."""
