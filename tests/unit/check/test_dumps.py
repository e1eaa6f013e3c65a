"""Objects of a cluster that were saved in files are treated as in the cluster, and manifests as before."""

import builders
from builders.existing import existing, running
from usher import paths
from usher.audit.gather.dumps import Survey
from usher.check.batches import Batch, Item
from usher.kinds.reading.values import Absence

DEPLOYMENT = existing(builders.deployment(name="llm"))
POD = running("llm-1", owner=DEPLOYMENT)


def surveyed(*files: list[paths.Object]) -> tuple[Survey, list[Batch]]:
    survey = Survey({})
    batches = [
        Batch(source=f"{number}.yaml", items=tuple(Item(value=value) for value in values))
        for number, values in enumerate(files)
    ]
    for batch in batches:
        survey.add(batch)
    return survey, batches


def settled(*files: list[paths.Object]) -> list[Batch]:
    survey, batches = surveyed(*files)
    return [survey.settled(batch) for batch in batches]


def judged(batches: list[Batch]) -> list[object]:
    return [paths.metadata(item.value)["name"] for batch in batches for item in batch.items]


def test_what_a_listed_owner_made_counts_as_part_of_it_whatever_the_order_of_the_files() -> None:
    batches = settled([POD], [DEPLOYMENT])

    assert judged(batches) == ["llm"]
    assert (batches[0].owned, batches[0].aside) == (1, (POD,))


def test_a_pod_whose_owner_is_in_no_file_is_judged() -> None:
    assert judged(settled([POD])) == ["llm-1"]


def test_a_finished_object_holds_nothing() -> None:
    batches = settled([builders.replaced(running("done"), "/status/phase", "Succeeded")])

    assert (judged(batches), batches[0].finished) == ([], 1)


def test_a_manifest_is_judged_whatever_owner_it_names() -> None:
    """Only the API server gives objects a uid, so a manifest came from its author."""
    manifest = builders.replaced(POD, "/metadata/uid", "")

    assert judged(settled([DEPLOYMENT], [manifest])) == ["llm", "llm-1"]


def test_the_objects_of_a_dump_are_the_facts_of_its_cluster() -> None:
    queue = existing(builders.custom("scheduling.k8s.io/v1", "PriorityClass", {}, name="high", namespace=None))
    facts = surveyed([queue, existing(builders.node("node-0", gpus=8))])[0].facts

    assert facts.names("scheduling.k8s.io", "PriorityClass") == frozenset({"high"})
    assert facts.nodes.known


def test_manifests_say_nothing_about_a_cluster() -> None:
    facts = surveyed([builders.node("node-0", gpus=8), builders.job()])[0].facts

    assert facts.empty
    assert isinstance(facts.objects("", "Namespace"), Absence)
