"""Saves verdicts as a file, so that another version of usher can compare with them. Pure.

The file is JSON: `apiVersion`, `kind` and one side. It holds names of objects and messages, and no manifests.
"""

from typing import Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from usher import errors
from usher.replay.verdicts import Side

API_VERSION: Final = "gpu-usher.io/v1alpha1"
KIND: Final = "ReplayVerdicts"

LARGEST: Final = 256 * 2**20
"""The most bytes of a file; ten thousand workloads with findings need a tenth of it."""

HEAD: Final = 4096
"""The bytes at the start of a file that `is_saved_side` needs."""


_MOST: Final = 10**18
"""The most pods or accelerators. Arithmetic with larger, invented numbers would take too long."""


class _Document(BaseModel):
    model_config = ConfigDict(extra="ignore")

    api_version: Literal["gpu-usher.io/v1alpha1"] = Field(alias="apiVersion")
    kind: Literal["ReplayVerdicts"]
    side: Side


def dumps(side: Side) -> bytes:
    """The content of a file. Equal verdicts give equal bytes."""
    document = _Document(apiVersion=API_VERSION, kind=KIND, side=side)
    return document.model_dump_json(indent=1, by_alias=True).encode() + b"\n"


def is_saved(head: bytes) -> bool:
    """Whether a file that begins with these bytes claims to hold verdicts."""
    return head.lstrip().startswith(b"{") and KIND.encode() in head


def loads(data: bytes, *, source: str) -> Side:
    """The verdicts in a file.

    Raises:
        InputError: it holds no verdicts, or is damaged, too large or of another version; the message names `source`.
    """
    if len(data) > LARGEST:
        raise errors.InputError(f"{source}: larger than {LARGEST // 2**20} MiB, too large for verdicts")
    try:
        head = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise errors.InputError(
            f"{source}:{error.lineno}: not complete JSON; write it again with `usher replay --save`"
        ) from None
    if not isinstance(head, dict) or head.get("kind") != KIND:
        raise errors.InputError(f"{source}: holds no verdicts; `usher replay --save` writes them")
    if head.get("apiVersion") != API_VERSION:
        version = str(head.get("apiVersion"))[:64]
        raise errors.InputError(
            f"{source}: verdicts of format {version}, but this usher reads {API_VERSION}; write them again with it"
        )
    try:
        side = _Document.model_validate_json(data).side
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))[:200]
        raise errors.InputError(
            f"{source}: {field}: {first['msg']}; write it again with `usher replay --save`"
        ) from None
    if any(not 0 <= amount.number <= _MOST for each in side.verdicts for amount in (each.pods, *each.devices.values())):
        raise errors.InputError(f"{source}: a number of pods or accelerators that no cluster has; write it again")
    return side
