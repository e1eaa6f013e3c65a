"""MIG profiles: their names in every spelling, and how MIG divides a GPU into slices.

One profile is written `1g.10gb+me` by the driver and in mig-parted's configuration, `nvidia.com/mig-1g.10gb.me` as a
resource, and `1g.10gb.me` in the labels of GPU feature discovery, because a `+` is legal in neither. An `-me` stays
unchanged. The meaning of a name depends on the board, as does the existence of the profile: see `boards`.

Sources: NVIDIA/go-nvlib pkg/nvlib/device/mig_profile.go (grammar, slice counts), NVIDIA/k8s-device-plugin
internal/rm/rm.go (resource names), internal/resource/nvml-mig-device.go (labels), api/config/v1/consts.go (`.shared`);
docs/domain/accelerators.md#resource-names and docs/domain/mig.md#profiles.
"""

import re
from enum import StrEnum

from usher.dataclass import dataclass

RESOURCE_PREFIX = "nvidia.com/mig-"

_SIZE = r"(?P<slices>[1-8])g\.(?P<gigabytes>0|[1-9][0-9]{0,3})gb"
_VARIANT = r"(?P<variant>(?:[+.](?:me|me\.all|gfx)|-me)?)"
_NAME = re.compile(_SIZE + _VARIANT)
_RESOURCE = re.compile(_SIZE + r"(?P<variant>(?:\.(?:me|me\.all|gfx)|-me)?)(?P<shared>(?:\.shared)?)")
_COMPUTE_INSTANCE = re.compile(r"(?P<compute>[1-8])c\." + _SIZE + _VARIANT)


class Variant(StrEnum):
    """The engines of a profile beside its slices, in the driver's spelling."""

    PLAIN = ""
    MEDIA = "+me"
    """Media engines that a plain profile of its size lacks; a GPU has one set of them."""
    ALL_MEDIA = "+me.all"
    """All media engines of the GPU."""
    NO_MEDIA = "-me"
    GRAPHICS = "+gfx"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The name of a GPU instance profile: `1g.10gb`. Its meaning depends on the board."""

    slices: int
    """The number before `g`; compute slices on nearly all boards."""
    gigabytes: int
    """The number before `gb`: the profile's memory in GiB, rounded. Pods can use less."""
    variant: Variant = Variant.PLAIN

    @property
    def resource(self) -> str:
        """The extended resource under which the device plugin advertises it (MIG strategy mixed)."""
        return RESOURCE_PREFIX + str(self).replace("+", ".")

    def __str__(self) -> str:
        return f"{self.slices}g.{self.gigabytes}gb{self.variant}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertised:
    """The profile in the name of a `nvidia.com/mig-*` resource."""

    profile: Profile
    shared: bool
    """True for `.shared`: each unit is a share of an instance, which other pods use too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeInstance:
    """A part of a GPU instance, `1c.3g.20gb`. The device plugin does not advertise them, so no pod can ask for one."""

    slices: int
    profile: Profile
    """The GPU instance that it is a part of."""


def parse(text: str) -> Profile | None:
    """The profile in a text, `1g.10gb+me` or `1g.10gb.me`; None where the text is not a profile.

    Strict: no spaces, no upper case, no prefix, no `.shared`, no leading zeros.
    """
    match = _NAME.fullmatch(text)
    return None if match is None else _profile(match)


def of_resource(name: str) -> Advertised | None:
    """The MIG profile of an extended resource; None for other resources, and for names that cannot be advertised."""
    if not name.startswith(RESOURCE_PREFIX):
        return None
    match = _RESOURCE.fullmatch(name, len(RESOURCE_PREFIX))
    return None if match is None else Advertised(profile=_profile(match), shared=bool(match["shared"]))


def compute_instance(text: str) -> ComputeInstance | None:
    """The compute instance in a text, with or without the prefix of a resource; None for other texts.

    One that fills its GPU instance is written as the profile alone: `3c.3g.20gb` is not a name.
    """
    match = _COMPUTE_INSTANCE.fullmatch(text.removeprefix(RESOURCE_PREFIX))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A profile as one board offers it."""

    names: tuple[Profile, ...]
    """Its names in different drivers, the newest first."""
    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Board:
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
