"""How MIG divides a GPU: the words in which boards are described, and nothing of any one board.

A GPU is a row of memory slices. An instance lies on some of them, side by side, from one of the places that its shape
allows; with it come compute slices, and media engines of which there may be fewer than slices.
Source: NVML, nvmlGpuInstancePlacement_t; docs/domain/mig.md#placement.
"""

from dataclasses import dataclass

from usher.accelerators import profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How much of a GPU an instance takes, and where it may lie."""

    compute: int
    """Compute slices, in the board's unit."""
    memory: int
    """Memory slices, in the board's unit."""
    maximum: int
    """How many of it fit on a GPU that holds nothing else."""
    starts: tuple[int, ...]
    """The memory slices at which it may begin."""
    engines: tuple[int, ...]
    """What it takes of each of the board's engines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A profile as one board has it."""

    names: tuple[profiles.Profile, ...]
    """Drivers may have more than one name for it; the first is that of newer ones."""
    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Board:
    """One GPU, as MIG divides it. Boards are compared by identity: there is one of each."""

    name: str
    """Model and GB, as in `gpu.board` of usher.yaml: `H100-80`."""
    aliases: tuple[str, ...]
    """Names that mean the same, or another model that is divided in the same way."""
    compute_slices: int
    memory_slices: int
    memory: int
    """GiB, as the name of the full profile counts them."""
    engines: tuple[int, ...]
    """How many it has of what can run out before slices do: OFAs; of RTX PRO decoders, JPEG decoders and OFAs."""
    offers: tuple[Offer, ...]
    """Largest first."""
    products: tuple[str, ...]
    """Values of the label nvidia.com/gpu.product, without the leading `NVIDIA-`."""

    def offer(self, profile: profiles.Profile) -> Offer | None:
        """What the board has under that name; None where it has nothing."""
        return next((offer for offer in self.offers if profile in offer.names), None)
