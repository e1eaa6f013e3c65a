"""The document of a fleet as JSON, with sorted keys: the same parts give the same bytes."""

import json
from typing import TextIO

import orjson

from usher.audit.document.fleet import Fleet
from usher.reports import wording


def write(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes the document, in which no CI system finds a command."""
    value = fleet.model_dump(mode="json", by_alias=True)
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    try:
        text = orjson.dumps(value, option=options).decode()
    except orjson.JSONEncodeError:
        # A number of more than 64 bits, or half of a surrogate pair.
        text = json.dumps(value, indent=2, sort_keys=True) + "\n"
    stream.write(wording.json_without_commands(text))
