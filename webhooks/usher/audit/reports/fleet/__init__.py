"""Reports on the merged audits of a fleet."""

from typing import Final

FORMATS: Final = {
    "text": "usher.audit.reports.fleet.text",
    "json": "usher.audit.reports.fleet.json_document",
    "csv": "usher.audit.reports.fleet.csv_table",
    "html": "usher.audit.reports.fleet_html",
}
"""The module of each format, by the name that `--format` takes; the first is the default. Each has `write`."""
