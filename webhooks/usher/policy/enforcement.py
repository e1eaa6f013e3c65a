"""The outcome of a finding: deny, warn or audit. Pure.

Findings about stale facts or about partly known pods warn at most.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

from usher import model
from usher.config import fields, models, selection
from usher.dataclass import dataclass
from usher.mutation import merge
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import About, Catalogue

OFF: Final = None

PODS_ARE_JUDGED: Final = "its owner wrote the template, and its pods are judged"
"""The reason for a ReplicaSet of a Deployment older than the webhooks: a denial would stop its rollouts."""

PODS_ARE_MENDED: Final = "its pods are mended when they are made"
"""The reason for an UPDATE without a value that the mutating webhook added on CREATE: a tool wrote the list again."""

REPAIRS_A_NODE: Final = "an administrator made this pod for one node"
"""The reason for `kubectl debug node/NODE`, whose pod names its node and tolerates every taint."""

_OF_NODES: Final = frozenset({"isolation", "placement"})
"""Categories of checks that keep tenants away from nodes."""

OBSERVE: Final = "observe"
"""The preset for the first days. It denies nothing, changes nothing and records the denials of `recommended`."""

OBSERVED: Final = "the preset recommended denies this"
"""Why usher notes a finding under `observe`."""

_GUARDS: Final = frozenset({"exemption-by-tenant"})
"""Checks that protect usher itself, so that no tenant exempts its namespace before enforcement begins."""

PRESETS: dict[str, dict[catalogue.Severity, model.Outcome]] = {
    OBSERVE: dict.fromkeys(catalogue.Severity, model.Outcome.AUDIT),
    "baseline": {
        catalogue.Severity.CRITICAL: model.Outcome.DENY,
        catalogue.Severity.HIGH: model.Outcome.WARN,
        catalogue.Severity.MEDIUM: model.Outcome.WARN,
        catalogue.Severity.LOW: model.Outcome.AUDIT,
    },
    "recommended": {
        catalogue.Severity.CRITICAL: model.Outcome.DENY,
        catalogue.Severity.HIGH: model.Outcome.DENY,
        catalogue.Severity.MEDIUM: model.Outcome.WARN,
        catalogue.Severity.LOW: model.Outcome.AUDIT,
    },
    "strict": {
        catalogue.Severity.CRITICAL: model.Outcome.DENY,
        catalogue.Severity.HIGH: model.Outcome.DENY,
        catalogue.Severity.MEDIUM: model.Outcome.DENY,
        catalogue.Severity.LOW: model.Outcome.WARN,
    },
}


FELT: Final = frozenset({model.Outcome.DENY, model.Outcome.WARN})
"""Outcomes that the author of an object sees; an exception turns them into `audit`."""

_MILDNESS = {model.Outcome.DENY: 0, model.Outcome.WARN: 1, model.Outcome.AUDIT: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Where a finding was made, on which day, and in which object."""

    namespace: str
    role: model.Role = model.Role.UNKNOWN
    place: fields.Place = "admission"
    kind: str = ""
    name: str = ""
    today: date = date.min
    """The date in UTC."""


def outcome(
    finding: model.Finding, check: catalogue.Entry, *, where: Circumstances, enforcement: models.Enforcement
) -> tuple[model.Outcome | None, str]:
    """The outcome (None: the check is off here) and, if it is milder than the preset's, the reason.

    The last rule that fits decides. Without one the preset decides by the severity of the check. A finding that rests
    on an assumption about the cluster warns at most, whatever the rules say. A finding that an exception covers is
    audited.
    """
    preset = of_preset(check, enforcement.preset)
    decided = preset
    because = ""
    for rule in enforcement.rules:
        if rule.check in words(check) and _holds(rule, where):
            decided = OFF if rule.action == "off" else model.Outcome(rule.action)
            because = f"usher.yaml sets {check.name} to {rule.action} here"
    excepting = exception(check, where=where, enforcement=enforcement)
    if excepting is not None and decided in FELT:
        covering = enforcement.exceptions[excepting]
        until = f"{covering.ticket} of {covering.owner} until {covering.expires}"
        return model.Outcome.AUDIT, f"exception {until}: {covering.reason}"
    if decided is model.Outcome.DENY and finding.assumption:
        return model.Outcome.WARN, finding.assumption
    if enforcement.preset == OBSERVE and decided is model.Outcome.AUDIT and not because:
        would = of_preset(check, "recommended")
        return decided, OBSERVED if would is model.Outcome.DENY and not finding.assumption else ""
    is_milder = preset is not OFF and (decided is OFF or _MILDNESS[decided] > _MILDNESS[preset])
    return decided, because if is_milder else ""


def of_preset(check: catalogue.Entry, preset: str) -> model.Outcome | None:
    """The outcome that a preset gives to findings of a check; None if the check is off."""
    if check.strict_only and preset != "strict":
        return OFF
    if check.name in _GUARDS and preset == OBSERVE:
        preset = "recommended"
    return PRESETS[preset][check.severity or catalogue.Severity.LOW]


def exception(check: catalogue.Entry, *, where: Circumstances, enforcement: models.Enforcement) -> int | None:
    """The number of the first exception that covers the check here, counted from 0."""
    return next((n for n, each in enumerate(enforcement.exceptions) if covers(each, check, where)), None)


def covers(exception: models.ExceptionRule, check: catalogue.Entry, where: Circumstances) -> bool:
    """Whether an exception covers a check here; an expired one covers nothing."""
    return (
        where.today <= exception.expires
        and names_check(exception, check)
        and matches(exception, namespace=where.namespace, kind=where.kind, name=where.name)
    )


def names_check(exception: models.ExceptionRule, check: catalogue.Entry) -> bool:
    """Whether an exception is for a check."""
    return not {check.code, check.name, *check.aliases}.isdisjoint(exception.checks)


def matches(exception: models.ExceptionRule, *, namespace: str, kind: str, name: str) -> bool:
    """Whether an exception is for an object, on any day and for any check."""
    return (
        selection.matches_pattern(namespace, exception.namespaces)
        and (not exception.kinds or kind in exception.kinds)
        and (not exception.names or selection.matches_pattern(name, exception.names))
    )


def words(check: catalogue.Entry) -> tuple[str, ...]:
    """The words by which a rule of usher.yaml may name a check."""
    return ("*", check.code, check.name, check.category, *check.aliases)


def _holds(rule: models.EnforcementRule, where: Circumstances) -> bool:
    return (
        selection.matches_pattern(where.namespace, rule.namespaces)
        and (not rule.roles or where.role.value in rule.roles)
        and (not rule.places or where.place in rule.places)
    )


def today() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()


def leniency(workload: model.Workload, *, updating: bool, by: Container[str] = ()) -> Callable[[catalogue.Entry], str]:
    """Returns a function that says why a check may only warn about an object; empty if it may deny.

    Args:
        workload: the object.
        updating: whether it exists already.
        by: the identities of the user, as the API server and usher.yaml name them. Labels of the object prove nothing.
    """
    if "administrators" in by and not updating and _is_for_one_node(workload):
        return lambda check: REPAIRS_A_NODE if check.category in _OF_NODES else ""
    if merge.owner_compares(workload):
        return lambda _check: PODS_ARE_JUDGED
    if updating and not workload.is_pod:
        return lambda check: PODS_ARE_MENDED if check.mended_on_pods else ""
    return lambda _check: ""


def _is_for_one_node(workload: model.Workload) -> bool:
    """Whether it is a Pod without an owner and without accelerators that names its node, as `kubectl debug` makes."""
    is_alone = workload.is_pod and workload.owner is None and not workload.asks_accelerators
    return is_alone and all(pod_set.node_name for pod_set in workload.pod_sets)


def downgrade_partial_pods(findings: Iterable[model.Finding], workload: model.Workload) -> Iterator[model.Finding]:
    """The findings. Those about partly known pods get an assumption, so that they only warn.

    usher judges these pods again when they are created, because then they are complete.
    """
    partial = [pod_set for pod_set in workload.pod_sets if not pod_set.whole]
    for finding in findings:
        if finding.assumption:
            yield finding
        elif workload.is_template:
            yield replace(finding, assumption=f"objects that refer to the {workload.kind} may define the rest")
        elif any(_is_about(finding, pod_set) for pod_set in partial):
            yield replace(finding, assumption="objects that usher does not know may define the rest")
        else:
            yield finding


def _is_about(finding: model.Finding, pod_set: model.PodSet) -> bool:
    containers = (container.path for container in pod_set.containers)
    places = (pod_set.path, pod_set.spec_path, *containers, *pod_set.places.values())
    return any(finding.path == place or finding.path.startswith(f"{place}/") for place in places)


def downgrade_stale_facts(
    findings: Iterable[model.Finding],
    entries: Catalogue,
    *,
    age: float,
    bound: float,
    fresh: Container[str] = frozenset(),
) -> Iterator[model.Finding]:
    """The findings. Those about outdated facts get an assumption, so that they warn at most.

    Args:
        findings: of one object.
        entries: the catalogue that knows the checks.
        age: of the facts, in seconds.
        bound: the oldest that facts may be, in seconds.
        fresh: keys of checks whose facts have just been read.
    """
    for finding in findings:
        check = entries.checks.get(finding.check)
        rests_on_facts = check is not None and check.about is About.CLUSTER_FACTS and check.key not in fresh
        if age > bound and rests_on_facts and not finding.assumption:
            yield replace(finding, assumption=f"cluster facts are {_readable(age)} old")
        else:
            yield finding


def _readable(age: float) -> str:
    """Seconds as hours, minutes or seconds, rounded down."""
    for unit, size in (("hour", 3600), ("minute", 60)):
        number = int(age // size)
        if number:
            return f"{number} {unit}{'s' * (number > 1)}"
    return f"{int(age)} seconds"
