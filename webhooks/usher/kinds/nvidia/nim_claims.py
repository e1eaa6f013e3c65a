"""Device claims of a NIMService: those that its `draResources` name, and those that the operator makes itself.

Source: api/apps/v1alpha1/dra_types.go of NVIDIA/k8s-nim-operator at f63f74d7.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import paths
from usher.reading.templates import ClaimPlace
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

_DEVICE_CLASS: Final = "gpu.nvidia.com"
"""The device class of a claim that does not name one."""

Entries = list[tuple[str, Mapping[str, paths.Json]]]


def resources(spec: Object, path: str, claims: Entries, reading: Reading) -> paths.Object:
    """The resources of the main container. The operator replaces their claims with those of `draResources`."""
    given = reading.mapping(spec.get("resources"), path + "/resources")
    result: paths.Object = {field: given[field] for field in ("requests", "limits") if field in given}
    taken: list[paths.Json] = []
    for index, (claim_path, entry) in _named(claims):
        requests = reading.texts(entry.get("requests"), claim_path + "/requests")
        taken += [{"name": _name(index), "request": request} for request in requests or ("",)]
    return {**result, "claims": taken} if taken else result


def _named(claims: Entries) -> Iterator[tuple[int, tuple[str, Mapping[str, paths.Json]]]]:
    """The entries that refer to an existing claim or claim template, with their indices."""
    for index, (path, entry) in enumerate(claims):
        if entry.get("claimCreationSpec") is None:
            yield index, (path, entry)


def _name(index: int) -> str:
    return f"claim-{index}"


def _entry(index: int, entry: Object) -> paths.Json:
    fields = ("resourceClaimName", "resourceClaimTemplateName")
    return {"name": _name(index), **{field: entry[field] for field in fields if field in entry}}


def created(claims: Entries, container: str, reading: Reading) -> Iterator[ClaimPlace]:
    """The claims for which the operator makes a template; what selects the devices does not change their number."""
    for claim_path, entry in claims:
        path = claim_path + "/claimCreationSpec"
        creation = reading.mapping(entry.get("claimCreationSpec"), path)
        requests: list[paths.Json] = []
        for device_path, device in reading.items(creation.get("devices"), path + "/devices"):
            name = reading.text(device.get("deviceClassName"), device_path + "/deviceClassName") or _DEVICE_CLASS
            count = reading.count(device.get("count"), device_path + "/count", default=1, of="devices")
            if count:
                requests.append({"name": "device", "exactly": {"deviceClassName": name, "count": count}})
        if requests:
            yield ClaimPlace(spec={"devices": {"requests": requests}}, path=path, container=container)


def entries(claims: Entries) -> list[paths.Json]:
    """`spec.resourceClaims` of the pods."""
    return [_entry(index, entry) for index, (_, entry) in _named(claims)]
