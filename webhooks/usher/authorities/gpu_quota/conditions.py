"""Computes the condition `Ready` of a GPUQuota; its message tells an administrator what to do.

Every replica computes the same condition for the same quota, so replicas do not overwrite each other's conditions.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from usher import paths
from usher.authorities.gpu_quota import amounts, assignment, ledger
from usher.authorities.gpu_quota.definitions import Malformed, Quota
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.limits import Limits
from usher.authorities.gpu_quota.status import Decoded
from usher.dataclass import dataclass

READY: Final = "Ready"

_MOST_NAMED: Final = 5
_LONGEST: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of type Ready."""

    ready: bool
    reason: str
    message: str


IN_FORCE: Final = Condition(ready=True, reason="InForce", message="workloads in its namespaces are charged")


def of_quota(quota: Quota | Malformed, found: Decoded, overlap: str) -> Condition:
    """The condition of a quota.

    Args:
        quota: the quota as declared.
        found: the ledger of the quota.
        overlap: a text about other quotas for the same namespaces; empty without other quotas.
    """
    if isinstance(quota, Malformed):
        return _condition("Malformed", _listed(quota.problems))
    if overlap:
        return _condition("Overlapping", overlap)
    if found.problems:
        return _condition("LedgerUnreadable", _listed(found.problems))
    exceeded = _exceeded(found.ledger, quota.limits)
    # An exceeded quota is still enforced: it refuses every new charge.
    return _condition("Exceeded", exceeded, ready=True) if exceeded else IN_FORCE


def overlaps(quotas: Iterable[Quota | Malformed], labels: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """For each GPUQuota that overlaps another quota, by name, a text that names the others and one namespace.

    Args:
        quotas: all quotas of the cluster and of usher.yaml.
        labels: the labels of all namespaces, by name.
    """
    first: dict[str, tuple[str, list[Quota]]] = {}
    counts: dict[str, int] = {}
    usable = [quota for quota in quotas if isinstance(quota, Quota)]
    for namespace in sorted(labels):
        holding = [quota for quota in usable if assignment.holds(quota, namespace, labels[namespace])]
        for quota in holding if len(holding) > 1 else ():
            if not quota.declared:
                first.setdefault(quota.name, (namespace, holding))
                counts[quota.name] = counts.get(quota.name, 0) + 1
    return {name: _overlap(name, *found, more=counts[name] - 1) for name, found in first.items()}


def find(value: paths.Json) -> Condition | None:
    """The condition in a status; None where it is missing or cannot be read."""
    match _of_type(value):
        case {"status": str(said), "reason": str(reason), "message": str(message)}:
            return Condition(ready=said == "True", reason=reason, message=message)
    return None


def put(value: paths.Json, condition: Condition, *, now: str) -> paths.Object:
    """A status with a condition; everything else in it stays.

    Args:
        value: the status.
        condition: replaces the condition of the same type.
        now: the time in Kubernetes' notation; becomes the transition time if `status` changes.
    """
    told: paths.Object = {**value} if isinstance(value, dict) else {}
    before, said = _of_type(value), "True" if condition.ready else "False"
    since = before.get("lastTransitionTime") if before is not None and before.get("status") == said else None
    made: paths.Object = {
        "type": READY,
        "status": said,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": since if isinstance(since, str) else now,
    }
    others = [each for each in _all(value) if not (isinstance(each, dict) and each.get("type") == READY)]
    return {**told, "conditions": [*others, made]}


def _overlap(name: str, namespace: str, holding: Iterable[Quota], *, more: int) -> str:
    others = [str(each) for each in holding if each.declared or each.name != name]
    named = f"{', '.join(others[:_MOST_NAMED])}{' and others' if len(others) > _MOST_NAMED else ''}"
    where = f"namespace {namespace}" + (f" and {more} more" if more else "")
    return f"{named} also hold{'s' if len(others) == 1 else ''} for {where}; usher enforces no quota there"


def _exceeded(found: Ledger, limits: Limits) -> str:
    """A text about each exceeded limit; empty where no limit is exceeded."""
    over = []
    for limit, used in zip(limits, ledger.used_of(found, limits), strict=True):
        for unit, nanos in used.items():
            if nanos > limit.hard[unit]:
                of_classes = f" of {', '.join(limit.classes)}" if limit.classes else ""
                hard = amounts.number(limit.hard[unit])
                over.append(f"{amounts.text(unit, nanos)}{of_classes} used of {hard}")
    if not over:
        return ""
    forced = sorted(entry.name_key for entry in found.entries.values() if entry.forced)
    by_force = f"; charged by force: {_named(forced)}" if forced else ""
    return f"{'; '.join(over)}{by_force}"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _listed(problems: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{pointer}: {reason}" for pointer, reason in problems)


def _condition(reason: str, message: str, *, ready: bool = False) -> Condition:
    return Condition(ready=ready, reason=reason, message=message[:_LONGEST])


def _all(value: paths.Json) -> list[paths.Json]:
    said = value.get("conditions") if isinstance(value, dict) else None
    return said if isinstance(said, list) else []


def _of_type(value: paths.Json) -> paths.Object | None:
    return next((each for each in _all(value) if isinstance(each, dict) and each.get("type") == READY), None)
