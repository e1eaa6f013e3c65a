"""Writes the tables of docs/feasibility.md that say how far usher agrees with real controllers, from recorded runs."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NAMES = {
    "kueue": "Kueue",
    "kueue-and-nodes": "Kueue, then Kubernetes' scheduler",
    "volcano": "Volcano",
    "volcano-hierarchy": "Volcano with queues above queues",
    "kai": "KAI-Scheduler",
    "in-tree": "Kubernetes' scheduler with groups",
    "devices": "Kubernetes' scheduler with devices of claims",
}

_OPERATORS = {
    "grove": "Grove",
    "jobset": "JobSet",
    "katib": "Katib",
    "kthena": "Kthena",
    "lws": "LWS",
    "mpi": "MPI operator",
    "ray": "KubeRay",
    "rbg": "RoleBasedGroup",
    "rollouts": "Argo Rollouts",
    "trainer": "Kubeflow Trainer",
}

_MARKS = "<!-- runs -->\n", "<!-- /runs -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, required=True, help="folder of the runs, one file for each controller")
    parser.add_argument("--page", type=Path, required=True)
    arguments = parser.parse_args()
    records = {file.stem: json.loads(file.read_text()) for file in sorted(arguments.records.glob("*.json"))}
    head, _, rest = arguments.page.read_text().partition(_MARKS[0])
    tail = rest.partition(_MARKS[1])[2]
    operators = {file.stem: json.loads(file.read_text()) for file in sorted(arguments.records.glob("operators/*.json"))}
    text = "\n".join([*tables(records), *operators_table(operators)])
    arguments.page.write_text(f"{head}{_MARKS[0]}{text}\n{_MARKS[1]}{tail}")


def tables(records: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A table of all controllers, and the reasons of unknown answers by controller."""
    yield "| controller | version | cases | started | false never | false fits now | could, but waits | unknown |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, run in records.items():
        counts = [run[key] for key in ("cases", "started", "false never", "false fits now", "could, but waits alone")]
        share = f"{run['unknown']} ({run['unknown'] / run['cases']:.0%})"
        yield f"| {_NAMES[name]} | {run['version']} | {' | '.join(map(str, counts))} | {share} |"
    for name, run in records.items():
        reasons = [f"{count} x {reason}" for reason, count in run["why unknown"].items()]
        yield ""
        yield f"Why an answer about {_NAMES[name]} was unknown: {'; '.join(reasons) or 'no answer was'}."


def operators_table(records: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A table of the operators that made pods of manifests."""
    yield ""
    yield "| operator | version | manifests | refused | other pods than usher says |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for name, run in records.items():
        yield f"| {_OPERATORS[name]} | {run['version']} | {run['objects']} | {run['refused']} | {run['wrong']} |"


if __name__ == "__main__":
    main()
