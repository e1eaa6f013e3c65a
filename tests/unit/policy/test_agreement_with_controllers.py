"""Cases in which usher and a real controller once disagreed. Each names the line of the controller that decides."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import document_agreement
import pytest
import yaml

import builders
from builders import GPU, queues
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher import paths
from usher.authorities.verdict import Answer

CASES: Final = Path(__file__).parent / "agreement"
CONTROLLERS: Final = ("in-tree", "kai", "kueue", "volcano")

APIS: Final = {
    "PodGroup": "scheduling.volcano.sh/v1beta1",
    "KubernetesPodGroup": "scheduling.k8s.io/v1alpha2",
    "PluginPodGroup": "scheduling.x-k8s.io/v1alpha1",
    "Queue": "scheduling.volcano.sh/v1beta1",
    "KaiQueue": "scheduling.run.ai/v2",
    "SchedulingShard": "kai.scheduler/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
    "LimitRange": "v1",
    "Node": "v1",
    "PersistentVolumeClaim": "v1",
    "ResourceQuota": "v1",
}
"""The apiVersion by kind, for facts and objects without one."""


def empty(flavor: str) -> paths.Object:
    """The status of a ClusterQueue that has admitted nothing."""
    resources: list[paths.Json] = [{"name": name, "total": "0"} for name in (GPU, "memory")]
    return {"flavorsReservation": [{"name": flavor, "resources": resources}]}


OF_CONTROLLER: Final[Mapping[str, Sequence[paths.Object]]] = {
    "volcano": [
        queues.volcano_queue("small", gpu=8),
        queues.volcano_queue("cpus", cpu="4"),
        queues.volcano_queue("default"),
    ],
    "kueue": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        queues.flavor("h100", labels={"pool": "h100"}, topologyName="racks"),
        queues.flavor("any"),
        queues.topology("racks", "rack", "kubernetes.io/hostname"),
        {**queues.cluster_queue("racks", queues.gpu_group(32, flavor="h100")), "status": empty("h100")},
        {
            **queues.cluster_queue(
                "flat", queues.group(("any", [queues.quota(32), queues.quota("16Ei", resource="memory")]))
            ),
            "status": empty("any"),
        },
        queues.flavor("cpus", labels={"pool": "h100"}, topologyName="racks"),
        queues.flavor("gone", labels={"pool": "gone"}, topologyName="racks"),
        {
            **queues.cluster_queue(
                "split",
                queues.gpu_group(32, flavor="h100"),
                queues.group(("cpus", [queues.quota(32, resource="cpu")])),
            ),
            "status": empty("h100"),
        },
        {
            **queues.cluster_queue("second", queues.group(("gone", [queues.quota(16)]), ("h100", [queues.quota(32)]))),
            "status": empty("h100"),
        },
        queues.flavor("l40s", labels={"pool": "l40s"}),
        {**queues.cluster_queue("elsewhere", queues.gpu_group(16, flavor="l40s")), "status": empty("l40s")},
        *(queues.local_queue(name) for name in ("racks", "flat", "split", "second", "elsewhere")),
        queues.configuration("integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}"),
    ],
}
SCHEDULERS: Final = {"volcano": "volcano", "kai": "kai-scheduler"}


def cases(controller: str) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = yaml.safe_load((CASES / f"{controller}.yaml").read_text())
    return found


def all_cases() -> Iterator[Any]:
    for controller in CONTROLLERS:
        for case in cases(controller):
            yield pytest.param(controller, case, id=f"{controller}: {case['name']}")


def fact(written: Mapping[str, Any]) -> paths.Object:
    """A fact from its short form: the kind, the name and the fields of the object."""
    rest = {key: value for key, value in written.items() if key not in ("kind", "name", "labels")}
    kind = str(written["kind"])
    metadata: paths.Object = {"name": written["name"], "labels": written.get("labels", {})}
    if kind not in ("Queue", "KaiQueue", "SchedulingShard", "PriorityClass", "RuntimeClass", "Node"):
        metadata["namespace"] = NAMESPACE
    plain = re.sub("^(Kubernetes|Plugin|Kai)", "", kind)
    return {"apiVersion": APIS.get(kind, rest.pop("apiVersion", "v1")), "kind": plain, "metadata": metadata, **rest}


def made(written: Mapping[str, Any], controller: str) -> paths.Object:
    """An object with pods from its short form."""
    if "apiVersion" in written:
        return dict(written)
    scheduler = written.get("scheduler", SCHEDULERS.get(controller))
    spec = {**written.get("spec", {}), **({"schedulerName": scheduler} if scheduler else {})}
    annotations = dict(written.get("template", {}))
    if "group" in written and controller == "in-tree":
        spec["schedulingGroup"] = {"podGroupName": written["group"]}
    elif "group" in written:
        annotations["scheduling.k8s.io/group-name"] = written["group"]
    if "queue" in written and controller == "volcano":
        annotations["scheduling.volcano.sh/queue-name"] = written["queue"]
    labels = {"kai.scheduler/queue": written["queue"]} if "queue" in written and controller == "kai" else {}
    labels |= written.get("labels", {})
    own_labels = {"kueue.x-k8s.io/queue-name": written["queue"]} if controller == "kueue" else {}
    if "runtimeClassName" in written:
        spec["runtimeClassName"] = written["runtimeClassName"]
    gpus = written.get("gpus", 1)
    requests = {name: written[name] for name in ("cpu", "memory") if name in written}
    container = builders.container(gpus=gpus or None, requests=requests or None)
    template: paths.Object = {
        "metadata": {"annotations": annotations, "labels": labels},
        "spec": {"containers": [container], "restartPolicy": "Never", **spec},
    }
    own: paths.Object = {"name": written["name"], "namespace": NAMESPACE}
    if written["kind"] == "Pod":
        metadata = {**own, "annotations": annotations, "labels": labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    if written["kind"] == "VolcanoJob":
        tasks: list[paths.Json] = [
            {"name": f"task-{index}", "replicas": pods, "template": with_gpus(template, each)}
            for index, (pods, each) in enumerate(written["tasks"])
        ]
        of_job: paths.Object = {"minAvailable": written["minimum"], "queue": written["queue"], "tasks": tasks}
        for task in tasks:
            assert isinstance(task, dict)
            task["minAvailable"] = 0
        return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": own, "spec": of_job}
    if written["kind"] == "JobSet":
        jobs = [
            builders.replicated_job(name, with_gpus(template, each), parallelism=pods)
            for name, (pods, each) in written["jobs"].items()
        ]
        return builders.job_set(*jobs, name=str(written["name"]), namespace=NAMESPACE, labels=own_labels)
    pods = written["pods"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**own, "annotations": written.get("owner", {}), "labels": {**labels, **own_labels}},
        "spec": {"parallelism": pods, "completions": pods, "template": template},
    }


def with_gpus(template: paths.Object, gpus: int) -> paths.Object:
    spec = template["spec"]
    assert isinstance(spec, dict)
    return {**template, "spec": {**spec, "containers": [builders.container(gpus=gpus)]}}


def nodes_of(controller: str, *, unschedulable: bool = False, memory: str = "1Ti") -> list[paths.Object]:
    """Two nodes with 8 GPUs each; for Kueue four in two racks."""
    return [
        builders.node(
            f"gpu-{index}",
            labels={"pool": "h100", "kubernetes.io/hostname": f"gpu-{index}"}
            | ({"rack": f"r{index // 2}"} if controller == "kueue" else {}),
            allocatable={"cpu": 96, "memory": memory, "pods": 110, GPU: 8},
            unschedulable=unschedulable,
        )
        for index in range(4 if controller == "kueue" else 2)
    ]


@pytest.mark.parametrize(("controller", "case"), list(all_cases()))
def test_usher_agrees_with_the_controller_or_says_that_it_does_not_know(
    controller: str, case: Mapping[str, Any]
) -> None:
    given = [fact(each) for each in case.get("facts", [])]
    nodes = nodes_of(controller, **case.get("nodes", {}))
    outlooks, denying = agreeing.looked_at(
        [made(each, controller) for each in case["objects"]],
        [*OF_CONTROLLER.get(controller, ()), *given, *nodes],
        beside=[each for each in given if each["kind"] == "PersistentVolumeClaim"],
        pools=case.get("pools"),
    )

    expected = {"could start": Answer.COULD}.get(case["answer"]) or Answer(case["answer"])
    answers = {
        Answer.COULD if each.answer is Answer.FITS and expected is Answer.COULD else each.answer for each in outlooks
    }
    reasons = [text for each in outlooks for text in agreeing.reasons(each)]
    assert answers == {expected}, reasons
    assert any(case.get("reason", "") in text for text in [*reasons, ""])
    assert not denying or expected is Answer.NEVER
    assert not any(map(agreeing.without_reason, outlooks))


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_each_case_names_the_line_that_decides(controller: str) -> None:
    assert all(re.fullmatch(r"[\w./-]+\.go(:\d+| \w+)", case["upstream"]) for case in cases(controller))


def test_the_documentation_counts_the_cases() -> None:
    page = (Path(__file__).parents[3] / "docs" / "feasibility.md").read_text()
    rows = {row[0].strip(): row[2].strip() for line in page.splitlines() if len(row := line.strip("|").split("|")) == 5}
    names = {"in-tree": "Kubernetes' scheduler", "kai": "KAI-Scheduler", "kueue": "Kueue", "volcano": "Volcano"}

    assert {each: rows[name] for each, name in names.items()} == {each: str(len(cases(each))) for each in names}


def test_the_documentation_has_the_recorded_runs() -> None:
    root = Path(__file__).parents[3]
    runs = {file.stem: json.loads(file.read_text()) for file in sorted((root / "tests/data/agreement").glob("*.json"))}

    operators = {
        file.stem: json.loads(file.read_text()) for file in sorted((root / "tests/data/agreement/operators").glob("*"))
    }

    assert runs.keys() == {"devices", "in-tree", "kai", "kueue", "kueue-and-nodes", "volcano", "volcano-hierarchy"}
    assert operators.keys() == {"grove", "jobset", "katib", "kthena", "lws", "mpi", "ray", "rbg", "rollouts", "trainer"}
    assert all(run["wrong"] == 0 for run in operators.values())
    assert all(run["false never"] == 0 and run["false fits now"] <= run["cases"] / 100 for run in runs.values())
    text = "\n".join([*document_agreement.tables(runs), *document_agreement.operators_table(operators)])
    assert f"<!-- runs -->\n{text}\n<!-- /runs -->" in (root / "docs" / "feasibility.md").read_text()
