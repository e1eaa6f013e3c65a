"""The exit codes of commands, and how a report gets its code. docs/ci.md has the table for users."""

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import click

if TYPE_CHECKING:
    from usher import model
    from usher.check import findings
    from usher.check.findings import Ending

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


def decide(found: "findings.Report", policy: Policy) -> "Ending":
    """The exit code of a run. Failures come first, because an incomplete run proves nothing."""
    from usher import model
    from usher.check.findings import Ending

    failing = _failing(policy.fail_on)
    outcomes = {finding.judgement.outcome for result in found.results for finding in result.findings} & failing
    profile, explained = policy.profile, False
    if found.failed:
        code, reason = profile.failed, "an input could not be read, or an object could not be judged"
    elif model.Outcome.DENY in outcomes:
        code = profile.denied_with_milder if len(failing) > 1 else profile.denied
        reason = "something is denied"
    elif outcomes:
        code, reason = profile.milder, f"there are findings, and --fail-on {policy.fail_on} counts them"
    elif found.unread and not policy.allow_unknown:
        code, explained = profile.failed, True
        reason = (
            f"some parts could not be judged, so this does not pass (exit code {code}); --allow-unknown accepts them"
        )
    elif policy.require_match and not any(result.makes_pods and not result.exemption for result in found.results):
        code, explained = profile.failed, True
        reason = f"no workload was judged, so this does not pass with --require-match (exit code {code})"
    else:
        code, reason = 0, "nothing fails"
    return Ending(code=code, reason=reason, explained=explained, failing=failing, unknown_accepted=policy.allow_unknown)


def _failing(fail_on: FailOn) -> "frozenset[model.Outcome]":
    from usher import model

    if fail_on is FailOn.NEVER:
        return frozenset()
    worst_first = list(model.Outcome)
    return frozenset(worst_first[: worst_first.index(model.Outcome(fail_on.value)) + 1])
