"""The metrics that a server with every part offers: those of its registry, with their labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final, cast

from prometheus_client.metrics import MetricWrapperBase

from usher.cluster.facts.store import Store
from usher.cluster.watching import LiveFacts
from usher.server.certs.serving import CertificateSource
from usher.server.metrics import Metrics

_SUFFIXES: Final = {
    "counter": ("_total",),
    "histogram": ("_bucket", "_count", "_sum"),
    "gauge": ("",),
    "info": ("_info",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    name: str
    """As in a query; a histogram without the suffix of its series."""
    type: str
    labels: tuple[str, ...]
    help: str

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series."""
        if self.type != "histogram":
            return (self.name,)
        return tuple(f"{self.name}{suffix}" for suffix in _SUFFIXES["histogram"])


class _NoCertificate:
    """A certificate that was never loaded: the metrics are read for their names alone."""

    leaf = SimpleNamespace(not_valid_after_utc=datetime.fromtimestamp(0, UTC))
    authority = None
    problem = None
    unusable = ""
    clock_ahead = None


class _NoFacts:
    """A cluster before the first list."""

    store = Store()

    def states(self) -> tuple[()]:
        return ()


_INFO_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "usher_build": ("version", "engine", "policies"),
    "usher_in_force": ("configuration", "policies"),
}


def own() -> Iterator[Served]:
    """In alphabetical order, without those of the Prometheus client."""
    metrics = Metrics(engine="wasm", revision="0")
    metrics.watch_certificate(cast(CertificateSource, _NoCertificate()))
    metrics.watch_facts(cast(LiveFacts, _NoFacts()))
    metrics.of_quotas()
    registry: Any = metrics.registry
    labels = {
        collector._name: tuple(collector._labelnames)  # noqa: SLF001 - the client has no other way to ask
        for collector in registry._collector_to_names  # noqa: SLF001 - as above
        if isinstance(collector, MetricWrapperBase)
    }
    found = [family for family in registry.collect() if family.name.startswith("usher_")]
    for family in sorted(found, key=lambda family: str(family.name)):
        # Families that are computed for each scrape say their labels themselves.
        computed: tuple[str, ...] = getattr(family, "_labelnames", ())
        names = labels.get(family.name) or _INFO_LABELS.get(family.name) or computed
        suffix = _SUFFIXES[family.type][0] if family.type in ("counter", "info") else ""
        yield Served(name=f"{family.name}{suffix}", type=family.type, labels=tuple(names), help=family.documentation)
