"""The audit document as YAML: the same values as in JSON."""

from typing import TextIO

from usher.audit.document import Audit
from usher.reports import yaml_report
from usher.reports.audit import json_document


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the document as one YAML document."""
    yaml_report.dump(json_document.values(audit), stream)
