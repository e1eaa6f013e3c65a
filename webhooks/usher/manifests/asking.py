"""Expressions in CEL for pods that take accelerators: for match conditions, which work while usher is down.

CEL sees one object and no other. So it finds more than the normaliser: every device claim counts, whatever its class,
and so does a resource whose name only looks like an accelerator. It never finds less; a test compares both on the
corpora. It cannot find variables in ConfigMaps, nor resources of device classes with other names.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from usher.accelerators import names, vocabulary
from usher.accelerators.names import VENDORS
from usher.config import models
from usher.policy.checks import catalogue

VARIABLES: Final = (
    "AMD_VISIBLE_DEVICES",
    "AWS_NEURON_VISIBLE_DEVICES",
    "HABANA_VISIBLE_DEVICES",
    "NVIDIA_IMEX_CHANNELS",
    "NVIDIA_VISIBLE_DEVICES",
)
"""Variables by which a container takes devices; a test compares them with the check visible-devices-set-by-hand."""

VALUES_WITHOUT_DEVICES: Final = ("", "none", "void")

_ANNOTATION_PREFIXES: Final = (
    names.CDI_DEVICES,
    names.NVIDIA_CDI_DEVICES,
    "devices.gke.io/",
    "cdi-devices.",
    "devices.nri.io/",
    "devices.noderesource.dev/",
    "mounts.nri.io/",
    "mounts.noderesource.dev/",
)
_DEVICE_LIST: Final = "/var/run/nvidia-container-devices"
_PATHS: Final = ("isolation/host_path_to_devices", "paths")
_RUNTIME_CLASSES: Final = ("isolation/runtime_class_without_request", "runtimeClasses")

# Several slashes, and dots, may stand between two parts of a path.
_SLASH: Final = r"/+(?:\./+)*"
# The root of a process on the node is the root of the node.
_ROOT: Final = f"(?:{_SLASH}proc{_SLASH}(?:[0-9]{{1,10}}|self|thread-self){_SLASH}(?:root|cwd))*"
# CEL does not resolve `..`, which the API server accepts in the path of a mount.
_UPWARDS: Final = r"(?:^|/)\.\.(?:/|$)"


def text(value: str) -> str:
    """A string of CEL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def texts(values: Iterable[str]) -> str:
    """A list of strings of CEL, in a stable order and each once."""
    return "[" + ", ".join(text(value) for value in sorted(set(values))) + "]"


def takes(pod: str, config: models.Config, checks: catalogue.Catalogue) -> str:
    """An expression that is true for a Pod, or a pod template, that takes accelerators by any route.

    Args:
        pod: the variable that holds it.
        config: says which resource names are accelerators, beside the known ones.
        checks: their parameters name paths and runtime classes.
    """
    runtime_classes = texts(_values(*_RUNTIME_CLASSES, config, checks))
    paths = _paths(_values(*_PATHS, config, checks))
    volumes = f"{pod}.?spec.?volumes.orValue([])"
    containers = (f"{pod}.?spec.?{field}.orValue([])" for field in ("containers", "initContainers"))
    return _any(
        *(f"{each}.exists(c, {container_takes('c', config)})" for each in containers),
        f"{pod}.?spec.?overhead.orValue({{}}).exists(k, {_resource('k', config)})",
        f"size({pod}.?spec.?resourceClaims.orValue([])) > 0",
        f"{pod}.?metadata.?annotations.orValue({{}}).exists(k, {annotation('k')})",
        f"{pod}.?spec.?runtimeClassName.orValue('') in {runtime_classes}",
        f"{volumes}.exists(v, has(v.hostPath) && {_leads('v.hostPath.path', paths)})",
        debug_container_takes(pod),
    )


def debug_container_takes(pod: str) -> str:
    """An expression that is true for a Pod with a debug container that names devices; it cannot request them."""
    return f"{pod}.?spec.?ephemeralContainers.orValue([]).exists(c, {_variables('c')} || {_mounts('c')})"


def annotation(key: str) -> str:
    """An expression that is true for the key of an annotation that gives devices."""
    exact = texts([names.GPU_FRACTION, names.GPU_MEMORY])
    return _any(f"{key} in {exact}", *(f"{key}.startsWith({text(prefix)})" for prefix in _ANNOTATION_PREFIXES))


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


def accelerator(key: str, config: models.Config) -> str:
    """An expression that is true only for the name of a resource that usher knows as an accelerator."""
    return _all(f"{key}.contains('/')", _not_ignored(key, config), _known(key, config, words=False))


def names_devices(container: str) -> str:
    """An expression that is true for a container that takes devices by a variable; the last entry of a name counts."""
    entries = f"{container}.?env.orValue([]).filter(e, e.name == n)"
    value = f"{entries}[size({entries}) - 1]"
    given = f"has({value}.valueFrom) || !({value}.?value.orValue('') in {texts(VALUES_WITHOUT_DEVICES)})"
    return f"{texts(VARIABLES)}.exists(n, size({entries}) > 0 && ({given}))"


def container_takes(name: str, config: models.Config) -> str:
    """An expression that is true for a container that takes accelerators, or names its devices itself."""
    amounts = f"[{name}.?resources.?requests.orValue({{}}), {name}.?resources.?limits.orValue({{}})]"
    # The API server has made the amounts of its own kinds canonical: no other text is zero.
    resources = f"{amounts}.exists(r, r.exists(k, {_resource('k', config)} && r[k] != '0' && r[k] != 0))"
    return _any(resources, _variables(name), _mounts(name))


def _variables(container: str) -> str:
    gives = f"has(e.valueFrom) || !(e.?value.orValue('') in {texts(VALUES_WITHOUT_DEVICES)})"
    return f"{container}.?env.orValue([]).exists(e, e.name in {texts(VARIABLES)} && ({gives}))"


def _mounts(container: str) -> str:
    found = _any(_leads("m.mountPath", _paths([_DEVICE_LIST])), f"m.mountPath.matches({text(_UPWARDS)})")
    return f"{container}.?volumeMounts.orValue([]).exists(m, {found})"


def _resource(key: str, config: models.Config) -> str:
    """An expression for resource names.

    Names without a slash, like cpu, cost little; the API server limits the cost.
    """
    return _all(f"{key}.contains('/')", _not_ignored(key, config), _known(key, config, words=True))


def _not_ignored(key: str, config: models.Config) -> str:
    ignored = config.accelerators.ignored
    return f"!({key} in {texts(ignored)})" if ignored else ""


def _known(key: str, config: models.Config, *, words: bool) -> str:
    return f"({key} in {texts(_names(config))} || {key}.matches({text(_patterns(config, words=words))}))"


def _names(config: models.Config) -> Iterable[str]:
    """Exact names that give accelerators."""
    yield from (known.name for entries in VENDORS.values() for known in entries if known.name and _gives(known.unit))
    yield from config.accelerators.names
    yield from (name for name, said in config.accelerators.resources.items() if _gives(names.Unit(said.unit)))


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
    return f"('/' + {path}).matches({text(pattern)})"


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


def _all(*expressions: str) -> str:
    return " && ".join(filter(None, expressions))


def all_of(expressions: Sequence[str]) -> str:
    """An expression that is true if all of these expressions are true."""
    return _all(*(f"({expression})" for expression in expressions))
