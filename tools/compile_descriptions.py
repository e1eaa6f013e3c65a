"""Writes the descriptions of kinds that ship with usher as JSON, which usher reads. scripts/generate runs it."""

import sys
from pathlib import Path
from typing import Final

import orjson
import yaml
from pydantic import TypeAdapter

from usher.config.described_kinds import ShippedKind

FOLDER: Final = Path(__file__).parents[1] / "webhooks/usher/kinds/descriptions"


def compiled(folder: Path = FOLDER) -> bytes:
    """The descriptions of all files of a folder, checked, with one description a line.

    Raises:
        ValidationError: a description does not fit the format.
    """
    adapter = TypeAdapter(list[ShippedKind])
    found = [
        each
        for file in sorted(folder.glob("*.yaml"))
        for each in adapter.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    ]
    lines = [orjson.dumps(each.model_dump(exclude_defaults=True, exclude_none=True)) for each in found]
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(compiled())
