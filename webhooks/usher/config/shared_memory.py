"""The section `sharedMemory` of usher.yaml: the volume that mutations mount at /dev/shm."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from usher import errors, quantities
from usher.config.fields import Role, Section

MEBIBYTE: Final = 1 << 20

LEAST: Final = 64
"""Mebibytes of shared memory of a container by default."""


def _is_size(text: str) -> str:
    try:
        found = quantities.parse(text)
    except errors.QuantityError as error:
        raise ValueError(str(error)) from error
    if found.value // MEBIBYTE <= LEAST:
        raise ValueError(f"{text} is at most {LEAST}Mi, with which every container starts")
    return text


Size = Annotated[str, AfterValidator(_is_size)]
"""A quantity of bytes above 64Mi."""


class SharedMemory(Section):
    """The size of shared memory, and the workloads that get it."""

    size: Size | None = Field(
        default=None,
        description="Size of the volume, or half of the memory limit if that is smaller. By default half of the memory "
        "limit or, without a limit, of the memory request, and at most 64Gi.",
    )
    fallback: Size | None = Field(
        default=None,
        description="Size for containers without a memory limit and without a memory request. By default these get no "
        "shared memory.",
    )
    roles: list[Role] = Field(
        default=["training"],
        description="Roles of the workloads that get it. Models that span several pods get it with training.",
    )


def mebibytes(size: Size) -> int:
    """A size in whole mebibytes, rounded down."""
    return quantities.parse(size).value // MEBIBYTE
