"""Turns checks into rules of SARIF, with their help."""

from collections.abc import Iterable, Mapping
from typing import Final

from usher import model
from usher.policy.checks import catalogue
from usher.reports.ci import markdown_text, sarif_shape
from usher.reports.ci.entries import Entry
from usher.scan import findings

_SECURITY: Final = frozenset({"isolation", "tenancy"})
"""Categories of checks that isolate workloads; only these have a security severity."""

_SCORES: Final = {
    catalogue.Severity.CRITICAL: "9.5",
    catalogue.Severity.HIGH: "8.0",
    catalogue.Severity.MEDIUM: "5.5",
    catalogue.Severity.LOW: "2.5",
}
"""GitHub reads 9.0 and more as critical, 7.0 as high, 4.0 as medium, less as low."""

_LEVELS: Final[Mapping[catalogue.Severity, sarif_shape.Severity]] = {
    catalogue.Severity.CRITICAL: "error",
    catalogue.Severity.HIGH: "error",
    catalogue.Severity.MEDIUM: "warning",
    catalogue.Severity.LOW: "note",
}
_RANKS: Final = {
    catalogue.Severity.CRITICAL: 95.0,
    catalogue.Severity.HIGH: 75.0,
    catalogue.Severity.MEDIUM: 50.0,
    catalogue.Severity.LOW: 25.0,
}
_MAX_TEXT: Final = 1_024
"""The most characters of a description that GitHub stores."""


def of(kept: Iterable[Entry], found: findings.Report) -> dict[str, sarif_shape.Rule]:
    """The rules of the findings and of the checks that were not evaluated, by key, sorted by code."""
    named = {each.check: (each.code or each.check, each.name) for each in found.not_evaluated}
    for entry in kept:
        if entry.finding is not None:
            judgement = entry.finding.judgement
            named[judgement.finding.check] = (_id(judgement), judgement.name)
    in_order = sorted(named, key=lambda check: (len(named[check][0]), *named[check]))
    return {
        check: _rule(found.rules[check]) if check in found.rules else _unknown_rule(*named[check]) for check in in_order
    }


def _id(judgement: model.Judgement) -> str:
    """The code of a check. A policy of the site also has its constraint, because a template may have several."""
    of_site = judgement.of_gatekeeper
    return f"{judgement.code}/{judgement.name}" if of_site else judgement.code


def _unknown_rule(code: str, name: str) -> sarif_shape.Rule:
    text = sarif_shape.Message(text=name)
    return {"id": code, "name": name, "shortDescription": text, "fullDescription": text, "help": text}


def _rule(entry: catalogue.Entry) -> sarif_shape.Rule:
    severity = entry.severity or catalogue.Severity.MEDIUM
    level = _LEVELS[severity]
    properties: sarif_shape.Properties = {
        "tags": [entry.category, *(["security"] if entry.category in _SECURITY else [])],
        "problem.severity": "error" if level == "error" else "warning" if level == "warning" else "recommendation",
    }
    if entry.category in _SECURITY:
        properties["security-severity"] = _SCORES[severity]
    rule: sarif_shape.Rule = {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": _shortened(" ".join((entry.why or entry.description).split()))},
        "help": _help(entry),
        "defaultConfiguration": {"level": level, "rank": _RANKS[severity]},
        "properties": properties,
    }
    if entry.links:
        rule["helpUri"] = entry.links[0].ref
    return rule


def _help(entry: catalogue.Entry) -> sarif_shape.Message:
    parts = [part.strip() for part in (entry.why, entry.description, entry.remediation) if part.strip()]
    more = [] if entry.category == catalogue.OWN_CATEGORY else [_more(entry)]
    links = [f"[{markdown_text.prose(each.description or each.ref)}](<{each.ref}>)" for each in entry.links]
    sources = "\n".join(f"* {link}" for link in links)
    return {
        "text": "\n\n".join([*parts, *more, *(each.ref for each in entry.links)]),
        "markdown": "\n\n".join([f"**{entry.code} {entry.title}**", *parts, *more, *([sources] if sources else [])]),
    }


def _more(entry: catalogue.Entry) -> str:
    page = f"docs/checks/{entry.name}.md"
    return f"`usher explain {entry.code}` and {page} of gpu-usher show examples."


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
