"""Pages of checks and mutations: values for programs, text for people, and Markdown as in docs/checks."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct
from rich.text import Text

from usher import model
from usher.check.formats import wording
from usher.check.formats.lines import Lines
from usher.config import models
from usher.extensions.own_checks.trials import Judged
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Entry
from usher.policy.excused_findings import Circumstances
from usher.policy.explaining import Explained, Explanation, State

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
    outcome, _ = decision.outcome_of_finding(finding, entry, where=Circumstances(namespace=""), enforcement=preset)
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


_IN_FULL: Final = (
    State.FOUND,
    State.NOT_EVALUATED,
    State.APPLIED,
    State.CONFLICT,
    State.WARNED,
    State.SKIPPED,
    State.LEFT_ALONE,
    State.OFF,
)
_HEADINGS: Final = {
    State.FOUND: "found as written, before the mutations below",
    State.NOT_EVALUATED: "not evaluated",
    State.APPLIED: "mutations that apply",
    State.CONFLICT: "mutations in conflict",
    State.WARNED: "mutations that are blocked",
    State.SKIPPED: "mutations with nothing to add",
    State.LEFT_ALONE: "mutations with nothing to do",
    State.OFF: "switched off",
    State.GOOD: "passed",
    State.NOT_ASKED: "left out",
}

_SHORT: Final = (State.FOUND, State.NOT_EVALUATED, State.APPLIED, State.CONFLICT, State.WARNED)
"""The states that a short explanation lists; it counts the rest."""


def write_explanations(
    explained: Iterable[tuple[str, Explanation]],
    stream: TextIO,
    /,
    *,
    everything: bool = True,
    width: int | None = None,
) -> None:
    """Writes the explanations, each below the place of its object.

    Args:
        explained: the places and explanations.
        everything: also lists the rules that find and change nothing, instead of their number.
        width: in columns, by default the terminal's.
    """
    lines = Lines(stream, color=False, width=width)
    for number, (place, explanation) in enumerate(explained):
        if number:
            lines.write()
        lines.write(wording.printable(place))
        lines.wrapped(_heading(explanation), first=Text(""), rest="  ")
        workload = explanation.workload
        if workload is not None and workload.role_reason:
            lines.wrapped(f"role {workload.role}: {workload.role_reason}", first=Text("  "), rest="    ")
        for name, reasons in explanation.pools:
            for each in reasons:
                of_pod_set = f"{name}: " if name else ""
                lines.wrapped(f"{of_pod_set}pool {each.pool}: {each.reason}", first=Text("  "), rest="    ")
        if explanation.exemption:
            lines.wrapped(f"not judged: {explanation.exemption}", first=Text("  "), rest="  ")
        for state in State if everything else _SHORT:
            entries = [entry for entry in explanation.entries if entry.state is state]
            if entries:
                lines.write(f"  {_HEADINGS[state]}")
                _write(state, entries, lines)
        rest: Counter[State] = Counter(entry.state for entry in explanation.entries if entry.state not in _SHORT)
        if rest and not everything:
            counts = ", ".join(f"{rest[state]} {_HEADINGS[state]}" for state in State if rest[state])
            lines.wrapped(f"{counts}; --all lists them", first=Text("  "), rest="  ")


def _heading(explanation: Explanation) -> str:
    workload = explanation.workload
    if workload is None:
        return "no rule reads this object"
    return wording.workload_name(workload)


def _write(state: State, entries: Sequence[Explained], lines: Lines) -> None:
    if state in _IN_FULL:
        for entry in entries:
            lines.write(f"    {entry.entry.code} {entry.entry.name}")
            for text in filter(None, entry.texts):
                lines.wrapped(text, first=Text("      "), rest="        ")
        return
    by_reason: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        by_reason.setdefault(entry.texts, []).append(f"{entry.entry.code} {entry.entry.name}")
    for reason, names in by_reason.items():
        if reason:
            lines.wrapped(f"{reason[0]}:", first=Text("    "), rest="    ")
        lines.wrapped(", ".join(names), first=Text("      " if reason else "    "), rest="      ")


_SEVERITIES: Final = {
    "critical": "denied by every preset",
    "high": "denied by `recommended` and `strict`, a warning by `baseline`",
    "medium": "denied by `strict`, a warning by the others",
    "low": "a warning by `strict`, noted by the others",
}

_BACKTICKS: Final = re.compile(r"`{3,}")


class ShownFinding(Struct, frozen=True, kw_only=True):
    """A finding of a check in an example."""

    message: str
    remedy: str


class Examples(Struct, frozen=True, kw_only=True):
    """The examples of a check, as texts of files."""

    bad: tuple[tuple[str, tuple[ShownFinding, ...]], ...]
    """Bad examples, each with the findings of the check."""
    good: tuple[str, ...]
    configuration: str = ""
    """usher.yaml for them; empty without one."""
    cluster: str = ""
    """The objects of the cluster for them; empty without any."""


def check_page(check: catalogue.Entry, examples: Examples) -> Iterator[str]:
    """The lines of a check's page."""
    yield f"\n# {check.code} {check.name}\n"
    yield f"**{check.title}.** {check.why}\n"
    yield f"* Category: {check.category}"
    if check.strict_only:
        yield f"* Severity: {check.severity}, by the preset `strict` alone. {check.strict_only}"
    else:
        yield f"* Severity: {check.severity} ({_SEVERITIES.get(check.severity or '', '')})"
    yield f"* Looks at: {_about(check)}"
    if check.closes:
        yield f"* Closes: {', '.join(check.closes)} ([coverage](../coverage.md))"
    if check.aliases:
        yield f"* Also known as: {', '.join(check.aliases)}"
    yield f"\n## Why\n\n{check.description}"
    yield f"\n## What to do\n\n{check.remediation}"
    yield from _example_lines(examples)
    if check.parameters:
        yield "\n## Parameters\n\n| name | default | meaning |\n| --- | --- | --- |"
        for name, parameter in sorted(check.parameters.items()):
            yield f"| `{name}` | `{json.dumps(parameter.default)}` | {' '.join(parameter.description.split())} |"
        name, parameter = min(check.parameters.items())
        yield "\nSet in `usher.yaml`, for all namespaces or for some:\n\n```yaml\nparameters:"
        yield f"  - check: {check.name}\n    namespaces: [research-*]"
        yield f"    values: {{{name}: {json.dumps(parameter.default)}}}\n```"
    yield "\n## Enforcement\n\n```yaml\nenforcement:\n  rules:"
    yield f"    - check: {check.name}\n      namespaces: [research-*]\n      action: warn  # or deny, audit, off\n```"
    if check.links:
        yield "\n## Read more\n"
        yield from (f"* [{link.description or link.ref}]({link.ref})" for link in check.links)


def _about(check: catalogue.Entry) -> str:
    objects = ", ".join(f"`{kind}`" for kind in check.kinds)
    if check.about is catalogue.About.OBJECTS:
        return objects
    if check.about is catalogue.About.LARGE_OBJECTS:
        return "all objects of the kinds that usher knows"
    if check.about is catalogue.About.UNREAD_KEYS:
        return "all objects in files, of kinds whose fields usher knows"
    if check.about is catalogue.About.CLUSTER_FACTS:
        return f"{objects or 'workloads'}, where facts of the cluster are known"
    if check.kinds:
        return f"workloads with {check.about}, and {objects}"
    return f"workloads with {check.about}" if check.about is not catalogue.About.PODS else "all workloads"


def _example_lines(examples: Examples) -> Iterator[str]:
    if examples.configuration:
        yield f"\nThe examples are judged with this `usher.yaml`:\n\n{_fenced(examples.configuration)}"
    if examples.cluster:
        yield f"\nThey are judged for a cluster that has these objects:\n\n{_fenced(examples.cluster)}"
    yield "\n## Avoid"
    for text, found in examples.bad[:2]:
        yield f"\n{_fenced(text)}\n"
        yield from (f"> {_escaped(each.message)}{_remedy(each)}" for each in found[:3])
    yield "\n## Prefer"
    for text in examples.good[:1]:
        yield f"\n{_fenced(text)}"


def _fenced(text: str) -> str:
    longest = max((len(found) for found in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}yaml\n{text.strip()}\n{fence}"


def _remedy(shown: ShownFinding) -> str:
    remedy = shown.remedy
    return f". {_escaped(remedy[:1].upper() + remedy[1:])}." if remedy else ""


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def check_index(checks: Sequence[catalogue.Entry], *, introduction: Iterable[str]) -> Iterator[str]:
    """The lines of the page that lists checks by category."""
    yield "\n# Checks\n"
    yield from introduction
    in_order = sorted(checks, key=lambda check: (check.category, check.number))
    for category, group in groupby(in_order, key=lambda check: check.category):
        yield f"\n## {category}\n\n| code | name | severity | what must be |\n| --- | --- | --- | --- |"
        for check in group:
            yield f"| {check.code} | [{check.name}]({check.name}.md) | {check.severity} | {check.title} |"


OWN_CHECKS_HEAD: Final = (
    "<!-- Generated by `usher policies docs` from the METADATA and the examples of the check. -->\n"
)
"""The start of each page. It distinguishes a page of a deleted check from other files."""


def own_check_pages(checks: Iterable[Judged]) -> dict[str, str]:
    """The text of each page by the name of its file; README.md is the index."""
    known = list(checks)
    found = {f"{each.check.entry.name}.md": check_page(each.check.entry, _examples_of(each)) for each in known}
    introduction = (f"{wording.count(len(known), 'check')} of our own, which `usher check --policies` judges by.",)
    found["README.md"] = check_index([each.check.entry for each in known], introduction=introduction)
    return {name: OWN_CHECKS_HEAD + "\n".join(lines) + "\n" for name, lines in found.items()}


def _examples_of(judged: Judged) -> Examples:
    folder = judged.check.examples
    return Examples(
        bad=tuple(
            (
                _file_text(each.file),
                tuple(ShownFinding(message=found.message, remedy=found.remedy) for found in findings),
            )
            for each, findings in judged.examples
            if each.kind == "bad"
        ),
        good=tuple(_file_text(each.file) for each, _ in judged.examples if each.kind == "good"),
        configuration=_file_text(folder / "usher.yaml"),
        cluster=_file_text(folder / "cluster.yaml"),
    )


def _file_text(file: Path) -> str:
    """The text of a file that was read as an example; empty for a missing file."""
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
