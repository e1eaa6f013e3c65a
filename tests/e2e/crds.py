"""Installs the definitions (CRDs) of the workload kinds: the published ones where they are there, else our own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import yaml

import kind_definitions
from e2e.cluster import Cluster, Object, condition, wait_until
from usher.kinds.kind import Kind

_API_VERSION = "apiextensions.k8s.io/v1"


BUILT_IN: Final = frozenset({"", "apps", "batch"})
"""Groups whose kinds every API server serves."""


def is_served(kind: Kind) -> bool:
    """Whether the API server of the tests serves the kind, after `install` if it is not built in."""
    return bool(kind.plural) and (kind.group in BUILT_IN or is_defined(kind))


def is_defined(kind: Kind) -> bool:
    """Whether there is a definition of the kind."""
    return kind_definitions.file_of(kind.group, kind.plural) is not None


def install(cluster: Cluster, names: Iterable[str], *, version: str = "") -> None:
    """Defines the kinds `names` (`group/plural`) and waits until objects of them can be created.

    A name that is installed already is left as it is. With `version` the kinds have that one alone.

    Raises:
        KeyError: there is no definition of a name.
    """
    new = [name for name in names if not _is_defined(cluster, name)]
    for name in new:
        _create(cluster, name, version=version)
    for name in new:
        wait_until_served(cluster, name)


def _create(cluster: Cluster, name: str, *, version: str) -> None:
    # Create, not apply: the largest do not fit into kubectl's annotation, and no test needs their fields tracked.
    definition = _file(name).read_text()
    if version:
        parsed = yaml.safe_load(definition)
        only = next(each for each in parsed["spec"]["versions"] if each["name"] == version)
        parsed["spec"]["versions"] = [{**only, "served": True, "storage": True}]
        definition = json.dumps(parsed)
    cluster.request("POST", f"/apis/{_API_VERSION}/customresourcedefinitions", body=definition, content="yaml")


def _is_defined(cluster: Cluster, name: str) -> bool:
    return cluster.exists("CustomResourceDefinition", _object_name(name), api_version=_API_VERSION)


def wait_until_served(cluster: Cluster, name: str) -> None:
    """Waits until objects of the kind `name` (`group/plural`), which is defined, can be created."""
    definition = wait_until(lambda: _established(cluster, name), description=f"{name} is Established")
    group, _, plural = name.partition("/")
    version = next(each["name"] for each in definition["spec"]["versions"] if each["storage"])
    # The server lists the kind for clients a moment after it has established it.
    wait_until(
        lambda: plural in _served(cluster, f"{group}/{version}"), description=f"{name} is served in {group}/{version}"
    )


def _established(cluster: Cluster, name: str) -> Object | None:
    definition = cluster.get("CustomResourceDefinition", _object_name(name), api_version=_API_VERSION)
    return definition if condition(definition, "Established").get("status") == "True" else None


def _object_name(name: str) -> str:
    group, _, plural = name.partition("/")
    return f"{plural}.{group}"


def _served(cluster: Cluster, api_version: str) -> set[str]:
    return {resource["name"] for resource in cluster.request("GET", f"/apis/{api_version}").body["resources"]}


def _file(name: str) -> Path:
    group, _, plural = name.partition("/")
    file = kind_definitions.file_of(group, plural)
    if file is None:
        raise KeyError(f"no definition of {name}: add one to {kind_definitions.OWN}")
    return file
