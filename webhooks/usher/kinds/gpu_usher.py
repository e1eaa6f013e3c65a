"""GPUQuotas, usher's own kind: the names in their limits, with the boards that offer them."""

from typing import Annotated, NotRequired

from pydantic import BeforeValidator
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.accelerators import boards, mig
from usher.config.pools import QuotaSpec
from usher.kinds.kind import Facts, Kind, api, keeping

_UNITS = ("gpus", "slices", "memoryGiB")
_PROFILES = "profiles."


class QuotaUnit(TypedDict):
    """A key of `hard`."""

    known: bool
    boards: NotRequired[list[str]]
    """The known boards that offer a MIG profile; empty for other limits."""
    meant: NotRequired[str]
    """The correct spelling, if the name is probably misspelt."""


def _units(value: object) -> object:
    return {unit: _unit(unit) for unit in value if isinstance(unit, str)} if isinstance(value, dict) else value


def _unit(unit: str) -> QuotaUnit:
    profile = mig.parse_profile(unit.removeprefix(_PROFILES)) if unit.startswith(_PROFILES) else None
    if profile is not None:
        name = f"{_PROFILES}{profile}"
        if name != unit:
            return {"known": False, "meant": name}
        return {"known": True, "boards": [board.name for board in boards.boards_with(profile)]}
    if unit in _UNITS:
        return {"known": True}
    resource = mig.profile_of_resource(unit)
    if resource is not None:
        return {"known": False, "meant": f"{_PROFILES}{resource.profile}"}
    like = [each for each in _UNITS if each.lower().rstrip("s") == unit.lower().rstrip("s")]
    if unit.rpartition("/")[2] == "gpu":
        like = ["gpus"]
    return {"known": False, "meant": like[0]} if like else {"known": False}


class QuotaLimit(TypedDict):
    hard: NotRequired[Annotated[dict[str, QuotaUnit], BeforeValidator(_units)]]


class NamespaceRequirement(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]
    values: NotRequired[list[str]]


class NamespaceSelector(TypedDict):
    matchLabels: NotRequired[dict[str, str]]
    matchExpressions: NotRequired[list[NamespaceRequirement]]


class QuotaProblem(TypedDict):
    """Why the quota cannot be read."""

    path: str
    reason: str


def _with_problems(spec: object) -> object:
    if not isinstance(spec, dict):
        return spec
    found = boards.read_quota_spec(spec)
    problems = [] if isinstance(found, QuotaSpec) else [each._asdict() for each in found]
    return {**spec, "problems": problems}


class GpuQuotaSpec(TypedDict):
    problems: NotRequired[list[QuotaProblem]]
    """Everything that keeps usher from reading the spec; usher adds this to the manifest."""
    namespaces: NotRequired[list[str]]
    namespaceSelector: NotRequired[NamespaceSelector]
    limits: NotRequired[list[QuotaLimit]]


class GpuQuota(TypedDict):
    spec: NotRequired[Annotated[GpuQuotaSpec, BeforeValidator(_with_problems)]]


KINDS = [
    Kind(
        **api("gpu-usher.io", "GPUQuota", "gpuquotas", "v1alpha1"),
        cluster_scoped=True,
        key="gpuQuota",
        shape=GpuQuota,
        facts=Facts(
            keep=keeping("/spec", "/status"),
            momentary=frozenset(
                {
                    "charges",
                    "conditions",
                    "used",
                    "version",
                    "removed",
                    "parts",
                    "partsFrom",
                    "sums",
                    "counting",
                }
            ),
        ),
    ),
]
