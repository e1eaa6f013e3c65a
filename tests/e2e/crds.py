"""Installs the definitions (CRDs) of the workload kinds: our own in a change, at night the published ones."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import yaml

import kind_definitions
from e2e.cluster import DISCOVERY, ApiError, Cluster, Object, wait_until
from usher.kinds.kind import Kind

_API_VERSION = "apiextensions.k8s.io/v1"
_DEFINITIONS: Final = f"/apis/{_API_VERSION}/customresourcedefinitions"

_SERVED_WITHIN: Final = 60.0


BUILT_IN: Final = frozenset({"", "apps", "batch"})
"""Groups whose kinds every API server serves."""


def is_served(kind: Kind) -> bool:
    """Whether the API server of the tests serves the kind, after `install` if it is not built in."""
    return bool(kind.plural) and (kind.group in BUILT_IN or is_defined(kind))


def is_defined(kind: Kind) -> bool:
    """Whether there is a definition of the kind."""
    return kind_definitions.file_of(kind.group, kind.plural) is not None


def install(cluster: Cluster, names: Iterable[str], *, version: str = "") -> None:
    """Defines the kinds `names` (`group/plural`) and waits until objects of them can be created, listed and watched.

    A name that is installed already is left as it is. With `version` the kinds have that one alone.

    Raises:
        KeyError: there is no definition of a name.
    """
    served = _served(cluster)
    new = {name: _create(cluster, name, version=version) for name in names if name not in served}
    _wait_until_served(cluster, new)


def _create(cluster: Cluster, name: str, *, version: str) -> frozenset[str]:
    """Creates a definition and returns the versions that the kind is served in."""
    # Create, not apply: the largest do not fit into kubectl's annotation, and no test needs their fields tracked.
    definition = _file(name).read_text()
    if version:
        parsed = yaml.safe_load(definition)
        only = next(each for each in parsed["spec"]["versions"] if each["name"] == version)
        parsed["spec"]["versions"] = [{**only, "served": True, "storage": True}]
        definition = json.dumps(parsed)
    try:
        created = cluster.request("POST", _DEFINITIONS, body=definition, content="yaml").body
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
        created = cluster.get("CustomResourceDefinition", _object_name(name), api_version=_API_VERSION)
    return _versions(created)


def _versions(definition: Object) -> frozenset[str]:
    """The names of the versions that the API server serves."""
    return frozenset(each["name"] for each in definition["spec"]["versions"] if each["served"])


def wait_until_served(cluster: Cluster, name: str) -> None:
    """Waits until objects of the kind `name` (`group/plural`), which is defined, can be created, listed and watched."""
    found = wait_until(
        lambda: cluster.get("CustomResourceDefinition", _object_name(name), api_version=_API_VERSION),
        description=f"{name} is defined",
    )
    _wait_until_served(cluster, {name: _versions(found)})


def wait_until_all_served(cluster: Cluster) -> None:
    """Waits for all kinds that are defined: an API server that starts again is ready before they are."""
    found = cluster.request("GET", _DEFINITIONS).body["items"]
    _wait_until_served(
        cluster, {f"{each['spec']['group']}/{each['spec']['names']['plural']}": _versions(each) for each in found}
    )


def _wait_until_served(cluster: Cluster, kinds: Mapping[str, frozenset[str]]) -> None:
    """Waits for the versions of kinds, by `group/plural`."""
    if not kinds:
        return
    # The server lists a kind for clients a moment after it has established it.
    wait_until(
        lambda: all(versions <= _served(cluster).get(name, frozenset()) for name, versions in kinds.items()),
        description=f"{', '.join(kinds)} are served",
        timeout=_SERVED_WITHIN,
    )
    # It sets up the store of a version when it is first asked for, and refuses to list or watch it meanwhile:
    # `Cluster.request` asks again, the programs that tests start say that they could not read the kind.
    for name, versions in kinds.items():
        group, _, plural = name.partition("/")
        for version in sorted(versions):
            cluster.request("GET", f"/apis/{group}/{version}/{plural}", query={"limit": "1"})


def _object_name(name: str) -> str:
    group, _, plural = name.partition("/")
    return f"{plural}.{group}"


def _served(cluster: Cluster) -> dict[str, frozenset[str]]:
    """The versions of each kind, by `group/plural`. A definition itself may take megabytes, and so is not asked for."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in cluster.request("GET", "/apis", accept=DISCOVERY).body["items"]:
        for version in group.get("versions", []):
            for resource in version.get("resources", []):
                found[f"{group['metadata']['name']}/{resource['resource']}"].add(version["version"])
    return {name: frozenset(versions) for name, versions in found.items()}


def _file(name: str) -> Path:
    group, _, plural = name.partition("/")
    file = kind_definitions.quick_file_of(group, plural)
    if file is None:
        raise KeyError(f"no definition of {name}: add one to {kind_definitions.OWN}")
    return file
