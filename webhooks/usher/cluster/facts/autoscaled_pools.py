"""The nodes that an autoscaler may add, by the objects that describe them, with the machine types that these allow.

NodePools, NodeClasses and NodeOverlays of Karpenter (karpenter.sh/docs/concepts/nodepools), ComputeClasses of GKE
(docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass), and MachineDeployments and MachinePools of
Cluster API (kubernetes/autoscaler cluster-autoscaler/cloudprovider/clusterapi/README.md, scale from zero), and
MachineSets of OpenShift that a MachineAutoscaler scales (openshift/cluster-autoscaler-operator, and types_machineset.go
and types_*provider.go in machine/v1beta1 of openshift/api).

Machine types stand in `machine_types.json` (tools/record_machine_types.py). A type has to meet all requirements of a
pool, and labels that usher does not know count as met.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, memo, paths, quantities
from usher.accelerators import boards, names
from usher.cluster.facts.nodes import PODS, Amounts, Taint, scheduler_amount
from usher.cluster.facts.store import Store
from usher.model import placement
from usher.model.placement import Requirement

NODE_POOL: Final = ("karpenter.sh", "NodePool")
NODE_OVERLAY: Final = ("karpenter.sh", "NodeOverlay")
COMPUTE_CLASS: Final = ("cloud.google.com", "ComputeClass")
MACHINE_DEPLOYMENT: Final = ("cluster.x-k8s.io", "MachineDeployment")
MACHINE_POOL: Final = ("cluster.x-k8s.io", "MachinePool")
MACHINE_SET: Final = ("machine.openshift.io", "MachineSet")
MACHINE_AUTOSCALER: Final = ("autoscaling.openshift.io", "MachineAutoscaler")
EC2_NODE_CLASS: Final = ("karpenter.k8s.aws", "EC2NodeClass")
AKS_NODE_CLASS: Final = ("karpenter.azure.com", "AKSNodeClass")
GCE_NODE_CLASS: Final = ("karpenter.k8s.gcp", "GCENodeClass")
KINDS: Final = (
    NODE_POOL, NODE_OVERLAY, EC2_NODE_CLASS, AKS_NODE_CLASS, GCE_NODE_CLASS, COMPUTE_CLASS, MACHINE_DEPLOYMENT,
    MACHINE_POOL, MACHINE_SET, MACHINE_AUTOSCALER,
)  # fmt: skip

Objects = Mapping[tuple[str, str], Mapping[str, paths.Object]]
"""Objects by kind and name; the name of an object in a namespace is `NAMESPACE/NAME`."""

TYPE_LABELS: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_POOL_LABEL: Final = "karpenter.sh/nodepool"
_CLASS_LABEL: Final = "cloud.google.com/compute-class"
_MOST_TYPES: Final = 64

_LABELS_OF: Final = {
    "aws": ("karpenter.k8s.aws/", "eks.amazonaws.com/"),
    "azure": ("karpenter.azure.com/",),
    "gcp": ("cloud.google.com/", "karpenter.k8s.gcp/"),
}
"""The beginnings of labels of machine types, by cloud."""

_CLOUDS: Final = {
    "karpenter.k8s.aws": "aws",
    "eks.amazonaws.com": "aws",
    "karpenter.azure.com": "azure",
    "karpenter.k8s.gcp": "gcp",
}
"""The cloud of the NodeClasses of an API group."""

_ACCELERATED: Final = {
    "aws": memo.pattern(r"dl|f|g|inf|p|trn|vt"),
    "azure": memo.pattern(r"Standard_N"),
    "gcp": memo.pattern(r"a\d|g\d|ct|tpu|n1-"),
}
"""Beginnings of machine types with accelerators. One that the table does not have is newer than the table; GPUs of N1
are not a part of the type.
"""


class MachineType(Struct, frozen=True, kw_only=True):
    """A machine type: its labels, and the most that pods get of one node."""

    name: str
    of: str
    """The cloud."""
    labels: Mapping[str, str]
    amounts: Amounts
    note: str = ""
    """The devices that a NodeClass takes from the nodes of the type, in messages; empty without."""


class AutoscaledPool(Struct, frozen=True, kw_only=True):
    """A pool of an autoscaler."""

    kind: str
    name: str
    labels: Mapping[str, str]
    """The labels that all its nodes have."""
    own_label: str = ""
    """The key of a label that no other nodes have; empty without one."""
    taints: tuple[Taint, ...]
    types: tuple[MachineType, ...] | None
    """The types with accelerators that it allows; None where usher cannot tell which they are."""
    defined: frozenset[str] | None = None
    """The labels that the autoscaler knows of its nodes, beside well-known ones; None where it may know others."""
    may_have_others: bool = False
    """Whether it may add nodes without accelerators, of whatever size."""
    limits: Amounts = {}
    """The most that all its nodes may have together."""
    consolidates: bool = False
    """Whether Karpenter removes nodes that are not full, and so stops pods that do not forbid it."""
    expires_after: str = ""
    """The age at which Karpenter replaces each node, below its default of 720h; empty for the default and for never."""
    grace: str = ""
    """The time after which Karpenter ends all pods of a node that it replaces; empty where it waits for them."""
    assumption: str = ""
    """An assumption about nodes that it may have beside those of its types; empty where it has no others."""
    node_class: tuple[str, str, str] = ("", "", "")
    """Group, kind and name of the NodeClass that describes its nodes."""

    def title(self, machine: MachineType | None) -> str:
        """The nodes of a type in messages: `NodePool gpu (p5.48xlarge)`."""
        name = f"{self.kind} {self.name}"
        if machine is None or self.kind.startswith("Machine"):
            return name
        return f"{name} ({machine.name}{machine.note}{', within its limits' if self._is_limited(machine) else ''})"

    def _is_limited(self, machine: MachineType) -> bool:
        return any(machine.amounts.get(name, 0) > most for name, most in self.limits.items())

    def amounts(self, machine: MachineType) -> Amounts:
        """The most that pods get of one node: no more than the limits, because the autoscaler adds no larger node."""
        within = {
            name: min(most, machine.amounts[name]) for name, most in self.limits.items() if name in machine.amounts
        }
        return {**machine.amounts, **within}

    def most_nodes(self, machine: MachineType) -> int | None:
        """The most nodes of a type; None without a limit."""
        found = [most // machine.amounts[name] for name, most in self.limits.items() if machine.amounts.get(name)]
        return min(found, default=None)


_WELL_KNOWN: Final = memo.pattern(
    r"(kubernetes\.io/(arch|os|hostname)|topology\.(kubernetes\.io|k8s\.aws)/.*|node\.kubernetes\.io/(instance-type|windows-build)"
    r"|(failure-domain\.)?beta\.kubernetes\.io/.*|karpenter\.sh/.*|karpenter\.(k8s\.aws|azure\.com|k8s\.gcp)/.*"
    r"|eks\.amazonaws\.com/.*|kubernetes\.azure\.com/.*|cloud\.google\.com/.*)"
)
"""Labels that Karpenter and its clouds give nodes (kubernetes-sigs/karpenter pkg/apis/v1/labels.go)."""


def is_well_known(key: str) -> bool:
    """Whether clouds and autoscalers give nodes a label, so that any pool may have it."""
    return _WELL_KNOWN.fullmatch(key) is not None


def is_undefined(wanted: Requirement, defined: frozenset[str] | None) -> bool:
    """Whether an autoscaler adds no node for a requirement, because its pools do not have the label.

    Karpenter says "label does not have known values" (kubernetes-sigs/karpenter pkg/scheduling/requirements.go), also
    about labels that operators write on nodes later, like nvidia.com/gpu.product.
    """
    missing = defined is not None and wanted.key not in defined and not _WELL_KNOWN.fullmatch(wanted.key)
    return missing and wanted.operator not in ("NotIn", "DoesNotExist")


@cache
def machine_types() -> Mapping[str, MachineType]:
    """The machine types with accelerators, by name."""
    rows = boards.machine_rows().items()
    return {name: _machine_type(name, row["of"], row["labels"], _amounts(row["amounts"])) for name, row in rows}


def machine_of(labels: Mapping[str, str]) -> MachineType | None:
    """The machine type that labels of nodes name; None where usher does not know it."""
    name = next((labels[key] for key in TYPE_LABELS if key in labels), None)
    return None if name is None else machine_types().get(name)


def _machine_type(name: str, of: str, labels: Mapping[str, str], amounts: Amounts) -> MachineType:
    own = {start + key: value for key, value in labels.items() if key != "arch" for start in _LABELS_OF.get(of, ())}
    return MachineType(
        name=name,
        of=of,
        labels={
            **own,
            "kubernetes.io/arch": labels.get("arch", "amd64"),
            "kubernetes.io/os": "linux",
            **dict.fromkeys(TYPE_LABELS, name),
        },
        amounts=amounts,
    )


def _amounts(texts: Mapping[str, paths.Json]) -> Amounts:
    """The amounts that can be read, in the scheduler's units."""
    found: dict[str, int] = {}
    for key, text in texts.items():
        if isinstance(text, str | int) and not isinstance(text, bool):
            try:
                found[key] = scheduler_amount(key, quantities.parse(text))
            except errors.QuantityError:
                continue
    return found


def of_facts(facts: Store) -> tuple[AutoscaledPool, ...]:
    """The pools that objects among the facts describe; read once until one of them changes."""
    return facts.derived(
        "pools of autoscalers", KINDS, lambda: read_pools({kind: facts.everywhere(*kind) for kind in KINDS})
    )


def read_pools(objects: Objects) -> tuple[AutoscaledPool, ...]:
    """The pools that the objects of KINDS describe, in order; those that cannot be read are left out."""
    overlays: list[Mapping[str, paths.Json]] = [
        paths.mapping(value.get("spec")) for value in objects.get(NODE_OVERLAY, {}).values()
    ]
    found = [
        each
        for kind, read in _READERS.items()
        for name, value in sorted(objects.get(kind, {}).items())
        if (each := read(name, value)) is not None
    ]
    found += _machine_sets(objects)
    return tuple(
        _overlaid(_with_node_class(each, objects), overlays) if each.kind == NODE_POOL[1] else each for each in found
    )


def _node_pool(name: str, value: paths.Object) -> AutoscaledPool | None:
    pool = value.get("spec")
    template = pool.get("template") if isinstance(pool, dict) else None
    if not isinstance(pool, dict) or not isinstance(template, dict):
        return None
    spec = paths.mapping(template.get("spec"))
    texts = paths.mapping(paths.mapping(template.get("metadata")).get("labels"))
    labels = {key: text for key, text in texts.items() if isinstance(text, str)}
    requirements = list(_requirements(spec.get("requirements")))
    single = {each.key: each.values[0] for each in requirements if each.operator == "In" and len(each.values) == 1}
    reference = paths.mapping(spec.get("nodeClassRef"))
    group, cloud = _cloud(reference)
    expires, grace = spec.get("expireAfter"), spec.get("terminationGracePeriod")
    types = _allowed(requirements, cloud) if cloud else None
    return AutoscaledPool(
        kind=NODE_POOL[1],
        name=name,
        labels={**labels, **single, _POOL_LABEL: name},
        own_label=_POOL_LABEL,
        taints=tuple(sorted(_taints(spec.get("taints")))),
        types=types,
        may_have_others=not any(_asks_accelerators(each, cloud) for each in requirements),
        defined=frozenset((*labels, *(each.key for each in requirements))),
        limits=_limits(pool.get("limits"), types or ()),
        consolidates=_consolidates(pool.get("disruption")),
        expires_after=expires if isinstance(expires, str) and _is_short(expires) else "",
        grace=paths.text(grace),
        node_class=(group, paths.text(reference.get("kind")), paths.text(reference.get("name"))),
    )


_AGE: Final = memo.pattern(r"(?:(\d{1,9})h)?(?:\d{1,9}m)?(?:\d{1,9}s)?")
_DEFAULT_HOURS: Final = 720


def _is_short(age: str) -> bool:
    found = _AGE.fullmatch(age)
    return bool(age) and found is not None and int(found[1] or 0) < _DEFAULT_HOURS


def _cloud(reference: Mapping[str, paths.Json]) -> tuple[str, str]:
    """The group of a NodeClass, and its cloud."""
    group = str(reference.get("group") or paths.text(reference.get("apiVersion")).partition("/")[0])
    return group, _CLOUDS.get(group, "")


def _with_node_class(pool: AutoscaledPool, objects: Objects) -> AutoscaledPool:
    """The pool with what its NodeClass says about pods, disks and network of its nodes."""
    group, kind, name = pool.node_class
    value, read = objects.get((group, kind), {}).get(name), _OF_NODE_CLASS.get((group, kind))
    if value is None or read is None:
        return pool
    spec = paths.mapping(value.get("spec"))
    taints = {*pool.taints, *([_TAINT_OF_GCE] if spec.get("autoGPUTaint") is True else ())}
    types = None if pool.types is None else tuple(_of_class(each, read(spec, each)) for each in pool.types)
    return replace(pool, types=types, taints=tuple(sorted(taints)))


_EFA: Final = "vpc.amazonaws.com/efa"
_STORAGE: Final = "ephemeral-storage"
_TAINT_OF_GCE: Final = Taint("nvidia.com/gpu", "present", "NoSchedule")


def _of_class(machine: MachineType, amounts: Amounts) -> MachineType:
    without_efa = amounts.get(_EFA, 1) == 0
    note = ", without EFA because its NodeClass sets associatePublicIPAddress" if without_efa else machine.note
    return replace(machine, amounts={**machine.amounts, **amounts}, note=note)


def _of_ec2(spec: Mapping[str, paths.Json], machine: MachineType) -> dict[str, int]:
    """The room that an EC2NodeClass gives a machine type.

    Source: aws/karpenter-provider-aws pkg/providers/instancetype/types.go; pkg/providers/launchtemplate says that EC2
    launches no instance with several network cards and a public address.
    """
    kubelet = paths.mapping(spec.get("kubelet"))
    found = _most_pods(kubelet, machine)
    if spec.get("associatePublicIPAddress") is True and machine.amounts.get(_EFA, 0) > 1:
        found[_EFA] = 0
    disk = "" if spec.get("instanceStorePolicy") == "RAID0" else _disk_of_ec2(spec)
    if disk:
        most = _amounts({_STORAGE: disk}).get(_STORAGE, 0)
        reserved = any(kubelet.get(key) for key in ("kubeReserved", "systemReserved", "evictionHard", "evictionSoft"))
        # The kubelet keeps 1 GiB, and evicts pods when less than a tenth is free.
        found[_STORAGE] = most if reserved else most - 2**30 - -(-most // 10)
    return found


def _disk_of_ec2(spec: Mapping[str, paths.Json]) -> str:
    """The size of the disk that Karpenter counts for pods; empty where usher cannot tell."""
    disks = [paths.mapping(each) for each in paths.elements(spec.get("blockDeviceMappings"))]
    aliases = [paths.mapping(each).get("alias") for each in paths.elements(spec.get("amiSelectorTerms"))]
    family = str(next(filter(None, aliases), None) or spec.get("amiFamily") or "custom").partition("@")[0].lower()
    if family.startswith("windows"):
        return ""
    device = "/dev/xvdb" if family == "bottlerocket" else "/dev/xvda"
    sizes = {
        "root" if each.get("rootVolume") is True else each.get("deviceName"): paths.mapping(each.get("ebs")).get(
            "volumeSize"
        )
        for each in disks
    }
    last = [*sizes.values()][-1:] if family == "custom" else [sizes.get(device)]
    return str(sizes.get("root") or next(filter(None, last), None) or "20Gi")


def _of_aks(spec: Mapping[str, paths.Json], machine: MachineType) -> dict[str, int]:
    """The room that an AKSNodeClass gives (Azure/karpenter-provider-azure pkg/apis/v1beta1/aksnodeclass.go)."""
    disk = spec.get("osDiskSizeGB", 128)
    return {**_most_pods(spec, machine), **(_amounts({_STORAGE: f"{disk}Gi"}) if isinstance(disk, int) else {})}


def _of_gce(spec: Mapping[str, paths.Json], machine: MachineType) -> dict[str, int]:
    """The room that a GCENodeClass gives a machine type (cloudpilot-ai/karpenter-provider-gcp pkg/apis)."""
    disks = [paths.mapping(each) for each in paths.elements(spec.get("disks"))]
    sizes = [each.get("sizeGiB") for each in disks if each.get("boot") is True]
    local = spec.get("localSsdMode") == "Ephemeral" or any(each.get("category") == "local-ssd" for each in disks)
    disk = {} if local or len(sizes) != 1 else _amounts({_STORAGE: f"{sizes[0]}Gi"})
    return {**_most_pods(paths.mapping(spec.get("kubeletConfiguration")), machine), **disk}


def _most_pods(kubelet: Mapping[str, paths.Json], machine: MachineType) -> dict[str, int]:
    most, per_core = kubelet.get("maxPods"), kubelet.get("podsPerCore")
    found = [most] if isinstance(most, int) else [machine.amounts[PODS]] if PODS in machine.amounts else []
    cores = next((int(text) for key, text in machine.labels.items() if key.endswith("/instance-cpu")), 0)
    found += [per_core * cores] if isinstance(per_core, int) and per_core > 0 and cores else []
    return {PODS: min(found)} if found and (isinstance(most, int) or per_core) else {}


_OF_NODE_CLASS: Final[Mapping[tuple[str, str], Callable[[Mapping[str, paths.Json], MachineType], dict[str, int]]]] = {
    EC2_NODE_CLASS: _of_ec2,
    AKS_NODE_CLASS: _of_aks,
    GCE_NODE_CLASS: _of_gce,
}


def _limits(value: paths.Json, types: Sequence[MachineType]) -> Amounts:
    """The limits of accelerators, also those that follow from a limit of CPUs.

    Karpenter counts all CPUs of a node, and adds no node that exceeds a limit (filterByRemainingResources in
    pkg/controllers/provisioning/scheduling of kubernetes-sigs/karpenter).
    """
    written = _amounts(paths.mapping(value))
    found = {name: most for name, most in written.items() if name in names.DEVICE_NAMES}
    for name in names.DEVICE_NAMES if "cpu" in written and types else ():
        sizes = [(each.amounts[name], each.amounts.get("cpu", 0)) for each in types if each.amounts.get(name)]
        if sizes and all(cpus for _, cpus in sizes):
            at_once = max(cpus for _, cpus in sizes) if len(sizes) == 1 else 1
            most = max(written["cpu"] // at_once * at_once * devices // cpus for devices, cpus in sizes)
            found[name] = min(most, found.get(name, most))
    return found


def _consolidates(disruption: paths.Json) -> bool:
    """Whether it does; without a policy it does (kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go)."""
    if not isinstance(disruption, dict | None):
        return False
    given = disruption or {}
    budgets, after = given.get("budgets") or [], given.get("consolidateAfter") or ""
    if not isinstance(budgets, list) or not isinstance(after, str):
        return False
    stopped = (paths.mapping(each) for each in budgets)
    always = any(
        each.get("nodes") in _NO_NODE
        and not each.get("schedule")
        and (not each.get("reasons") or "Underutilized" in paths.elements(each.get("reasons")))
        for each in stopped
    )
    return given.get("consolidationPolicy", _CONSOLIDATING[0]) in _CONSOLIDATING and after != "Never" and not always


_CONSOLIDATING: Final = ("WhenEmptyOrUnderutilized", "WhenUnderutilized")
"""The policies that move pods; v1beta1 has the second word."""
_NO_NODE: Final = ("0", "0%", 0)


def _allowed(requirements: list[Requirement], cloud: str) -> tuple[MachineType, ...] | None:
    known = machine_types()
    named = [name for each in requirements if each.key in _NAMING and each.operator == "In" for name in each.values]
    if any(name not in known and _ACCELERATED[cloud].match(name) for name in named):
        return None
    found = tuple(each for each in known.values() if each.of == cloud and all(_meets(each, it) for it in requirements))
    return found if len(found) <= _MOST_TYPES else None


_NAMING: Final = (*TYPE_LABELS, "karpenter.azure.com/sku-name")
_SURELY_ABSENT: Final = memo.pattern(
    r"(karpenter\.k8s\.aws|eks\.amazonaws\.com)/instance-(gpu|accelerator)-|karpenter\.azure\.com/sku-gpu-count"
    r"|karpenter\.k8s\.gcp/instance-gpu-count"
)
"""Labels that every type has in the table if nodes of the type have them."""


def _meets(machine: MachineType, wanted: Requirement) -> bool:
    known = wanted.key in machine.labels or _SURELY_ABSENT.match(wanted.key)
    return not known or placement.labels_match(wanted, machine.labels)


_CHOOSING: Final = memo.pattern(r".*/(?:instance-(?:type|family|category)|sku-(?:name|family))")


def _asks_accelerators(wanted: Requirement, cloud: str) -> bool:
    """Whether a requirement leaves only machine types with accelerators."""
    if _SURELY_ABSENT.match(wanted.key):
        return wanted.operator in ("Exists", "Gt") or (wanted.operator == "In" and "0" not in wanted.values)
    start = "Standard_" if wanted.key.endswith("/sku-family") else ""
    named = wanted.values if cloud and wanted.operator == "In" and _CHOOSING.fullmatch(wanted.key) else ()
    return bool(named) and all(_ACCELERATED[cloud].match(start + each) for each in named)


def _requirements(value: paths.Json) -> Iterator[Requirement]:
    for each in value if isinstance(value, list) else ():
        found = placement.read_requirement(each)
        if found is not None and placement.is_for_labels(found):
            yield found


def _taints(value: paths.Json) -> Iterator[Taint]:
    for each in value if isinstance(value, list) else ():
        entry = paths.mapping(each)
        key, effect, text = entry.get("key"), entry.get("effect"), entry.get("value") or ""
        if isinstance(key, str) and effect in placement.GUARDING and isinstance(text, str) and isinstance(effect, str):
            yield Taint(key, text, effect)


def _overlaid(pool: AutoscaledPool, overlays: Sequence[Mapping[str, paths.Json]]) -> AutoscaledPool:
    """The pool with the resources that NodeOverlays add to its machine types (kubernetes-sigs/karpenter designs)."""
    added = [(list(_requirements(each.get("requirements"))), paths.mapping(each.get("capacity"))) for each in overlays]
    added = [(wanted, capacity) for wanted, capacity in added if capacity]
    if pool.types is None or not added:
        return pool

    def with_capacity(machine: MachineType) -> MachineType:
        labels = {**machine.labels, **pool.labels}
        adds = (_amounts(capacity) for wanted, capacity in added if all(_matches(each, labels) for each in wanted))
        return replace(
            machine, amounts={**machine.amounts, **{key: text for each in adds for key, text in each.items()}}
        )

    return replace(pool, types=tuple(map(with_capacity, pool.types)))


def _matches(wanted: Requirement, labels: Mapping[str, str]) -> bool:
    return wanted.key not in labels or placement.labels_match(wanted, labels)


def _compute_class(name: str, value: paths.Object) -> AutoscaledPool | None:
    spec = value.get("spec")
    if not isinstance(spec, dict):
        return None
    rules = spec.get("priorities")
    found = [_types_of_rule(paths.mapping(each)) for each in rules] if isinstance(rules, list) else []
    # With this word, GKE may add any nodes if no rule can be met; before 1.33 it was the default.
    closed = spec.get("whenUnsatisfiable", "DoNotScaleUp") == "DoNotScaleUp"
    known = [each for each in found if each is not None]
    types = {each.name: each for types in known for each in types} if closed and len(known) == len(found) else None
    return AutoscaledPool(
        kind=COMPUTE_CLASS[1],
        name=name,
        labels={_CLASS_LABEL: name},
        own_label=_CLASS_LABEL,
        # GKE tolerates the taints of its accelerator nodes and of the class for the pods.
        taints=(),
        types=None if types is None else tuple(types.values()),
        assumption="" if "whenUnsatisfiable" in spec else _OF_1_33,
    )


_OF_1_33: Final = "usher assumes GKE 1.33 or later, where a class without whenUnsatisfiable gets no other nodes"


def _types_of_rule(rule: Mapping[str, paths.Json]) -> tuple[MachineType, ...] | None:
    """The types with accelerators that a rule of a ComputeClass allows; None where usher cannot tell."""
    named, family = rule.get("machineType"), rule.get("machineFamily")
    gpu, tpu = paths.mapping(rule.get("gpu")), paths.mapping(rule.get("tpu"))
    known = machine_types()
    if isinstance(named, str):
        return (known[named],) if named in known else None if gpu or _ACCELERATED["gcp"].match(named) else ()
    if isinstance(family, str) and not _ACCELERATED["gcp"].match(family):
        return () if not gpu else None
    label, wanted, resource = (
        ("cloud.google.com/gke-tpu-accelerator", tpu, "google.com/tpu")
        if tpu
        else ("cloud.google.com/gke-accelerator", gpu, "nvidia.com/gpu")
    )
    if not wanted:
        return None
    found = tuple(
        each
        for each in known.values()
        if each.labels.get(label) == wanted.get("type") and each.amounts.get(resource) == wanted.get("count")
        if family is None or each.name.startswith(f"{family}-")
    )
    return found or None


_CAPACITY: Final = "capacity.cluster-autoscaler.kubernetes.io/"
_LARGEST_SIZE: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"


def _machines(kind: str) -> Callable[[str, paths.Object], AutoscaledPool | None]:
    def read(name: str, value: paths.Object) -> AutoscaledPool | None:
        texts = paths.mapping(paths.mapping(value.get("metadata")).get("annotations"))
        given = {key: text for key, text in texts.items() if isinstance(text, str)}
        if given.get(_LARGEST_SIZE, "0") == "0" or not given.get(f"{_CAPACITY}cpu"):
            return None
        resource = given.get(f"{_CAPACITY}gpu-type", "nvidia.com/gpu")
        keys = {"cpu": "cpu", "memory": "memory", "gpu-count": resource, "maxPods": "pods"}
        amounts = _amounts({to: given[_CAPACITY + key] for key, to in keys.items() if _CAPACITY + key in given})
        labels = dict(_pairs(given.get(f"{_CAPACITY}labels", "")))
        taints = (_TAINT.fullmatch(each.strip()) for each in given.get(f"{_CAPACITY}taints", "").split(","))
        machine = _machine_type(name, "", {}, amounts)
        return AutoscaledPool(
            kind=kind,
            name=name,
            labels=labels,
            taints=tuple(sorted(Taint(*each.groups("")) for each in taints if each)),
            types=(replace(machine, labels={}),),
        )

    return read


def _machine_sets(objects: Objects) -> Iterator[AutoscaledPool]:
    """The MachineSets that MachineAutoscalers scale; of an unknown one, usher does not know the machine type."""
    for name, value in sorted(objects.get(MACHINE_AUTOSCALER, {}).items()):
        spec = paths.mapping(value.get("spec"))
        target = paths.text(paths.mapping(spec.get("scaleTargetRef")).get("name"))
        found = objects.get(MACHINE_SET, {}).get(f"{name.rpartition('/')[0]}/{target}", {})
        machine = paths.mapping(paths.mapping(paths.mapping(found.get("spec")).get("template")).get("spec"))
        labels = paths.mapping(paths.mapping(machine.get("metadata")).get("labels"))
        types = _types_of_set(target, machine, found)
        if target and isinstance(most := spec.get("maxReplicas"), int) and most > 0:
            yield AutoscaledPool(
                kind=MACHINE_SET[1],
                name=target,
                labels={key: text for key, text in labels.items() if isinstance(text, str)},
                taints=tuple(sorted(_taints(machine.get("taints")))),
                types=types,
                may_have_others=types == (),
            )


def _types_of_set(name: str, machine: Mapping[str, paths.Json], value: paths.Object) -> tuple[MachineType, ...] | None:
    """The machine type of a MachineSet, or what its annotations say of one; empty without accelerators."""
    provider = paths.mapping(paths.mapping(machine.get("providerSpec")).get("value"))
    named = next((text for key in ("instanceType", "vmSize", "machineType") if (text := provider.get(key))), "")
    if known := machine_types().get(str(named)):
        return (known,)
    given = paths.mapping(paths.metadata(value).get("annotations"))
    own = {key.removeprefix("machine.openshift.io/"): text for key, text in given.items()}
    units = {"vCPU": ("cpu", ""), "memoryMb": ("memory", "Mi"), "GPU": ("nvidia.com/gpu", "")}
    amounts = _amounts({to: f"{own[key]}{unit}" for key, (to, unit) in units.items() if key in own})
    if amounts.get("nvidia.com/gpu"):
        return (replace(_machine_type(name, "", {}, amounts), labels={}),)
    return () if amounts or (named and not any(each.match(str(named)) for each in _ACCELERATED.values())) else None


_TAINT: Final = memo.pattern(r"([^=:]+)(?:=([^:]*))?:(NoSchedule|NoExecute)")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for each in text.split(","):
        key, equal, value = each.strip().partition("=")
        if equal:
            yield key, value


_READERS: Final[Mapping[tuple[str, str], Callable[[str, paths.Object], AutoscaledPool | None]]] = {
    NODE_POOL: _node_pool,
    COMPUTE_CLASS: _compute_class,
    MACHINE_DEPLOYMENT: _machines("MachineDeployment"),
    MACHINE_POOL: _machines("MachinePool"),
}
