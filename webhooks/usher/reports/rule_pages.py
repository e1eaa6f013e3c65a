"""Pages of checks and mutations for programs, with their outcomes under usher.yaml."""

from collections.abc import Iterable
from typing import Final

from usher import model
from usher.config import models
from usher.policy import decision
from usher.policy.checks.catalogue import Entry

CHANGES: Final = "apply"
"""The outcome of a mutation that is on."""


def outcome(entry: Entry, config: models.Config) -> str:
    """The outcome of a check's findings, or whether a mutation is applied: `deny`, `deny; warn in research-*`."""
    if entry.severity is None:
        usual = CHANGES if entry.on_by_default else "off, unless mutations.rules of usher.yaml applies it"
        mine = [rule for rule in config.mutations.rules if rule.mutation in ("*", entry.name, entry.code)]
        return _by_rules(usual, ((rule.namespaces, rule.action) for rule in mine))
    preset = models.Enforcement(preset=config.enforcement.preset)
    finding = model.Finding(check=entry.key, path="", message="")
    outcome, _ = decision.outcome_of_finding(
        finding, entry, where=decision.Circumstances(namespace=""), enforcement=preset
    )
    about = [rule for rule in config.enforcement.rules if rule.check in decision.check_words(entry)]
    usual = "off" if outcome is decision.OFF else str(outcome)
    return _by_rules(usual, ((rule.namespaces, rule.action) for rule in about))


def _by_rules(everywhere: str, rules: Iterable[tuple[list[str], str]]) -> str:
    """The outcome everywhere, and the namespaces with another one. The last rule that matches decides."""
    elsewhere: dict[str, str] = {}
    for namespaces, action in rules:
        if "*" in namespaces:
            everywhere, elsewhere = action, {}
        else:
            # A later rule for the same namespaces replaces the earlier one, also in the order.
            key = ", ".join(namespaces)
            elsewhere.pop(key, None)
            elsewhere[key] = action
    return "; ".join([everywhere, *(f"{action} in {where}" for where, action in elsewhere.items())])


def described(entry: Entry, config: models.Config) -> dict[str, object]:
    """The page of a check or mutation for programs."""
    return {
        "about": entry.about,
        "aliases": list(entry.aliases),
        "category": entry.category,
        "closes": list(entry.closes),
        "code": entry.code,
        "description": entry.description,
        "key": entry.key,
        "links": [{"ref": link.ref, "description": link.description} for link in entry.links],
        "name": entry.name,
        "outcome": outcome(entry, config),
        "parameters": {name: parameter.model_dump() for name, parameter in entry.parameters.items()},
        "remediation": entry.remediation,
        "severity": entry.severity,
        "strict_only": entry.strict_only,
        "title": entry.title,
        "why": entry.why,
    }
