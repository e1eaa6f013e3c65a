"""The options of `usher audit`: what to audit, by which rules, and how to measure usage with Prometheus."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from usher.audit.document import Measurement
from usher.audit.gather.estate import WHOLE, Estate, OneNamespace, Scope
from usher.audit.prometheus import endpoint, promql_source
from usher.audit.prometheus.promql_source import PrometheusSource
from usher.audit.usage import usage_metrics
from usher.audit.usage.series import Source
from usher.audit.usage.usage_amounts import Measured
from usher.cli import given_policies, inputs, main
from usher.cluster.facts.store import Store
from usher.config.models import Audit


class Prometheus(Struct, frozen=True, kw_only=True):
    """The values of the options: a Prometheus. Files are read when it is asked."""

    url: str | None
    """None where no usage is measured."""
    folder: Path | None
    """The folder of a mounted Secret; other options win over its files."""
    token_file: Path | None
    ca_file: Path | None
    certificate: Path | None
    key: Path | None
    headers: tuple[str, ...]
    """NAME=VALUE."""
    labels: tuple[str, ...]
    """NAME=VALUE; in a value, {cluster} is the name of the cluster."""

    def check(self) -> None:
        """Raises UsageError for an option without the one that it belongs to."""
        files = (self.folder, self.token_file, self.ca_file, self.certificate, self.key)
        if self.url is None and any((*files, self.headers, self.labels)):
            raise click.UsageError("the options --prometheus-... need --prometheus URL")
        if self.key and not self.certificate:
            raise click.UsageError("--prometheus-key belongs to a certificate; give it with --prometheus-cert FILE")

    def source(self, *, cluster: str) -> PrometheusSource | None:
        """The series of this Prometheus; None without a URL.

        Args:
            cluster: the name that stands for {cluster} in labels.

        Raises:
            InputError: the URL, a file, a header or a label of the options cannot be used.
        """
        if self.url is None:
            return None
        files = endpoint.mounted_files(self.folder) if self.folder else endpoint.MountedFiles()
        found = endpoint.read_address(
            self.url,
            token_file=self.token_file or files.token,
            ca_file=self.ca_file or files.ca,
            certificate=self.certificate or files.certificate,
            key=self.key if self.certificate else files.key,
            given_headers=self.headers,
        )
        return PrometheusSource(promql_source.Client(found), only=endpoint.read_labels(self.labels, cluster=cluster))


_UNITS: Final = {"w": 7 * 86_400, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_WRITTEN: Final = re.compile(r"([1-9][0-9]{0,6})([smhdw])", re.ASCII)


class Length(click.ParamType[timedelta]):
    """A number of seconds, minutes, hours, days or weeks, within bounds."""

    name = "duration"

    def __init__(self, shortest: timedelta, longest: timedelta) -> None:
        self._shortest, self._longest = shortest, longest

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _WRITTEN.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a number with s, m, h, d or w, for example 7d.", param, ctx)
        length = timedelta(seconds=int(match[1]) * _UNITS[match[2]])
        if not self._shortest <= length <= self._longest:
            self.fail(
                f"{value} is not between {duration_text(self._shortest)} and {duration_text(self._longest)}.",
                param,
                ctx,
            )
        return length


def duration_text(length: timedelta) -> str:
    """A duration as users write it, in the largest unit that fits; weeks are days."""
    seconds = int(length.total_seconds())
    unit = next(unit for unit in "dhms" if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"


WINDOW: Final = Length(timedelta(hours=1), timedelta(days=90))
STEP: Final = Length(timedelta(seconds=15), timedelta(days=1))
_MOST_STEPS: Final = 50_000


class UsageOptions(Struct, frozen=True, kw_only=True):
    """How a command measures usage, by its options."""

    prometheus: Prometheus
    window: timedelta
    step: timedelta | None
    cluster: str = ""
    """The name of the audited cluster; empty if no option gives it."""
    is_required: bool = False
    """Whether an audit fails if it lacks usage, or a part of it."""

    @staticmethod
    def of_options(values: dict[str, Any]) -> "UsageOptions":
        prometheus = Prometheus(**{name: values.pop(name) for name in Prometheus.__struct_fields__})
        window, step, required = (values.pop(name) for name in ("window", "step", "require_usage"))
        prometheus.check()
        if required and prometheus.url is None:
            raise click.UsageError("--require-usage is about the usage that --prometheus URL measures; give it as well")
        if step is not None and not 1 <= window / step <= _MOST_STEPS:
            raise click.UsageError(
                f"a window of {duration_text(window)} has 1 to {_MOST_STEPS} steps; choose another --step than "
                f"{duration_text(step)}"
            )
        return UsageOptions(prometheus=prometheus, window=window, step=step, is_required=required)

    def source(self, scope: Scope | None = None) -> Source | None:
        """The series in Prometheus, of the whole cluster or of a scope; None without a URL.

        Raises:
            InputError: the URL, a file, a header or a label of the options cannot be used.
        """
        found = self.prometheus.source(cluster=self.cluster)
        if found is None or scope is None:
            return found
        return usage_metrics.source_of_part(found, scope)

    def measure(self, estate: Estate, *, config: Audit, now: datetime, source: Source | None = None) -> Measured:
        """The usage of an estate, by the Prometheus of the options or another source.

        Raises:
            InputError: the options cannot be used. If Prometheus does not answer, the measurement has a problem,
                and the rest of the report is still written.
        """
        from usher.audit.usage import measuring, usage_metrics

        given = self.source(estate.scope) if source is None else usage_metrics.source_of_part(source, estate.scope)
        return measuring.measure(estate, given, config=config, window=self.window, now=now, step=self.step)

    def finish(self, code: int, measurement: Measurement, *, quiet: bool) -> int:
        """The exit code of an audit that would end with `code`. Writes missing usage to standard error."""
        failures = measurement.failures
        if not failures or (quiet and not self.is_required):
            return code
        from usher.check.formats import wording

        more = f"; and {len(failures) - 1} more in the report" if len(failures) > 1 else ""
        text = wording.harmless(wording.printable(failures[0]))
        click.echo(f"usher: usage is not measured, or not all of it: {text}{more}", err=True)
        return max(code, main.FAILED) if self.is_required else code


class AuditOptions(Struct, frozen=True, kw_only=True):
    """The values of the options."""

    paths: tuple[str, ...]
    demo: bool
    config: Path | None
    facts: tuple[str, ...]
    kubeconfig: Path | None
    context_name: str | None
    in_namespace: str
    """The only namespace to audit; empty for all."""
    cluster_name: str
    """Empty for the name that usher finds."""
    policies: given_policies.PolicyOptions
    usage: UsageOptions
    engine: str
    opa_url: str | None

    @property
    def fact_files(self) -> tuple[str, ...]:
        """The files with facts, which are used instead of those of the cluster."""
        return tuple(each for each in self.facts if each not in inputs.NO_FILES)

    def live_facts(self) -> Store | None:
        """The facts of a cluster for manifests; None if the options ask no cluster.

        Raises:
            ClusterError: the API server does not answer.
        """
        if not inputs.are_live(self.facts, kubeconfig=self.kubeconfig, context_name=self.context_name):
            return None
        given = inputs.given_facts(self.facts, kubeconfig=self.kubeconfig, context_name=self.context_name)
        return given.store if given is not None else None

    @property
    def scope(self) -> Scope:
        """The audited part of the cluster, if no shard is given."""
        return OneNamespace(name=self.in_namespace) if self.in_namespace else WHOLE

    def check(self, *, report_objects: bool, parts: bool, served: bool) -> None:
        """Checks options that exclude each other.

        Args:
            report_objects: whether findings are written into the cluster.
            parts: whether a part is written for `usher report merge`.
            served: whether the report is shown in a browser.

        Raises:
            UsageError: two of them were given.
        """
        of_cluster = bool(self.kubeconfig or self.context_name)
        if self.demo and (self.paths or of_cluster or self.facts or parts):
            raise click.UsageError("--demo brings its own cluster; leave out PATH, --facts and the options of clusters")
        if parts and self.in_namespace:
            raise click.UsageError("--output-dir is for parts of whole clusters; leave out --in-namespace")
        if parts and served:
            raise click.UsageError("--serve shows one report; leave out --output-dir")
        if served and self.usage.is_required:
            raise click.UsageError("--serve has no exit code before its end; leave out --require-usage")
        if report_objects and (self.demo or self.paths):
            raise click.UsageError("--report-objects writes into a cluster; leave out --demo and PATH")
