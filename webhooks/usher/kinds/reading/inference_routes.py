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
    Pod,
    at,
    is_placeholder,
    labelled_pods,
    pod_specs,
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
    if key == ("route.openshift.io", "Route"):
        yield from _of_openshift(value, objects)
    if key in _CHECKED:
        yield from _checked_at_root(value, key, objects)
    if key == ("apps", "Deployment"):
        yield from _picker_of_another_pool(value, objects)
    if key == ("", "Service"):
        yield from _ranks_without_server(value, objects)
    elif objects.known("", "Service"):
        yield from _addresses(value, objects)


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
        elif by in ("gce", "gce-internal") and started and "backend-config" not in keys:
            text = "a BackendConfig, so by default Google's load balancer ends each answer after 30 s"
            remedy = (
                "make a BackendConfig with timeoutSec, and name it in cloud.google.com/backend-config of the Service"
            )
        if text:
            yield misread(where, f"leads to the server of Service {name[:80]} {text}", remedy, "controller")


_OF_ROUTE: Final = "haproxy.router.openshift.io/timeout"


def _of_openshift(value: paths.Object, objects: Objects) -> Found:
    """Routes of OpenShift whose router ends answers after the time of its default (docs.redhat.com, route timeouts)."""
    metadata = paths.metadata(value)
    home, name = (
        paths.text(each) for each in (metadata.get("namespace"), known_keys.part_at(value, "/spec/to").get("name"))
    )
    given = paths.mapping(metadata.get("annotations"))
    if name and _OF_ROUTE not in given and _writes(name, home, objects):
        text = f"leads to the server of Service {name[:80]} without a timeout of its own, so by default the router "
        text += "ends an answer that does not stream after 30 s"
        yield misread("/spec/to/name", text, f"add the annotation {_OF_ROUTE}, for example with 10m", "controller")


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


def _no_port(path: str, text: str, remedy: str) -> model.UnreadKey:
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=False, dangling=True)


def ports_of_service(
    value: paths.Object, row: Mapping[str, Any], namespace: str, objects: Objects
) -> Iterator[model.UnreadKey]:
    """A port that a Service in the files does not have, and that another object names."""
    for where, reference in at(value, row["at"]):
        if not isinstance(reference, dict) or reference.get("kind", "Service") != "Service":
            continue
        within = paths.text(reference.get("namespace")) or namespace
        name = paths.text(reference.get("name"))
        found = objects.find(Reference(group="", kind="Service", name=name, namespace=within))
        known = [] if isinstance(found, Absence) else values_at(found, "spec.ports[]")
        wanted = next(iter(values_at(reference, row["ports"])), row.get("default"))
        have = [each.get(field) for each in known if isinstance(each, dict) for field in ("port", "name")]
        if have and isinstance(wanted, int | str) and wanted not in have and not is_placeholder(str(wanted)):
            ports = ", ".join(str(each.get("port")) for each in known[:5] if isinstance(each, dict))
            text = f"sends requests to the port {str(wanted)[:100]} of the Service {name[:100]}, which has {ports}"
            place = next((each for each, _ in at(reference, row["ports"], where)), where)
            yield _no_port(place, text, f"name the port {ports}")


def ports_without_server(value: paths.Object, namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """A number of a port on which the model servers in the files do not listen that a Service or a pool selects."""
    spec = paths.mapping(value.get("spec"))
    selector = known_keys.part_at(spec, "/selector/matchLabels") or known_keys.part_at(spec, "/selector")
    pods = labelled_pods(objects, namespace, selector)
    found = [ports for _, each in pods if (ports := counts.ports_of_server(each))]
    wanted = [
        (f"{where}/targetPort" if "targetPort" in each else where, each.get("targetPort", each.get("port")))
        for where, each in at(spec, "ports[]", "/spec")
        if isinstance(each, dict)
    ]
    wanted += at(spec, "targetPorts[].number targetPortNumber", "/spec")
    for where, port in wanted if selector and found and spec.get("clusterIP") != "None" else ():
        if isinstance(port, int) and not any(_listens(each, port) for _, each in pods):
            listed = ", ".join(map(str, sorted(set.union(*found))[:5]))
            text = f"sends requests to the port {port}, and the model server that it selects listens on {listed}"
            yield _no_port(where, text, f"name the port {listed}")
    if selector and spec.get("clusterIP") != "None" and len(pods) > 1:
        place = "/spec/selector/matchLabels" if "matchLabels" in str(spec.get("selector")) else "/spec/selector"
        yield from _pods_of_other_ports(place, [port for _, port in wanted], pods)


_PORTS: Final = "{containers,initContainers}[].ports[].containerPort"
_WRITTEN: Final = "{containers,initContainers}[].{command[],args[],env[].value}"


def _listens(spec: Mapping[str, Any], port: int) -> bool:
    """Whether the server of a pod listens on a port, or a pod without a server that is known declares or names it."""
    if ports := counts.ports_of_server(spec):
        return port in ports
    return port in values_at(spec, _PORTS) or any(str(port) in str(word) for word in values_at(spec, _WRITTEN))


def _pods_of_other_ports(place: str, wanted: Sequence[Any], pods: Sequence[Pod]) -> Iterator[model.UnreadKey]:
    """Pods that do not listen on any port of a Service or a pool, beside others that do: they refuse requests.

    A port with a name leaves out the pods that do not have it. What a pod does not declare is unknown.
    """
    ports = {each for each in wanted if isinstance(each, int)}
    listening = []
    for labels, spec in pods:
        declared = {each for each in values_at(spec, _PORTS) if isinstance(each, int)} | counts.ports_of_server(spec)
        texts = {(key, text) for key, text in labels.items() if isinstance(text, str)}
        listening.append((texts, declared, spec))
    right = [own for own, found, _ in listening if found & ports]
    for own, found, spec in listening if right and len(ports) == len({*map(str, wanted)}) else ():
        words = values_at(spec, _WRITTEN)
        if found and not found & ports and not any(str(port) in str(word) for port in ports for word in words):
            name, listed = next(iter(texts_at(spec, "containers[].name")), "")[:60], sorted(found)[:5]
            text = f"selects pods with the container {name}, which declares {', '.join(map(str, listed))} and "
            text += f"not {min(ports)} as others that it selects, so a part of the requests is refused"
            add = next((f"add {key}: {label}" for key, label in sorted(set.intersection(*right) - own)), "add a label")
            serves = place.endswith("/matchLabels") and counts.ports_of_server(spec)
            remedy = f"let it listen on {min(ports)} too, or give it a pool" if serves else f"{add} to the selector"
            yield misread(place, text, remedy, "controller")
            return


_URL: Final = memo.pattern(
    r"\b(https?)://([a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)((?:\.[a-z0-9-]{1,63}){0,5})(?::(\d{1,5}))?(?=[/\s\"',;?]|$)"
)
_WITH_URLS: Final = "containers[].{command[],args[],env[].value} initContainers[].{command[],args[],env[].value}"


def _addresses(value: paths.Object, objects: Objects) -> Found:
    """Addresses, in pods and ConfigMaps, of Services of the files that lack their port, and names of models."""
    if "://" not in str(value):
        return
    home = paths.text(paths.metadata(value).get("namespace"))
    if value.get("kind") == "ConfigMap":
        texts = list(places.texts_with_paths(value, "data.*"))
    else:
        specs = places.pod_specs(value)
        texts = [each for spec, path, _ in specs for each in places.texts_with_paths(spec, _WITH_URLS, path)]
    for where, text in texts:
        if len(text) > _LONGEST or "://" not in text:
            continue
        if "litellm_params" in text:
            yield from _models_of_litellm(where, known_keys.parsed(text), home, objects)
        for found in _URL.finditer(_COMMENT.sub("", text)):
            if wrong := _wrong_address(found, home, objects):
                yield _no_port(where, *wrong)
                break


def _wrong_address(found: re.Match[str], home: str, objects: Objects) -> tuple[str, str] | None:
    """Why a Service does not answer at an address, and a remedy. An address without a port may only be a name."""
    scheme, name, rest, port = (each or "" for each in found.groups())
    service = _service_at(name, rest, home, objects)
    ports = values_at(service, "spec.ports[].port")
    wanted = int(port or (443 if scheme == "https" else 80))
    if not ports or wanted in ports or not all(isinstance(each, int) for each in ports):
        return None
    selector = known_keys.part_at(service, "/spec/selector")
    within = paths.text(paths.metadata(service).get("namespace")) or home
    if not port and not any(counts.ports_of_server(spec) for _, spec in labelled_pods(objects, within, selector)):
        return None
    listed, given = ", ".join(map(str, ports[:5])), f"{scheme}://{name}{rest}"[:120]
    asked = f"{given}:{port}" if port else f"{given} without a port, which means {wanted},"
    text = f"sends requests to {asked} and Service {name} has the port {listed}"
    return text, f"write the port {listed}, or add {wanted} to the Service"


_COMMENT: Final = memo.pattern(r"(?m)(?:^|\s)#.*$")
_LONGEST: Final = 64 * 1024


def _service_at(name: str, rest: str, home: str, objects: Objects) -> paths.Object:
    """The Service of the files with an address; empty for others, and for one whose pods answer by their own ports."""
    parts = rest.split(".")
    within = parts[1] if len(parts) > 1 else home
    if len(parts) > 2 and parts[2] != "svc":
        return {}
    found = objects.find(Reference(group="", kind="Service", name=name, namespace=within))
    spec = {} if isinstance(found, Absence) else known_keys.part_at(found, "/spec")
    is_plain = spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName" and "selector" in spec
    return {} if isinstance(found, Absence) or not is_plain else found


_SERVED: Final = memo.pattern(r"--served[-_]model[-_]name[=\s]+((?:[\"']?[^\s\"'-][^\s\"']*[\"']?\s*)+)")
_MODEL: Final = memo.pattern(r"(?:--model(?:-path)?[=\s]+|\bvllm\s+serve\s+)[\"']?([^\s\"'-][^\s\"']*)")
_NAMED: Final = memo.pattern(r"(?:openai|hosted_vllm)/(.+)")


def _models_of_litellm(where: str, configuration: paths.Object | None, home: str, objects: Objects) -> Found:
    """Models of LiteLLM that the server behind their address serves under other names, and so answers with 404."""
    for each in values_at(configuration or {}, "model_list[].litellm_params"):
        url = _URL.search(paths.text(paths.mapping(each).get("api_base")))
        named = _NAMED.fullmatch(paths.text(paths.mapping(each).get("model")))
        service = _service_at(url[2], url[3], home, objects) if url else {}
        if not service or not named or is_placeholder(named[1]):
            continue
        within = paths.text(paths.metadata(service).get("namespace")) or home
        names = [
            _served_as(spec)
            for _, spec in labelled_pods(objects, within, known_keys.part_at(service, "/spec/selector"))
        ]
        known = set[str]().union(*names)
        if names and all(names) and named[1] not in known:
            text = (
                f"asks Service {paths.text(paths.metadata(service).get('name'))[:60]} for the model {named[1][:100]}, "
            )
            text += f"and its server has {', '.join(sorted(known))[:200]}, so it answers with 404"
            yield misread(where, text, f"write {named[0].partition('/')[0]}/{min(known)[:100]}", "controller")


def _served_as(spec: Mapping[str, Any]) -> set[str]:
    """The names under which a pod with vLLM or SGLang alone serves its model; empty if they are not known."""
    containers = [each for each in values_at(spec, "containers[]") if isinstance(each, dict)]
    if len(containers) != 1:
        return set()
    words = " ".join(texts_at(containers[0], "command[] args[]"))
    if not _SILENT_AT_ROOT.search(f"{containers[0].get('image')} {words}") or re.search(
        r"lora|--config\b|\$|\{", words
    ):
        return set()
    given, own = _SERVED.search(words), _MODEL.search(words)
    found = given[1].replace('"', "").replace("'", "").split() if given else [own[1]] if own else []
    return set(found)


_POLICIES: Final = ("networking.k8s.io", "NetworkPolicy")


def cut_off(workload: model.Workload | None, value: paths.Object, objects: Objects) -> Found:
    """Pods that wait for each other and that no rule of the NetworkPolicies which select them lets reach each other.

    Sources: kubernetes.io, Network Policies: what no rule of any policy allows is refused.
    """
    together = workload is not None and (workload.gang.waits or workload.kind == "RayCluster")
    together = together and workload is not None and (workload.pods.minimum or 0) > 1
    home = paths.text(paths.metadata(value).get("namespace"))
    policies = [each for within, each in objects.in_namespaces(*_POLICIES) if within == home] if together else []
    for spec, path, _ in pod_specs(value) if policies else ():
        labels = labels_of_pods(value, path)
        for way, peers in (("Ingress", "from"), ("Egress", "to")) if spec.get("hostNetwork") is not True else ():
            name, rules = _rules_for(policies, labels, way)
            remedy = f"allow it by {way.lower()}.{peers} in a policy, unless another one does"
            text = f"has pods that wait for each other, and NetworkPolicy {name[:63]} lets "
            reaching = [rule for rule in rules if _may_be(rule, peers, labels)]
            ports = {str(each) for rule in reaching for each in values_at(rule, "ports[].port")}
            if name and not reaching:
                text += f"{'in' if way == 'Ingress' else 'out'} nothing that they send each other"
                yield misread(path, text, remedy, "controller")
            elif (
                name
                and way == "Ingress"
                and 0 < len(ports) <= _FEW
                and all(_is_of_ports(rule) and _is_surely(rule, peers, labels) for rule in reaching)
            ):
                listed = ", ".join(sorted(ports))[:60]
                text += f"them reach each other on port {listed} alone, and NCCL, Gloo and Ray choose others as well"
                yield misread(path, text, "allow all ports between these pods", "controller")
            elif name and way == "Egress" and not any(_may_be_dns(rule) for rule in rules):
                text += (
                    "them reach pods of their namespace alone, not the DNS of the cluster by which they find each other"
                )
                yield misread(path, text, "allow egress to port 53, unless another policy does", "controller")


def _rules_for(policies: Sequence[paths.Object], labels: Mapping[str, Any], way: str) -> tuple[str, list[Any]]:
    """The rules of all policies that surely select pods with at least these labels, and the name of the first one.

    A policy without types is about Ingress, and about Egress if it has rules for it (SetDefaults_NetworkPolicy).
    """
    first, rules = "", list[Any]()
    for each in policies:
        spec = paths.mapping(each.get("spec"))
        selector = paths.mapping(spec.get("podSelector"))
        usual = ["Ingress", *(["Egress"] if spec.get("egress") else [])]
        selects = paths.mapping(selector.get("matchLabels")).items() <= labels.items()
        if selects and not selector.get("matchExpressions") and way in (texts_at(spec, "policyTypes[]") or usual):
            first = first or paths.text(paths.metadata(each).get("name"))
            rules += values_at(spec, f"{way.lower()}[]")
    return first, rules


def _may_be(rule: Any, peers: str, labels: Mapping[str, Any]) -> bool:  # noqa: ANN401 - any JSON
    """Whether one of the peers of a rule may be a pod with at least these labels; without peers all are meant."""
    listed = paths.mapping(rule).get(peers)
    selectors = values_at(listed, "[].podSelector")
    others = [each for each in selectors if any(labels.get(key, text) != text for key, text in _wanted(each))]
    return not isinstance(listed, list) or len(others) < len(listed) or not listed


_FEW: Final = 4


def _is_of_ports(rule: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a rule is about single ports, and not about all or about a range."""
    listed = values_at(rule, "ports[]")
    return bool(listed) and all("port" in each and "endPort" not in each for each in map(paths.mapping, listed))


def _is_surely(rule: Any, peers: str, labels: Mapping[str, Any]) -> bool:  # noqa: ANN401 - any JSON
    """Whether a rule names pods with these labels, or all."""
    selectors = values_at(rule, f"{peers}[].podSelector")
    return not values_at(rule, f"{peers}[]") or any(dict(_wanted(each)).items() <= labels.items() for each in selectors)


def _wanted(selector: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    yield from paths.mapping(paths.mapping(selector).get("matchLabels")).items()


def _may_be_dns(rule: Any) -> bool:  # noqa: ANN401 - any JSON
    listed = paths.mapping(rule).get("to")
    return (
        not isinstance(listed, list)
        or len(listed) == 0
        or any(each.keys() != {"podSelector"} for each in map(paths.mapping, listed))
    )


JOB_NAMES: Final = ("job-name", "batch.kubernetes.io/job-name")


_ADDED: Final = {
    ("batch", "Job"): JOB_NAMES,
    ("ray.io", "RayCluster"): ("ray.io/cluster",),
    ("jobset.x-k8s.io", "JobSet"): ("jobset.sigs.k8s.io/jobset-name",),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ("leaderworkerset.sigs.k8s.io/name",),
    **{
        ("kubeflow.org", kind): ("training.kubeflow.org/job-name",)
        for kind in ("PyTorchJob", "MPIJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
    },
}
"""Labels with the name of an object that its controller gives the pods."""


def labels_of_pods(value: paths.Object, path: str) -> Mapping[str, Any]:
    """The labels of pods at the path of their spec, with those that the controller of a Job adds."""
    name, group = paths.metadata(value).get("name"), str(value.get("apiVersion")).partition("/")[0]
    own = known_keys.part_at(value, f"{path.removesuffix('/spec')}/metadata/labels")
    added = _ADDED.get((group, str(value.get("kind"))), ())
    return {**own, **dict.fromkeys(added, name)} if added else own
