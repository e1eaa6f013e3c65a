"""A kind that usher.yaml describes: every command and the webhook know it from the description alone."""

import base64
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

import builders
import editors
from builders.existing import existing, running
from integration.command import usher, write
from usher import paths
from usher.config import load
from usher.kinds import registry
from usher.policy import assembly
from usher.policy.decision import Request
from usher.review.admission_review import Answer
from usher.review.webhooks import mutate

SITE = Path(__file__).parents[1] / "data" / "own-kinds" / "usher.yaml"
QUEUE = Path(__file__).parents[1] / "data" / "queue" / "cluster.yaml"
GROUP = "platform.example.com"


@pytest.fixture(autouse=True)
def _forget_kinds() -> Iterator[None]:
    yield
    registry.use(())


def team_job(*, count: paths.Json = 4, gpus: int = 8, name: str = "llm") -> paths.Object:
    container = builders.container(limits={builders.GPU: gpus}, requests={builders.GPU: gpus})
    spec: paths.Object = {"workers": {"count": count, "template": {"spec": {"containers": [container]}}}}
    return builders.custom(f"{GROUP}/v1", "TeamJob", spec, name=name, namespace="ml-research")


def unequal_job() -> paths.Object:
    """Its requests differ from its limits, which USH103 denies."""
    requests = "/spec/workers/template/spec/containers/0/resources/requests"
    return builders.replaced(team_job(), requests, {builders.GPU: 2})


def test_check_judges_it_and_says_where_it_is_wrong(tmp_path: Path) -> None:
    bad = unequal_job()

    found = usher("check", write(tmp_path / "a.yaml", bad), "--config", SITE, "--format=json").json["workloads"][0]

    assert (found["kind"], found["role"]) == ("TeamJob", "training")
    assert [(each["code"], each["path"]) for each in found["findings"] if each["outcome"] == "deny"] == [
        ("USH103", "/spec/workers/template/spec/containers/0/resources/limits/nvidia.com~1gpu")
    ]


def test_without_the_description_it_is_unknown(tmp_path: Path) -> None:
    run = usher("check", write(tmp_path / "a.yaml", team_job()), cwd=tmp_path)

    assert run.code == 2
    assert "unrecognised kind TeamJob" in run.out


def test_a_count_that_is_not_a_number_is_unknown_at_its_place(tmp_path: Path) -> None:
    run = usher("check", write(tmp_path / "a.yaml", team_job(count="many")), "--config", SITE)

    assert run.code == 2
    assert "expected a whole number, found a string" in " ".join(run.out.replace("|", " ").split())


def test_the_webhook_writes_into_its_template_and_its_labels() -> None:
    evaluator = assembly.embedded(load.load(SITE), file=SITE)
    body = orjson.dumps(
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "1",
                "kind": {"group": GROUP, "version": "v1", "kind": "TeamJob"},
                "resource": {"group": GROUP, "version": "v1", "resource": "teamjobs"},
                "operation": "CREATE",
                "namespace": "ml-research",
                "userInfo": {"username": "alice"},
                "object": team_job(),
            },
        }
    )

    answer: Answer = mutate(body, evaluator)
    response = orjson.loads(answer.body)["response"]
    patch = orjson.loads(base64.b64decode(response["patch"]))

    changed = {each["path"] for each in patch if each["path"].startswith("/spec")}
    assert changed == {"/spec/workers/template/spec/tolerations"}
    assert any("kueue.x-k8s.io~1queue-name" in each["path"] or "queue-name" in str(each["value"]) for each in patch)


def test_queue_says_whether_it_can_start(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", team_job())

    (found,) = usher("queue", file, "--config", SITE, "--facts", QUEUE, "--format=json").json["workloads"]

    assert (found["kind"], found["answer"]) == ("TeamJob", "could")
    assert found["authorities"]


def test_an_audit_counts_its_gpus(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", team_job())

    found = usher("audit", "--format=json", "--config", SITE, tmp_path).json

    (workload,) = found["workloads"]
    assert (workload["subject"]["kind"], workload["subject"]["name"]) == ("TeamJob", "llm")
    assert (workload["podsWanted"], workload["accelerators"]) == (4, {builders.GPU: 32.0})


def test_manifests_have_rules_for_it() -> None:
    hooks = usher("manifests", "webhooks", "--config", SITE).out
    named = {
        resource
        for configuration in yaml.safe_load_all(hooks)
        for webhook in configuration["webhooks"]
        for rule in webhook["rules"]
        if GROUP in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert {"teamjobs", "teamjobs/scale"} <= named
    for role in ("audit", "audit-role", "quota-role", "events-role"):
        assert "teamjobs" in usher("manifests", role, "--config", SITE).out, role


def test_an_editor_judges_it() -> None:
    evaluator = assembly.embedded(load.load(SITE), file=SITE)
    bad = unequal_job()
    session = editors.session(lambda: evaluator)
    document = editors.document(editors.manifest(bad))

    assert "USH103" in {each.code for each in editors.analysed(session, document).diagnostics}


@pytest.mark.parametrize(
    ("kind", "pods", "message"),
    [
        ("Deployment.apps", "podTemplate: spec.template", "usher knows Deployment.apps itself"),
        ("A.example.com", "podTemplate: status.template", "the operator writes status"),
        ("A.example.com", "podTemplate: spec.t, pods: 'sum(1)'", "unknown function sum"),
    ],
)
def test_a_wrong_description_is_refused_with_file_line_and_remedy(
    tmp_path: Path, kind: str, pods: str, message: str
) -> None:
    entry = f"{{kind: {kind}, versions: [v1], podSets: [{{{pods}}}]}}"
    config = tmp_path / "usher.yaml"
    config.write_text(f"apiVersion: gpu-usher.io/v1alpha1\nkind: Config\nworkloads:\n- {entry}\n")
    file = write(tmp_path / "a.yaml", team_job())
    expected = write(tmp_path / "expected.yaml", {"object": team_job(), "podSets": {}})

    for run in (
        usher("check", file, "--config", config),
        usher("workload", "test", expected, "--config", config),
        usher("workload", "show", file, "--config", config),
    ):
        assert run.code == 2
        assert f"{config}:4: workloads[0]" in run.err
        assert message in run.err


def test_two_evaluators_with_different_kinds_do_not_mix(tmp_path: Path) -> None:
    described = assembly.embedded(load.load(SITE), file=SITE)
    plain_file = tmp_path / "usher.yaml"
    plain_file.write_text("apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")
    plain = assembly.embedded(load.load(plain_file), file=plain_file)

    for evaluator, counted in ((described, True), (plain, False), (described, True)):
        decision = evaluator.decide(Request(value=team_job(), namespace="ml-research", place="check"))
        assert decision.workload is not None
        assert [each.count.maximum is not None for each in decision.workload.pod_sets] == [counted]


TEMPLATE = {"podTemplate": "spec.template"}


def test_what_its_operator_makes_counts_with_it_once(tmp_path: Path) -> None:
    """A TeamServer makes a Deployment, which makes a ReplicaSet, which makes pods; a TeamRun makes a Job."""
    described = [
        {"kind": f"{kind}.{GROUP}", "versions": ["v1"], "makes": [child], "podSets": [{**TEMPLATE, "pods": pods}]}
        for kind, child, pods in (
            ("TeamServer", "Deployment.apps", "at(object, 'spec.replicas', 1)"),
            ("TeamRun", "Job.batch", "2"),
        )
    ]
    prices = {"prices": {"rules": [{"product": "*", "perGpuHour": 3}]}}
    site = {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config", "workloads": described, "audit": prices}
    config = tmp_path / "usher.yaml"
    config.write_text(yaml.safe_dump(site))
    template = builders.template(builders.container(gpus=4))

    def made(kind: str, name: str, **spec: paths.Json) -> paths.Object:
        value = builders.custom(f"{GROUP}/v1", kind, {"template": template, **spec}, name=name, namespace="ml-research")
        return existing(value)

    serving, training = made("TeamServer", "chat", replicas=2), made("TeamRun", "llm")
    deployment = existing(builders.deployment(template, replicas=2, name="chat-d"), owner=serving)
    replica_set = existing(builders.replica_set(template, replicas=2, name="chat-r"), owner=deployment)
    job = existing(builders.job(template, name="llm-j", parallelism=2), owner=training)
    pods = [
        *(running(f"chat-{each}", 4, owner=replica_set) for each in range(2)),
        *(running(f"llm-{each}", 4, owner=job) for each in range(2)),
    ]
    objects = [serving, training, deployment, replica_set, job, *pods, builders.node("node-0", gpus=24)]
    dump = write(tmp_path / "dump.yaml", *objects)

    found = usher("audit", dump, "--config", config, "--format", "json").json
    queued = usher("queue", dump, "--config", config, "--facts", dump, "--format", "json").json

    assert [(each["subject"]["kind"], each["gpus"], each["usage"]["costPerHour"]) for each in found["workloads"]] == [
        ("TeamRun", 8, 24),
        ("TeamServer", 8, 24),
    ]
    summary = found["summary"]
    assert (summary["gpusAllocated"], summary["gpusFree"], summary["costPerHourFree"]) == (16, 8, 24)
    assert [each["kind"] for each in queued["workloads"]] == ["TeamServer", "TeamRun"]


PAGE = Path(__file__).parents[2] / "docs" / "kinds-of-your-own.md"
EXAMPLES = re.findall(
    r"^### (.+?)\n.*?```yaml\n(workloads:.*?)```\n\n```yaml\n(object:.*?)```",
    PAGE.read_text(),
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize(("title", "description", "expected"), EXAMPLES, ids=[each[0] for each in EXAMPLES])
def test_each_example_of_the_page_is_read_as_it_says(
    tmp_path: Path, title: str, description: str, expected: str
) -> None:
    config, file = tmp_path / "usher.yaml", tmp_path / "expected.yaml"
    config.write_text(f"apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n{description}")
    file.write_text(expected)

    run = usher("workload", "test", file, "--config", config)

    assert (run.out, run.err, run.code) == ("1 object, 0 read differently\n", "", 0), title
    assert len(EXAMPLES) == 6


def test_workload_test_says_in_what_the_reading_differs(tmp_path: Path) -> None:
    write(tmp_path / "job.yaml", team_job(count="many"))
    write(
        tmp_path / "a.yaml",
        {"file": "job.yaml", "podSets": {"worker": {"pods": 4, "devices": {builders.GPU: 2}}, "other": {}}},
        {"object": team_job(), "podSets": {"worker": {"pods": 4, "devices": {builders.GPU: 8}}}, "unknown": ["spec.x"]},
    )

    run = usher("workload", "test", "a.yaml", "--config", SITE, cwd=tmp_path)

    assert run.code == 1
    assert run.out.splitlines() == [
        "a.yaml:1: pod set other is missing",
        "a.yaml:1: pod set worker: devices is {'nvidia.com/gpu': 8}, expected {'nvidia.com/gpu': 2}",
        "a.yaml:1: pod set worker: most is 1, expected 4",
        "a.yaml:1: pod set worker: pods is 1, expected 4",
        "a.yaml:1: spec.workers.count is unknown: expected a whole number, found a string",
        "a.yaml:9: spec.x is expected to be unknown",
        "2 objects, 2 read differently",
    ]


@pytest.mark.parametrize("text", ["podSets: {}\n", "", "file: gone.yaml\n"])
def test_workload_test_refuses_a_file_without_objects(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)

    run = usher("workload", "test", "a.yaml", "--config", SITE, cwd=tmp_path)

    assert (run.code, run.out) == (2, "")


KARTA: Any = {
    "apiVersion": "run.ai/v1alpha1",
    "kind": "Karta",
    "spec": {
        "structureDefinition": {
            "rootComponent": {
                "name": "custom",
                "kind": {"group": "platform.example.com", "version": "v1", "kind": "CustomJob"},
                "suspendDefinition": {"suspendActions": [{"path": ".spec.suspend", "value": "true"}]},
            },
            "childComponents": [
                {
                    "name": "coordinator",
                    "specDefinition": {"podTemplateSpecPath": ".spec.coordinator.template"},
                    "scaleDefinition": {"replicasPath": "1"},
                },
                {
                    "name": "worker",
                    "instanceIdPath": ".spec.groups[] | .name",
                    "specDefinition": {"podSpecPath": ".spec.groups[].pod", "metadataPath": ".spec.groups[].labels"},
                    "scaleDefinition": {"replicasPath": ".spec.groups[] | (.replicas // 2)"},
                },
                {"name": "odd", "specDefinition": {"podSpecPath": ".spec | to_entries[]"}},
            ],
        }
    },
}


ROOT_ALONE = {"kind": {"kind": "A", "version": "v1"}}


def test_a_workload_map_gives_a_description_whose_counts_are_the_least(tmp_path: Path) -> None:
    run = usher("workload", "describe", write(tmp_path / "karta.yaml", KARTA))
    (tmp_path / "usher.yaml").write_text(run.out)
    held = {"spec": builders.pod_spec(builders.container(gpus=1))}
    groups: Any = [{"name": "a", "pod": builders.pod_spec(builders.container(gpus=8)), "replicas": 3}]
    job = builders.custom("platform.example.com/v1", "CustomJob", {"coordinator": {"template": held}, "groups": groups})

    (shown,) = usher(
        *("workload", "show", write(tmp_path / "a.yaml", job), "--config", tmp_path / "usher.yaml", "--format", "json")
    ).json["workloads"]

    assert run.code == 0
    assert "odd: usher does not read the place of its pods" in run.err
    assert [(each["name"], each["pods"]["minimum"]) for each in shown["podSets"]] == [("coordinator", 1), ("a", 3)]
    assert all("maximum" not in each["pods"] for each in shown["podSets"])
    assert shown["unknowns"] == []


def test_an_object_of_an_unknown_kind_gives_a_description_to_begin_with(tmp_path: Path) -> None:
    held = {"spec": builders.pod_spec(builders.container(gpus=1))}
    spec: Any = {"roles": [{"name": "a", "template": held}, {"name": "b", "template": held}], "router": held}
    run = usher("workload", "describe", write(tmp_path / "a.yaml", builders.custom("example.com/v1", "Graph", spec)))

    (described,) = yaml.safe_load(run.out)["workloads"]
    assert described == {
        "kind": "Graph.example.com",
        "versions": ["v1"],
        "podSets": [
            {"each": ["spec.roles"], "name": "item.name", "podTemplate": "template", "pods": "1"},
            {"name": "'router'", "podTemplate": "spec.router", "pods": "1"},
        ],
    }


PLATFORM = Path(__file__).parents[1] / "data" / "own-kinds" / "platform"
"""Three kinds as somebody described them by the page alone: a gang of roles, a server with an autoscaler, and a batch
with pods in a list and a number in an annotation."""


@pytest.mark.parametrize(
    ("folder", "pods", "gpus"), [("gang", 9, [64, 64]), ("server", 2, [4, 12]), ("batch", 8, [4, 4])]
)
def test_a_kind_of_a_platform_is_read_checked_and_counted(
    folder: str, pods: int, gpus: list[int], tmp_path: Path
) -> None:
    site = Path(shutil.copytree(PLATFORM / folder, tmp_path / folder))

    assert usher("workload", "test", "expected.yaml", cwd=site).out == "1 object, 0 read differently\n"
    (checked,) = usher("check", "object.yaml", "--format=json", cwd=site).json["workloads"]
    assert checked["findings"] == []
    assert [each for each in checked["unknowns"] if "check" not in each] == []
    (shown,) = usher("workload", "show", "object.yaml", "--format=json", cwd=site).json["workloads"]
    assert shown["pods"]["minimum"] == pods
    (total,) = shown["totals"]
    assert [int(total["minimum"]), int(total["maximum"])] == gpus


def test_a_description_begins_with_the_numbers_beside_templates() -> None:
    run = usher("workload", "describe", PLATFORM / "gang" / "object.yaml")

    (described,) = yaml.safe_load(run.out)["workloads"]
    assert described["podSets"] == [
        {"each": ["spec.roles.*"], "name": "key", "podTemplate": "template", "pods": "at(item, 'size', 1)"}
    ]


def test_fields_that_ask_for_accelerators_do_not_pass_silently(tmp_path: Path) -> None:
    """A kind without a description: usher cannot see its pods, but an image and a number of accelerators."""
    run = usher("check", PLATFORM / "server" / "object.yaml", cwd=tmp_path)

    assert run.code == 2
    assert "asks for accelerators in a field of its own" in " ".join(run.out.split())
    assert "at spec.accelerator" in run.out
    described = usher("workload", "describe", PLATFORM / "server" / "object.yaml")
    assert "describe these by container, containers or devices" in described.err


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (builders.job(), "usher knows Job.batch itself"),
        (builders.custom("example.com/v1", "Empty", {}), "holds no pod template"),
        ({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "spec": {}}, "names no kind"),
        (
            {**KARTA, "spec": {"structureDefinition": {"rootComponent": {"kind": {"kind": "A", "version": "v1"}}}}},
            "no comp",
        ),
    ],
)
def test_what_gives_no_description_is_refused_with_its_place(tmp_path: Path, value: Any, reason: str) -> None:
    run = usher("workload", "describe", write(tmp_path / "a.yaml", value))

    assert run.code == 2
    assert "a.yaml:1: " in run.err
    assert reason in run.err
