"""Interconnect profiles: what the pods of a fabric are given, and what a profile may not give."""

from typing import Annotated, Final, NamedTuple

from pydantic import Field, StringConstraints, field_validator, model_validator

from usher.config.fields import LabelKey, Name, ResourceName, Section, VariableName

_DECIDES_DEVICES: Final = "it decides which devices a container sees, which is the device plugin's to say"
_DIFFERS_BY_POD: Final = "it differs from pod to pod, and the operator of the job sets it"
_OF_THE_IMAGE: Final = "it would take the place of what the image sets; set it in the image or the manifest"
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
"""Annotations that a fabric cannot set: they hand out devices, or have a key of their own here."""

_FILE: Final = r"\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*"
FileName = Annotated[str, StringConstraints(pattern=rf"^{_FILE}$", max_length=253)]
"""Key of a ConfigMap; none that leads out of its folder."""
FilePath = Annotated[str, StringConstraints(pattern=rf"^(/{_FILE})+$", max_length=253)]
Network = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[a-z0-9][-a-z0-9.]*(@[a-zA-Z0-9][-a-zA-Z0-9_.]{0,14})?$")
]
"""A NetworkAttachmentDefinition as Multus reads it: `[namespace/]name[@interface]`."""
VariablePattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\*?$", max_length=256)]
"""Name of a variable, or with a `*` at its end the beginning of several."""


class TopologyFile(Section):
    """An NCCL topology for machines that do not show theirs, such as virtual ones."""

    config_map: Name = Field(description="ConfigMap that holds it, in the namespace of the pods.")
    key: FileName = "nccl-topo.xml"
    path: FilePath = Field(default="/etc/nccl-topo.xml", description="Where the containers see it: NCCL_TOPO_FILE.")


class SettingsFile(Section):
    """The same variables as a file, for ranks that do not see those of their container (workers of an MPIJob)."""

    config_map: Name = Field(description="ConfigMap that holds it, in the namespace of the pods.")
    key: FileName = "nccl.conf"


class Fabric(Section):
    """An interconnect profile, given to the training containers of workloads that span several pods."""

    base: Name | None = Field(
        default=None, description="Profile that gpu-usher ships and that this one adds to; docs/fabrics.md lists them."
    )
    env: dict[VariableName, str] = Field(default={}, max_length=100)
    topology: TopologyFile | None = None
    nccl_conf: SettingsFile | None = None
    resources: dict[ResourceName, Annotated[int, Field(ge=1, le=1024)]] = Field(
        default={}, max_length=16, description="Devices of the network that a training container asks for beside GPUs."
    )
    networks: list[Network] = Field(
        default=[], max_length=32, description="NetworkAttachmentDefinitions that a pod is attached to by Multus."
    )
    annotations: dict[LabelKey, str] = Field(default={}, max_length=16, description="Annotations of the pods.")
    ipc_lock: bool = Field(
        default=False,
        description="Whether containers get IPC_LOCK, in the namespaces of isolation.ipcLock: RDMA pins memory.",
    )
    needs: list[str] = Field(
        default=[], max_length=16, description="What else a pod needs, which nobody can add for it; told, not injected."
    )
    forbidden: dict[VariablePattern, str] = Field(
        default={}, max_length=100, description="Variables that must not be set on this fabric, with the reason."
    )
    excepted: list[VariableName] = Field(
        default=[], max_length=100, description="Variables that may be set although forbidden covers them by a `*`."
    )

    @field_validator("env")
    @classmethod
    def _sets_nothing_reserved(cls, env: dict[str, str]) -> dict[str, str]:
        reserved = [
            f"{name} cannot be set here: {RESERVED_VARIABLES[name]}" for name in env if name in RESERVED_VARIABLES
        ]
        if reserved:
            raise ValueError("; ".join(reserved))
        return env

    @field_validator("networks")
    @classmethod
    def _attaches_to_each_once(cls, networks: list[str]) -> list[str]:
        names = [network.partition("@")[0] for network in networks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} is listed twice; a pod is attached to a network once")
        return networks

    @field_validator("annotations")
    @classmethod
    def _annotates_nothing_of_others(cls, annotations: dict[str, str]) -> dict[str, str]:
        stray = [key for key in annotations if key.startswith(_OF_OTHERS)]
        if stray:
            raise ValueError(f"{', '.join(stray)} cannot be set here: it hands out devices, or belongs to a controller")
        return annotations

    @model_validator(mode="after")
    def _says_something(self) -> "Fabric":
        if not any(getattr(self, name) for name in self.model_fields_set):
            raise ValueError("a fabric that says nothing gives nothing; set env, or base to one that is shipped")
        if self.topology is not None and _TOPOLOGY in self.env:
            raise ValueError(f"{_TOPOLOGY} is set together with the file of topology; leave it out of env")
        refused = [f"{name} cannot be set: {reason}" for name in self.env if (reason := self.refusal(name))]
        if refused:
            raise ValueError("; ".join(refused))
        return self

    def refusal(self, variable: str) -> str:
        """Why a variable must not be set on this fabric; empty where it may be."""
        if variable in self.forbidden:
            return self.forbidden[variable]
        for pattern, reason in self.forbidden.items() if variable not in self.excepted else ():
            if pattern.endswith("*") and variable.startswith(pattern[:-1]):
                return reason
        return ""


class Shipped(NamedTuple):
    """A profile that comes with gpu-usher, with what people should know of it."""

    profile: Fabric
    about: str
    """What the fabric is, and what the profile does about it, in a sentence or two."""
    add: tuple[str, ...]
    """What a site usually adds in a profile of its own."""
    sources: tuple[str, ...]


def based(fabric: Fabric, base: Fabric) -> Fabric:
    """The profile with everything of its base that it does not say itself; what is a mapping is joined by key.

    Raises:
        ValueError: it sets a variable that the base forbids.
    """
    own = {name: getattr(fabric, name) for name in fabric.model_fields_set if name != "base"}
    joined = {
        name: {**getattr(base, name), **value} if isinstance(value, dict) else value for name, value in own.items()
    }
    return Fabric.model_validate({**{name: getattr(base, name) for name in base.model_fields_set}, **joined})
