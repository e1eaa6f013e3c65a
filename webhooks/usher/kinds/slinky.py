"""slinky.slurm.net: NodeSet, the worker nodes of a Slurm cluster that runs in Kubernetes.

Sources, at v1beta1 of SlinkyProject/slurm-operator: internal/builder/workerbuilder/worker_app.go for the pods, and
internal/controller/nodeset/nodeset_sync.go for their number.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Final, NotRequired

from pydantic import BeforeValidator
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading.pod_templates import listed_containers
from usher.kinds.reading.templates import LISTS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading

Object = Mapping[str, paths.Json]

_TEMPLATE: Final = "/spec/template"
_SLURMD: Final = "slurmd"
_TRAITS: Final = Traits(
    trains=_SLURMD, operator_environment=frozenset({"POD_CPUS", "POD_MEMORY", "SLINKY_TOPOLOGY", "SOCKET"})
)
_EVERY_NODE: Final = model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")


def _node_set(node_set: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(node_set.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), _TEMPLATE)
    pod = Place(template.get("spec"), _TEMPLATE + "/spec")
    yield Template(
        name="",
        path=_TEMPLATE,
        spec=pod,
        metadata=_metadata(node_set, template, reading),
        count=_count(spec, reading),
        traits=_TRAITS,
        containers=tuple(_containers(spec, pod, reading)),
    )


def _count(spec: Object, reading: Reading) -> model.Count:
    if reading.text(spec.get("scalingMode"), "/spec/scalingMode") == "DaemonSet":
        return _EVERY_NODE
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    return model.Count(minimum=replicas, maximum=replicas)


def _metadata(node_set: Object, template: Object, reading: Reading) -> Place:
    """The labels and annotations of the pods: those of the template replace those of the object."""
    path = _TEMPLATE + "/metadata"
    own = reading.mapping(node_set.get("metadata"), "/metadata")
    of_pods = reading.mapping(template.get("metadata"), path)
    merged: dict[str, paths.Json] = {}
    for name in ("labels", "annotations"):
        under = reading.strings(own.get(name), f"/metadata/{name}")
        merged[name] = {**under, **reading.strings(of_pods.get(name), f"{path}/{name}")}
    return Place(merged, path)


def _containers(spec: Object, pod: Place, reading: Reading) -> Iterator[ContainerPlace]:
    """The containers: the operator puts its own two first. One without settings has no requests."""
    of_template = reading.mapping(*pod)
    lists = {name: Place(of_template.get(name), f"{pod.path}/{name}") for name, _ in LISTS}
    yield from _container_of_field(spec, "logfile", model.ContainerType.SIDECAR, reading)
    in_template = [each for each in listed_containers(lists, reading) if not _is_merged(each, reading)]
    yield from (each for each in in_template if each.type is not model.ContainerType.APP)
    yield from _container_of_field(spec, _SLURMD, model.ContainerType.APP, reading)
    yield from (each for each in in_template if each.type is model.ContainerType.APP)


def _container_of_field(
    spec: Object, name: str, kind: model.ContainerType, reading: Reading
) -> Iterator[ContainerPlace]:
    value, path = spec.get(name), f"/spec/{name}"
    if value is not None:
        yield ContainerPlace(value=reading.mapping(value, path), path=path, type=kind, name=name)


def _is_merged(container: ContainerPlace, reading: Reading) -> bool:
    """Whether the operator merges a container of the template into one of its own; usher does not merge them."""
    name = container.value.get("name")
    if name not in (_SLURMD, "logfile"):
        return False
    reading.unknown(container.path, f"the operator merges it into spec.{name}: not judged")
    return True


_GRES: Final = re.compile(r"(?:^|\s)Gres=[\"']?([^\s\"']{1,400})", re.IGNORECASE)
_GPUS: Final = re.compile(r"gpu(?::[a-z][\w.+-]{0,60})?(?::([0-9]{1,4}))?(?=\(|$)", re.IGNORECASE | re.ASCII)


class Gres(TypedDict):
    """What the configuration of the Slurm nodes says about generic resources."""

    gpus: NotRequired[int]
    """GPUs of each node; absent without any."""


def _gres(text: object) -> object:
    """The GPUs in the line of a node: entries have a name, perhaps a type, and a number, 1 if it is missing.

    Source: slurm.conf(5), Gres.
    """
    found = _GRES.findall(text) if isinstance(text, str) else []
    matches = [_GPUS.match(entry) for each in found for entry in each.split(",")]
    numbers = [int(match[1] or 1) for match in matches if match is not None]
    return {"gpus": sum(numbers)} if numbers else {}


class NodeSetSpec(TypedDict):
    extraConf: NotRequired[Annotated[Gres, BeforeValidator(_gres)]]


class NodeSet(TypedDict):
    spec: NotRequired[NodeSetSpec]


KINDS: list[Kind] = [
    Kind(
        **api("slinky.slurm.net", "NodeSet", "nodesets", "v1beta1"),
        key="nodeSet",
        shape=NodeSet,
        scale="/spec/replicas",
        pods=Pods(
            templates=_node_set,
            template_paths=("spec.{template,slurmd,logfile}",),
            counted="`replicas` (1 if missing); with `scalingMode: DaemonSet` one on every node that fits",
            source="internal/builder/workerbuilder/worker_app.go and internal/controller/nodeset/nodeset_sync.go of "
            "SlinkyProject/slurm-operator",
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.SERVICE,
            kueue=Kueue.CHILDREN,
            # The pods carry the labels of the NodeSet.
            queue_label_path="/metadata",
        ),
    ),
]
