"""Values at places of an object, and its pod specs.

A place is a path with a dot between keys: `[]` is each element, `*` each value, `^` each key, `**` each text below, and
`{a,b}` stands for both. A space separates places.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from usher import paths

Steps = tuple[str, ...]


@cache
def _ways(places: str) -> tuple[Steps, ...]:
    """The steps of each place."""
    return tuple(
        tuple(each for each in re.split(r"\.|(\[\]|\^)", place) if each)
        for one in places.split() or ("",)
        for place in _without_braces(one)
    )


def _without_braces(place: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", place)
    if found is None:
        yield place
        return
    for each in found[1].split(","):
        yield from _without_braces(f"{place[: found.start()]}{each}{place[found.end() :]}")


def _at(value: Any, way: Steps, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at a place, each with its path."""
    if not way:
        yield path, value
        return
    step, rest = way[0], way[1:]
    if step == "**":
        yield from _texts(value, path)
    elif isinstance(value, list) and step == "[]":
        for index, each in enumerate(value):
            yield from _at(each, rest, f"{path}/{index}")
    elif isinstance(value, dict) and step == "^":
        yield from ((paths.join(path, key), key) for key in value)
    elif isinstance(value, dict):
        for key in value if step == "*" else (step,):
            if (each := value.get(key)) is not None:
                yield from _at(each, rest, paths.join(path, key))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, paths.join(path, str(key)))


def _values(value: Any, way: Steps) -> list[Any]:  # noqa: ANN401 - any JSON
    found = [value]
    for step in way:
        if step == "[]":
            found = [each for level in found if isinstance(level, list) for each in level]
        elif step == "*":
            found = [each for level in found if isinstance(level, dict) for each in level.values()]
        elif step == "^":
            found = [each for level in found if isinstance(level, dict) for each in level]
        elif step == "**":
            found = [text for level in found for _, text in _texts(level, "")]
        else:
            found = [each for level in found if isinstance(level, dict) and (each := level.get(step)) is not None]
        if not found:
            break
    return found


def at(value: Any, places: str, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at places, each with its path; `path` is that of the value."""
    for way in _ways(places):
        yield from _at(value, way, path)


def values_at(value: Any, places: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """As `at` without paths, at a tenth of its cost."""
    return [each for way in _ways(places) for each in _values(value, way)]


def texts_at(value: Any, places: str) -> list[str]:  # noqa: ANN401 - any JSON
    return [each for each in values_at(value, places) if isinstance(each, str)]


def texts_with_paths(value: Any, places: str, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    return ((where, each) for where, each in at(value, places, path) if isinstance(each, str))


_ADDED: Final = (
    "mpi-job-config", "ssh-auth", "ray-logs", "ray-token", "log-volume", "shared-mem", "shared-nvidia-driver-toolkit",
)  # fmt: skip
"""Volumes that operators add to pods of their jobs, and that containers may mount."""

PodSpec = tuple[Mapping[str, Any], str, tuple[str, ...]]
"""A pod spec with its path and the names of volumes that the objects around it give."""


def pod_specs(value: paths.Object) -> Iterator[PodSpec]:
    """The pod specs in an object."""
    return _pod_specs(value, "", _ADDED)


def _pod_specs(value: Mapping[str, Any], path: str, volumes: tuple[str, ...]) -> Iterator[PodSpec]:
    if isinstance(value.get("containers"), list):
        yield value, path, volumes
        return
    if "volumes" in value or "volumeClaimTemplates" in value:
        volumes = (*volumes, *texts_at(value, "volumes[].name volumeClaimTemplates[].metadata.name"))
    for key, each in value.items():
        if isinstance(each, dict):
            if key not in _NO_PODS:
                yield from _pod_specs(each, paths.join(path, key), volumes)
        elif isinstance(each, list) and each and isinstance(each[0], dict):
            for index, one in enumerate(each):
                if isinstance(one, dict):
                    yield from _pod_specs(one, f"{paths.join(path, key)}/{index}", volumes)


_NO_PODS: Final = frozenset({"metadata", "status", "selector", "data"})


_PLACEHOLDERS: Final = ("{{", "$", "<")


def is_placeholder(text: str) -> bool:
    return any(mark in text for mark in _PLACEHOLDERS)
