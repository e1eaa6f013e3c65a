"""The report for programs as YAML: the same document as in JSON."""

from typing import TextIO

import yaml

from usher.reports import json_report
from usher.scan import findings


class _Dumper(yaml.CSafeDumper):
    """Writes repeated values in full: a reader of JSON expects no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the report as one YAML document."""
    yaml.dump(json_report.document(found), stream, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=10_000)
