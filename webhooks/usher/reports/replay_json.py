"""Writes the effect of a change of configuration, policies or version, for programs. Lines count from 1.

A `difference` is a text of `usher.replay.comparison.Difference`. A field is absent where it does not apply.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TextIO

from pydantic import BeforeValidator

from usher.replay.comparison import Difference
from usher.replay.impact import Impact
from usher.reports import json_shape, replay_wording
from usher.reports.json_report import Amount
from usher.reports.json_shape import API_VERSION, IF_KNOWN, IntegerIfAny, Shape, TextIfAny, attribute


def write(impact: Impact, stream: TextIO, /) -> None:
    """Writes the report as one JSON document."""
    comparison = impact.comparison
    document = Report.model_validate(
        {
            "summary": replay_wording.summary(impact),
            "complete": not comparison.failed,
            "before": comparison.before,
            "after": comparison.after,
            "whole": impact.whole,
            "by_difference": impact.by_difference,
            "checks": impact.checks,
            "namespaces": impact.namespaces,
            "owners": impact.owners,
            "users": impact.users,
            "objects": [change for change in comparison.changes if change.difference is not Difference.NOTHING],
            "failures": comparison.failures,
            "owned": comparison.owned,
            "problems": list(dict.fromkeys((*comparison.before.problems, *comparison.after.problems))),
            "notes": list(dict.fromkeys((*comparison.before.notes, *comparison.after.notes))),
        }
    )
    json_shape.write(document, stream)


def _named(found: Mapping[Difference, object]) -> Mapping[str, object]:
    return {difference.value: each for difference, each in found.items()}


class Concerned(Shape):
    """Objects, the pods that they make, and the accelerators that these request."""

    objects: int
    workloads: int
    pods: Amount
    gpus: Amount
    accelerators: dict[str, Amount] = attribute("devices")


ByDifference = Annotated[dict[str, Concerned], BeforeValidator(_named)]


class Side(Shape):
    """One side: `asRecorded` of `recorded` reviews get the answer that the server gave."""

    label: str
    version: str
    policies: str
    recorded: IntegerIfAny
    as_recorded: IntegerIfAny


class Check(Shape):
    """The changes in one check; `check` is empty for parts of objects that could not be read."""

    check: str
    code: str
    name: str
    newly_denies: Concerned
    no_longer_denies: Concerned
    newly_warns: Concerned
    no_longer_warns: Concerned
    not_evaluated: Concerned


class Group(Shape):
    name: str
    by_difference: ByDifference


class CheckChanged(Shape):
    """The change of one check in an object: `deny`, `warn`, `audit`, `nothing` or `not evaluated`."""

    check: str
    code: str
    name: str
    before: str
    after: str
    messages: list[str]


class Outcome(Shape):
    """The worst outcome on one side."""

    outcome: str
    exemption: TextIfAny
    failure: TextIfAny


class Shown(Shape):
    kind: str
    namespace: str
    name: str
    owner: str
    user: TextIfAny
    occasion: TextIfAny
    source: str
    line: IntegerIfAny
    pods: Amount
    accelerators: dict[str, Amount] = attribute("devices")


class Object(Shape):
    shown: Shown
    difference: str
    before: Annotated[Outcome | None, IF_KNOWN]
    after: Annotated[Outcome | None, IF_KNOWN]
    checks: list[CheckChanged]


class Report(Shape):
    """The document. `complete` is false if an input could not be read or an object could not be judged.

    `byDifference` adds up to `whole`. Both leave out `owned` objects, which count as part of their owners.
    """

    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["ReplayReport"] = "ReplayReport"
    summary: str
    complete: bool
    before: Side
    after: Side
    whole: Concerned
    by_difference: ByDifference
    checks: list[Check]
    namespaces: list[Group]
    owners: list[Group]
    users: list[Group]
    objects: list[Object]
    failures: list[Object]
    owned: int
    problems: list[str]
    notes: list[str]
