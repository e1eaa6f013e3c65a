"""The pods that usher says an object makes, and those that its operator then makes of it.

Every manifest of JobSet, LeaderWorkerSet, MPIJob, Ray, Rollout and TrainJob: our own, those of public projects, those
of the sources of the operators, and generated ones that were recorded. The pods are bound to one node, wherever they
want to be, and run there.
"""

import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml

from e2e import agreement, corpus, real_controllers, real_operators
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import accelerator_node, add_nodes
from e2e.real_operators import OPERATORS
from integration.command import usher
from unit.workloads.normalised import VOCABULARY
from usher.quantities import parse

pytestmark = pytest.mark.oracle

PATIENCE: Final = 120.0
NODE: Final = "everywhere"
RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")

GROUPS: Final = "scheduling.volcano.sh/v1beta1"
GENERATED: Final = Path(__file__).parents[2] / "data" / "agreement" / "made"
SERVICES: Final = ("activeService", "previewService", "canaryService", "stableService")
"""Fields of a Rollout that name Services, without which it makes no pods."""


class Devices(NamedTuple):
    """The devices that all pods of one sort have."""

    requests: tuple[tuple[str, int], ...]
    scheduler: str


class Case(NamedTuple):
    source: str
    value: Object
    namespace: str
    expected: Mapping[Devices, tuple[int, float]]
    """The least and the most number of pods of each sort."""
    unknown: str
    minimum: int
    """How many pods wait for each other; 0 if usher does not say so."""


def manifests(name: str) -> Iterator[tuple[str, Object]]:
    """The objects of an operator with where they are from."""
    for kind in OPERATORS[name].kinds:
        for index, value in enumerate(corpus.manifests().get(kind, ())):
            yield f"corpus {kind[1]} {index}", value
    for file in sorted((real_controllers.BUILT / name / "manifests").glob("*.yaml")):
        for value in documents(file):
            if (str(value.get("apiVersion")).partition("/")[0], value.get("kind")) in OPERATORS[name].kinds:
                yield file.name, value
    recorded = GENERATED / f"{name}.json"
    for index, made in enumerate(json.loads(recorded.read_text())["objects"] if recorded.is_file() else ()):
        yield f"{recorded.name} {index}", made["object"]


def documents(file: Path) -> list[Object]:
    try:
        return [each for each in yaml.safe_load_all(file.read_text()) if isinstance(each, dict)]
    except yaml.YAMLError:
        return []


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with control_plane(tmp_path_factory.mktemp("operators-decide")) as running:
        nothing = {"cpu": "0", "memory": "0", "pods": "0"}
        # Exclusive groups of pods look up labels of nodes.
        texts = [json.dumps(value) for name in ("jobset", "lws") for _, value in manifests(name)]
        labels = dict.fromkeys(re.findall(r'exclusive-topology": "([^"]+)"', " ".join(texts)), "one")
        add_nodes(running, accelerator_node(NODE, labels=labels, resources=nothing))
        if (groups := real_controllers.BUILT / "volcano" / "definitions").is_dir():
            real_controllers.define(running, groups)
        yield running


@pytest.fixture(scope="module")
def job_sets(cluster: Cluster) -> Iterator[None]:
    """JobSet, which the operator of TrainJobs needs too."""
    with real_operators.running(cluster, "jobset"):
        yield


def prepared(value: Object) -> Object:
    """A manifest as it is created and read: with a name, without a namespace, and not suspended."""
    metadata = dict(value.get("metadata") or {})
    for key in ("namespace", "ownerReferences", "generateName"):
        metadata.pop(key, None)
    metadata["name"] = "sample"
    spec = {key: each for key, each in (value.get("spec") or {}).items() if key not in ("suspend", "managedBy")}
    if isinstance(spec.get("runPolicy"), dict):
        spec["runPolicy"] = {
            key: each for key, each in spec["runPolicy"].items() if key not in ("suspend", "managedBy")
        }
    # A script fills in these names and values.
    text = re.sub(r'"\$\{?[A-Z_]+\}?"', '"filled-in"', json.dumps(spec))
    return {**value, "metadata": metadata, "spec": json.loads(text)}


def read_by_usher(value: Object, beside: Sequence[Object], folder: Path) -> Object:
    """The output of `usher workload show` about an object among others."""
    file = folder / "objects.json"
    file.write_text("\n---\n".join(json.dumps(each) for each in [value, *beside]))
    run = usher("workload", "show", "--format", "json", file)
    assert run.code == 0, run.err
    return next(each for each in run.json["workloads"] if each["kind"] == value["kind"])


def case_of(source: str, value: Object, namespace: str, beside: Sequence[Object], folder: Path) -> Case:
    shown = read_by_usher(value, beside, folder)
    least, most = Counter[Devices](), Counter[Devices]()
    unknown = "; ".join(each.get("reason", "") for each in shown["unknowns"])
    for pods in shown["podSets"]:
        requests = Counter[str]()
        for each in pods["requests"]:
            if "/initContainers/" not in each["path"] and each["route"] == "extended resource":
                requests[each["name"]] += int(each.get("maximum") or -1)
        sort = Devices(tuple(sorted(requests.items())), pods["scheduler"]["name"])
        least[sort] += pods["pods"].get("minimum") or 0
        most[sort] += 10**6 if pods["pods"].get("maximum") is None else pods["pods"]["maximum"]
    expected = {sort: (least[sort], most[sort]) for sort in most}
    gang = shown["gang"]
    # Without a number of their own, all pods wait for each other.
    minimum = gang.get("minimum") or shown["pods"]["minimum"]
    return Case(source, value, namespace, expected, unknown, minimum if gang["wanted"] else 0)


def named(value: Any, field: str) -> set[str]:
    """All values of a field of text, wherever it is."""
    if isinstance(value, dict):
        own = {value[field]} if isinstance(value.get(field), str) else set()
        return own.union(*(named(each, field) for each in value.values()))
    return set().union(*(named(each, field) for each in value)) if isinstance(value, list) else set()


def make_what_pods_name(cluster: Cluster, case: Case, beside: Sequence[Object]) -> None:
    """Without these, admission refuses pods."""
    for name in sorted(named([case.value, *beside], "serviceAccountName") - {"default", ""}):
        metadata = {"name": name, "namespace": case.namespace}
        made(cluster, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for name in sorted(named([case.value, *beside], "priorityClassName")):
        about = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
        made(cluster, {**about, "metadata": {"name": name}})
    for name in sorted(named([case.value, *beside], "runtimeClassName")):
        about = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "any"}
        made(cluster, {**about, "metadata": {"name": name}})
    for name in sorted(set().union(*(named(case.value, field) for field in SERVICES))):
        spec: Any = {"selector": {"app": "sample"}, "ports": [{"port": 80}]}
        metadata = {"name": name, "namespace": case.namespace}
        made(cluster, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    for name in sorted(named(case.value, "stableIngress")):
        backend = {"service": {"name": "stable", "port": {"number": 80}}}
        spec = {"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]}
        metadata = {"name": name, "namespace": case.namespace}
        made(cluster, {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec})


def made(cluster: Cluster, value: Object) -> str:
    """Why the API server does not take an object; empty where it does or has it."""
    try:
        cluster.create(value)
    except ApiError as error:
        return "" if error.status == 409 else error.message
    return ""


def devices_of(pod: Object) -> Devices:
    """The accelerators of a pod, counted as the scheduler does."""
    spec = pod["spec"]
    together, before = Counter[str](), Counter[str]()
    for each in [*spec["containers"], *spec.get("initContainers", ())]:
        limits = {
            name: parse(amount).value
            for name, amount in each.get("resources", {}).get("limits", {}).items()
            if VOCABULARY.contains(name) and parse(amount)
        }
        if each in spec["containers"] or each.get("restartPolicy") == "Always":
            together.update(limits)
        else:
            before |= Counter(limits)
    return Devices(tuple(sorted((together | before).items())), spec["schedulerName"])


def move_on(cluster: Cluster, namespaces: set[str]) -> dict[str, list[Object]]:
    """Binds pods to the node, gives them addresses, completes those that others wait for. Returns all by namespace."""
    found: dict[str, list[Object]] = {name: [] for name in namespaces}
    for pod in cluster.objects("Pod"):
        if pod["metadata"]["namespace"] in namespaces:
            found[pod["metadata"]["namespace"]].append({"apiVersion": "v1", "kind": "Pod", **pod})
    sets = namespaces and min(namespaces).startswith(("jobset", "trainer"))
    awaited = {
        (each["metadata"]["namespace"], one["name"])
        for each in (cluster.objects("JobSet", api_version="jobset.x-k8s.io/v1alpha2") if sets else ())
        for replicated in each["spec"].get("replicatedJobs", ())
        for one in replicated.get("dependsOn", ())
        if one["status"] == "Complete"
    }
    with ThreadPoolExecutor(4) as several:
        list(several.map(lambda pod: move(cluster, pod, awaited), [each for some in found.values() for each in some]))
    return found


def move(cluster: Cluster, pod: Object, awaited: set[tuple[str, str]]) -> None:
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
    label = metadata.get("labels", {}).get("jobset.sigs.k8s.io/replicatedjob-name", "")
    try:
        if not spec.get("nodeName"):
            if not spec.get("schedulingGates"):
                target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
                about = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": metadata["name"]}}
                cluster.request("POST", f"{path}/binding", body={**about, "target": target})
        elif status.get("phase") == "Running" and (metadata["namespace"], label) in awaited:
            cluster.merge(pod, {"status": {"phase": "Succeeded"}}, subresource="status")
        elif status.get("phase") == "Running" and not status.get("podIP"):
            address = "10.9.8.7"
            cluster.merge(pod, {"status": {"podIP": address, "podIPs": [{"ip": address}]}}, subresource="status")
    except ApiError as error:
        if error.status not in (404, 409):
            raise


def difference(case: Case, pods: Sequence[Object]) -> str:
    """How the pods differ from what usher says; empty if they do not."""
    counted = Counter(devices_of(each) for each in pods)
    wrong = [
        f"{case.expected.get(sort, (0, 0))} of {sort} expected, {counted[sort]} found"
        for sort in {*counted, *case.expected}
        if not case.expected.get(sort, (0, 0))[0] <= counted[sort] <= case.expected.get(sort, (0, 0))[1]
    ]
    return f"{case.source} in {case.namespace}: {'; '.join(wrong)}" if wrong else ""


@pytest.mark.parametrize("name", [pytest.param(name, marks=real_controllers.needs(name)) for name in OPERATORS])
def test_an_operator_makes_the_pods_that_usher_shows(
    request: pytest.FixtureRequest, cluster: Cluster, name: str, tmp_path: Path
) -> None:
    if name in ("jobset", "trainer"):
        request.getfixturevalue("job_sets")
    if name == "jobset":
        compare(cluster, name, (), tmp_path)
        return
    with real_operators.running(cluster, name):
        beside = runtimes() if name == "trainer" else []
        compare(cluster, name, beside, tmp_path)


def runtimes() -> list[Object]:
    """The runtimes that TrainJobs name: those of public projects, and of the sources of the operator."""
    files = sorted((real_controllers.BUILT / "trainer" / "manifests").glob("*.yaml"))
    found = [
        *(each for kind in RUNTIMES for each in corpus.manifests().get(("trainer.kubeflow.org", kind), ())),
        *(each for file in files for each in documents(file) if each.get("kind") in RUNTIMES),
    ]
    for each in found:
        each["metadata"].pop("namespace", None)
    return list({(each["kind"], each["metadata"]["name"]): each for each in found}.values())


@pytest.mark.parametrize("name", [pytest.param(name, marks=real_controllers.needs(name)) for name in ("lws", "mpi")])
@real_controllers.needs("volcano")
def test_an_operator_makes_pod_groups_that_wait_for_as_many_pods_as_usher_says(
    cluster: Cluster, name: str, tmp_path: Path
) -> None:
    def differ() -> list[str]:
        move_on(cluster, {each.namespace for each in cases})
        found = {each.namespace: minimums(cluster, each.namespace) for each in cases}
        return [
            f"{each.source}: {each.minimum} expected, {found[each.namespace]} found; {json.dumps(each.value)}"
            for each in cases
            if found[each.namespace] != {each.minimum}
        ]

    with real_operators.running(cluster, name, gangs=True):
        made_of, _ = started(cluster, name, f"{name}-groups", (), tmp_path)
        cases = [each for each in made_of if each.minimum]
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: not differ(), description="all PodGroups are there", timeout=PATIENCE / 2)
        assert differ() == []
        assert cases


def minimums(cluster: Cluster, namespace: str) -> set[int]:
    found = cluster.objects("PodGroup", namespace=namespace, api_version=GROUPS)
    return {each["spec"]["minMember"] for each in found}


def started(
    cluster: Cluster, name: str, prefix: str, beside: Sequence[Object], folder: Path
) -> tuple[list[Case], list[str]]:
    """The objects that the API server takes, each in a namespace of its own, and why it refuses others."""
    cases, refused = list[Case](), list[str]()
    for index, (source, value) in enumerate(manifests(name)):
        case = case_of(source, prepared(value), f"{prefix}-{index}", beside, folder)
        cluster.ensure_namespace(case.namespace)
        make_what_pods_name(cluster, case, beside)
        for each in beside:
            place = {"namespace": case.namespace} if each["kind"] == "TrainingRuntime" else {}
            made(cluster, {**each, "metadata": {**each["metadata"], **place}})
        metadata = {**case.value["metadata"], "namespace": case.namespace}
        if case.value["spec"].get("clusterSelector"):
            refused.append(f"{source}: its pods wait for a RayCluster that is not there")
        elif why := made(cluster, {**case.value, "metadata": metadata}):
            refused.append(f"{source}: {why}")
        else:
            cases.append(case)
    return cases, refused


def compare(cluster: Cluster, name: str, beside: Sequence[Object], folder: Path) -> None:
    """Fails if pods of an object differ that the API server and the operator take."""
    cases, refused = started(cluster, name, name, beside, folder)
    deadline = time.monotonic() + PATIENCE
    while True:
        found = move_on(cluster, {each.namespace for each in cases})
        wrong = {each.namespace: text for each in cases if (text := difference(each, found[each.namespace]))}
        if not wrong or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    for each in cluster.objects("Event") if wrong else ():
        place = each["metadata"]["namespace"]
        if each["reason"].startswith("Invalid") and place in wrong and not found[place]:
            refused.append(f"{wrong.pop(place)}: {each['message']}")

    record(name, len(cases), refused, wrong.values())
    assert list(wrong.values()) == []
    assert len(cases) > len(refused)


def record(name: str, cases: int, refused: Sequence[str], wrong: Iterable[str]) -> None:
    """Writes the counts of a run into the folder of AGREEMENT_RECORD, if it is set."""
    if agreement.RECORD:
        version = real_controllers.version_of(name, OPERATORS[name].module)
        counts = {"version": version, "objects": cases + len(refused), "refused": len(refused), "wrong": len([*wrong])}
        (Path(agreement.RECORD) / "operators" / f"{name}.json").write_text(json.dumps(counts, indent=2) + "\n")
