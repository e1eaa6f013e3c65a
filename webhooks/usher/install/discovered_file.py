"""Writes a new usher.yaml: from the facts of a cluster, or a short one for an unknown cluster."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from usher.accelerators import boards
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority
from usher.cluster.facts import node_pools
from usher.cluster.facts.store import Store
from usher.config import models, pools
from usher.config import sections as config_sections
from usher.config.sections import ROUTED_KINDS
from usher.install import discovery
from usher.install.discovery import Declaration

_GKE_MACHINES: Final = {
    "nvidia-h100-80gb": "gcp-tcpx",
    "nvidia-h100-mega-80gb": "gcp-tcpxo",
    "nvidia-h200-141gb": "gcp-gib",
    "nvidia-b200": "gcp-gib",
    "nvidia-gb200": "gcp-gib",
}
"""By the label cloud.google.com/gke-accelerator (docs/domain/fabrics.md)."""

_GKE: Final = "networking.gke.io.networks/"
_RDMA: Final = ("rdma/", "nvidia.com/hostdev", "nvidia.com/resib", "mellanox.com/", "openshift.io/")


def suggested_fabric(networks: list[str], labels: Mapping[str, str]) -> str:
    """The name of a shipped fabric; empty where no fabric is likely.

    Args:
        networks: the network resources of the nodes.
        labels: the labels that the nodes share.
    """
    if "vpc.amazonaws.com/efa" in networks:
        return "aws-efa"
    if any(name.startswith(_GKE) for name in networks):
        return _GKE_MACHINES.get(labels.get("cloud.google.com/gke-accelerator", ""), "")
    if any(name.startswith(_RDMA) for name in networks):
        return "azure-nd" if any(key.startswith("kubernetes.azure.com/") for key in labels) else "infiniband"
    return "mnnvl" if "nvidia.com/gpu.clique" in labels else ""


_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-._/][A-Za-z0-9]+)*|[0-9]+[GMK]i", re.ASCII)
_RESERVED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
"""Texts that some YAML parsers read as another type."""

_LONGEST: Final = 100
"""The most characters of a name in a comment."""


def yaml_scalar(value: str | int | bool) -> str:  # noqa: FBT001 - a value of a document
    """A value of a document. A text is quoted unless every parser reads it as this text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED else f'"{_escaped(value)}"'


def yaml_flow(value: object) -> str:
    """A value with everything in it on one line: `{key: nvidia.com/gpu, effect: NoSchedule}`."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_scalar(str(key))}: {yaml_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(yaml_flow, value)) + "]"
    return yaml_scalar(value) if isinstance(value, str | int | bool) else yaml_scalar(str(value))


def name_in_comment(name: str) -> str:
    """A name in a comment: one line of visible ASCII characters, cut where it is very long."""
    text = _escaped(name)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _escaped(text: str) -> str:
    """The text between the double quotes of YAML, in visible ASCII characters."""
    return "".join(map(_character, text))


def _character(each: str) -> str:
    if each in '"\\':
        return f"\\{each}"
    if " " <= each <= "~":
        return each
    return f"\\u{ord(each):04x}" if ord(each) <= 0xFFFF else f"\\U{ord(each):08x}"


def commented_lines(lines: Sequence[str]) -> list[str]:
    """Lines that a person can uncomment; comments stay as they are."""
    return [line if line.startswith("#") else f"# {line}" for line in lines]


_ABOUT: Final = (
    "# Node pools: how to recognise their nodes, and what a pod needs to run there. usher found them by their labels,",
    "# taints and devices. A pool that has no node now is not here: declare it with scalesFromZero and allocatable.",
)


def pool_section(declarations: Sequence[Declaration], vocabulary: Vocabulary) -> Iterator[str]:
    """The lines of the section; pools that usher should not declare are comments."""
    yield from _ABOUT
    ready = [each for each in declarations if not each.refusal]
    yield "pools:" if ready else "pools: []"
    for each in ready:
        yield from (f"  {line}" for line in _pool(each, vocabulary))
    for each in declarations:
        if each.refusal:
            yield f"  # Not declared: {each.refusal}."
            yield from (f"  {line}" for line in commented_lines(list(_pool(each, vocabulary))))


def _pool(declaration: Declaration, vocabulary: Vocabulary) -> Iterator[str]:
    pool, found = declaration.pool, declaration.found
    number = "1 node" if found.nodes == 1 else f"{found.nodes:,} nodes"
    yield f"# {number}: {name_in_comment(found.example)}" + ("" if found.nodes == 1 else " and others")
    if declaration.shared_with:
        yield f"# Nodes of {', '.join(declaration.shared_with)} have these labels as well."
    yield f"- name: {yaml_scalar(pool.name)}"
    yield "  nodeSelector:"
    yield from (f"    {yaml_scalar(key)}: {yaml_scalar(value)}" for key, value in pool.node_selector.items())
    if pool.taints:
        yield "  taints:"
        yield from (f"    - {yaml_flow(_taint(taint))}" for taint in pool.taints)
    yield f"  resources: {yaml_flow(pool.resources)}"
    if pool.gpu is not None:
        yield from _gpus(pool.gpu, found.labels.get(boards.PRODUCT_LABEL, ""), found.labels.get(node_pools.NUMA, ""))
    yield from _networks(declaration, vocabulary)
    yield from _scaling(declaration)


def _taint(taint: pools.Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def _gpus(gpu: pools.Gpus, product: str, numa: str) -> Iterator[str]:
    board = {"board": gpu.board} if gpu.board is not None else {}
    strategy = {"migStrategy": gpu.mig_strategy} if gpu.mig_strategy != "none" else {}
    if product and not board:
        yield f"  # MIG cannot divide {name_in_comment(product)}, or usher does not know its board."
    yield f"  gpu: {yaml_flow({**board, 'perNode': gpu.per_node, **strategy})}"
    if numa == "true":
        yield "  # Its machines have several NUMA nodes. Add perNumaNode to gpu if the kubelets' Topology Manager has"
        yield "  # the policy single-numa-node; nodes do not show it."


def _networks(declaration: Declaration, vocabulary: Vocabulary) -> Iterator[str]:
    found = declaration.found
    names = node_pools.network_devices((name for each in found.classes for name in each.most), vocabulary)
    name = suggested_fabric(names, found.labels)
    if names:
        yield f"  # Network devices of its nodes: {', '.join(map(name_in_comment, names))}."
    if names and not name:
        yield "  # See docs/fabrics.md for the profile that fits them, and name it as fabric."
    if name:
        yield "  # Uncomment it if the pods should get the settings of this network (docs/fabrics.md)."
        yield f"  # fabric: {name}"


def _scaling(declaration: Declaration) -> Iterator[str]:
    pool, key = declaration.pool, declaration.found.managed
    if pool.scales_from_zero:
        yield "  # Karpenter chooses a machine type for each node, so a node may have any amount of each resource."
        yield "  scalesFromZero: true"
    yield f"  allocatable: {yaml_flow(pool.allocatable)}"
    if key and not pool.scales_from_zero:
        yield "  # scalesFromZero: true    # if an autoscaler adds nodes; set maxNodes too"
    elif not key:
        yield "  # scalesFromZero: false   # if no autoscaler adds nodes: then usher can say that a gang never fits"


def may_scale(declarations: Iterable[Declaration]) -> bool:
    """Whether an autoscaler may add nodes or pools: a service or Karpenter manages the nodes."""
    return any(each.found.managed for each in declarations)


MOST_SUGGESTIONS: Final = 20
"""The most queues or classes that a comment lists."""

_HEAD: Final = (
    "apiVersion: gpu-usher.io/v1alpha1",
    "kind: Config",
)

_SCHEMA: Final = (
    "# Every key is optional. docs/usher.schema.json describes all of them, examples/usher.yaml shows them."
)


def file_of_cluster(facts: Store, *, source: str) -> str:
    """The text of usher.yaml for a cluster.

    Args:
        source: the name of the cluster or of the files, for the first line.
    """
    vocabulary = Vocabulary(config_sections.Accelerators())
    found = discovery.declarations(facts.nodes.now, vocabulary)
    sections = [
        _accelerators(facts, vocabulary),
        pool_section(found, vocabulary) if facts.nodes.known else iter(_unknown("Node", "pools")),
        _queues(facts),
        _routing(facts),
        _priorities(facts),
        _enforcement(found),
    ]
    lines = [
        f"# The configuration of gpu-usher, as `usher init` found the cluster: {name_in_comment(source)}.",
        "# Read it before you use it. Later, `usher config check FILE --facts live` says where the cluster differs.",
        _SCHEMA,
        *_HEAD,
    ]
    for each in sections:
        content = list(each)
        lines += ["", *content] if content else []
    return "\n".join(lines) + "\n"


def _unknown(kind: str, section: str) -> list[str]:
    return [f"# usher does not know the objects of kind {kind}, so `{section}` is missing here."]


def _accelerators(facts: Store, vocabulary: Vocabulary) -> Iterator[str]:
    amounts = {name for each in facts.nodes.now.classes for name in each.most}
    alike = [name for name in sorted(amounts) if vocabulary.looks_like(name)]
    classes = discovery.unknown_device_classes(facts, vocabulary)
    if not (alike or classes):
        return
    yield "# Resources and device classes of this cluster that usher does not know by name."
    yield "accelerators:" if classes else "accelerators: {}"
    if classes:
        yield "  # By the drivers of the classes."
        yield "  deviceClasses:"
        for name, device_class in classes.items():
            resource = {"resource": device_class.resource} if device_class.resource else {}
            yield f"    {yaml_scalar(name)}: {yaml_flow({'accelerator': device_class.accelerator, **resource})}"
    if alike:
        yield "  # Nodes offer these. If they are accelerators, uncomment the list; else list them as `ignored`."
        yield f"  # names: {yaml_flow([name_in_comment(name) for name in alike[:MOST_SUGGESTIONS]])}"


def _queues(facts: Store) -> Iterator[str]:
    found = discovery.local_queues(facts)
    if found is None:
        yield from _unknown("LocalQueue", "queues")
        return
    if not found:
        return
    yield "# Queues of Kueue. An entry sends all accelerator workloads of its namespaces to a queue, and reports those"
    yield "# without its label. usher cannot know whether you want that: uncomment the entries that you want."
    yield "queues: []"
    lines = [f"- {yaml_flow({'namespaces': [each.namespace], 'localQueue': each.name})}" for each in found]
    yield from commented_lines(lines[:MOST_SUGGESTIONS])
    yield from _remaining_count_comment(lines)


def _routing(facts: Store) -> Iterator[str]:
    found = discovery.object_names(facts, discovery.VOLCANO_QUEUE)
    if not found:
        return
    yield "# Volcano is installed. An entry lets it place the gangs of its namespaces; uncomment it if you want that."
    yield f"# Queues of Volcano: {', '.join(found[:MOST_SUGGESTIONS])}."
    yield from _remaining_count_comment(found)
    yield "routing: []"
    entry = {"namespaces": ["research-*"], "scheduler": "volcano", "kinds": list(ROUTED_KINDS), "queue": found[0]}
    yield from commented_lines([f"- {yaml_flow(entry)}"])


def _priorities(facts: Store) -> Iterator[str]:
    classes = priority.classes_of_kind(facts, discovery.PRIORITY_CLASS)
    namespaces = discovery.object_names(facts, discovery.NAMESPACE)
    if classes is None and namespaces is None:
        yield from _unknown("PriorityClass", "priorities")
        return
    default = priority.default_class(facts)
    yield "priorities:"
    if namespaces is not None:
        yield "  # Namespaces whose pods may use the classes system-cluster-critical and system-node-critical."
        kept = {*namespaces, "gpu-usher"}
        system = [name for name in models.Priorities().system_namespaces if "*" in name or name in kept]
        yield f"  systemNamespaces: {yaml_flow(system)}"
    if default is not None and discovery.is_object_name(default.name):
        yield "  # Kubernetes writes this class into every pod without a class."
        yield f"  globalDefault: {yaml_scalar(default.name)}"
    yield from (f"  {line}" for line in _classes(classes or {}, "" if default is None else default.name))


def _classes(classes: Mapping[str, priority.PriorityClass], default: str) -> Iterator[str]:
    ranked = sorted(classes.values(), key=lambda each: (-each.value, each.name))
    own = [each for each in ranked if discovery.is_object_name(each.name) and not each.name.startswith("system-")]
    if not own:
        return
    yield "# The classes of the cluster, the highest first. An entry gives a class to pods that name no class."
    yield from (f"# {each.name}: {each.value:,}" for each in own[:MOST_SUGGESTIONS])
    yield from _remaining_count_comment(own)
    example = next((each.name for each in reversed(own) if each.name != default), default)
    yield "# classes:"
    entry = {"namespaces": ["research-*"], "roles": ["training"], "priorityClass": example}
    yield from commented_lines([f"  - {yaml_flow(entry)}"])


def _enforcement(found: Sequence[Declaration]) -> Iterator[str]:
    yield "enforcement:"
    yield "  # observe, baseline, recommended or strict: which severities are denied, and which only warn."
    yield "  preset: recommended"
    if not may_scale(found):
        return
    yield "  rules:"
    yield "    # A service manages these nodes, and its autoscaler may add pools that have no node now. Remove these"
    yield "    # rules and the one below when all pools are declared."
    yield f"    - {yaml_flow({'check': 'no-node-ever-fits', 'action': 'warn'})}"
    yield f"    - {yaml_flow({'check': 'gpu-node-affinity-present', 'action': 'off'})}"
    yield ""
    yield "mutations:"
    yield "  rules:"
    yield "    # Do not bind pods to the pools that have nodes now."
    yield f"    - {yaml_flow({'mutation': 'gpu-node-affinity', 'action': 'off'})}"


def _remaining_count_comment(entries: Sequence[object]) -> Iterator[str]:
    if len(entries) > MOST_SUGGESTIONS:
        yield f"# ... and {len(entries) - MOST_SUGGESTIONS:,} more."


def minimal_file() -> str:
    """The text of usher.yaml for an unknown cluster: the defaults, and examples to uncomment."""
    return Path(__file__).with_name("minimal.yaml").read_text(encoding="utf-8")
