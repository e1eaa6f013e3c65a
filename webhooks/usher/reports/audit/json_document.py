"""The audit document as JSON, with sorted keys: two audits of an unchanged cluster differ only in their times."""

import json
from typing import Any, TextIO

import orjson

from usher.audit.document import Audit
from usher.reports import wording


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the document, in which no CI system finds a command."""
    stream.write(wording.json_without_commands(text(audit)))


def values(audit: Audit) -> dict[str, Any]:
    """The document as values of JSON."""
    return audit.model_dump(mode="json", by_alias=True)


def text(audit: Audit) -> str:
    """The document as indented lines."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    document = values(audit)
    try:
        return orjson.dumps(document, option=options).decode()
    except orjson.JSONEncodeError:
        # A number of more than 64 bits, or half of a surrogate pair.
        return json.dumps(document, indent=2, sort_keys=True) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of the document. Readers allow fields beyond it: a later usher may add some."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return draft | Audit.model_json_schema(by_alias=True, mode="serialization")
