"""The formats of the reports of `usher check` and `usher audit`.

A new format is a module in this folder with a function
`write(found: findings.Report, stream: TextIO, /)`, and a line in FORMATS. A format of audits is a module in
`usher.audit.reports` with `write(audit: Audit, stream: TextIO, /)`. One that needs several files has `files(audit)`
instead, which yields pairs of file name and bytes. This module does not import them: `--help` lists the formats, and
has to be quick.
"""

from typing import Final

from msgspec import Struct


class Format(Struct, frozen=True, kw_only=True):
    """One format of a report."""

    reader: str
    """Its reader, as `--help` names it."""
    module: str = ""
    """The module that writes the findings of a run; empty for a format that only audits have."""
    audit: str = ""
    """The module that writes an audit document. If both are set, `usher audit` uses this one."""
    is_folder: bool = False
    """Whether `audit` makes several files, so that `--format NAME=FOLDER` names a folder."""
    for_terminals: bool = False
    """Whether `write` also takes the keywords `color` and `quiet`."""
    names_failures: bool = False
    """Whether it shows its reader the parts that could not be read or judged. Otherwise standard error
    shows them too.
    """


FORMATS: Final = {
    "text": Format(
        module="usher.check.formats.text",
        audit="usher.audit.reports.audit_text",
        reader="people",
        for_terminals=True,
        names_failures=True,
    ),
    "json": Format(
        module="usher.check.formats.json_report", audit="usher.audit.reports.json_document", reader="programs"
    ),
    "findings": Format(
        module="usher.check.formats.json_report", reader="programs, the document of json that `usher check` writes"
    ),
    "sarif": Format(module="usher.check.formats.sarif", reader="code scanning and editors"),
    "junit": Format(module="usher.check.formats.junit", reader="readers of test results"),
    "github": Format(module="usher.check.formats.github", reader="GitHub Actions", names_failures=True),
    "gitlab": Format(module="usher.check.formats.gitlab", reader="GitLab Code Quality"),
    "azure": Format(module="usher.check.formats.azure", reader="Azure Pipelines", names_failures=True),
    "tap": Format(module="usher.check.formats.tap", reader="the Test Anything Protocol", names_failures=True),
    "markdown": Format(
        module="usher.check.formats.markdown",
        audit="usher.audit.reports.audit_markdown",
        reader="comments on pull requests, issues and wikis",
        names_failures=True,
    ),
    "yaml": Format(
        module="usher.check.formats.yaml_report",
        audit="usher.audit.reports.yaml_document",
        reader="programs, the document of json",
    ),
    "prometheus": Format(audit="usher.audit.reports.textfile", reader="the textfile collector of the node exporter"),
    "html": Format(
        audit="usher.audit.reports.audit_page", reader="people, one page with charts and tables", names_failures=True
    ),
    "csv": Format(audit="usher.audit.reports.csv_tables", reader="spreadsheets, a folder of tables", is_folder=True),
    "parquet": Format(
        audit="usher.audit.reports.parquet_tables",
        reader="data tools and `usher report merge`, a folder",
        is_folder=True,
    ),
}
"""Formats by the name for `--format`; the first is the default."""

FLEET_FORMATS: Final = {
    "text": "usher.audit.reports.fleet_text",
    "json": "usher.audit.reports.json_document",
    "csv": "usher.audit.reports.csv_tables",
    "html": "usher.audit.reports.fleet_page",
}
"""The module of each format of the merged audits of a fleet, by the name that `--format` takes; the first is the
default. Each has `write(fleet: Fleet, stream: TextIO, /)`."""


def names(*, audits: bool) -> tuple[str, ...]:
    """The formats of `usher audit`, or of commands that make no audit document."""
    return tuple(name for name, each in FORMATS.items() if audits or each.module)
