"""MIG profiles: whether their instances fit on a GPU, and how many GPUs they need. Pure.

A request is a count per profile. Counts come from manifests and may be absurd, so no work grows with them. The sets
that fit on one GPU are enumerated once per board, by the memory slices that instances may start at: at most a few
hundred. A search finds them, because a greedy filling would not: `3g+4x1g` fits only with the 3g at slice 4. All
functions assume that instances may move; a GPU that is already divided may offer less.

One profile is written `1g.10gb+me` by the driver and in mig-parted's configuration, `nvidia.com/mig-1g.10gb.me` as a
resource, and `1g.10gb.me` in the labels of GPU feature discovery, because a `+` is legal in neither. An `-me` stays
unchanged. The meaning of a name depends on the board, as does the existence of the profile: see `boards`.

Sources: NVIDIA/go-nvlib pkg/nvlib/device/mig_profile.go (grammar, slice counts), NVIDIA/k8s-device-plugin
internal/rm/rm.go (resource names), internal/resource/nvml-mig-device.go (labels), api/config/v1/consts.go (`.shared`);
docs/domain/accelerators.md#resource-names and docs/domain/mig.md#profiles.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from functools import cache, lru_cache

from msgspec import Struct

from usher import memo

MIG_RESOURCE_PREFIX = "nvidia.com/mig-"

_SIZE = r"(?P<slices>[1-8])g\.(?P<gigabytes>0|[1-9][0-9]{0,3})gb"
_VARIANT = r"(?P<variant>(?:[+.](?:me|me\.all|gfx)|-me)?)"
_NAME = memo.pattern(_SIZE + _VARIANT)
_RESOURCE = memo.pattern(_SIZE + r"(?P<variant>(?:\.(?:me|me\.all|gfx)|-me)?)(?P<shared>(?:\.shared)?)")
_COMPUTE_INSTANCE = memo.pattern(r"(?P<compute>[1-8])c\." + _SIZE + _VARIANT)


class Variant(StrEnum):
    """The engines of a profile beside its slices, in the driver's spelling."""

    PLAIN = ""
    MEDIA = "+me"
    """Media engines that a plain profile of its size lacks; a GPU has one set of them."""
    ALL_MEDIA = "+me.all"
    """All media engines of the GPU."""
    NO_MEDIA = "-me"
    GRAPHICS = "+gfx"


class Profile(Struct, frozen=True, kw_only=True):
    """The name of a GPU instance profile: `1g.10gb`. Its meaning depends on the board."""

    slices: int
    """The number before `g`; compute slices on nearly all boards."""
    gigabytes: int
    """The number before `gb`: the profile's memory in GiB, rounded. Pods can use less."""
    variant: Variant = Variant.PLAIN

    @property
    def resource(self) -> str:
        """The extended resource under which the device plugin advertises it (MIG strategy mixed)."""
        return MIG_RESOURCE_PREFIX + str(self).replace("+", ".")

    def __str__(self) -> str:
        return f"{self.slices}g.{self.gigabytes}gb{self.variant}"


class Advertised(Struct, frozen=True, kw_only=True):
    """The profile in the name of a `nvidia.com/mig-*` resource."""

    profile: Profile
    shared: bool
    """True for `.shared`: each unit is a share of an instance, which other pods use too."""


class ComputeInstance(Struct, frozen=True, kw_only=True):
    """A part of a GPU instance, `1c.3g.20gb`. The device plugin does not advertise them, so no pod can ask for one."""

    slices: int
    profile: Profile
    """The GPU instance that it is a part of."""


def parse_profile(text: str) -> Profile | None:
    """The profile in a text, `1g.10gb+me` or `1g.10gb.me`; None where the text is not a profile.

    Strict: no spaces, no upper case, no prefix, no `.shared`, no leading zeros.
    """
    match = _NAME.fullmatch(text)
    return None if match is None else _profile(match)


def profile_of_resource(name: str) -> Advertised | None:
    """The MIG profile of an extended resource; None for other resources, and for names that cannot be advertised."""
    if not name.startswith(MIG_RESOURCE_PREFIX):
        return None
    match = _RESOURCE.fullmatch(name, len(MIG_RESOURCE_PREFIX))
    return None if match is None else Advertised(profile=_profile(match), shared=bool(match["shared"]))


def compute_instance(text: str) -> ComputeInstance | None:
    """The compute instance in a text, with or without the prefix of a resource; None for other texts.

    One that fills its GPU instance is written as the profile alone: `3c.3g.20gb` is not a name.
    """
    match = _COMPUTE_INSTANCE.fullmatch(text.removeprefix(MIG_RESOURCE_PREFIX))
    if match is None or int(match["compute"]) >= int(match["slices"]):
        return None
    return ComputeInstance(slices=int(match["compute"]), profile=_profile(match))


def _profile(match: re.Match[str]) -> Profile:
    variant = match["variant"]
    return Profile(
        slices=int(match["slices"]),
        gigabytes=int(match["gigabytes"]),
        variant=Variant("+" + variant[1:] if variant.startswith(".") else variant),
    )


class Shape(Struct, frozen=True, kw_only=True):
    """The part of a GPU that an instance takes, and where on the GPU it may start."""

    compute: int
    """Compute slices, in the board's unit."""
    memory: int
    """Memory slices, in the board's unit."""
    maximum: int
    """How many instances fit on an empty GPU."""
    starts: tuple[int, ...]
    """The memory slices at which it may start."""
    engines: tuple[int, ...]
    """How many of each of the board's engines it takes."""


class Offer(Struct, frozen=True, kw_only=True):
    """A profile as one board offers it."""

    names: tuple[Profile, ...]
    """Its names in different drivers, the newest first."""
    shape: Shape


class Board(Struct, frozen=True, kw_only=True, eq=False):
    """A model of GPU, as MIG divides it. Boards are compared by identity."""

    name: str
    """Model and GB, as in `gpu.board` of usher.yaml: `H100-80`."""
    aliases: tuple[str, ...]
    """Names that mean the same, or another model that is divided in the same way."""
    compute_slices: int
    memory_slices: int
    memory: int
    """GiB, as the name of the full profile counts them."""
    engines: tuple[int, ...]
    """Its engines that can run out before slices do: OFAs; on RTX PRO decoders, JPEG decoders and OFAs."""
    offers: tuple[Offer, ...]
    """Largest first."""
    products: tuple[str, ...]
    """Values of the label nvidia.com/gpu.product, without the leading `NVIDIA-`."""

    def offer(self, profile: Profile) -> Offer | None:
        """The offer with that profile; None where the board lacks it."""
        return next((offer for offer in self.offers if profile in offer.names), None)


Instances = Mapping[Profile, int]
"""How many instances of each profile; counts below 1 place nothing."""

EXACT_INSTANCES = 16
"""Instances of several profiles for which `gpus_needed` is exact. For one profile it is exact for any count."""

# How many instances of each of a board's offers, in their order.
_Counts = tuple[int, ...]


class GpusNeeded(Struct, frozen=True, kw_only=True):
    """The fewest GPUs of one board on which instances can be placed."""

    at_least: int
    exact: bool
    """False if more may be needed: the set is too large to search, and `at_least` is a bound from sums."""


class Share(Struct, frozen=True, kw_only=True):
    """The part of a GPU that an instance is. Shares of all profiles and boards can be added up."""

    compute: Fraction
    memory: Fraction
    gibibytes: int
    """The number in the profile's name, which is rounded."""

    def __add__(self, other: "Share") -> "Share":
        return Share(
            compute=self.compute + other.compute,
            memory=self.memory + other.memory,
            gibibytes=self.gibibytes + other.gibibytes,
        )

    def __mul__(self, count: int) -> "Share":
        return Share(compute=self.compute * count, memory=self.memory * count, gibibytes=self.gibibytes * count)


def instances_fit(board: Board, instances: Instances) -> bool:
    """Whether all instances can be placed on one GPU together; False too if the board lacks one of the profiles."""
    counts = _counts(board, instances)
    return counts is not None and counts in _feasible(board)


def gpus_needed(board: Board, instances: Instances) -> GpusNeeded | None:
    """The fewest GPUs of the board that hold all instances; None where it lacks one of the profiles.

    Exact for any number of instances of one profile and for up to EXACT_INSTANCES of several. Beyond that exact only
    where one GPU is enough, otherwise a lower bound: no fewer GPUs have the slices, engines and places.
    """
    counts = _counts(board, instances)
    return None if counts is None else _needed(board, counts)


def room_beside(board: Board, placed: Instances) -> dict[Profile, int] | None:
    """How many more of each profile one GPU holds beside the placed instances; None where these do not fit."""
    counts = _counts(board, placed)
    if counts is None or counts not in _feasible(board):
        return None
    room = {}
    for index, offer in enumerate(board.offers):
        free = 0
        while _counts_with_more(counts, index, free + 1) in _feasible(board):
            free += 1
        room[offer.names[0]] = free
    return room


def share_of_instance(board: Board, profile: Profile) -> Share | None:
    """The share of one instance on the board: 1g.10gb is 1/7 and 2/8 of an A100-40; None without that profile."""
    offer = board.offer(profile)
    if offer is None:
        return None
    return Share(
        compute=Fraction(offer.shape.compute, board.compute_slices),
        memory=Fraction(offer.shape.memory, board.memory_slices),
        gibibytes=profile.gigabytes,
    )


def _counts(board: Board, instances: Instances) -> _Counts | None:
    counts = [0] * len(board.offers)
    for profile, count in instances.items():
        if count < 1:
            continue
        offer = board.offer(profile)
        if offer is None:
            return None
        counts[board.offers.index(offer)] += count
    return tuple(counts)


@cache
def _feasible(board: Board) -> frozenset[_Counts]:
    """Every set of instances that fits on one GPU, the empty one included; built slice by slice."""
    none = (0,) * len(board.offers)
    up_to: list[set[_Counts]] = [{none}, *(set() for _ in range(board.memory_slices))]
    for start in range(board.memory_slices):
        for counts in up_to[start]:
            up_to[start + 1].add(counts)
            for index, offer in enumerate(board.offers):
                if start in offer.shape.starts:
                    more = _counts_with_more(counts, index, 1)
                    if more[index] <= offer.shape.maximum and _has_engines(board, more):
                        up_to[start + offer.shape.memory].add(more)
    return frozenset(up_to[-1])


def _has_engines(board: Board, counts: _Counts) -> bool:
    return all(
        sum(count * offer.shape.engines[engine] for count, offer in zip(counts, board.offers, strict=True)) <= available
        for engine, available in enumerate(board.engines)
    )


@cache
def _complete_layouts(board: Board) -> tuple[_Counts, ...]:
    """The sets that have no room for another instance."""
    feasible = _feasible(board)
    return tuple(
        sorted(
            counts
            for counts in feasible
            if not any(_counts_with_more(counts, index, 1) in feasible for index in range(len(counts)))
        )
    )


@cache
def _weights(board: Board) -> tuple[tuple[int, _Counts], ...]:
    """Ways to weigh instances, each with the most that one GPU holds, so that a set's weight bounds its GPUs.

    The weights are memory, compute, each engine, the number of each profile, and the number of all instances that are
    at least as large as one of them, with and without those that take the whole of an engine.
    """
    shapes = [offer.shape for offer in board.offers]
    scarce = [any(map(int.__eq__, shape.engines, board.engines)) for shape in shapes]
    ways = {
        tuple(shape.memory for shape in shapes),
        tuple(shape.compute for shape in shapes),
        *(tuple(shape.engines[engine] for shape in shapes) for engine in range(len(board.engines))),
    }
    for last in range(len(shapes)):
        ways.add(tuple(int(index == last) for index in range(len(shapes))))
        ways.add(tuple(int(index <= last) for index in range(len(shapes))))
        ways.add(tuple(int(index <= last or scarce[index]) for index in range(len(shapes))))
    return tuple((max(_weigh(way, counts) for counts in _complete_layouts(board)), way) for way in ways if any(way))


@lru_cache(maxsize=1024)
def _needed(board: Board, counts: _Counts) -> GpusNeeded:
    bound = _lower_bound(board, counts)
    if sum(map(bool, counts)) <= 1 or counts in _feasible(board):
        return GpusNeeded(at_least=bound, exact=True)
    if sum(counts) > EXACT_INSTANCES:
        return GpusNeeded(at_least=bound, exact=False)
    hopeless: dict[_Counts, int] = {}
    while not _can_place(board, counts, bound, hopeless):
        bound += 1
    return GpusNeeded(at_least=bound, exact=True)


def _can_place(board: Board, counts: _Counts, gpus: int, hopeless: dict[_Counts, int]) -> bool:
    """Whether this number of GPUs holds the instances. `hopeless` keeps by counts how many GPUs were not enough."""
    if not any(counts):
        return True
    if gpus <= hopeless.get(counts, -1) or _lower_bound(board, counts) > gpus:
        return False
    for held in _best_fillings(board, counts):
        if _can_place(board, tuple(map(int.__sub__, counts, held)), gpus - 1, hopeless):
            return True
    hopeless[counts] = gpus
    return False


def _best_fillings(board: Board, counts: _Counts) -> list[_Counts]:
    """The fillings of one GPU with the largest instance, without those that are part of another filling."""
    largest = next(index for index, count in enumerate(counts) if count)
    fillings = {tuple(map(min, counts, full)) for full in _complete_layouts(board) if full[largest]}
    best = [one for one in fillings if not any(one != other and all(map(int.__le__, one, other)) for other in fillings)]
    memory = tuple(offer.shape.memory for offer in board.offers)
    return sorted(best, key=lambda filling: (_weigh(memory, filling), filling), reverse=True)


def _lower_bound(board: Board, counts: _Counts) -> int:
    return max(-(-_weigh(way, counts) // most) for most, way in _weights(board))


def _weigh(way: _Counts, counts: _Counts) -> int:
    return sum(map(int.__mul__, way, counts))


def _counts_with_more(counts: _Counts, index: int, added: int) -> _Counts:
    return (*counts[:index], counts[index] + added, *counts[index + 1 :])
