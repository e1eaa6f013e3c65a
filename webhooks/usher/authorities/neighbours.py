"""The objects of the same files that run pods: those that serve, their autoscalers, and the servers of webhooks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.kinds import registry
from usher.kinds.kubeflow_pipelines import group_version_kind
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.values import Reference
from usher.workloads import grown_workloads

_NODE: Final = ("", "Node")

AUTOSCALERS: Final = frozenset(kind.group_and_kind for kind in registry.KINDS if kind.autoscaler and kind.plural)

SERVING: Final = frozenset(
    key
    for key, pods in registry.PODS.items()
    if pods.role in {model.Role.SERVICE, model.Role.INFERENCE, model.Role.INTERACTIVE} and not pods.is_template
)
"""Kinds whose pods run without an end. Jobs, for example those that download a model, give a disk back."""


def together(workload: model.Workload, objects: reading_values.Objects, known: Knowledge) -> tuple[model.Workload, ...]:
    """All workloads whose pods with accelerators always run, for the first of them alone."""
    if not known.facts.knows(*_NODE):
        return ()
    running = objects.once("what always runs", lambda: _always_running(objects, known))
    first = running[0] if len(running) > 1 else None
    if first is None or (first.kind, first.namespace, first.name) != (workload.kind, workload.namespace, workload.name):
        return ()
    return running


def _always_running(objects: reading_values.Objects, known: Knowledge) -> tuple[model.Workload, ...]:
    """The objects with names that serve, whose pods nothing but the nodes holds back."""
    made = [
        known.workload(value, namespace=namespace, objects=objects)
        for namespace, value in objects.all()
        if group_version_kind(value)[::2] in SERVING and not value.get("status")
    ]
    found = [
        each
        for each in made
        if each is not None
        and each.name
        and each.owner is None
        and not any(each.queue_labels.values())
        and any(pod_set.asks_accelerators and pod_set.count.minimum for pod_set in each.pod_sets)
    ]
    return tuple(sorted(found, key=lambda each: (each.kind, each.namespace, each.name)))


def servers(given: model.Workload, objects: reading_values.Objects, known: Knowledge) -> Iterator[tuple[str, str]]:
    """The webhooks whose Service leads to one pod, with what makes it."""
    found = objects.find(Reference(group=given.group, kind=given.kind, name=given.name))
    webhooks = [] if isinstance(found, reading_values.Absence) else found.get("webhooks")
    for index, webhook in enumerate(webhooks if isinstance(webhooks, list) else []):
        named = paths.mapping(paths.mapping(paths.mapping(webhook).get("clientConfig")).get("service"))
        namespace = paths.text(named.get("namespace"))
        service = objects.find(
            Reference(group="", kind="Service", name=paths.text(named.get("name")), namespace=namespace)
        )
        if isinstance(service, reading_values.Absence):
            continue
        labels = paths.mapping(paths.mapping(service.get("spec")).get("selector"))
        makers = makers_of(namespace, objects, known)
        behind = [each for each in makers if any(labels.items() <= pod_set.labels.items() for pod_set in each.pod_sets)]
        scalers = scalers_of(namespace, objects)
        if labels and len(behind) == 1 and behind[0].pods.minimum == 1:
            target = Reference(group=behind[0].group, kind=behind[0].kind, name=behind[0].name, namespace=namespace)
            if target not in scalers:
                yield str(index), f"{behind[0].kind} {behind[0].name}"


def makers_of(namespace: str, objects: reading_values.Objects, known: Knowledge) -> Sequence[model.Workload]:
    """The objects of a namespace that serve and whose pods can be counted."""
    return objects.once(f"makers of pods in {namespace}", lambda: _makers(namespace, objects, known))


def _makers(namespace: str, objects: reading_values.Objects, known: Knowledge) -> Sequence[model.Workload]:
    kinds = sorted(SERVING & registry.SCALES.keys())
    values = [value for kind in kinds for value in objects.of_kind(*kind, namespace)]
    made = [known.workload(value, namespace=namespace, objects=objects) for value in values]
    return [each for each in made if each is not None]


def scalers_of(namespace: str, objects: reading_values.Objects) -> Mapping[Reference, Sequence[Reference]]:
    """The autoscalers of a namespace that people wrote, by what they scale."""
    return objects.once(f"autoscalers of {namespace}", lambda: _by_target(namespace, objects))


def _by_target(namespace: str, objects: reading_values.Objects) -> Mapping[Reference, Sequence[Reference]]:
    found: defaultdict[Reference, list[Reference]] = defaultdict(list)
    for kind in sorted(AUTOSCALERS):
        for value in objects.of_kind(*kind, namespace):
            growth = grown_workloads.growth_of(value, namespace=namespace)
            if growth is not None and not paths.metadata(value).get("ownerReferences"):
                found[growth.target].append(growth.source)
    return found
