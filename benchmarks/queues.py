"""Measures `usher queue` once it has its facts: 500 ClusterQueues and namespaces, and 50, 500 and 5,000 nodes."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import cluster_objects
import informed
import sections
import yardstick
from usher import paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.reading import values
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Outlooks

NUMBERS: Final = (50, 500, 5000)
ROUNDS: Final = 5

_KINDS: Final = {
    "nodes": ("v1", "Node"),
    "namespaces": ("v1", "Namespace"),
    "resourcequotas": ("v1", "ResourceQuota"),
    "limitranges": ("v1", "LimitRange"),
    "configmaps": ("v1", "ConfigMap"),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "runtimeclasses": ("node.k8s.io/v1", "RuntimeClass"),
    "clusterqueues": ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
    "localqueues": ("kueue.x-k8s.io/v1beta2", "LocalQueue"),
    "cohorts": ("kueue.x-k8s.io/v1beta2", "Cohort"),
    "resourceflavors": ("kueue.x-k8s.io/v1beta2", "ResourceFlavor"),
    "workloadpriorityclasses": ("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass"),
    "gpuquotas": ("gpu-usher.io/v1alpha1", "GPUQuota"),
}


_LEVELS: Final = ("topology.example.com/rack", "kubernetes.io/hostname")


def main() -> None:
    sections.publish("queue", lambda: "\n".join(report()), description=__doc__)


def report() -> Iterator[str]:
    yield "| nodes | Topology | first answer, s | of the yardstick | next answer, s | of the yardstick |"
    yield "| ---: | --- | ---: | ---: | ---: | ---: |"
    standard = statistics.median(yardstick.measured(yardstick.add_up) for _ in range(9)) / 1000
    made = assembly.embedded(models.Config())
    for number in NUMBERS:
        for topology in (False, True):
            first, following = _costs(made, list(objects(number, topology=topology)), topology=topology)
            cells = (f"{each:.3f} | {each / standard:,.0f}" for each in (first, following))
            yield f"| {number:,} | {'yes' if topology else 'no'} | {' | '.join(cells)} |"
    yield ""
    yield (
        f"Seconds of processor time, medians of {ROUNDS} rounds; the {yardstick.NAME} took {standard * 1000:.3f} ms. "
        "usher keeps no pods, so their number does not count."
    )


def objects(nodes: int, *, topology: bool) -> Iterator[paths.Object]:
    """The facts of a cluster; with a Topology for all flavors or without one."""
    levels: list[paths.Json] = [{"nodeLabel": each} for each in _LEVELS]
    about: paths.Object = {"name": "racks"}
    yield {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": about, "spec": {"levels": levels}}
    for path, listed in cluster_objects.kinds(nodes).items():
        api_version, kind = _KINDS.get(path.rpartition("/")[2], ("", ""))
        for number in range(listed.count if kind else 0):
            value: paths.Object = {"apiVersion": api_version, "kind": kind, **listed.make(number)}  # type: ignore[dict-item]  # JSON
            spec = value.get("spec")
            if kind == "ResourceFlavor" and topology and isinstance(spec, dict):
                spec["topologyName"] = "racks"
            yield value


def _costs(made: Evaluator, facts: Iterable[paths.Object], *, topology: bool) -> tuple[float, float]:
    """Seconds of the first answer with a new store, and of the answers after it."""
    facts = list(facts)
    first, following = list[float](), list[float]()
    for turn in range(ROUNDS):
        store = Store.of(facts)
        evaluator = Evaluator(engine=made.engine, entries=made.catalogue, config=models.Config(), facts=store)
        for index, kept in ((0, first), (1, following)):
            job = _question(turn * 2 + index, topology=topology)
            kept.append(_seconds(partial(asked, evaluator, store, job)))
    return statistics.median(first), statistics.median(following)


def _question(number: int, *, topology: bool) -> paths.Object:
    """A PyTorchJob in a queue; where there is a Topology its Workers want one rack."""
    job = informed.queued_job(number)
    if topology:
        template = paths.resolve(job, "/spec/pytorchReplicaSpecs/Worker/template/metadata")
        assert isinstance(template, dict)
        template["annotations"] = {"kueue.x-k8s.io/podset-required-topology": _LEVELS[0]}
    return job


def asked(evaluator: Evaluator, store: Store, job: paths.Object) -> object:
    around = values.Objects([job], namespace="team-0")
    request = Request(value=job, namespace="team-0", objects=around, facts=store, place="check")
    return Outlooks(evaluator, store).of(request)


def _seconds(call: Callable[[], object]) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


if __name__ == "__main__":
    main()
