"""How many pods a manifest makes, how many replicas one object lets another one have, and what needs other numbers.

Ports are among these numbers: those on which model servers listen, and that probes, Services and routes ask. Sources:
the documentation of each server, in answers.yaml; kubernetes.io on Services, Ingresses and webhooks, whose default port
is 443; gateway-api.sigs.k8s.io on backendRefs and InferencePools.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths
from usher.kinds.reading import known_keys, values
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import at, is_placeholder, texts_at, values_at
from usher.kinds.reading.values import MAX_PODS, Absence, Objects, Reading, Reference

DEFAULT_SURGE: Final = "25%"
"""The default share of a Deployment's replicas for its surge."""

_PERCENTAGE: Final = memo.pattern(r"([0-9]{1,4})%", re.ASCII)


def concurrent_pods(spec: Mapping[str, paths.Json], path: str, reading: Reading) -> int:
    """Pods of a JobSpec that run at one time: parallelism, but never more than completions."""
    parallelism = reading.count(spec.get("parallelism"), path + "/parallelism", default=1)
    completions = reading.count(spec.get("completions"), path + "/completions", default=parallelism)
    return min(parallelism, completions)


def in_turns(spec: Mapping[str, paths.Json]) -> bool:
    """Whether a JobSpec completes more pods than it runs at one time: later pods start when earlier ones have ended.

    Values of wrong types are recorded elsewhere.
    """
    given, completions = spec.get("parallelism"), spec.get("completions")
    parallelism = 1 if given is None else given
    return isinstance(parallelism, int) and isinstance(completions, int) and completions > parallelism


def share_of_replicas(  # noqa: PLR0913 - a field, what it is a share of, and how
    replicas: int,
    value: object,
    path: str,
    reading: Reading,
    *,
    default: int | str = DEFAULT_SURGE,
    rounded_up: bool = True,
) -> int:
    """Some of the replicas: a number, or a percentage. Surges are rounded up, unavailable pods are rounded down."""
    if value is None:
        value = default
    if not isinstance(value, str):
        return reading.count(value, path, default=0)
    percentage = _PERCENTAGE.fullmatch(value)
    if percentage is None:
        reading.unknown(path, "expected a whole number or a percentage, for example 25%")
        return 0
    hundredths = replicas * int(percentage[1])
    return -(-hundredths // 100) if rounded_up else hundredths // 100


class Times(NamedTuple):
    """How often a part runs; `high` is None without a bound."""

    low: int
    high: int | None
    reasons: tuple[str, ...] = ()
    """Why `low` and `high` differ."""

    def of_pods(self) -> model.Count:
        reason = "; ".join(self.reasons) if self.low != self.high or self.high == 0 else ""
        return model.Count(minimum=self.low, maximum=self.high, reason=reason)

    def perhaps(self, reason: str) -> "Times":
        """The same, but possibly never."""
        return Times(0, self.high, unite_reasons(self.reasons, (reason,)))


NEVER: Final = Times(0, 0)
ONCE: Final = Times(1, 1)

_TOO_MANY: Final = ("more pods than any cluster holds",)


def sum_of_times(found: Iterable[Times]) -> Times:
    """The sum of all of these."""
    low = 0
    high: int | None = 0
    reasons: tuple[str, ...] = ()
    for times in found:
        low += times.low
        high = None if high is None or times.high is None else high + times.high
        reasons = unite_reasons(reasons, times.reasons)
    return _bounded_times(Times(low, high, reasons))


def nested_times(outer: Times, inner: Times) -> Times:
    """The product: the inner runs, for each of the outer ones."""
    if outer.high == 0 or inner.high == 0:
        return NEVER
    high = None if outer.high is None or inner.high is None else outer.high * inner.high
    return _bounded_times(Times(outer.low * inner.low, high, unite_reasons(outer.reasons, inner.reasons)))


def cap_times(found: Sequence[Times], limit: int, reason: str) -> list[Times]:
    """The runs that fit below a limit on runs at one time; certain runs take the room in the given order."""
    total = sum_of_times(found).high
    if total is not None and total <= limit:
        return list(found)
    left = limit
    result = []
    for times in found:
        low = min(times.low, left)
        left -= low
        high = limit if times.high is None else min(times.high, limit)
        result.append(Times(low, high, unite_reasons(times.reasons, (reason,))))
    return result


def unite_reasons(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Reasons, each once."""
    return tuple(dict.fromkeys((*one, *other)))


def _bounded_times(times: Times) -> Times:
    if times.high is None or times.high <= MAX_PODS:
        return times._replace(low=min(times.low, MAX_PODS))
    return Times(min(times.low, MAX_PODS), None, unite_reasons(times.reasons, _TOO_MANY))


UNUSABLE = -1
"""A missing or wrong number that no default may replace."""


class Growth(Struct, frozen=True, kw_only=True):
    """How many replicas one object lets another one have: pods, groups or Workers, as the target counts them."""

    source: values.Reference
    version: str
    """The API version of the source, without its group."""
    target: values.Reference
    """The target. Kind and name are empty if the source lacks them. It has no version: autoscalers ignore it."""
    minimum: int
    maximum: int | None
    """None without a bound, or if the bound could not be read: then `unknowns` has the reason."""
    reason: str = ""
    """The reason for the maximum, if the source does not state it."""
    maximum_path: str = paths.ROOT
    """The field with the maximum, or the object that lacks it. Like all paths here it leads into the source."""
    target_path: str = paths.ROOT
    role: str = ""
    """The role of the target that grows; empty where the whole target grows (roles: DisaggregatedSet)."""
    held: bool = False
    """True while the target keeps its current number in spite of the bounds (a paused ScaledObject)."""
    unknowns: tuple[model.Unknown, ...] = ()


ReadGrowth = Callable[[paths.Object, Growth, Reading], Growth]
"""Completes the growth that an object of one kind allows: its target and its bounds."""


def growth_to_number(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth to the one number in `spec.replicas`, which is 0 if it is missing."""
    given = reading.mapping(value.get("spec"), "/spec").get("replicas")
    growth = replace(growth, maximum_path=nearest_pointer(value, "/spec/replicas"))
    number = reading.count(given, "/spec/replicas", default=UNUSABLE)
    if given is None and isinstance(value.get("spec"), dict | NoneType):
        number = 0
    return growth if number == UNUSABLE else replace(growth, minimum=number, maximum=number, reason="")


def nearest_pointer(value: paths.Object, pointer: str) -> str:
    """The pointer, or its innermost part that exists in the object."""
    while pointer:
        try:
            paths.resolve(value, pointer)
        except LookupError:
            pointer, _, _ = pointer.rpartition("/")
        else:
            break
    return pointer


def nearest_object(value: paths.Object, pointer: str) -> str:
    """The pointer, or its innermost part that is an object."""
    pointer = nearest_pointer(value, pointer)
    while not isinstance(paths.resolve(value, pointer), dict):
        pointer, _, _ = pointer.rpartition("/")
    return pointer


def object_in(value: paths.Object, key: str) -> Mapping[str, paths.Json]:
    """An object inside the object; empty where it is missing or has a wrong type, which is recorded elsewhere."""
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def with_number_at(value: paths.Object, pointer: str, number: int) -> paths.Object:
    """The object with another number at a pointer; the same object if it has no place for that field.

    Only the objects on the way are copied. The rest is shared, so callers must change neither object.
    """
    return _replaced(value, paths.split(pointer), number) or value


def _replaced(holder: paths.Json, keys: list[str], number: int) -> paths.Object | None:
    """The changed object; None if an object on the way is missing. Only the field itself may be missing."""
    if not isinstance(holder, dict) or not keys:
        return None
    key, *rest = keys
    if not rest:
        return {**holder, key: number}
    inner = _replaced(holder.get(key), rest, number)
    return None if inner is None else {**holder, key: inner}


TORCHRUN: Final = memo.pattern(r"\b(?:torchrun|torch\.distributed\.(?:run|launch)|accelerate(?:\s+|-)launch)\b")
NODES: Final = memo.pattern(r"--n(?:nodes|um[-_]machines)[=\s]+[\"']?(\d{1,9})\b", re.ASCII)


def refused_counts_of_jobs(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Indexed Jobs without completions, which the API server refuses. Jobs of a JobSet are indexed by default."""
    is_set = value.get("kind") == "JobSet"
    for where, job in at(value, "spec.replicatedJobs[].template.spec" if is_set else "spec"):
        mode = job.get("completionMode", "Indexed" if is_set else "") if isinstance(job, dict) else ""
        if mode == "Indexed" and job.get("completions") is None and job.get("parallelism") is not None:
            text = f"has indexed pods without completions at {paths.readable(where)}, so the API server refuses the Job"
            remedy = f"set completions to {job['parallelism']}, the number of pods"
            yield misread(where, text, remedy, "", refused=True)


_LEAST: Final = "kueue.x-k8s.io/job-min-parallelism"


def refused_counts_of_job(value: paths.Object) -> Iterator[model.UnreadKey]:
    """As of Jobs in a JobSet, and a least parallelism that Kueue refuses."""
    yield from refused_counts_of_jobs(value)
    spec, least = paths.mapping(value.get("spec")), paths.mapping(paths.metadata(value).get("annotations")).get(_LEAST)
    parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
    if not isinstance(least, str) or not isinstance(parallelism, int) or is_placeholder(least):
        return
    pods = min(parallelism, completions) if isinstance(completions, int) else parallelism
    if not re.fullmatch(r"\d{1,9}", least, re.ASCII) or not 0 < int(least) < pods:
        # validatePartialAdmissionCreate in pkg/controller/jobs/job/job_webhook.go of Kueue
        text = f"lets Kueue start it with {least[:20]} pods, which must be fewer than its {pods}, so Kueue refuses it"
        remedy = f"write a number from 1 to {pods - 1}" if pods > 1 else "remove the annotation"
        yield misread(paths.join("/metadata/annotations", _LEAST), text, remedy, "controller")


def _words(container: Mapping[str, Any]) -> str:
    return " ".join(texts_at(container, "command[] args[]"))


class _Answers(NamedTuple):
    """The ports and paths of a model server."""

    program: str
    """Words of its command."""
    image: str
    """Its image, whose entry point starts it."""
    port: int
    """The port without a flag."""
    paths: str
    """The paths that answer requests without a body."""
    flag: str = r"--port"
    way: str = ""
    """The setting of the port up to its number, if no flag sets it."""
    right: str = "/health"
    """The path for a probe."""
    others: frozenset[int] = frozenset()
    """Ports with metrics."""
    host: str = ""
    """The address on which it listens without its option for that, if only its own pod reaches that."""
    host_flag: str = "--host"
    unready: str = "(?!)"
    """Paths that fail while the server is well, if its command has the pattern `busy`."""
    busy: str = ""
    why: str = ""
    """The work for which it is not ready, after `while the server`."""
    alive: str = ""
    """The path that fails only if the server has to start again."""


@cache
def _servers() -> tuple[_Answers, ...]:
    rows = orjson.loads(Path(__file__).with_name("answers.json").read_bytes())
    return tuple(_Answers(**{**row, "others": frozenset(row.get("others", ()))}) for row in rows)


_ELSEWHERE: Final = memo.pattern(
    r"\bOLLAMA_HOST\b|\bLLAMA_ARG_(?:PORT|HOST)\b|\b(?:UVICORN|GUNICORN|INFINITY|MLFLOW)_|\bNIM_\w*PORT\b|\b(?:HTTP_)?PORT\b|nginx|--uds|--fd\b"
    r"|--root-path|--(?:api|url)-prefix|\$"
)


def _served(spec: Mapping[str, Any]) -> tuple[_Answers, Mapping[str, Any], set[int]] | None:
    """The model server that is alone in its pod, its container, and the ports on which it listens."""
    containers = spec.get("containers")
    if not isinstance(containers, list) or len(containers) != 1 or not isinstance(containers[0], dict):
        return None
    container = containers[0]
    words, image = _words(container), paths.text(container.get("image"))
    server = _server(words, "" if container.get("command") else image)
    if server is None or "envFrom" in container or "Always" in texts_at(spec, "initContainers[].restartPolicy"):
        return None
    if _ELSEWHERE.search(f"{words} {' '.join(texts_at(container, 'env[].name'))}"):
        return None
    start = re.search(server.program, words)
    own = re.split(r"[;&|]|(?<!\\)\n", words[start.start() if start else 0 :])[0]
    given = re.findall(rf"(?:^|\s){server.flag}(?:=|\s+)[\"']?(\d{{1,18}})\b", own)
    return server, container, {int(each) for each in given} or {server.port}


def ports_of_server(spec: Mapping[str, Any]) -> set[int]:
    """The ports of a model server that is alone in its pod, and those that it declares, but for its side channel."""
    found, env = _served(spec), map(paths.mapping, values_at(spec, "containers[].env[]"))
    aside = {str(each.get("value")) for each in env if str(each.get("name")).endswith("_SIDE_CHANNEL_PORT")}
    declared = (each for each in values_at(spec, "containers[].ports[].containerPort") if isinstance(each, int))
    if not found:
        return set()
    own = {int(each) for each in _OTHER_PORTS.findall(_words(found[1]))}
    return {*found[2], *found[0].others, *own, *(each for each in declared if str(each) not in aside)}


_OTHER_PORTS: Final = memo.pattern(r"\s--[\w-]{1,40}[-_]port(?:=|\s+)[\"']?(\d{1,9})\b")
"""Options for further ports, as --grpc-port of Triton."""


_TO_8080: Final = frozenset({"serving.kserve.io InferenceService", "serving.knative.dev Service"})
"""Kinds whose controller asks port 8080 of a container that declares no port."""


def unanswered(spec: Mapping[str, Any], path: str, kind: str = "") -> Iterator[model.UnreadKey]:
    """Probes of a model server that is alone in its pod, to a port or a path that it does not answer."""
    if (found := _served(spec)) is None:
        return
    server, container, ports = found
    words = _words(container)
    entries = [each for _, each in at(container, "ports[]") if isinstance(each, dict)]
    named = {
        paths.text(each.get("name")) or f"#{index}": each.get("containerPort") for index, each in enumerate(entries)
    }
    declared = [each for each in named.values() if isinstance(each, int)]
    is_local = server.host and not re.search(rf"(?:^|\s)(?:{server.host_flag})(?:[=\s]|$)", words)
    if is_local and (declared or "readinessProbe" in container):
        text = f"starts a server that listens on {server.host}, where neither probes nor Services reach it"
        yield misread(f"{path}/containers/0", text, f"add {server.host_flag.partition('|')[0]} 0.0.0.0", "probe")
    if kind in _TO_8080 and not entries and 8080 not in ports:
        text = (
            f"declares no port, so requests go to 8080, but the server listens on {', '.join(map(str, sorted(ports)))}"
        )
        yield misread(f"{path}/containers/0", text, f"declare containerPort {min(ports)}", "probe")
    if len(declared) == 1 and not ports & {*declared} and declared[0] not in server.others:
        text = f"declares port {declared[0]}, but the server listens on {', '.join(map(str, sorted(ports)))}"
        way = server.way or f"{server.flag.strip('(?:)').partition('|')[0]} to "
        remedy = f"declare port {min(ports)}, or set {way}{declared[0]}"
        yield misread(f"{path}/containers/0/ports", text, remedy, "probe")
    for where, get in at(container, "{livenessProbe,readinessProbe,startupProbe}.httpGet", f"{path}/containers/0"):
        probe = paths.mapping(get)
        url = str(probe.get("path", "/"))
        asked = url.partition("?")[0].rstrip("/") or "/"
        port = str(probe.get("port"))
        port = str(named.get(port, port))
        if re.fullmatch(r"\d{1,18}", port) and int(port) not in ports | server.others:
            text = f"asks port {port} in a probe, but the server listens on {', '.join(map(str, sorted(ports)))}"
            yield misread(f"{where}/port", text, f"ask port {min(ports)}", "probe")
        elif "/livenessProbe/" in where and re.fullmatch(server.unready, url) and re.search(server.busy, words):
            text = f"asks {url[:80]} in its livenessProbe, which fails while the server {server.why}, and then the "
            yield misread(f"{where}/path", f"{text}kubelet restarts it", f"ask {server.alive}", "probe")
        elif not re.fullmatch(server.paths, asked):
            text = f"asks {asked[:80]} in a probe, which the server does not answer with a success"
            yield misread(f"{where}/path", text, f"ask {server.right}", "probe")


def ports_twice(spec: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """A port on which two containers of a pod listen, which have one network: the second one ends."""
    taken: dict[int, str] = {}
    started = [(where, each) for where, each in at(spec, "containers[]", path) if isinstance(each, dict)]
    before = [(where, each) for where, each in at(spec, "initContainers[]", path) if isinstance(each, dict)]
    started += [(where, each) for where, each in before if each.get("restartPolicy") == "Always"]
    for where, container in started if len(started) > 1 else ():
        served = _served({"containers": [container]})
        entries = [each for each in values_at(container, "ports[]") if isinstance(each, dict)]
        tcp = [each.get("containerPort") for each in entries if each.get("protocol", "TCP") == "TCP"]
        name = paths.text(container.get("name"))[:60]
        for port in served[2] if served else {each for each in tcp if isinstance(each, int)}:
            if port in taken:
                text = f"has the containers {taken[port]} and {name}, which both listen on the port {port}, so one ends"
                yield misread(where, text, "give one of them another port", "probe")
                return
            taken[port] = name


@cache
def _any_server() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The programs and the images of all servers."""
    images = (each.image for each in _servers() if each.image)
    return re.compile("|".join(each.program for each in _servers())), re.compile("|".join(images))


def _server(words: str, image: str) -> _Answers | None:
    """The first server that a command or an image starts."""
    programs, images = _any_server()
    if not programs.search(words) and not images.search(image):
        return None
    return next(filter(lambda each: _starts(each, words, image), _servers()), None)


def _starts(server: _Answers, words: str, image: str) -> bool:
    return bool(re.search(server.program, words) or (image and server.image and re.search(server.image, image)))


_RAY_GROUPS: Final = "spec{,.rayClusterSpec,.rayClusterConfig,.jobTemplate.rayClusterSpec}.workerGroupSpecs[]"


def _least_above_most(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Worker groups of Ray whose minReplicas is above their maxReplicas, which KubeRay refuses."""
    for where, group in at(value, _RAY_GROUPS):
        least, most = (group.get(key) for key in ("minReplicas", "maxReplicas")) if isinstance(group, dict) else (0, 0)
        if isinstance(least, int) and isinstance(most, int) and least > most:
            text = f"has minReplicas {least} above maxReplicas {most} at {paths.readable(where)}, which KubeRay refuses"
            remedy = "set minReplicas to at most maxReplicas"
            yield model.UnreadKey(path=f"{where}/minReplicas", text=text, remedy=remedy, important=True, refused=True)


def _never_made(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Ray workers with GPUs that nothing makes, and those that the autoscaler cannot take away.

    Sources: ray-project/kuberay#2071; docs.ray.io, configuring the autoscaler (restartPolicy).
    """
    scaled = values_at(value, "spec{,.rayClusterSpec,.rayClusterConfig}.enableInTreeAutoscaling") == [True]
    groups = [(where, group) for where, group in at(value, _RAY_GROUPS) if isinstance(group, dict)]
    limits = "template.spec.containers[].resources.limits"
    heads = values_at(value, f"spec{{,.rayClusterSpec,.rayClusterConfig}}.headGroupSpec.{limits}")
    made = [*heads, *(each for _, group in groups if group.get("replicas") != 0 for each in values_at(group, limits))]
    for where, group in groups:
        text = remedy = ""
        if scaled and values_at(group, "template.spec.restartPolicy") in (["Always"], ["OnFailure"]):
            text = f"restarts the workers at {paths.readable(where)}, which the autoscaler of Ray then cannot take away"
            remedy = "set restartPolicy to Never"
        elif scaled and _without_cpus(group):
            text = (
                f"gives the workers at {paths.readable(where)} no CPUs, and the autoscaler of Ray ends without a number"
            )
            remedy = "set cpu in limits of their first container, or num-cpus in rayStartParams"
        elif not (scaled or value["kind"] == "RayCluster") and group.get("replicas") == 0 == group.get(
            "minReplicas", 0
        ):
            asked = [key for each in values_at(group, limits) for key in paths.mapping(each) if key.endswith("/gpu")]
            if asked and not any("gpu" in str(each) for each in made):
                text = f"makes 0 workers with {asked[0]} at {paths.readable(where)}, and nothing makes more"
                remedy = "set replicas, or enableInTreeAutoscaling to true"
        if text:
            yield model.UnreadKey(path=where, text=text, remedy=remedy, important=False, topic="controller")


def _without_cpus(group: Mapping[str, paths.Json]) -> bool:
    """Whether a group does not say how many CPUs Ray has (_get_num_cpus of ray-project/ray, _private/kuberay)."""
    first = values_at(group, "template.spec.containers[]")[:1]
    asked = {key for each in first for key in values_at(each, "resources.{limits,requests}^")}
    return bool(first) and "cpu" not in asked and "num-cpus" not in paths.mapping(group.get("rayStartParams"))


def refused_counts_of_ray(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Numbers of workers that KubeRay refuses (validation.go of ray-project/kuberay), and workers without a maker."""
    yield from _least_above_most(value)
    yield from _never_made(value)


_TOGETHER: Final = "spec.template.spec.{affinity.podAffinity,nodeSelector.kubernetes\u2024io/hostname}"


def scaled_beside_one_disk(value: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """Autoscalers that add pods of a Deployment whose disk one node alone mounts; USH1112 has fixed numbers."""
    spec, home = known_keys.part_at(value, "/spec"), paths.text(paths.metadata(value).get("namespace"))
    least, most = (spec.get(f"{each}Replicas", spec.get(f"{each}ReplicaCount", 0)) for each in ("min", "max"))
    name = paths.text(known_keys.part_at(value, "/spec/scaleTargetRef").get("name"))
    target = objects.find(Reference(group="apps", kind="Deployment", name=name, namespace=home)) if name else Absence
    few = {"0", "1"}
    if not isinstance(target, dict) or str(least) not in few or str(most) == "1" or values_at(target, _TOGETHER):
        return
    for claim in texts_at(target, "spec.template.spec.volumes[].persistentVolumeClaim.claimName"):
        disk = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=claim, namespace=home))
        if isinstance(disk, dict) and set(texts_at(disk, "spec.accessModes[]")) == {"ReadWriteOnce"}:
            text = f"adds pods to Deployment {name[:60]}, whose disk {claim[:60]} (ReadWriteOnce) one node alone mounts"
            remedy = "use a disk that several nodes can mount, so that pods on other nodes do not wait"
            yield misread("/spec/scaleTargetRef/name", text, remedy, "controller")


def ports_of_policies(value: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """Ports that a NetworkPolicy lets in and that a Service has, where its pods have others behind them.

    Source: kubernetes.io, Network Policies: rules see the packet at the pod, after the Service.
    """
    namespace = paths.text(paths.metadata(value).get("namespace"))
    chosen = values_at(value, "spec.podSelector.matchLabels")
    for service in objects.of_kind("", "Service", namespace) if chosen else ():
        labels = known_keys.part_at(service, "/spec/selector")
        pairs = {
            each.get("port"): each.get("targetPort") for each in map(paths.mapping, values_at(service, "spec.ports[]"))
        }
        opened = values_at(value, "spec.ingress[].ports[].port")
        is_about = labels and (chosen[0].items() <= labels.items() or labels.items() <= chosen[0].items())
        for where, port in at(value, "spec.ingress[].ports[].port") if is_about else ():
            behind = pairs.get(port, port)
            if isinstance(port, int) and isinstance(behind, int) and behind != port and behind not in opened:
                name = paths.text(paths.metadata(service).get("name"))
                text = f"lets in port {port}, that of the Service {name[:60]}, and its pods get these requests on port "
                text += f"{behind}, which the policy does not let in"
                yield misread(where, text, f"write the port of the pods, {behind}", "controller")
                return
