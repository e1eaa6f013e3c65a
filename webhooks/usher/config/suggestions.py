"""What the writer of usher.yaml may have meant by a word that usher does not know."""

import re
import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Union, get_args, get_origin

import pydantic_core
from pydantic import BaseModel

from usher.config import models, words

_QUOTED: Final = re.compile(r"'([^']*)'")


def of_key(location: Sequence[int | str]) -> str:
    """The suggestion for an unknown key of a section; `location` is its place as in errors of pydantic."""
    section = _section(models.Config, location[:-1])
    if section is None:
        return ""
    return words.nearest(str(location[-1]), [field.alias or name for name, field in section.model_fields.items()])


def of_word(detail: pydantic_core.ErrorDetails) -> str:
    """The suggestion for a word that is not one of a few."""
    given = detail.get("input")
    if detail["type"] != "literal_error" or not isinstance(given, str):
        return ""
    return words.nearest(given, _QUOTED.findall(str(detail.get("ctx", {}).get("expected", ""))))


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
    # An entry of a list or of a mapping by names is one step more.
    holds_many = any(get_origin(each) in (list, dict) for each in _parts(field.annotation))
    return _section(inner, location[2 if holds_many else 1 :])


def _sections(annotation: Any) -> Iterable[type[BaseModel]]:  # noqa: ANN401 - any annotation of a field
    for part in _parts(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _parts(annotation: Any) -> Iterable[Any]:  # noqa: ANN401 - any annotation of a field
    """An annotation and what it consists of."""
    yield annotation
    if get_origin(annotation) in (list, dict, Annotated, Union, types.UnionType):
        for argument in get_args(annotation):
            yield from _parts(argument)
