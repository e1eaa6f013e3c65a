"""Workloads that no webhook of usher judges: kinds without a rule, namespaces that selectors leave out."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.estate import Workload
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation
from usher.audit.standing.wanted import VALIDATING
from usher.config import selection
from usher.install import registered_webhooks
from usher.install.manifests.webhooks import NAME
from usher.install.registered_webhooks import Webhook
from usher.kinds import registry

_API_VERSION: Final = "admissionregistration.k8s.io/v1"
_SAMPLE: Final = 5


def findings(situation: Situation) -> Iterator[FindingEntry]:
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
        yield entries.finding(
            "USA050",
            entries.named(_API_VERSION, VALIDATING[1], NAME),
            f"no {VALIDATING[1]} of usher is registered, and the cluster has "
            f"{entries.counted(len(held), 'workload')} with accelerators",
            gpus=sum(map(situation.gpus, held)),
        )
        return
    uncovered = _kinds_without_rule(held, webhooks)
    for (group, kind), found in sorted(uncovered.items()):
        yield _kind_finding(group, kind, found, situation)
    rest = [each for each in held if _key(each) not in uncovered]
    yield from _left_out(rest, webhooks, situation)


def _judging(situation: Situation) -> list[Webhook] | None:
    """The validating webhooks of usher; None if unknown. Mutating webhooks refuse no object."""
    found = fields.listed(situation.estate, *VALIDATING)
    if found is None:
        return None
    return [
        each for each in registered_webhooks.read_webhooks(found, mutating=False) if each.configuration.startswith(NAME)
    ]


def _key(workload: Workload) -> tuple[str, str]:
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
        key = _key(workload)
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
    return entries.finding(
        "USA051",
        entries.named(workloads[0].identity.api_version, kind, api.resource if api is not None else kind),
        f"no webhook rule of usher asks about {kind}, and the cluster has "
        f"{entries.counted(len(workloads), 'workload')} of it with accelerators{known}",
        evidence=(fields.listing(names, most=_SAMPLE),),
        gpus=sum(map(situation.gpus, workloads)),
    )


def _left_out(
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
            yield entries.finding(
                "USA052",
                entries.named("v1", "Namespace", namespace, namespace=namespace),
                f"the namespaceSelector of usher's webhooks leaves out its "
                f"{entries.counted(len(found), 'workload')} with accelerators",
                evidence=(f"kinds: {fields.listing(kinds)}",),
                team=situation.team(namespace),
                gpus=sum(map(situation.gpus, found)),
            )


def _is_left_out(workload: Workload, labels: Mapping[str, str], webhooks: Sequence[Webhook]) -> bool:
    asked = [each for each in webhooks if each.creates(*_judged_as(_key(workload)))]
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
        yield entries.finding(
            "USA053",
            entries.named("v1", "Namespace", namespace, namespace=namespace),
            f"usher judges none of its {entries.counted(len(held), 'workload')} with accelerators: {reason} exempts it",
            evidence=(fields.listing(sorted(each.identity.name for each in held), most=_SAMPLE),),
            team=situation.team(namespace),
            gpus=sum(map(situation.gpus, held)),
        )
