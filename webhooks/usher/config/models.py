"""usher.yaml as pydantic models. Every field has a default that is safe on a cluster we know nothing about."""

from datetime import date
from typing import Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from usher.config.accelerators import Accelerators, DeviceClass, Resource
from usher.config.fabrics import shipped as fabrics_shipped
from usher.config.fabrics.profiles import RESERVED_VARIABLES, Fabric, based
from usher.config.facts import Facts
from usher.config.fields import Name, Pattern, Place, Role, Section, Selector, UserPattern
from usher.config.pools import Gpus, Pool, Taint
from usher.config.queues import PriorityRule, Queue, Route
from usher.config.quotas import Quota, Quotas

__all__ = [
    "RESERVED_VARIABLES",
    "Accelerators",
    "DeviceClass",
    "Fabric",
    "Facts",
    "Gpus",
    "Place",
    "Pool",
    "PriorityRule",
    "Queue",
    "Quota",
    "Resource",
    "Role",
    "Route",
    "Selector",
    "Taint",
]

API_VERSION: Final = "gpu-usher.io/v1alpha1"

EXEMPTION_LABEL: Final = "gpu-usher.io/exempt"
"""Of a namespace, with the value true: what it holds is neither judged nor changed. A check guards it."""

DEFAULT_EXEMPT_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "gpu-usher", "gpu-operator"]


class Priorities(Section):
    classes: list[PriorityRule] = Field(default=[], description="The first entry that fits a workload decides.")
    global_default: Name | None = Field(
        default=None,
        description="The PriorityClass with globalDefault, which Kubernetes writes into every pod that names none.",
    )
    system_namespaces: list[Pattern] = Field(
        default=[
            "gpu-operator",
            "gpu-usher",
            "inteldeviceplugins-system",
            "kai-resource-reservation",
            "kai-scheduler",
            "kube-amd-gpu",
            "kube-system",
            "kueue-system",
            "node-feature-discovery",
            "nvidia-device-plugin",
            "nvidia-dra-driver-gpu",
            "nvidia-gpu-operator",
            "nvidia-network-operator",
            "runai",
            "runai-reservation",
            "volcano-system",
        ],
        description="Namespaces whose pods may use the classes system-cluster-critical and system-node-critical.",
    )


class Isolation(Section):
    visible_devices: list[Pattern] = Field(
        default=[], description="Namespaces that may set NVIDIA_VISIBLE_DEVICES by hand, such as those of monitoring."
    )
    ipc_lock: list[Pattern] = Field(
        default=[],
        description="Namespaces whose containers may be given IPC_LOCK by a fabric. Pod Security forbids it at the "
        "levels baseline and restricted.",
    )


class Identity(Section):
    """Who somebody is, by what the API server says of them; no object can claim it."""

    users: list[UserPattern] = Field(default=[])
    groups: list[UserPattern] = Field(default=[])


_OF_CONTROLLERS: Final = (
    "gpu-operator",
    "kueue-system",
    "node-feature-discovery",
    "nvidia-gpu-operator",
    "volcano-system",
)
_OF_SCHEDULERS: Final = ("kai-scheduler", "koordinator-system", "runai", "volcano-system", "yunikorn")

DEFAULT_IDENTITIES: Final = {
    "administrators": Identity(groups=["system:masters"]),
    "controllers": Identity(
        users=[
            "system:kube-controller-manager",
            "system:apiserver",
            "system:node:*",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_CONTROLLERS),
        ]
    ),
    "schedulers": Identity(
        users=[
            "system:kube-scheduler",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_SCHEDULERS),
        ]
    ),
}


class ParameterValues(Section):
    """Values for the parameters of one check, in some namespaces."""

    check: str = Field(description="Name or code of a check.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    values: dict[str, bool | int | str | list[str]] = Field(
        min_length=1, description="Values by the names that `usher explain CHECK` lists."
    )


class EnforcementRule(Section):
    check: str = Field(description="Name, code or category of a check, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    roles: list[Role] = Field(
        default=[], description="Roles of workloads for which the rule is; all, if none is given."
    )
    places: list[Place] = Field(
        default=[],
        description="Where the rule holds: in the webhooks, `usher check`, `usher audit`; in all, if none is given.",
    )
    action: Literal["deny", "warn", "audit", "off"]


class ExceptionRule(Section):
    """A finding that somebody answers for, until a day: it is told, and held against nobody."""

    checks: list[str] = Field(min_length=1, description="Names or codes of checks.")
    namespaces: list[Pattern] = Field(min_length=1)
    kinds: list[str] = Field(default=[], description="Kinds of objects; all, if none is given.")
    names: list[Pattern] = Field(
        default=[], description="Names of objects, which anybody in the namespace can choose; all, if none is given."
    )
    owner: str = Field(min_length=1, max_length=253, description="Who answers for it.")
    reason: str = Field(min_length=1, max_length=1000)
    ticket: str = Field(min_length=1, max_length=253)
    expires: date = Field(description="The last day, in UTC, on which it holds.")


class Enforcement(Section):
    preset: Literal["baseline", "recommended", "strict"] = "recommended"
    rules: list[EnforcementRule] = Field(default=[], description="The last rule that fits a finding decides.")
    exceptions: list[ExceptionRule] = Field(
        default=[], description="What would be denied or warned about is only noted, until it expires."
    )


class MutationRule(Section):
    mutation: str = Field(description="Name or code of a mutation, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    roles: list[Role] = Field(
        default=[], description="Roles of workloads for which the rule is; all, if none is given."
    )
    action: Literal["apply", "warn", "off"] = Field(
        description="Change the object, only tell what would be changed, or neither."
    )


class OptOut(Section):
    """What the author of an object may refuse by the annotation gpu-usher.io/skip-mutations."""

    mutations: list[str] = Field(min_length=1, description="Names or codes of mutations, or * for all.")
    namespaces: list[Pattern] = Field(min_length=1)


class Mutations(Section):
    rules: list[MutationRule] = Field(default=[], description="The last rule that fits a mutation decides.")
    opt_outs: list[OptOut] = Field(
        default=[], description="Nobody may refuse a mutation but where an entry here says so."
    )


class Config(Section):
    """The whole of usher.yaml."""

    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["Config"] = "Config"
    accelerators: Accelerators = Accelerators()
    # Before the pools, whose validation looks into it.
    fabrics: dict[Name, Fabric] = Field(default={}, description="Interconnect profiles beside the shipped ones.")
    pools: list[Pool] = Field(default=[])
    queues: list[Queue] = Field(default=[], description="The first entry that fits a workload decides.")
    routing: list[Route] = Field(default=[], description="The first entry that fits a workload decides.")
    quotas: Quotas = Field(
        default=[], description="Quotas of GPUs, as GPUQuota objects are; for one namespace no two may hold."
    )
    priorities: Priorities = Priorities()
    isolation: Isolation = Isolation()
    facts: Facts = Facts()
    identities: dict[Name, Identity] = Field(
        default={},
        description="Who is who, by name. administrators, controllers and schedulers have defaults, which an entry of "
        "that name replaces.",
    )
    parameters: list[ParameterValues] = Field(
        default=[], description="Parameters of checks; the last entry that fits decides about each value."
    )
    enforcement: Enforcement = Enforcement()
    mutations: Mutations = Mutations()
    exempt_namespaces: list[Pattern] = Field(
        default=DEFAULT_EXEMPT_NAMESPACES, description="Namespaces in which nothing is judged or changed."
    )

    @field_validator("pools")
    @classmethod
    def _have_names_of_their_own(cls, pools: list[Pool]) -> list[Pool]:
        names = [pool.name for pool in pools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"several pools are named {', '.join(twice)}; give each pool a name of its own")
        return pools

    @field_validator("fabrics")
    @classmethod
    def _are_based_on_what_is_shipped(cls, found: dict[str, Fabric]) -> dict[str, Fabric]:
        shipped = ", ".join(fabrics_shipped.SHIPPED)
        wrong = []
        for name, fabric in found.items():
            if fabric.base is None and name in fabrics_shipped.SHIPPED:
                wrong.append(f"{name} is shipped; say base: {name} to add to it, or choose another name")
            elif fabric.base is not None and fabric.base not in fabrics_shipped.SHIPPED:
                wrong.append(f"{name} is based on {fabric.base}, which is not shipped; shipped are {shipped}")
            elif fabric.base is not None:
                base = fabrics_shipped.SHIPPED[fabric.base].profile
                wrong += [
                    f"{name} cannot set {each}: {reason}" for each in fabric.env if (reason := base.refusal(each))
                ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return found

    @field_validator("pools")
    @classmethod
    def _name_fabrics_that_are_there(cls, pools: list[Pool], info: ValidationInfo) -> list[Pool]:
        # Fabrics that are wrong themselves are missing here, and reported already.
        defined = info.data.get("fabrics")
        if defined is None:
            return pools
        known = {*defined, *fabrics_shipped.SHIPPED}
        missing = [
            f"pool {pool.name} names the fabric {pool.fabric}, which is neither shipped nor in fabrics"
            for pool in pools
            if pool.fabric is not None and pool.fabric not in known
        ]
        if missing:
            raise ValueError("; ".join(missing) + f"; defined or shipped are: {', '.join(sorted(known))}")
        return pools

    def fabric(self, name: str) -> Fabric:
        """The profile of a name, with all that its base says. Raises KeyError where there is none."""
        own = self.fabrics.get(name)
        if own is None:
            return fabrics_shipped.SHIPPED[name].profile
        return own if own.base is None else based(own, fabrics_shipped.SHIPPED[own.base].profile)
