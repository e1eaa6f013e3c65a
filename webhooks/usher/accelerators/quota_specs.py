"""Reads the spec of a GPUQuota, which may have any form."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pydantic

from usher import paths
from usher.accelerators import boards
from usher.config import quotas

_MOST_TOLD: Final = 10


class Problem(NamedTuple):
    """Why a spec cannot be read."""

    path: str
    """A JSON Pointer into the object."""
    reason: str


def read(spec: object) -> quotas.QuotaSpec | tuple[Problem, ...]:
    """The spec, or the first problems that it has."""
    try:
        found = quotas.QuotaSpec.model_validate(spec, strict=False, by_name=False, by_alias=True)
    except pydantic.ValidationError as error:
        problems = [Problem(_place(each["loc"]), _reason(each)) for each in error.errors(include_url=False)]
        return tuple(problems[:_MOST_TOLD])
    if found.assumes is not None and found.assumes.board is not None and boards.by_name(found.assumes.board) is None:
        return (Problem("/spec/assumes/board", f"{found.assumes.board!r:.80} is not a board that gpu-usher knows"),)
    return found


def _place(keys: Sequence[str | int]) -> str:
    """The pointer to an error. For an unknown key, pydantic names the key; the pointer then names its object."""
    return paths.join("/spec", *(keys[:-1] if keys and keys[-1] == "[key]" else keys))


def _reason(detail: Mapping[str, object]) -> str:
    if detail["type"] == "extra_forbidden":
        return "the field does not exist"
    if detail["type"] == "missing":
        return "the field is missing"
    return str(detail["msg"]).removeprefix("Value error, ")
