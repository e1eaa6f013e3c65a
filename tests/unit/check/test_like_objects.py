"""Objects of files that differ in what nothing reads are judged once, with the same report as if each were judged."""

import copy
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
import generated_examples
import shared_files
from shared_files import Corpus
from unit.policy.mutation import generated
from usher import paths
from usher.check import findings, judging, runner, sources
from usher.check.batches import Batch, Item
from usher.check.surroundings import Surroundings
from usher.config import load, models
from usher.config.sections import RoleRule
from usher.kinds.reading import pod_templates
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.workloads import fingerprints

CONFIGS = (models.Config(), load.load(Path(__file__).parents[3] / "examples" / "usher.yaml"))
WORDS = ["--seed=17", "--run-name=exp-17", "--nnodes=1", "--timeout=30", "--model=meta/llama-7b"]


def changed(value: paths.Object, number: int) -> paths.Object:
    """An object with other names, labels, annotations, variables, options and tags of images; same or not for rules."""
    result: Any = copy.deepcopy(value)
    metadata = result["metadata"]
    for key in ("name", "generateName"):
        if isinstance(metadata.get(key), str):
            metadata[key] = f"{metadata[key][:40].rstrip('-.')}-{number}"
    template = result["spec"].get("template", {}) if result["kind"] == "Job" else result
    for each in (metadata, template.get("metadata")):
        _change_entries(each, number)
    spec = template.get("spec")
    for field in ("initContainers", "containers"):
        containers = spec.get(field) if isinstance(spec, dict) else None
        for container in containers if isinstance(containers, list) else ():
            if isinstance(container, dict):
                _change_container(container, number)
    return cast(paths.Object, result)


def _change_entries(metadata: Any, number: int) -> None:
    for field in ("labels", "annotations"):
        entries: Any = metadata.get(field) if isinstance(metadata, dict) else None
        for key, text in [*entries.items()] if isinstance(entries, dict) else ():
            if isinstance(text, str) and number % 2:
                entries[key] = f"{text}{number}"


def _change_container(container: dict[str, Any], number: int) -> None:
    environment = container.get("env")
    for variable in environment if isinstance(environment, list) else ():
        if isinstance(variable, dict) and isinstance(variable.get("value"), str):
            variable["value"] = f"{variable['value']}{number}"
    for field in ("command", "args"):
        if isinstance(words := container.get(field), list):
            container[field] = [f"{each}{number}" if str(each).startswith("--") else each for each in words]
    if isinstance(image := container.get("image"), str) and ":" in image:
        container["image"] = f"{image}{number}"


def as_pods(values: Sequence[paths.Object]) -> Iterator[paths.Object]:
    """The Pods and Jobs, and a Pod for each pod spec of other kinds."""
    names = count()
    for value in values:
        if (value.get("apiVersion"), value.get("kind")) in (("v1", "Pod"), ("batch/v1", "Job")):
            if isinstance(value.get("spec"), dict) and isinstance(value.get("metadata"), dict):
                yield value
            continue
        for pointer in pod_templates.find_pod_specs(value) or ():
            spec = paths.resolve(value, pointer)
            if isinstance(spec, dict):
                labels = paths.metadata(value).get("labels")
                metadata: paths.Object = {"name": f"pod-{next(names)}", "labels": labels or {"app": "a"}}
                yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def file(*values: paths.Object, source: str) -> Batch:
    return Batch(source=source, items=tuple(Item(value=value) for value in values))


def report(evaluator: Evaluator, batches: Sequence[Batch]) -> findings.Report:
    return runner.run(
        batches, evaluator=evaluator, settings=judging.Settings(command=findings.Command.CHECK, mutated=True)
    )


@pytest.fixture(
    params=[pytest.param(CONFIGS[0], marks=pytest.mark.thorough), CONFIGS[1]],
    ids=["no configuration", "examples/usher.yaml"],
    scope="module",
)
def evaluator(request: pytest.FixtureRequest) -> Iterator[Evaluator]:
    made = assembly.embedded(request.param)
    yield made
    made.engine.close()


@pytest.fixture
def judged_each(monkeypatch: pytest.MonkeyPatch) -> Callable[[Evaluator, Sequence[Batch]], findings.Report]:
    """The report of a run that judges each object, also those that are like an earlier one."""

    def judge(evaluator: Evaluator, batches: Sequence[Batch]) -> findings.Report:
        with monkeypatch.context() as patched:
            patched.setattr(Surroundings, "company", lambda _self, _batch: "")
            return report(evaluator, batches)

    return judge


JudgedEach = Callable[[Evaluator, Sequence[Batch]], findings.Report]


def judged_number(evaluator: Evaluator, batches: Sequence[Batch], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many objects a run judges itself."""
    judged, number = evaluator._admitted, count()
    with monkeypatch.context() as patched:
        patched.setattr(evaluator, "_admitted", lambda request: (next(number), judged(request))[1])
        report(evaluator, batches)
    return next(number)


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_files_have_the_same_report_as_if_each_object_were_judged(
    corpus: Corpus, evaluator: Evaluator, judged_each: JudgedEach
) -> None:
    batches = list(sources.read([str(corpus.folder)], stdin=io.BytesIO()))
    assert report(evaluator, batches) == judged_each(evaluator, batches)


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_changed_copies_of_real_objects_have_it_too(
    corpus: Corpus, evaluator: Evaluator, judged_each: JudgedEach, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = list(sources.read([str(corpus.folder)], stdin=io.BytesIO()))
    real = list(as_pods([item.value for batch in batches for item in batch.items]))
    copies = [
        file(changed(value, number) if number else value, source=f"{index}-{number}/pod.yaml")
        for index, value in enumerate(real)
        for number in (0, 1, 2, 12)
    ]

    evaluator._compared = evaluator._found_like = 0
    assert report(evaluator, copies) == judged_each(evaluator, copies)
    assert judged_number(evaluator, copies, monkeypatch) < len(copies) * 2 / 3


@settings(
    deadline=None,
    max_examples=generated_examples.up_to(60),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(value=generated.pods(gpus=st.sampled_from([0, 1, 8, "8", "x"]), garbage=True))
def test_generated_objects_have_it_too(value: paths.Object, evaluator: Evaluator, judged_each: JudgedEach) -> None:
    found: Any = value
    if not isinstance(found.get("metadata"), dict) or not isinstance(found.get("spec"), dict):
        return
    found["metadata"].setdefault("name", "pod")
    copies = [file(changed(value, number), source=f"{number}/pod.yaml") for number in (1, 2, 3)]
    one_file = [file(*(changed(value, number) for number in (1, 2, 3)), source="pods.yaml")]

    assert report(evaluator, copies) == judged_each(evaluator, copies)
    assert report(evaluator, one_file) == judged_each(evaluator, one_file)


def pod(number: int, **fields: Any) -> paths.Object:
    made: Any = builders.pod(
        builders.container(gpus=1, env={"RUN_NAME": f"run-{number}"}),
        name=f"train-{number}",
        labels={"app.kubernetes.io/instance": f"run-{number}", "batch.kubernetes.io/job-completion-index": str(number)},
    )
    container = made["spec"]["containers"][0]
    container |= {"image": f"registry.example.com/train:1.{number}", "command": ["python", "t.py", f"--seed={number}"]}
    return {**made, **fields}


@pytest.mark.parametrize("together", [False, True])
def test_pods_that_differ_in_names_images_variables_and_options_are_judged_once(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch, *, together: bool
) -> None:
    evaluator._compared = evaluator._found_like = 0
    pods = [pod(number) for number in range(10)]
    batches = (
        [file(*pods, source="all.yaml")]
        if together
        else [file(each, source=f"{index}.yaml") for index, each in enumerate(pods)]
    )

    assert judged_number(evaluator, batches, monkeypatch) == 1
    found = report(evaluator, batches)
    assert [each.identity.name for each in found.results] == [f"train-{number}" for number in range(10)]


@pytest.mark.costly
def test_objects_that_all_differ_are_seldom_compared_until_some_are_alike(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator._compared = evaluator._found_like = 0
    different = [file(pod(0, metadata={"name": f"p{n}", "namespace": f"n{n}"}), source=f"{n}.yaml") for n in range(400)]
    alike = [file(pod(n), source=f"like-{n}.yaml") for n in range(400)]
    compared, digest = count(), fingerprints.likeness
    monkeypatch.setattr(fingerprints, "likeness", lambda *of: (next(compared), digest(*of))[1])

    report(evaluator, different)
    number = next(compared)
    assert judged_number(evaluator, alike, monkeypatch) < 200

    assert number < 200
    assert next(compared) - number > 200


def test_jobs_are_judged_once(evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator._compared = evaluator._found_like = 0
    jobs = [builders.job(builders.template(builders.container(gpus=1)), name=f"train-{each}") for each in range(5)]
    batches = [file(each, source=f"{index}/job.yaml") for index, each in enumerate(jobs)]

    assert judged_number(evaluator, batches, monkeypatch) == 1
    assert [each.identity.name for each in report(evaluator, batches).results] == [f"train-{each}" for each in range(5)]


def test_beside_an_object_of_another_kind_each_is_judged(evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
    service: paths.Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {}}

    assert judged_number(evaluator, [file(pod(0), pod(1), service, source="all.yaml")], monkeypatch) == 3


def test_a_variable_that_a_mutation_sets_tells_objects_apart(evaluator: Evaluator, judged_each: JudgedEach) -> None:
    """The user's value wins, so the answer depends on it even where no rule reads the variable."""
    names = ["OMP_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF", "PYTHONUNBUFFERED", "MASTER_PORT"]

    def setting(number: int) -> paths.Object:
        return builders.pod(builders.container(gpus=8, env=dict.fromkeys(names, str(number))), name=f"train-{number}")

    batches = [file(setting(number), source=f"{number}.yaml") for number in range(4)]
    assert report(evaluator, batches) == judged_each(evaluator, batches)


@pytest.mark.parametrize("word", WORDS[2:])
def test_options_that_are_read_tell_objects_apart(word: str) -> None:
    assert digest_with(word) != digest_with(f"{word}2")


@pytest.mark.parametrize("word", WORDS[:2])
def test_options_that_nothing_reads_do_not(word: str) -> None:
    assert digest_with(word) == digest_with(f"{word}2")


def digest_with(word: str) -> bytes | None:
    server = ["vllm", "serve"] if "model" in word else ["python", "t.py"]
    made: Any = pod(0)
    made["spec"]["containers"][0]["command"] = [*server, word]
    found = fingerprints.likeness(made, fingerprints.read_by([]))
    return None if found is None else found.digest


@pytest.mark.parametrize(
    ("rule", "differ"),
    [
        ({"commands": ["python t.py"]}, False),
        ({"commands": ["python t.py --seed=*"]}, True),
        ({"images": ["registry.example.com/train"]}, False),
        ({"images": ["train:1.0"]}, True),
        ({"labels": {"app": "train"}}, False),
        ({"labels": {"app.kubernetes.io/instance": "run-0"}}, True),
    ],
)
def test_what_rules_of_a_site_read_tells_objects_apart(rule: dict[str, Any], *, differ: bool) -> None:
    site = fingerprints.read_by([RoleRule.model_validate({"role": "training", **rule})])
    one, other = (fingerprints.likeness(pod(number), site) for number in range(2))

    assert one is not None
    assert other is not None
    assert (one.digest != other.digest) is differ
