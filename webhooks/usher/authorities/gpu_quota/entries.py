"""An entry of a ledger, and its JSON in `status.charges` of a GPUQuota.

    {"object": "PyTorchJob.kubeflow.org/research/llm", "amounts": {"gpus": 16}, "until": 1798000000}

`amounts` counts pods whose priority class no limit names. `classes` has the amounts of other pods by class; a key of
several classes, joined by commas, has the amounts that their pods share. A settled charge has no `until`. An object
that had a name when it was charged has no `uid`.
"""

from collections.abc import Mapping
from typing import Final

from usher import errors, paths, quantities
from usher.authorities.gpu_quota import amounts as gpu_quota_amounts
from usher.authorities.gpu_quota.amounts import Amounts
from usher.authorities.gpu_quota.charge import ByClasses, Classes
from usher.dataclass import dataclass

_NO_CLASS: Final[Classes] = ("",)
_FIELDS: Final = frozenset({"object", "uid", "amounts", "classes", "until", "forced"})
_LATEST: Final = 2**53
"""Seconds; JSON numbers are exact up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The charge of one object."""

    group: str
    kind: str
    namespace: str
    name: str
    """Empty where the object was charged before it had a name (generateName)."""
    uid: str = ""
    """The key of an object without a name."""
    amounts: ByClasses
    reserved_until: int | None
    """Seconds since the epoch; None once the charge is settled."""
    forced: bool = False
    """Whether the object was charged without regard to limits."""

    @property
    def key(self) -> str:
        """The name, or else the uid. By its name, a retried creation is charged once, although its uid changes."""
        return self.name_key if self.name else self.uid

    @property
    def name_key(self) -> str:
        return name_key(self.group, self.kind, self.namespace, self.name)


def name_key(group: str, kind: str, namespace: str, name: str) -> str:
    """The key of an entry with a name."""
    return f"{kind}.{group}/{namespace}/{name}" if group else f"{kind}/{namespace}/{name}"


class MalformedError(ValueError):
    """An entry cannot be read; the message says why."""


def tidy(by_classes: ByClasses) -> ByClasses:
    """The amounts sorted and without zeros, so that equal amounts are equal values."""
    return {
        classes: dict(sorted(of_units.items()))
        for classes in sorted(by_classes)
        if (of_units := {unit: nanos for unit, nanos in by_classes[classes].items() if nanos})
    }


def encode(entry: Entry) -> paths.Object:
    result: paths.Object = {"object": entry.name_key}
    if entry.uid:
        result["uid"] = entry.uid
    result |= encode_sums(entry.amounts)
    if entry.reserved_until is not None:
        result["until"] = entry.reserved_until
    if entry.forced:
        result["forced"] = True
    return result


def encode_sums(by_classes: ByClasses) -> paths.Object:
    """`amounts` and `classes`, each only if it has amounts."""
    result: paths.Object = {}
    if _NO_CLASS in by_classes:
        result["amounts"] = encode_amounts(by_classes[_NO_CLASS])
    classes: paths.Object = {
        ",".join(names): encode_amounts(of_units) for names, of_units in by_classes.items() if names != _NO_CLASS
    }
    if classes:
        result["classes"] = classes
    return result


def encode_amounts(of_units: Amounts) -> paths.Object:
    """The JSON of amounts: whole numbers as numbers, fractions in Kubernetes' notation (`3500m`)."""
    return {
        unit: nanos // quantities.NANO if nanos % quantities.NANO == 0 else gpu_quota_amounts.number(nanos)
        for unit, nanos in of_units.items()
    }


def decode(value: paths.Json) -> Entry:
    """The entry of a value in the status.

    Raises:
        MalformedError: the value has an unknown, missing or unreadable field.
    """
    if not isinstance(value, dict):
        raise MalformedError("it is not an object")
    stray = value.keys() - _FIELDS
    if stray:
        raise MalformedError(f"it has an unknown field {min(stray)!r:.60}")
    group, kind, namespace, name = _identity(value.get("object"))
    uid, until, forced = value.get("uid", ""), value.get("until"), value.get("forced", False)
    if not isinstance(uid, str):
        raise MalformedError("uid is not a text")
    if until is not None and (isinstance(until, bool) or not isinstance(until, int) or not 0 <= until <= _LATEST):
        raise MalformedError("until is not a number of seconds")
    if not isinstance(forced, bool):
        raise MalformedError("forced is neither true nor false")
    if not (name or uid):
        raise MalformedError("it has neither a name nor a uid")
    return Entry(
        group=group,
        kind=kind,
        namespace=namespace,
        name=name,
        uid=uid,
        amounts=decode_sums(value),
        reserved_until=until,
        forced=forced,
    )


def decode_sums(value: paths.Json, *, most: int = gpu_quota_amounts.MOST) -> ByClasses:
    """The amounts of an object with `amounts` and `classes`, sorted and without zeros.

    Raises:
        MalformedError: the value has another form.
    """
    if not isinstance(value, dict):
        raise MalformedError("it is not an object")
    found: dict[Classes, Amounts] = {}
    if "amounts" in value:
        found[_NO_CLASS] = decode_amounts(value["amounts"], most=most)
    classes = value.get("classes", {})
    if not isinstance(classes, dict):
        raise MalformedError("classes is not an object")
    for key, of_units in classes.items():
        found[tuple(sorted(set(key.split(","))))] = decode_amounts(of_units, most=most)
    return tidy(found)


def decode_amounts(value: paths.Json, *, most: int = gpu_quota_amounts.MOST) -> Amounts:
    """Amounts by unit.

    Raises:
        MalformedError: the value is not an object, or has an unknown unit, an invalid number or a number below 0.
    """
    if not isinstance(value, Mapping):
        raise MalformedError("amounts is not an object")
    found = {}
    for unit, amount in value.items():
        if not gpu_quota_amounts.is_unit(unit):
            raise MalformedError(f"{unit!r:.60} is not a unit of a quota")
        try:
            nanos = quantities.parse(amount).nanos
        except errors.QuantityError as error:
            raise MalformedError(f"{unit}: {error}") from None
        if not 0 <= nanos <= most:
            raise MalformedError(f"{unit}: {gpu_quota_amounts.number(nanos)} is not an amount that can be charged")
        found[unit] = nanos
    return found


def _identity(value: paths.Json) -> tuple[str, str, str, str]:
    parts = value.split("/") if isinstance(value, str) else []
    if len(parts) != 3 or not parts[0]:
        raise MalformedError("object is not written as Kind.group/namespace/name")
    kind, _, group = parts[0].partition(".")
    return group, kind, parts[1], parts[2]
