"""Routes to model servers: gateways, InferencePools and endpoint pickers that do not fit each other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from usher import memo, model, paths
from usher.kinds.reading import counts, known_keys
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import (
    at,
    is_placeholder,
    labelled_pods,
    texts_at,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference

Found = Iterator[model.UnreadKey]


def beside_others(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Routes and endpoint pickers that other objects of the files contradict."""
    if key == (_GATEWAYS, "HTTPRoute"):
        yield from _routes_without_time(value, objects)
        yield from _defaults_of_gke(value, objects)
    if key == ("networking.k8s.io", "Ingress"):
        yield from _of_ingress(value, objects)
    if key in _CHECKED:
        yield from _checked_at_root(value, key, objects)
    if key == ("apps", "Deployment"):
        yield from _picker_of_another_pool(value, objects)
    if key == ("", "Service"):
        yield from _ranks_without_server(value, objects)


_GATEWAYS: Final = "gateway.networking.k8s.io"
_ENVOY: Final = "gateway.envoyproxy.io"
_WRITES: Final = memo.pattern(
    r"vllm|sglang|text-generation-(?:inference|launcher)|llama[-.](?:server|cpp)|trtllm|ollama"
)
_ANSWERS_AT_ONCE: Final = memo.pattern(r"embed|rerank|classif|reward|score|whisper|pooling", re.IGNORECASE)
"""Model servers that may write for minutes, and words of those that do not."""


def _routes_without_time(route: paths.Object, objects: Objects) -> Found:
    """Routes to model servers through Envoy Gateway, where Envoy ends a response after 15 s unless something sets it.

    Sources: internal/xds/translator/route.go of envoyproxy/gateway; RouteAction.timeout of Envoy.
    """
    known, named = objects.known(_GATEWAYS, "GatewayClass"), _classes_of(route, objects)
    controllers = [text for each in named for text in texts_at(known.get(each), "spec.controllerName")]
    if not any(each.startswith(f"{_ENVOY}/") for each in controllers) or objects.known(_ENVOY, "EnvoyPatchPolicy"):
        return
    policies = objects.known(_ENVOY, "BackendTrafficPolicy").values()
    if objects.once("timeouts of Envoy", lambda: "requestTimeout" in str(list(policies))):
        return
    metadata = paths.metadata(route)
    homes = objects.namespaces(_GATEWAYS, "HTTPRoute", paths.text(metadata.get("name")))
    home = paths.text(metadata.get("namespace")) or next(iter(homes), "")
    for where, rule in at(route, "spec.rules[]"):
        references = [] if values_at(rule, "timeouts.{request,backendRequest}") else values_at(rule, "backendRefs[]")
        if name := next(filter(None, (_writer(each, home, objects) for each in references)), ""):
            text = f"leads to the model server of Service {name[:100]} without a timeout, so Envoy ends each response "
            text += "after 15 s, also one that streams"
            remedy = "set timeouts.request of the rule to 0s, or to what the longest answer takes"
            yield misread(where, text, remedy, "controller")


def _classes_of(route: paths.Object, objects: Objects) -> list[str]:
    gateways = objects.known(_GATEWAYS, "Gateway")
    parents = texts_at(route, "spec.parentRefs[].name")
    return [text for each in parents for text in texts_at(gateways.get(each), "spec.gatewayClassName")]


def _writer(reference: object, home: str, objects: Objects) -> str:
    """The name of the Service of a reference, if its pods are model servers that may write for long; else empty."""
    if not isinstance(reference, dict) or reference.get("kind", "Service") != "Service":
        return ""
    name = paths.text(reference.get("name"))
    return name if _writes(name, paths.text(reference.get("namespace")) or home, objects) else ""


def _writes(name: str, within: str, objects: Objects) -> str:
    """Images and words of a model server behind a Service that may write for long; empty for others."""
    found = objects.find(Reference(group="", kind="Service", name=name, namespace=within))
    selector = {} if isinstance(found, Absence) else known_keys.part_at(found, "/spec/selector")
    for _, spec in labelled_pods(objects, within, selector):
        started = " ".join(texts_at(spec, "containers[].{image,command[],args[]}"))
        if _WRITES.search(started) and not _ANSWERS_AT_ONCE.search(started):
            return started
    return ""


_SILENT_AT_ROOT: Final = memo.pattern(r"vllm/vllm-openai|\bvllm serve\b|lmsysorg/sglang|\bsglang\.launch_server\b")
_OF_INGRESS: Final = "spec{.defaultBackend,.rules[].http.paths[].backend}.service.name"
_ALB: Final = "alb.ingress.kubernetes.io/healthcheck-path"
_OF_GKE: Final = (
    ("HealthCheckPolicy", "spec", _SILENT_AT_ROOT, ", so GKE asks it for / in vain", "requestPath /health"),
    ("GCPBackendPolicy", "spec.default.timeoutSec", _WRITES, " of time, so GKE ends answers after 30 s", "timeoutSec"),
)


def _defaults_of_gke(route: paths.Object, objects: Objects) -> Found:
    """Routes of GKE to model servers without the policies that change its health checks and its timeout."""
    if not any(each.startswith("gke-l7") for each in _classes_of(route, objects)):
        return
    home = paths.text(paths.metadata(route).get("namespace"))
    defaults = _OF_GKE[:1] if values_at(route, "spec.rules[].timeouts") else _OF_GKE
    for where, reference in at(route, "spec.rules[].backendRefs[]"):
        name = _writer(reference, home, objects)
        for kind, place, servers, why, what in defaults if name else ():
            policies = [each for each in objects.known("networking.gke.io", kind).values() if values_at(each, place)]
            given = any(name in texts_at(each, "spec.targetRef.name") for each in policies)
            if not given and servers.search(_writes(name, home, objects)):
                text = f"leads to the server of Service {name[:80]} without a {kind}{why}"
                yield misread(where, text, f"add a {kind} for the Service with {what}", "controller")


_CHECKED: Final = {
    ("networking.gke.io", "HealthCheckPolicy"): "spec.default.config.{http,https,http2}HealthCheck.requestPath",
    ("cloud.google.com", "BackendConfig"): "spec.healthCheck.requestPath",
}
_CONFIGURED_BY: Final = ("cloud.google.com/backend-config", "beta.cloud.google.com/backend-config")


def _checked_at_root(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Health checks of GKE at / for model servers, which answer it with 404."""
    metadata = paths.metadata(value)
    home, own = paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))
    services = texts_at(value, "spec.targetRef.name")
    if key[1] == "BackendConfig":
        services = [
            name
            for name, each in objects.known("", "Service").items()
            for field in _CONFIGURED_BY
            if re.search(rf'"{re.escape(own)}"', str(paths.mapping(paths.metadata(each).get("annotations")).get(field)))
        ]
    for where, asked in places.texts_with_paths(value, _CHECKED[key]):
        for name in services if asked == "/" else ():
            if _SILENT_AT_ROOT.search(_writes(name, home, objects)):
                text = f"asks the server of Service {name[:80]} for /, which answers 404, so it counts as unhealthy"
                yield misread(where, text, "set requestPath to /health", "controller")
                break


def _of_ingress(value: paths.Object, objects: Objects) -> Found:
    """Defaults of Ingress controllers that hurt model servers: health checks at /, and an end after 60 s."""
    metadata = paths.metadata(value)
    given, home = paths.mapping(metadata.get("annotations")), paths.text(metadata.get("namespace"))
    by = known_keys.part_at(value, "/spec").get("ingressClassName") or given.get("kubernetes.io/ingress.class")
    for where, name in places.texts_with_paths(value, _OF_INGRESS):
        started, text, remedy = _writes(name, home, objects), "", f"add the annotation {_ALB}: /health"
        own = paths.mapping(paths.metadata(objects.known("", "Service").get(name, {})).get("annotations"))
        keys = " ".join(map(str, {*given, *own}))
        root = paths.mapping({**given, **own}).get(_ALB) == "/"
        unset = not re.search("healthcheck-path|success-codes", keys)
        if by == "alb" and _SILENT_AT_ROOT.search(started) and (unset or (root and "success-codes" not in keys)):
            how = f"with {_ALB} /" if root else f"without {_ALB}"
            text = f"{how}, so AWS asks it for / and gets 404, and counts it as unhealthy"
        elif by == "nginx" and started and "/proxy-read-timeout" not in keys:
            text = "without proxy-read-timeout, so by default nginx ends an answer that does not stream after 60 s"
            remedy = "add the annotation nginx.ingress.kubernetes.io/proxy-read-timeout"
        if text:
            yield misread(where, f"leads to the server of Service {name[:80]} {text}", remedy, "controller")


_POOLS: Final = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")
_POOL_NAME: Final = memo.pattern(
    r"(?:^|\s)--?pool-?[nN]ame[=\s]+[\"']?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?=[\s\"']|$)"
)
_POOL_GROUP: Final = memo.pattern(r"(?:^|\s)--?pool-?[gG]roup[=\s]+[\"']?([a-z0-9.-]{1,100})")


def _picker_of_another_pool(value: paths.Object, objects: Objects) -> Found:
    """Endpoint pickers whose --pool-name or --pool-group no InferencePool of the files has (options of the picker)."""
    for where, container in at(value, "spec.template.spec.containers[]"):
        words = texts_at(container, "command[] args[]")
        text = " ".join(words) if any("ool" in each for each in words) else ""
        named, group = _POOL_NAME.search(text), _POOL_GROUP.search(text)
        known = {each: objects.known(each, "InferencePool") for each in _POOLS}
        there = [each for each in _POOLS if named and named[1] in known[each]]
        if named and any(known.values()) and not there:
            names = ", ".join(sorted({*known[_POOLS[0]], *known[_POOLS[1]]})[:3])
            message = f"picks endpoints for the InferencePool {named[1][:100]}, and these files have {names[:200]}"
            yield misread(where, message, "write the name of the pool as --pool-name", "controller")
        elif group and there and group[1] in _POOLS and group[1] not in there:
            message = (
                f"looks for its InferencePool in the group {group[1]}, and the one of these files is in {there[0]}"
            )
            yield misread(where, message, f"write --pool-group {there[0]}", "controller")


def endpoints_of_pool(value: paths.Object, namespace: str, objects: Objects) -> Found:
    """An InferencePool without pods in the files, where all model servers have other values of its label."""
    selector = known_keys.part_at(value, "/spec/selector/matchLabels") or known_keys.part_at(value, "/spec/selector")
    wanted = {key: text for key, text in selector.items() if isinstance(text, str) and not is_placeholder(text)}
    if not wanted or wanted != selector or labelled_pods(objects, namespace, wanted):
        return
    seen = objects.once(f"model servers in {namespace}", lambda: _servers_in(objects, namespace))
    key = next(iter(wanted.keys() & seen.keys()), "")
    if key and wanted[key] not in seen[key]:
        has = ", ".join(f"{key}={each}" for each in sorted(seen[key])[:3])
        text = f"selects pods with {key}={wanted[key][:63]}, and the model servers of these files have {has[:200]}, "
        text += "so it has no endpoints unless others make its pods"
        yield misread("/spec/selector", text, "select the labels of the pods of the server", "controller")


def _servers_in(objects: Objects, namespace: str) -> Mapping[str, set[str]]:
    """The values of each label of the pods with a model server."""
    found: dict[str, set[str]] = {}
    for within, value in objects.all():
        spec = known_keys.part_at(value, "/spec/template/spec") if within == namespace else {}
        if counts.ports_of_server(spec):
            for key, text in known_keys.part_at(value, "/spec/template/metadata/labels").items():
                found.setdefault(key, set()).add(str(text))
    return found


_RANK: Final = memo.pattern(
    r"node[-_]rank|nnodes|ray start\b[^\n]*--address|(?:multi-node-serving|ray_init)\.sh worker"
)
_SERVES_ITSELF: Final = memo.pattern(r"data-parallel|dp-size|--dp\b")


def _ranks_without_server(service: paths.Object, objects: Objects) -> Found:
    """A Service that selects workers of a group too, whose leader alone answers (sgl-project/sglang#9568)."""
    metadata = paths.metadata(service)
    homes = objects.namespaces("", "Service", paths.text(metadata.get("name")))
    namespace = paths.text(metadata.get("namespace")) or next(iter(homes), "")
    spec, selector = known_keys.part_at(service, "/spec"), known_keys.part_at(service, "/spec/selector")
    if not selector or spec.get("clusterIP") == "None":
        return
    ranks = objects.once("ranks by each label", lambda: _ranks_by_label(objects))
    key, text = next(iter(selector.items()))
    for labels, name, size in ranks.get((namespace, key, str(text)), ()):
        if selector.items() <= labels.items():
            message = f"selects all {size} pods of each group of LeaderWorkerSet {name}, and the leader alone answers "
            message += "requests, so those to the other pods fail"
            remedy = 'add leaderworkerset.sigs.k8s.io/worker-index: "0" to the selector'
            yield misread("/spec/selector", message, remedy, "controller")
            return


_Ranks = tuple[Mapping[str, Any], str, int]


def _ranks_by_label(objects: Objects) -> Mapping[tuple[str, str, str], Sequence[_Ranks]]:
    """Groups whose workers answer nothing: the labels of all their pods, the name and the size, by each label."""
    found = defaultdict[tuple[str, str, str], list[_Ranks]](list)
    for namespace, each in objects.in_namespaces("leaderworkerset.x-k8s.io", "LeaderWorkerSet"):
        whole = known_keys.part_at(each, "/spec/leaderWorkerTemplate")
        worker, size = paths.mapping(whole.get("workerTemplate")), known_keys.integer(whole.get("size"))
        leader = paths.mapping(whole.get("leaderTemplate")) or worker
        words = " ".join(texts_at(worker, "spec.containers[].{command[],args[]}"))
        is_rank = _RANK.search(words) and not _SERVES_ITSELF.search(words)
        own, of_leader = (known_keys.part_at(one, "/metadata/labels") for one in (worker, leader))
        if size > 1 and is_rank and not values_at(worker, "spec.containers[].readinessProbe"):
            labels = {key: text for key, text in own.items() if key in of_leader and of_leader[key] == text}
            ranks = labels, paths.text(paths.metadata(each).get("name"))[:80], size
            for key, text in labels.items():
                found[namespace, key, str(text)].append(ranks)
    return found
