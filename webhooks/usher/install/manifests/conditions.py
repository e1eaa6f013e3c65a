"""Match conditions in CEL: which pods take accelerators, who asks, and what fails closed.

CEL sees one object and no other. So it finds more than the normaliser: every device claim counts, whatever its class,
and so does a resource whose name only looks like an accelerator. It never finds less; a test compares both on the
corpora. It cannot find variables in ConfigMaps, nor resources of device classes with other names.

The API server sets both, so tenants cannot forge them.

CEL cannot follow the paths of some kinds: the templates are in another object, or a container is not in a pod spec.
These kinds are left out; they make objects of other kinds, or Pods.

Pods fail closed, and kinds whose pod templates CEL can read; for other kinds, the objects that they make. Everything
else goes on: objects without accelerators, the namespaces that a cluster needs to heal, requests of administrators,
scaling, and changes of Pods that change no devices (docs/operations.md#failure-policy).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from usher import paths
from usher.accelerators import names, vocabulary
from usher.accelerators.names import VENDORS
from usher.config import models
from usher.config.sections import DEFAULT_IDENTITIES, Identity
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Catalogue


class _Known(Struct, frozen=True, forbid_unknown_fields=True):
    """The names of conditions.yaml."""

    variables: tuple[str, ...]
    variable_prefixes: tuple[str, ...]
    annotation_prefixes: tuple[str, ...]
    healing_namespaces: dict[str, tuple[str, ...]]


_KNOWN: Final = msgspec.yaml.decode(Path(__file__).with_name("conditions.yaml").read_bytes(), type=_Known)
VARIABLES: Final = _KNOWN.variables
NAMING_VARIABLES: Final = tuple(
    name
    for name in VARIABLES
    if name.endswith("_VISIBLE_DEVICES") or name in ("ASCEND_VNPU_SPECS", "NVIDIA_IMEX_CHANNELS")
)
"""Variables that the check refuses whatever they name."""

VALUES_WITHOUT_DEVICES: Final = ("", "none", "void")

_ANNOTATION_PREFIXES: Final = (names.CDI_DEVICES, names.NVIDIA_CDI_DEVICES, *_KNOWN.annotation_prefixes)
_DEVICE_LIST: Final = "/var/run/nvidia-container-devices"
_PATHS: Final = ("isolation/host_path_to_devices", "paths")
_RUNTIME_CLASSES: Final = ("isolation/runtime_class_without_request", "runtimeClasses")

# Several slashes, and dots, may stand between two parts of a path.
_SLASH: Final = r"/+(?:\./+)*"
# The root of a process on the node is the root of the node.
_TASK: Final = f"(?:{_SLASH}task{_SLASH}[0-9]{{1,10}})?"
_ROOT: Final = f"(?:{_SLASH}proc{_SLASH}(?:[0-9]{{1,10}}|self|thread-self){_TASK}{_SLASH}(?:root|cwd))*"
# CEL does not resolve `..`, which the API server accepts in the path of a mount.
_UPWARDS: Final = r"(?:^|/)\.\.(?:/|$)"


def cel_text(value: str) -> str:
    """A string of CEL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def cel_texts(values: Iterable[str]) -> str:
    """A list of strings of CEL, in a stable order and each once."""
    return "[" + ", ".join(cel_text(value) for value in sorted(set(values))) + "]"


def takes_accelerators(pod: str, config: models.Config, checks: catalogue.Catalogue) -> str:
    """An expression that is true for a Pod, or a pod template, that takes accelerators by any route.

    Args:
        pod: the variable that holds it.
        config: says which resource names are accelerators, beside the known ones.
        checks: their parameters name paths and runtime classes.
    """
    runtime_classes = cel_texts(_values(*_RUNTIME_CLASSES, config, checks))
    paths = _paths(_values(*_PATHS, config, checks))
    volumes = f"{pod}.?spec.?volumes.orValue([])"
    containers = (f"{pod}.?spec.?{field}.orValue([])" for field in ("containers", "initContainers"))
    return _any(
        *(f"{each}.exists(c, {container_takes('c', config)})" for each in containers),
        f"{pod}.?spec.?overhead.orValue({{}}).exists(k, {_resource('k', config)})",
        f"size({pod}.?spec.?resourceClaims.orValue([])) > 0",
        f"{pod}.?metadata.?annotations.orValue({{}}).exists(k, {is_device_annotation('k')})",
        f"{pod}.?spec.?runtimeClassName.orValue('') in {runtime_classes}",
        f"{volumes}.exists(v, has(v.hostPath) && {_leads('v.hostPath.path', paths)})",
        debug_container_takes(pod),
    )


def manifest(
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str = "",
    labels: Mapping[str, str] | None = None,
    **fields: paths.Json,
) -> paths.Object:
    """An object as people apply it, with its fields beside the metadata."""
    metadata: paths.Object = {"name": name}
    metadata |= {"namespace": namespace} if namespace else {}
    metadata |= {"labels": dict(labels)} if labels else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def debug_container_takes(pod: str) -> str:
    """An expression that is true for a Pod with a debug container that names devices; it cannot request them."""
    return f"{pod}.?spec.?ephemeralContainers.orValue([]).exists(c, {_variables('c')} || {_mounts('c')})"


def is_device_annotation(key: str) -> str:
    """An expression that is true for the key of an annotation that gives devices."""
    exact = cel_texts([names.GPU_FRACTION, names.GPU_MEMORY])
    return _any(f"{key} in {exact}", *(f"{key}.startsWith({cel_text(prefix)})" for prefix in _ANNOTATION_PREFIXES))


def mounts_devices(pod: str, config: models.Config, checks: catalogue.Catalogue) -> str:
    """An expression that is true for a Pod or pod template with a host path that usher refuses everywhere."""
    given = [set(values) for values in _settings(*_PATHS, config, checks)]
    everywhere = set.intersection(*given)
    if not everywhere:
        return "false"
    path = "v.?hostPath.?path.orValue('')"
    # The API server refuses `..` in the path of a Pod; in a template usher resolves it.
    found = f"{_leads(path, _paths(everywhere))} && !{path}.contains('..')"
    return f"{pod}.?spec.?volumes.orValue([]).exists(v, {found})"


def is_accelerator(key: str, config: models.Config) -> str:
    """An expression that is true only for the name of a resource that usher knows as an accelerator."""
    return _join_with_and(f"{key}.contains('/')", _not_ignored(key, config), _known_key_cel(key, config, words=False))


def names_devices(container: str) -> str:
    """An expression that is true for a container that takes devices by a variable; the last entry of a name counts."""
    entries = f"{container}.?env.orValue([]).filter(e, e.name == n)"
    value = f"{entries}[size({entries}) - 1]"
    given = f"has({value}.valueFrom) || !({value}.?value.orValue('') in {cel_texts(VALUES_WITHOUT_DEVICES)})"
    return f"{cel_texts(NAMING_VARIABLES)}.exists(n, size({entries}) > 0 && ({given}))"


def container_takes(name: str, config: models.Config) -> str:
    """An expression that is true for a container that takes accelerators, or names its devices itself."""
    amounts = f"[{name}.?resources.?requests.orValue({{}}), {name}.?resources.?limits.orValue({{}})]"
    # The API server has made the amounts of its own kinds canonical: no other text is zero.
    resources = f"{amounts}.exists(r, r.exists(k, {_resource('k', config)} && r[k] != '0' && r[k] != 0))"
    return _any(resources, _variables(name), _mounts(name))


def _variables(container: str) -> str:
    gives = f"has(e.valueFrom) || !(e.?value.orValue('') in {cel_texts(VALUES_WITHOUT_DEVICES)})"
    named = _any(
        f"e.name in {cel_texts(VARIABLES)}",
        *(f"e.name.startsWith({cel_text(prefix)})" for prefix in _KNOWN.variable_prefixes),
    )
    return f"{container}.?env.orValue([]).exists(e, ({named}) && ({gives}))"


def _mounts(container: str) -> str:
    found = _any(_leads("m.mountPath", _paths([_DEVICE_LIST])), f"m.mountPath.matches({cel_text(_UPWARDS)})")
    return f"{container}.?volumeMounts.orValue([]).exists(m, {found})"


def _resource(key: str, config: models.Config) -> str:
    """An expression for resource names.

    Names without a slash, like cpu, cost little; the API server limits the cost.
    """
    return _join_with_and(f"{key}.contains('/')", _not_ignored(key, config), _known_key_cel(key, config, words=True))


def _not_ignored(key: str, config: models.Config) -> str:
    ignored = config.accelerators.ignored
    return f"!({key} in {cel_texts(ignored)})" if ignored else ""


def _known_key_cel(key: str, config: models.Config, *, words: bool) -> str:
    return f"({key} in {cel_texts(_names(config))} || {key}.matches({cel_text(_patterns(config, words=words))}))"


def _names(config: models.Config) -> Iterable[str]:
    """Exact names that give accelerators."""
    yield from (known.name for entries in VENDORS.values() for known in entries if known.name and _gives(known.unit))
    yield from config.accelerators.names
    yield from (name for name, resource in config.accelerators.resources.items() if _gives(names.Unit(resource.unit)))


def _gives(unit: names.Unit) -> bool:
    return unit in names.GIVING


def _patterns(config: models.Config, *, words: bool) -> str:
    """One regular expression of RE2 for all patterns and prefixes of accelerators, and the words of lookalikes."""
    by_domain: dict[str, list[str]] = {}
    for known in (known for entries in VENDORS.values() for known in entries if _gives(known.unit)):
        if known.pattern is not None:
            by_domain.setdefault(known.domain, []).append(known.pattern.pattern.replace(r"\Z", "$"))
    own = [re.escape(prefix) for prefix in (names.CLAIM_PREFIX, *config.accelerators.prefixes)]
    known_patterns = [f"{re.escape(domain)}/(?:{'|'.join(found)})" for domain, found in by_domain.items()]
    known_names = f"^(?:{'|'.join([*own, *known_patterns])})"
    return f"{known_names}|(?i:{'|'.join(sorted(vocabulary.ACCELERATOR_WORDS))})" if words else known_names


def _values(check: str, parameter: str, config: models.Config, checks: catalogue.Catalogue) -> Iterable[str]:
    """The values of a parameter in any namespace: the default, and those of usher.yaml."""
    return [value for values in _settings(check, parameter, config, checks) for value in values]


def _settings(check: str, parameter: str, config: models.Config, checks: catalogue.Catalogue) -> list[list[str]]:
    entry = checks.checks[check]
    given = [entry.parameters[parameter].default]
    given += [
        rule.values[parameter]
        for rule in config.parameters
        if rule.check in {entry.name, *entry.codes} and parameter in rule.values
    ]
    return [[str(value) for value in values] for values in given if isinstance(values, list)]


def _leads(path: str, pattern: str) -> str:
    """An expression that is true for a path that fits `_paths`; a path may lack its leading slash."""
    return f"('/' + {path}).matches({cel_text(pattern)})"


def _paths(given: Iterable[str]) -> str:
    """A regular expression of RE2 for these paths, in all spellings, and for everything below them."""
    return f"^{_ROOT}(?:" + "|".join(_path(path) for path in sorted(set(given))) + ")"


def _path(path: str) -> str:
    parts = [re.escape(part) for part in path.removesuffix("*").split("/") if part]
    start = f"(?:{_SLASH}var)?" if parts[0] == "run" else ""
    end = "" if path.endswith("*") else "(?:/|$)"
    return start + "".join(_SLASH + part for part in parts) + end


def _any(*expressions: str) -> str:
    return " || ".join(expressions)


def _join_with_and(*expressions: str) -> str:
    return " && ".join(filter(None, expressions))


def all_of(expressions: Sequence[str]) -> str:
    """An expression that is true if all of these expressions are true."""
    return _join_with_and(*(f"({expression})" for expression in expressions))


def requested_by(identity: Identity) -> str:
    """An expression that is true for requests by one of these users, or by a member of one of these groups."""
    users = [_equals_cel("request.userInfo.?username.orValue('')", pattern) for pattern in identity.users]
    groups = [
        f"request.userInfo.?groups.orValue([]).exists(g, {_equals_cel('g', pattern)})" for pattern in identity.groups
    ]
    return " || ".join([*users, *groups]) or "false"


def in_namespaces(namespaces: Iterable[str], *, here: str = "request.?namespace.orValue('')") -> str:
    """An expression that is true for requests in namespaces with these names, in which `*` stands for any characters.

    Only the name of a namespace counts, not its labels.

    Args:
        namespaces: names and patterns.
        here: an expression for the name of the namespace.
    """
    patterns = sorted(set(namespaces))
    named = [pattern for pattern in patterns if "*" not in pattern]
    found = [f"{here} in {cel_texts(named)}"] if named else []
    return " || ".join([*found, *(_equals_cel(here, pattern) for pattern in patterns if "*" in pattern)]) or "false"


def _equals_cel(value: str, pattern: str) -> str:
    if "*" not in pattern:
        return f"{value} == {cel_text(pattern)}"
    start, _, rest = pattern.partition("*")
    if not rest:
        return f"{value}.startsWith({cel_text(start)})"
    expression = "^" + ".*".join(map(re.escape, pattern.split("*"))) + "$"
    return f"{value}.matches({cel_text(expression)})"


_STEP: Final = r"(?:[A-Za-z]+(?:\[\])?|<[a-z]+>|\{[A-Za-z,]+\})"
_PATH: Final = re.compile(rf"{_STEP}(?:\.{_STEP})*\.(?:template|leaderTemplate|workerTemplate)(?:\.spec)?")
_MANY: Final = re.compile(r"\[\]|\.<[a-z]+>|\.\{[A-Za-z,]+\}")


def readable_kinds() -> list[Kind]:
    """The kinds whose templates CEL finds, Pods first. Kinds that only other objects refer to make no pods."""
    kinds = [kind for kind in WORKLOADS.values() if kind.plural and not kind.is_template and _is_readable(kind)]
    return sorted(kinds, key=lambda kind: kind.kind != "Pod")


def pod_templates(of: str = "object") -> str:
    """An expression for the list of all pod templates of an object, or of the Pod itself.

    Args:
        of: the variable that holds it.
    """
    return f"(request.resource.resource == 'pods' ? [{of}] : {templates_of_workload(of)})"


def templates_of_workload(of: str) -> str:
    """An expression for the list of all pod templates of an object that is not a Pod."""
    paths = {path.removesuffix(".spec") for kind in readable_kinds() for path in _template_paths(kind)}
    return " + ".join(_list(path, of) for path in sorted(paths))


def _is_readable(kind: Kind) -> bool:
    return kind.kind == "Pod" or all(
        _PATH.fullmatch(path) and len(_MANY.findall(path)) <= 1 for path in _template_paths(kind)
    )


def _template_paths(kind: Kind) -> Iterable[str]:
    if kind.pods is None or kind.kind == "Pod":
        return ()
    return kind.pods.template_paths


def _list(path: str, of: str) -> str:
    """The templates at a path. At most one step of it may mean several values: a list, or all values of a map."""
    many = _MANY.search(path)
    if many is None:
        return f"[{of}{_fields(path)}.orValue({{}})]"
    holder, rest = f"{of}{_fields(path[: many.start()])}", _fields(path[many.end() :].removeprefix("."))
    if many[0] == "[]":
        return f"{holder}.orValue([]).map(x, x{rest}.orValue({{}}))"
    return f"{holder}.orValue({{}}).map(x, {holder}.orValue({{}})[?x]{rest}.orValue({{}}))"


def _fields(path: str) -> str:
    return "".join(f".?{field}" for field in path.split("."))


FAIL_CLOSED_WEBHOOK: Final = "accelerators"
"""The name of the webhook that fails closed."""


def fail_closed_kinds() -> Sequence[Kind]:
    return readable_kinds()


def fail_closed_conditions(config: models.Config, checks: Catalogue) -> Sequence[paths.Object]:
    """The match conditions of objects that are refused while usher does not answer; all of them must be true."""
    return (
        _condition("takes-accelerators", _takes_devices_cel(config, checks)),
        _condition("new-or-changed", _CHANGED),
        _condition("no-administrator", f"!({administrators(config)})"),
        _condition("no-namespace-that-heals-the-cluster", f"!({in_namespaces(healing_namespaces(config))})"),
    )


def healing_namespaces(config: models.Config) -> set[str]:
    """Namespaces in which the API server refuses no request while usher does not answer."""
    return {*chain(*_KNOWN.healing_namespaces.values()), *config.priorities.system_namespaces}


def all_other_requests(failing: Iterable[paths.Object]) -> paths.Object:
    """The match condition of all other requests.

    If an expression fails for an object, the webhook that fails closed refuses it, so no object passes between both.
    """
    expressions = [str(each["expression"]) for each in failing]
    kinds = cel_texts(map(_group_and_plural, fail_closed_kinds()))
    asked = f"request.resource.group + '/' + request.resource.resource in {kinds}"
    return _condition("judged-by-no-other-webhook", f"!({all_of([asked, _SUBRESOURCES, *expressions])})")


def _group_and_plural(kind: Kind) -> str:
    return f"{kind.group}/{kind.plural}"


def administrators(config: models.Config) -> str:
    """An expression that is true for requests of cluster administrators, as usher.yaml names them."""
    identities = {**DEFAULT_IDENTITIES, **config.identities}
    return requested_by(identities["administrators"])


_SUB_RESOURCE: Final = "request.?subResource.orValue('')"
_SUBRESOURCES: Final = f"{_SUB_RESOURCE} in ['', 'ephemeralcontainers']"

_ANNOTATIONS: Final = "{}.metadata.?annotations.orValue({{}})"
_NEW: Final = _ANNOTATIONS.format("object")
_OLD: Final = _ANNOTATIONS.format("oldObject")
_CHANGED: Final = (
    # Controllers often write labels, annotations and finalizers of Pods, and Pods must be able to end.
    "request.operation == 'CREATE' || (!has(object.metadata.deletionTimestamp) && (object.spec != oldObject.spec || "
    f"{_NEW}.exists(k, ({is_device_annotation('k')}) && {_OLD}[?k].orValue('') != {_NEW}[k])))"
)


def _takes_devices_cel(config: models.Config, checks: Catalogue) -> str:
    """An expression for pods that take accelerators; debug containers get devices only by variables and mounts."""
    debug = debug_container_takes("object")
    templates = f"{pod_templates()}.exists(t, {takes_accelerators('t', config, checks)})"
    return f"{_SUB_RESOURCE} == 'ephemeralcontainers' ? ({debug}) : {templates}"


def _condition(name: str, expression: str) -> paths.Object:
    return {"name": name, "expression": expression}
