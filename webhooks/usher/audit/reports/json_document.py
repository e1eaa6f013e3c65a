"""The document of an audit or of a fleet as JSON, with sorted keys.

Two audits of an unchanged cluster differ only in their times; the same parts of a fleet give the same bytes.
"""

import json
from collections.abc import Iterator
from typing import Any, TextIO

import orjson
from pydantic import BaseModel

from usher.audit.document import Audit
from usher.audit.document.fleet import Fleet
from usher.check.formats import wording


def write(document: Audit | Fleet, stream: TextIO, /) -> None:
    """Writes the document, in which no CI system finds a command."""
    # A part at a time: as values of JSON a large document takes several times its size.
    stream.writelines(wording.json_without_commands(piece) for piece in _pieces(document))


def values(audit: Audit) -> dict[str, Any]:
    """The document as values of JSON."""
    return audit.model_dump(mode="json", by_alias=True)


def text(audit: Audit) -> str:
    """The document as indented lines."""
    return "".join(_pieces(audit))


def _pieces(document: Audit | Fleet) -> Iterator[str]:
    names = {each.serialization_alias or name: name for name, each in type(document).model_fields.items()}
    for number, (alias, name) in enumerate(sorted(names.items())):
        yield f"{',' if number else '{'}\n  {json.dumps(alias)}: "
        value = getattr(document, name)
        if isinstance(value, tuple) and value:
            for place, part in enumerate(value):
                yield f"{',' if place else '['}\n    {_indented(part.model_dump(mode='json', by_alias=True), 4)}"
            yield "\n  ]"
        else:
            dumped = value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value
            yield _indented(dumped, 2)
    yield "\n}\n"


def _indented(value: Any, spaces: int) -> str:  # noqa: ANN401 - any value of JSON
    try:
        dumped = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        # A number of more than 64 bits, or half of a surrogate pair.
        dumped = json.dumps(value, indent=2, sort_keys=True)
    # Within texts of JSON a line end is an escape.
    return dumped.replace("\n", "\n" + " " * spaces)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document. Readers allow fields beyond it: a later usher may add some."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return draft | Audit.model_json_schema(by_alias=True, mode="serialization")
