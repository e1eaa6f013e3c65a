"""Interconnect profiles: the settings that pods on a fabric get. `fabrics.yaml` has those that come with gpu-usher.

A node pool names its profile; usher never guesses it from the model of a GPU. A profile holds the settings for every
cluster with that fabric. Names of devices and networks differ between machines; a site adds them (`base`).
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple

import orjson
from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from usher import paths
from usher.config.selection import LabelKey, Name, ResourceName, Role, Section, VariableName, repeated
from usher.documents import reader

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


class Shipped(NamedTuple):
    """A profile that comes with gpu-usher, with its documentation."""

    profile: Fabric
    about: str
    """The fabric, and what the profile does, in one or two sentences."""
    add: tuple[str, ...]
    """The settings that sites usually add in their own profiles."""
    sources: tuple[str, ...]


@cache
def shipped_fabrics() -> Mapping[str, Shipped]:
    """The profiles of `fabrics.yaml` by name, which are read when one is first needed."""
    file = Path(__file__).with_name("fabrics.yaml")
    (document,) = reader.parse(file.read_bytes(), source=file.name)
    return MappingProxyType({name: _shipped(value) for name, value in paths.mapping(document.value).items()})


def _shipped(value: paths.Json) -> Shipped:
    found = paths.mapping(value)
    return Shipped(
        profile=Fabric.model_validate(found["profile"], by_name=False, by_alias=True),
        about=" ".join(paths.text(found["about"]).split()),
        add=tuple(map(paths.text, paths.elements(found.get("add")))),
        sources=tuple(map(paths.text, paths.elements(found["sources"]))),
    )
