"""Workloads of every kind through the webhooks: accepted as mutated, run on their pool, and not changed any more.

What other projects' operators would make of a stored object is made from its templates (operators.py).
"""

import dataclasses
import json
from collections.abc import Iterator
from operator import itemgetter

import pytest

import builders
from e2e import operators, pools, samples
from e2e.cluster import ApiError, Cluster, KubectlError, Object, wait_until
from e2e.pods import nodes_of, running_pods, show
from e2e.pools import H100, OPEN_NODES, POOLS, Pool
from generated_examples import in_turn
from server_process import ServerProcess

pytestmark = pytest.mark.usefixtures("site")

KUEUE = "system:serviceaccount:kueue-system:kueue-controller-manager"
FLAVOR: Object = {"kubernetes.io/hostname": "gpu-1"}
"""The node labels of the queue's flavor."""
FLAVOR_TOLERATION: Object = {"key": "example.com/reserved", "operator": "Exists", "effect": "NoSchedule"}
OWN_AFFINITY = builders.node_affinity(builders.term(builders.expression("kubernetes.io/os", "In", "linux")))
FINALIZER = "example.com/controller"
APPLY_REPLACES_TEMPLATES = {"JobSet", "RayJob"}
"""Their templates are in lists: `kubectl apply` of a custom resource writes them anew, without what Kueue put there."""
OF_THE_SERVER = {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}

every_kind = pytest.mark.parametrize("kind", samples.KINDS)
every_way_of_applying = pytest.mark.parametrize("server_side", [False, True], ids=["client-side", "server-side"])


@pytest.fixture(scope="module", autouse=True)
def site(cluster: Cluster, mutating_webhooks: ServerProcess) -> Iterator[None]:
    assert mutating_webhooks.url
    samples.install(cluster)
    with pools.added(cluster):
        yield


@pytest.mark.parametrize(
    ("kind", "pool"),
    [
        pytest.param(
            kind, pool, id=f"{kind}-{pool.name}", marks=pytest.mark.thorough if pool != H100 and number % 4 else ()
        )
        for number, kind in enumerate(samples.KINDS)
        for pool in POOLS
    ],
)
def test_its_pods_run_on_the_pool_that_they_were_meant_for(
    cluster: Cluster, namespace: str, kind: str, pool: Pool
) -> None:
    sample = samples.of_kind(kind, pool, namespace)
    stored = create_strictly(cluster, sample.manifest)
    operators.start_as_operator(cluster, stored)
    pods = running_pods(cluster, namespace, count=sample.pods + sample.others)
    show(f"{kind} {namespace}/{samples.NAME}", pods)

    training = {name: pod for name, pod in pods.items() if any(samples.containers_of_accelerators(pod, pool))}
    others = {name: pod for name, pod in pods.items() if name not in training}
    assert (len(training), len(others)) == (sample.pods, sample.others)
    assert nodes_of(training) <= pool.nodes
    assert nodes_of(others) <= OPEN_NODES
    for pod in training.values():
        assert_is_meant_for(pool, pod, knows_fabric=sample.knows_fabric)
    for pod in others.values():
        assert not [each for each in pod["spec"]["tolerations"] if each in pool.tolerations()]
        assert variables(pod["spec"]["containers"][0])["NVIDIA_VISIBLE_DEVICES"] == "void"


@pytest.mark.uses_definitions
@every_kind
@pytest.mark.parametrize("server_side", in_turn([True, False], every=2), ids=["server-side", "client-side"])
def test_every_update_is_accepted_and_keeps_the_given_fields(
    cluster: Cluster, namespace: str, kind: str, *, server_side: bool
) -> None:
    """Another label, the same manifest again, and what a controller writes."""
    sample = samples.of_kind(kind, H100, namespace)
    manifest = sample.manifest
    apply(cluster, manifest, server_side=server_side)
    first = settled(cluster, manifest)
    assert recorded(first)

    cluster.merge(manifest, {"metadata": {"labels": {"team": "nlp"}}})
    labelled = stored(cluster, manifest)
    apply(cluster, manifest, server_side=server_side)
    applied = stored(cluster, manifest)
    cluster.merge(manifest, {"metadata": {"finalizers": [FINALIZER]}})
    cluster.merge(manifest, {"status": sample.status}, subresource="status")
    cluster.merge(manifest, {"metadata": {"finalizers": None}})
    finished = stored(cluster, manifest)

    assert labelled["metadata"]["labels"]["team"] == "nlp"
    for later in (labelled, applied, finished):
        assert later["spec"] == first["spec"]
        assert recorded(later) == recorded(first)
    assert FINALIZER not in finished["metadata"].get("finalizers", [])


@pytest.mark.uses_definitions
@pytest.mark.parametrize("kind", [kind for kind in samples.KINDS if samples.of_kind(kind, H100, "default").pod_specs])
def test_a_suspended_job_keeps_what_kueue_writes_into_it_and_what_it_was_given(
    cluster: Cluster, namespace: str, kind: str
) -> None:
    """Kueue resumes the job with what its flavor asks for; later its user applies the same manifest again."""
    sample = queued(samples.of_kind(kind, H100, namespace))
    suspended = cluster.create(as_suspended(sample))
    before = list(samples.pod_specs_of(sample, suspended))

    admitted = admit(cluster, sample)
    if kind not in APPLY_REPLACES_TEMPLATES:
        apply(cluster, sample.manifest, server_side=False)
    cluster.merge(sample.manifest, {"metadata": {"labels": {"team": "nlp"}}})
    after = stored(cluster, sample.manifest)
    operators.start_as_operator(cluster, after)
    pods = running_pods(cluster, namespace, count=sample.pods + sample.others)

    for was, now in zip(before, samples.pod_specs_of(sample, after), strict=True):
        assert now == {**was, "nodeSelector": FLAVOR, "tolerations": [*was["tolerations"], FLAVOR_TOLERATION]}
    assert after["spec"] == admitted["spec"]
    training = {name: pod for name, pod in pods.items() if any(samples.containers_of_accelerators(pod, H100))}
    assert nodes_of(training) == {FLAVOR["kubernetes.io/hostname"]}


@every_way_of_applying
@pytest.mark.parametrize(
    "own",
    [
        {"tolerations": [{"key": "team", "operator": "Exists"}]},
        {"affinity": OWN_AFFINITY},
    ],
    ids=["tolerations", "affinity"],
)
def test_a_pod_with_lists_of_its_own_can_be_applied_again(
    cluster: Cluster, namespace: str, own: Object, *, server_side: bool
) -> None:
    """Before it is scheduled and after: nothing may be taken out of them."""
    manifest = builders.pod(builders.container(gpus=1), name=samples.NAME, namespace=namespace, **own)
    apply(cluster, manifest, server_side=server_side)
    apply(cluster, manifest, server_side=server_side)
    before = running_pods(cluster, namespace)

    apply(cluster, manifest, server_side=server_side)

    assert running_pods(cluster, namespace).keys() == before.keys()


@pytest.mark.xfail(
    raises=KubectlError,
    reason="with the node selector the affinity is wanted no more, so what an apply takes out of it is not given back",
)
def test_a_job_with_its_own_affinity_can_be_applied_again_after_another_controller_placed_it(
    cluster: Cluster, namespace: str
) -> None:
    """The template of a Job that has been resumed must not change."""
    template = builders.template(builders.container(gpus=1), affinity=OWN_AFFINITY, restartPolicy="Never")
    manifest = builders.job(template, name=samples.NAME, namespace=namespace)
    sample = samples.Sample(
        manifest=manifest, pods=1, status={}, suspend="/spec/suspend", pod_specs=("/spec/template/spec",)
    )
    cluster.create(as_suspended(sample))
    admit(cluster, sample, selector=dict(H100.labels))
    running_pods(cluster, namespace)

    apply(cluster, manifest, server_side=False)


def queued(sample: samples.Sample) -> samples.Sample:
    """In a queue, and without tolerations of its own: with them every apply would take away those of Kueue."""
    manifest = builders.replaced(sample.manifest, "/metadata/labels", {"kueue.x-k8s.io/queue-name": "research"})
    for spec in samples.pod_specs_of(sample, manifest):
        del spec["tolerations"]
    return dataclasses.replace(sample, manifest=manifest)


def as_suspended(sample: samples.Sample) -> Object:
    """The object that is created when a user applies the manifest and Kueue's webhook suspends it."""
    annotations: Object = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(sample.manifest)}
    manifest = builders.replaced(sample.manifest, "/metadata/annotations", annotations)
    holder, _, _ = sample.suspend.rpartition("/")
    if holder != "/spec":
        manifest = builders.replaced(manifest, holder, {})
    return builders.replaced(manifest, sample.suspend, True)


def create_strictly(cluster: Cluster, manifest: Object) -> Object:
    """Through the webhooks, and taken again as it is stored: no field of it is unknown to its definition."""
    created = cluster.create(manifest, strict=True)
    cluster.apply(as_applied(created), dry_run=True, strict=True)
    return created


def as_applied(value: Object) -> Object:
    """The stored object, without the fields that only the API server writes."""
    metadata = {name: field for name, field in value["metadata"].items() if name not in OF_THE_SERVER}
    return {name: field for name, field in value.items() if name != "status"} | {"metadata": metadata}


def apply(cluster: Cluster, manifest: Object, *, server_side: bool) -> None:
    """As kubectl does; where the server applies, kubectl sends it the manifest as it is."""
    if server_side:
        cluster.apply(manifest, strict=True)
    else:
        cluster.kubectl("apply", "--validate=strict", "--filename=-", stdin=json.dumps(manifest))


def stored(cluster: Cluster, manifest: Object) -> Object:
    metadata = manifest["metadata"]
    return cluster.get(
        manifest["kind"], metadata["name"], namespace=metadata["namespace"], api_version=manifest["apiVersion"]
    )


def settled(cluster: Cluster, manifest: Object) -> Object:
    """As stored; of a Pod after it has got its node."""
    if manifest["kind"] == "Pod":
        running_pods(cluster, manifest["metadata"]["namespace"])
    return stored(cluster, manifest)


def recorded(value: Object) -> str:
    annotations: dict[str, str] = value["metadata"].get("annotations", {})
    return annotations.get("gpu-usher.io/mutations", "")


def admit(cluster: Cluster, sample: samples.Sample, *, selector: Object = FLAVOR) -> Object:
    """Resumes a job as Kueue does: in one UPDATE with what its flavor asks for, tried again on a conflict."""

    def attempt() -> Object | None:
        job = stored(cluster, sample.manifest)
        for spec in samples.pod_specs_of(sample, job):
            spec["nodeSelector"] = selector
            spec["tolerations"] = [*spec["tolerations"], FLAVOR_TOLERATION]
        try:
            return cluster.replace(builders.replaced(job, sample.suspend, False), user=KUEUE)
        except ApiError as error:
            if error.reason != "Conflict":
                raise
            return None

    return wait_until(attempt, description="the job is resumed")


def variables(container: Object) -> dict[str, str]:
    entries = container.get("env", [])
    named = {entry["name"]: entry.get("value", "") for entry in entries}
    assert len(named) == len(entries)
    return named


def assert_is_meant_for(pool: Pool, pod: Object, *, knows_fabric: bool) -> None:
    given = [each for each in pod["spec"]["tolerations"] if each in pool.tolerations()]
    assert sorted(given, key=itemgetter("key")) == pool.tolerations()
    terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms == {"nodeSelectorTerms": [{"matchExpressions": pool.requirements()}]}
    for container in samples.containers_of_accelerators(pod, pool):
        of_nccl = {name: value for name, value in variables(container).items() if name.startswith("NCCL_")}
        assert of_nccl == (pool.variables if knows_fabric else {})
