"""Disks in the right zone, claims, machines, room of a gang: needs of pods that nodes or other pods do not meet."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from usher import errors, memo, model, paths, quantities
from usher.kinds.reading import known_keys
from usher.kinds.reading.environment import misread, near
from usher.kinds.reading.value_forms import (
    DISKS,
    PodSpec,
    at,
    is_default_class,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Lookup, Objects, Reference, claim_template_of_domain

Found = Iterator[model.UnreadKey]
_ASKED: Final = "containers[].resources.limits^"
_ZONE: Final = "topology.kubernetes.io/zone"
_ARCHITECTURE: Final = "kubernetes.io/arch"


def beside_others(value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]], objects: Objects) -> Found:
    """Disks and machines of other objects that the pods of an object cannot use.

    Args:
        devices: the labels of the nodes that offer a device, by its name.
    """
    if objects.names(*_DOMAINS):
        yield from _channels_of_domains(value, objects)
    if value.get("kind") == "PersistentVolumeClaim":
        yield from _never_bound(value, objects)
    yield from _of_pods_alone(value, objects)
    if devices:
        yield from _volumes_in_other_zones(value, devices, objects)
        yield from _disks_before_their_pods(value, devices, objects)
    if drivers := objects.once("drivers that keep groups", lambda: frozenset(_keeping_groups(objects))):
        yield from _groups_without_effect(value, drivers, objects)
    nodes = objects.once("labels of each node", lambda: _labels_of_nodes(objects))
    yield from _agents_for_other_machines(value, nodes)


_FOR_ONE: Final = {"rocm/k8s-device-plugin": "amd64", "nvidia/k8s-device-plugin:1.0.0-beta4": "amd64"}
"""Images of Docker Hub for one architecture alone (ROCm/k8s-device-plugin#151, NVIDIA/k8s-device-plugin#155)."""


def _agents_for_other_machines(value: paths.Object, nodes: Sequence[Mapping[str, Any]]) -> Found:
    """Images for one architecture that a selector sends to nodes of another one; `nodes` are the labels of nodes."""
    for spec, path, _ in pod_specs(value) if nodes else ():
        chosen = paths.mapping(spec.get("nodeSelector"))
        for where, image in texts_with_paths(spec, "{initContainers,containers}[].image", path):
            plain = image.removeprefix("docker.io/")
            made = next((own for name, own in _FOR_ONE.items() if f"{plain}:".startswith((f"{name}:", f"{name}@"))), "")
            selected = (labels for labels in nodes if made and chosen.items() <= labels.items())
            others = {str(labels.get(_ARCHITECTURE, made)) for labels in selected}
            if others and made not in others:
                other = min(others)[:20]
                text = f"runs {image[:100]}, which is for {made} alone, and the nodes that it selects are {other}"
                remedy = f"build the image for {other}, or add {_ARCHITECTURE}: {made} to the nodeSelector"
                yield misread(where, text, remedy, "agent")


def _labels_of_nodes(objects: Objects) -> list[Mapping[str, Any]]:
    return [known_keys.part_at(each, "/metadata/labels") for each in objects.known("", "Node").values()]


def _keeping_groups(objects: Objects) -> Iterator[str]:
    """The drivers of volumes whose group the kubelet does not change (kubernetes.io, CSIDriver, fsGroupPolicy)."""
    for name, driver in objects.known("storage.k8s.io", "CSIDriver").items():
        if known_keys.part_at(driver, "/spec").get("fsGroupPolicy") == "None":
            yield name


def _groups_without_effect(value: paths.Object, drivers: Collection[str], objects: Objects) -> Found:
    """Users who write to a volume by the group of their pod, which the driver of the volume does not give it.

    A new volume belongs to root, unless its driver does otherwise (defilantech/LLMKube#855).
    """
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        group = paths.mapping(spec.get("securityContext")).get("fsGroup")
        claims = texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path)
        for where, name in claims if isinstance(group, int) else ():
            found = objects.find(Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=namespace))
            claim: Mapping[str, Any] = {} if isinstance(found, Absence) else known_keys.part_at(found, "/spec")
            class_ = objects.known("storage.k8s.io", "StorageClass").get(str(claim.get("storageClassName")), {})
            driver = str(class_.get("provisioner"))
            writer = _first_writer(spec, name) if driver in drivers and not claim.get("volumeName") else None
            if writer is not None:
                text = f"lets the user {writer[1]} of {writer[0][:60]} write to {name[:60]} by fsGroup {group}, and "
                text += f"{driver[:80]} gives its volumes no group by its fsGroupPolicy, so a new volume stays root's"
                remedy = (
                    "prepare the directory in an init container as root, or set fsGroupPolicy: File in the CSIDriver"
                )
                yield misread(where, text, remedy, "controller")


def _first_writer(spec: Mapping[str, Any], claim: str) -> tuple[str, int] | None:
    """The first container that mounts a claim and its user; None if that may be root, who can prepare the volume."""
    mounted = {
        each.get("name")
        for each in map(paths.mapping, values_at(spec, "volumes[]"))
        if isinstance(each.get("name"), str)
        and paths.mapping(each.get("persistentVolumeClaim")).get("claimName") == claim
    }
    of_pod = paths.mapping(spec.get("securityContext")).get("runAsUser")
    for container in map(paths.mapping, [*values_at(spec, "initContainers[]"), *values_at(spec, "containers[]")]):
        mounts = [paths.mapping(each) for each in values_at(container, "volumeMounts[]")]
        mounts = [each for each in mounts if isinstance(each.get("name"), str) and each["name"] in mounted]
        user = paths.mapping(container.get("securityContext")).get("runAsUser", of_pod)
        if not mounts or (user and all(each.get("readOnly") for each in mounts)):
            continue
        return (paths.text(container.get("name")), user) if isinstance(user, int) and user > 0 else None
    return None


def _volumes_in_other_zones(
    value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]], objects: Objects
) -> Found:
    """Pods whose volume is in a zone without a known node that offers their devices."""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        claims = list(texts_with_paths(spec, "volumes[].persistentVolumeClaim.claimName", path))
        for device in texts_at(spec, _ASKED) if claims else ():
            zones = _zones_of_device(spec, device, devices)
            for where, name in claims if zones and "" not in zones else ():
                of_volume, is_early = _zones_of_claim(namespace, name, objects)
                if of_volume and zones.isdisjoint(of_volume):
                    text = (
                        f"mounts {name[:60]}, whose volume is in {', '.join(sorted(of_volume))[:80]}, but the known "
                        f"nodes with {device} are in {', '.join(sorted(zones))[:80]}"
                    )
                    remedy = "make the volume in a zone of these nodes"
                    if is_early:
                        remedy = "make a new claim of a StorageClass with volumeBindingMode WaitForFirstConsumer"
                    yield misread(where, text, remedy, "controller")


def _zones_of_device(
    spec: Mapping[str, Any], device: str, devices: Mapping[str, Sequence[Mapping[str, Any]]]
) -> set[str]:
    """The zones of the known nodes that offer a device and that a pod selects; an empty one for an unknown zone."""
    chosen = paths.mapping(spec.get("nodeSelector"))
    return {str(each.get(_ZONE, "")) for each in devices.get(device, ()) if chosen.items() <= each.items()}


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
                    text += (
                        f"{len(all_zones)} zones, but the known nodes with {device} are in {', '.join(sorted(zones))}"
                    )
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


def _zones_of_claim(namespace: str, name: str, objects: Objects) -> tuple[Collection[str], bool]:
    """The zones in which the volume of a claim can be, and whether its StorageClass made it before its pods.

    The zones are empty where neither the files nor the facts say them.
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
        if str(each.get("key")).endswith("zone") and each.get("operator", "In") == "In"
        for zone in texts_at(each, "values[]")
    }
    return zones, bool(volume and class_) and class_.get("volumeBindingMode", "Immediate") == "Immediate"


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


_DOMAINS: Final = ("resource.nvidia.com", "ComputeDomain")
_CHANNELS: Final = "spec.channel.resourceClaimTemplate.name"


def _channels_of_domains(value: paths.Object, objects: Objects) -> Found:
    """Templates of channels that a ComputeDomain cannot make, and claims by them that get no channel.

    Its controller makes the template in its own namespace (compute-domain-controller of dra-driver-nvidia-gpu).
    """
    name, namespace = paths.text(paths.metadata(value).get("name")), paths.text(paths.metadata(value).get("namespace"))
    if value.get("kind") == _DOMAINS[1]:
        for where, template in texts_with_paths(value, _CHANNELS):
            others = [each for each in objects.of_kind(*_DOMAINS, namespace) if template in texts_at(each, _CHANNELS)]
            other = next((each for each in map(_name, others) if each < name), "")
            templates = objects.of_kind("resource.k8s.io", "ResourceClaimTemplate", namespace)
            made = [each for each in templates if each != claim_template_of_domain(value)]
            if other or template in map(_name, made):
                who = f"ComputeDomain {other[:80]} makes too" if other else "these files have too"
                text = f"makes the template {template[:80]}, which {who}, so its controller fails to make it"
                remedy = "name another template" if other else "remove the template, because the controller makes it"
                yield misread(where, text, remedy, "controller")
        return
    homes = objects.once("namespaces of channels", lambda: _homes_of_channels(objects))
    for spec, path, _ in pod_specs(value):
        used = texts_at(spec, "{containers,initContainers}[].resources.claims[].name")
        for where, claim in at(spec, "resourceClaims[]", path):
            named = paths.mapping(claim)
            template, own = paths.text(named.get("resourceClaimTemplateName")), paths.text(named.get("name"))
            known = homes.get(template, set())
            if namespace and known and "" not in known and namespace not in known:
                text = f"claims a channel by {template[:80]}, which a ComputeDomain makes in {min(known)[:80]}"
                remedy = f"make a ComputeDomain in {namespace[:80]}"
                yield misread(f"{where}/resourceClaimTemplateName", text, remedy, "controller")
            elif known and own not in used:
                text = f"claims a channel of NVLink between nodes as {own[:80]}, and no container uses it or gets it"
                yield misread(where, text, "name the claim in resources.claims of the container", "controller")


def _name(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("name"))


def _homes_of_channels(objects: Objects) -> Mapping[str, set[str]]:
    """The namespaces of the templates that ComputeDomains make; an empty one where the files do not say it."""
    found = defaultdict[str, set[str]](set)
    for namespace, each in objects.in_namespaces(*_DOMAINS):
        for template in texts_at(each, _CHANNELS):
            found[template].add(namespace)
    return found


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


def amount_in(written: Sequence[object]) -> int | None:
    """The first quantity of these values in billionths; None if it is missing or no quantity."""
    try:
        return quantities.parse(written[0]).nanos if written else None
    except errors.QuantityError:
        return None


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


_TASK_GROUP: Final = "yunikorn.apache.org/task-group-name"
_TASK_GROUPS: Final = "yunikorn.apache.org/task-groups"
_NEEDS: Final = ("name", "minMember", "minResource")


def task_groups(value: paths.Object, annotations: Sequence[tuple[str, Mapping[str, Any]]]) -> Found:
    """Task groups of YuniKorn that make no gang, and pods for which their placeholders do not keep room.

    Sources: pkg/cache/utils.go and placeholder.go of apache/yunikorn-k8shim; tryPlaceholderAllocate in
    pkg/scheduler/objects/application.go of apache/yunikorn-core.

    Args:
        annotations: those of pods and of templates of pods, each with its place.
    """
    written = [(where, each[_TASK_GROUPS]) for where, each in annotations if isinstance(each.get(_TASK_GROUPS), str)]
    if len(written) != 1:
        return
    where, text = written[0]
    groups, wrong = _groups_in(text)
    if wrong:
        yield misread(paths.join(where, _TASK_GROUPS), f"{wrong}, so YuniKorn makes no gang", _FORM, "controller")
    for where, each in annotations if groups else ():
        name = each.get(_TASK_GROUP)
        if not isinstance(name, str) or is_placeholder(name):
            continue
        place = paths.join(where, _TASK_GROUP)
        if name in groups:
            above = where.removesuffix("/metadata/annotations")
            spec = known_keys.part_at(value, f"{above}/spec")
            yield from _without_room(name[:60], groups[name], spec, place)
            continue
        message = f"has pods of the task group {name[:60]}, which its task-groups do not define; placeholders stay"
        like = near(name, groups, 0.6)
        remedy = f"did you mean {like}?" if like else f"name one of them ({', '.join(list(groups)[:5])})"
        yield misread(place, message, remedy, "controller")


_FORM: Final = """write [{"name": ..., "minMember": 4, "minResource": {"cpu": "8", "nvidia.com/gpu": "8"}}]"""


def _groups_in(text: str) -> tuple[Mapping[str, Mapping[str, Any]], str]:
    """The task groups in an annotation by name, with keys in small letters; or the mistake in it."""
    if any(each in text for each in ("{{", "${", "<")):
        return {}, ""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}, "has task-groups that are not JSON"
    if not isinstance(found, list):
        return {}, "has task-groups that are not a list"
    groups = [{str(key).lower(): each for key, each in paths.mapping(one).items()} for one in found]
    lack = next((need for each in groups for need in _NEEDS if each.get(need.lower()) in (None, "", 0)), "")
    if lack:
        return {}, f"has a task group without {lack}"
    return {str(each["name"]): each for each in groups}, ""


def needs_of_task_groups(annotations: Mapping[str, Any]) -> Mapping[str, quantities.Quantity]:
    """The amounts that all task groups of YuniKorn in the annotations of a pod need together."""
    found: defaultdict[str, quantities.Quantity] = defaultdict(lambda: quantities.ZERO)
    groups, _ = _groups_in(str(annotations.get(_TASK_GROUPS, "[]")))
    for each in groups.values():
        number = each["minmember"] if isinstance(each["minmember"], int) else 0
        for name, written in paths.mapping(each["minresource"]).items():
            found[name] += quantities.Quantity((amount_in([written]) or 0) * number)
    return found


def _without_room(name: str, group: Mapping[str, Any], spec: Mapping[str, Any], place: str) -> Found:
    """A task group whose placeholders are smaller than its pods, or may not be where its pods may be."""
    if spec.get("schedulerName", "yunikorn") != "yunikorn":
        return
    kept, asks = paths.mapping(group["minresource"]), requests_of(spec)
    asked = [(resource, amount) for resource, amount in asks.items() if amount > _parsed(kept.get(resource))]
    if asked:
        resource, amount = asked[0]
        message = (
            f"asks for {quantities.named(resource[:60], amount)} in a pod of the task group {name}, whose minResource "
            f"has {kept.get(resource, 'none')}, so YuniKorn cancels its placeholders and keeps no room for the gang"
        )
        needs = ", ".join(f"{one[:60]} {quantities.text(one, amount)}" for one, amount in asked[:4])
        yield misread(place, message, f"write in minResource what a pod asks for: {needs}", "controller")
    tolerated = [paths.mapping(each) for each in paths.elements(group.get("tolerations"))]
    keys = {paths.text(each.get("key")) for each in tolerated}
    for each in map(paths.mapping, paths.elements(spec.get("tolerations"))):
        key = paths.text(each.get("key"))
        # Admission controllers tolerate the taints of devices for all pods that ask for them, also for placeholders.
        if key and not keys & {"", key} and "kubernetes.io/" not in key and key not in asks and _keeps_off(each):
            message = (
                f"tolerates {key[:60]} in pods of the task group {name}, but its placeholders do not, so no node with "
                "this taint takes them, and the gang times out unless an admission controller adds the toleration"
            )
            yield misread(place, message, "write the same tolerations in the task group", "controller")
            break
    selected = paths.mapping(group.get("nodeselector"))
    for key, text in paths.mapping(spec.get("nodeSelector")).items():
        if key not in selected and "affinity" not in group:
            message = (
                f"selects nodes with {key[:60]}={str(text)[:60]} for pods of the task group {name}, but not for its "
                "placeholders, which may keep room on other nodes"
            )
            yield misread(place, message, "write the same nodeSelector in the task group", "controller")
            break


def _keeps_off(toleration: Mapping[str, Any]) -> bool:
    return toleration.get("effect", "NoSchedule") in ("NoSchedule", "NoExecute")


def _parsed(written: object) -> quantities.Quantity:
    """An amount; the largest one where usher cannot read it."""
    try:
        return quantities.parse(written) if written is not None else quantities.ZERO
    except errors.QuantityError:
        return quantities.Quantity(10**30)


def requests_of(spec: Mapping[str, Any]) -> Mapping[str, quantities.Quantity]:
    """The amounts that the containers of a pod ask for together."""
    found: defaultdict[str, quantities.Quantity] = defaultdict(lambda: quantities.ZERO)
    for each in map(paths.mapping, paths.elements(spec.get("containers"))):
        resources = paths.mapping(each.get("resources"))
        asked = {**paths.mapping(resources.get("limits")), **paths.mapping(resources.get("requests"))}
        for name, written in asked.items():
            try:
                found[name] += quantities.parse(written)
            except errors.QuantityError:
                continue
    return found
