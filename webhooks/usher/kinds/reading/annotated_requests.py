"""Accelerators that a pod asks for by annotation, without any resource (docs/domain/accelerators.md#annotations)."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from usher import errors, model, paths, quantities
from usher.accelerators.names import GKE_DEVICES, GPU_FRACTION, GPU_FRACTION_CONTAINER, GPU_FRACTION_DEVICES, GPU_MEMORY
from usher.kinds.reading.values import Reading

_FRACTIONS: Final = frozenset({GPU_FRACTION, GPU_MEMORY})

# KAI-Scheduler reads numbers as Go's strconv does: no spaces, no suffixes, and nothing beyond 64 bits.
_PLAIN: Final = re.compile(r"[+.0-9](?:[.0-9eE+-]{0,62}[.0-9])?", re.ASCII)
_WHOLE: Final = re.compile(r"0{0,40}[1-9][0-9]{0,17}", re.ASCII)
_ONE: Final = quantities.parse(1)

_GPU_DEVICE: Final = re.compile(r"/dev/nvidia[0-9]{1,3}\b", re.ASCII)


class Annotated(Struct, frozen=True, kw_only=True):
    """The accelerators that annotations of a pod template request, and the containers that get them."""

    requests: tuple[model.AcceleratorRequest, ...] = ()
    containers: frozenset[str] = frozenset()
    first_container: bool = False
    """Whether the first container gets them, because no annotation says which."""
    unclear: tuple[model.UnclearDevices, ...] = ()


NOTHING: Final = Annotated()


def of_pod(annotations: Mapping[str, str], path: str, reading: Reading) -> Annotated:
    """The accelerators that the annotations of a pod template request."""
    mounted = [key for key in annotations if key.startswith(GKE_DEVICES)]
    if not mounted and annotations.keys().isdisjoint(_FRACTIONS):
        return NOTHING
    fraction = _fraction(annotations, path, reading)
    container = annotations.get(GPU_FRACTION_CONTAINER, "")
    given = {key: files for key in mounted if (files := set(_GPU_DEVICE.findall(annotations[key])))}
    names = {key.removeprefix(GKE_DEVICES) for key in given}
    return Annotated(
        requests=(*filter(None, [fraction]), *_mounted(given, path)),
        containers=frozenset(names | {container} if fraction is not None and container else names),
        first_container=fraction is not None and not container,
    )


def _fraction(annotations: Mapping[str, str], path: str, reading: Reading) -> model.AcceleratorRequest | None:
    """A part of a GPU, or MiB of its memory, from each of several GPUs.

    KAI-Scheduler's webhook refuses a pod with both, and its scheduler would take the fraction (ValidateGpuRequests in
    pkg/binder/plugins/gpusharing/gpu-request, updatePodAdditionalFields in pkg/scheduler/api/pod_info). It also refuses
    a pod that has a limit of nvidia.com/gpu as well; here both count, each under its name.
    """
    if GPU_FRACTION in annotations:
        name, share = GPU_FRACTION, _part(annotations[GPU_FRACTION])
        wanted = "is not a part of a GPU; write a number between 0 and 1, for example 0.5"
        if GPU_MEMORY in annotations:
            reading.unknown(paths.join(path, GPU_MEMORY), f"KAI-Scheduler refuses it beside {GPU_FRACTION}; remove one")
    elif GPU_MEMORY in annotations:
        name, share = GPU_MEMORY, _parse_whole_number(annotations[GPU_MEMORY])
        wanted = "is not a number of MiB; write a whole number, for example 4096"
    else:
        return None
    here = paths.join(path, name)
    devices = _parse_whole_number(annotations.get(GPU_FRACTION_DEVICES, "1"))
    if share is None:
        reading.unknown(here, f"{annotations[name][:40]!r} {wanted}")
    if devices is None:
        text = annotations[GPU_FRACTION_DEVICES][:40]
        reason = f"{text!r} is not a number of GPUs; write a whole number, 1 or more"
        reading.unknown(paths.join(path, GPU_FRACTION_DEVICES), reason)
    if share is None or devices is None:
        return None
    asked = share * devices.value
    return model.AcceleratorRequest(route=model.Route.FRACTION, name=name, minimum=asked, maximum=asked, path=here)


def _part(text: str) -> quantities.Quantity | None:
    if _PLAIN.fullmatch(text) is None:
        return None
    try:
        found = quantities.parse(text)
    except errors.QuantityError:
        return None
    return found if quantities.ZERO < found < _ONE else None


def _parse_whole_number(text: str) -> quantities.Quantity | None:
    return quantities.parse(int(text)) if _WHOLE.fullmatch(text) else None


def _mounted(files: Mapping[str, Iterable[str]], path: str) -> list[model.AcceleratorRequest]:
    """The GPUs that GKE's device injector mounts by annotation; containers that share a device count once.

    Each annotation lists devices in YAML. Only their paths matter (nri_device_injector in
    GoogleCloudPlatform/container-engine-accelerators). Other containers of the node may have asked for them, so they
    have a name of their own.
    """
    if not files:
        return []
    number = quantities.parse(len(set().union(*files.values())))
    return [
        model.AcceleratorRequest(
            route=model.Route.DEVICE_ANNOTATION,
            name=GKE_DEVICES.rstrip("."),
            minimum=number,
            maximum=number,
            path=paths.join(path, next(iter(files))),
        )
    ]
