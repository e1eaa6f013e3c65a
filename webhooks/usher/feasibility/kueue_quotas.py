"""Quotas of ClusterQueues and Cohorts, in the units that Kueue counts in (KQ:pkg/resources/amount.go)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from usher import errors, paths, quantities
from usher.reading.values import Reading

UNLIMITED: Final = quantities.MAX_INT64
"""What Kueue takes for an amount that is larger than 64 bits hold."""

FlavorResource = tuple[str, str]
"""A flavor and a resource in it: what quota is given for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Of one resource in one flavor, as amounts."""

    nominal: int = 0
    borrowing: int | None = None
    """The most that is borrowed; None where nothing but the cohort bounds it."""
    lending: int | None = None
    """The most that is lent; None where all of it is."""


NO_QUOTA: Final = Quota()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that a pod set gets in one flavor, all of them; the flavors in the order in which they are tried."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    groups: tuple[ResourceGroup, ...]
    by_flavor: Mapping[FlavorResource, Quota]

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The group that covers a resource; the API lets one group do so."""
        return next((group for group in self.groups if resource in group.resources), None)


def amount(resource: str, quantity: quantities.Quantity) -> int:
    """A quantity as Kueue counts it: thousandths of cpu, whole numbers of everything else, rounded up."""
    return quantity.milli if resource == "cpu" else quantity.value


def quantity_of(resource: str, number: int) -> quantities.Quantity:
    """The quantity that an amount stands for."""
    return quantities.Quantity(number * (quantities.MILLI if resource == "cpu" else quantities.NANO))


def plus(left: int, right: int) -> int:
    """A sum of amounts; what is unlimited stays so."""
    return min(left + right, UNLIMITED)


def minus(left: int, right: int) -> int:
    """A difference of amounts, never below 0. As in Kueue nothing is left of unlimited less unlimited."""
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    return max(left - right, 0)


def read(value: paths.Json, path: str, reading: Reading) -> Quotas:
    """The `resourceGroups` of a ClusterQueue or a Cohort, of any version.

    A number that cannot be read is recorded and counts as the one that gives least: no quota, nothing borrowed, nothing
    lent. So what fits in spite of it fits.
    """
    groups: list[ResourceGroup] = []
    by_flavor: dict[FlavorResource, Quota] = {}
    for group_path, group in reading.items(value, path):
        flavors: list[str] = []
        for flavor_path, flavor in reading.items(group.get("flavors"), group_path + "/flavors"):
            name = reading.text(flavor.get("name"), flavor_path + "/name")
            flavors.append(name)
            for quota_path, quota in reading.items(flavor.get("resources"), flavor_path + "/resources"):
                resource = reading.text(quota.get("name"), quota_path + "/name")
                by_flavor[name, resource] = _quota(quota, resource, quota_path, reading)
        covered = reading.texts(group.get("coveredResources"), group_path + "/coveredResources")
        groups.append(ResourceGroup(resources=frozenset(covered), flavors=tuple(dict.fromkeys(flavors))))
    return Quotas(groups=tuple(groups), by_flavor=by_flavor)


def _quota(value: Mapping[str, paths.Json], resource: str, path: str, reading: Reading) -> Quota:
    return Quota(
        nominal=_amount(value.get("nominalQuota"), resource, path + "/nominalQuota", reading) or 0,
        borrowing=_amount(value.get("borrowingLimit"), resource, path + "/borrowingLimit", reading),
        lending=_amount(value.get("lendingLimit"), resource, path + "/lendingLimit", reading),
    )


def _amount(value: paths.Json, resource: str, path: str, reading: Reading) -> int | None:
    if value is None:
        return None
    try:
        quantity = quantities.parse(value)
    except errors.QuantityError as error:
        reading.unknown(path, str(error))
        return 0
    if quantity.nanos < 0:
        reading.unknown(path, f"{quantity} is negative; no quota is")
        return 0
    return amount(resource, quantity)
