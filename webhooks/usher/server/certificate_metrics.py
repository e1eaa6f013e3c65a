"""Metrics of the certificate in service and of the CA that signs the next one."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from usher.certs.serving import Source


class OfCertificate(Collector):
    """Metrics that Prometheus reads at each scrape. An unknown certificate has no sample."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def collect(self) -> Iterator[Metric]:
        leaf = GaugeMetricFamily(
            "usher_certificate_expires_timestamp_seconds", "When the certificate in service expires."
        )
        authority = GaugeMetricFamily(
            "usher_certificate_authority_expires_timestamp_seconds",
            "When the CA expires that signs the next certificate; absent where usher does not keep the CA.",
        )
        for family, certificate in ((leaf, self._source.leaf), (authority, self._source.authority)):
            if certificate is not None:
                family.add_metric([], certificate.not_valid_after_utc.timestamp())
        good = GaugeMetricFamily(
            "usher_certificate_good",
            "1 while certificate and caBundle are as they should be; 0 while an older certificate is kept, or usher "
            "cannot read or write the Secret or a webhook configuration.",
            value=self._source.problem is None,
        )
        yield from (leaf, authority, good)
