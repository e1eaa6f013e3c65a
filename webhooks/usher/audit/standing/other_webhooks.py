"""Findings about webhooks of others: timeouts that add up, and webhooks that block the objects that they need to
restart.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation
from usher.audit.standing.wanted import MUTATING, VALIDATING
from usher.install import preflight, registered_webhooks
from usher.install.manifests.webhooks import NAME
from usher.install.preflight import PointState
from usher.install.registered_webhooks import Webhook

_API_VERSION: Final = "admissionregistration.k8s.io/v1"


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about webhooks, judged as `usher preflight` does; empty if the webhooks are unknown."""
    mutating = fields.listed(situation.estate, *MUTATING)
    validating = fields.listed(situation.estate, *VALIDATING)
    if mutating is None or validating is None:
        return
    webhooks = [
        *registered_webhooks.read_webhooks(mutating, mutating=True),
        *registered_webhooks.read_webhooks(validating, mutating=False),
    ]
    slowest = preflight.slowest_creation(webhooks)
    if slowest.state is PointState.ATTENTION:
        asked = sorted(
            (each for each in webhooks if each.creates("", "pods")), key=lambda each: (-each.timeout, each.title)
        )
        yield entries.finding(
            "USA054",
            entries.of_cluster("webhooks of Pods"),
            fields.excerpt(slowest.text),
            remedy=_sentence(slowest.remedy),
            evidence=[fields.excerpt(f"{each.title}: {each.timeout} s") for each in asked[:10]],
        )
    namespaces = _namespaces(situation)
    for webhook in webhooks:
        if webhook.fails_closed and not webhook.configuration.startswith(NAME):
            yield from _blocking(webhook, namespaces)


def _blocking(webhook: Webhook, namespaces: Mapping[str, Mapping[str, str]]) -> Iterator[FindingEntry]:
    kind = MUTATING[1] if webhook.mutating else VALIDATING[1]
    for problem in preflight.points_of_blocking_webhook(webhook, namespaces, {}):
        if problem.state is PointState.ATTENTION:
            yield entries.finding(
                "USA055",
                entries.named(_API_VERSION, kind, webhook.configuration),
                fields.excerpt(problem.text),
                part=f"{webhook.name} {problem.remedy}",
                remedy=_sentence(fields.excerpt(problem.remedy)),
                path=f'webhooks["{fields.excerpt(webhook.name)}"]',
            )


def _sentence(words: str) -> str:
    """A remedy of a preflight as a sentence of an audit."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _namespaces(situation: Situation) -> Mapping[str, Mapping[str, str]]:
    names = situation.known.facts.names("", "Namespace") or ()
    return {name: labels for name in sorted(names) if (labels := situation.labels(name)) is not None}
