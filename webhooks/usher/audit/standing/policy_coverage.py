"""How far policy reaches: what admission would say today, what webhooks leave out or block, and exceptions.

The checks find the same with and without exceptions, so the decisions of the audit say what would be without one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final

from usher.audit.document import FindingEntry
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Workload
from usher.audit.gather.needed_inputs import MUTATING, VALIDATING
from usher.audit.standing.situation import (
    Prevention,
    Situation,
    cluster_finding,
    cluster_subject,
    counted,
    named_subject,
    workload_subject,
)
from usher.check import findings as scan
from usher.check.findings import ExceptionState, ExceptionUse
from usher.config import selection
from usher.install import installed_objects, preflight
from usher.install.installed_objects import Webhook
from usher.install.manifests.webhooks import NAME
from usher.install.preflight import PointState
from usher.kinds import registry
from usher.policy.mutation import strategies

_MOST_EVIDENCE: Final = 10


def admission_findings(situation: Situation) -> Iterator[FindingEntry]:
    """At most one finding about denials and one about changes for each workload."""
    installed = _installed(situation)
    judges = _judges(situation)
    for workload in situation.estate.workloads:
        result = situation.result(workload)
        if result is None or not workload.exists:
            continue
        denials = situation.denials(workload)
        if denials and judges:
            yield from _denied(workload, denials, installed, situation)
        if result.change is not None:
            yield from _changed(workload, result.change, situation)


def _judges(situation: Situation) -> bool:
    """Whether usher judges in this cluster. A dump may not hold its webhooks; then its traces on workloads show it."""
    webhooks = fields.listed(situation.estate, *VALIDATING.key)
    if webhooks is None:
        return any(each.annotations for each in situation.estate.workloads)
    return any(fields.name(value).startswith(NAME) for value in webhooks)


def _installed(situation: Situation) -> datetime | None:
    """When the first of usher's webhooks was registered; None if unknown."""
    listed = (fields.listed(situation.estate, *kind.key) or () for kind in (MUTATING, VALIDATING))
    ours = [value for values in listed for value in values if fields.name(value).startswith(NAME)]
    times = [fields.when(value, "/metadata/creationTimestamp") for value in ours]
    return min((each for each in times if each is not None), default=None)


def _came_before(workload: Workload, installed: datetime | None) -> bool:
    """Whether a workload is older than usher's webhooks. If their age is unknown: whether usher left no trace on it."""
    if installed is None or workload.created is None:
        return not workload.annotations
    return workload.created < installed and not workload.annotations


def _denied(
    workload: Workload, denials: list[scan.Finding], installed: datetime | None, situation: Situation
) -> Iterator[FindingEntry]:
    judgements = [each.judgement for each in denials]
    codes = list(dict.fromkeys(each.code for each in judgements))
    runs = sum(pod.holds for pod in workload.pods)
    if _came_before(workload, installed):
        code = "USA040"
        message = f"it came before usher, and admission would deny it today: {fields.listing(codes)}"
    elif runs:
        code = "USA041"
        verb = "runs" if runs == 1 else "run"
        message = f"{counted(runs, 'pod')} {verb}, and admission would deny it today: {fields.listing(codes)}"
    else:
        return
    yield cluster_finding(
        code,
        workload_subject(workload),
        message,
        evidence=[fields.excerpt(f"{each.code}: {each.finding.message}") for each in judgements[:_MOST_EVIDENCE]],
        team=workload.team,
        gpus=situation.gpus(workload),
        since=workload.created,
        prevention=Prevention(by=codes[0]),
    )


def _changed(workload: Workload, change: scan.Change, situation: Situation) -> Iterator[FindingEntry]:
    """The finding about drift. Warnings and skipped mutations change nothing, so they are not drift."""
    applied = change.merged.applied
    if not applied:
        return
    words = list(dict.fromkeys(strategies.STRATEGIES[intent.field].words for intent in applied))
    yield cluster_finding(
        "USA042",
        workload_subject(workload),
        f"it lacks what admission would add: {fields.listing(words)}",
        evidence=[
            fields.excerpt(f"{change.names.get(each.mutation, each.mutation)}: {each.reason}")
            for each in applied[:_MOST_EVIDENCE]
        ],
        team=workload.team,
        gpus=situation.gpus(workload),
        since=workload.created,
    )


_API_VERSION: Final = "admissionregistration.k8s.io/v1"
_SAMPLE: Final = 5


def coverage_findings(situation: Situation) -> Iterator[FindingEntry]:
    """Workloads that usher's webhooks do not judge; no findings if the webhooks are unknown."""
    exempt = _exempt(situation)
    yield from _exemptions(exempt, situation)
    webhooks = _judging(situation)
    if webhooks is None:
        return
    held = [each for each in situation.estate.workloads if each.identity.namespace not in exempt]
    if not webhooks:
        if not held and not situation.estate.nodes:
            return
        yield cluster_finding(
            "USA050",
            named_subject(_API_VERSION, VALIDATING.kind, NAME),
            f"no {VALIDATING.kind} of usher is registered, and the cluster has "
            f"{counted(len(held), 'workload')} with accelerators",
            gpus=sum(map(situation.gpus, held)),
        )
        return
    uncovered = _kinds_without_rule(held, webhooks)
    for (group, kind), found in sorted(uncovered.items()):
        yield _kind_finding(group, kind, found, situation)
    rest = [each for each in held if _kind_key(each) not in uncovered]
    yield from _namespaces_left_out(rest, webhooks, situation)


def _judging(situation: Situation) -> list[Webhook] | None:
    """The validating webhooks of usher; None if unknown. Mutating webhooks refuse no object."""
    found = fields.listed(situation.estate, *VALIDATING.key)
    if found is None:
        return None
    return [
        each for each in installed_objects.read_webhooks(found, mutating=False) if each.configuration.startswith(NAME)
    ]


def _kind_key(workload: Workload) -> tuple[str, str]:
    return workload.identity.api_version.rpartition("/")[0], workload.identity.kind


def _judged_as(key: tuple[str, str]) -> tuple[str, str]:
    """Group and resource by which usher judges a workload: its pods, for an unknown kind or a group of pods."""
    kind = registry.WORKLOADS.get(key)
    return ("", "pods") if kind is None else (kind.group, kind.plural)


def _kinds_without_rule(
    workloads: Sequence[Workload], webhooks: Sequence[Webhook]
) -> Mapping[tuple[str, str], list[Workload]]:
    found: defaultdict[tuple[str, str], list[Workload]] = defaultdict(list)
    covered: dict[tuple[str, str], bool] = {}
    for workload in workloads:
        key = _kind_key(workload)
        if key not in covered:
            resource = _judged_as(key)
            covered[key] = any(each.creates(*resource) for each in webhooks)
        if not covered[key]:
            found[key].append(workload)
    return found


def _kind_finding(group: str, kind: str, workloads: Sequence[Workload], situation: Situation) -> FindingEntry:
    names = sorted(f"{each.identity.namespace}/{each.identity.name}" for each in workloads)
    api = registry.WORKLOADS.get((group, kind))
    known = "" if api is not None else "; usher does not know this kind"
    return cluster_finding(
        "USA051",
        named_subject(workloads[0].identity.api_version, kind, api.resource if api is not None else kind),
        f"no webhook rule of usher asks about {kind}, and the cluster has "
        f"{counted(len(workloads), 'workload')} of it with accelerators{known}",
        evidence=(fields.listing(names, most=_SAMPLE),),
        gpus=sum(map(situation.gpus, workloads)),
    )


def _namespaces_left_out(
    workloads: Sequence[Workload], webhooks: Sequence[Webhook], situation: Situation
) -> Iterator[FindingEntry]:
    """Namespaces that the selector of every webhook for the kind leaves out."""
    by_namespace: defaultdict[str, list[Workload]] = defaultdict(list)
    for workload in workloads:
        by_namespace[workload.identity.namespace].append(workload)
    for namespace, held in sorted(by_namespace.items()):
        labels = situation.labels(namespace)
        if labels is None:
            continue
        found = [each for each in held if _is_left_out(each, labels, webhooks)]
        if found:
            kinds = sorted({each.identity.kind for each in found})
            yield cluster_finding(
                "USA052",
                named_subject("v1", "Namespace", namespace, namespace=namespace),
                f"the namespaceSelector of usher's webhooks leaves out its "
                f"{counted(len(found), 'workload')} with accelerators",
                evidence=(f"kinds: {fields.listing(kinds)}",),
                team=situation.team(namespace),
                gpus=sum(map(situation.gpus, found)),
            )


def _is_left_out(workload: Workload, labels: Mapping[str, str], webhooks: Sequence[Webhook]) -> bool:
    asked = [each for each in webhooks if each.creates(*_judged_as(_kind_key(workload)))]
    return all(each.selects(labels) is False for each in asked)


def _exempt(situation: Situation) -> Mapping[str, str]:
    """The exempt namespaces by name, each with the reason: usher.yaml or a label."""
    spaces = sorted({each.identity.namespace for each in situation.estate.workloads})
    return {namespace: reason for namespace in spaces if (reason := situation.exemption(namespace))}


def _exemptions(exempt: Mapping[str, str], situation: Situation) -> Iterator[FindingEntry]:
    for namespace, reason in exempt.items():
        if selection.matches_pattern(namespace, situation.config.priorities.system_namespaces):
            # The GPU operators' own namespaces have to be exempt.
            continue
        held = [each for each in situation.estate.workloads if each.identity.namespace == namespace]
        yield cluster_finding(
            "USA053",
            named_subject("v1", "Namespace", namespace, namespace=namespace),
            f"usher does not judge its {counted(len(held), 'workload')} with accelerators: {reason} exempts it",
            evidence=(fields.listing(sorted(each.identity.name for each in held), most=_SAMPLE),),
            team=situation.team(namespace),
            gpus=sum(map(situation.gpus, held)),
        )


def webhook_findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about webhooks, judged as `usher preflight` does; empty if the webhooks are unknown."""
    mutating = fields.listed(situation.estate, *MUTATING.key)
    validating = fields.listed(situation.estate, *VALIDATING.key)
    if mutating is None or validating is None:
        return
    webhooks = [
        *installed_objects.read_webhooks(mutating, mutating=True),
        *installed_objects.read_webhooks(validating, mutating=False),
    ]
    slowest = preflight.slowest_creation(webhooks)
    if slowest.state is PointState.ATTENTION:
        asked = sorted(
            (each for each in webhooks if each.creates("", "pods")), key=lambda each: (-each.timeout, each.title)
        )
        yield cluster_finding(
            "USA054",
            cluster_subject("webhooks of Pods"),
            fields.excerpt(slowest.text),
            remedy=_sentence(slowest.remedy),
            evidence=[fields.excerpt(f"{each.title}: {each.timeout} s") for each in asked[:10]],
        )
    namespaces = _labels_of_namespaces(situation)
    judged = {(each.identity.kind, each.identity.name): each.findings for each in situation.report.results}
    for webhook in webhooks:
        if webhook.fails_closed and not webhook.configuration.startswith(NAME):
            kind = MUTATING.kind if webhook.mutating else VALIDATING.kind
            found = [each.judgement for each in judged.get((kind, webhook.configuration), ())]
            named = any(each.code == _EVERYWHERE and f'"{webhook.name}"' in each.finding.message for each in found)
            yield from _blocking(webhook, kind, namespaces, named=named)


_EVERYWHERE: Final = "USH1489"
"""The check of a webhook about pods of all namespaces."""


def _blocking(
    webhook: Webhook, kind: str, namespaces: Mapping[str, Mapping[str, str]], *, named: bool
) -> Iterator[FindingEntry]:
    """The findings about a webhook that fails closed.

    Args:
        webhook: the webhook.
        kind: the kind of its configuration.
        namespaces: the labels of the namespaces.
        named: whether a check already says that it fails closed on pods everywhere.
    """
    for problem in preflight.points_of_blocking_webhook(webhook, namespaces, {}):
        if problem.state is PointState.ATTENTION and not (named and " fails closed on pods" in problem.text):
            yield cluster_finding(
                "USA055",
                named_subject(_API_VERSION, kind, webhook.configuration),
                fields.excerpt(problem.text),
                part=f"{webhook.name} {problem.remedy}",
                remedy=_sentence(fields.excerpt(problem.remedy)),
                path=f'webhooks["{fields.excerpt(webhook.name)}"]',
            )


def _sentence(words: str) -> str:
    """A remedy of a preflight as a sentence of an audit."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _labels_of_namespaces(situation: Situation) -> Mapping[str, Mapping[str, str]]:
    names = situation.known.facts.names("", "Namespace") or ()
    return {name: labels for name in sorted(names) if (labels := situation.labels(name)) is not None}


UNUSED_EXCEPTION: Final = "USA010"
EXCEPTION_NOT_NEEDED: Final = "USA012"
_EXPIRED_EXCEPTION: Final = "USA011"

_CONFIG_VERSION: Final = "gpu-usher.io/v1alpha1"
_CONFIG_KIND: Final = "Config"


def exception_place(number: int) -> str:
    """The path of an exception in usher.yaml, by its number from 0."""
    return f"enforcement.exceptions[{number}]"


def exception_findings(situation: Situation) -> Iterator[FindingEntry]:
    """At most one finding about each exception; the subject is its ticket in usher.yaml.

    The end date is always known. An exception is surely not needed only if usher read every object that it matches and
    evaluated each check that it names on them.
    """
    uses = situation.report.exceptions
    for number, use in enumerate(uses):
        known = _is_known(use, situation)
        if use.state is ExceptionState.EXPIRED:
            yield _expired_exception(number, use, known=known)
        elif known and use.state is ExceptionState.USED and not use.needed_findings:
            what = counted(use.findings, "finding")
            yield _exception_finding(
                EXCEPTION_NOT_NEEDED, number, use, f"it covers {what}, and usher.yaml would only note them without it"
            )
        elif known and use.state is ExceptionState.UNUSED:
            yield from _unused_exception(number, use, situation)


def _is_known(use: ExceptionUse, situation: Situation) -> bool:
    """Whether usher read and judged every object that it matches. A dump holds only some kinds, and manifests are not a
    cluster.
    """
    from_cluster = situation.report.origin or (situation.estate.pods_read and (use.objects or not use.kinds))
    return bool(situation.complete and from_cluster and use.known and not use.aside)


def _unused_exception(number: int, use: ExceptionUse, situation: Situation) -> Iterator[FindingEntry]:
    covering = [(exception_place(each), situation.report.exceptions[each]) for each in use.covered_by]
    if covering:
        if all(each.expires >= use.expires for _, each in covering):
            names = fields.listing([f"{each.ticket} ({at})" for at, each in covering])
            yield _exception_finding(
                UNUSED_EXCEPTION, number, use, f"{names} covers the same findings first, and does not end earlier"
            )
    elif use.objects_with_findings:
        return
    elif use.objects:
        passing = "the only object that it matches passes" if use.objects == 1 else (
            f"all {use.objects:,} objects that it matches pass"
        )  # fmt: skip
        yield _exception_finding(EXCEPTION_NOT_NEEDED, number, use, f"{passing} without it")
    else:
        there = situation.known.facts.names("", "Namespace")
        gone = there and not any(selection.matches_pattern(name, use.namespaces) for name in there)
        reason = f"no namespace has a name like {fields.listing(use.namespaces)}" if gone else "it matches no object"
        yield _exception_finding(UNUSED_EXCEPTION, number, use, reason)


def _expired_exception(number: int, use: ExceptionUse, *, known: bool) -> FindingEntry:
    since = datetime.combine(use.expires + timedelta(days=1), time(), UTC) if use.expires.year < 9999 else None
    ended = f"its last day was {use.expires.isoformat()}"
    if use.objects_with_findings:
        what = counted(use.objects_with_findings, "object")
        has = "has a finding" if use.objects_with_findings == 1 else "have findings"
        message = f"{ended}, and {what} {has} that it covered ({fields.listing(use.codes)})"
        remedy = (
            f"Mend what the evidence names and remove {exception_place(number)} from usher.yaml, or agree on a new "
        )
        return _exception_finding(
            _EXPIRED_EXCEPTION, number, use, message, since=since, remedy=f"{remedy}last day and set expires."
        )
    message = f"{ended}, and no object needs it any more" if known else ended
    remedy = f"{_removal(number)}." if known else ""
    return _exception_finding(_EXPIRED_EXCEPTION, number, use, message, since=since, remedy=remedy)


def _exception_finding(  # noqa: PLR0913 - the fields of a finding
    code: str, number: int, use: ExceptionUse, message: str, *, remedy: str = "", since: datetime | None = None
) -> FindingEntry:
    return cluster_finding(
        code,
        named_subject(_CONFIG_VERSION, _CONFIG_KIND, use.ticket),
        f"the exception {use.ticket} for {fields.listing(use.checks)}: {message}",
        part=" ".join(",".join(sorted(each)) for each in (use.checks, use.namespaces, use.kinds, use.names) if each),
        # Some shards of a cluster see no object that it matches. Others see that all these objects pass.
        same_as=UNUSED_EXCEPTION if code == EXCEPTION_NOT_NEEDED else "",
        path=exception_place(number),
        remedy=remedy
        or (f"{_removal(number)}, unless another cluster needs it." if code != _EXPIRED_EXCEPTION else ""),
        evidence=_exception_evidence(use),
        team=use.owner,
        since=since,
    )


def _removal(number: int) -> str:
    return f"Remove {exception_place(number)} from usher.yaml"


def _exception_evidence(use: ExceptionUse) -> Iterator[str]:
    yield f"owner: {use.owner}"
    yield f"namespaces: {fields.listing(use.namespaces)}"
    if use.kinds:
        yield f"kinds: {fields.listing(use.kinds)}"
    if use.names:
        yield f"names: {fields.listing(use.names)}"
    yield f"objects that it matches: {use.objects:,}"
    if use.codes:
        codes = fields.listing(use.codes)
        yield f"with findings of its checks ({codes}): {_some_objects(use)}"


def _some_objects(use: ExceptionUse) -> str:
    more = use.objects_with_findings - len(use.examples)
    shown = ", ".join(map(fields.excerpt, use.examples))
    return f"{shown} and {more:,} more" if more and shown else shown or f"{more:,}"
