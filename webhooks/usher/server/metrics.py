"""The metrics for Prometheus. Label values come from our own catalogue and never from a request, so the number of
series is bounded.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Final

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from usher import __version__, errors, paths, quantities
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live.account_store import ChargeResult, Correction
from usher.cluster.facts.store import Store
from usher.cluster.watching import LiveFacts
from usher.kinds import registry
from usher.kinds.reading.values import Absence
from usher.review.admission_review import Answer
from usher.server.certs.serving import CertificateSource


class CertificateCollector(Collector):
    """Metrics that Prometheus reads at each scrape. An unknown certificate has no sample."""

    def __init__(self, source: CertificateSource) -> None:
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
            "1 while certificate and caBundle are as they should be; 0 while the certificate has expired or is not "
            "valid yet, while an older one is kept, while the clock is wrong, or while usher cannot read or write the "
            "Secret or a webhook configuration.",
            value=self._source.problem is None and not self._source.unusable,
        )
        ahead = GaugeMetricFamily(
            "usher_clock_ahead_seconds",
            "How far the server's clock is ahead of the API server's, negative if it is behind; absent while unknown.",
        )
        if self._source.clock_ahead is not None:
            ahead.add_metric([], self._source.clock_ahead.total_seconds())
        yield from (leaf, authority, good, ahead)


MOST_QUOTAS: Final = 200
"""The most quotas that it shows, the first by name."""

# A charge is one write to the API server: from some milliseconds to the longest wait of a review.
_CHARGE_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0)


class QuotaMetrics:
    """Counts charges; see `gpu_quota.live.metering.Meter`."""

    def __init__(self, registry: prometheus.CollectorRegistry) -> None:
        """Registers the metrics."""
        counter = partial(prometheus.Counter, registry=registry)
        self._charges = counter("usher_quota_charges", "Charges of GPUQuotas, by result.", ["result"])
        self._seconds = prometheus.Histogram(
            "usher_quota_charge_seconds",
            "Time that a review waited for a charge.",
            buckets=_CHARGE_BUCKETS,
            registry=registry,
        )
        self._conflicts = counter(
            "usher_quota_conflicts", "Writes that failed because another replica wrote first; usher repeats each."
        )
        self._reconciled = counter(
            "usher_quota_reconciled", "Corrections of accounts and conditions, by action.", ["action"]
        )
        for result in ChargeResult:
            self._charges.labels(result.value)
        for action in Correction:
            self._reconciled.labels(action.value)

    def charged(self, result: ChargeResult, *, seconds: float) -> None:
        self._charges.labels(result.value).inc()
        self._seconds.observe(seconds)

    def conflicted(self) -> None:
        self._conflicts.inc()

    def reconciled(self, action: Correction) -> None:
        self._reconciled.labels(action.value).inc()


class QuotaCollector(Collector):
    """Limits of quotas, their used amounts and their conditions, read when Prometheus scrapes."""

    def __init__(self, facts: Store) -> None:
        self._facts = facts

    def collect(self) -> Iterator[Metric]:
        labels = ["quota", "unit", "classes"]
        hard = GaugeMetricFamily("usher_quota_hard", "Amount that a limit of a GPUQuota allows.", labels=labels)
        used = GaugeMetricFamily("usher_quota_used", "Used amount of a limit of a GPUQuota.", labels=labels)
        ready = GaugeMetricFamily(
            "usher_quota_ready",
            "1 while the condition Ready of a GPUQuota is true, else 0: overlapping, unreadable, or being counted.",
            labels=["quota"],
        )
        found = self._facts.objects(gpu_quota_definitions.GROUP, gpu_quota_definitions.KIND)
        names = [] if isinstance(found, Absence) else sorted(found)[:MOST_QUOTAS]
        for name in names:
            value = {} if isinstance(found, Absence) else found.get(name, {})
            condition = gpu_quota_status.find_condition(value.get("status"))
            ready.add_metric([name], condition is not None and condition.ready)
            quota = gpu_quota_definitions.of_object(value)
            for limit, unit, amount, is_used in _quota_amounts(quota, value) if isinstance(quota, Quota) else ():
                (used if is_used else hard).add_metric([name, unit, limit], amount)
        yield from (hard, used, ready)


def _quota_amounts(quota: Quota, value: paths.Object) -> Iterator[tuple[str, str, float, bool]]:
    """Classes of a limit, unit, amount, and whether the amount is used. It shows only the first of limits with equal
    classes.
    """
    of_limits = paths.elements(paths.mapping(value.get("status")).get("used"))
    shown: set[tuple[str, str]] = set()
    for index, limit in enumerate(quota.limits):
        classes = ",".join(sorted(limit.classes))
        of_units = of_limits[index] if index < len(of_limits) else None
        for unit, nanos in limit.hard.items():
            if (classes, unit) in shown:
                continue
            shown.add((classes, unit))
            yield classes, unit, nanos / quantities.NANO, False
            yield classes, unit, _number(of_units.get(unit) if isinstance(of_units, dict) else None), True


def _number(value: paths.Json) -> float:
    """An amount in the status; 0 if missing."""
    try:
        return quantities.parse(value).nanos / quantities.NANO if isinstance(value, str | int) else 0.0
    except errors.QuantityError:
        return 0.0


# From well below a healthy review to the longest that an API server waits.
_REVIEW_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The metrics of one server, in a registry of their own."""

    def __init__(self, *, engine: str, revision: str) -> None:
        self.registry = prometheus.CollectorRegistry()
        counter, gauge = (
            partial(prometheus.Counter, registry=self.registry),
            partial(prometheus.Gauge, registry=self.registry),
        )
        info = partial(prometheus.Info, registry=self.registry)
        histogram = partial(prometheus.Histogram, buckets=_REVIEW_BUCKETS, registry=self.registry)
        reviews = counter("usher_reviews", "Reviews answered, by endpoint and result.", ["endpoint", "result"])
        seconds = histogram(
            "usher_review_duration_seconds", "Time from the first byte of a request to its answer.", ["endpoint"]
        )
        self._queued = histogram("usher_review_queue_seconds", "Time that a review waited for other reviews.")
        self._lag = histogram(
            "usher_event_loop_lag_seconds", "How late the event loop is, measured ten times a second."
        )
        self._bytes = gauge("usher_review_bytes", "Bytes of the bodies that have arrived and are not answered yet.")
        self._findings = counter("usher_findings", "Findings, by check and outcome.", ["check", "outcome"])
        self._mutations = counter("usher_mutations", "Mutations applied, by name.", ["mutation"])
        self._conflicts = counter("usher_mutation_conflicts", "Places for which mutations want different values.")
        self._missed = counter(
            "usher_missed_mutations",
            "Mutations that would have mended an object which the mutating webhook did not change in time, by kind.",
            ["mutation", "kind"],
        )
        self._observed = counter(
            "usher_observed_denials",
            "Objects that the preset observe let in and the preset recommended denies, by check.",
            ["check"],
        )
        self._not_evaluated = counter(
            "usher_not_evaluated", "Things that could not be judged: neither a pass nor a violation."
        )
        self._portal = counter(
            "usher_portal_answers", "Answers of the portal, by question and HTTP status.", ["question", "status"]
        )
        self._configured = gauge(
            "usher_configuration_good", "1 while the current usher.yaml is in use; 0 while an older one is kept."
        )
        self._configured.set(1)
        self._in_force = info(
            "usher_in_force", "Digests of usher.yaml and of the policies of the site that this replica decides by."
        )
        self._policies_good = gauge(
            "usher_policies_good",
            "1 while the policies of the site are in use as their bundles are; 0 while older ones are kept.",
        )
        self._policies_good.set(1)
        self._templates = gauge(
            "usher_policy_templates",
            "ConstraintTemplates of the site, by whether this server evaluates them.",
            ["evaluated"],
        )
        # Looking a child up by its labels costs more than counting.
        self._review = lru_cache(maxsize=256)(reviews.labels)
        self._second = lru_cache(maxsize=16)(seconds.labels)
        info("usher_build", "Version, engine and policies of usher.").info(
            {"version": __version__, "engine": engine, "policies": revision}
        )
        prometheus.ProcessCollector(registry=self.registry)
        prometheus.PlatformCollector(registry=self.registry)

    def watch_bytes(self, held: Callable[[], float]) -> None:
        """Adds the bytes in flight, read when Prometheus scrapes."""
        self._bytes.set_function(held)

    def lagged(self, seconds: float) -> None:
        self._lag.observe(seconds)

    def answered(self, endpoint: str, answer: Answer, *, seconds: float, queued: float, trace_id: str = "") -> None:
        self._queued.observe(queued)
        result = _result(answer)
        self._review(endpoint, result).inc()
        self._second(endpoint).observe(seconds, _exemplar(trace_id))
        for check, outcome in answer.outcomes.items():
            self._findings.labels(check, outcome).inc()
        for check in answer.observed:
            self._observed.labels(check).inc()
        for mutation in answer.mutations:
            self._mutations.labels(mutation).inc()
        if answer.missed:
            # A kind of our own registry, because a stranger may send any other.
            kind = answer.review.kind if any(kind == answer.review.kind for _, kind in registry.WORKLOADS) else "other"
            for mutation in answer.missed:
                self._missed.labels(mutation, kind).inc()
        if answer.conflicts:
            self._conflicts.inc(len(answer.conflicts))
        if answer.unknowns:
            self._not_evaluated.inc(answer.unknowns)

    def refused(self, endpoint: str) -> None:
        """Counts a request that was not a valid review (4xx)."""
        self._review(endpoint, "bad_request").inc()

    def portal_answered(self, question: str, status: int) -> None:
        """Counts an answer of the portal."""
        self._portal.labels(question, str(status)).inc()

    def shed(self, endpoint: str) -> None:
        """Counts a review that was refused for lack of time or memory (503 with Retry-After)."""
        self._review(endpoint, "overload").inc()

    def failed(self, endpoint: str, *, seconds: float, trace_id: str = "") -> None:
        """Counts a review without a verdict (5xx), for which failurePolicy decides."""
        self._review(endpoint, "error").inc()
        self._second(endpoint).observe(seconds, _exemplar(trace_id))

    def watch_certificate(self, source: CertificateSource) -> None:
        """Adds metrics of the certificate in service at the time of a scrape."""
        self.registry.register(CertificateCollector(source))

    def watch_facts(self, facts: LiveFacts) -> None:
        """Adds metrics of the facts of the cluster and of quotas."""
        self.registry.register(_FactsCollector(facts))
        self.registry.register(QuotaCollector(facts.store))

    def of_events(self) -> Callable[[str], None]:
        """Adds a metric of Events, and returns a function that counts one by its result."""
        events = prometheus.Counter(
            "usher_events",
            "Events on controllers of denied objects by result; no_owner: the controller does not exist.",
            ["result"],
            registry=self.registry,
        )
        return lambda result: events.labels(result).inc()

    def of_quotas(self) -> QuotaMetrics:
        """Adds metrics of charges, and returns them for counting."""
        return QuotaMetrics(self.registry)

    def configured(self, *, good: bool) -> None:
        """Records whether a changed usher.yaml is in use."""
        self._configured.set(good)

    def decides_by(self, *, configuration: str, policies: str) -> None:
        """Records the digests of the files in force, which are equal in all replicas."""
        self._in_force.info({"configuration": configuration, "policies": policies})

    def policies_loaded(self, *, good: bool) -> None:
        """Records whether changed bundles of policies are in use."""
        self._policies_good.set(good)

    def policies_in_service(self, *, evaluated: int, not_evaluated: int) -> None:
        """Records how many templates of the site are in service."""
        self._templates.labels("true").set(evaluated)
        self._templates.labels("false").set(not_evaluated)

    def exposition(self) -> bytes:
        return prometheus.generate_latest(self.registry)

    def accepted_exposition(self, accept: str) -> tuple[bytes, str]:
        """The metrics in a format of the header Accept, and their content type. Only OpenMetrics has exemplars."""
        offered = {part.partition(";")[0].strip() for part in accept.split(",")}
        if openmetrics.CONTENT_TYPE_LATEST.partition(";")[0] in offered:
            generate: Callable[[prometheus.CollectorRegistry], bytes] = openmetrics.generate_latest
            return generate(self.registry), openmetrics.CONTENT_TYPE_LATEST
        return self.exposition(), prometheus.CONTENT_TYPE_LATEST


def _exemplar(trace_id: str) -> dict[str, str] | None:
    return {"trace_id": trace_id} if trace_id else None


def _result(answer: Answer) -> str:
    if answer.try_again:
        return "try_again"
    return ("mutated" if answer.mutations else "allowed") if answer.allowed else "denied"


class _FactsCollector(Collector):
    """Metrics of the facts, computed when Prometheus scrapes. The kinds are those of our own registry."""

    def __init__(self, facts: LiveFacts) -> None:
        self._facts = facts

    def collect(self) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "usher_facts_age_seconds",
            "Time since the facts of a kind were last known to be current; absent while no fact is known.",
            labels=["kind"],
        )
        objects = GaugeMetricFamily(
            "usher_facts_objects", "Objects known of a kind; absent while the number is unknown.", labels=["kind"]
        )
        current = GaugeMetricFamily(
            "usher_facts_current", "1 while usher watches the changes of a kind, else 0.", labels=["kind"]
        )
        restarts = CounterMetricFamily(
            "usher_facts_watch_restarts", "Restarted watches, by kind and reason.", labels=["kind", "reason"]
        )
        for state in self._facts.states():
            if state.age is not None:
                age.add_metric([state.kind], state.age)
            if state.objects is not None:
                objects.add_metric([state.kind], state.objects)
            current.add_metric([state.kind], state.watching)
            for reason, number in state.restarts.items():
                restarts.add_metric([state.kind, reason.value], number)
        yield from (age, objects, current, restarts)
