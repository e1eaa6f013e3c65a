"""Writes the report for programs as YAML: the same document as in JSON."""

from typing import Any, Final, TextIO

import yaml

from usher.check import findings
from usher.check.formats import json_report, wording

_UNLIMITED: Final = 2**31 - 1
"""Columns: a folded line could begin like a command."""


class _Dumper(yaml.CSafeDumper):
    """Writes repeated values in full: a reader of JSON expects no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """A text, in double quotes with escapes if a CI system could find a command in it."""
    harmless = text.isprintable() and "::" not in text and wording.without_commands(text) == text
    style = None if harmless else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write_yaml(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the report as one YAML document."""
    dump(json_report.document(found), stream)


def dump(document: dict[str, Any], stream: TextIO) -> None:
    """Writes JSON values as one YAML document in which CI systems find no command."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=_UNLIMITED)
    # The JSON escape is also a YAML escape.
    stream.write(wording.json_without_commands(text))
