"""What follows from a finding: deny, warn or audit. Pure."""

from typing import Final

from usher import model
from usher.config import models, namespaces
from usher.policy import catalogue

OFF: Final = None

_PRESETS: dict[str, dict[catalogue.Severity, model.Outcome]] = {
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


_MILDNESS = {model.Outcome.DENY: 0, model.Outcome.WARN: 1, model.Outcome.AUDIT: 2}


def outcome(
    finding: model.Finding, check: catalogue.Entry, *, namespace: str, enforcement: models.Enforcement
) -> tuple[model.Outcome | None, str]:
    """The outcome (None: the check is off here) and, where it is milder than the preset's, the reason.

    The last rule that fits decides, else the preset by the check's severity. A finding that rests on an assumption
    about the cluster warns at most, whatever the rules say: we do not turn work away on a guess.
    """
    severity = check.severity or catalogue.Severity.LOW
    preset = _PRESETS[enforcement.preset][severity]
    decided: model.Outcome | None = preset
    because = ""
    for rule in enforcement.rules:
        if rule.check in ("*", check.code, check.name) and namespaces.matches(namespace, rule.namespaces):
            decided = OFF if rule.action == "off" else model.Outcome(rule.action)
            because = f"usher.yaml sets {check.name} to {rule.action} here"
    if decided is model.Outcome.DENY and finding.assumption:
        return model.Outcome.WARN, finding.assumption
    is_milder = decided is OFF or _MILDNESS[decided] > _MILDNESS[preset]
    return decided, because if is_milder else ""
