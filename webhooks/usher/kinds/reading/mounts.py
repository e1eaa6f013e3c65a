"""Mounts of containers: volumes that drivers refuse, volumes in memory, and files of ConfigMaps."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from usher import model, paths
from usher.kinds.reading import known_keys
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import (
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference, amount_in

Found = Iterator[model.UnreadKey]


def beside_others(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Mounts that a driver refuses, volumes in memory, and files that a mounted ConfigMap lacks."""
    yield from _mounted_badly(value, key, objects)
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        yield from _scratch_in_memory(spec, path)
        yield from _files_of_config_maps(spec, path, namespace, objects)


class _Mounted(NamedTuple):
    """A volume of a pod that a driver mounts."""

    where: str
    volume: str
    """Its name in the pod."""
    claim: str
    """Empty for a volume that the pod describes itself."""
    is_read_only: bool
    name: str
    """The name of the PersistentVolume; empty for a volume that the pod describes itself."""
    driver: str
    handle: str
    attributes: Mapping[str, Any]
    options: str
    """All options of the mount."""


def _mounted(spec: Mapping[str, Any], path: str, namespace: str, objects: Objects) -> Iterator[_Mounted]:
    """The volumes of a pod whose driver is known: by its claims, or in the pod."""
    by_claim = objects.once("volumes by their claims", lambda: _volumes_by_claim(objects))
    for where, each in at(spec, "volumes[]", path):
        volume = paths.mapping(each)
        by_name = paths.mapping(volume.get("persistentVolumeClaim"))
        claim, source = paths.text(by_name.get("claimName")), paths.mapping(volume.get("csi"))
        kept = by_claim.get((namespace, claim), {}) if claim else {}
        whole = known_keys.part_at(kept, "/spec")
        source = source or paths.mapping(whole.get("csi"))
        if claim or source:
            attributes = paths.mapping(source.get("volumeAttributes"))
            options = [*texts_at(whole, "mountOptions[]"), str(attributes.get("mountOptions", ""))]
            yield _Mounted(
                where,
                paths.text(volume.get("name")),
                claim,
                bool(source.get("readOnly") or by_name.get("readOnly")),
                paths.text(paths.metadata(kept).get("name")),
                paths.text(source.get("driver")),
                paths.text(source.get("volumeHandle")),
                attributes,
                " ".join(options),
            )


def _volumes_by_claim(objects: Objects) -> Mapping[tuple[str, str], paths.Object]:
    """The volumes that a claim names, or that name a claim, by the namespace and the name of the claim."""
    found = {}
    volumes = objects.known("", "PersistentVolume")
    for volume in volumes.values():
        claim = known_keys.part_at(volume, "/spec/claimRef")
        found[paths.text(claim.get("namespace")), paths.text(claim.get("name"))] = volume
    for namespace, each in objects.in_namespaces("", "PersistentVolumeClaim"):
        named = volumes.get(str(known_keys.part_at(each, "/spec").get("volumeName")))
        if named is not None:
            found[namespace, paths.text(paths.metadata(each).get("name"))] = named
    return found


_ONE_HANDLE: Final = frozenset({
    "s3.csi.aws.com", "file.csi.azure.com", "blob.csi.azure.com", "nfs.csi.k8s.io", "smb.csi.k8s.io", "csi.juicefs.com",
})  # fmt: skip
"""Drivers whose documentation wants another volumeHandle for each volume; others name a file system by it."""


_FOR_ROOT: Final = {"s3.csi.aws.com": ("Mountpoint", "allow-other"), "blob.csi.azure.com": ("blobfuse", "allow_other")}


_BUCKETS: Final = "gcsfuse.csi.storage.gke.io"


def _mounted_badly(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Volumes that kubelets take for one, and buckets whose files the user of a pod cannot write.

    Sources: getUnmountedVolumes of the volume manager of kubelets, kubernetes/kubernetes#132921, #127004; pages about
    troubles of awslabs/mountpoint-s3-csi-driver; authentication.md of GoogleCloudPlatform/gcs-fuse-csi-driver.
    """
    if key == ("", "PersistentVolume"):
        yield from _handles_of_two_volumes(value, objects)
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value):
        mounted = list(_mounted(spec, path, namespace, objects))
        if not mounted:
            continue
        names = set(texts_at(spec, "{containers,initContainers}[].volumeMounts[].name"))
        yield from _taken_for_one([each for each in mounted if each.volume in names])
        for each in mounted:
            yield from _buckets_of_users(spec, each)


def _handles_of_two_volumes(value: paths.Object, objects: Objects) -> Found:
    def read() -> Mapping[tuple[str, str], str]:
        volumes = objects.known("", "PersistentVolume")
        named = ((name, known_keys.part_at(each, "/spec/csi")) for name, each in sorted(volumes.items(), reverse=True))
        return {(paths.text(each.get("driver")), paths.text(each.get("volumeHandle"))): name for name, each in named}

    source = known_keys.part_at(value, "/spec/csi")
    driver, handle = paths.text(source.get("driver")), paths.text(source.get("volumeHandle"))
    if driver in _ONE_HANDLE and handle and not is_placeholder(handle):
        first = objects.once("volumes by their handles", read).get((driver, handle), "")
        if first and first != paths.metadata(value).get("name"):
            text = (
                f"has the volumeHandle {handle[:80]}, as PersistentVolume {first[:80]} has, and kubelets take both for "
            )
            text += "one volume, so a pod that mounts both does not start"
            yield misread("/spec/csi/volumeHandle", text, "give each volume a volumeHandle of its own", "controller")


def _taken_for_one(mounted: Sequence[_Mounted]) -> Found:
    """Two volumes of a pod that are one claim, or whose volumes have one handle."""
    claims, handles = dict[str, _Mounted](), dict[tuple[str, str], _Mounted]()
    for each in mounted:
        if not each.claim or is_placeholder(each.claim):
            continue
        first = claims.setdefault(each.claim, each)
        if first is not each:
            text = (
                f"mounts the claim {each.claim[:60]} by two volumes, {first.volume[:40]} and {each.volume[:40]}, which "
            )
            text += "kubelets up to 1.34 take for one, so the pod waits for the other for ever"
            remedy = "keep one volume, and mount it several times, with subPath where folders differ"
            yield misread(each.where, text, remedy, "controller")
        elif each.handle:
            other = handles.setdefault((each.driver, each.handle), each)
            if other is not each and other.name != each.name:
                text = (
                    f"mounts {other.claim[:60]} and {each.claim[:60]}, whose PersistentVolumes have one volumeHandle, "
                )
                text += f"{each.handle[:60]}, so kubelets take them for one volume and the pod does not start"
                remedy = "give each PersistentVolume a volumeHandle of its own"
                yield misread(each.where, text, remedy, "controller")


def _buckets_of_users(spec: Mapping[str, Any], mounted: _Mounted) -> Found:
    """Buckets in pods whose user may not enter or change them, and in the network of the node."""
    if mounted.driver == _BUCKETS and spec.get("hostNetwork") is True and "hostNetworkPodKSA" not in mounted.attributes:
        text = "mounts a bucket by Cloud Storage FUSE in the network of its node, where GKE gives it no token of its "
        text += "ServiceAccount, so the bucket refuses it"
        remedy = 'set hostNetworkPodKSA: "true" in volumeAttributes (GKE 1.33 and later), or leave hostNetwork out'
        yield misread(mounted.where, text, remedy, "controller")
    if mounted.driver == "s3.csi.aws.com" and not mounted.is_read_only and (folder := _cache_at(spec, mounted.volume)):
        text = f"keeps its cache of models ({folder[:60]}) in a bucket by Mountpoint, which has no symbolic links and, "
        text += "but for directory buckets, no renames, by which the hub stores models, so a download into it fails"
        remedy = "put the cache on a file system, and copy models into the bucket as plain files"
        yield misread(mounted.where, text, remedy, "controller")
    has_group = isinstance(paths.mapping(spec.get("securityContext")).get("fsGroup"), int)
    writer = None if has_group else first_writer(spec, {mounted.volume})
    if writer is None:
        return
    user = f"the user {writer[1]} of {writer[0][:60]}"
    program, option = _FOR_ROOT.get(mounted.driver, ("", ""))
    if program and mounted.name and option not in mounted.options and "nfs" not in str(mounted.attributes).lower():
        text = f"mounts the bucket of {mounted.claim[:60]} for {user}, and {program} lets root alone in, unless "
        text += f"PersistentVolume {mounted.name[:60]} has the mount option {option} or the pod an fsGroup"
        yield misread(mounted.where, text, f"add the option {option} to mountOptions of the volume", "controller")
    elif mounted.driver == _BUCKETS and not mounted.is_read_only and "uid=" not in mounted.options:
        text = (
            f"mounts a bucket by Cloud Storage FUSE for {user}, and without fsGroup or the mount option uid its files "
        )
        text += "belong to root, so the user cannot write there"
        remedy = f"set fsGroup, or mountOptions uid={writer[1]},gid=...,file-mode=664,dir-mode=775"
        yield misread(mounted.where, text, remedy, "controller")


def _cache_at(spec: Mapping[str, Any], volume: str) -> str:
    """The folder of a volume where a container keeps its cache of models of the hub; empty for another one."""
    for container in map(paths.mapping, values_at(spec, "containers[]")):
        variables = [paths.mapping(each) for each in values_at(container, "env[]")]
        homes = {each.get("value") for each in variables if each.get("name") in ("HF_HOME", "HF_HUB_CACHE")}
        for mount in map(paths.mapping, values_at(container, "volumeMounts[]")):
            folder = paths.text(mount.get("mountPath"))
            is_cache = (
                folder.rstrip("/").endswith(("/.cache/huggingface", "/.cache/huggingface/hub")) or folder in homes
            )
            if mount.get("name") == volume and is_cache and mount.get("readOnly") is not True:
                return folder
    return ""


def _files_of_config_maps(spec: Mapping[str, Any], path: str, namespace: str, objects: Objects) -> Found:
    """Files that a program reads in the folder of a ConfigMap which has no key of this name."""
    sources = {
        paths.text(each.get("name")): paths.mapping(each.get("configMap"))
        for each in map(paths.mapping, values_at(spec, "volumes[]"))
    }
    if not any(sources.values()):
        return
    for where, container in at(spec, "{initContainers,containers}[]", path):
        mounts = [paths.mapping(each) for each in values_at(container, "volumeMounts[]")]
        folders = {paths.text(each.get("mountPath")).rstrip("/"): each for each in mounts}
        for folder, mount in folders.items():
            source = sources.get(paths.text(mount.get("name")), {})
            name = paths.text(source.get("name"))
            if (
                not name
                or not folder
                or {"items", "optional"} & source.keys()
                or {"subPath", "subPathExpr"} & mount.keys()
            ):
                continue
            found = objects.find(Reference(group="", kind="ConfigMap", name=name, namespace=namespace))
            keys = {} if isinstance(found, Absence) else {**_part(found, "/data"), **_part(found, "/binaryData")}
            named = re.compile(rf"(?<![\w.-]){re.escape(folder)}/([\w-]+(?:\.[\w-]+)+)(?![\w./*-])")
            for place, text in texts_with_paths(container, "command[] args[]", where) if keys else ():
                files = [each for each in named.findall(text[:_LONGEST]) if each not in keys]
                if files and f"{folder}/{files[0]}" not in folders:
                    message = f"reads {folder[:60]}/{files[0][:60]}, and the ConfigMap {name[:60]} mounted there has "
                    message += ", ".join(sorted(keys))[:80]
                    remedy = f"name the key {files[0][:60]}, or read a file that is there"
                    yield misread(place, message, remedy, "controller")
                    return


_LONGEST: Final = 4096


_part: Final = known_keys.part_at


def _scratch_in_memory(spec: Mapping[str, Any], path: str) -> Found:
    """Scratch volumes in memory above the limits of the containers that mount them; a check has those at /dev/shm."""
    for where, volume in at(spec, "volumes[]", path):
        scratch = paths.mapping(paths.mapping(volume).get("emptyDir"))
        size = amount_in(values_at(scratch, "sizeLimit")) if scratch.get("medium") == "Memory" else None
        if not size:
            continue
        users = [each for each in values_at(spec, "containers[]") if _mounts(each, volume["name"])]
        limits = [amount_in(values_at(each, "resources.limits.memory")) for each in users]
        known = [each for each in limits if each is not None]
        if known and len(known) == len(limits) and size > sum(known):
            text = f"lets a volume in memory grow to {str(scratch['sizeLimit'])[:20]}, above the memory limits of the "
            text += "containers that mount it, against which it counts, so they are killed before it is full"
            yield misread(f"{where}/emptyDir/sizeLimit", text, "raise the limits, or use a disk", "controller")


def _mounts(container: Any, name: str) -> bool:  # noqa: ANN401 - any JSON
    """Whether a container mounts a volume elsewhere than at /dev/shm."""
    mounts = map(paths.mapping, values_at(container, "volumeMounts[]"))
    return any(each.get("name") == name and each.get("mountPath") != "/dev/shm" for each in mounts)  # noqa: S108 - a path of containers


def first_writer(spec: Mapping[str, Any], mounted: Collection[str]) -> tuple[str, int] | None:
    """The first container that mounts volumes and its user; None if that may be root, who can prepare them."""
    of_pod = paths.mapping(spec.get("securityContext")).get("runAsUser")
    for container in map(paths.mapping, [*values_at(spec, "initContainers[]"), *values_at(spec, "containers[]")]):
        mounts = [paths.mapping(each) for each in values_at(container, "volumeMounts[]")]
        mounts = [each for each in mounts if isinstance(each.get("name"), str) and each["name"] in mounted]
        user = paths.mapping(container.get("securityContext")).get("runAsUser", of_pod)
        if not mounts or (user and all(each.get("readOnly") for each in mounts)):
            continue
        return (paths.text(container.get("name")), user) if isinstance(user, int) and user > 0 else None
    return None
