"""Compares what reports say about workloads with the answers of the webhook."""

from collections.abc import Iterable, Mapping
from typing import Any

import reviews
from e2e.cluster import Object
from e2e.facts_site import NAMESPACE
from integration import command
from usher import model
from usher.review import admission_review

Identity = tuple[str, str]
"""API version and kind in one, and name."""

Said = Mapping[Identity, Any]
"""The verdicts of a source, by workload."""


def identity(value: Object) -> Identity:
    return f"{value['apiVersion']} {value['kind']}", value["metadata"]["name"]


def reported(done: command.Run, workloads: Iterable[Object]) -> Said:
    """The verdicts of a report by workload, without lines of files."""
    names = {identity(each) for each in workloads}
    of_lines = ("line", "column", "excerpt")
    return {
        name: {
            part: [{key: value for key, value in each.items() if key not in of_lines} for each in entry[part]]
            for part in ("findings", "unknowns")
        }
        for entry in done.json["workloads"]
        if (name := (f"{entry['apiVersion']} {entry['kind']}", entry["name"])) in names
    }


def expected(value: Object, said: Any) -> Any:
    """The webhook's response about an object, from what a report says of it."""
    decision = model.Decision(
        workload=None,
        judgements=tuple(_judgement(each) for each in said["findings"]),
        unknowns=tuple(
            model.Unknown(check=each.get("check", ""), path=each["path"], reason=each["reason"])
            for each in said["unknowns"]
        ),
    )
    name = f"{value['kind']} {NAMESPACE}/{value['metadata']['name']}"
    return admission_review.validation_response(reviews.UID, decision, display_name=name)


def _judgement(entry: Any) -> model.Judgement:
    finding = model.Finding(
        check=entry["check"], path=entry["path"], message=entry["message"], remedy=entry.get("remedy", "")
    )
    return model.Judgement(
        finding=finding,
        outcome=model.Outcome(entry["outcome"]),
        code=entry["code"],
        name=entry["name"],
        because=entry.get("because", ""),
    )
