"""Limits and rules in CEL of the definition of a kind, beside types, and webhooks: the API server asks both."""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Final, NamedTuple

from usher import memo, model, paths
from usher.accelerators import device_selectors
from usher.documents.cel import EvaluationError, NotEvaluated, search
from usher.kinds.reading import counts, known_keys
from usher.kinds.reading.environment import misread
from usher.kinds.reading.fields import NO_LIMIT, Definitions, KnownLimits, Limit, limits_of, recorded_limits
from usher.kinds.reading.value_forms import (
    DOT,
    PodSpec,
    at,
    is_placeholder,
    is_whole,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference
from usher.model import placement

Found = Iterator[model.UnreadKey]


def beyond_limits(value: paths.Object, definitions: Sequence[Definitions], known: Sequence[model.UnreadKey]) -> Found:
    """Mistakes that the API server refuses beside types: missing fields, and values that break a limit or a rule.

    Sources: k8s.io/apiextensions-apiserver pkg/apiserver/validation and pkg/apiserver/schema/cel.

    Args:
        value: the object.
        definitions: those that win over the recorded ones.
        known: the mistakes that are found already.
    """
    limits, number = limits_of(value, definitions)
    if number == NO_LIMIT:
        return
    walk = _Limited(limits)
    if walk.keeps(value, number) and not walk.has_rules:
        return
    walk.value(walk.completed(_with_name(value), number), number, "")
    origin = limits.origins.get(f"{value.get('apiVersion')} {value.get('kind')}", "")
    known_folders = [f"{each.path}/" for each in known]
    misspelt = {each.path.rpartition("/")[0] for each in known} | {each.path for each in known}
    of_kubernetes = not origin and limits is recorded_limits()
    lacking = [] if walk.is_patch or (of_kubernetes and _is_patch(value, walk.lacking)) else walk.lacking
    found = [each for each in lacking if each.path not in misspelt]
    broken = walk.found
    if not broken and not walk.lacking and not any(each.refused for each in known):
        broken = list(walk.broken_rules())
    found += [each for each in broken if not any(path.startswith(f"{each.path}/") for path in known_folders)]
    found = [each for each in found if not (_TWICE in each.text and each.path.endswith(_LISTS_OF_CHECKS))]
    for each in found[:_MOST_BEYOND]:
        text = f"{each.text} ({origin})" if origin else each.text
        yield misread(each.path, text, each.remedy, "recorded definition" if origin else "definition")


def _with_name(value: paths.Object) -> paths.Object:
    """The object with the name that the API server makes before it asks the rules: names of k8s.io/apiserver."""
    metadata = paths.metadata(value)
    prefix = metadata.get("generateName")
    made = f"{prefix[:58]}x2x2x" if isinstance(prefix, str) and prefix else "${NAME}"
    return value if metadata.get("name") else {**value, "metadata": {**metadata, "name": made}}


_MOST_BEYOND: Final = 10
_TWICE: Final = "has two entries "
_LISTS_OF_CHECKS: Final = ("/flavors", "/coveredResources")
"""Lists of queues whose entries a check of usher compares."""


def _is_patch(value: paths.Object, lacking: Sequence["_Beyond"]) -> bool:
    """Whether an object of Kubernetes may be a patch: it lacks several fields, or its containers lack their image."""
    are_whole = all(is_whole(spec) for spec, _, _ in pod_specs(value))
    labels = values_at(value, "spec.template.metadata.labels")
    lacks = " ".join(each.text for each in lacking)
    return len(lacking) > 1 or " and " in lacks or not are_whole or ("lacks selector" in lacks and not labels)


class _Beyond(NamedTuple):
    path: str
    text: str
    remedy: str


_BOUNDS: Final[Mapping[str, tuple[str, Callable[[Any, Any], bool]]]] = {
    "minimum": ("at least {}", operator.lt),
    "maximum": ("at most {}", operator.gt),
}
_SIZES: Final = (
    (str, "minLength", "maxLength", "characters"),
    (list, "minItems", "maxItems", "entries"),
    (dict, "minProperties", "maxProperties", "keys"),
)
_HUGE: Final = 2**63
_FEW: Final = 2
"""Fields that an author may have forgotten together; a part without more of them is part of a patch."""
_CAPITALS: Final = memo.pattern(r"[A-Z0-9]+(_[A-Z0-9]+)+")


def _is_open(value: object) -> bool:
    """Whether a text is to be replaced before the object is applied, or a number is beyond all limits."""
    if isinstance(value, int):
        return abs(value) >= _HUGE
    return isinstance(value, str) and (is_placeholder(value) or _CAPITALS.fullmatch(value) is not None)


class _Limited:
    """Compares a value with limits, level by level."""

    def __init__(self, limits: KnownLimits) -> None:
        self._limits = limits.found
        self.found: list[_Beyond] = []
        self.lacking: list[_Beyond] = []
        self._rules: list[tuple[str, Any, Sequence[Sequence[str]]]] = []
        self.has_rules = self.is_patch = False

    def keeps(self, value: Any, number: int) -> bool:  # noqa: ANN401 - any JSON
        """Whether a value keeps all limits but rules; nearly all objects end here, at a fraction of the cost."""
        limit = self._limits[number]
        self.has_rules = self.has_rules or "rules" in limit
        if isinstance(value, dict):
            if "required" in limit and not all(name in value for name in limit["required"]):
                return False
            known, every = limit.get("properties", {}), limit.get("*", NO_LIMIT)
            for key, each in value.items():
                if (below := known.get(key, every)) and each is not None and not self.keeps(each, below):
                    return False
        elif isinstance(value, list) and "items" in limit:
            below = limit["items"]
            if not all(self.keeps(each, below) for each in value):
                return False
        return limit.keys() <= _WITHOUT_VALUES or next(self._broken(value, limit, ""), None) is None

    def completed(self, value: Any, number: int) -> Any:  # noqa: ANN401 - any JSON
        """A copy with the defaults that limits need, and numbers as CEL has them."""
        limit = self._limits[number]
        if isinstance(value, dict):
            every, known = limit.get("*", NO_LIMIT), limit.get("properties", {})
            found = {key: self.completed(each, known.get(key, every)) for key, each in value.items()}
            for key, below in known.items():
                if found.get(key) is None and "default" in self._limits[below]:
                    found[key] = self.completed(self._limits[below]["default"], below)
            return found
        if isinstance(value, list):
            return [self.completed(each, limit["items"]) for each in value] if "items" in limit else value
        is_double = type(value) is int and limit.get("type") == "number" and abs(value) < _HUGE
        return float(value) if is_double else value

    def value(self, value: Any, number: int, path: str) -> None:  # noqa: ANN401 - any JSON
        limit = self._limits[number]
        is_set = value is not None and (bool(value) or "omitted" not in limit)
        if number == NO_LIMIT or not is_set or _is_open(value) or len(self.found) > _MOST_BEYOND:
            return
        self.found += (_Beyond(path, *each) for each in self._broken(value, limit, paths.readable(path)))
        if isinstance(value, dict):
            required = limit.get("required", ())
            missing = [name for name in required if name not in value]
            self.is_patch = self.is_patch or len(missing) > _FEW or len(missing) == len(required) > 1
            self.lacking += [_lacking(missing, path)] if missing else []
            every, known = limit.get("*", NO_LIMIT), limit.get("properties", {})
            for key, each in value.items():
                if below := known.get(key, every):
                    self.value(each, below, paths.join(path, key))
        elif isinstance(value, list) and "items" in limit:
            for index, each in enumerate(value):
                self.value(each, limit["items"], f"{path}/{index}")
        if "rules" in limit:
            self._rules.append((path, value, limit["rules"]))

    def _broken(self, value: Any, limit: Limit, place: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
        """The limits that a value itself breaks, each with its remedy."""
        where = f"at {place}" if place else "at its top level"
        if isinstance(value, list) and "keys" in limit and (twice := _twice(value, limit["keys"])):
            yield f"{_TWICE}{twice} {where}, where the API server takes one", "remove one, or rename it"
        elif isinstance(value, str) and "pattern" in limit and not _matches(limit["pattern"], value):
            yield (
                f"has {value[:60]!r} {where}, where the API server takes texts that match {limit['pattern'][:160]}",
                "write a text that matches",
            )
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from _out_of_bounds(value, limit, where)
        if "enum" in limit and value not in limit["enum"]:
            written = ", ".join(map(str, limit["enum"][:10]))
            yield f"has {str(value)[:60]!r} {where}, where the API server takes {written}", f"write one of {written}"
        for kind, least, most, of in _SIZES:
            if isinstance(value, kind) and not limit.get(least, 0) <= len(value) <= limit.get(most, math.inf):
                takes = f"at least {limit[least]}" if len(value) < limit.get(least, 0) else f"at most {limit[most]}"
                yield f"has {len(value)} {of} {where}, where the API server takes {takes}", f"write {takes} {of}"

    def broken_rules(self) -> Iterator[_Beyond]:
        """The rules of the definition that the value breaks. A rule about a placeholder, or about null, is left out."""
        for path, value, rules in self._rules:
            for rule, message in rules:
                failed = None if message in NAMED_BY_CHECKS else _failed(rule, value)
                if failed is not None and not _reads_open(value, rule):
                    reason = message or failed or f"it demands {rule[:200]}"
                    where = path or ("/metadata/name" if "metadata.name" in rule else "/spec")
                    place = paths.readable(where)
                    yield _Beyond(where, f"breaks a rule of the API server at {place}: {reason}", f"correct {place}")


_WITHOUT_VALUES: Final = frozenset({"properties", "items", "*", "required", "rules", "default", "type", "omitted"})
"""Parts of a limit that say nothing about the value itself."""
_LONGEST_MATCHED: Final = 300
NAMED_BY_CHECKS: Final = frozenset({
    "at least one nodeLabel is required when topology is set", "borrowingLimit must be nil when cohort is empty",
    "flavors must have the same number of resources as the coveredResources",
    "minReplicaCount must be less than or equal to maxReplicaCount",
    "the kubernetes.io/hostname label can only be used at the lowest level of topology",
})  # fmt: skip
"""Messages of rules that checks of usher know better: they name the place inside."""


@cache
def _patterns() -> Collection[str]:
    """The recorded patterns, which need few steps for a text up to the longest."""
    return frozenset(each["pattern"] for each in recorded_limits().found if "pattern" in each)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return memo.pattern(re.sub(r"^\^\(\?i\)", "(?i)^", pattern), re.ASCII)


@lru_cache(maxsize=4096)
def _matches(pattern: str, text: str) -> bool:
    if len(text) > _LONGEST_MATCHED or "\n" in text:
        return True
    try:
        # Python may search for hours with a pattern of a stranger.
        return bool(_compiled(pattern).search(text)) if pattern in _patterns() else search(pattern, text)
    except (re.error, NotEvaluated):
        return True


def _lacking(names: Sequence[str], path: str) -> _Beyond:
    place, written = f" at {paths.readable(path)}" if path else "", " and ".join(names)
    return _Beyond(path, f"lacks {written}{place}, which the API server requires", f"add {written}{place}")


def _out_of_bounds(value: float, limit: Limit, where: str) -> Iterator[tuple[str, str]]:
    for name, (takes, is_beyond) in _BOUNDS.items():
        bound = limit.get(name)
        is_alone = bool(limit.get(f"exclusive{name.title()}"))
        if bound is not None and (is_beyond(value, bound) or (is_alone and value == bound)):
            allowed = f"{takes.format(bound)}{', without it' if is_alone else ''}"
            yield f"has {value} {where}, where the API server takes {allowed}", f"write {allowed}"


def _twice(values: Sequence[Any], keys: Sequence[str]) -> str:
    """The keys of an entry that is there twice; empty if each is there once, or not known."""
    seen = set[tuple[str, ...]]()
    for each in values:
        if keys and not isinstance(each, dict):
            continue
        own = [each.get(key) for key in keys] if keys else [each]
        texts = tuple(f"{type(one).__name__} {one}" for one in own)
        if any(one is None or _is_open(one) for one in own):
            continue
        if texts in seen:
            return " ".join(str(one)[:60] for one in own)
        seen.add(texts)
    return ""


@cache
def _rule(text: str) -> Callable[[object], bool]:
    return device_selectors.rule(text)


def _failed(rule: str, value: object) -> str | None:
    """Why a rule does not hold: empty where it is false; None where it holds, or usher does not evaluate it."""
    try:
        return None if _rule(rule)(value) else ""
    except EvaluationError as error:
        return str(error) if str(error).startswith("the map lacks") else None
    except (NotEvaluated, RecursionError):
        return None


def _reads_open(value: Any, rule: str) -> bool:  # noqa: ANN401 - any JSON
    """Whether a rule may read a placeholder or null."""
    words = set(re.findall(r"\w+", rule))
    left = [value]
    if isinstance(value, dict) and not words.isdisjoint(value):
        left = [each for key, each in value.items() if key in words]
    while left:
        each = left.pop()
        if each is None or _is_open(each):
            return True
        left += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return False


_MUTATING: Final = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration")
_REQUEST_SECONDS: Final = 60
"""The time of a request to the API server."""


def beside_webhooks(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Mistakes of webhooks, and what they do not do for an object."""
    if key[1] == _MUTATING[1]:
        yield from _slow_webhooks(value, objects)
    yield from _without_its_webhook(value, key, objects)
    yield from _certificates_of_webhooks(value, objects)
    yield from _closed_to_the_api_server(value, objects)
    if key == _POLICIES:
        yield from counts.ports_of_policies(value, objects)
    if key == ("", "Service"):
        yield from _ports_of_no_proxy(value, objects)


def _slow_webhooks(value: paths.Object, objects: Objects) -> Found:
    """Mutating webhooks in the files that are asked about a Pod one after the other, longer than a request lasts."""
    seconds = objects.once(
        "seconds of webhooks",
        lambda: {name: _seconds_for_pods(each) for name, each in objects.cluster_scoped(*_MUTATING).items()},
    )
    slowest, total = objects.once(
        "slowest webhook",
        lambda: (max(sorted(seconds), key=lambda each: seconds[each], default=""), sum(seconds.values())),
    )
    if total >= _REQUEST_SECONDS and paths.text(paths.metadata(value).get("name")) == slowest:
        text = f"has a part in the {total} s of all mutating webhooks that are asked about a Pod one after the other,"
        text = f"{text} if their servers are away, and a request has {_REQUEST_SECONDS} s"
        yield misread("/webhooks", text, "shorten timeoutSeconds, for example to 5, or narrow the rules", "controller")


def _seconds_for_pods(value: paths.Object) -> int:
    total = 0
    for _, webhook in at(value, "webhooks[]"):
        groups, names, operations = (
            set(texts_at(webhook, f"rules[].{field}[]")) for field in ("apiGroups", "resources", "operations")
        )
        asked = groups & {"", "*"} and names & {"pods", "*", "*/*", "pods/*"} and operations & {"CREATE", "*"}
        seconds = webhook.get("timeoutSeconds", 10) if isinstance(webhook, dict) and asked else 0
        total += seconds if isinstance(seconds, int) else 0
    return total


def _without_its_webhook(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Fields that only the webhook of an operator writes into pods, where it leaves the namespace out."""
    rows = [row for row in known_keys.rows("webhooks") if row["kind"] == " ".join(key)]
    namespace = paths.text(paths.metadata(value).get("namespace"))
    home = objects.known("", "Namespace").get(namespace) if rows else None
    labels = {paths.NAMESPACE_NAME_LABEL: namespace, **known_keys.part_at(home or {}, "/metadata/labels")}
    for row in rows if home else ():
        selectors = objects.once(f"selectors of {row['webhook']}", partial(_selectors_of, row["webhook"], objects))
        where = next((path for path, found in at(value, row["at"]) if found), "")
        if where and selectors and all(placement.selector_matches(each, labels) is False for each in selectors):
            text = f"{row['text']}, and its namespaceSelector leaves out the namespace {namespace[:63]}"
            yield misread(
                where, text, "label the namespace as the webhook selects it, or mend the selector", "controller"
            )


def _selectors_of(name: str, objects: Objects) -> Sequence[Any]:
    """The namespace selectors of the known mutating webhooks whose names match a pattern."""
    webhooks = [each for value in objects.known(*_MUTATING).values() for each in values_at(value, "webhooks[]")]
    named = [each for each in webhooks if isinstance(each, dict) and re.search(name, str(each.get("name")))]
    return [each.get("namespaceSelector") or {} for each in named]


def is_by_knative(value: paths.Object, objects: Objects) -> bool:
    """Whether KServe runs an InferenceService as Knative Services, by its annotation or a known configuration."""
    configured = known_keys.setting("inferenceservice-config", "deploy", objects).get("defaultDeploymentMode", "")
    chosen = known_keys.part_at(value, "/metadata/annotations").get("serving.kserve.io/deploymentMode") or configured
    return chosen in ("Serverless", "Knative")


def refused_by_knative(value: paths.Object, objects: Objects) -> Found:
    """Fields of pods that Knative refuses, because its known configuration does not enable them."""
    config = objects.known("", "ConfigMap").get("config-features", {})
    features = config.get("data")
    for each in objects.known("operator.knative.dev", "KnativeServing").values():
        own = known_keys.part_at(each, "/spec/config")
        features = own.get("features") or own.get("config-features") or features or {}
    if not isinstance(features, dict):
        return
    for where, spec in at(value, "spec{.template.spec,.predictor,.transformer,.explainer}"):
        given = known_keys.table("knative").items() if isinstance(spec, dict) else ()
        wrong = {
            field: key
            for field, key in given
            if str(features.get(key, "")).lower() not in _SWITCHED_ON and any(found for _, found in at(spec, field))
        }
        if wrong:
            keys = " and ".join(wrong.values())
            text = f"sets {' and '.join(wrong)}, which Knative refuses, because config-features does not enable {keys}"
            remedy = f"set {keys} to enabled there, or run it as a Deployment"
            first = next(path for path, found in at(spec, next(iter(wrong))) if found)
            yield misread(where + first, text, remedy, "controller")


_SWITCHED_ON: Final = frozenset({"enabled", "allowed"})


_BYTES_PER_SECOND: Final = 200_000_000
_SECONDS_OF_A_NODE: Final = 300
"""How fast weights load, as the default of the check killed-while-loading, and the least time until a node is there."""
_DEADLINE: Final = "serving.knative.dev/progress-deadline"
_TIME: Final = memo.pattern(r"(\d{1,6})(s|m|h)", re.ASCII)


def deadline_of_knative(
    workload: model.Workload, value: paths.Object, size: model.ModelSize | None, objects: Objects
) -> Found:
    """A revision of Knative that ends before its model is loaded, with the time of a node that has to start first."""
    given = values_at(value, "{metadata,spec.predictor,spec.template.metadata}.annotations^")
    if _DEADLINE in given:
        return
    data = known_keys.part_at(objects.known("", "ConfigMap").get("config-deployment", {}), "/data")
    written = _TIME.fullmatch(paths.text(data.get("progress-deadline")))
    deadline = int(written[1]) * {"s": 1, "m": 60, "h": 3600}[written[2]] if written else 600
    sizes = [
        each.parallelism.get("model")
        for pod_set in workload.pod_sets
        for each in pod_set.containers
        if each.parallelism
    ]
    found = next(filter(None, (size, *sizes)), None)
    devices = {name for pod_set in workload.pod_sets for name in pod_set.accelerators}
    nodes = objects.known("", "Node").values()
    offered = {name for each in nodes for name in known_keys.part_at(each, "/status/allocatable")}
    if found is None or not devices:
        return
    loading = found["gigabytes"] * 10**9 // _BYTES_PER_SECOND
    starts = _SECONDS_OF_A_NODE if nodes and not devices <= offered else 0
    if loading + starts > deadline:
        text = f"sets no progress deadline, and Knative gives a revision up after {deadline} seconds: "
        text += f"{found['gigabytes']} GB of weights take {loading} seconds at {_BYTES_PER_SECOND // 10**6} MB a second"
        text += f", and no known node has {min(devices - offered)}, so a node has to start first" if starts else ""
        remedy = f"set the annotation {_DEADLINE} to 30m, or keep a node ready"
        yield misread(workload.pod_sets[0].path or "/spec", text, remedy, "controller")


_CERTIFICATE: Final = ("cert-manager.io", "Certificate")
_INJECTED: Final = "cert-manager.io/inject-ca-from"
_SERVICES: Final = "{webhooks[].,spec.conversion.webhook.}clientConfig.service spec.service"


def _certificates_of_webhooks(value: paths.Object, objects: Objects) -> Found:
    """A Certificate of a webhook that is elsewhere, or does not name its Service (cert-manager.io, CA injector)."""
    named = f"metadata.annotations.{_INJECTED.replace('.', DOT)}" if objects.names(*_CERTIFICATE) else ""
    for where, text in texts_with_paths(value, named) if named else ():
        namespace, slash, name = text.rpartition("/")
        homes = {home for home, each in objects.in_namespaces(*_CERTIFICATE) if paths.metadata(each)["name"] == name}
        if is_placeholder(text) or "" in homes or (slash and not homes):
            continue
        if not slash or namespace not in homes:
            like = f"{min(homes)}/{name}" if homes else "its namespace, a slash and its name"
            wrong = (
                f"names the Certificate {text[:100]}, which these files have in {min(homes)[:80]}"
                if homes
                else (f"names the Certificate {text[:100]} without its namespace")
            )
            end = "so cert-manager injects no CA, and the API server trusts no answer of the webhook"
            yield misread(where, f"{wrong}, {end}", f"write {like}", "controller")
            continue
        found = objects.find(Reference(group=_CERTIFICATE[0], kind=_CERTIFICATE[1], name=name, namespace=namespace))
        names = [] if isinstance(found, Absence) else texts_at(found, "spec.dnsNames[]")
        for place, service in at(value, _SERVICES) if names else ():
            host = f"{paths.mapping(service).get('name')}.{paths.mapping(service).get('namespace')}.svc"
            if not {host, f"*.{host.partition('.')[2]}"}.intersection(names) and not any(map(is_placeholder, names)):
                wrong = f"is asked as {host[:100]}, which the Certificate {name[:80]} does not have among its dnsNames"
                remedy = f"add {host[:100]} to the dnsNames"
                yield misread(place, f"{wrong}, so the API server refuses the connection", remedy, "controller")
                break


_CONTAINERS: Final = "{containers,initContainers}[]"
_POLICIES: Final = ("networking.k8s.io", "NetworkPolicy")


def _closed_to_the_api_server(value: paths.Object, objects: Objects) -> Found:
    """Servers of webhooks whose NetworkPolicies let in pods alone, or nothing (tektoncd/pipeline#3172)."""
    for where, service in at(value, _SERVICES):
        policies = objects.in_namespaces(*_POLICIES)
        name, home = (paths.text(paths.mapping(service).get(key)) for key in ("name", "namespace"))
        found = objects.find(Reference(group="", kind="Service", name=name, namespace=home)) if policies else None
        labels = {} if found is None or isinstance(found, Absence) else known_keys.part_at(found, "/spec/selector")
        chosen = [
            {**known_keys.part_at(each, "/spec"), "name": paths.metadata(each).get("name")}
            for within, each in policies
            if within == home and _selects(known_keys.part_at(each, "/spec"), labels)
        ]
        rules = [rule for each in chosen for rule in values_at(each, "ingress[]")]
        if chosen and not any(map(_may_be_api_server, rules)):
            policy = str(chosen[0]["name"])[:60]
            text = (
                f"is asked as {name[:60]}.{home[:60]}.svc, and NetworkPolicy {policy} there lets in nothing but pods, "
            )
            text += "so the API server does not reach it unless the network lets it through"
            remedy = "add an ingress rule for the port of the webhook without from"
            yield misread(where, text, remedy, "controller")
            return


def _ports_of_no_proxy(value: paths.Object, objects: Objects) -> Found:
    """A headless Service whose pods are called at its port, though they listen on another one."""
    spec, name = paths.mapping(value.get("spec")), paths.text(paths.metadata(value).get("name"))
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for where, each in at(spec, "ports[]", "/spec") if spec.get("clusterIP") == "None" and name else ():
        port, behind = paths.mapping(each).get("port"), paths.mapping(each).get("targetPort")
        if not isinstance(port, int) or not isinstance(behind, int) or port == behind:
            continue
        called = re.compile(rf"(?<![\w-]){re.escape(name)}(?:\.[\w.-]+)?:{port}\b")
        if called.search(objects.once(f"calls of {namespace}", lambda: _calls(namespace, objects))):
            message = f"is headless, so nothing makes its port {port} to {behind}, and pods call {name[:60]}:{port}"
            remedy = f"call port {behind}, or let the programs listen on {port}"
            yield misread(f"{where}/targetPort", message, remedy, "controller")


def _calls(namespace: str, objects: Objects) -> str:
    """All texts of the programs of a namespace, one a line."""
    pods = [one for home, other in objects.all() if home == namespace for one, _, _ in pod_specs(other)]
    return "\n".join(text for pod in pods for text in texts_at(pod, _CALLS))


_CALLS: Final = f"{_CONTAINERS}.command[] {_CONTAINERS}.args[] {_CONTAINERS}.env[].value"


def _selects(policy: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Whether a policy about Ingress surely selects pods with at least these labels."""
    selector = paths.mapping(policy.get("podSelector"))
    types = texts_at(policy, "policyTypes[]") or ["Ingress"]
    wanted = paths.mapping(selector.get("matchLabels"))
    return "Ingress" in types and not selector.get("matchExpressions") and wanted.items() <= labels.items()


def _may_be_api_server(rule: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a rule may let the API server in: by its address, as all, or as pods of another namespace before it."""
    peers = paths.mapping(rule).get("from")
    listed = [paths.mapping(each) for each in peers] if isinstance(peers, list) else []
    return not listed or any(each.keys() != {"podSelector"} for each in listed)


_LEVEL: Final = "pod-security.kubernetes.io/enforce"
_CAPABILITIES: Final = (
    "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT"
)
_OF_BASELINE: Final = (
    ("host namespaces", "{hostNetwork,hostPID,hostIPC}", (False,)),
    ("hostPath", "volumes[].hostPath.path", ()),
    ("privileged", f"{_CONTAINERS}.securityContext.privileged", (False,)),
    ("hostPort", f"{_CONTAINERS}.ports[].hostPort", (0,)),
    ("capabilities", f"{_CONTAINERS}.securityContext.capabilities.add[]", (*_CAPABILITIES.split(),)),
)
"""Parts that the Pod Security level baseline forbids: name, places, and values that are allowed there."""
_OF_RESTRICTED: Final = (
    ("runAsNonRoot", "runAsNonRoot", (True,)),
    ("allowPrivilegeEscalation", "allowPrivilegeEscalation", (False,)),
    ("capabilities.drop", "capabilities.drop[]", ("ALL",)),
    ("seccompProfile", "seccompProfile.type", ("RuntimeDefault", "Localhost")),
)
"""Parts that the level restricted wants of each container, or of its pod."""


def refused_by_level(kind: str, specs: Sequence[PodSpec], namespace: str, objects: Objects) -> Found:
    """Pods that the Pod Security level of their Namespace in the files refuses (pod-security-admission policy)."""
    labels = known_keys.part_at(objects.known("", "Namespace").get(namespace, {}), "/metadata/labels")
    level = labels.get(_LEVEL)
    for spec, path, _ in specs if level in ("baseline", "restricted") else ():
        found = [
            name
            for name, where, allowed in _OF_BASELINE
            if any(isinstance(each, str | int) and each not in allowed for each in values_at(spec, where))
        ]
        for name, where, wanted in _OF_RESTRICTED if level == "restricted" else ():
            if not any(each in wanted for each in values_at(spec, f"securityContext.{where}")):
                given = (values_at(each, f"securityContext.{where}") for each in values_at(spec, _CONTAINERS))
                found += [] if all(any(one in wanted for one in each) for each in given) else [name]
        if found:
            text = f"makes pods that the Pod Security level {level} of the namespace {namespace} refuses: "
            remedy = f"correct the pods, or label the Namespace {_LEVEL}=privileged if they are agents of nodes"
            topic = "agent" if kind == "DaemonSet" else "controller"
            yield misread(path or "/spec", text + ", ".join(found), remedy, topic)
