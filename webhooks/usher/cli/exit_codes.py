"""The exit codes of commands, and how a report gets its code. docs/ci.md has the table for users."""

from enum import StrEnum
from typing import Final, NamedTuple

import click

FINDINGS: Final = 1
"""At least one finding is denied."""
FAILED: Final = 2
"""An object could not be read, judged or written, so the run proves nothing."""


class FailOn(StrEnum):
    """The mildest outcome that ends a command as failed."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    NEVER = "never"


class Profile(NamedTuple):
    """Exit codes as another tool has them, for pipelines that were written for it."""

    denied: int
    """At least one finding is denied."""
    failed: int
    """An object could not be read or judged, so the run proves nothing."""
    denied_with_milder: int
    """At least one finding is denied, and --fail-on names milder findings too."""
    milder: int
    """No finding is denied, but there are findings that --fail-on names."""


PROFILES: Final = {
    "usher": Profile(denied=FINDINGS, failed=FAILED, denied_with_milder=FINDINGS, milder=FINDINGS),
    "gator": Profile(denied=1, failed=1, denied_with_milder=1, milder=1),
    "kyverno": Profile(denied=1, failed=1, denied_with_milder=1, milder=1),
    "conftest": Profile(denied=1, failed=1, denied_with_milder=2, milder=1),
}
"""By the name that `--exit-codes` takes; the first is the default. Usage errors end with 2 in all of them.

Sources: gatekeeper cmd/gator/test/test.go, kyverno cmd/cli/kubectl-kyverno/commands/apply/command.go, conftest
output/result.go (`ExitCodeFailOnWarn`: 1 for warnings alone, 2 for failures).
"""


class CommandFailed(click.ClickException):
    """An error of usher, with the exit code that the profile gives it."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


class Policy(NamedTuple):
    """The options of a command that decide its exit code."""

    fail_on: FailOn
    profile: Profile
    require_match: bool = False
    """Whether a run that judged no workload counts as failed."""
    allow_unknown: bool = True
    """Whether parts of workloads that usher cannot judge are accepted."""
