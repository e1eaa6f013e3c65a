"""The good part of a configuration with mistakes, so that checks of its meaning report all other mistakes too."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pydantic

from usher import paths
from usher.config import models
from usher.dataclass import dataclass

_MOST_ROUNDS: Final = 8
"""A mistake may hide another one, so usher removes mistakes this many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """A configuration without its mistakes."""

    config: models.Config
    entries: Mapping[str, Sequence[int]]
    """By the pointer of a list in the configuration: the indices that its entries have in the file."""

    def pointer_in_file(self, pointer: str) -> str:
        """The pointer of the same place in the file, where lists are longer."""
        found = here = paths.ROOT
        for key in paths.split(pointer):
            kept = self.entries.get(here)
            inside = kept is not None and key.isdecimal() and int(key) < len(kept)
            found = paths.join(found, kept[int(key)] if kept is not None and inside else key)
            here = paths.join(here, key)
        return found


def salvage(value: paths.Json) -> Salvaged | None:
    """The configuration in a document, without the entries and fields that are wrong; None if nothing is left."""
    entries: dict[str, list[int]] = {}
    for _ in range(_MOST_ROUNDS):
        try:
            config = models.Config.model_validate(value)
        except pydantic.ValidationError as error:
            wrong = [tuple(detail["loc"]) for detail in error.errors()]
            value = _without(value, wrong, paths.ROOT, entries)
        else:
            return Salvaged(config=config, entries=entries)
    return None


def _without(
    value: paths.Json, wrong: Sequence[tuple[int | str, ...]], pointer: str, entries: dict[str, list[int]]
) -> paths.Json:
    """The value without the entries of its outermost lists, and without the fields, that hold a mistake."""
    if isinstance(value, list):
        hurt = {location[0] for location in wrong if location}
        before = entries.get(pointer, list(range(len(value))))
        entries[pointer] = [original for index, original in enumerate(before) if index not in hurt]
        return [item for index, item in enumerate(value) if index not in hurt]
    if not isinstance(value, dict):
        return None
    return dict(_good_fields(value, wrong, pointer, entries))


def _good_fields(
    value: Mapping[str, paths.Json],
    wrong: Sequence[tuple[int | str, ...]],
    pointer: str,
    entries: dict[str, list[int]],
) -> Iterable[tuple[str, paths.Json]]:
    for name, child in value.items():
        below = [location[1:] for location in wrong if location and location[0] == name]
        if not below:
            yield name, child
        elif all(below) and isinstance(child, dict | list):
            yield name, _without(child, below, paths.join(pointer, name), entries)
