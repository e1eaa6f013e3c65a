"""The pods that operators made of generated objects, as recorded, beside those that usher counts.

The operators ran from their sources at the commit that a record names, with the API server of tests/e2e: Grove with its
webhooks, on the default scheduler and on Volcano; Katib with its webhooks and its service of random values; the others
without theirs. `later` holds the most pods that a Rollout had at once while its template changed, and `trials` how many
objects an Experiment made of a kind whose operator did not run.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from unit.workloads.normalised import workload
from usher import model

RECORDS = sorted((Path(__file__).parents[2] / "data" / "agreement" / "made").glob("*.json"))

Sort = tuple[tuple[tuple[str, int], ...], str]
"""The devices of one pod, and its scheduler."""


def shown(found: model.Workload) -> tuple[Counter[Sort], Counter[Sort]]:
    """The least and the most pods of each sort."""
    least, most = Counter[Sort](), Counter[Sort]()
    for each in found.pod_sets:
        assert each.count.maximum is not None
        devices = tuple(sorted((name, amount.value) for name, amount in each.accelerators.items() if amount.nanos))
        sort = (devices, each.scheduler.name)
        least[sort] += each.count.minimum
        most[sort] += each.count.maximum
    return +least, +most


@pytest.mark.parametrize("record", RECORDS, ids=[each.stem for each in RECORDS])
def test_usher_shows_the_pods_that_the_operator_made(record: Path) -> None:
    for made in json.loads(record.read_text())["objects"]:
        least, most = shown(workload(made["object"]))

        for key in made.keys() & {"pods", "later"}:
            found = Counter[Sort]()
            for each in made[key]:
                found[tuple(sorted(each["devices"].items())), each["scheduler"]] = each["pods"]
            assert least <= found <= most, (key, made["object"])


def test_an_experiment_has_the_pods_of_as_many_trials_as_katib_made() -> None:
    (record,) = (each for each in RECORDS if each.stem == "katib")
    experiments = [each for each in json.loads(record.read_text())["objects"] if "trials" in each]

    assert len(experiments) >= 10
    for each in experiments:
        one, all_trials = (
            workload(value) for value in (each["object"]["spec"]["trialTemplate"]["trialSpec"], each["object"])
        )
        assert all_trials.pods.minimum == each["trials"] * one.pods.minimum, each["object"]


@pytest.mark.parametrize("record", RECORDS, ids=[each.stem for each in RECORDS])
def test_usher_waits_for_as_many_pods_as_the_largest_pod_group_of_the_operator(record: Path) -> None:
    """Grove holds the smaller groups, of replicas beyond the least, back until the largest one is placed."""
    for made in json.loads(record.read_text())["objects"]:
        if made.get("pods") and (groups := made.get("groups")):
            found = workload(made["object"])

            assert minimum(found) == max(groups), made["object"]


def minimum(found: model.Workload) -> Any:
    """The pods that start together: all pods where the kind does not say how many."""
    assert found.gang.formed_by
    return found.gang.minimum or found.pods.minimum
