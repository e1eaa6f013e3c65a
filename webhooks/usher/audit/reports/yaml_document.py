"""The audit document as YAML: the same values as in JSON."""

from typing import TextIO

from usher.audit.document import Audit
from usher.audit.reports import json_document
from usher.check.formats import yaml_report


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the document as one YAML document."""
    yaml_report.dump(json_document.values(audit), stream)
