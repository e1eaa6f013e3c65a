"""Slices are remembered for workloads that differ in nothing that slices read, and only while the facts stay.

Every remembered slice is compared with one that is made from the same facts without a memory.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import record_findings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import builders
import generated_examples
from builders import queues
from unit.authorities.knowing import knowing
from unit.policy import alike_pods
from unit.policy.mutation import generated
from usher import model, paths
from usher.authorities import registry
from usher.authorities.authority import Case, QuotaRefusal
from usher.authorities.gpu_quota import definitions
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.workloads import fingerprints

CHECKS = Path(__file__).parents[3] / "policies" / "usher" / "checks"
QUEUE = "kueue.x-k8s.io/queue-name"
SETTINGS = settings(
    deadline=None,
    max_examples=generated_examples.up_to(200),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def job(run: str = "first", *, gpus: int = 8, workers: int = 3, **fields: Any) -> paths.Object:
    """One of the jobs of a sweep: its name, its label, its image, its command and its variables are its own."""
    container = builders.container(
        gpus=gpus, image=f"trainer:{run}", env={"RUN": run, "NCCL_DEBUG": run}, command=["torchrun", f"--run={run}"]
    )
    template = builders.template(container, labels={"app": run}, restartPolicy="Never", **fields)
    replicas: paths.Object = {"Worker": {"replicas": workers, "template": template}}
    metadata: paths.Object = {"name": run, "namespace": "research", "labels": {QUEUE: "gpus", "run": run}}
    spec: paths.Object = {"pytorchReplicaSpecs": replicas}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata, "spec": spec}


def cluster_queue(gpus: int, *, used: int = 0) -> paths.Object:
    reserved: paths.Json = [{"name": "a100", "resources": [{"name": builders.GPU, "total": str(used)}]}]
    return {
        **queues.cluster_queue("gpus", queues.gpu_group(gpus)),
        "status": {"conditions": [{"type": "Active", "status": "True"}], "flavorsReservation": reserved},
    }


def everything() -> Store:
    facts = alike_pods.everything()
    facts.replace(("kueue.x-k8s.io", "LocalQueue"), [queues.local_queue("gpus")])
    facts.replace(("kueue.x-k8s.io", "ClusterQueue"), [cluster_queue(16)])
    facts.replace(("kueue.x-k8s.io", "ResourceFlavor"), [queues.flavor("a100")])
    return facts


CHANGES: list[Callable[[Store], None]] = [
    *alike_pods.CHANGES,
    lambda store: store.put(cluster_queue(16)),
    lambda store: store.put(cluster_queue(16, used=16)),
    lambda store: store.put(cluster_queue(64)),
    lambda store: store.put(queues.local_queue("gpus", "other")),
    lambda store: store.put(queues.flavor("a100", labels={"zone": "a"})),
    lambda store: store.remove(queues.local_queue("gpus")),
]
"""Changes of the cluster between two workloads."""

WORKLOADS = (
    st.sampled_from([job("first"), job("second"), job(gpus=64), job(workers=1)])
    | generated.pytorch_jobs(gpus=st.sampled_from([1, 8, "x"]), garbage=True)
    | generated.manifests_of_many_devices()
)


def read(value: paths.Object, known: Knowledge) -> model.Workload | None:
    return known.workload(value, namespace="research")


def slices_of(made: Callable[[Case, Knowledge], object], workload: model.Workload, known: Knowledge) -> object:
    """The slices as the engine gets them, and whether the facts that they rest on still hold, by their class."""
    case = Case(workload=workload)
    return orjson.dumps(made(case, known)), [(type(each), each.still_holds(known)) for each in case.grounds]


class Counting:
    """Counts the slices that are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        made = registry._slices

        def counted(case: Case, known: Knowledge) -> Any:
            self.made += 1
            return made(case, known)

        monkeypatch.setattr(registry, "_slices", counted)


def test_the_jobs_of_a_sweep_share_their_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    counting, known = Counting(monkeypatch), knowing(everything())

    found = {orjson.dumps(registry.slices(Case(workload=workload), known)) for workload in jobs(known, 6)}

    assert (counting.made, len(found)) == (2, 1)


def test_device_claims_of_other_workloads_end_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = everything()
    counting, known = Counting(monkeypatch), knowing(facts)

    for number, workload in enumerate(jobs(known, 6)):
        facts.put(alike_pods.claim(number))
        registry.slices(Case(workload=workload), known)

    assert counting.made == 2


def jobs(known: Knowledge, number: int, **fields: Any) -> list[model.Workload]:
    made = [read(job(f"run-{each}", **fields), known) for each in range(number)]
    return [each for each in made if each is not None]


def test_labels_count_where_the_pods_select_by_labels() -> None:
    rule: paths.Object = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "run-0"}}}
    affinity: paths.Object = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
    known = knowing(everything())

    digests = [
        len({fingerprints.of_workload(each) for each in jobs(known, 2, **fields)})
        for fields in ({}, {"affinity": affinity}, {"topologySpreadConstraints": [rule]})
    ]

    assert digests == [1, 2, 2]


@pytest.mark.parametrize(
    "workload",
    [
        job(gpus=0),
        job(resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}]),
        job(schedulingGroup={"podGroupName": "gang"}),
        builders.replaced(job(), "/spec/pytorchReplicaSpecs/Worker/template/spec/nodeSelector", {"zone": "\ud800"}),
    ],
)
def test_other_workloads_are_not_remembered(workload: paths.Object) -> None:
    known = knowing(everything())
    found = read(workload, known)
    assert found is not None

    assert registry._key(Case(workload=found), known) is None


def test_without_facts_and_after_a_refusal_nothing_is_remembered() -> None:
    (workload,) = jobs(knowing(everything()), 1)
    quota = definitions.of_object(builders.gpu_quota(gpus=1))
    assert isinstance(quota, definitions.Quota)

    assert registry._key(Case(workload=workload), knowing(Store())) is None
    refusal = QuotaRefusal(quota=quota, excesses=())
    assert registry._key(Case(workload=workload, refusal=refusal), knowing(everything())) is None


@SETTINGS
@given(
    value=WORKLOADS,
    others=st.lists(WORKLOADS, max_size=2),
    steps=st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 3)), max_size=10),
    data=st.data(),
)
def test_remembered_slices_equal_those_made_afresh(
    value: paths.Object,
    others: list[paths.Object],
    steps: list[tuple[Callable[[Store], None], int]],
    data: st.DataObject,
) -> None:
    """Whatever was asked before, and whatever has changed in the cluster since."""
    facts = everything()
    known, values = knowing(facts), [value, data.draw(alike_pods.changed(value)), *others]
    for change, index in steps:
        change(facts)
        workload = read(values[index % len(values)], known)
        if workload is not None:
            expected = slices_of(registry._slices, workload, knowing(facts))
            assert [slices_of(registry.slices, workload, known) for _ in range(3)] == [expected] * 3


@pytest.mark.parametrize("folder", sorted(CHECKS.glob("*/*/examples")), ids=lambda each: "/".join(each.parts[-3:-1]))
def test_no_slice_reads_what_the_digest_leaves_out(folder: Path) -> None:
    evaluator = record_findings.evaluator_of(folder)
    for file in record_findings.manifests(folder):
        workload = evaluator.workload(record_findings.request_of(file))
        if workload is None or not workload.pod_sets or fingerprints.of_workload(workload) is None:
            continue
        whole, read_part = (
            slices_of(registry._slices, each, evaluator.knowledge)
            for each in (workload, fingerprints.for_slices(replace(workload, name="other")))
        )
        assert whole == read_part, file
