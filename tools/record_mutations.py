"""Records the result of every mutation for a manifest of every kind, as golden data and for docs/mutations.md."""

import argparse
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import build_examples
import record_findings
import yaml

from usher import model, paths
from usher.config import models
from usher.kinds import kubeflow_pipelines as kubeflow_pipelines_compiled
from usher.kinds.kind import Kind
from usher.kinds.kubeflow_pipelines import group_version_kind
from usher.kinds.reading import values as reading_values
from usher.kinds.registry import WORKLOADS
from usher.policy import explaining
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import editing, merge

SITE: Final = "usher.yaml"
NAMESPACES: Final = ("ml-queued", "ml-routed", "ml-kai")
"""Namespaces of the site: one with a queue of Kueue, one with a route to Volcano, one with a route to KAI-Scheduler."""

NO_PODS: Final = "its pods are not known here"
_WIDTH: Final = 160
_UNREACHABLE: Final = "would not reach"
"""The words of a mutation that knows that a change to the template has no effect on the pods."""
_BY_THE_USER: Final = frozenset({editing.ALREADY_THERE, editing.USER_DECIDES})


class Verdict(StrEnum):
    """The result of a mutation. For several objects or namespaces, the first of these counts."""

    APPLIED = "applied"
    CONFLICT = "conflict"
    OUT_OF_REACH = "out of reach"
    """The object needs it, but has no place for it, or the change would not reach the pods."""
    NOT_APPLICABLE = "not applicable"
    """The object does not need it, or has the value already."""
    SILENT = "silent"
    """The mutation gave no reason, which is a mistake in the mutation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An object of the kind that a file is about, with the other objects of the file."""

    kind: Kind
    file: Path
    value: paths.Object
    objects: tuple[paths.Object, ...]

    @property
    def name(self) -> str:
        metadata = self.value.get("metadata")
        return str(metadata["name"]) if isinstance(metadata, dict) else kubeflow_pipelines_compiled.name(self.value)

    def request(self, namespace: str) -> Request:
        """The request that `usher check` makes for it."""
        objects = reading_values.Objects(self.objects, namespace=namespace)
        return Request(value=self.value, namespace=namespace, objects=objects, place="check")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one mutation with its reasons; those of an applied one say why it skipped parts of the object."""

    verdict: Verdict
    operations: Sequence[Any] = ()
    notes: tuple[tuple[str, str], ...] = ()
    """Places and reasons."""

    def as_json(self) -> dict[str, Any]:
        written: dict[str, Any] = {"verdict": self.verdict.value}
        if self.operations:
            written["operations"] = list(self.operations)
        if self.notes:
            written["reasons"] = [{"at": at, "reason": reason} for at, reason in self.notes]
        return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", type=Path, required=True, help="folder of the manifests and their usher.yaml")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    output: Path = arguments.output
    if output.exists():
        shutil.rmtree(output)
    evaluator = evaluator_of(arguments.kinds)
    for kind in WORKLOADS.values():
        file = output / file_of(kind, ".json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(laid_out(recorded(kind, arguments.kinds, evaluator)) + "\n", encoding="utf-8")


def file_of(kind: Kind, suffix: str = ".yaml") -> Path:
    return Path(kind.group or "core") / f"{kind.kind}{suffix}"


def evaluator_of(folder: Path) -> Evaluator:
    site = folder / SITE
    return record_findings.evaluator_with(models.Config.model_validate(build_examples.read_yaml(site)), file=site)


def subjects(kind: Kind, folder: Path) -> list[Subject]:
    """The objects of a kind in its file; the other objects of the file are those that they refer to."""
    file = folder / file_of(kind)
    values: tuple[paths.Object, ...] = tuple(yaml.load_all(file.read_bytes(), yaml.CSafeLoader))
    found = [value for value in values if group_version_kind(value)[::2] == (kind.group, kind.kind)]
    return [Subject(kind=kind, file=file, value=value, objects=values) for value in found]


def recorded(kind: Kind, folder: Path, evaluator: Evaluator) -> dict[str, list[dict[str, Any]]]:
    """The results by mutation, each with its objects and namespaces."""
    entries = sorted(evaluator.catalogue.mutations.values(), key=lambda entry: entry.key)
    found: dict[str, list[tuple[str, str, dict[str, Any]]]] = {entry.key: [] for entry in entries}
    for subject in subjects(kind, folder):
        for namespace in ("",) if kind.cluster_scoped else NAMESPACES:
            request = subject.request(namespace)
            workload, skips = evaluator.decide(request).workload, evaluator.skips(request)
            for entry in entries:
                merged = evaluator.mutate(request, only=entry.key)
                result = outcome(entry, workload, merged, skips).as_json()
                found[entry.key].append((subject.name, namespace, result))
    return {key: list(_together(results)) for key, results in found.items()}


def outcome(
    entry: catalogue.Entry, workload: model.Workload | None, merged: merge.Merged, skips: Iterable[model.Note]
) -> Outcome:
    """The result of one of the merged mutations."""
    barred = [(note.at, note.reason) for note in merged.warnings if note.mutation == entry.key]
    left: list[tuple[str, str]] = []
    for each in merged.skipped:
        if each.intent.mutation == entry.key:
            (left if each.reason in _BY_THE_USER else barred).append((each.intent.at, each.reason))
    for note in skips:
        if note.mutation == entry.key:
            (barred if _UNREACHABLE in note.reason else left).append((note.at, note.reason))
    if any(intent.mutation == entry.key for intent in merged.applied):
        return Outcome(verdict=Verdict.APPLIED, operations=merged.operations, notes=_once(barred + left))
    conflicts = [intent for group in merged.conflicts for intent in group if intent.mutation == entry.key]
    if conflicts:
        return Outcome(verdict=Verdict.CONFLICT, notes=_once((each.at, each.reason) for each in conflicts))
    if barred:
        return Outcome(verdict=Verdict.OUT_OF_REACH, notes=_once(barred))
    why = explaining.why_not_asked(entry, workload) if workload is not None and workload.pod_sets else NO_PODS
    if why:
        return Outcome(verdict=Verdict.NOT_APPLICABLE, notes=(("", why),))
    return Outcome(verdict=Verdict.NOT_APPLICABLE if left else Verdict.SILENT, notes=_once(left))


def _once(notes: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(set(notes)))


def _together(entries: Iterable[tuple[str, str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """One entry for equal results of several objects or namespaces."""
    groups: dict[str, dict[str, Any]] = {}
    for name, namespace, result in entries:
        group = groups.setdefault(json.dumps(result, sort_keys=True), {"of": [], "in": [], **result})
        group["of"] += [name] if name not in group["of"] else []
        group["in"] += [namespace] if namespace not in group["in"] else []
    yield from groups.values()


def laid_out(value: object, *, indent: str = "") -> str:
    """JSON with each value on one line if it fits, and with a separate line for every operation and reason."""
    line = json.dumps(value, ensure_ascii=False)
    is_row = isinstance(value, dict) and not value.keys().isdisjoint({"op", "reason"})
    if len(indent + line) <= _WIDTH or is_row or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, list):
        parts, ends = [laid_out(each, indent=inner) for each in value], "[]"
    else:
        parts = [f"{json.dumps(key)}: {laid_out(each, indent=inner)}" for key, each in value.items()]
        ends = "{}"
    return f"{ends[0]}\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}{ends[1]}"


if __name__ == "__main__":
    main()
