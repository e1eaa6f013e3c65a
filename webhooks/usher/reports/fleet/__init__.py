"""Reports on the merged audits of a fleet."""

from typing import Final

FORMATS: Final = {
    "text": "usher.reports.fleet.text",
    "json": "usher.reports.fleet.json_document",
    "csv": "usher.reports.fleet.csv_table",
    "html": "usher.reports.fleet_html",
}
"""The module of each format, by the name that `--format` takes; the first is the default. Each has `write`."""
