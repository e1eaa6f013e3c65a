"""Shares of GPUs: their names, how many a container gets, and claims that one server shares among pods."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from usher import model, paths
from usher.kinds.reading import known_keys
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import (
    PodSpec,
    at,
    pod_specs,
    texts_at,
    values_at,
)
from usher.kinds.reading.values import Lookup, Objects

Found = Iterator[model.UnreadKey]
_ASKED: Final = "containers[].resources.limits^"


def beside_others(value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]], objects: Objects) -> Found:
    """Shares of GPUs that the pods of an object do not get under their name, or not several of at a time.

    Args:
        devices: the labels of the nodes that offer a device, by its name.
    """
    if shared := objects.once("shares that plugins give one at a time", lambda: dict(_single_shares(objects))):
        yield from _of_several_shares(value, shared)
    if names := objects.once("names of shares", lambda: [*_names_of_shares(objects)]):
        yield from _of_other_names(value, names, devices)


def _single_shares(objects: Objects) -> Iterator[tuple[str, str]]:
    """Resources that configurations in the files give a container one share at a time, with a reason.

    A name that some configuration gives to whole GPUs is left out.
    """
    whole_boards, found = set[str](), dict[str, str]()
    for _, value in objects.all():
        if value.get("kind") == "GpuDevicePlugin" and known_keys.part_at(value, "/spec").get("sharedDevNum", 1) != 1:
            for name in ("gpu.intel.com/i915", "gpu.intel.com/xe"):
                found[name] = (
                    f"shares by sharedDevNum of GpuDevicePlugin {paths.metadata(value).get('name')}, perhaps of one GPU"
                )
        for each in known_keys.configurations(value.get("data")) if value.get("kind") == "ConfigMap" else ():
            ways = known_keys.part_at(each.value, "/sharing") if each.reader == "the device plugin" else {}
            if each.reader == "the device plugin" and not ways:
                whole_boards.add("nvidia.com/gpu")
            for way, shares in ways.items():
                given = shares if isinstance(shares, dict) else {}
                for resource in map(paths.mapping, values_at(given, "resources[]")):
                    name = paths.text(resource.get("name"))
                    if given.get("failRequestsGreaterThanOne", way == "mps") is True:
                        shared = f"{name}.shared" if given.get("renameByDefault") is True else name
                        found[paths.text(resource.get("rename")) or shared] = (
                            f"and the configuration {each.key} refuses more than one share by {way}"
                        )
                    else:
                        whole_boards.add(name)
    yield from ((name, reason) for name, reason in found.items() if name not in whole_boards)


def _of_several_shares(value: paths.Object, shared: Mapping[str, str]) -> Found:
    for spec, path, _ in pod_specs(value):
        for place, limits in at(spec, "{containers,initContainers}[].resources.limits", path):
            for name, reason in shared.items() if isinstance(limits, dict) else ():
                amount = str(limits.get(name, ""))
                if re.fullmatch(r"\d{1,9}", amount, re.ASCII) and int(amount) > 1:
                    end = "" if "perhaps" in reason else ", so the pod ends with UnexpectedAdmissionError"
                    text = f"asks for {amount} {name}, {reason}{end}"
                    yield misread(paths.join(place, name), text, "ask for 1, or for whole GPUs elsewhere", "controller")


def _names_of_shares(objects: Objects) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The name of each configuration of NVIDIA's device plugin, and the new name of each resource that it shares."""
    for config_map in objects.known("", "ConfigMap").values():
        for each in known_keys.configurations(config_map.get("data")):
            if each.reader == "the device plugin":
                found = {}
                for way in map(paths.mapping, known_keys.part_at(each.value, "/sharing").values()):
                    for resource in map(paths.mapping, values_at(way, "resources[]")):
                        name = paths.text(resource.get("name"))
                        found[name] = f"{name}.shared" if way.get("renameByDefault") is True else name
                yield each.key, found


def _of_other_names(
    value: paths.Object,
    configurations: Sequence[tuple[str, Mapping[str, str]]],
    devices: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Found:
    """Pods that ask for whole devices where all known configurations call them shares, or for shares of no name."""
    for spec, path, _ in pod_specs(value):
        for where, name in at(spec, _ASKED, path):
            whole = str(name).removesuffix(".shared")
            given = [(key, names[whole]) for key, names in configurations if whole in names]
            if devices.get(str(name)) or not given or len(given) < len(configurations) or name in dict(given).values():
                continue
            key, other = given[0]
            how = "with" if other != whole else "without"
            text = f"asks for {name}, and the configuration {key} shares {whole} {how} renameByDefault"
            end = f"so its nodes offer {other} alone"
            remedy = f"ask for {other}, or set renameByDefault to {'true' if other == whole else 'false'}"
            yield misread(where, f"{text}, {end}", remedy, "controller")
            break


_CLAIM: Final = ("resource.k8s.io", "ResourceClaim")


_SHARING: Final = "spec.devices.config[].opaque.parameters.sharing"


_Users = Mapping[tuple[str, str], Mapping[int, str]]


def users_of_one_server(specs: Sequence[PodSpec], namespace: str, objects: Objects, beside: Lookup) -> Found:
    """Pods that share a claim by MPS with pods of another user.

    The daemon of MPS serves one user at a time (docs.nvidia.com/deploy/mps, provisioning sequence), and NVIDIA's driver
    starts one for each claim (kubernetes-sigs/dra-driver-nvidia-gpu#1158).
    """
    of_file = beside if isinstance(beside, Objects) else objects
    shared = of_file.once("users of claims by MPS", lambda: _users_of_mps(objects, of_file, namespace))
    for spec, path, _ in specs if shared else ():
        for where, name, user in _users_of_claims(spec, path):
            users = shared.get((namespace, name), {})
            first = next(iter(users), user)
            if user != first:
                text = (
                    f"shares ResourceClaim {name[:100]} by MPS as the user {user}, and {users[first]} does so as the "
                )
                text += f"user {first}: the daemon of the claim serves one user at a time, so one of them waits"
                remedy = f"set runAsUser to {first} in both, or share by time slices"
                yield misread(where, text, remedy, "controller")


def _users_of_mps(objects: Objects, of_file: Objects, namespace: str) -> _Users:
    """The users of each claim that is shared by MPS, by its namespace and name, with one object of each user."""
    found: dict[tuple[str, str], dict[int, str]] = {}
    for each in objects.known(*_CLAIM).values():
        ways = [way for way in values_at(each, _SHARING) if isinstance(way, dict) and way.get("strategy") == "MPS"]
        if ways and "multi" not in str(ways).lower():
            metadata = paths.metadata(each)
            found[paths.text(metadata.get("namespace")) or namespace, paths.text(metadata.get("name"))] = {}
    # Pods stand only among the objects of their own file.
    for within, value in (*objects.all(), *of_file.all()) if found else ():
        for spec, path, _ in pod_specs(value):
            for _, name, user in _users_of_claims(spec, path):
                title = f"{value.get('kind')} {paths.text(paths.metadata(value).get('name'))[:100]}"
                found.get((within, name), {}).setdefault(user, title)
    return found


def _users_of_claims(spec: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, int]]:
    """The claims by name of a pod, with the place and the user of each container that uses one, where it says it."""
    named = [each for each in paths.elements(spec.get("resourceClaims")) if isinstance(each, dict)]
    claims = {paths.text(each.get("name")): paths.text(each.get("resourceClaimName")) for each in named}
    for where, container in at(spec, "containers[]", path) if any(claims.values()) else ():
        holders: tuple[tuple[Any, str], ...] = ((container, where), (spec, path))
        for holder, place in holders:
            context = known_keys.part_at(holder, "/securityContext")
            if isinstance(user := context.get("runAsUser"), int):
                used = texts_at(container, "resources.claims[].name")
                yield from (
                    (f"{place}/securityContext/runAsUser", claims[each], user) for each in used if claims.get(each)
                )
                break
