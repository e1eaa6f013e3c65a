"""The rows of one pod set of a workload."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.reports import amounts
from usher.reports.lines import Row


def request(asked: model.Total | model.AcceleratorRequest, vocabulary: Vocabulary, *, known: str = "") -> str:
    """`8 nvidia.com/gpu (extended resource)`, `2,048 MiB of gpu-memory (fraction annotation)`.

    Args:
        asked: a request, or the total of several.
        vocabulary: the units of resources.
        known: reasons that the reader has already seen.
    """
    unit = amounts.unit(asked.name, vocabulary)
    name = f"{unit} of {asked.name}" if unit else asked.name
    number = "" if asked.route is model.Route.ACCESS else f"{amounts.span(asked.minimum, asked.maximum)} "
    about: list[str] = [asked.route]
    if isinstance(asked, model.AcceleratorRequest) and asked.claim:
        about.append(f"shared {asked.claim}")
    about += (reason for reason in asked.reason.split("; ") if reason and reason not in known.split("; "))
    return f"{number}{name} ({'; '.join(about)})"


class Common(NamedTuple):
    """Values that all pod sets of a workload share; empty if they differ."""

    scheduler: str
    operator_environment: str

    @classmethod
    def of(cls, pod_sets: Sequence[model.PodSet]) -> "Common":
        return cls(*(_same(pod_sets, describe) for describe in (scheduler, _operator_environment)))


def _same(pod_sets: Sequence[model.PodSet], describe: Callable[[model.PodSet], str]) -> str:
    texts = {describe(pod_set) for pod_set in pod_sets}
    return texts.pop() if len(texts) == 1 else ""


def scheduler(pod_set: model.PodSet) -> str:
    """`volcano (Volcano's own default for its Jobs)`."""
    scheduler = pod_set.scheduler
    return f"{scheduler.name} ({scheduler.reason})" if scheduler.reason else scheduler.name


def rows(
    pod_set: model.PodSet, vocabulary: Vocabulary, *, indent: int, requests: bool, common: Common
) -> Iterator[Row]:
    """The rows below the name of a pod set and its number of pods.

    Args:
        pod_set: the pod set.
        vocabulary: the units of resources.
        indent: spaces before the labels.
        requests: whether to write the requests of one pod.
        common: the values that the workload already shows for all pod sets.
    """
    if pod_set.path:
        aside = "" if pod_set.changeable else " (not changed by the webhook)"
        yield Row("template", f"{paths.readable(pod_set.path)}{aside}", indent)
    if requests:
        yield from _labelled("each pod", [request(each, vocabulary) for each in pod_set.requests], indent)
    settings = {
        "scheduler": "" if common.scheduler else scheduler(pod_set),
        "waits for": ", ".join(pod_set.scheduling_gates),
        "pod group": pod_set.scheduling_group,
        "priority": pod_set.priority_class_name,
        "runtime class": pod_set.runtime_class_name,
        "node": pod_set.node_name,
        "node labels": ", ".join(f"{key}={value}" for key, value in pod_set.node_selector.items()),
        "node affinity": _affinity(pod_set),
        "tolerates": ", ".join(_toleration(toleration) for toleration in pod_set.tolerations),
    }
    yield from (Row(label, text, indent) for label, text in settings.items() if text)
    idle = any(not container.trains for container in pod_set.containers)
    for container in pod_set.containers:
        label = f"{container.type} {container.name or '(unnamed)'}"
        yield Row(label, _container(container, idle=idle), indent)
    if not common.operator_environment and pod_set.operator_environment:
        yield Row("operator sets", _operator_environment(pod_set), indent)


def _labelled(label: str, texts: Sequence[str], indent: int) -> Iterator[Row]:
    for number, text in enumerate(texts):
        yield Row("" if number else label, text, indent)


def _operator_environment(pod_set: model.PodSet) -> str:
    return ", ".join(sorted(pod_set.operator_environment))


def _container(container: model.Container, *, idle: bool) -> str:
    """The requests of a container and, if other containers are idle, whether it does the pod's work."""
    parts = []
    if container.requests and container.requests == container.limits:
        parts.append(f"requests and limits {_resources(container.limits)}")
    else:
        parts += [
            f"{name} {_resources(resources)}"
            for name, resources in (("requests", container.requests), ("limits", container.limits))
            if resources
        ]
    if container.asks_accelerators and not container.accelerators:
        parts.append("gets accelerators")
    if container.trains and idle:
        parts.append("does the pod's work")
    return "; ".join(parts)


def _resources(resources: model.Resources) -> str:
    return ", ".join(amounts.resource(name, quantity) for name, quantity in resources.items())


def _affinity(pod_set: model.PodSet) -> str:
    """`a In (x, y) and b Exists`, and `...; or ...` for several terms."""
    if not pod_set.has_required_affinity:
        return ""
    terms = [_term(term) for term in pod_set.required_terms]
    return "; or ".join(filter(None, terms)) or "nothing that a node could fit"


def _term(term: Mapping[str, paths.Json]) -> str:
    expressions = [*_objects(term.get("matchExpressions")), *_objects(term.get("matchFields"))]
    return " and ".join(
        " ".join(filter(None, (f"{each.get('key')}", f"{each.get('operator')}", _list(each.get("values")))))
        for each in expressions
    )


def _objects(value: paths.Json) -> list[paths.Object]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _list(value: paths.Json) -> str:
    return f"({', '.join(str(each) for each in value)})" if isinstance(value, list) and value else ""


def _toleration(toleration: Mapping[str, paths.Json]) -> str:
    """A toleration as `kubectl` writes taints: `nvidia.com/gpu=present:NoSchedule`, without parts that
    match anything.
    """
    key, value, effect = (toleration.get(field) for field in ("key", "value", "effect"))
    taint = f"{key}={value}" if key and value else f"{key}" if key else "every taint"
    return f"{taint}:{effect}" if effect else taint
