"""The base of our JSON documents: a shape defines their fields and the source of each value.

A shape takes its values from one of our objects. A field reads the attribute with its own name, or the one that
`attribute` names; in JSON its name is in camelCase. Documents are the same byte for byte between runs: they do not
depend on the time, the machine or the order of a hash. Within v1alpha1 fields may be added; fields keep their names and
meaning.
"""

from operator import not_
from typing import Annotated, Any, Final, TextIO

import orjson
from pydantic import AliasGenerator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from usher import paths
from usher.quantities import Quantity
from usher.reports import amounts, wording

API_VERSION: Final = "gpu-usher.io/v1alpha1"

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly; only invented numbers of pods come near it."""


class Shape(BaseModel):
    """A JSON object."""

    model_config = ConfigDict(
        from_attributes=True, frozen=True, alias_generator=AliasGenerator(serialization_alias=to_camel)
    )


def attribute(*names: str, default: Any = ...) -> Any:  # noqa: ANN401 - stands for the value of any field
    """Reads a field from an attribute with another name, or of an inner value; `default` if it is missing."""
    return Field(default=default, validation_alias=AliasPath(*names))


def write(document: Shape, stream: TextIO) -> None:
    """Writes a document with sorted keys, as indented lines."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    text = orjson.dumps(document.model_dump(by_alias=True), option=options).decode()
    stream.write(wording.json_without_commands(text))


def bounded(number: int | None) -> int | None:
    """A number, cut to MAX_INTEGER."""
    return None if number is None else max(-MAX_INTEGER, min(number, MAX_INTEGER))


def _exact(quantity: Quantity | None) -> str | None:
    return None if quantity is None else amounts.exact(quantity)


def _is_none(value: object) -> bool:
    return value is None


IF_ANY: Final = Field(exclude_if=not_)
"""Leaves a field out if it is empty or 0."""
IF_KNOWN: Final = Field(exclude_if=_is_none)
"""Leaves a field out if it is None."""

TextIfAny = Annotated[str, IF_ANY]
IntegerIfAny = Annotated[int, IF_ANY]
TextIfKnown = Annotated[str | None, IF_KNOWN]
IntegerIfKnown = Annotated[int | None, IF_KNOWN]

Bounded = Annotated[int, BeforeValidator(bounded)]
BoundedOrNull = Annotated[int | None, BeforeValidator(bounded)]
BoundedIfKnown = Annotated[BoundedOrNull, IF_KNOWN]

Exact = Annotated[str, BeforeValidator(_exact)]
"""A quantity in decimal digits, without a suffix: `"64"`, `"0.5"`; memory in bytes, cpu in cores."""
ExactIfKnown = Annotated[str | None, BeforeValidator(_exact), IF_KNOWN]

Readable = Annotated[str, BeforeValidator(paths.readable)]
"""A JSON Pointer in its readable form."""
