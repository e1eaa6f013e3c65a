"""The exit code of `usher replay`, by what changes."""

from enum import StrEnum
from typing import TYPE_CHECKING

from usher.cli import exit_codes
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.check.replay.impact import Impact


class FailOn(StrEnum):
    """The mildest difference that ends the command as failed."""

    DENIED = "denied"
    WARNED = "warned"
    ANY = "any"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of the command: its exit code and the reason."""

    code: int
    reason: str = ""
    """A text for standard error; empty if the report gives the reason."""


def decide(found: "Impact", fail_on: FailOn, *, allow_unknown: bool) -> Ending:
    """The exit code. Failures come first, because an incomplete comparison proves nothing."""
    from usher.check.replay.comparison import Difference

    there = {each for each in found.by_difference if each is not Difference.NOTHING}
    if found.comparison.failed:
        return Ending(code=exit_codes.FAILED, reason="the comparison is incomplete, so it does not pass (exit code 2)")
    failing = {
        FailOn.DENIED: {Difference.NEWLY_DENIED},
        FailOn.WARNED: {Difference.NEWLY_DENIED, Difference.NEWLY_WARNED},
        FailOn.ANY: set(Difference) - {Difference.NOTHING, Difference.NOT_EVALUATED},
        FailOn.NEVER: set(),
    }[fail_on]
    if there & failing:
        return Ending(code=exit_codes.FINDINGS)
    if there & {Difference.NOT_EVALUATED, Difference.ONE_SIDE} and not allow_unknown:
        reason = "some objects were evaluated on one side alone, so this does not pass (exit code 2); "
        return Ending(code=exit_codes.FAILED, reason=f"{reason}--allow-unknown accepts them")
    return Ending(code=0)
