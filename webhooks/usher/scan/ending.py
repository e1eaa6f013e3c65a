"""How a command ends, by what it found: the value that the command line adds to a report."""

from usher import model
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The exit code of a command, and what it counts as a failure."""

    code: int
    reason: str
    """Why it is that code, as one line."""
    explained: bool = False
    """Whether people need the reason, because no report shows it."""
    failing: frozenset[model.Outcome] = frozenset({model.Outcome.DENY})
    """Outcomes that fail in reports of tests; a denial always does."""
    unknown_accepted: bool = True
    """Whether parts that usher cannot judge are accepted."""
