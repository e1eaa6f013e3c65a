"""GPUQuotas, as their objects and usher.yaml define them, and amounts in their units: nanos (1e-9), by unit.

The units are `gpus`, `slices`, `memoryGiB`, and `profiles.` with the name of a MIG profile: `profiles.1g.10gb`.
docs/quota.md says what counts in each unit.

A slice is a compute slice of MIG. A whole GPU has 7 slices on boards that MIG divides into seven, 4 on boards that it
divides into four, and counts 7 where MIG cannot divide it or the board is not known: no board has more. Slices are
hardware units, not sevenths of a GPU: a quarter of an A30 has as many multiprocessors (14) as a seventh of an A100,
which makes the two comparable (docs/domain/mig.md#compute-slices).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

import pydantic
from msgspec import Struct, field

from usher import model, paths, quantities
from usher.accelerators import boards, mig
from usher.accelerators.boards import Product
from usher.accelerators.mig import Board, Profile
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import pool_fit
from usher.config import pools, selection
from usher.config import pools as config_pools
from usher.quantities import NANO

GPUS: Final = "gpus"
SLICES: Final = "slices"
MEMORY: Final = "memoryGiB"
PROFILES: Final = "profiles."
"""The prefix of units of profiles; the driver's name of the profile follows."""

Amounts = Mapping[str, int]
"""Nanos by unit; a missing unit is 0."""

MOST_AMOUNT: Final = 10**12 * NANO
"""The largest amount: more than any cluster has and any limit allows. It bounds hostile manifests."""

_NAMES: Final = {GPUS: "GPUs", SLICES: "slices", MEMORY: "GiB of device memory"}


def unit_of_profile(profile: mig.Profile) -> str:
    """The unit that counts the instances of a profile."""
    return PROFILES + str(profile)


def profile_of(unit: str) -> mig.Profile | None:
    """The profile whose instances a unit counts; None for other units and unknown names."""
    if not unit.startswith(PROFILES):
        return None
    name = unit.removeprefix(PROFILES)
    found = mig.parse_profile(name)
    # A resource spells `1g.10gb+me` as `1g.10gb.me`; two spellings would be two units.
    return found if str(found) == name else None


def is_unit(text: str) -> bool:
    return text in _NAMES or profile_of(text) is not None


def plus(*several: Amounts) -> dict[str, int]:
    """The sum, without units that are 0."""
    result: dict[str, int] = {}
    for each in several:
        for unit, nanos in each.items():
            result[unit] = result.get(unit, 0) + nanos
    return {unit: nanos for unit, nanos in result.items() if nanos}


def highest(several: Iterable[Amounts]) -> dict[str, int]:
    """The largest of several amounts, unit by unit."""
    result: dict[str, int] = {}
    for each in several:
        for unit, nanos in each.items():
            result[unit] = max(result.get(unit, 0), nanos)
    return {unit: nanos for unit, nanos in result.items() if nanos}


def number(nanos: int) -> str:
    """The text of a number in Kubernetes' notation: 16, or 3500m."""
    return str(quantities.Quantity(nanos))


def text(unit: str, nanos: int) -> str:
    """The text of an amount: `16 GPUs`, `1 GPU`, `3500m slices`, `2 instances of 1g.10gb`."""
    if unit in _NAMES:
        name = _NAMES[unit]
        return f"{number(nanos)} {name.removesuffix('s') if nanos == NANO else name}"
    return f"{number(nanos)} {'instance' if nanos == NANO else 'instances'} of {unit.removeprefix(PROFILES)}"


class Limit(Struct, frozen=True, kw_only=True):
    """An entry of `limits`: the most for pods of these priority classes, or for all pods if `classes` is empty."""

    hard: Amounts
    classes: tuple[str, ...] = ()


Limits = tuple[Limit, ...]

MOST_SLICES: Final = max(board.compute_slices for board in boards.BOARDS)
_MIB: Final = Fraction(1, 1024)
_GIB: Final = 2**30
_MAY_BE_NVIDIA: Final = ("nvidia", "")


class Assumption(Struct, frozen=True, kw_only=True):
    """A quota's assumption about whole devices whose board is unknown; None where it does not assume a value."""

    board: Board | None = None
    """The board of devices of NVIDIA, or of an unknown vendor."""
    slices: int | None = None
    memory: int | None = None
    """GiB."""


NOTHING_ASSUMED: Final = Assumption()


class Device(Struct, frozen=True, kw_only=True):
    """The charge of one device; `unknown` holds the units whose amount is unknown, with reasons."""

    amounts: Mapping[str, Fraction]
    unknown: Mapping[str, str] = field(default_factory=dict)
    of_gpu: Fraction = Fraction(0)
    """The part of a GPU that a MIG instance takes; 0 for devices that `gpus` counts anyway."""

    def part(self, fraction: Fraction) -> "Device":
        return Device(
            amounts={unit: amount * fraction for unit, amount in self.amounts.items()},
            unknown=self.unknown,
            of_gpu=self.of_gpu * fraction,
        )

    def as_gpu(self) -> "Device":
        """An instance that counts as its part of a GPU too."""
        found = {**self.amounts, GPUS: self.amounts.get(GPUS, self.of_gpu)}
        return Device(amounts=found, unknown=self.unknown)


def worst_device(devices: Iterable[Device]) -> Device:
    """The highest charge of several devices, unit by unit."""
    devices = tuple(devices)
    if len(devices) == 1:
        return devices[0]
    highest: dict[str, Fraction] = {}
    unknown: dict[str, str] = {}
    of_gpu = Fraction(0)
    for device in devices:
        of_gpu = max(of_gpu, device.of_gpu)
        for unit, amount in device.amounts.items():
            highest[unit] = max(highest.get(unit, amount), amount)
        unknown.update(device.unknown)
    return Device(amounts=highest, unknown=unknown, of_gpu=of_gpu)


def selected_products(
    pod_set: model.PodSet, pools: Sequence[config_pools.Pool], vocabulary: Vocabulary
) -> tuple[str, ...]:
    """The GPU products of all nodes on which the pods could run; empty where they are unknown.

    Node selector and affinity decide; else the fitting pools of usher.yaml, if each of them names its product.
    """
    named = pool_fit.allowed_label_values(pool_fit.node_alternatives(pod_set), boards.PRODUCT_LABEL)
    if named:
        return tuple(sorted(named))
    if not pools:
        return ()
    fits = pool_fit.place_pod_set(pod_set, pools, pool_fit.offering_pools(pod_set, pools, vocabulary).pools).fits
    products = {fit.pool.node_selector.get(boards.PRODUCT_LABEL, "") for fit in fits}
    return () if "" in products else tuple(sorted(products))


class Devices:
    """The devices of the nodes on which one pod set could run."""

    def __init__(self, products: Iterable[str], assumption: Assumption) -> None:
        self._products: tuple[Product | None, ...] = tuple({boards.by_product(name): None for name in products})
        self._assumption = assumption

    def of_resource(self, vendor: str) -> Device:
        """The device of a resource of whole devices; an instance under the MIG strategy `single`."""
        if vendor not in _MAY_BE_NVIDIA:
            return self.whole_device(vendor)
        return worst_device(
            self.whole_device(vendor, [found])
            if found is None or found.profile is None
            else _mig_instance(found.profile, [found.board])
            for found in self._products or (None,)
        )

    def whole_device(self, vendor: str, products: Sequence[Product | None] | None = None) -> Device:
        """A whole device of a vendor; an empty name means an unknown vendor."""
        return worst_device(map(self._of_board, self._boards(vendor, products)))

    def instance(self, profile: Profile) -> Device:
        """A MIG instance of a profile, on the boards that have it."""
        return _mig_instance(profile, [board for board in self._boards("nvidia") if board is not None])

    def some_instance(self) -> Device:
        """A MIG instance of an unknown profile: a device claim selects it by an expression."""
        device = self.whole_device("nvidia")
        reason = "usher does not read the selectors of a device claim, which contain its MIG profile"
        return Device(
            amounts={unit: amount for unit, amount in device.amounts.items() if unit != GPUS},
            unknown={**device.unknown, PROFILES: reason},
            of_gpu=Fraction(1),
        )

    def mebibyte(self) -> Device:
        """A MiB of a GPU's memory, and the same part of the rest of the GPU."""
        return worst_device(_mebibyte(self.whole_device("nvidia", [product])) for product in self._products or (None,))

    def of_memory(self, vendor: str, size: int) -> Device:
        """So many bytes of a device that claims share; all other units of the device where its board is not known."""
        return worst_device(
            _device_of_memory(self._of_board(board), Fraction(size, _GIB)) for board in self._boards(vendor)
        )

    def _boards(self, vendor: str, products: Sequence[Product | None] | None = None) -> list[Board | None]:
        if vendor not in _MAY_BE_NVIDIA:
            return [None]
        found = products if products is not None else self._products or (None,)
        return [product.board if product is not None else self._assumption.board for product in found]

    def _of_board(self, board: Board | None) -> Device:
        assumed = self._assumption
        slices = board.compute_slices if board is not None else assumed.slices or MOST_SLICES
        memory = board.memory if board is not None else assumed.memory
        found = {GPUS: Fraction(1), SLICES: Fraction(slices)}
        if memory is not None:
            return Device(amounts={**found, MEMORY: Fraction(memory)})
        reason = f"the memory of its devices is not known; select nodes by {boards.PRODUCT_LABEL}, or give the"
        return Device(amounts=found, unknown={MEMORY: f"{reason} quota an assumption (assumes)"})


def _mig_instance(profile: Profile, candidates: Collection[Board]) -> Device:
    having = [board for board in candidates if board.offer(profile) is not None] or boards.boards_with(profile)
    found = [(board, offer.shape.compute) for board in having if (offer := board.offer(profile)) is not None]
    slices = max((compute for _, compute in found), default=profile.slices)
    return Device(
        amounts={
            unit_of_profile(profile): Fraction(1),
            SLICES: Fraction(slices),
            MEMORY: Fraction(profile.gigabytes),
        },
        of_gpu=max((Fraction(compute, board.compute_slices) for board, compute in found), default=Fraction(1)),
    )


def _mebibyte(device: Device) -> Device:
    memory = device.amounts.get(MEMORY)
    if memory:
        return device.part(_MIB / memory)
    reason = "its part of a GPU's memory depends on the board, which is not known"
    return Device(
        amounts={MEMORY: _MIB},
        unknown=dict.fromkeys((GPUS, SLICES), reason),
    )


def _device_of_memory(device: Device, gibibytes: Fraction) -> Device:
    memory = device.amounts.get(MEMORY)
    if memory:
        return device.part(min(gibibytes / memory, Fraction(1)))
    return Device(amounts={**device.amounts, MEMORY: gibibytes})


GROUP: Final = "gpu-usher.io"
VERSION: Final = "v1alpha1"
KIND: Final = "GPUQuota"

_PATTERNS: Final = pydantic.TypeAdapter(list[selection.Pattern], config=pydantic.ConfigDict(defer_build=True))


def namespace_of_accounts(own: str) -> str:
    """The namespace for accounts of the quotas of usher.yaml, from the namespace of the server.

    The server may write ConfigMaps there, and not beside its own configuration.
    """
    return f"{own}-quotas"


class Requirement(Struct, frozen=True, kw_only=True):
    """One expression of a namespaceSelector."""

    key: str
    operator: str
    values: frozenset[str]


class Quota(Struct, frozen=True, kw_only=True):
    """A quota: limits for the sum of all namespaces that it selects."""

    name: str
    declared: bool
    """Whether usher.yaml declares the quota; its account is then in a ConfigMap, not in the status of a GPUQuota."""
    namespaces: tuple[str, ...]
    """Patterns of names; empty where only labels decide."""
    requirements: tuple[Requirement, ...] | None
    """Requirements on namespace labels; None without a selector, empty for a selector that fits every namespace."""
    limits: Limits
    assumption: Assumption
    charges_suspended: bool

    def __str__(self) -> str:
        return f"quota {self.name} of usher.yaml" if self.declared else f"GPUQuota {self.name}"


class Malformed(Struct, frozen=True, kw_only=True):
    """A GPUQuota that cannot be read, with its problems: JSON Pointers into the object, and reasons."""

    name: str
    problems: tuple[tuple[str, str], ...]
    namespaces: tuple[str, ...] | None
    """Patterns of the namespaces that it may select; None where they are unreadable, so that it may select any."""

    def __str__(self) -> str:
        return f"GPUQuota {self.name}"


def of_object(value: paths.Object) -> Quota | Malformed:
    """The quota of a GPUQuota object, which may have any form."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    name = name if isinstance(name, str) else ""
    spec = value.get("spec")
    read = boards.read_quota_spec(spec)
    if not isinstance(read, pools.QuotaSpec):
        return Malformed(name=name, problems=read, namespaces=_meant_for(spec))
    return _quota(name, read, declared=False)


def of_entry(entry: pools.Quota) -> Quota:
    """The quota of an entry of usher.yaml; loading has refused unknown boards."""
    return _quota(entry.name, entry, declared=True)


def _quota(name: str, spec: pools.QuotaSpec, *, declared: bool) -> Quota:
    return Quota(
        name=name,
        declared=declared,
        namespaces=tuple(spec.namespaces),
        requirements=None if spec.namespace_selector is None else _requirements(spec.namespace_selector),
        limits=tuple(
            Limit(
                hard={unit: quantities.parse(amount).nanos for unit, amount in limit.hard.items()},
                classes=tuple(limit.priority_classes),
            )
            for limit in spec.limits
        ),
        assumption=NOTHING_ASSUMED if spec.assumes is None else _assumption(spec.assumes),
        charges_suspended=spec.charges_suspended,
    )


def _requirements(selector: pools.NamespaceSelector) -> tuple[Requirement, ...]:
    return (
        *(
            Requirement(key=key, operator="In", values=frozenset({value}))
            for key, value in selector.match_labels.items()
        ),
        *(
            Requirement(key=each.key, operator=each.operator, values=frozenset(each.values))
            for each in selector.match_expressions
        ),
    )


def _assumption(assumed: pools.Assumption) -> Assumption:
    board = None if assumed.board is None else boards.by_name(assumed.board)
    return Assumption(board=board, slices=assumed.slices, memory=assumed.memory_gib)


def _meant_for(spec: paths.Json) -> tuple[str, ...] | None:
    namespaces = spec.get("namespaces") if isinstance(spec, dict) else None
    if not namespaces:
        return None
    try:
        return tuple(_PATTERNS.validate_python(namespaces))
    except pydantic.ValidationError:
        return None
