"""The formats of the reports of `usher check` and `usher audit`.

A new format is a module in this folder with a function
`write(found: findings.Report, stream: TextIO, /)`, and a line in FORMATS. A format of audits is a module in
`usher.audit.reports` with `write(audit: Audit, stream: TextIO, /)`. One that needs several files has `files(audit)`
instead, which yields pairs of file name and bytes. This module does not import them: `--help` lists the formats, and
has to be quick.
"""

from typing import Final

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format of a report."""

    reader: str
    """Whom it is for, as `--help` says it."""
    module: str = ""
    """Writes the findings of a run; empty for a format of audits alone."""
    audit: str = ""
    """Writes an audit document; where both are given, `usher audit` takes this one."""
    is_folder: bool = False
    """Whether `audit` makes several files, so that `--format NAME=FOLDER` names a folder."""
    for_terminals: bool = False
    """Whether `write` takes the keywords `color` and `quiet` as well."""
    names_failures: bool = False
    """Whether its reader sees in it what could not be read or judged; else that goes to standard error too."""


FORMATS: Final = {
    "text": Format(
        module="usher.reports.text",
        audit="usher.audit.reports.audit_text",
        reader="people",
        for_terminals=True,
        names_failures=True,
    ),
    "json": Format(module="usher.reports.json_report", audit="usher.audit.reports.json_document", reader="programs"),
    "findings": Format(
        module="usher.reports.json_report", reader="programs, the document of json that `usher check` writes"
    ),
    "sarif": Format(module="usher.reports.ci.sarif", reader="code scanning and editors"),
    "junit": Format(module="usher.reports.ci.junit", reader="readers of test results"),
    "github": Format(module="usher.reports.ci.github", reader="GitHub Actions", names_failures=True),
    "gitlab": Format(module="usher.reports.ci.gitlab", reader="GitLab Code Quality"),
    "azure": Format(module="usher.reports.ci.azure", reader="Azure Pipelines", names_failures=True),
    "tap": Format(module="usher.reports.ci.tap", reader="the Test Anything Protocol", names_failures=True),
    "markdown": Format(
        module="usher.reports.ci.markdown",
        audit="usher.audit.reports.audit_markdown",
        reader="comments on pull requests, issues and wikis",
        names_failures=True,
    ),
    "yaml": Format(
        module="usher.reports.yaml_report",
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
"""By the name that `--format` takes; the first is the default."""

FLEET_FORMATS: Final = {
    "text": "usher.audit.reports.fleet_text",
    "json": "usher.audit.reports.json_document",
    "csv": "usher.audit.reports.csv_tables",
    "html": "usher.audit.reports.fleet_page",
}
"""The module of each format of the merged audits of a fleet, by the name that `--format` takes; the first is the
default. Each has `write(fleet: Fleet, stream: TextIO, /)`."""


def names(*, audits: bool) -> tuple[str, ...]:
    """The formats of `usher audit`, or those of commands that make no audit document."""
    return tuple(name for name, each in FORMATS.items() if audits or each.module)
