"""The Kubernetes settings of a pipeline for the pods of its executors.

Sources: kubernetes_platform/proto/kubernetes_executor_config.proto and extendPodSpecPatch in
backend/src/v2/driver/k8s.go of kubeflow/pipelines.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.reading.templates import NOWHERE, TERMS, ContainerPlace, Place
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

_DECIDED: Final = "it is decided when the pipeline runs"


def executors(platforms: Place, reading: Reading) -> dict[str, Place]:
    """The settings of each executor by its label."""
    value, path = reading.mapping(*platforms), platforms.path
    for key in ("kubernetes", "deploymentSpec"):
        path = f"{path}/{key}"
        value = reading.mapping(value.get(key), path)
    found = reading.entries(value.get("executors"), path + "/executors")
    return {name: Place(settings, here) for here, name, settings in found}


def metadata(settings: Place, reading: Reading) -> Place:
    if settings == NOWHERE:
        return NOWHERE
    return Place(reading.mapping(*settings).get("podMetadata"), settings.path + "/podMetadata")


def init_containers(settings: Place, reading: Reading) -> Iterator[ContainerPlace]:
    path = settings.path + "/initContainers"
    for here, container in reading.items(reading.mapping(*settings).get("initContainers"), path):
        always = reading.text(container.get("restartPolicy"), here + "/restartPolicy") == "Always"
        kind = model.ContainerType.SIDECAR if always else model.ContainerType.INIT
        yield ContainerPlace(value=container, path=here, type=kind)


def fields(settings: Place, passed_on: frozenset[str], reading: Reading) -> dict[str, Place]:
    """Fields of the pod spec, without settings for a workload that the pod makes."""
    if settings == NOWHERE:
        return {}
    own, path = reading.mapping(*settings), settings.path
    found = {
        "nodeSelector": _node_selector(own, path, reading),
        "tolerations": _tolerations(own, path, reading),
        TERMS: _terms(own, path, reading),
    }
    names = {
        "KUBERNETES_NODE_SELECTOR": "nodeSelector",
        "KUBERNETES_TOLERATIONS": "tolerations",
        "KUBERNETES_AFFINITY": TERMS,
    }
    left_out = {names.get(each) for each in passed_on}
    return {name: place for name, place in found.items() if place != NOWHERE and name not in left_out}


def _node_selector(own: Object, path: str, reading: Reading) -> Place:
    path += "/nodeSelector"
    selector = reading.mapping(own.get("nodeSelector"), path)
    if selector.get("nodeSelectorJson") is not None:
        reading.unknown(path + "/nodeSelectorJson", _DECIDED)
        return NOWHERE
    return Place(selector.get("labels"), path + "/labels")


def _tolerations(own: Object, path: str, reading: Reading) -> Place:
    path += "/tolerations"
    for here, toleration in reading.items(own.get("tolerations"), path):
        if toleration.get("tolerationJson") is not None:
            reading.unknown(here + "/tolerationJson", _DECIDED)
    return Place(own.get("tolerations"), path)


def _terms(own: Object, path: str, reading: Reading) -> Place:
    """The required terms, which have no weight; each is read where it stands."""
    path += "/nodeAffinity"
    terms: list[paths.Json] = []
    for here, term in reading.items(own.get("nodeAffinity"), path):
        if term.get("nodeAffinityJson") is not None:
            reading.unknown(here + "/nodeAffinityJson", _DECIDED)
            continue
        read: paths.Object = {
            field: [
                _expression(expression, expression_path, reading)
                for expression_path, expression in reading.items(term.get(field), f"{here}/{field}")
            ]
            for field in ("matchExpressions", "matchFields")
        }
        if term.get("weight") is None and any(read.values()):
            terms.append(read)
    return Place(terms, path) if terms else NOWHERE


def _expression(expression: Object, path: str, reading: Reading) -> paths.Object:
    return {
        "key": reading.text(expression.get("key"), path + "/key"),
        "operator": reading.text(expression.get("operator"), path + "/operator"),
        "values": [*reading.texts(expression.get("values"), path + "/values")],
    }
