"""Writes the tables of the package and the descriptions of kinds that ship with usher as JSON, which usher reads.

YAML takes long to read, so people write YAML, and usher reads JSON. scripts/generate runs this tool.

It gives the rows of `values` and `beside` in known_keys.yaml the words without which an object does not meet them, so
that most objects are compared with few of their patterns.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _constants as kinds_of_nodes  # type: ignore[attr-defined] # the nodes of a pattern have no public names
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

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
    rows = yaml.safe_load(file.read_text(encoding="utf-8"))
    if file.name == "known_keys.yaml":
        rows.update({part: [with_words(row) for row in rows[part]] for part in ("values", "beside")})
    if file.name == "started_programs.yaml":
        rows["arguments"] = [_with_words_of_text(row) for row in rows["arguments"]]
    return _one_a_line(rows)


def _with_words_of_text(row: dict[str, Any]) -> dict[str, Any]:
    """A row with `words`: every text that `has` finds has one of them, in small letters."""
    best = _longest(_words_of_nodes(parser.parse(row.get("has", ""))))
    return {**row, "words": sorted(best)} if best else row


_SAFE: Final = re.compile(r"[A-Za-z0-9_./@:=+-]")
"""Letters of texts that JSON and Python write as they are."""
_SHORTEST: Final = 4
_MOST_WORDS: Final = 24
_FEW: Final = 4
"""The most words of a group of `also`."""
_MORE: Final = 3
"""The most groups of `also`."""
_COMMON: Final = frozenset({
    "annotations", "args", "claimName", "command", "containerPort", "containers", "emptyDir", "env", "image",
    "initContainers", "labels", "limits", "matchLabels", "memory", "metadata", "mountPath", "name", "namespace",
    "nodeSelector", "path", "persistentVolumeClaim", "ports", "replicas", "requests", "resources", "schedulerName",
    "securityContext", "selector", "spec", "template", "tolerations", "type", "value", "volumes", "volumeMounts",
})  # fmt: skip
"""Keys that many objects have."""


def with_words(row: dict[str, Any]) -> dict[str, Any]:
    """A row with `words`: the JSON of every object that meets the row has one of them, in small letters.

    `also` has more groups of words; the JSON has one of each.
    """
    places = {row["at"]: row.get("pattern", ""), **row.get("only", {})}
    if any("~" in place for place in (row.get("each", ""), *places)):
        return row  # a text in the object may be written in other letters
    groups = [group for pattern in places.values() for group in words_of_pattern(pattern)]
    groups += [group for place in (row.get("each", ""), *places) for group in _keys_of_place(place)]
    best = _longest(groups)
    others = {tuple(sorted(group)) for group in groups if group != best and len(group) <= _FEW}
    also = sorted(others, key=lambda group: (len(group), -min(map(len, group)), group))[:_MORE]
    return {**row, "words": sorted(best), **({"also": also} if also else {})} if best else row


def _longest(groups: Iterable[set[str]]) -> set[str]:
    return max(groups, key=lambda group: (min(map(len, group)), -len(group)), default=set[str]())


def _keys_of_place(place: str) -> Iterator[set[str]]:
    """Groups of the rarer keys; an object with something at a place has one of each group."""
    ways = [
        {step.replace("\N{ONE DOT LEADER}", ".") for step in re.split(r"\.|\[\d*\]|\^|\*|\+", way)}
        for one in place.removeprefix("$.").split() or [""]
        for way in _without_braces(one)
    ]
    rare = [
        {key.lower() for key in way - _COMMON if len(key) >= _SHORTEST and all(map(_SAFE.fullmatch, key))}
        for way in ways
    ]
    common = set.intersection(*rare)
    yield from ({key} for key in sorted(common))
    if not common and all(rare):
        yield {max(way, key=lambda key: (len(key), key)) for way in rare}


def _without_braces(place: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", place)
    if found is None:
        yield place
        return
    for each in found[1].split(","):
        yield from _without_braces(f"{place[: found.start()]}{each}{place[found.end() :]}")


def words_of_pattern(pattern: str) -> Iterator[set[str]]:
    """Groups of words in small letters. Every text that the pattern finds has a word of each group."""
    found = parser.parse(pattern)
    # Only a text, or a key, begins with a letter.
    first = (kinds_of_nodes.AT, kinds_of_nodes.AT_BEGINNING)
    at_beginning = bool(found) and found[0] == first and not found.state.flags & re.MULTILINE
    yield from _words_of_nodes(found, quote='"' if at_beginning else "")


def _words_of_nodes(nodes: Iterable[tuple[Any, Any]], quote: str = "") -> Iterator[set[str]]:
    """The groups of nodes; a quote stands before letters at the beginning of a text."""
    run = ""
    for kind, given in [*nodes, (None, None)]:
        letter = chr(given) if kind is kinds_of_nodes.LITERAL else ""
        if letter and _SAFE.fullmatch(letter):
            run += letter.lower()
            continue
        if len(run) >= _SHORTEST:
            yield {f"{quote}{run}" if run[0].isalpha() and not run.startswith(("true", "false")) else run}
        if run or kind not in (kinds_of_nodes.AT, kinds_of_nodes.SUBPATTERN, kinds_of_nodes.BRANCH):
            quote = ""
        run = ""
        if letter == "\\":
            return  # Python and JSON write the next letters in different ways
        if kind is kinds_of_nodes.SUBPATTERN:
            yield from _words_of_nodes(given[-1], quote)
            quote = ""
        elif kind in (kinds_of_nodes.MAX_REPEAT, kinds_of_nodes.MIN_REPEAT) and given[0] > 0:
            yield from _words_of_nodes(given[2])
        elif kind is kinds_of_nodes.BRANCH:
            ways = [_longest(_words_of_nodes(way, quote)) for way in given[1]]
            together = set().union(*ways)
            if all(ways) and len(together) <= _MOST_WORDS:
                yield together
            quote = ""


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
