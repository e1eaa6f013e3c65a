"""The results of mutation testing for every policy, as git keeps them, and digests that show whether they still hold.

A digest covers everything that decides the result of a policy:

* its rule, its tests, the libraries that they use, and for a library all checks and mutations that use it. Blank
  lines and comments are left out, and so is METADATA, except the lines that name a schema;
* the example documents of all these;
* the defaults of the parameters that any of these files reads, which stand in the METADATA of other checks, too;
* the types that the input schema gives to the fields that these files name, because the type checker refuses some
  changes;
* the version of OPA, and tools/change_rego.py, which makes the changes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import build_examples
import change_rego
import mutation_trials
import try_check

_SCHEMA: Final = re.compile(r"#\s+-\s+\S+:\s+schema\.")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The result of the changes of one policy."""

    digest: str
    changes: int
    """How many of them compile."""
    unnoticed: list[str]
    """Changes that no test notices, for example `'input.gpus > 6' -> 'true'`."""


def read(file: Path) -> dict[str, Record]:
    """The records by the keys of their policies; empty if the file does not exist."""
    if not file.exists():
        return {}
    return {key: Record(**record) for key, record in json.loads(file.read_bytes()).items()}


def write(file: Path, records: Mapping[str, Record]) -> None:
    """Writes one line for each policy, in the order of their keys. An interrupted call leaves the file as it was."""
    lines = [f"{json.dumps(key)}: {json.dumps(asdict(records[key]))}" for key in sorted(records)]
    beside = file.with_suffix(".new")
    beside.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    beside.replace(file)


class Digests:
    """The digests of all policies of a folder, from its files at the time of this call."""

    def __init__(self, policies: Path, *, opa_version: str) -> None:
        self._policies = policies
        self._tools = [opa_version, Path(change_rego.__file__).read_text(encoding="utf-8")]
        self._files = {source: mutation_trials.files_of(source) for _, source in mutation_trials.sources(policies)}
        self._libraries = {source: try_check.libraries(policies, files) for source, files in self._files.items()}
        self._examples = _example_digests(policies)
        self._schema_types = _schema_types(json.loads((policies / "schemas" / "input.json").read_bytes()))

    def of(self, source: Path) -> str:
        """The digest of the policy whose rule is in this file, in 16 hexadecimal digits."""
        judges = [source, *self._users(source)]
        texts = {file.relative_to(self._policies).as_posix(): decisive(file) for file in self._needed(judges)}
        words = {word for text in texts.values() for word in _WORD.findall(text)}
        parts = (
            self._tools,
            texts,
            [self._examples.get(judge.parent.relative_to(self._policies / "usher").as_posix()) for judge in judges],
            [
                (check.key, name, parameter.default)
                for check in try_check.parametrised(self._policies, texts.values())
                for name, parameter in sorted(check.parameters.items())
            ],
            {word: self._schema_types[word] for word in words & self._schema_types.keys()},
        )
        return _digest(parts)[:16]

    def _users(self, source: Path) -> list[Path]:
        """The checks and mutations that use a library, directly or through another one."""
        if source.parent.name != mutation_trials.LIBRARY:
            return []
        return [
            user
            for user, libraries in self._libraries.items()
            if user.parent.name != mutation_trials.LIBRARY and source.stem in libraries
        ]

    def _needed(self, judges: Iterable[Path]) -> list[Path]:
        """All files that are read to test one policy, without the generated one."""
        folder = self._policies / "usher" / mutation_trials.LIBRARY
        names = {name for judge in judges for name in self._libraries[judge]} - {mutation_trials.GENERATED}
        own = {file for judge in judges for file in self._files[judge]}
        return sorted(own | {folder / f"{name}.rego" for name in names})


def decisive(file: Path) -> str:
    """A Rego file without its comments and blank lines; the lines that name a schema stay."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if any(line.count("`") % 2 for line in lines):  # within a string of several lines, `#` begins no comment
        return text
    kept = (line for line in lines if _SCHEMA.match(line) or not line.lstrip().startswith("#"))
    return "\n".join(line for line in kept if line.strip())


def _example_digests(policies: Path) -> dict[str, str]:
    """The digests of the example documents, by folder below `usher/`."""
    tree = json.loads((policies / build_examples.FILE).read_bytes())["examples"]
    return {
        f"{kind}/{category}/{name}": _digest(documents)
        for kind, categories in tree.items()
        for category, names in categories.items()
        for name, documents in names.items()
    }


def _schema_types(schema: dict[str, Any]) -> dict[str, list[str]]:
    """By field: all types that it has anywhere in the input, without their titles and descriptions."""
    found: dict[str, set[str]] = {}
    for definition in [schema, *schema.get("$defs", {}).values()]:
        for field, described in definition.get("properties", {}).items():
            found.setdefault(field, set()).add(json.dumps(_bare(described), sort_keys=True))
    return {field: sorted(types) for field, types in found.items()}


def _bare(value: Any) -> Any:  # noqa: ANN401 - any part of a JSON schema
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key not in ("title", "description")}
        return {key: "object" if key == "$ref" else _bare(each) for key, each in kept.items()}
    return [_bare(each) for each in value] if isinstance(value, list) else value


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
