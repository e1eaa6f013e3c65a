"""Disks, claims of them and images on them: what pods do not get, and what classes and drivers do not make."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from usher import memo, model, paths
from usher.kinds.reading import known_keys, mounts
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import (
    DISKS,
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference, amount_in

Found = Iterator[model.UnreadKey]
_ASKED: Final = "containers[].resources.limits^"
_ZONE: Final = "topology.kubernetes.io/zone"
_HOST: Final = "kubernetes.io/hostname"
_IN: Final = {_ZONE: "in", _HOST: "on"}


_Devices = Mapping[str, Sequence[Mapping[str, Any]]]


def beside_others(value: paths.Object, key: tuple[str, str], devices: _Devices, objects: Objects) -> Found:
    """Disks of other objects that the pods of an object cannot use.

    Args:
        devices: the labels of the nodes that offer a device, by its name.
    """
    if value.get("kind") == "PersistentVolumeClaim":
        yield from _never_bound(value, objects)
    yield from _of_pods_alone(value, objects)
    yield from mounts.beside_others(value, key, objects)
    yield from _volumes_in_two_zones(value, objects)
    yield from _disks_of_two_roles(value, objects)
    if devices:
        yield from _volumes_in_other_zones(value, devices, objects)
        yield from _disks_before_their_pods(value, devices, objects)
    if drivers := objects.once("drivers that keep groups", lambda: frozenset(_drivers(objects, "None"))):
        yield from _groups_without_effect(value, drivers, objects)
    if drivers := objects.once("drivers that change groups", lambda: frozenset(_drivers(objects, "File"))):
        yield from _groups_of_every_file(value, drivers, objects)
    yield from _claims_of_no_class(value, key, objects)


_TOGETHER: Final = frozenset({"RayCluster", "RayJob", "RayService", "PyTorchJob", "TFJob", "MPIJob"})
"""Kinds whose roles run at the same time."""


def _disks_of_two_roles(value: paths.Object, objects: Objects) -> Found:
    """Disks of one node that the only pods of several roles mount; USH1112 has several pods of one role."""
    if value.get("kind") not in _TOGETHER:
        return
    namespace = paths.text(paths.metadata(value).get("namespace"))
    first: dict[str, str] = {}
    for spec, path, _ in pod_specs(value):
        role = paths.mapping(paths.resolve(value, path.removesuffix("/template/spec")))
        near = paths.mapping(spec.get("affinity")).get("podAffinity") or _HOST in paths.mapping(
            spec.get("nodeSelector")
        )
        for where, name in texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path):
            other = first.setdefault(name, path)
            found = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=namespace))
            is_shared = other != path and role.get("replicas", 1) == 1 and not near and not is_placeholder(name)
            if (
                is_shared
                and isinstance(found, dict)
                and set(texts_at(found, "spec.accessModes[]")) == {"ReadWriteOnce"}
            ):
                text = (
                    f"mounts {name[:60]} (ReadWriteOnce) in pods of two roles, and those on one node alone can mount it"
                )
                remedy = "use a disk that several nodes can mount, so that the pods on other nodes do not wait"
                yield misread(where, text, remedy, "controller")
                return


def _drivers(objects: Objects, policy: str) -> Iterator[str]:
    """The drivers of volumes by their fsGroupPolicy: None keeps the groups of files, File changes each of them
    (kubernetes.io, CSIDriver).
    """
    for name, driver in objects.known("storage.k8s.io", "CSIDriver").items():
        if known_keys.part_at(driver, "/spec").get("fsGroupPolicy") == policy:
            yield name


_LARGE: Final = 1024**4 * 10**9
"""One TiB, in billionths of a byte."""


def _groups_of_every_file(value: paths.Object, drivers: Collection[str], objects: Objects) -> Found:
    """Large shared volumes whose files all get the group of the pod at each of its starts (kubernetes#69699).

    A row of known_keys.yaml is about those of one node, whose file systems have no policy of their own.
    """
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        context = paths.mapping(spec.get("securityContext"))
        is_slow = isinstance(context.get("fsGroup"), int) and context.get("fsGroupChangePolicy") is None
        claims = texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path)
        for where, name in claims if is_slow else ():
            claim, driver = _claim_and_driver(name, namespace, objects)
            size = amount_in(values_at(claim, "resources.requests.storage"))
            if driver in drivers and "ReadWriteMany" in texts_at(claim, "accessModes[]") and size and size >= _LARGE:
                text = (
                    f"sets fsGroup for {name[:60]}, and {driver[:80]} (fsGroupPolicy File) has the kubelet change the "
                )
                text += "group of each of its files before a pod starts"
                yield misread(where, text, "set fsGroupChangePolicy: OnRootMismatch", "controller")
                return


def _claim_and_driver(name: str, namespace: str, objects: Objects) -> tuple[Mapping[str, Any], str]:
    """The spec of a claim, and the driver of its class; empty where they are unknown."""
    found = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=namespace))
    claim: Mapping[str, Any] = {} if isinstance(found, Absence) else known_keys.part_at(found, "/spec")
    class_ = objects.known("storage.k8s.io", "StorageClass").get(str(claim.get("storageClassName")), {})
    return claim, paths.text(class_.get("provisioner"))


def _groups_without_effect(value: paths.Object, drivers: Collection[str], objects: Objects) -> Found:
    """Users who write to a volume by the group of their pod, which the driver of the volume does not give it.

    A new volume belongs to root, unless its driver does otherwise (defilantech/LLMKube#855).
    """
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        group = paths.mapping(spec.get("securityContext")).get("fsGroup")
        claims = texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path)
        for where, name in claims if isinstance(group, int) else ():
            claim, driver = _claim_and_driver(name, namespace, objects)
            writer = (
                mounts.first_writer(spec, _volumes_of(spec, name))
                if driver in drivers and not claim.get("volumeName")
                else None
            )
            if writer is not None:
                text = f"lets the user {writer[1]} of {writer[0][:60]} write to {name[:60]} by fsGroup {group}, and "
                text += f"{driver[:80]} gives its volumes no group by its fsGroupPolicy, so a new volume stays root's"
                remedy = "prepare the folder in an init container as root, or set fsGroupPolicy: File in the CSIDriver"
                yield misread(where, text, remedy, "controller")


def _volumes_of(spec: Mapping[str, Any], claim: str) -> set[str]:
    """The names of the volumes of a pod that are a claim."""
    return {
        paths.text(each.get("name"))
        for each in map(paths.mapping, values_at(spec, "volumes[]"))
        if paths.mapping(each.get("persistentVolumeClaim")).get("claimName") == claim
    }


def _volumes_in_other_zones(
    value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]], objects: Objects
) -> Found:
    """Pods whose volume is in a zone, or on a node, without a known node that offers their devices."""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        claims = list(texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path))
        for device, key in itertools.product(texts_at(spec, _ASKED) if claims else (), (_ZONE, _HOST)):
            zones = _zones_of_device(spec, device, devices, key)
            for where, name in claims if zones and "" not in zones else ():
                of_volume, is_early = _zones_of_claim(namespace, name, objects, key)
                if of_volume and zones.isdisjoint(of_volume):
                    text = (
                        f"mounts {name[:60]}, whose volume is {_IN[key]} {_listed(of_volume)}, but the known nodes "
                        f"with {device} are {'in ' if key == _ZONE else ''}{_listed(zones)}"
                    )
                    remedy = f"make the volume {'in a zone' if key == _ZONE else 'on one'} of these nodes"
                    if is_early:
                        remedy = "make a new claim of a StorageClass with volumeBindingMode WaitForFirstConsumer"
                    yield misread(where, text, remedy, "controller")


def _volumes_in_two_zones(value: paths.Object, objects: Objects) -> Found:
    """Pods with volumes of several zones or nodes, and with disks that are made before the pods are placed."""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        claims = list(texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path))
        made = texts_with_paths(value, "spec.volumeClaimTemplates[].metadata.name")
        claims += [(where, f"{name}-{paths.metadata(value).get('name')}-0") for where, name in made]
        for key in (_ZONE, _HOST) if claims else ():
            known = [(where, name, _zones_of_claim(namespace, name, objects, key)[0]) for where, name in claims]
            found = next(_apart(spec, [each for each in known if each[2]], key), None)
            if found is not None:
                yield found
                return
        yield from _disks_of_any_zone(namespace, claims, objects)
        yield from _claims_without_scheduler(spec, namespace, claims, objects)


def _apart(spec: Mapping[str, Any], zoned: Sequence[tuple[str, str, set[str]]], key: str) -> Found:
    wanted = str(paths.mapping(spec.get("nodeSelector")).get(key, ""))
    wanted = wanted or (str(spec.get("nodeName", "")) if key == _HOST else "")
    for where, name, zones in zoned:
        first = next((each for each in zoned if zones.isdisjoint(each[2])), None)
        if first is not None and first[0] < where:
            text = f"mounts {first[1][:60]}, whose volume is {_IN[key]} {_listed(first[2])}, and {name[:60]}, whose "
            text += f"volume is {_IN[key]} {_listed(zones)}, and no node can mount both"
            yield misread(where, text, "make both volumes in one zone, or use storage of all zones", "controller")
        if wanted and wanted not in zones and not is_placeholder(wanted):
            text = f"selects {wanted[:60]} and mounts {name[:60]}, whose volume is {_IN[key]} {_listed(zones)}"
            yield misread(where, text, "select where the volume is, or make a volume there", "controller")


def _claims_without_scheduler(
    spec: Mapping[str, Any], namespace: str, claims: Sequence[tuple[str, str]], objects: Objects
) -> Found:
    """Claims that wait for the scheduler to place a pod, which names its node itself (kubernetes.io, nodeName)."""
    for where, name in claims if isinstance(spec.get("nodeName"), str) else ():
        class_ = objects.known("storage.k8s.io", "StorageClass").get(_class_of_unbound(namespace, name, objects), {})
        if class_.get("volumeBindingMode") == "WaitForFirstConsumer":
            text = f"names its node by nodeName, so no scheduler places it, and {name[:60]} waits for one that does"
            remedy = f"select the node by {_HOST} in nodeSelector, and remove nodeName"
            yield misread(where, f"{text} (WaitForFirstConsumer)", remedy, "controller")


def _listed(zones: Collection[str]) -> str:
    return ", ".join(sorted(zones))[:80]


def _disks_of_any_zone(namespace: str, claims: Sequence[tuple[str, str]], objects: Objects) -> Found:
    """Two disks that are made each in any zone before their pod is placed.

    Claims with a number at their end are left out, because provisioners give those of one StatefulSet one zone.
    """
    named = [each for each in claims if not re.search(r"-\d+$", each[1])]
    early = [(*each, class_) for each in named if (class_ := _early_class(namespace, each[1], objects))]
    nodes = objects.known("", "Node").values()
    zones = objects.once("zones of nodes", lambda: frozenset(map(_zone, nodes))) - {""}
    if len({name for _, name, _ in early}) > 1 and (len(zones) > 1 or not nodes):
        where, name, class_ = early[1]
        text = (
            f"mounts {early[0][1][:60]} and {name[:60]}, and the StorageClass {class_[:60]} makes each disk at once, "
        )
        text += "in any zone, so they may be in two zones, and then no node can mount both"
        yield misread(where, text, "use a StorageClass with volumeBindingMode WaitForFirstConsumer", "controller")


def _early_class(namespace: str, name: str, objects: Objects) -> str:
    """The StorageClass that makes the disk of a claim at once and in any zone; empty for other and bound claims."""
    named = _class_of_unbound(namespace, name, objects)
    made = objects.known("storage.k8s.io", "StorageClass").get(named, {})
    early = made.get("volumeBindingMode", "Immediate") == "Immediate" and "allowedTopologies" not in made
    zonal = made.get("provisioner") in DISKS and made.get("provisioner") != "rancher.io/local-path"
    return named if made and early and zonal else ""


def _class_of_unbound(namespace: str, name: str, objects: Objects) -> str:
    """The StorageClass that a claim names; empty for one that has its volume."""
    claim = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=namespace))
    spec: Mapping[str, Any] = {} if isinstance(claim, Absence) else known_keys.part_at(claim, "/spec")
    bound = spec.get("volumeName") or (namespace, name) in _bound(objects)
    return "" if bound else str(spec.get("storageClassName", ""))


def _zones_of_device(
    spec: Mapping[str, Any], device: str, devices: Mapping[str, Sequence[Mapping[str, Any]]], key: str = _ZONE
) -> set[str]:
    """The zones of the known nodes that offer a device and that a pod selects; an empty one for an unknown zone."""
    chosen = paths.mapping(spec.get("nodeSelector"))
    return {str(each.get(key, "")) for each in devices.get(device, ()) if chosen.items() <= each.items()}


def _disks_before_their_pods(
    value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]], objects: Objects
) -> Found:
    """Disks that a StorageClass makes before their pods are placed, in any zone, though few zones have their devices.

    The volume stays in its zone (kubernetes.io, storage classes, volume binding mode).
    """
    classes = objects.known("storage.k8s.io", "StorageClass")
    all_zones = objects.once("zones of nodes", lambda: frozenset(map(_zone, objects.known("", "Node").values()))) - {""}
    for spec, path, _ in pod_specs(value) if classes and all_zones else ():
        for device in texts_at(spec, _ASKED):
            zones = _zones_of_device(spec, device, devices)
            if not zones or "" in zones or not zones < all_zones:
                continue
            for where, name in _classes_named(value, spec, path, objects):
                named = [name] if name in classes else [each for each in classes if is_default_class(classes[each])]
                made = classes[named[0]] if len(named) == 1 and (name in classes or not name) else {}
                early = made.get("volumeBindingMode", "Immediate") == "Immediate" and "allowedTopologies" not in made
                if early and made.get("provisioner") in DISKS:
                    text = f"gets a disk of the StorageClass {named[0][:60]} before it is placed, in any of "
                    text += f"{len(all_zones)} zones, but the known nodes with {device} are in {_listed(zones)}"
                    remedy = "set volumeBindingMode to WaitForFirstConsumer in the StorageClass, or use one that has it"
                    yield misread(where, text[:400], remedy, "controller")
                    return


def _zone(node: paths.Object) -> str:
    return paths.text(known_keys.part_at(node, "/metadata/labels").get(_ZONE))


def _classes_named(
    value: paths.Object, spec: Mapping[str, Any], path: str, objects: Objects
) -> Iterator[tuple[str, str]]:
    """The StorageClasses of the claims that pods make or mount, each with its place; empty for the default."""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    made = [
        *at(spec, "volumes[].ephemeral.volumeClaimTemplate.spec", path),
        *at(value, "spec.volumeClaimTemplates[].spec"),
    ]
    for where, name in texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path):
        found = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=namespace))
        claim = {} if isinstance(found, Absence) else known_keys.part_at(found, "/spec")
        has_volume = claim.get("volumeName") or (namespace, name) in _bound(objects)
        made += [(where, claim)] if claim and not has_volume else []
    for where, claim in made:
        if isinstance(claim, dict) and isinstance(claim.get("storageClassName", ""), str):
            yield where, str(claim.get("storageClassName", ""))


def _bound(objects: Objects) -> Mapping[tuple[str, str], paths.Object]:
    """The known volumes that have a claim, by its namespace and its name."""

    def read() -> Mapping[tuple[str, str], paths.Object]:
        volumes = objects.known("", "PersistentVolume").values()
        bound = (each for each in volumes if known_keys.part_at(each, "/status").get("phase") == "Bound")
        claims = ((known_keys.part_at(each, "/spec/claimRef"), each) for each in bound)
        return {(paths.text(claim.get("namespace")), paths.text(claim.get("name"))): each for claim, each in claims}

    return objects.once("volumes of claims", read)


def _zones_of_claim(namespace: str, name: str, objects: Objects, key: str) -> tuple[set[str], bool]:
    """The zones or nodes where the volume of a claim can be, and whether its StorageClass made it before its pods.

    They are empty where neither the files nor the facts say them.
    """
    claim = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=namespace))
    spec: Mapping[str, Any] = {} if isinstance(claim, Absence) else known_keys.part_at(claim, "/spec")
    volumes = objects.known("", "PersistentVolume")
    volume = volumes.get(str(spec.get("volumeName"))) or _bound(objects).get((namespace, name), {})
    classes = objects.known("storage.k8s.io", "StorageClass")
    class_ = classes.get(str(spec.get("storageClassName")), {}) if spec else {}
    entries = [
        *values_at(volume, "spec.nodeAffinity.required.nodeSelectorTerms[].matchExpressions[]"),
        *values_at(class_, "allowedTopologies[].matchLabelExpressions[]"),
    ]
    zones = {
        zone
        for each in map(paths.mapping, entries)
        if str(each.get("key")).endswith("zone" if key == _ZONE else _HOST) and each.get("operator", "In") == "In"
        for zone in texts_at(each, "values[]")
    }
    return zones, bool(volume and class_) and class_.get("volumeBindingMode", "Immediate") == "Immediate"


def _never_bound(value: paths.Object, objects: Objects) -> Found:
    """A claim of a certain volume that the controller of volumes does not bind to it.

    Source: checkVolumeSatisfyClaim in pkg/controller/volume/persistentvolume of Kubernetes.
    """
    claim = known_keys.part_at(value, "/spec")
    name = paths.text(claim.get("volumeName"))
    volume = known_keys.part_at(objects.known("", "PersistentVolume").get(name, {}), "/spec")
    if not volume:
        return
    mine, theirs = claim.get("storageClassName"), volume.get("storageClassName", "")
    offered = texts_at(volume, "accessModes[]")
    modes = [each for each in texts_at(claim, "accessModes[]") if each not in offered]
    asked, has = (
        amount_in(values_at(claim, "resources.requests.storage")),
        amount_in(values_at(volume, "capacity.storage")),
    )
    text, place, remedy = "", "", ""
    if isinstance(mine, str) and mine != theirs and isinstance(theirs, str):
        text = f"has the class {mine[:60]!r} and names the volume {name[:60]} of the class {theirs[:60]!r}"
        place, remedy = "storageClassName", f"set storageClassName to {theirs[:60]!r}"
    elif modes and offered:
        text = f"wants {modes[0][:40]} of the volume {name[:60]}, which has {', '.join(offered)[:80]}"
        place, remedy = "accessModes", "ask for a mode that the volume has"
    elif asked is not None and has is not None and asked > has:
        text = f"asks for more than the volume {name[:60]} has"
        place, remedy = "resources/requests/storage", "ask for at most the capacity of the volume"
    if text:
        yield misread(f"/spec/{place}", f"{text}, so the two never bind", remedy, "controller")


_KEPT_IN_STEP: Final = memo.pattern(r"reflect|replicat|kubed|emberstack|syncer")
"""Words of annotations of Secrets that a controller copies to other namespaces."""


def _of_pods_alone(value: paths.Object, objects: Objects) -> Found:
    """Scratch volumes above the limits of their pod, and pull secrets that only other namespaces have.

    The kubelet compares all that a pod writes on the disk of its node with the sum of the limits of ephemeral-storage
    of its containers (podEphemeralStorageLimitEviction in pkg/kubelet/eviction of Kubernetes).
    """
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        limits = [amount_in([each]) for each in values_at(spec, "containers[].resources.limits.ephemeral-storage")]
        known = [each for each in limits if each is not None]
        for where, scratch in at(spec, "volumes[].emptyDir", path) if known and len(known) == len(limits) else ():
            size = amount_in(values_at(scratch, "sizeLimit"))
            if size is not None and size > sum(known) and paths.mapping(scratch).get("medium", "") == "":
                text = "lets a volume grow to "
                text += f"{str(scratch['sizeLimit'])[:20]}, above the limits of ephemeral-storage of its containers, "
                text += "and the kubelet ends the pod when the volume and its logs together exceed them"
                remedy = "raise the limit of ephemeral-storage above sizeLimit, or leave the limit out"
                yield misread(f"{where}/sizeLimit", text, remedy, "controller")
        for where, name in texts_with_paths(spec, "imagePullSecrets[].name", path):
            homes = objects.namespaces("", "Secret", name) if namespace else ()
            if not homes or "" in homes or namespace in homes:
                continue
            found = objects.find(Reference(group="", kind="Secret", name=name, namespace=homes[0]))
            copied = not isinstance(found, Absence) and _KEPT_IN_STEP.search(str(paths.metadata(found)))
            if not copied:
                text = f"names the Secret {name[:80]} in imagePullSecrets, which these files have in {homes[0][:80]}"
                remedy = f"make it in {namespace[:80]} too"
                yield misread(where, f"{text}, and a kubelet reads those of the pod's namespace", remedy, "controller")


_CLASS: Final = ("storage.k8s.io", "StorageClass")
_CLAIMS: Final = (
    "spec.volumeClaimTemplates[].spec spec{,.template.spec,.jobTemplate.spec.template.spec}.volumes[].ephemeral"
    ".volumeClaimTemplate.spec"
)
_DEFAULT: Final = "is-default-class"
_MADE: Final = "spec{,.services[].spec}.storage.pvc spec.pvcs[]"
"""Claims that operators of NVIDIA make (api/apps/v1alpha1/common_types.go of k8s-nim-operator, api of dynamo)."""


def _claims(value: paths.Object, key: tuple[str, str]) -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """The specs of the claims that an object is or makes, each with its place and its fields of class and modes."""
    for where, claim in at(value, "spec" if key == ("", "PersistentVolumeClaim") else _CLAIMS):
        yield where, paths.mapping(claim), "storageClassName", "accessModes"
    for where, claim in at(value, _MADE) if key[0] in ("apps.nvidia.com", "nvidia.com") else ():
        if isinstance(claim, dict) and claim.get("create") is True:
            name, mode = claim.get("storageClass") or None, claim.get("volumeAccessMode")
            yield where, {"storageClassName": name, "accessModes": [mode]}, "storageClass", "volumeAccessMode"


def _claims_of_no_class(value: paths.Object, key: tuple[str, str], objects: Objects) -> Iterator[model.UnreadKey]:
    """Claims for which no StorageClass of the cluster makes a volume, and shared ones of disks of its default class.

    Without a name a claim gets the default class (kubernetes.io, persistent volumes, class); with an empty name or a
    volume it wants a volume that exists.
    """
    if not (classes := objects.known(*_CLASS)) or classes.keys() == objects.cluster_scoped(*_CLASS).keys():
        return  # the cluster may have others
    kept = objects.once("classes of volumes", lambda: _classes_of_volumes(objects))
    defaults = [name for name, each in classes.items() if is_default_class(each)]
    listed = ", ".join(sorted(classes)[:5])
    for where, spec, by_class, by_modes in _claims(value, key):
        name = spec.get("storageClassName")
        modes = paths.elements(spec.get("accessModes"))
        if spec.get("volumeName") or spec.get("selector") or not isinstance(name, str | None) or not modes:
            continue
        driver = paths.text(classes[defaults[0]].get("provisioner")) if len(defaults) == 1 else ""
        text, place = "", where
        if name is None and not defaults:
            text, remedy = f"names no {by_class}, and no known StorageClass is the default", f"name one: {listed}"
        elif name and name not in classes and name not in kept and not is_placeholder(name):
            text = f"names the StorageClass {name[:60]}, which the cluster does not have"
            remedy, place = f"name one that it has: {listed}; or make a volume of it", f"{where}/{by_class}"
        elif name is None and "ReadWriteMany" in modes and driver in DISKS and spec.get("volumeMode") != "Block":
            text = f"asks for ReadWriteMany, but one node alone mounts a file system of {driver}, the default here"
            remedy, place = "name a StorageClass of a shared file system", f"{where}/{by_modes}"
        if text:
            message = f"{text}, so its pods wait unless a volume for it exists"
            yield model.UnreadKey(path=place, text=message, remedy=remedy, important=False, topic="controller")


def is_default_class(storage_class: paths.Object) -> bool:
    given = paths.mapping(paths.metadata(storage_class).get("annotations"))
    return any(given.get(f"storageclass.{each}kubernetes.io/{_DEFAULT}") == "true" for each in ("", "beta."))


def _classes_of_volumes(objects: Objects) -> set[str]:
    volumes = objects.cluster_scoped("", "PersistentVolume").values()
    return {text for each in volumes for text in texts_at(each, "spec.storageClassName")}


_PULLED: Final = memo.pattern(
    r"\bollama\s+(?:pull|run)\s+[\"']?([\w./-]{1,80}:(\d{1,4}(?:\.\d)?)b(?![\w.-]*-i?q[123])[\w.-]{0,40})"
)
_LIFECYCLE: Final = "command[] args[] lifecycle.postStart.exec.command[]"


def pulled_by_ollama(spec: Mapping[str, Any], path: str, namespace: str, objects: Objects) -> Found:
    """Models of Ollama larger than the volume that keeps them; most have somewhat more than four bits for a weight."""
    for index, container in enumerate(paths.elements(spec.get("containers"))):
        text = " ".join(texts_at(container, _LIFECYCLE)) if "ollama" in str(container) else ""
        pulled = {(name, float(number) / 2) for name, number in _PULLED.findall(text)}
        mounts = [each for each in values_at(container, "volumeMounts[]") if isinstance(each, dict)]
        names = {
            paths.text(each.get("name")) for each in mounts if str(each.get("mountPath")).startswith("/root/.ollama")
        }
        volumes = [
            each for each in values_at(spec, "volumes[]") if paths.text(paths.mapping(each).get("name")) in names
        ]
        claims = texts_at(volumes, "[].persistentVolumeClaim.claimName")
        found = [
            objects.find(Reference(group="", kind="PersistentVolumeClaim", name=each, namespace=namespace))
            for each in claims
        ]
        sizes = values_at([each for each in found if isinstance(each, dict)], "[].spec.resources.requests.storage")
        sizes += values_at(volumes, "[].emptyDir.sizeLimit")
        most = min(((amount_in([each]) or 0) // 10**9 for each in sizes), default=0)
        for name, gigabytes in sorted(pulled):
            if 0 < most < gigabytes * 10**9:
                message = f"pulls {name}, which has more than {gigabytes:.0f} GB, into a volume of {most // 10**9} GB"
                yield misread(f"{path}/containers/{index}", message, "make the volume larger", "controller")
