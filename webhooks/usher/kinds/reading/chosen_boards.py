"""Boards, machine types and slices that pods and pools select, and that no node, no cloud or no driver has.

Sources: `machine_types.json`; docs.cloud.google.com/kubernetes-engine/docs/concepts/tpus and
docs/concepts/plan-tpus for topologies of TPU slices and the chips of their nodes.
"""

import difflib
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from usher import memo, model, paths, quantities
from usher.accelerators import boards
from usher.kinds.reading import counts, disks, known_keys, machines, pod_networks, pod_templates, refused_values
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
        if _OF_CLOUDS.match(name) and (wrong := _no_machine(name[:80])):
            yield misread(where, f"names the machine type {name[:80]}, {wrong[0]}", wrong[1], "controller")


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


_REQUIRED_LABELS: Final = f"affinity.nodeAffinity.{placement.REQUIRED}.nodeSelectorTerms[].matchExpressions[]"


_GKE_BOARD: Final = "cloud.google.com/gke-accelerator"
_OLD_TESLAS: Final = ("k80", "p100", "p4", "v100", "t4")
_BOARDS_OF_GKE: Final = {
    **{name: f"nvidia-tesla-{name}" for name in _OLD_TESLAS},
    "a100": "nvidia-tesla-a100 (40 GB) or nvidia-a100-80gb", "l4": "nvidia-l4", "b200": "nvidia-b200",
    "h100": "nvidia-h100-80gb or nvidia-h100-mega-80gb", "h200": "nvidia-h200-141gb", "gb200": "nvidia-gb200",
    "a100-40gb": "nvidia-tesla-a100", "h100-mega": "nvidia-h100-mega-80gb", "rtx-6000": "nvidia-rtx-pro-6000",
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


def nodes_of(objects: Objects) -> Mapping[str, paths.Object]:
    """The nodes of the files and of the facts, by name."""
    return objects.known("", "Node")


def beside_others(
    value: paths.Object,
    key: tuple[str, str],
    objects: Objects,
    workload: model.Workload | None = None,
    specs: Sequence[places.PodSpec] = (),
) -> Found:
    """Nodes and devices that other objects of the files do not give as an object chooses them; `specs` are its pods."""
    if objects.names(*_DOMAINS) or objects.names("resource.k8s.io", "ResourceClaimTemplate"):
        yield from _of_domains(value, objects)
    if (rule := _OF_OPERATORS.get(key)) is not None:
        yield from rule(value, objects)
    devices = objects.once("devices of nodes", lambda: _devices_of_nodes(objects))
    if devices:
        yield from _of_drivers(value, devices)
    yield from pod_networks.beside_others(value, objects)
    yield from disks.beside_others(value, key, devices, objects)
    yield from machines.beside_others(value, devices, objects)
    yield from refused_values.beside_others(value, key, objects)
    yield from pod_networks.of_pods(workload, value, specs, objects)
    yield from machines.budgets(value, objects)
    yield from counts.scaled_beside_one_disk(value, objects)
    yield from pod_templates.older_kubelets(workload, specs, objects)
    yield from pod_templates.users_of_namespace(workload, specs, objects)


def _devices_of_nodes(objects: Objects) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The labels of the known nodes that offer a resource with a domain, by the resource."""
    found = defaultdict(list)
    for node in nodes_of(objects).values():
        labels = known_keys.part_at(node, "/metadata/labels")
        for name, amount in known_keys.part_at(node, "/status/allocatable").items():
            if "/" in name and str(amount) != "0":
                found[name].append(labels)
    return found


_ASKED: Final = "containers[].resources.limits^"
_CUDA: Final = memo.pattern(r"(?:/cuda:|cuda-?|[-_]cu)(1[1-3])[.\d]")
_DRIVERS: Final = {11: (450, 418), 12: (525, 450), 13: (580, 535)}
"""The least driver of each CUDA, and the least with which data centre boards use its compatibility package."""
_DRIVER_LABELS: Final = ("nvidia.com/cuda.driver-version.major", "nvidia.com/cuda.driver.major")


def _of_drivers(value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]]) -> Found:
    """Images whose CUDA no driver of the known nodes has (docs.nvidia.com/deploy/cuda-compatibility)."""
    for spec, path, _ in places.pod_specs(value):
        asks = "nvidia.com/gpu" in places.texts_at(spec, _ASKED)
        has_cuda = asks and any(map(_cuda_of, places.texts_at(spec, "containers[].image")))
        nodes = devices.get("nvidia.com/gpu", ()) if has_cuda else ()
        chosen = paths.mapping(spec.get("nodeSelector"))
        nodes = [each for each in nodes if chosen.items() <= each.items()]
        for where, image in places.texts_with_paths(spec, "containers[].image", path) if nodes else ():
            if not (major := _cuda_of(image)):
                continue
            least, of_data_centres = _DRIVERS[int(major)]
            drivers = [_driver_of(each) for each in nodes]
            if all(
                0 < driver < (least if "GeForce" in str(each.get(_PRODUCT)) else of_data_centres)
                for driver, each in zip(drivers, nodes, strict=True)
            ):
                text = f"runs an image with CUDA {major}, but known nodes have drivers up to {max(drivers)}"
                remedy = f"use an image with an older CUDA, or update the driver to {least} or later"
                yield misread(where, text, remedy, "controller")


def _cuda_of(image: str) -> str:
    """The major version of CUDA of an image, where its tag or a row of known_keys.yaml says it."""
    rows = (row for row in known_keys.rows("cuda") if re.search(row["image"], image.removeprefix("docker.io/")))
    return found[1] if (found := _CUDA.search(image)) else next(rows, {"major": ""})["major"]


def _driver_of(labels: Mapping[str, Any]) -> int:
    written = next((str(labels[each]) for each in _DRIVER_LABELS if each in labels), "")
    return int(written) if re.fullmatch(r"\d{3,4}", written, re.ASCII) else 0


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
    yield from _of_kernel_modules("/spec", known_keys.part_at(value, "/spec"), mine, objects)
    for name, each in objects.cluster_scoped("nvidia.com", "NVIDIADriver").items():
        theirs = known_keys.part_at(each, "/spec/nodeSelector")
        fallback = any(paths.mapping(one.get("spec")).get("default") is True for one in (value, each))
        if name != own and not fallback and theirs.items() <= mine.items() and (theirs != mine or name < str(own)):
            text = f"selects nodes that NVIDIADriver {name} in these files selects too, and the operator refuses both"
            remedy = f"give {name} a nodeSelector for other nodes, or remove it"
            yield misread("/spec/nodeSelector" if mine else "/spec", text, remedy, "controller")


_ONLY_OPEN: Final = memo.pattern(r"NVIDIA-(?:GH\d|GB\d|B[123]\d\d|RTX-PRO|GeForce-RTX-50)")
_ONLY_PROPRIETARY: Final = memo.pattern(
    r"(?:NVIDIA-|Tesla-)?(?:V100|P100|P4|P40|M60|K80|GeForce-GTX-(?:9|10)|TITAN-[XV])"
)


def _of_kernel_modules(path: str, spec: Mapping[str, Any], chosen: Mapping[str, Any], objects: Objects) -> Found:
    """Kernel modules that boards of nodes cannot use (docs.nvidia.com, open GPU kernel modules; gpu-operator#1947)."""
    written = spec.get("kernelModuleType")
    unfit = {"proprietary": _ONLY_OPEN, "open": _ONLY_PROPRIETARY}.get(written) if isinstance(written, str) else None
    for name, node in nodes_of(objects).items() if unfit else ():
        labels = known_keys.part_at(node, "/metadata/labels")
        product = paths.text(labels.get(_PRODUCT))
        if unfit and unfit.match(product) and chosen.items() <= labels.items():
            text = f"sets kernelModuleType {written}, which {product[:60]} of node {name} does not work with"
            yield misread(f"{path}/kernelModuleType", text, "set kernelModuleType to auto", "controller")
            return


_GKE_OFF: Final = "gke-no-default-nvidia-gpu-device-plugin"


_CONFIG: Final = "nvidia.com/device-plugin.config"


def _of_default_configuration(value: paths.Object, nodes: Collection[Mapping[str, Any]]) -> Found:
    """A configuration of the device plugin without a default, where no node with a known board chooses one."""
    config = known_keys.part_at(value, "/spec/devicePlugin/config")
    chosen = [_CONFIG in each for each in nodes if _PRODUCT in each]
    if config.get("name") and not config.get("default") and chosen and not any(chosen):
        text = f"names the configuration {config['name']} without a default, and no known node chooses a part of it"
        remedy = f"set devicePlugin.config.default, or label nodes with {_CONFIG}"
        yield misread("/spec/devicePlugin/config", text, remedy, "controller")


def _of_network_driver(value: paths.Object, objects: Objects) -> Found:
    """A driver with RDMA that waits for a network driver which nothing installs (NVIDIA/cloud-native-stack#95)."""
    rdma = known_keys.part_at(value, "/spec/driver/rdma")
    nics = objects.cluster_scoped("mellanox.com", "NicClusterPolicy").values()
    installed = any("ofedDriver" in known_keys.part_at(each, "/spec") for each in nics)
    if rdma.get("enabled") is True and rdma.get("useHostMofed") is not True and nics and not installed:
        text = "waits for the network driver of a NicClusterPolicy, and that of these files does not install it"
        remedy = "add ofedDriver there, or set useHostMofed to true if the nodes have the driver"
        yield misread("/spec/driver/rdma", text, remedy, "controller")


def _of_policy(value: paths.Object, objects: Objects) -> Found:
    """A device plugin beside that of GKE, one kind of slices where a node has several, and claims without CDI, by which
    NVIDIA's driver of claims gives devices (dra-driver-nvidia-gpu#426).
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
    yield from _of_kernel_modules("/spec/driver", known_keys.part_at(value, "/spec/driver"), {}, objects)
    yield from _of_network_driver(value, objects)
    yield from _of_default_configuration(value, nodes.values())
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


def _labels_of_nodes(objects: Objects) -> Mapping[str, Mapping[str, str]]:
    """The nodes that have a label, by the label and its value: the first node of each."""
    found = defaultdict[str, dict[str, str]](dict)
    for name, node in nodes_of(objects).items():
        for key, value in known_keys.part_at(node, "/metadata/labels").items():
            found[key].setdefault(str(value), name)
    return found


def _of_agent(value: paths.Object, objects: Objects) -> Found:
    """An agent whose nodes need a label that no known node has."""
    yield from _of_selector(value, objects)
    spec = known_keys.part_at(value, "/spec/template/spec")
    labels = objects.once("labels of nodes", lambda: _labels_of_nodes(objects))
    wanted = [each for each in places.values_at(spec, _REQUIRED_LABELS) if isinstance(each, dict)]
    keys = [str(each.get("key")) for each in wanted if each.get("operator") in ("In", "Exists")]
    if (
        labels
        and len(keys) == len(wanted) > 0
        and labels.keys().isdisjoint(keys)
        and not any(map(places.is_placeholder, keys))
    ):
        text = f"needs a node with one of the labels {', '.join(keys)[:160]}, and no known node has any"
        remedy = "run node feature discovery, which sets them, or label the nodes"
        yield misread("/spec/template/spec/affinity", text, remedy, "agent")


_SELECTORS: Final = {
    "ServiceMonitor": "serviceMonitorSelector",
    "PodMonitor": "podMonitorSelector",
    "PrometheusRule": "ruleSelector",
}


def _of_monitor(value: paths.Object, objects: Objects) -> Found:
    """Monitors and rules whose labels no known Prometheus selects (prometheus-operator, Documentation/api.md)."""
    labels = {key: str(text) for key, text in known_keys.part_at(value, "/metadata/labels").items()}
    known, field = objects.known("monitoring.coreos.com", "Prometheus"), _SELECTORS[str(value.get("kind"))]
    selectors = {name: dict(known_keys.part_at(each, f"/spec/{field}")) for name, each in known.items()}
    if selectors and all(each and placement.selector_matches(each, labels) is False for each in selectors.values()):
        name, selector = next(iter(selectors.items()))
        wanted = ", ".join(f"{key}: {text}" for key, text in paths.mapping(selector.get("matchLabels")).items())
        text = f"lacks the labels by which Prometheus {name} selects ({field} {wanted[:100]}), so nothing reads it"
        yield misread("/metadata", text, f"add the labels that {field} of {name} selects", "agent")


def _of_class(value: paths.Object, _objects: Objects) -> Found:
    """Priorities of a ComputeClass with a GPU that their machine type does not have."""
    for where, each in places.at(value, "spec.priorities[]"):
        gpu = known_keys.part_at(each, "/gpu")
        machine = boards.machine_rows().get(paths.text(paths.mapping(each).get("machineType")), {}).get("labels", {})
        for field, label in (("type", "gke-accelerator"), ("count", "instance-gpu-count")):
            has = machine.get(label)
            if has and field in gpu and str(gpu[field]) != has and not places.is_placeholder(str(gpu[field])):
                text = f"wants the GPU {field} {str(gpu[field])[:60]} of {each['machineType']}, which has {has}"
                yield misread(f"{where}/gpu/{field}", text, f"write {has}, or leave gpu out", "controller")


PARTS: Final = memo.pattern(r'"computePartition"\s*:\s*"(\w+)"[^{}]*"memoryPartition"\s*:\s*"(\w+)"')
_SHARES: Final = {"SPX": 1, "DPX": 2, "TPX": 3, "QPX": 4, "CPX": 8}
"""Partitions of compute on MI300X; memory has no more (rocm.docs.amd.com/projects/amdsmi, conceptual/partition)."""


def _impossible_partitions(config_map: paths.Object, _objects: Objects) -> Found:
    for key, text in known_keys.part_at(config_map, "/data").items():
        for one, other in (
            PARTS.findall(text) if isinstance(text, str) and "gpu-config-profiles" in text[: 64 * 1024] else ()
        ):
            most, memory = _SHARES.get(one.upper(), 0), re.fullmatch(r"NPS(\d)", other.upper())
            if most and memory and int(memory[1]) > most:
                message = (
                    f"has the profile {one} with {other} at {key}: GPUs have no more partitions of memory than of "
                    f"compute, here {most}"
                )
                remedy = f"set memoryPartition to NPS1, or {one} to CPX"
                where = paths.join("/data", key)
                yield model.UnreadKey(path=where, text=message, remedy=remedy, important=False, dangling=True)


_OF_FEATURES: Final = "feature.node.kubernetes.io/"
_MOST_LABELS: Final = 500
"""Labels of nodes with which a misspelt one is compared."""


def _of_selector(value: paths.Object, objects: Objects) -> Found:
    """A selector of an operator or an agent that no node in the files meets, with a label that nodes have instead."""
    labels = objects.once("labels of nodes", lambda: _labels_of_nodes(objects))
    for place in ("spec.selector", "spec.nodeSelector", "spec.template.spec.nodeSelector"):
        for where, selector in places.at(value, place) if labels else ():
            for key in selector if isinstance(selector, dict) else ():
                if "/" not in key or key in labels:
                    continue
                known = objects.once("first labels of nodes", lambda: sorted(labels)[:_MOST_LABELS])
                text = f"selects nodes with the label {key}, which no known node has"
                topic = "agent" if value.get("kind") == "DaemonSet" else "controller"
                if like := difflib.get_close_matches(key, known, n=1, cutoff=0.85):
                    yield misread(paths.join(where, key), text, f"did you mean {like[0]}?", topic)
                elif _OF_FEATURES in key and not any(_OF_FEATURES in each for each in known):
                    remedy = "run node feature discovery with the rules of the vendor, which set it, or label the nodes"
                    yield misread(paths.join(where, key), text, remedy, topic)


_OF_OPERATORS: Final[Mapping[tuple[str, str], Callable[[paths.Object, Objects], Found]]] = {
    ("", "ConfigMap"): _impossible_partitions,
    ("nvidia.com", "NVIDIADriver"): _of_driver,
    ("nvidia.com", "ClusterPolicy"): _of_policy,
    ("amd.com", "DeviceConfig"): _of_selector,
    ("deviceplugin.intel.com", "GpuDevicePlugin"): _of_selector,
    ("apps", "DaemonSet"): _of_agent,
    ("cloud.google.com", "ComputeClass"): _of_class,
    **{("monitoring.coreos.com", kind): _of_monitor for kind in _SELECTORS},
}
"""Rules about objects of operators and agents beside nodes and others of the files."""
