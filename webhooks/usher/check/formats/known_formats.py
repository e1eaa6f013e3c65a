"""The formats of the reports of `usher check` and `usher audit`.

A new format is a function `write(found: findings.Report, stream: TextIO, /)` in a module of this folder, and a line in
FORMATS. A format of audits is a function `write(audit: Audit, stream: TextIO, /)` in `usher.audit.reports`. One that
needs several files has `files(audit)` instead, which yields pairs of file name and bytes. Functions stand here as
`module:function`, because `--help` lists the formats, and has to be quick.
"""

from typing import Final

from msgspec import Struct


class Format(Struct, frozen=True, kw_only=True):
    """One format of a report."""

    reader: str
    """Its reader, as `--help` names it."""
    run: str = ""
    """The function that writes the findings of a run; empty for a format that only audits have."""
    audit: str = ""
    """The function that writes an audit document. If both are set, `usher audit` uses this one."""
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
        run="usher.check.formats.text:write",
        audit="usher.audit.reports.audit_text:write",
        reader="people",
        for_terminals=True,
        names_failures=True,
    ),
    "json": Format(
        run="usher.check.formats.json_report:write", audit="usher.audit.reports.json_document:write", reader="programs"
    ),
    "findings": Format(
        run="usher.check.formats.json_report:write", reader="programs, the document of json that `usher check` writes"
    ),
    "sarif": Format(run="usher.check.formats.sarif:write", reader="code scanning and editors"),
    "junit": Format(run="usher.check.formats.test_cases:write_junit", reader="readers of test results"),
    "github": Format(run="usher.check.formats.annotations:write_github", reader="GitHub Actions", names_failures=True),
    "gitlab": Format(run="usher.check.formats.annotations:write_gitlab", reader="GitLab Code Quality"),
    "azure": Format(run="usher.check.formats.annotations:write_azure", reader="Azure Pipelines", names_failures=True),
    "tap": Format(
        run="usher.check.formats.test_cases:write_tap", reader="the Test Anything Protocol", names_failures=True
    ),
    "markdown": Format(
        run="usher.check.formats.markdown:write",
        audit="usher.audit.reports.audit_text:write_markdown",
        reader="comments on pull requests, issues and wikis",
        names_failures=True,
    ),
    "yaml": Format(
        run="usher.check.formats.yaml_report:write_yaml",
        audit="usher.audit.reports.json_document:write_yaml",
        reader="programs, the document of json",
    ),
    "prometheus": Format(
        audit="usher.audit.reports.textfile:write", reader="the textfile collector of the node exporter"
    ),
    "html": Format(
        audit="usher.audit.reports.audit_page:write",
        reader="people, one page with charts and tables",
        names_failures=True,
    ),
    "csv": Format(
        audit="usher.audit.reports.data_tables:csv_files", reader="spreadsheets, a folder of tables", is_folder=True
    ),
    "parquet": Format(
        audit="usher.audit.reports.data_tables:parquet_files",
        reader="data tools and `usher report merge`, a folder",
        is_folder=True,
    ),
}
"""Formats by the name for `--format`; the first is the default."""

FLEET_FORMATS: Final = {
    "text": "usher.audit.reports.fleet_text:write",
    "json": "usher.audit.reports.json_document:write",
    "csv": "usher.audit.reports.data_tables:write",
    "html": "usher.audit.reports.fleet_page:write",
}
"""The function of each format of the merged audits of a fleet, by the name that `--format` takes; the first is the
default: `write(fleet: Fleet, stream: TextIO, /)`."""


def names(*, audits: bool) -> tuple[str, ...]:
    """The formats of `usher audit`, or of commands that make no audit document."""
    return tuple(name for name, each in FORMATS.items() if audits or each.run)
