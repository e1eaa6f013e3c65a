"""Records which checks fire on the manifests of a corpus, beside the verdicts of the people who read them.

A firing is one check and one object, judged as `usher check` judges it without a configuration: first mutated, with
the checks that only the preset `strict` has. The record keeps its verdicts. It drops firings that no longer occur, and
lists new ones as `unjudged`: read the manifest, then move each to a `right`, `wrong` or `debatable` entry.
"""

import argparse
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import record_findings
import yaml
from msgspec.structs import replace

from usher import paths
from usher.check import sources
from usher.config import models
from usher.kinds.reading import values
from usher.policy import decision as policy_decision
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

VERDICTS: Final = ("right", "wrong", "debatable")
UNJUDGED: Final = "unjudged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Firings:
    """The findings on a corpus."""

    checks: Mapping[str, frozenset[str]]
    """Objects by the name of the check, each as `FILE: KIND NAME`."""
    accelerator_workloads: int
    """Objects whose pods ask for accelerators."""
    clean: int
    """Good objects that the preset `recommended` neither denies nor warns about."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of manifests")
    parser.add_argument("--record", type=Path, required=True, help="file with the verdicts, which is written again")
    arguments = parser.parse_args()
    kept = yaml.safe_load(arguments.record.read_text()) if arguments.record.exists() else {"checks": {}}
    found = firings(arguments.corpus)
    arguments.record.parent.mkdir(parents=True, exist_ok=True)
    arguments.record.write_text(yaml.safe_dump(merged(kept, found), sort_keys=False, width=120, allow_unicode=True))


def firings(corpus: Path) -> Firings:
    """Evaluates every object of a corpus, each file by itself."""
    evaluator = record_findings.evaluator_with(models.Config())
    checks: dict[str, set[str]] = defaultdict(set)
    workloads = clean = 0
    for name, value, request in _requests(corpus):
        admitted = replace(request, value=evaluator.mutate(request).value)
        decision = evaluator.decide(admitted)
        found = {judgement.name for judgement in decision.judgements}
        felt = {judgement.name for judgement in decision.judgements if judgement.outcome in policy_decision.FELT}
        for check in found:
            checks[check].add(f"{name}: {value.get('kind')} {_name(value)}")
        if decision.workload and any(pod_set.accelerators for pod_set in decision.workload.pod_sets):
            workloads += 1
            clean += all(_is_of_strict(evaluator, check) for check in felt)
    return Firings(
        checks={check: frozenset(objects) for check, objects in checks.items()},
        accelerator_workloads=workloads,
        clean=clean,
    )


def _requests(corpus: Path) -> Iterator[tuple[str, paths.Object, Request]]:
    for batch in sources.read([str(corpus)], stdin=io.BytesIO()):
        objects = values.Objects((item.value for item in batch.items), namespace="default")
        for item in batch.items:
            request = Request(value=item.value, namespace="default", objects=objects, place="check")
            yield str(Path(batch.source).relative_to(corpus)), item.value, request


def _name(value: paths.Object) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") or metadata.get("generateName") if isinstance(metadata, dict) else None
    return str(name or "without a name")


def _is_of_strict(evaluator: Evaluator, name: str) -> bool:
    check = evaluator.catalogue.find(name)
    return check is not None and bool(check.strict_only)


def merged(kept: dict[str, Any], found: Firings) -> dict[str, Any]:
    """The record of what fires now, with the verdicts that it has."""
    checks = {}
    for check, objects in sorted(found.checks.items()):
        entries = [_only(entry, objects) for entry in kept["checks"].get(check, []) if UNJUDGED not in entry]
        judged = {name for entry in entries for name in entry["objects"]}
        missing = sorted(objects - judged)
        new = [{UNJUDGED: "read it and give a verdict", "objects": missing}] if missing else []
        checks[check] = [*(entry for entry in entries if entry["objects"]), *new]
    counts = {"accelerators": found.accelerator_workloads, "clean": found.clean}
    return {"workloads": counts, "checks": checks}


def _only(entry: dict[str, Any], objects: frozenset[str]) -> dict[str, Any]:
    return entry | {"objects": sorted(name for name in entry["objects"] if name in objects)}


if __name__ == "__main__":
    main()
