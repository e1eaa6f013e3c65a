"""Writes the tables of the package and the descriptions of kinds that ship with usher as JSON, which usher reads.

YAML takes long to read, so people write YAML, and usher reads JSON. scripts/generate runs this tool.
"""

from pathlib import Path
from typing import Final

import orjson
import yaml
from pydantic import TypeAdapter

from usher.config.described_kinds import ShippedKind

PACKAGE: Final = Path(__file__).parents[1] / "webhooks/usher"
FOLDER: Final = PACKAGE / "kinds/descriptions"

TABLES: Final = (
    "accelerators/boards.yaml",
    "accelerators/device_classes.yaml",
    "accelerators/vendors.yaml",
    "cli/commands.yaml",
    "cli/formats.yaml",
    "kinds/reading/answers.yaml",
    "kinds/reading/inner_names.yaml",
    "kinds/reading/known_keys.yaml",
    "kinds/reading/started_programs.yaml",
    "kinds/reading/variables.yaml",
    "kinds/records.yaml",
    "kinds/scaled_children.yaml",
    "kinds/shapes.yaml",
    "workloads/programs.yaml",
    "workloads/servers.yaml",
)
"""Files of rows; the JSON stands beside them."""


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
    return _one_a_line([each.model_dump(exclude_defaults=True, exclude_none=True) for each in found])


def table(file: Path) -> bytes:
    """The rows of a file of YAML, one a line."""
    return _one_a_line(yaml.safe_load(file.read_text(encoding="utf-8")))


def _one_a_line(rows: list[object] | dict[str, object]) -> bytes:
    if isinstance(rows, list):
        return b"[\n" + b",\n".join(map(orjson.dumps, rows)) + b"\n]\n"
    lines = (orjson.dumps(key) + b":" + orjson.dumps(each) for key, each in rows.items())
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def results(package: Path = PACKAGE) -> dict[Path, bytes]:
    """All files that this tool writes, with their contents."""
    found = {(package / name).with_suffix(".json"): table(package / name) for name in TABLES}
    return {package / "kinds/descriptions/descriptions.json": compiled(package / "kinds/descriptions"), **found}


def write(package: Path = PACKAGE) -> None:
    """Writes these files."""
    for path, content in results(package).items():
        path.write_bytes(content)


if __name__ == "__main__":
    write()
