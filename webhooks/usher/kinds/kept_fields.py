"""The fields that usher keeps of an object of a cluster: only those that rules read, and no secrets."""

import re
from collections.abc import Callable
from sys import intern
from typing import Final

from usher import paths
from usher.dataclass import dataclass

Key = tuple[str, str]
"""Group and kind."""

Keep = Callable[[paths.Object], paths.Object]
"""Takes an object of any shape and returns a new object with only its kept fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKind:
    """A kind that usher reads from a cluster, with the fields that it keeps."""

    group: str
    versions: tuple[str, ...]
    """The versions that usher understands, the best first."""
    kind: str
    plural: str
    keep: Keep
    cluster_scoped: bool = False
    momentary: frozenset[str] = frozenset()
    """Fields of the status with the current use. Remembered answers do not depend on them."""
    changes_often: bool = False
    """Whether objects change all the time; then neither the reading of workloads nor a mutation looks them up."""
    presence_only: bool = False
    """Whether usher asks for names alone, so that it never reads contents."""
    by_choice: bool = False
    """Whether the server reads this kind only if a site allows it. Elsewhere it is unknown, without a complaint."""

    @property
    def key(self) -> Key:
        return self.group, self.kind

    @property
    def resource(self) -> str:
        """The resource, as `kubectl get` takes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_METADATA: Final = ("name", "namespace", "uid", "labels", "deletionTimestamp")
"""The identity fields that usher keeps. Annotations are left out: kubectl keeps whole manifests in one."""


def _identity(value: paths.Object) -> paths.Object:
    metadata = value.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    kept: paths.Object = {key: fields[key] for key in _METADATA if key in fields}
    if isinstance(labels := kept.get("labels"), dict):
        # Thousands of nodes have the same sixty labels of feature discovery.
        kept["labels"] = {key: intern(each) if isinstance(each, str) else each for key, each in labels.items()}
    return {"apiVersion": value.get("apiVersion"), "kind": value.get("kind"), "metadata": kept}


def keeping(*pointers: str) -> Keep:
    """A function that keeps the values at these JSON Pointers, and the identity and labels of the object."""
    ways = [paths.split(pointer) for pointer in pointers]

    def keep(value: paths.Object) -> paths.Object:
        result = _identity(value)
        for way in ways:
            _copy(value, result, way)
        return result

    return keep


def _copy(source: paths.Json, target: paths.Object, way: list[str]) -> None:
    key, *rest = way
    if not isinstance(source, dict) or key not in source:
        return
    if not rest:
        target[key] = source[key]
        return
    inner = target.setdefault(key, {})
    if isinstance(inner, dict):
        _copy(source[key], inner, rest)


SPEC: Final = keeping("/spec")

CONFIG_MAP: Final[Key] = ("", "ConfigMap")
DEFINITION: Final[Key] = ("apiextensions.k8s.io", "CustomResourceDefinition")

KUEUE_CONFIGURATION: Final = ("kueue-system", "kueue-manager-config")
"""Namespace and name of the ConfigMap from which Kueue reads its own configuration, where it is installed as usual."""

KUEUE_CONFIGURATION_KEY: Final = "controller_manager_config.yaml"


def kueue_configuration(value: paths.Object) -> paths.Object:
    """The name of a ConfigMap, and also the text if it is Kueue's own configuration."""
    result = _identity(value)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and (metadata.get("namespace"), metadata.get("name")) == KUEUE_CONFIGURATION:
        _copy(value, result, ["data", KUEUE_CONFIGURATION_KEY])
    return result


_OPEN_VARIABLES: Final = ("CUDA_", "NCCL_", "NVIDIA_")
"""Prefixes of environment variables that rules read; the values of all others may be secrets."""

_SECRETIVE: Final = re.compile("API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSW|CREDENTIAL")
"""Names whose values are secrets in spite of their prefix: NVIDIA_API_KEY."""


def spec_without_secrets(value: paths.Object) -> paths.Object:
    """The spec without values of environment variables that rules do not read: they may be secrets."""
    result = SPEC(value)
    return result if "spec" not in result else {**result, "spec": _without_values(result["spec"])}


def _without_values(value: paths.Json) -> paths.Json:
    if isinstance(value, list):
        return [_without_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: [_variable(each) for each in item] if key == "env" and isinstance(item, list) else _without_values(item)
        for key, item in value.items()
    }


def _variable(entry: paths.Json) -> paths.Json:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(entry, dict):
        return entry
    if isinstance(name, str) and name.startswith(_OPEN_VARIABLES) and not _SECRETIVE.search(name):
        return entry
    return {key: item for key, item in entry.items() if key != "value"}
