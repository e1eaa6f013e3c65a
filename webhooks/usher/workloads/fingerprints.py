"""The digests under which usher remembers answers about Pods, and judges like objects of files once.

Two Pods with the same digest are equal for every rule, mutation and fact. The pods of a Job or a ReplicaSet have the
same digest: they differ only in name, uid, token volume, and the labels and variables with their number.

Objects of files are written by people and programs, for example by one that sweeps parameters. So their digest also
leaves out labels, annotations, variables, options of commands and numbers of image tags that nothing reads.

Two workloads with the same digest have the same slices of the facts. A sweep or a retry makes many of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

import msgspec
import orjson
from msgspec.structs import replace

from usher import memo, model, paths
from usher.config.sections import RoleRule
from usher.kinds.reading.environment import is_read
from usher.workloads import model_servers

LARGEST: Final = 8192
"""The most bytes of a Pod that is worth remembering."""

_NAMES: Final = ("name", "generateName", "uid")
"""Texts in a Pod's metadata that differ from pod to pod. Rules only read whether there is a uid."""

_UNREAD: Final = frozenset({*_NAMES, "creationTimestamp", "resourceVersion", "managedFields"})
"""Fields of a Pod's metadata that rules and mutations do not read."""

_NUMBERED: Final = ("labels", "annotations")

NUMBERS: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "jobset.sigs.k8s.io/job-global-index",
        "jobset.sigs.k8s.io/job-index",
        "jobset.sigs.k8s.io/job-key",
        "statefulset.kubernetes.io/pod-name",
        "training.kubeflow.org/replica-index",
    }
)
"""Labels and annotations that hold the number of a pod within its workload. Rules do not read them."""

RANKS: Final = frozenset({"GROUP_RANK", "JOB_COMPLETION_INDEX", "NODE_RANK", "PET_NODE_RANK", "RANK", "TF_CONFIG"})
"""Variables that hold this number. Rules do not read them, and our mutations do not set them."""

_PARTS_OF_RANKS: Final = (b'RANK","value":', b"JOB_COMPLETION_INDEX", b"TF_CONFIG")
"""Parts of these variables as API servers write them: a Pod without any of these parts need not be searched."""

_LOOKED_UP: Final = frozenset({"resourceClaims", "schedulingGroup", "workloadRef"})
"""Fields of a pod spec that name device claims and groups, whose contents are not in the Pod."""

_TOKEN_PREFIX: Final = b'"name":"kube-api-access-'

# The API server mounts a token into every pod from a volume with a random name.
_TOKEN: Final = memo.pattern(
    rb'"name":"(kube-api-access-[a-z0-9]{5})"'
    rb'(?=,"projected":\{|,(?:"readOnly":true,)?"mountPath":"/var/run/secrets/kubernetes\.io/serviceaccount")'
)


def of_pod(pod: paths.Object, *, ranks: AbstractSet[str] = RANKS) -> bytes | None:
    """The digest of a Pod; None if its answer is not worth remembering or depends on other objects.

    Args:
        ranks: variables whose values no rule reads.
    """
    metadata, spec = pod.get("metadata"), pod.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict) or not _LOOKED_UP.isdisjoint(spec):
        return None
    kept = {key: value for key, value in metadata.items() if key not in _UNREAD}
    for field in _NUMBERED:
        if field in kept:
            kept[field] = _without_numbers(kept[field])
    for name in _NAMES:
        if not isinstance(metadata.get(name, ""), str):
            return None  # a name of a wrong type is reported
    exists = bool(metadata.get("uid"))
    try:
        text = orjson.dumps((exists, {**pod, "metadata": kept}))
        if any(map(text.__contains__, _PARTS_OF_RANKS)):
            text = orjson.dumps((exists, {**pod, "metadata": kept, "spec": _without_ranks(spec, ranks)}))
    except orjson.JSONEncodeError:  # Python's own parser accepts half surrogates and very large integers
        return None
    if _TOKEN_PREFIX in text:
        text = _without_token(text)
    return memo.digest(text) if len(text) <= LARGEST else None


def renamed(workload: model.Workload, value: paths.Object) -> model.Workload:
    """The workload with the name of its own object, if it comes from another Pod with the same digest."""
    metadata = value.get("metadata")
    if not (workload.is_pod or (workload.group, workload.kind) in LIKE_KINDS) or not isinstance(metadata, dict):
        return workload
    prefix = metadata.get("generateName")
    name = metadata.get("name") or (f"{prefix}*" if prefix and isinstance(prefix, str) else "")
    return replace(workload, name=name) if isinstance(name, str) and name != workload.name else workload


LIKE_KINDS: Final = frozenset({("", "Pod"), ("batch", "Job")})
"""Kinds whose like objects are judged once. No rule reads the name of these objects."""

_UNREAD_DOMAINS: Final = ("app.kubernetes.io/", "argocd.argoproj.io/", "example.com/", "helm.sh/", "prometheus.io/")
"""Starts of labels and annotations that neither usher nor a scheduler reads."""

_UNREAD_LABELS: Final = frozenset(
    {"app", "run", "experiment", "name", "owner", "release", "run-id", "trial", "version"}
)

_SELECTORS: Final = (b'"labelSelector"', b'"matchLabels"', b'"selector"')

_PLAIN_NAME: Final = memo.pattern(r"[a-z0-9](?:[-a-z0-9]{0,50}[a-z0-9])?")
_PLAIN_PREFIX: Final = memo.pattern(r"[a-z0-9](?:[-a-z0-9]{0,50})")
_PLAIN_LABEL: Final = memo.pattern(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_OPTION: Final = memo.pattern(r"(--[a-z][a-z0-9_-]{0,60}=)[A-Za-z0-9_.,:+-]{1,200}")
_DIGITS: Final = memo.pattern(r"[0-9]+")
_TAG: Final = memo.pattern(r"[^\s:@]+(?::[0-9]+/[^\s:@]+)?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")

_READ_OPTIONS: Final = (
    "nproc",
    "nnodes",
    "rank",
    "addr",
    "endpoint",
    "machines",
    "tensor",
    "parallel",
    "timeout",
    "exit-",
    "gpus",
    "device",
)
"""Parts of the names of options whose values are read, here or by a rule of the site."""

_SERVERS: Final = tuple(hint.encode() for hint in model_servers.HINTS)
"""Words of model servers, whose images, variables and options are read."""


class Likeness(NamedTuple):
    """The digest of an object of a file, and the names of what it leaves out."""

    digest: bytes
    left_out: AbstractSet[str]
    """Names of labels, annotations and variables whose values are not in the digest."""


class SiteReads(NamedTuple):
    """The parts of objects that rules about roles read, so digests keep them."""

    commands: bool
    """Whether they may read options of commands, or tags of images."""
    labels: frozenset[str]


def read_by(rules: Iterable[RoleRule]) -> SiteReads:
    """The parts of objects that some rules about roles read."""
    rules = [*rules]
    words = [word for rule in rules for pattern in rule.commands for word in pattern.split()]
    tags = any({*":@"} & {*image} for rule in rules for image in rule.images)
    options = any(word.startswith(("-", "*")) and word not in {"*", "-m", "-c"} for word in words)
    labels = {key for rule in rules for key in (*rule.labels, rule.from_label) if key is not None}
    return SiteReads(tags or options, frozenset(labels))


def likeness(value: paths.Object, site: SiteReads) -> Likeness | None:
    """The digest of an object without what nothing reads; None if the object is not worth remembering."""
    metadata, spec = value.get("metadata"), value.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return None
    forms = (("name", _PLAIN_NAME), ("generateName", _PLAIN_PREFIX))
    names = [(metadata[key], form) for key, form in forms if key in metadata]
    if not names or not all(isinstance(name, str) and form.fullmatch(name) for name, form in names):
        return None
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None
    if len(text) > LARGEST:
        return None
    without = _Without(
        labels=not any(map(text.__contains__, _SELECTORS)),
        kept=site.labels,
        commands=not site.commands and not any(map(text.__contains__, _SERVERS)),
        variables=not (b"nproc" in text and b"$" in text) and not any(map(text.__contains__, _SERVERS)),
        left_out=set(),
    )
    kept = {key: each for key, each in without.metadata(metadata).items() if key not in _UNREAD}
    exists, generated = bool(metadata.get("uid")), "name" not in metadata
    if value.get("kind") == "Job":
        template = spec.get("template")
        if isinstance(template, dict):
            spec = {**spec, "template": without.template(template)}
    else:
        spec = without.spec(spec)
    return Likeness(
        memo.digest(orjson.dumps((exists, generated, {**value, "metadata": kept, "spec": spec}))), without.left_out
    )


class _Without(NamedTuple):
    """Copies parts of an object without what nothing reads, where the fields say so."""

    labels: bool
    kept: AbstractSet[str]
    """Labels that stay."""
    commands: bool
    variables: bool
    left_out: set[str]

    def metadata(self, metadata: paths.Object) -> paths.Object:
        if not self.labels:
            return metadata
        changed = {
            field: dict(self._entries(entries, is_label=field == "labels"))
            for field in _NUMBERED
            if isinstance(entries := metadata.get(field), dict)
        }
        return {**metadata, **changed} if changed else metadata

    def template(self, template: paths.Object) -> paths.Object:
        metadata, spec = template.get("metadata"), template.get("spec")
        changed = dict[str, paths.Json]()
        if isinstance(metadata, dict):
            changed["metadata"] = self.metadata(metadata)
        if isinstance(spec, dict):
            changed["spec"] = self.spec(spec)
        return {**template, **changed}

    def spec(self, spec: paths.Object) -> paths.Object:
        changed = {
            field: [self._container(each) if isinstance(each, dict) else each for each in containers]
            for field in ("initContainers", "containers")
            if isinstance(containers := spec.get(field), list)
        }
        return {**spec, **changed}

    def _entries(self, entries: paths.Object, *, is_label: bool) -> Iterator[tuple[str, paths.Json]]:
        for key, value in entries.items():
            unread = key in NUMBERS or key.startswith(_UNREAD_DOMAINS) or (is_label and key in _UNREAD_LABELS)
            if (
                unread
                and key not in self.kept
                and isinstance(value, str)
                and (not is_label or _PLAIN_LABEL.fullmatch(value))
            ):
                self.left_out.add(key)
                yield key, ""
            else:
                yield key, value

    def _container(self, container: paths.Object) -> paths.Object:
        changed = dict[str, paths.Json]()
        environment = container.get("env")
        if self.variables and isinstance(environment, list):
            changed["env"] = [self._variable(each) for each in environment]
        if self.commands:
            for field in ("command", "args"):
                words = container.get(field)
                if isinstance(words, list):
                    changed[field] = [_without_value(each) for each in words]
            image = container.get("image")
            if isinstance(image, str) and _TAG.fullmatch(image):
                name, colon, tag = image.rpartition(":")
                changed["image"] = name + colon + _DIGITS.sub("0", tag)
        return {**container, **changed}

    def _variable(self, variable: paths.Json) -> paths.Json:
        if not isinstance(variable, dict) or len(variable) != 2:
            return variable
        name, value = variable.get("name"), variable.get("value")
        if not isinstance(name, str) or not isinstance(value, str) or not value or is_read(name) or "$(" in value:
            return variable
        self.left_out.add(name)
        return {"name": name}


def _without_value(word: paths.Json) -> paths.Json:
    """An option without its value, where nothing reads it."""
    found = _OPTION.fullmatch(word) if isinstance(word, str) else None
    return word if found is None or any(part in found[1] for part in _READ_OPTIONS) else found[1]


def _without_numbers(entries: paths.Json) -> paths.Json:
    if not isinstance(entries, dict) or NUMBERS.isdisjoint(entries):
        return entries
    return {key: "" if key in NUMBERS and isinstance(value, str) else value for key, value in entries.items()}


def _without_ranks(spec: paths.Object, ranks: AbstractSet[str]) -> paths.Object:
    changed = {
        field: [_without_ranks_of_container(each, ranks) for each in containers]
        for field in ("initContainers", "containers")
        if isinstance(containers := spec.get(field), list)
    }
    return {**spec, **changed}


def _without_ranks_of_container(container: paths.Json, ranks: AbstractSet[str]) -> paths.Json:
    environment = container.get("env") if isinstance(container, dict) else None
    if not isinstance(container, dict) or not isinstance(environment, list):
        return container
    return {**container, "env": [_without_rank(each, ranks) for each in environment]}


def _without_rank(variable: paths.Json, ranks: AbstractSet[str]) -> paths.Json:
    if not isinstance(variable, dict) or not isinstance(variable.get("value"), str):
        return variable
    name = variable.get("name")
    return {**variable, "value": ""} if isinstance(name, str) and name in ranks else variable


def _without_token(text: bytes) -> bytes:
    token = _TOKEN.search(text)
    # With two token volumes, it makes a difference which of them a container mounts.
    if token is None or text.count(_TOKEN_PREFIX) != text.count(b'"name":"%b"' % token[1]):
        return text
    return _TOKEN.sub(b'"name":"kube-api-access"', text)


_UNREAD_OF_CONTAINERS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("command", "environment", "environment_sources", "passes_on"), ()),
    **dict.fromkeys(("idle_command", "image", "model_server", "one_program", "one_text"), ""),
    **dict.fromkeys(("operator_variables", "parallelism", "processes")),
    **dict.fromkeys(("environment_elsewhere", "reserved_environment"), frozenset()),
    "drain_seconds": 0,
    "fields": {},
}
"""Values for the program of a container and its environment, which no slice reads."""

_SELECTING: Final = frozenset({"affinity", "topologySpreadConstraints"})
"""Fields of a pod spec with selectors, which read any label."""

_ENCODER: Final = msgspec.json.Encoder(enc_hook=dict)


def of_workload(workload: model.Workload) -> bytes | None:
    """The digest of all that slices read of a workload with pods; None if they look up objects that it names, or for
    values that JSON cannot hold.
    """
    if any(each.device_claims or each.scheduling_group for each in workload.pod_sets):
        return None
    try:
        return memo.digest(_ENCODER.encode(for_slices(workload)))
    except (TypeError, UnicodeEncodeError, RecursionError):
        return None


def for_slices(workload: model.Workload) -> model.Workload:
    """The workload with its pods, without what no slice reads."""
    return replace(
        workload,
        name="",
        labels=_read_keys(workload.labels),
        annotations=_read_keys(workload.annotations),
        queue_labels=_read_keys(workload.queue_labels),
        pod_sets=tuple(map(_without_programs, workload.pod_sets)),
    )


def _without_programs(pod_set: model.PodSet) -> model.PodSet:
    containers = tuple(replace(each, **_UNREAD_OF_CONTAINERS) for each in pod_set.containers)
    labels = _read_keys(pod_set.labels) if _SELECTING.isdisjoint(pod_set.fields) else pod_set.labels
    return replace(pod_set, containers=containers, labels=labels, annotations=_read_keys(pod_set.annotations))


def _read_keys(entries: Mapping[str, str]) -> Mapping[str, str]:
    """The labels or annotations that usher or a scheduler reads."""
    return {
        key: value
        for key, value in entries.items()
        if key not in _UNREAD_LABELS and key not in NUMBERS and not key.startswith(_UNREAD_DOMAINS)
    }
