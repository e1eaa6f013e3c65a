"""Boards, machine types and slices that pods and pools select, and that no node, no cloud or no driver has.

Sources: `machine_types.json`; docs.cloud.google.com/kubernetes-engine/docs/concepts/tpus and
docs/concepts/plan-tpus for topologies of TPU slices and the chips of their nodes.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from usher import memo, model, paths, quantities
from usher.accelerators import boards
from usher.kinds.reading import known_keys
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.environment import misread
from usher.kinds.reading.values import Objects
from usher.model import placement

Found = Iterator[model.UnreadKey]

_PRODUCT: Final = "nvidia.com/gpu.product"
_BARE: Final = {
    **{
        name: f"NVIDIA-{name}"
        for name in ("A10", "A10G", "A30", "A40", "B200", "B300", "GB200", "GB300", "H20", "H200")
    },
    **{name: f"NVIDIA-{name}" for name in ("L4", "L40", "L40S")},
    "A100": "NVIDIA-A100-SXM4-80GB",
    "H100": "NVIDIA-H100-80GB-HBM3",
    "T4": "Tesla-T4",
    "V100": "Tesla-V100-SXM2-32GB",
}
"""Boards, with the name that drivers give them; some have several."""

_TYPE_LABELS: Final = (
    "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "karpenter.azure.com/sku-name",
)  # fmt: skip
_REQUIREMENTS: Final = "spec.template.spec.requirements[]"
_MACHINES: Final = {
    "cloud.google.com ComputeClass": "spec.priorities[].machineType",
    "infrastructure.cluster.x-k8s.io AWSMachineTemplate": "spec.template.spec.instanceType",
    "infrastructure.cluster.x-k8s.io AzureMachineTemplate": "spec.template.spec.vmSize",
    "infrastructure.cluster.x-k8s.io GCPMachineTemplate": "spec.template.spec.instanceType",
    "infrastructure.cluster.x-k8s.io AWSManagedMachinePool": "spec.instanceType",
    "eksctl.io ClusterConfig": "{nodeGroups,managedNodeGroups}[].{instanceType,instanceTypes[]}",
}
"""Places of machine types, by kind."""
_OF_CLOUDS: Final = memo.pattern(r"(?:g\d|p\d|inf|trn)[\w-]*\.\w|(?:a\d|g\d|ct\d|tpu)[\w]*-|Standard_N", re.IGNORECASE)
"""Machine types of AWS, GCP and Azure with accelerators."""
_SIZE: Final = memo.pattern(r"\d*xlarge|large|medium|metal(-\d+xl)?")
_ALIKE: Final = 0.85
_FAMILY: Final = 3
"""Sizes from which on the table has all sizes of a family."""


def machines_of_no_cloud(value: paths.Object, kind: str, specs: Sequence[places.PodSpec]) -> Found:
    """Machine types with accelerators in objects of node pools and in selectors of pods that no cloud has."""
    named = list(places.texts_with_paths(value, _MACHINES[kind])) if kind in _MACHINES else []
    entries = list(places.at(value, _REQUIREMENTS)) if kind == "karpenter.sh NodePool" else []
    for spec, path, _ in specs:
        if not spec.keys().isdisjoint(("nodeSelector", "affinity")):
            entries += places.at(spec, _REQUIRED_LABELS, path)
            selector = paths.mapping(spec.get("nodeSelector"))
            named += [(paths.join(f"{path}/nodeSelector", key), str(selector.get(key, ""))) for key in _TYPE_LABELS]
    for where, each in entries:
        if isinstance(each, dict) and each.get("key") in _TYPE_LABELS and each.get("operator") == "In":
            named += places.texts_with_paths(each, "values[]", where)
    for where, name in named:
        if _OF_CLOUDS.match(name) and (said := _no_machine(name[:80])):
            yield misread(where, f"names the machine type {name[:80]}, {said[0]}", said[1], "controller")


def _no_machine(name: str) -> tuple[str, str] | None:
    """Why no cloud has a machine type, and a remedy; None for one that may be newer than the table."""
    known = boards.machine_rows()
    family, dot, size = name.partition(".")
    sizes = [each for each in known if each.startswith(f"{family}.")] if dot else []
    if name in known or (dot and not sizes) or any(name.startswith(f"{each}-") for each in known):
        return None  # Google writes variants of a machine type behind it: -nolssd, -tpu.
    if sizes and _SIZE.fullmatch(size):
        listed = ", ".join(sorted((each.partition(".")[2] for each in sizes), key=lambda each: (len(each), each)))
        found = f"a size of {family} that usher's table of machine types does not have", f"choose one of: {listed}"
        return found if len(sizes) >= _FAMILY else None
    like = difflib.get_close_matches(name, sizes or known, n=1, cutoff=_ALIKE)
    if like and _letters(name, known[like[0]]["of"]) == _letters(like[0], known[like[0]]["of"]):
        return "which no cloud has", f"did you mean {like[0]}?"
    return ("which no cloud has", f"choose one of: {', '.join(sorted(sizes)[:8])}") if sizes else None


def _letters(name: str, cloud: str) -> str:
    """The part of a name that slips do not change: its digits, and on Azure all letters, because each has a meaning."""
    return "".join(sorted(re.sub(r"[^a-z0-9]", "", name.lower()))) if cloud == "azure" else re.sub(r"\D", "", name)


_TPU: Final = "google.com/tpu"
_NONE: Final = quantities.parse("0")
_GKE: Final = "cloud.google.com/gke-tpu-"
_DIMENSIONS: Final = {
    "tpu-v4-podslice": 3, "tpu-v5p-slice": 3, "tpu7x": 3, "tpu-v5-lite-podslice": 2, "tpu-v5-lite-device": 2,
    "tpu-v6e-slice": 2,
}  # fmt: skip
"""The dimensions of the topologies of each kind of TPU."""
_CHIPS: Final = 4
"""The chips of a node of a slice with several nodes."""
_TWICE: Final = ("tpu-v5-lite", "tpu-v6e")
"""Kinds of TPU whose single nodes may also have 8 chips."""


def slices_other_than_pods(workload: model.Workload) -> Found:
    """Pods whose TPU chips or number do not fit the topology of the slice that they select."""
    pods = dict[tuple[str, str], int]()
    for each in workload.pod_sets:
        slice_ = _slice_of(each)
        pods[slice_] = pods.get(slice_, 0) + each.count.minimum // max(each.groups, 1)
    for each in workload.pod_sets:
        tpu, topology = _slice_of(each)
        if tpu not in _DIMENSIONS or not re.fullmatch(r"\d{1,3}(x\d{1,3}){1,2}", topology):
            continue
        where = paths.join(f"{each.spec_path}/nodeSelector", f"{_GKE}topology")
        chips = math.prod(map(int, topology.split("x")))
        most = chips if chips <= _CHIPS or (chips == 2 * _CHIPS and tpu.startswith(_TWICE)) else _CHIPS
        hosts, asked, remedy = chips // most, each.accelerators.get(_TPU, _NONE).value, ""
        if topology.count("x") + 1 != _DIMENSIONS[tpu]:
            text = f"selects the topology {topology} of {tpu}, whose topologies have {_DIMENSIONS[tpu]} dimensions"
            remedy = f"select one of its topologies, for example {'2x4' if tpu.startswith(_TWICE) else '2x2x1'}"
        elif asked > most or (asked and hosts > 1 and asked != most):
            text = f"asks for {asked} TPU chips, and a pod on the topology {topology} gets the {most} of its node"
            remedy = f"ask for {most}{f' in each of {hosts} pods' if hosts > 1 else ''}"
        elif asked and hosts > 1 and workload.kind != "Pod" and (found := pods[tpu, topology]) % hosts:
            text = f"makes {found} pod{'s' * (found > 1)} for the {hosts} nodes of a slice {topology}, which all wait"
            remedy = f"run {hosts} pods for each slice"
        if remedy:
            yield misread(where, text, remedy, "controller")


def _slice_of(pod_set: model.PodSet) -> tuple[str, str]:
    selector = pod_set.node_selector
    return selector.get(f"{_GKE}accelerator", ""), selector.get(f"{_GKE}topology", "")


_REQUIRED_LABELS: Final = (
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchExpressions[]"
)


_GKE_BOARD: Final = "cloud.google.com/gke-accelerator"
_OLD_TESLAS: Final = ("k80", "p100", "p4", "v100", "t4")
_BOARDS_OF_GKE: Final = {
    **{name: f"nvidia-tesla-{name}" for name in _OLD_TESLAS},
    "a100": "nvidia-tesla-a100 (40 GB) or nvidia-a100-80gb", "l4": "nvidia-l4", "b200": "nvidia-b200",
    "h100": "nvidia-h100-80gb or nvidia-h100-mega-80gb", "h200": "nvidia-h200-141gb", "gb200": "nvidia-gb200",
}  # fmt: skip
_TPUS_OF_GKE: Final = {
    "v4": "tpu-v4-podslice", "v5e": "tpu-v5-lite-podslice", "v5-lite": "tpu-v5-lite-podslice", "v5p": "tpu-v5p-slice",
    "v5litepod": "tpu-v5-lite-podslice", "v6e": "tpu-v6e-slice", "trillium": "tpu-v6e-slice",
}  # fmt: skip
_GPU_NAME: Final = memo.pattern(r"(karpenter\.k8s\.aws|eks\.amazonaws\.com)/instance-(gpu|accelerator)-name")


def _right_value(label: str, text: str) -> tuple[str, str]:
    """Who writes a label, and the right value for a text; an empty value for one that may be right."""
    if label == _PRODUCT:
        return "gpu-feature-discovery", _BARE.get(text.upper().removeprefix("NVIDIA-"), "")
    if label == _GKE_BOARD:
        return "GKE", _BOARDS_OF_GKE.get(re.sub(r"^nvidia-|^tesla-|tesla-", "", text.lower()), "")
    if label == f"{_GKE}accelerator":
        return "GKE", _TPUS_OF_GKE.get(re.sub(r"^tpu-|-(pod)?slice$", "", text.lower()), "")
    return "Karpenter", text.lower() if _GPU_NAME.fullmatch(label) else ""


def boards_without_their_name(
    specs: Sequence[places.PodSpec], value: paths.Object | None = None, kind: str = ""
) -> Found:
    """Boards that pods, a NodePool or a ResourceFlavor select without the name that nodes have."""
    maps = [(f"{path}/nodeSelector", spec.get("nodeSelector")) for spec, path, _ in specs]
    entries = [
        each for spec, path, _ in specs if "affinity" in spec for each in places.at(spec, _REQUIRED_LABELS, path)
    ]
    if kind == "kueue.x-k8s.io ResourceFlavor":
        maps += places.at(value, "spec.nodeLabels")
    elif kind == "karpenter.sh NodePool":
        entries += places.at(value, _REQUIREMENTS)
    chosen = [
        (paths.join(where, key), key, text)
        for where, each in maps
        if isinstance(each, dict)
        for key, text in each.items()
    ]
    for where, each in entries:
        if isinstance(each, dict) and each.get("operator") == "In":
            chosen += [(f"{where}/values", str(each.get("key")), text) for text in places.texts_at(each, "values[]")]
    for where, key, text in chosen:
        writer, right = _right_value(key, text) if isinstance(text, str) else ("", "")
        if right and text not in right.split():
            wrong = f"selects nodes with {key}: {text}, but {writer} writes names like {right}"
            yield misread(where, wrong, f"write the value of your nodes, for example {right}", "controller")


NODES: Final = "nodes of the facts"
"""The key of `Objects.once` for the nodes of the facts, by name."""


def nodes_of(objects: Objects) -> Mapping[str, paths.Object]:
    """The nodes of the files and of the facts, by name."""
    found: Mapping[str, paths.Object] = objects.once(NODES, dict)
    return {**found, **objects.cluster_scoped("", "Node")}


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


def taints_of(node: Mapping[str, object]) -> list[Taint]:
    """The taints of a node, or of the template of a NodePool."""
    given = (paths.mapping(each) for each in places.values_at(node, "spec.taints[]"))
    return [Taint(*(paths.text(each.get(part)) for part in Taint._fields)) for each in given]


def _of_taints(value: paths.Object, objects: Objects) -> Found:
    """Tolerations with another value than the taint of a NodePool that the pods select."""
    pools = objects.cluster_scoped("karpenter.sh", "NodePool")
    for spec, path, _ in places.pod_specs(value) if pools else ():
        tolerations = [each for each in places.values_at(spec, "tolerations[]") if isinstance(each, dict)]
        selector = paths.mapping(spec.get("nodeSelector"))
        template = known_keys.part_at(pools.get(str(selector.get("karpenter.sh/nodepool")), {}), "/spec/template")
        for taint in placement.untolerated(tolerations, taints_of(template)):
            if any(each.get("key") == taint.key for each in tolerations):
                text = f"tolerates the taint {taint.key} with another value or effect than its NodePool has"
                remedy = f"tolerate {taint.key}={taint.value}:{taint.effect}, or use the operator Exists"
                yield misread(f"{path}/tolerations", text, remedy, "controller")


def beside_others(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Nodes and devices that other objects of the files do not give as an object chooses them."""
    if shared := objects.once("shares that plugins give one at a time", lambda: dict(_single_shares(objects))):
        yield from _of_several_shares(value, shared)
    if objects.names(*_DOMAINS) or objects.names("resource.k8s.io", "ResourceClaimTemplate"):
        yield from _of_domains(value, objects)
    yield from _of_taints(value, objects)
    if (rule := _OF_OPERATORS.get(key)) is not None:
        yield from rule(value, objects)
    for row in _rows().get(" ".join(key), ()):
        if places.meets(value, row.only) and not places.meets_any(value, row.unless):
            yield from _of_row(row, value, objects)


class _Beside(NamedTuple):
    """A row of `beside` in known_keys.yaml: what an object says, and what another one of the files has or lacks."""

    kinds: Sequence[str]
    at: str
    """The place of the name of the other object, or of an entry with a name; without one, any object of its kind."""
    others: Sequence[str]
    """Kinds of the other object."""
    text: str
    """A message with the {word} at the place, and the {other} object."""
    remedy: str
    any: bool = False
    """Whether any object of these kinds counts, whatever the text at the place."""
    only: Mapping[str, str] = {}
    unless: Mapping[str, str] = {}
    entry: Mapping[str, str] = {}
    """Conditions of the entry at the place."""
    has: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {}
    """Conditions of the other object, in which {word} is the text at the place; it does not meet any of these."""
    without: str = ""
    """The kind of an object that has this name rightly."""
    anywhere: bool = False
    """Whether the other object may be in another namespace."""


@cache
def _rows() -> Mapping[str, Sequence[_Beside]]:
    rows = [_Beside(**row) for row in known_keys.rows("beside")]
    return {kind: [row for row in rows if kind in row.kinds] for each in rows for kind in each.kinds}


def _of_row(row: _Beside, value: paths.Object, objects: Objects) -> Found:
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for where, named in places.at(value, row.at):
        word = str(named.get("name", "")) if isinstance(named, dict) else str(named)
        group, _, kind = row.without.partition(" ")
        if not places.meets(named, row.entry) or word in objects.names(group, kind):
            continue
        for group, _, kind in (each.partition(" ") for each in row.others):
            has = {place: pattern.replace("{word}", re.escape(word)) for place, pattern in row.has.items()}
            of_kind = objects.cluster_scoped(group, kind)
            for other in of_kind.values() if row.any else filter(None, [of_kind.get(word)]):
                home = paths.text(paths.metadata(other).get("namespace"))
                elsewhere = bool(home and namespace) and home != namespace and not row.anywhere
                if elsewhere or not places.meets(other, has) or places.meets_any(other, row.lacks):
                    continue
                name = f"{kind} {paths.text(paths.metadata(other).get('name'))[:100]}"
                said, remedy = (text.format(word=word[:100], other=name) for text in (row.text, row.remedy))
                yield misread(where, said, remedy, "controller")
                return


def _single_shares(objects: Objects) -> Iterator[tuple[str, str]]:
    """Resources that configurations in the files give a container one share at a time, with a reason.

    A name that some configuration gives to whole GPUs is left out.
    """
    whole, found = set[str](), dict[str, str]()
    for _, value in objects.all():
        if value.get("kind") == "GpuDevicePlugin" and known_keys.part_at(value, "/spec").get("sharedDevNum", 1) != 1:
            for name in ("gpu.intel.com/i915", "gpu.intel.com/xe"):
                found[name] = (
                    f"shares by sharedDevNum of GpuDevicePlugin {paths.metadata(value).get('name')}, perhaps of one GPU"
                )
        for each in known_keys.configurations(value.get("data")) if value.get("kind") == "ConfigMap" else ():
            ways = known_keys.part_at(each.value, "/sharing") if each.reader == "the device plugin" else {}
            if each.reader == "the device plugin" and not ways:
                whole.add("nvidia.com/gpu")
            for way, shares in ways.items():
                given = shares if isinstance(shares, dict) else {}
                for resource in map(paths.mapping, places.values_at(given, "resources[]")):
                    name = paths.text(resource.get("name"))
                    if given.get("failRequestsGreaterThanOne", way == "mps") is True:
                        shared = f"{name}.shared" if given.get("renameByDefault") is True else name
                        found[paths.text(resource.get("rename")) or shared] = (
                            f"and the configuration {each.key} refuses more than one share by {way}"
                        )
                    else:
                        whole.add(name)
    yield from ((name, reason) for name, reason in found.items() if name not in whole)


def _of_several_shares(value: paths.Object, shared: Mapping[str, str]) -> Found:
    for spec, path, _ in places.pod_specs(value):
        for place, limits in places.at(spec, "{containers,initContainers}[].resources.limits", path):
            for name, reason in shared.items() if isinstance(limits, dict) else ():
                amount = str(limits.get(name, ""))
                if re.fullmatch(r"\d{1,9}", amount, re.ASCII) and int(amount) > 1:
                    end = "" if "perhaps" in reason else ", so the pod ends with UnexpectedAdmissionError"
                    text = f"asks for {amount} {name}, {reason}{end}"
                    yield misread(paths.join(place, name), text, "ask for 1, or for whole GPUs elsewhere", "controller")


_FRACTIONS: Final = memo.pattern(r"gr?6f(\.\w+)?")


def _of_fractions(value: paths.Object, objects: Objects) -> Found:
    """Types with a fraction of a GPU, where EC2 reports 0 GPUs (aws/karpenter-provider-aws#8368)."""
    overlays = objects.cluster_scoped("karpenter.sh", "NodeOverlay").values()
    counted = any("nvidia.com/gpu" in known_keys.part_at(each, "/spec/capacity") for each in overlays)
    for where, each in () if counted else places.at(value, _REQUIREMENTS):
        types = places.texts_at(each, "values[]")
        if types and all(map(_FRACTIONS.fullmatch, types)):
            text = f"allows only {types[0]}, and EC2 reports no GPU there, so Karpenter adds no node for nvidia.com/gpu"
            remedy = "allow g6, or add a NodeOverlay with the capacity nvidia.com/gpu"
            yield misread(f"{where}/values", text, remedy, "controller")


_CLASSES: Final = "spec{,.spec}.devices.requests[]{,.exactly}.deviceClassName"
_OF_BOARDS: Final = memo.pattern(r"(gpu|mig)\.(nvidia|amd|intel)\.com")
_DOMAINS: Final = ("resource.nvidia.com", "ComputeDomain")


def _of_domains(value: paths.Object, objects: Objects) -> Found:
    """Claims that no container uses, and those by a template that is only like the one of a ComputeDomain."""
    domains = objects.cluster_scoped(*_DOMAINS)
    made = {
        text: name
        for name, each in domains.items()
        for text in places.texts_at(each, "spec.channel.resourceClaimTemplate.name")
    }
    templates = objects.cluster_scoped("resource.k8s.io", "ResourceClaimTemplate")
    known = {*made, *templates}
    for spec, path, _ in places.pod_specs(value):
        used = places.texts_at(spec, "{containers,initContainers}[].resources.claims[].name")
        for where, claim in places.at(spec, "resourceClaims[]", path):
            named = paths.mapping(claim)
            classes = places.texts_at(templates.get(str(named.get("resourceClaimTemplateName")), {}), _CLASSES)
            if named.get("name") not in used and classes and all(map(_OF_BOARDS.fullmatch, classes)):
                text = f"claims {classes[0]} as {named.get('name')}, and no container uses it or gets the device"
                yield misread(where, text, "name the claim in resources.claims of the container", "controller")
        for where, name in places.texts_with_paths(spec, "resourceClaims[].resourceClaimTemplateName", path):
            like = [] if name in known or not made else difflib.get_close_matches(name[:100], made, n=1, cutoff=0.7)
            if like:
                text = f"claims by the template {name[:100]}, and ComputeDomain {made[like[0]]} makes {like[0]}"
                yield misread(where, text, f"did you mean {like[0]}?", "controller")


def _of_driver(value: paths.Object, objects: Objects) -> Found:
    """An NVIDIADriver that the operator ignores, or whose nodes another one has too (controllers/nvidiadriver)."""
    policies = objects.cluster_scoped("nvidia.com", "ClusterPolicy")
    for name, each in policies.items():
        if known_keys.part_at(each, "/spec/driver").get("useNvidiaDriverCRD") is not True:
            text = f"has no effect, because ClusterPolicy {name} in these files does not set driver.useNvidiaDriverCRD"
            yield misread(
                "/spec", text, "set spec.driver.useNvidiaDriverCRD of the ClusterPolicy to true", "controller"
            )
    own, mine = paths.metadata(value).get("name"), known_keys.part_at(value, "/spec/nodeSelector")
    for name, each in objects.cluster_scoped("nvidia.com", "NVIDIADriver").items():
        theirs = known_keys.part_at(each, "/spec/nodeSelector")
        fallback = any(paths.mapping(one.get("spec")).get("default") is True for one in (value, each))
        if name != own and not fallback and theirs.items() <= mine.items() and (theirs != mine or name < str(own)):
            text = f"selects nodes that NVIDIADriver {name} in these files selects too, and the operator refuses both"
            remedy = f"give {name} a nodeSelector for other nodes, or remove it"
            yield misread("/spec/nodeSelector" if mine else "/spec", text, remedy, "controller")


_GKE_OFF: Final = "gke-no-default-nvidia-gpu-device-plugin"


def _of_policy(value: paths.Object, objects: Objects) -> Found:
    """A device plugin beside that of GKE, one kind of slices where a node has several, containerd where it is not, and
    claims without CDI, by which NVIDIA's driver of claims gives devices (dra-driver-nvidia-gpu#426).
    """
    nodes = {name: known_keys.part_at(each, "/metadata/labels") for name, each in nodes_of(objects).items()}
    plugin = known_keys.part_at(value, "/spec/devicePlugin").get("enabled", True)
    twice = [name for name, labels in nodes.items() if _GKE_BOARD in labels and labels.get(_GKE_OFF) != "true"]
    if twice and plugin is not False:
        text = (
            f"runs a device plugin beside that of GKE on {', '.join(sorted(twice)[:3])}, and both offer nvidia.com/gpu"
        )
        remedy = f"set devicePlugin.enabled to false, or label the node pools {_GKE_OFF}=true"
        yield misread("/spec/devicePlugin", text, remedy, "controller")
    rancher = sorted(name for name, labels in nodes.items() if labels.get(_TYPE_LABELS[0]) in {"k3s", "rke2"})
    toolkit = known_keys.part_at(value, "/spec/toolkit")
    named = {"CONTAINERD_SOCKET", "RUNTIME_SOCKET"}.intersection(places.texts_at(toolkit, "env[].name"))
    if rancher and toolkit.get("enabled") is not False and not named:
        text = f"does not name the socket of containerd on {rancher[0]}, where k3s or RKE2 has it in /run/k3s"
        remedy = "add CONTAINERD_SOCKET with the value /run/k3s/containerd/containerd.sock to toolkit.env"
        yield misread("/spec/toolkit", text, remedy, "controller")
    if known_keys.part_at(value, "/spec/cdi").get("enabled") is False:
        kinds = ("ResourceClaim", "ResourceClaimTemplate")
        asked = (places.texts_at(each, _CLASSES) for _, each in objects.all() if each.get("kind") in kinds)
        if any(_OF_BOARDS.fullmatch(name) and ".nvidia." in name for names in asked for name in names):
            text = "switches CDI off, by which the driver of the claims in these files gives a pod its GPUs alone"
            yield misread("/spec/cdi/enabled", text, "set cdi.enabled to true", "controller")
    if known_keys.part_at(value, "/spec/mig").get("strategy", "single") == "single":
        for name, labels in nodes.items():
            if (layout := str(labels.get("nvidia.com/mig.config", ""))) == "all-balanced":
                text = (
                    f"has the MIG strategy single, but the layout {layout} of node {name} has slices of several sizes"
                )
                yield misread("/spec/mig/strategy", text, "set mig.strategy to mixed", "controller")
                return


def _of_selector(value: paths.Object, objects: Objects) -> Found:
    """A selector of an operator or an agent that no node in the files meets, with a label that nodes have instead."""
    labels = [known_keys.part_at(each, "/metadata/labels") for each in nodes_of(objects).values()]
    known = {label for each in labels for label in each}
    for place in ("spec.selector", "spec.nodeSelector", "spec.template.spec.nodeSelector"):
        for where, selector in places.at(value, place) if labels else ():
            for key, wanted in selector.items() if isinstance(selector, dict) else ():
                if any(each.get(key) == wanted for each in labels):
                    continue
                like = difflib.get_close_matches(key, sorted(known - {key})[:500], n=1, cutoff=0.85)
                if like and "/" in key and key not in known:
                    text = f"selects nodes with the label {key}, which no known node has"
                    topic = "agent" if value.get("kind") == "DaemonSet" else "controller"
                    yield misread(paths.join(where, key), text, f"did you mean {like[0]}?", topic)


_OF_OPERATORS: Final[Mapping[tuple[str, str], Callable[[paths.Object, Objects], Found]]] = {
    ("nvidia.com", "NVIDIADriver"): _of_driver,
    ("nvidia.com", "ClusterPolicy"): _of_policy,
    ("amd.com", "DeviceConfig"): _of_selector,
    ("deviceplugin.intel.com", "GpuDevicePlugin"): _of_selector,
    ("apps", "DaemonSet"): _of_selector,
    ("karpenter.sh", "NodePool"): _of_fractions,
}
"""Rules about objects of operators and agents beside nodes and others of the files."""
