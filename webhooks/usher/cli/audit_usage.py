"""The options of `usher audit` that are about usage: where Prometheus is, and the window that is measured."""

import functools
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.estate import Estate
    from usher.audit.usage.measured import Measured
    from usher.audit.usage.series import Source
    from usher.config.audit import Audit

Command = Callable[..., Any]

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SHORTEST_WINDOW: Final = timedelta(hours=1)
_LONGEST_WINDOW: Final = timedelta(days=90)
_SHORTEST_STEP: Final = timedelta(seconds=15)
_MOST_STEPS: Final = 50_000


class _Length(click.ParamType[timedelta]):
    """A number of seconds, minutes, hours, days or weeks: 30m, 24h, 7d."""

    name = "duration"

    def __init__(self, shortest: timedelta, longest: timedelta) -> None:
        self._shortest, self._longest = shortest, longest

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"([1-9][0-9]{0,6})([smhdw])", str(value), re.ASCII)
        if match is None:
            self.fail(f"{value!r} is not a number with s, m, h, d or w, for example 7d.", param, ctx)
        length = timedelta(seconds=int(match[1]) * _UNITS[match[2]])
        if not self._shortest <= length <= self._longest:
            self.fail(f"{value} is not between {_text(self._shortest)} and {_text(self._longest)}.", param, ctx)
        return length


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a command measures usage, by its options."""

    url: str | None
    token_file: Path | None
    ca_file: Path | None
    window: timedelta
    step: timedelta | None
    part: "Callable[[Source], Source] | None" = None
    """What a shard measures of the series."""

    def source(self) -> "Source | None":
        """The Prometheus of the options; None without one.

        Raises:
            InputError: the URL or a file of the options cannot be used.
        """
        from usher.audit.usage.from_prometheus import PrometheusSource
        from usher.prometheus import address, client

        if self.url is None:
            return None
        found = address.read(self.url, token_file=self.token_file, ca_file=self.ca_file)
        source = PrometheusSource(client.Client(found))
        return source if self.part is None else self.part(source)

    def measure(
        self, estate: "Estate", *, config: "Audit", now: datetime, source: "Source | None" = None
    ) -> "Measured":
        """The usage of an estate, by the Prometheus of the options or another source.

        Raises:
            InputError: the URL or a file of the options cannot be used. A Prometheus that does not answer is a problem
                of the measurement, so that the rest of the report is there.
        """
        from usher.audit.usage import measuring

        given = source or self.source()
        return measuring.measure(estate, given, config=config, window=self.window, now=now, step=self.step)


def options(command: Command) -> Command:
    """Adds the options to a command, which gets them as `usage`."""

    @click.option(
        "--prometheus",
        metavar="URL",
        envvar="USHER_PROMETHEUS",
        help="Prometheus, Thanos or Mimir that has the metrics of GPUs: http://prometheus.monitoring:9090. With "
        "user:password@ before the host for basic authentication. Without it no usage is measured.",
    )
    @click.option(
        "--prometheus-token-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File with a bearer token for Prometheus; else $USHER_PROMETHEUS_TOKEN, if it is set.",
    )
    @click.option(
        "--prometheus-ca",
        type=click.Path(dir_okay=False, path_type=Path),
        help="CA certificates in PEM that Prometheus is trusted by, instead of those of the system.",
    )
    @click.option(
        "--window",
        type=_Length(_SHORTEST_WINDOW, _LONGEST_WINDOW),
        default="7d",
        show_default=True,
        help="How far back usage is measured, at most 90d.",
    )
    @click.option(
        "--step",
        type=_Length(_SHORTEST_STEP, timedelta(days=1)),
        help="Length of a step of the measurement; by default one for which the window has at most 1,100 steps.",
    )
    @functools.wraps(command)
    def wrapped(
        *args: object,
        prometheus: str | None,
        prometheus_token_file: Path | None,
        prometheus_ca: Path | None,
        window: timedelta,
        step: timedelta | None,
        **kwargs: object,
    ) -> object:
        if step is not None and not 1 <= window / step <= _MOST_STEPS:
            raise click.UsageError(
                f"a window of {_text(window)} has 1 to {_MOST_STEPS} steps; choose another --step than {_text(step)}"
            )
        if prometheus is None and (prometheus_token_file or prometheus_ca):
            raise click.UsageError("--prometheus-token-file and --prometheus-ca need --prometheus URL")
        given = Options(
            url=prometheus, token_file=prometheus_token_file, ca_file=prometheus_ca, window=window, step=step
        )
        return command(*args, usage=given, **kwargs)

    return wrapped


def _text(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    unit = next(unit for unit in ("d", "h", "m", "s") if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"
