"""Suggestions for words of usher.yaml that usher does not know."""

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from usher.config import models, words

_SAME: Final[Mapping[str, Sequence[str]]] = {
    "accelerators": ("resources", "minAccelerators"),
    "apply": ("action",),
    "board": ("gpu",),
    "labels": ("nodeSelector",),
    "max": ("hard",),
    "mode": ("action",),
    "nodelabels": ("nodeSelector",),
    "outcome": ("action",),
    "queue": ("localQueue",),
    "roles": ("for",),
    "rules": ("classes",),
    "severity": ("action",),
    "until": ("expires",),
}
"""Keys that other tools, or other parts of usher, use for the same thing, in lower case."""


def of_key(location: Sequence[int | str]) -> str:
    """A suggestion for an unknown key of a section; `location` is its place as in errors of pydantic.

    The suggestion is the nearest key, or a key of the same meaning; else all keys of the section.
    """
    section = _section(models.Config, location[:-1])
    if section is None:
        return ""
    known = [field.alias or name for name, field in section.model_fields.items()]
    key = str(location[-1])
    same = next((name for name in _SAME.get(key.casefold(), ()) if name in known), "")
    if same:
        return f"; did you mean {same}?"
    return words.nearest(key, known) or f"; this section has {', '.join(sorted(known))}"


def of_choice(given: object, known: str) -> str:
    """The suggestion for a wrong word; `known` lists the accepted words as `one, other or third`."""
    if not isinstance(given, str):
        return ""
    return words.nearest(given, known.replace(" or ", ", ").split(", "))


def _section(section: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """The section at a place below another one; None where the place has no fixed keys."""
    if not location:
        return section
    field = next((each for name, each in section.model_fields.items() if location[0] in (name, each.alias)), None)
    if field is None:
        return None
    inner = next(iter(_sections(field.annotation)), None)
    if inner is None:
        return None
    # An entry of a list or of a mapping by names is one step deeper.
    holds_many = any(get_origin(each) in (list, dict) for each in _parts(field.annotation))
    return _section(inner, location[2 if holds_many else 1 :])


def _sections(annotation: Any) -> Iterable[type[BaseModel]]:  # noqa: ANN401 - any annotation of a field
    for part in _parts(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _parts(annotation: Any) -> Iterable[Any]:  # noqa: ANN401 - any annotation of a field
    """An annotation and its parts."""
    yield annotation
    if get_origin(annotation) in (list, dict, Annotated, Union, types.UnionType):
        for argument in get_args(annotation):
            yield from _parts(argument)
