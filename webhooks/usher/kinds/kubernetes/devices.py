"""Device claims, their templates and the classes of devices (DRA).

Version v1beta1 has the fields of a request in the request itself; later versions have them in `exactly`.
"""

from typing import Annotated, NotRequired

from pydantic import AfterValidator, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.accelerators import vocabulary
from usher.kinds.kept_fields import SPEC
from usher.kinds.kind import Facts, Kind
from usher.reading.shapes import STRICT


@with_config(STRICT)
class Expression(TypedDict):
    """In CEL."""

    expression: NotRequired[str]


@with_config(STRICT)
class Selector(TypedDict):
    cel: NotRequired[Expression]


@with_config(STRICT)
class DeviceToleration(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]


@with_config(STRICT)
class SubRequest(TypedDict):
    """A request for devices, as an alternative or as the only one."""

    name: NotRequired[str]
    deviceClassName: NotRequired[str]
    allocationMode: NotRequired[str]
    count: NotRequired[int]
    adminAccess: NotRequired[bool]
    selectors: NotRequired[list[Selector]]
    tolerations: NotRequired[list[DeviceToleration]]
    accelerator: NotRequired[bool]
    """Whether the devices of the class are accelerators, where that is known; not of the manifest."""


def _with_accelerator(value: SubRequest) -> SubRequest:
    value.pop("accelerator", None)
    known = vocabulary.meaning_of_class(value.get("deviceClassName", "")).accelerator
    if known is not None:
        value["accelerator"] = known
    return value


Alternative = Annotated[SubRequest, AfterValidator(_with_accelerator)]


@with_config(STRICT)
class Request(SubRequest):
    exactly: NotRequired[Alternative]
    firstAvailable: NotRequired[list[Alternative]]


@with_config(STRICT)
class DeviceClaim(TypedDict):
    requests: NotRequired[list[Annotated[Request, AfterValidator(_with_accelerator)]]]


@with_config(STRICT)
class ClaimSpec(TypedDict):
    devices: NotRequired[DeviceClaim]


@with_config(STRICT)
class ResourceClaim(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[ClaimSpec]


@with_config(STRICT)
class TemplateSpec(TypedDict):
    spec: NotRequired[ClaimSpec]


@with_config(STRICT)
class ResourceClaimTemplate(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TemplateSpec]


KINDS = [
    Kind(
        group="resource.k8s.io",
        kind="ResourceClaim",
        versions=("v1", "v1beta2", "v1beta1"),
        plural="resourceclaims",
        key="resourceClaim",
        shape=ResourceClaim,
        facts=Facts(keep=SPEC),
    ),
    Kind(
        group="resource.k8s.io",
        kind="ResourceClaimTemplate",
        versions=("v1", "v1beta2", "v1beta1"),
        plural="resourceclaimtemplates",
        key="resourceClaimTemplate",
        shape=ResourceClaimTemplate,
        facts=Facts(keep=SPEC),
    ),
    Kind(
        group="resource.k8s.io",
        kind="DeviceClass",
        versions=("v1", "v1beta2", "v1beta1"),
        plural="deviceclasses",
        cluster_scoped=True,
        facts=Facts(keep=SPEC),
    ),
]
