"""Writes a new usher.yaml: from the facts of a cluster, or a short one for an unknown cluster."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority as priority_read
from usher.cluster.facts.store import Store
from usher.config import models
from usher.config import sections as config_sections
from usher.config.sections import ROUTED_KINDS
from usher.discovery import objects, pool_text, pools
from usher.discovery.pools import Declaration
from usher.discovery.yaml_text import commented, flow, scalar, shown

MOST_SUGGESTIONS: Final = 20
"""The most queues or classes that a comment lists."""

_HEAD: Final = (
    "apiVersion: gpu-usher.io/v1alpha1",
    "kind: Config",
)

_SCHEMA: Final = (
    "# Every key is optional. docs/usher.schema.json describes all of them, examples/usher.yaml shows them."
)


def of_cluster(facts: Store, *, source: str) -> str:
    """The text of usher.yaml for a cluster.

    Args:
        facts: the facts of the cluster.
        source: the name of the cluster or of the files, for the first line.
    """
    vocabulary = Vocabulary(config_sections.Accelerators())
    found = pools.declarations(facts.nodes.now, vocabulary)
    sections = [
        _accelerators(facts, vocabulary),
        pool_text.section(found, vocabulary) if facts.nodes.known else iter(_unknown("Node", "pools")),
        _queues(facts),
        _routing(facts),
        _priorities(facts),
        _enforcement(found),
    ]
    lines = [
        f"# The configuration of gpu-usher, as `usher init` found the cluster: {shown(source)}.",
        "# Read it before you use it. `usher config check FILE --live` says later where it differs from the cluster.",
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
    classes = objects.unknown_device_classes(facts, vocabulary)
    if not (alike or classes):
        return
    yield "# Resources and device classes of this cluster that usher does not know by name."
    yield "accelerators:" if classes else "accelerators: {}"
    if classes:
        yield "  # By the drivers of the classes."
        yield "  deviceClasses:"
        for name, device_class in classes.items():
            resource = {"resource": device_class.resource} if device_class.resource else {}
            yield f"    {scalar(name)}: {flow({'accelerator': device_class.accelerator, **resource})}"
    if alike:
        yield "  # Nodes offer these. If they are accelerators, uncomment the list; else list them as `ignored`."
        yield f"  # names: {flow([shown(name) for name in alike[:MOST_SUGGESTIONS]])}"


def _queues(facts: Store) -> Iterator[str]:
    found = objects.local_queues(facts)
    if found is None:
        yield from _unknown("LocalQueue", "queues")
        return
    if not found:
        return
    yield "# Queues of Kueue. An entry sends all accelerator workloads of its namespaces to a queue, and reports those"
    yield "# without its label. usher cannot know whether you want that: uncomment the entries that you want."
    yield "queues: []"
    lines = [f"- {flow({'namespaces': [each.namespace], 'localQueue': each.name})}" for each in found]
    yield from commented(lines[:MOST_SUGGESTIONS])
    yield from _more(lines)


def _routing(facts: Store) -> Iterator[str]:
    found = objects.names(facts, objects.VOLCANO_QUEUE)
    if not found:
        return
    yield "# Volcano is installed. An entry lets it place the gangs of its namespaces; uncomment it if you want that."
    yield f"# Queues of Volcano: {', '.join(found[:MOST_SUGGESTIONS])}."
    yield from _more(found)
    yield "routing: []"
    entry = {"namespaces": ["research-*"], "scheduler": "volcano", "kinds": list(ROUTED_KINDS), "queue": found[0]}
    yield from commented([f"- {flow(entry)}"])


def _priorities(facts: Store) -> Iterator[str]:
    classes = priority_read.classes_of_kind(facts, objects.PRIORITY_CLASS)
    namespaces = objects.names(facts, objects.NAMESPACE)
    if classes is None and namespaces is None:
        yield from _unknown("PriorityClass", "priorities")
        return
    default = priority_read.default_class(facts)
    yield "priorities:"
    if namespaces is not None:
        yield "  # Namespaces whose pods may use the classes system-cluster-critical and system-node-critical."
        system = [name for name in models.Priorities().system_namespaces if name in {*namespaces, "gpu-usher"}]
        yield f"  systemNamespaces: {flow(system)}"
    if default is not None and objects.is_name(default.name):
        yield "  # Kubernetes writes this class into every pod without a class."
        yield f"  globalDefault: {scalar(default.name)}"
    yield from (f"  {line}" for line in _classes(classes or {}, "" if default is None else default.name))


def _classes(classes: Mapping[str, priority_read.PriorityClass], default: str) -> Iterator[str]:
    ranked = sorted(classes.values(), key=lambda each: (-each.value, each.name))
    own = [each for each in ranked if objects.is_name(each.name) and not each.name.startswith("system-")]
    if not own:
        return
    yield "# The classes of the cluster, the highest first. An entry gives a class to pods that name no class."
    yield from (f"# {each.name}: {each.value:,}" for each in own[:MOST_SUGGESTIONS])
    yield from _more(own)
    example = next((each.name for each in reversed(own) if each.name != default), default)
    yield "# classes:"
    entry = {"namespaces": ["research-*"], "roles": ["training"], "priorityClass": example}
    yield from commented([f"  - {flow(entry)}"])


def _enforcement(found: Sequence[Declaration]) -> Iterator[str]:
    yield "enforcement:"
    yield "  # observe, baseline, recommended or strict: which severities are denied, and which only warn."
    yield "  preset: recommended"
    if not pool_text.may_scale(found):
        return
    yield "  rules:"
    yield "    # A service manages these nodes, and its autoscaler may add pools that have no node now. Remove these"
    yield "    # rules and the one below when all pools are declared."
    yield f"    - {flow({'check': 'no-node-ever-fits', 'action': 'warn'})}"
    yield f"    - {flow({'check': 'gpu-node-affinity-present', 'action': 'off'})}"
    yield ""
    yield "mutations:"
    yield "  rules:"
    yield "    # Do not bind pods to the pools that have nodes now."
    yield f"    - {flow({'mutation': 'gpu-node-affinity', 'action': 'off'})}"


def _more(entries: Sequence[object]) -> Iterator[str]:
    if len(entries) > MOST_SUGGESTIONS:
        yield f"# ... and {len(entries) - MOST_SUGGESTIONS:,} more."


def minimal() -> str:
    """The text of usher.yaml for an unknown cluster: the defaults, and examples to uncomment."""
    return _MINIMAL


_MINIMAL: Final = f"""\
# The configuration of gpu-usher for a cluster that usher does not know: the defaults, with examples to uncomment.
# `usher init --live` writes what usher finds in the cluster of your kubectl context.
{_SCHEMA}
apiVersion: gpu-usher.io/v1alpha1
kind: Config

# Node pools: how to recognise their nodes, and what a pod needs to run there. Where usher watches a cluster, it reads
# pools from nodes by itself.
pools: []
# - name: h100
#   nodeSelector: {{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
#   taints:
#     - {{key: nvidia.com/gpu, value: present, effect: NoSchedule}}
#   resources: [nvidia.com/gpu]
#   gpu: {{board: H100-80, perNode: 8}}
#   fabric: infiniband

# Which workloads belong in which LocalQueue of Kueue in their namespace.
queues: []
# - {{namespaces: ["research-*"], localQueue: research}}

# Which workloads another scheduler places as gangs: volcano or kai.
routing: []
# - {{namespaces: ["simulation-*"], scheduler: volcano, queue: default}}

# Priority classes for pods that name no class.
# priorities:
#   classes:
#     - {{namespaces: ["research-*"], roles: [training], priorityClass: training}}

enforcement:
  # observe, baseline, recommended or strict: which severities are denied, and which only warn.
  preset: recommended
"""
