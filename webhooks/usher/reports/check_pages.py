"""Writes the Markdown pages of checks from METADATA, examples and their findings. docs/checks has usher's own pages."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from usher.dataclass import dataclass
from usher.policy.checks import catalogue

_SEVERITIES: Final = {
    "critical": "denied by every preset",
    "high": "denied by `recommended` and `strict`, a warning by `baseline`",
    "medium": "denied by `strict`, a warning by the others",
    "low": "a warning by `strict`, noted by the others",
}

_BACKTICKS: Final = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A finding of a check in an example."""

    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The examples of a check, as texts of files."""

    bad: tuple[tuple[str, tuple[Shown, ...]], ...]
    """Bad examples, each with the findings of the check."""
    good: tuple[str, ...]
    configuration: str = ""
    """usher.yaml for them; empty without one."""
    cluster: str = ""
    """The objects of the cluster for them; empty without any."""


def page(check: catalogue.Entry, examples: Examples) -> Iterator[str]:
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
    yield from _examples(examples)
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
    if check.about is catalogue.About.CLUSTER_FACTS:
        return f"{objects or 'workloads'}, where facts of the cluster are known"
    if check.kinds:
        return f"workloads with {check.about}, and {objects}"
    return f"workloads with {check.about}" if check.about is not catalogue.About.PODS else "all workloads"


def _examples(examples: Examples) -> Iterator[str]:
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


def _remedy(shown: Shown) -> str:
    remedy = shown.remedy
    return f". {_escaped(remedy[:1].upper() + remedy[1:])}." if remedy else ""


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def index(checks: Sequence[catalogue.Entry], *, introduction: Iterable[str]) -> Iterator[str]:
    """The lines of the page that lists checks by category."""
    yield "\n# Checks\n"
    yield from introduction
    in_order = sorted(checks, key=lambda check: (check.category, check.number))
    for category, group in groupby(in_order, key=lambda check: check.category):
        yield f"\n## {category}\n\n| code | name | severity | what must be |\n| --- | --- | --- | --- |"
        for check in group:
            yield f"| {check.code} | [{check.name}]({check.name}.md) | {check.severity} | {check.title} |"
