"""An API server takes our changes of each object that it takes, and stores what the evaluator predicts.

Only the mutating webhook is registered. A namespace that is exempt shows what happens to the same object without it.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
import generated_examples
from e2e import corpus, crds
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.registration import registered
from server_process import running
from unit.policy.mutation import generated
from usher import paths
from usher.config import models
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

pytestmark = pytest.mark.uses_definitions

H100: Final = "NVIDIA-H100-80GB-HBM3"
CLASS: Final = "usher-e2e-training"

SITE: Final[dict[str, Any]] = {
    "apiVersion": "gpu-usher.io/v1alpha1",
    "kind": "Config",
    "mutations": {"rules": [{"mutation": "*", "action": "apply"}]},
    "lifecycle": [
        {
            "ttlAfterFinished": "24h",
            "deadline": "72h",
            "terminationGracePeriod": "10m",
            "preStop": {"signal": "USR1", "wait": "5m"},
        }
    ],
    "pools": [
        {
            "name": "h100",
            "nodeSelector": {"nvidia.com/gpu.product": H100},
            "taints": [
                {"key": "nvidia.com/gpu", "value": "present"},
                {"key": "team", "value": "research", "effect": "NoExecute"},
            ],
            "fabric": "rails",
        },
        {
            "name": "mi300x",
            "nodeSelector": {"amd.com/gpu.product-name": "MI300X"},
            "taints": [{"key": "amd.com/gpu"}],
            "resources": ["amd.com/gpu"],
        },
    ],
    "fabrics": {
        "rails": {
            "env": {"NCCL_IB_HCA": "=mlx5_0:1", "NCCL_DEBUG": "WARN"},
            "topology": {"configMap": "nccl-topology"},
            "ncclConf": {"configMap": "nccl-settings"},
            "resources": {"rdma/ib": 1},
            "networks": ["fabric/rail-0"],
            "annotations": {"example.com/fabric": "rails"},
            "ipcLock": True,
        }
    },
    "isolation": {"ipcLock": ["*"]},
    "routing": [{"kinds": ["PyTorchJob", "RayJob"], "queue": "research"}],
    "queues": [
        {
            "namespaces": ["*"],
            "localQueue": "research",
            "roles": ["batch"],
            "topology": {"preferred": "example.com/rack"},
        },
        {"namespaces": ["*"], "localQueue": "training", "roles": ["training"], "placesPods": False},
    ],
    "priorities": {"classes": [{"namespaces": ["*"], "priorityClass": CLASS}]},
}
"""A site that switches on all there is."""

PER_KIND: Final = generated_examples.up_to(40)
GENERATED: Final = generated_examples.up_to(400)
TAKEN: Final = GENERATED * 2 // 5
"""The fewest generated objects that an API server takes."""


def name_of(kind: Kind) -> str:
    return f"{kind.group}/{kind.kind}"


NAMESPACED: Final = [kind for kind in WORKLOADS.values() if not kind.cluster_scoped and crds.is_served(kind)]
"""Kinds with namespaces: only their objects can be in an exempt one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A cluster that asks our mutating webhook, and the evaluator that it should be answered by."""

    cluster: Cluster
    evaluator: Evaluator
    plain: str
    """Name of a namespace that is exempt."""
    home: str
    changed: Mapping[str, list[Object]]
    """Manifests of the corpus that we change, by their group and kind."""

    def without_us(self, manifest: Object) -> Object:
        """The object that would be stored without our webhook.

        Raises:
            ApiError: it would be refused.
        """
        created = self.cluster.create(_moved(manifest, self.plain), dry_run=True)
        return _moved(corpus.as_written(created), self.home)

    def with_us(self, manifest: Object) -> Object:
        return corpus.as_written(self.cluster.create(_moved(manifest, self.home), dry_run=True))

    def meant(self, defaulted: Object) -> Object:
        """The evaluator's result for an object as the API server takes it. Added values get defaults as well."""
        return self.without_us(self.evaluator.mutate(Request(value=defaulted)).value)


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    evaluator = assembly.embedded(models.Config.model_validate(SITE))
    changed = {name_of(kind): list(_changed(evaluator, kind)) for kind in NAMESPACED}
    found = {
        f"{kind.group}/{kind.plural}"
        for kind in NAMESPACED
        if changed[name_of(kind)] and kind.group not in crds.BUILT_IN
    }
    crds.install(cluster, sorted({*found, "kubeflow.org/pytorchjobs", "jobset.x-k8s.io/jobsets"}))
    class_ = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": CLASS}, "value": 1000}
    cluster.create(class_)
    plain, home = cluster.create_namespace(prefix="exempt-"), cluster.create_namespace(prefix="mutated-")
    cluster.kubectl("label", "namespace", plain, "gpu-usher.io/exempt=true")
    try:
        with (
            running(tmp_path_factory.mktemp("accepting"), config=SITE) as server,
            registered(cluster, server, validating=False),
        ):
            site = Site(cluster=cluster, evaluator=evaluator, plain=plain, home=home, changed=changed)
            wait_until(lambda: _is_exempt(site), description=f"namespace {plain} is exempt")
            yield site
    finally:
        evaluator.engine.close()
        cluster.delete("PriorityClass", CLASS, api_version="scheduling.k8s.io/v1")
        for name in (plain, home):
            cluster.delete_namespace(name, wait=False)


@pytest.mark.parametrize(
    "kind",
    generated_examples.in_turn(NAMESPACED, every=4, always=lambda kind: kind.group in crds.BUILT_IN),
    ids=name_of,
)
def test_the_api_server_accepts_a_changed_manifest_if_it_accepts_the_original(site: Site, kind: Kind) -> None:
    """Manifests of public projects, and ours."""
    taken = (found for manifest in site.changed[name_of(kind)] if (found := outcome(site, manifest)))
    outcomes = [*itertools.islice(taken, PER_KIND)]
    if not outcomes:
        pytest.skip(f"no manifest of {kind.kind} in the corpus is both taken by the API server and changed by us")

    for stored, meant in outcomes:
        assert stored == meant


def test_what_hardly_anybody_would_write_is_taken_as_well(site: Site) -> None:
    taken = 0

    @settings(max_examples=GENERATED, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        manifest=generated.any_manifests() | generated.gpu_manifests(),
        shape=st.sampled_from(["as it is", "Job", "JobSet", "Deployment"]),
    )
    def one(manifest: paths.Object, shape: str) -> None:
        nonlocal taken
        found = outcome(site, shaped(manifest, shape))
        if found:
            stored, meant = found
            assert stored == meant
            taken += 1

    one()
    assert taken >= TAKEN


def outcome(site: Site, manifest: Object) -> tuple[Object, Object] | None:
    """The object that the API server stores with our changes, and the one that the evaluator predicts.

    None where the API server refuses the object as it is; a refusal because of our patch fails the test.
    """
    try:
        defaulted = site.without_us(manifest)
    except ApiError:
        return None
    try:
        stored = site.with_us(manifest)
    except ApiError as error:
        pytest.fail(f"refused because of our patch: {error}\n{json.dumps(manifest)}")
    return comparable(stored), comparable(site.meant(defaulted))


def _changed(evaluator: Evaluator, kind: Kind) -> Iterator[Object]:
    for value in corpus.manifests().get((kind.group, kind.kind), []):
        manifest = corpus.placed(value, kind, "default")
        if evaluator.mutate(Request(value=manifest)).operations:
            yield manifest


def shaped(manifest: Object, shape: str) -> Object:
    """A generated object under a name; of a Pod its spec as a template of another kind."""
    if shape == "as it is" or manifest["kind"] != "Pod":
        return builders.replaced(manifest, "/metadata/name", "sample")
    once: Object = {"spec": {**manifest["spec"], "restartPolicy": "Never"}}
    if shape == "Job":
        return builders.job(once, parallelism=2)
    if shape == "JobSet":
        return builders.job_set(builders.replicated_job(pod_template=once, parallelism=2))
    template: Object = {"metadata": {"labels": {"app": "sample"}}, "spec": manifest["spec"]}
    deployment = builders.deployment(template, replicas=2)
    return builders.replaced(deployment, "/spec/selector", {"matchLabels": {"app": "sample"}})


def comparable(value: Object) -> Object:
    """Without what the API server makes up anew each time."""
    text = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access", json.dumps(value))
    result: Object = json.loads(text)
    return result


def _moved(value: Object, namespace: str) -> Object:
    return {**value, "metadata": {**value["metadata"], "namespace": namespace}}


def _is_exempt(site: Site) -> bool:
    pod: Mapping[str, Any] = builders.pod(builders.container(gpus=1))
    return "annotations" not in site.without_us(dict(pod))["metadata"]
