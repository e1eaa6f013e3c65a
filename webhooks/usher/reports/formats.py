"""The formats of the reports of `usher check` and `usher audit`.

A new format is a module in this folder, or in `ci` if a CI system reads it, with a function
`write(found: findings.Report, stream: TextIO, /)`, and a line in FORMATS. This module does not import
them: `--help` lists the formats, and has to be quick.
"""

from typing import Final

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format of a report."""

    module: str
    reader: str
    """Whom it is for, as `--help` says it."""
    for_terminals: bool = False
    """Whether `write` takes the keywords `color` and `quiet` as well."""
    names_failures: bool = False
    """Whether its reader sees in it what could not be read or judged; else that goes to standard error too."""


FORMATS: Final = {
    "text": Format(module="usher.reports.text", reader="people", for_terminals=True, names_failures=True),
    "json": Format(module="usher.reports.json_report", reader="programs"),
    "sarif": Format(module="usher.reports.ci.sarif", reader="code scanning and editors"),
    "junit": Format(module="usher.reports.ci.junit", reader="readers of test results"),
    "github": Format(module="usher.reports.ci.github", reader="GitHub Actions", names_failures=True),
    "gitlab": Format(module="usher.reports.ci.gitlab", reader="GitLab Code Quality"),
    "azure": Format(module="usher.reports.ci.azure", reader="Azure Pipelines", names_failures=True),
    "tap": Format(module="usher.reports.ci.tap", reader="the Test Anything Protocol", names_failures=True),
    "markdown": Format(module="usher.reports.ci.markdown", reader="comments on pull requests", names_failures=True),
    "yaml": Format(module="usher.reports.yaml_report", reader="programs, the document of json"),
}
"""By the name that `--format` takes; the first is the default."""
