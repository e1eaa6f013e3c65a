"""The steps of a window: at round times, and at most as many as a Prometheus answers at once."""

from datetime import datetime, timedelta
from typing import Final

from usher.audit.usage.series import Grid

_STEPS: Final = (60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
_MOST_POINTS: Final = 1100


def of_window(window: timedelta, *, now: datetime, step: timedelta | None = None) -> Grid:
    """The steps of a window. The last one ends at the latest multiple of the step before `now`."""
    length = int(window.total_seconds())
    each = int(step.total_seconds()) if step else next((s for s in _STEPS if length <= s * _MOST_POINTS), _STEPS[-1])
    each = max(each, 1)
    points = max(length // each, 1)
    end = int(now.timestamp()) // each * each
    return Grid(start=end - points * each, step=each, points=points)
