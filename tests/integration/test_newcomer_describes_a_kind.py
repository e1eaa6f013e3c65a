"""Somebody describes a kind of their own by docs/kinds-of-your-own.md alone, with an editor.

It has two pod sets, one of a list, a gang with a minimum, the label of its queue in a field, and a field that holds it.
"""

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from lsprotocol import types

import builders
import reviews
from integration import editor
from integration.command import usher, write
from usher import paths
from usher.config import load
from usher.kinds import registry
from usher.policy import assembly
from usher.review.webhooks import mutate, validate

FOLDER = Path(__file__).parents[1] / "data" / "own-kinds" / "newcomer"
CONFIG = (FOLDER / "usher.yaml").read_text()
MANIFEST = (FOLDER / "distill-run.yaml").read_text()
TOLERATIONS = {f"/spec/{pod}/pod/spec/tolerations" for pod in ("teacher", "students/0", "students/1")}
QUEUE = "/spec/submission/labels/kueue.x-k8s.io~1queue-name"


@pytest.fixture(autouse=True)
def _forget_kinds() -> Iterator[None]:
    yield
    registry.use(())


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The directory of the newcomer: usher.yaml, the manifest, and the pods that they expect."""
    return Path(shutil.copytree(FOLDER, tmp_path / "site"))


def run(**spec: paths.Json) -> paths.Object:
    value: Any = yaml.safe_load(MANIFEST)
    value["spec"].update(spec)
    return value  # type: ignore[no-any-return]  # it is an object


def unequal() -> paths.Object:
    """The requests of the second student differ from its limits, which USH103 denies."""
    return builders.replaced(run(), "/spec/students/1/pod/spec/containers/0/resources/requests", {builders.GPU: 2})


def test_the_command_gives_both_pod_sets_to_begin_with(site: Path) -> None:
    (described,) = yaml.safe_load(usher("workload", "describe", site / "distill-run.yaml").out)["workloads"]

    assert described["kind"] == "DistillRun.research.example.com"
    assert [pods["podTemplate"] for pods in described["podSets"]] == ["pod", "spec.teacher.pod"]


def test_the_description_gives_the_expected_pods(site: Path) -> None:
    assert usher("workload", "test", "expected.yaml", cwd=site).out == "1 object, 0 read differently\n"


def test_check_names_the_pod_set_the_line_and_a_minimum_above_all_pods(site: Path) -> None:
    write(site / "distill-run.yaml", {**unequal(), "spec": {**unequal()["spec"], "minPods": 9}})  # type: ignore[dict-item]

    (found,) = usher("check", "distill-run.yaml", "--format=json", cwd=site).json["workloads"]

    lines = (site / "distill-run.yaml").read_text().splitlines()
    placed = {each["code"]: (each["path"], lines[each["line"] - 1].strip()) for each in found["findings"]}
    at = "/spec/students/1/pod/spec/containers/0/resources/limits/nvidia.com~1gpu"
    assert placed["USH103"] == (at, "nvidia.com/gpu: 4")
    assert placed["USH504"] == ("/spec/minPods", "minPods: 9")


def test_a_gang_of_schedulers_that_only_its_configuration_names_denies_nothing(site: Path) -> None:
    on_volcano = run()
    for pod in ("teacher", "students/0", "students/1"):
        on_volcano = builders.replaced(on_volcano, f"/spec/{pod}/pod/spec/schedulerName", "volcano")
    write(site / "distill-run.yaml", on_volcano)

    for described in (CONFIG, CONFIG.replace("by: [volcano], ", "")):
        (site / "usher.yaml").write_text(described)
        (found,) = usher("check", "distill-run.yaml", "--format=json", cwd=site).json["workloads"]
        assert "USH501" not in {each["code"] for each in found["findings"]}
        assert ("volcano_without_gang" in str(found["unknowns"])) == ("by:" not in described)


def test_the_webhook_writes_into_both_templates_and_the_label_of_the_queue(site: Path) -> None:
    evaluator = assembly.embedded(load.load(site / "usher.yaml"), file=site / "usher.yaml")
    body = orjson.dumps(reviews.review(run(), resource={"group": "research.example.com", "resource": "distillruns"}))

    patched = orjson.loads(mutate(body, evaluator).body)["response"]["patch"]

    changed = {each["path"]: each["value"] for each in orjson.loads(base64.b64decode(patched))}
    assert changed.keys() >= TOLERATIONS | {QUEUE}
    assert changed[QUEUE] == "research-local"
    denied = orjson.loads(validate(orjson.dumps(reviews.review(unequal())), evaluator).body)["response"]
    assert denied["allowed"] is False
    assert "USH103" in denied["status"]["message"]


def test_queue_reads_its_label_where_the_description_says(site: Path) -> None:
    facts = FOLDER.parents[1] / "queue" / "cluster.yaml"
    labels: paths.Json = {"labels": {"kueue.x-k8s.io/queue-name": "research-local"}}
    value = builders.replaced(run(submission=labels), "/metadata/namespace", "research")

    (found,) = usher(
        "queue", write(site / "distill-run.yaml", value), "--facts", facts, "--format=json", cwd=site
    ).json["workloads"]

    assert (found["kind"], found["answer"]) == ("DistillRun", "fits now")
    assert "research-local" in str(found["authorities"])


@pytest.mark.parametrize("held", [True, False])
def test_its_field_says_whether_it_is_suspended(site: Path, held: bool) -> None:
    file = write(site / "distill-run.yaml", run(hold=held))

    (shown,) = usher("workload", "show", file, "--format=json", cwd=site).json["workloads"]

    assert shown["suspended"] is held


def test_an_audit_counts_the_pods_of_both_pod_sets(site: Path) -> None:
    (workload,) = usher("audit", "--format=json", "distill-run.yaml", cwd=site).json["workloads"]

    assert (workload["podsWanted"], workload["accelerators"]) == (7, {builders.GPU: 24.0})


async def test_the_editor_completes_the_description_and_shows_mistakes_in_it(site: Path) -> None:
    uri = (site / "usher.yaml").as_uri()
    wrong = CONFIG.replace("suspend: spec.hold", "suspend: .spec.hold").replace("item.title", "title")
    lines = wrong.splitlines()
    async with editor.started(cwd=site) as ours:
        ours.open(uri, wrong)
        found = {lines[each.range.start.line].strip(): each.message for each in (await ours.next(uri)).diagnostics}
        assert "fields with dots between them" in found["suspend: .spec.hold"]
        ours.change(uri, CONFIG.replace("    gang:", "    \n    gang:"), version=2)
        await ours.next(uri)
        row = CONFIG.splitlines().index("    queue: {kueue: spec.submission}") + 1
        offered = await ours.completions(uri, types.Position(row, 4))
        assert {"scale", "priority", "makes"} <= set(offered)
        assert "suspend" not in offered
        assert "boolean" in await ours.hover(uri, types.Position(row - 2, 6))


async def test_the_editor_judges_objects_of_the_kind_where_they_are_wrong(site: Path) -> None:
    uri = (site / "distill-run.yaml").as_uri()
    text = MANIFEST.replace(
        "limits: {nvidia.com/gpu: 4}", "limits: {nvidia.com/gpu: 4}\n                requests: {nvidia.com/gpu: 2}"
    )
    lines = text.splitlines()
    async with editor.started(cwd=site) as ours:
        ours.open(uri, text)
        found = next(each for each in (await ours.next(uri)).diagnostics if each.code == "USH103")
        start, end = found.range.start, found.range.end
        assert lines[start.line].strip() == "limits: {nvidia.com/gpu: 4}"
        assert lines[start.line][start.character : end.character] == "4"
        shown = await ours.hover(uri, types.Position(lines.index("kind: DistillRun"), 8))
        assert "teacher" in shown
        assert "7 pods" in shown
