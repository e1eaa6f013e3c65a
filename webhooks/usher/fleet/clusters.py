"""The clusters of a fleet: a file that names one context or kubeconfig for each shard."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import pydantic
from pydantic import StringConstraints

from usher import errors
from usher.dataclass import dataclass
from usher.documents import reader

MOST: Final = 10_000
_Text = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$")]


class _Entry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: _Text
    context: _Text | None = None
    kubeconfig: _Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCluster:
    name: str
    """Its name in reports."""
    context: str | None
    kubeconfig: Path | None
    """None for the one of the environment."""


def read(file: Path) -> tuple[FleetCluster, ...]:
    """The clusters of a file, in its order: a list of entries with `name`, and `context`, `kubeconfig` or both.

    A kubeconfig is a path from the folder of the file. The order counts, because a shard is a place in it.

    Raises:
        InputError: the file cannot be read, or an entry is not usable; the message names it.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise errors.InputError(f"{file}: {error.strerror}") from None
    values = [each.value for each in reader.parse(content, source=str(file))]
    entries = values[0] if len(values) == 1 else None
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST:
        raise errors.InputError(f"{file}: write a list of 1 to {MOST:,} clusters: [{{name: prod, context: prod}}, ...]")
    found = tuple(_cluster(each, number, file) for number, each in enumerate(entries))
    names = Counter(each.name for each in found)
    twice = next((name for name, number in names.items() if number > 1), None)
    if twice is not None:
        raise errors.InputError(f"{file}: two clusters have the name {twice}; the merge would keep one of them")
    return found


def _cluster(value: object, number: int, file: Path) -> FleetCluster:
    try:
        entry = _Entry.model_validate(value)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the entry"
        raise errors.InputError(f"{file}: entry {number}: {where}: {first['msg'].lower()}") from None
    if entry.context is None and entry.kubeconfig is None:
        raise errors.InputError(f"{file}: entry {number}: {entry.name} names neither a context nor a kubeconfig")
    kubeconfig = None if entry.kubeconfig is None else file.parent / entry.kubeconfig
    return FleetCluster(name=entry.name, context=entry.context, kubeconfig=kubeconfig)
