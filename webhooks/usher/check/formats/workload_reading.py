"""The workloads that usher reads from a manifest (`usher workload show`), for people and for programs.

Paths are JSON Pointers into the object. A field is absent where it does not apply: `maximum` where nothing bounds the
number, `reason` where the maximum is the minimum.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any, Final, Literal, NamedTuple, TextIO

import orjson
from msgspec import Struct
from pydantic import BeforeValidator, ValidationInfo
from rich.text import Text

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes.declared_pools import PoolReason
from usher.check import surroundings
from usher.check.batches import Batch
from usher.check.formats import json_report, wording
from usher.check.formats.lines import Lines, Row
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth
from usher.policy.input.document import Documents
from usher.workloads import grown_workloads
from usher.workloads.grown_workloads import grown
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles


def request_text(asked: model.Total | model.AcceleratorRequest, vocabulary: Vocabulary, *, known: str = "") -> str:
    """`8 nvidia.com/gpu (extended resource)`, `2,048 MiB of gpu-memory (fraction annotation)`.

    Args:
        asked: a request, or the total of several.
        known: reasons that the reader has already seen.
    """
    unit = wording.memory_unit(asked.name, vocabulary)
    name = f"{unit} of {asked.name}" if unit else asked.name
    number = "" if asked.route is model.Route.ACCESS else f"{wording.readable_range(asked.minimum, asked.maximum)} "
    about: list[str] = [asked.route]
    if isinstance(asked, model.AcceleratorRequest) and asked.claim:
        about.append(f"shared {asked.claim}")
    about += (reason for reason in asked.reason.split("; ") if reason and reason not in known.split("; "))
    return f"{number}{name} ({'; '.join(about)})"


class CommonValues(NamedTuple):
    """Values that all pod sets of a workload share; empty if they differ."""

    scheduler: str
    operator_environment: str

    @classmethod
    def of(cls, pod_sets: Sequence[model.PodSet]) -> "CommonValues":
        return cls(*(_text_if_equal(pod_sets, describe) for describe in (scheduler_text, _operator_environment)))


def _text_if_equal(pod_sets: Sequence[model.PodSet], describe: Callable[[model.PodSet], str]) -> str:
    texts = {describe(pod_set) for pod_set in pod_sets}
    return texts.pop() if len(texts) == 1 else ""


def scheduler_text(pod_set: model.PodSet) -> str:
    """`volcano (Volcano's own default for its Jobs)`."""
    scheduler = pod_set.scheduler
    return f"{scheduler.name} ({scheduler.reason})" if scheduler.reason else scheduler.name


def pod_set_rows(
    pod_set: model.PodSet, vocabulary: Vocabulary, *, indent: int, requests: bool, common: CommonValues
) -> Iterator[Row]:
    """The rows below the name of a pod set and its number of pods.

    Args:
        indent: spaces before the labels.
        requests: whether to write the requests of one pod.
        common: the values that the workload already shows for all pod sets.
    """
    if pod_set.path:
        aside = "" if pod_set.changeable else " (not changed by the webhook)"
        yield Row("template", f"{paths.readable(pod_set.path)}{aside}", indent)
    if requests:
        yield from _labelled("each pod", [request_text(each, vocabulary) for each in pod_set.requests], indent)
    settings = {
        "serves as": pod_set.serves_as,
        "scheduler": "" if common.scheduler else scheduler_text(pod_set),
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
    return ", ".join(wording.resource_amount(name, quantity) for name, quantity in resources.items())


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


class ShownScaler(Struct, frozen=True, kw_only=True):
    """Another object of the file that sets how many replicas the workload may have."""

    growth: Growth
    effective: bool
    """False if it has no effect: while it is paused, or if the kind has no field that it could set."""

    @property
    def api_version(self) -> str:
        group, version = self.growth.source.group, self.growth.version
        return f"{group}/{version}" if group else version


class ShownWorkload(Struct, frozen=True, kw_only=True):
    """One workload of a file."""

    source: str
    line: int
    """First line of its document."""
    workload: model.Workload
    """The workload, with the pods and totals to which other objects of the file may scale it."""
    scalers: tuple[ShownScaler, ...]
    input: bytes
    """The input document of the policies as JSON. Policies judge the object without its scalers."""
    pools: Mapping[str, tuple[PoolReason, ...]]
    """The pools of usher.yaml for each pod set that requests accelerators, by the path of its template."""


def shown_workloads(
    batches: Iterable[Batch], *, config: models.Config, vocabulary: Vocabulary, namespace: str
) -> Iterator[ShownWorkload]:
    """The workloads in the order of the files, without objects that make no pods.

    The objects of one file are applied together: they may refer to each other and scale each other.

    Args:
        config: the configuration, for the input document.
        namespace: the namespace of objects without one.
    """
    known = Knowledge(facts=Store(), config=config, vocabulary=vocabulary)
    documents = Documents(known)
    roles = Roles(config)
    for batch in batches:
        objects = values.Objects((item.value for item in batch.items), namespace=namespace)
        read = partial(normalise, vocabulary=vocabulary, namespace=namespace, objects=objects, roles=roles)
        by_target = surroundings.scalers_by_target((item.value for item in batch.items), namespace=namespace)
        for item in batch.items:
            growths = surroundings.scalers_of(item.value, by_target, namespace=namespace)
            own = read(item.value)
            workload = grown(item.value, growths, normalise=read, namespace=namespace)
            if own is not None and own.makes_pods and workload is not None:
                yield ShownWorkload(
                    source=batch.source,
                    line=item.document.line if item.document is not None else 0,
                    workload=workload,
                    scalers=tuple(ShownScaler(growth=each, effective=_changes(item.value, each)) for each in growths),
                    input=documents.build(own),
                    pools=_pools(own, known),
                )


def differences(expected: paths.Object, *, vocabulary: Vocabulary) -> Iterator[str]:
    """In what the reading of an object differs from `podSets` and `unknown` of an expectation."""
    workload = normalise(paths.mapping(expected.get("object")), vocabulary=vocabulary)
    if workload is None:
        yield "usher reads no pods of this object; describe its kind under workloads: of usher.yaml"
        return
    found = {each.name: _read_pods(each) for each in workload.pod_sets}
    wanted = paths.mapping(expected.get("podSets"))
    for name in sorted({*found, *wanted}):
        own, theirs = found.get(name), paths.mapping(wanted.get(name))
        if own is None or name not in wanted:
            yield f"pod set {name or 'without a name'} {'is missing' if own is None else 'is not expected'}"
            continue
        theirs = {"most": theirs.get("pods"), "devices": {}, **theirs}
        for field in sorted({*own, *theirs}):
            if own.get(field) != theirs.get(field):
                yield f"pod set {name}: {field} is {own.get(field)}, expected {theirs.get(field)}"
    unknown = {paths.readable(each.path): each.reason for each in workload.unknowns}
    for place in sorted(
        {*unknown} ^ {each for each in paths.elements(expected.get("unknown")) if isinstance(each, str)}
    ):
        yield f"{place} {f'is unknown: {unknown[place]}' if place in unknown else 'is expected to be unknown'}"


def _read_pods(pod_set: model.PodSet) -> paths.Object:
    devices: dict[str, paths.Json] = {}
    for each in pod_set.requests:
        text = str(each.maximum)
        devices[each.name] = int(text) if text.isdecimal() else text
    return {"pods": pod_set.count.minimum, "most": pod_set.count.maximum, "devices": devices}


def _pools(workload: model.Workload, known: Knowledge) -> Mapping[str, tuple[PoolReason, ...]]:
    found = {each.path: declared_pools.pool_reasons(each, workload=workload, known=known) for each in workload.pod_sets}
    return {path: reasons for path, reasons in found.items() if reasons}


def _changes(value: paths.Object, each: Growth) -> bool:
    return grown_workloads.with_replicas(value, each, replicas=each.minimum) is not value


_QUEUE: Final = "kueue.x-k8s.io/queue-name"


def write_text(
    shown: Iterable[ShownWorkload], stream: TextIO, /, *, vocabulary: Vocabulary, width: int | None = None
) -> None:
    """Writes the workloads; `width` in columns, by default the terminal's."""
    lines = Lines(stream, color=False, width=width)
    for number, each in enumerate(shown):
        if number:
            lines.write()
        # Never wraps: people cannot click or copy a path that is broken over lines.
        lines.write(wording.printable(f"{each.source}:{each.line}" if each.line else each.source))
        name = wording.workload_name(each.workload)
        lines.wrapped(f"{name} ({each.workload.api_version})", first=Text(""), rest="  ")
        if _is_recognised(each.workload):
            lines.labelled([*_rows_of_known_fields(each, vocabulary)])
        unknown = list(_unknown(each))
        if unknown:
            lines.write("  unknown")
        for text in unknown:
            lines.wrapped(text, first=Text("    "), rest="      ")


def _is_recognised(workload: model.Workload) -> bool:
    """Whether usher knows more of the object than its kind and name."""
    return bool(workload.pod_sets) or workload.role is not model.Role.UNKNOWN or not workload.unknowns


def _rows_of_known_fields(shown: ShownWorkload, vocabulary: Vocabulary) -> Iterator[Row]:
    workload = shown.workload
    reason = f" ({workload.role_reason})" if workload.role_reason else ""
    yield Row("role", f"{workload.role}{reason}")
    state = [text for holds, text in ((workload.suspended, "suspended"), (workload.deleting, "being deleted")) if holds]
    if state:
        yield Row("state", ", ".join(state))
    if workload.owner is not None:
        yield Row("owner", f"{workload.owner.kind} {workload.owner.name}")
    if workload.is_template:
        yield Row("makes pods", "only when another object refers to it; the numbers are for one use")
    unread = workload.unknowns and workload.pods.maximum == 0
    yield Row("pods", "no pod template could be read" if unread else _pods(workload.pods))
    yield from (Row("", text) for text in _idle(shown.scalers))
    yield from _accelerators(workload, vocabulary)
    common = CommonValues.of(workload.pod_sets)
    if common.scheduler:
        yield Row("scheduler", common.scheduler)
    if workload.gang.wanted:
        yield Row("gang", _gang(workload.gang))
    if workload.queue_labels.get(_QUEUE):
        yield Row("queue", f"{workload.queue_labels[_QUEUE]} (Kueue)")
    if common.operator_environment:
        yield Row("operator sets", common.operator_environment)
    yield from _pod_sets(shown, vocabulary, common)


def _pods(count: model.Count) -> str:
    """`8`, or `2 to 8: elasticPolicy`."""
    number = wording.pods(count).removesuffix(" pods").removesuffix(" pod")
    return f"{number}: {count.reason}" if count.reason else number


def _idle(scalers: Iterable[ShownScaler]) -> Iterator[str]:
    """The scalers without an effect, each with the reason."""
    for scaler in scalers:
        if not scaler.effective:
            growth = scaler.growth
            why = "is paused" if growth.held else f"has no effect: it finds no number of replicas in {growth.target}"
            yield f"{growth.source.kind} {growth.source.name} {why}"


def _accelerators(workload: model.Workload, vocabulary: Vocabulary) -> Iterator[Row]:
    known = workload.pods.reason
    texts = [request_text(total, vocabulary, known=known) for total in workload.totals]
    totalled = {(total.name, total.route) for total in workload.totals}
    # Access to all devices takes no device, so totals do not count it.
    access = (
        request_text(request, vocabulary)
        for pod_set in workload.pod_sets
        for request in pod_set.requests
        if request.route is model.Route.ACCESS and (request.name, request.route) not in totalled
    )
    texts += dict.fromkeys(access)
    if not texts:
        texts = ["no request could be read" if workload.unknowns else "no accelerators"]
    for number, text in enumerate(texts):
        yield Row("" if number else "accelerators", text)


def _gang(gang: model.Gang) -> str:
    formed = f"formed by {gang.formed_by}" if gang.formed_by else "needed, but nothing in the object forms one"
    return formed if gang.minimum is None else f"{formed}; at least {wording.count(gang.minimum, 'pod')} at once"


def _pod_sets(shown: ShownWorkload, vocabulary: Vocabulary, common: CommonValues) -> Iterator[Row]:
    """The rows of each pod set. A single one without a name needs no heading."""
    workload = shown.workload
    alone = len(workload.pod_sets) == 1
    for pod_set in workload.pod_sets:
        shares = any(request.claim for request in pod_set.requests)
        requests = shares or workload.pods.maximum != 1 or not alone
        indent = 2
        if not alone or pod_set.name:
            reason = f": {pod_set.count.reason}" if pod_set.count.reason and not alone else ""
            yield Row(f"pod set {pod_set.name or '(unnamed)'}", f"{wording.pods(pod_set.count)}{reason}")
            indent = 4
        yield from pod_set_rows(pod_set, vocabulary, indent=indent, requests=requests, common=common)
        yield from (Row(f"pool {each.pool}", each.reason, indent) for each in shown.pools.get(pod_set.path, ()))


def _unknown(shown: ShownWorkload) -> Iterator[str]:
    """The unknown places, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in chain(_of_workload(shown.workload), _of_scalers(shown.scalers)):
        by_reason.setdefault(reason, []).append(path)
    for reason, places in by_reason.items():
        yield f"{', '.join(places)}: {reason}"


def _of_workload(workload: model.Workload) -> Iterator[tuple[str, str]]:
    for unknown in workload.unknowns:
        yield paths.readable(unknown.path), unknown.reason
    remedy = "usher.yaml can say so under accelerators"
    for pod_set in workload.pod_sets:
        for container in pod_set.containers:
            for name in container.lookalikes:
                path = paths.readable(container.first_path(name))
                yield path, f"{name} may be an accelerator, as its name suggests; {remedy}"


def _of_scalers(scalers: Iterable[ShownScaler]) -> Iterator[tuple[str, str]]:
    for scaler in scalers:
        source = f"{scaler.growth.source.kind} {scaler.growth.source.name}"
        for unknown in scaler.growth.unknowns:
            yield f"{paths.readable(unknown.path)} of {source}", unknown.reason


def write_json(shown: Iterable[ShownWorkload], stream: TextIO, /, *, vocabulary: Vocabulary) -> None:
    """Writes the workloads as one JSON document."""
    json_report.write_document(WorkloadList.model_validate({"workloads": list(shown)}, context=vocabulary), stream)


def _unit(resource: str, info: ValidationInfo[Vocabulary]) -> str:
    return wording.memory_unit(resource, info.context)


class Pods(json_report.Shape):
    minimum: json_report.Bounded
    maximum: json_report.BoundedIfKnown
    reason: json_report.TextIfAny


class Total(json_report.Shape):
    """All pods together request this; `unit` is `MiB` or a similar unit if the name counts memory."""

    name: str
    route: str
    unit: Annotated[str, BeforeValidator(_unit), json_report.IF_ANY] = json_report.attribute("name")
    minimum: json_report.Exact
    maximum: json_report.ExactIfKnown
    reason: json_report.TextIfAny


class Request(Total):
    """One pod requests this; pods that name the same `claim` share it."""

    path: str
    claim: json_report.TextIfAny


class Owner(json_report.Shape):
    group: str
    kind: str
    name: str


class Gang(json_report.Shape):
    """Whether the pods have to start together, the reason, and how many must exist."""

    wanted: bool
    formed_by: json_report.TextIfAny
    minimum: json_report.IntegerIfKnown


class Scheduler(json_report.Shape):
    """The scheduler of the pods; `reason` if the template does not name it."""

    name: str
    reason: json_report.TextIfAny


class Container(json_report.Shape):
    """A container. `trains`: it does the pod's work, and gets the variables and devices that training needs.

    `lookalikes` are resources that look like accelerators but are unknown to usher and usher.yaml.
    """

    name: str
    type: str
    path: str
    requests: dict[str, json_report.Exact]
    limits: dict[str, json_report.Exact]
    asks_accelerators: bool
    trains: bool
    lookalikes: Annotated[list[str], json_report.IF_ANY]


class PodSet(json_report.Shape):
    """One pod template. `changeable` is false if a change of it would not reach the pods.

    `servesAs` is the work of the pods in serving a model; absent where unknown. `operatorEnvironment` are the variables
    that the kind's operator sets itself; names that end in `*` are prefixes.
    """

    name: str
    path: str
    serves_as: json_report.TextIfAny
    pods: Pods = json_report.attribute("count")
    requests: list[Request]
    scheduler: Scheduler
    scheduling_gates: list[str]
    containers: list[Container]
    operator_environment: Annotated[list[str], BeforeValidator(sorted)]
    changeable: bool


class Unknown(json_report.Shape):
    path: str
    field: json_report.Readable = json_report.attribute("path")
    reason: str


class Scaler(json_report.Shape):
    """Another object of the file that sets how many replicas this one may have, as this one counts them.

    `effective` is false if it has no effect: while it is paused, or if the kind has no number that it sets. The paths
    of its unknowns lead into it.
    """

    api_version: str
    kind: str = json_report.attribute("growth", "source", "kind")
    namespace: str = json_report.attribute("growth", "source", "namespace")
    name: str = json_report.attribute("growth", "source", "name")
    effective: bool
    minimum: int = json_report.attribute("growth", "minimum")
    maximum: json_report.IntegerIfKnown = json_report.attribute("growth", "maximum")
    reason: json_report.TextIfAny = json_report.attribute("growth", "reason")
    unknowns: list[Unknown] = json_report.attribute("growth", "unknowns")


class Pool(json_report.Shape):
    """Whether a pool of usher.yaml fits the pods, and why."""

    pool: str
    fits: bool
    reason: str


class Workload(json_report.Shape):
    """A workload. The scalers determine `pods`, `totals` and the `pods` of pod sets; `input` is the input of the
    policies.

    `template` is true for an object that makes pods only when another object refers to it: its numbers count one use.
    `line` is the first of the object's document.
    """

    source: str
    line: json_report.IntegerIfAny
    api_version: str = json_report.attribute("workload", "api_version")
    kind: str = json_report.attribute("workload", "kind")
    namespace: str = json_report.attribute("workload", "namespace")
    name: str = json_report.attribute("workload", "name")
    role: str = json_report.attribute("workload", "role")
    role_reason: json_report.TextIfAny = json_report.attribute("workload", "role_reason")
    owner: Annotated[Owner | None, json_report.IF_KNOWN] = json_report.attribute("workload", "owner")
    template: bool = json_report.attribute("workload", "is_template")
    suspended: bool = json_report.attribute("workload", "suspended")
    deleting: bool = json_report.attribute("workload", "deleting")
    gang: Gang = json_report.attribute("workload", "gang")
    pods: Pods = json_report.attribute("workload", "pods")
    totals: list[Total] = json_report.attribute("workload", "totals")
    scaled_by: list[Scaler] = json_report.attribute("scalers")
    pod_sets: list[PodSet] = json_report.attribute("workload", "pod_sets")
    pools: Annotated[dict[str, list[Pool]], json_report.IF_ANY]
    unknowns: list[Unknown] = json_report.attribute("workload", "unknowns")
    input: Annotated[Any, BeforeValidator(orjson.loads)]


class WorkloadList(json_report.Shape):
    api_version: Literal["gpu-usher.io/v1alpha1"] = json_report.API_VERSION
    kind: Literal["WorkloadList"] = "WorkloadList"
    workloads: list[Workload]
