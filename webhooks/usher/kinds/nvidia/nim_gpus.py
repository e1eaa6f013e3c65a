"""GPUs that the NIM operator adds by itself, if a NIMCache shows how many GPUs a model needs.

It adds them for a named profile, if the object requests no GPUs: as many as the tensor parallelism of the profile
(addGPUResources in internal/controller/platform/standalone/nimservice.go of NVIDIA/k8s-nim-operator at f63f74d7).
"""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.reading.lookup import Reference
from usher.reading.templates import Place
from usher.reading.values import Reading

GROUP: Final = "apps.nvidia.com"
_GPU: Final = "nvidia.com/gpu"
_KEYS: Final = ("tensorParallelism", "tp")
_NOT_KNOWN: Final = "how many GPUs its pods get is not known"

Object = Mapping[str, paths.Json]


def of_service(spec: Object, path: str, gpus_of_node: int | None, reading: Reading) -> Mapping[str, Place]:
    """`requests` and `limits` with the GPUs that the operator adds to a NIMServiceSpec; empty if it adds no GPUs.

    Args:
        spec: the NIMServiceSpec.
        path: its path.
        gpus_of_node: GPUs of each of several nodes; None for a single pod.
        reading: looks the NIMCache up.
    """
    cache_path = path + "/storage/nimCache"
    storage = reading.mapping(spec.get("storage"), path + "/storage")
    cache = reading.mapping(storage.get("nimCache"), cache_path)
    name = reading.text(cache.get("name"), cache_path + "/name")
    profile = reading.text(cache.get("profile"), cache_path + "/profile")
    if not (name and profile) or spec.get("draResources") or _asks(spec):
        return {}
    reference = Reference(group=GROUP, kind="NIMCache", name=name, namespace=reading.context.namespace)
    found = reading.look_up(reference, cache_path + "/name", consequence=_NOT_KNOWN)
    if found is None or not _is_optimised(found):
        return {}
    if gpus_of_node is not None:
        return _added(str(gpus_of_node), spec, path, reading, because=cache_path)
    amount = _of_profile(found, profile)
    if amount is None:
        reading.unknown(cache_path + "/profile", f"{reference} does not tell of this profile: {_NOT_KNOWN}")
        return {}
    return _added(amount or "1", spec, path, reading, because=cache_path)


def of_build(spec: Object, path: str, reading: Reading) -> Mapping[str, Place]:
    """The same for a NIMBuild. If it names no profile, it takes the only profile that can be built.

    constructEngineBuildPod in internal/controller/nimbuild_controller.go: without a number the operator makes no pod.
    """
    cache_path = path + "/nimCache"
    cache = reading.mapping(spec.get("nimCache"), cache_path)
    name = reading.text(cache.get("name"), cache_path + "/name")
    profile = reading.text(cache.get("profile"), cache_path + "/profile")
    if not name or _asks(spec):
        return {}
    reference = Reference(group=GROUP, kind="NIMCache", name=name, namespace=reading.context.namespace)
    found = reading.look_up(reference, cache_path + "/name", consequence=_NOT_KNOWN)
    if found is None:
        return {}
    amount = _of_profile(found, profile) if profile else None
    if not amount:
        reading.unknown(cache_path, f"{reference} does not tell the tensor parallelism: {_NOT_KNOWN}")
        return {}
    return _added(amount, spec, path, reading, because=cache_path)


def _asks(spec: Object) -> bool:
    resources = spec.get("resources")
    holder: Object = resources if isinstance(resources, dict) else {}
    asked = (holder.get(field) for field in ("requests", "limits"))
    return any(isinstance(each, dict) and _GPU in each for each in asked)


def _is_optimised(cache: Object) -> bool:
    """Whether the model comes from NGC for certain GPUs (nimcache_types.go, IsOptimizedNIM)."""
    inner = Reading()
    source = inner.mapping(inner.mapping(cache.get("spec"), "/spec").get("source"), "/spec/source")
    ngc = inner.mapping(source.get("ngc"), "/spec/source/ngc")
    return source.get("ngc") is not None and ngc.get("modelEndpoint") is None


def _of_profile(cache: Object, name: str) -> str | None:
    """The tensor parallelism of a profile in the status: empty if it is not set, None if the profile is missing."""
    inner = Reading()
    status = inner.mapping(cache.get("status"), "/status")
    for path, profile in inner.items(status.get("profiles"), "/status/profiles"):
        if profile.get("name") == name:
            config = inner.strings(profile.get("config"), path + "/config")
            return next((config[key] for key in _KEYS if key in config), "")
    return None


def _added(amount: str, spec: Object, path: str, reading: Reading, *, because: str) -> Mapping[str, Place]:
    """Requests and limits with the GPUs added. Each keeps its path, or has the path `because` if it was empty."""
    resources = reading.mapping(spec.get("resources"), path + "/resources")
    found = {}
    for field in ("requests", "limits"):
        here = f"{path}/resources/{field}"
        own = {name: str(quantity) for name, quantity in reading.resources(resources.get(field), here).items()}
        found[field] = Place({**own, _GPU: amount}, here if own else because)
    return found
