"""The options of `usher audit` for usage: where Prometheus is, and which window to measure."""

import functools
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from usher.cli import durations, exit_codes, prometheus_options
from usher.cli.option_groups import Command
from usher.cli.prometheus_options import Prometheus
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.document import Measurement
    from usher.audit.estate import Estate
    from usher.audit.scopes import Scope
    from usher.audit.usage.measured import Measured
    from usher.audit.usage.series import Source
    from usher.config.audit_settings import Audit

_SHORTEST_WINDOW: Final = timedelta(hours=1)
_LONGEST_WINDOW: Final = timedelta(days=90)
_SHORTEST_STEP: Final = timedelta(seconds=15)
_MOST_STEPS: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a command measures usage, by its options."""

    prometheus: Prometheus | None
    window: timedelta
    step: timedelta | None
    cluster: str = ""
    """The name of the audited cluster; empty if no option gives it."""
    is_required: bool = False
    """Whether an audit fails if it lacks usage, or a part of it."""

    def source(self, scope: "Scope | None" = None) -> "Source | None":
        """The series in Prometheus, of the whole cluster or of a scope; None without a URL.

        Raises:
            InputError: the URL, a file, a header or a label of the options cannot be used.
        """
        if self.prometheus is None:
            return None
        from usher.audit.usage import partial_series

        found = self.prometheus.source(cluster=self.cluster)
        return found if scope is None else partial_series.of(found, scope)

    def measure(
        self, estate: "Estate", *, config: "Audit", now: datetime, source: "Source | None" = None
    ) -> "Measured":
        """The usage of an estate, by the Prometheus of the options or another source.

        Raises:
            InputError: the options cannot be used. If Prometheus does not answer, the measurement has a problem,
                and the rest of the report is still written.
        """
        from usher.audit.usage import measuring, partial_series

        given = self.source(estate.scope) if source is None else partial_series.of(source, estate.scope)
        return measuring.measure(estate, given, config=config, window=self.window, now=now, step=self.step)

    def finish(self, code: int, measurement: "Measurement", *, quiet: bool) -> int:
        """The exit code of an audit that would end with `code`. Writes missing usage to standard error."""
        failures = measurement.failures
        if not failures or (quiet and not self.is_required):
            return code
        from usher.check.formats import wording

        more = f"; and {len(failures) - 1} more in the report" if len(failures) > 1 else ""
        text = wording.harmless(wording.printable(failures[0]))
        click.echo(f"usher: usage is not measured, or not all of it: {text}{more}", err=True)
        return max(code, exit_codes.FAILED) if self.is_required else code


def options(command: Command) -> Command:
    """Adds the options to a command, which gets them as `usage`."""

    @prometheus_options.options
    @click.option(
        "--window",
        type=durations.Length(_SHORTEST_WINDOW, _LONGEST_WINDOW),
        default="7d",
        show_default=True,
        help="How far back usage is measured, at most 90d.",
    )
    @click.option(
        "--step",
        type=durations.Length(_SHORTEST_STEP, timedelta(days=1)),
        help="Length of a step of the measurement; by default one for which the window has at most 1,100 steps.",
    )
    @click.option(
        "--require-usage",
        is_flag=True,
        help="End with exit code 2 if Prometheus gives no answer to a query, or has no series of GPUs.",
    )
    @functools.wraps(command)
    def wrapped(
        *args: object,
        prometheus: Prometheus | None,
        window: timedelta,
        step: timedelta | None,
        require_usage: bool,
        **kwargs: object,
    ) -> object:
        if require_usage and prometheus is None:
            raise click.UsageError("--require-usage is about the usage that --prometheus URL measures; give it as well")
        if step is not None and not 1 <= window / step <= _MOST_STEPS:
            raise click.UsageError(
                f"a window of {durations.text(window)} has 1 to {_MOST_STEPS} steps; choose another --step than "
                f"{durations.text(step)}"
            )
        given = Options(prometheus=prometheus, window=window, step=step, is_required=require_usage)
        return command(*args, usage=given, **kwargs)

    return wrapped
