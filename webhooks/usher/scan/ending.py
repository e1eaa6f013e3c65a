"""How a command ends, by its findings. The command line adds this value to a report."""

from usher import model
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The exit code of a command, and the outcomes that it counts as failures."""

    code: int
    reason: str
    """The reason for the exit code, as one line."""
    explained: bool = False
    """Whether people need the reason because no report shows it."""
    failing: frozenset[model.Outcome] = frozenset({model.Outcome.DENY})
    """Outcomes that fail in test reports. A denial always fails."""
    unknown_accepted: bool = True
    """Whether the command accepts parts that usher cannot judge."""
