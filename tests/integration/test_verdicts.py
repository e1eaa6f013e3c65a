"""A verdict is remembered for as long as nothing that it follows from has changed."""

import io
import os
import shutil
import sqlite3
from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path

import pytest
import yaml

import builders
from integration import command
from shared_files import Corpus, thorough_corpora
from usher import paths
from usher.check import findings, judging, processes, runner, sources
from usher.cluster.facts.store import Store
from usher.config import models
from usher.extensions import installed_programs
from usher.kinds import registry
from usher.kinds.reading import values
from usher.policy import assembly
from usher.policy.engines.engine import ALL_CHECKS, Entrypoint
from usher.policy.evaluator import Evaluator

SETTINGS = judging.Settings(command=findings.Command.CHECK, mutated=True)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(installed_programs.CACHE_VARIABLE, str(folder))
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    write(folder / "job.yaml", builders.job(builders.template(builders.container(gpus=1), restartPolicy="Never")))
    write(folder / "pod.yaml", builders.pod(builders.container(gpus=1), name="alone"))
    return folder


def write(file: Path, *objects: paths.Object) -> None:
    file.write_text(yaml.safe_dump_all(objects))


class Asked:
    """An engine that counts the questions."""

    name = "wasm"
    waits = False

    def __init__(self, evaluator: Evaluator) -> None:
        self._engine = evaluator.engine
        self.questions = 0

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        self.questions += 1
        return self._engine.evaluate(entrypoint, document, left_out)

    def ready(self) -> None:
        self._engine.ready()

    def close(self) -> None:
        self._engine.close()


def run(
    *arguments: Path,
    config: models.Config | None = None,
    settings: judging.Settings = SETTINGS,
    number: int = 1,
    facts: bytes = b"",
) -> tuple[findings.Report, int]:
    """The report of a run with the cache, and how often this process asked the engine."""
    make = partial(assembly.embedded, config or models.Config())
    found = list(sources.find_files([str(each) for each in arguments], stdin=io.BytesIO()))
    remember = partial(processes.open_verdicts, settings=settings, facts=facts)
    with processes.start_run(found, make=make, settings=settings, number=number, remember=remember) as started:
        evaluator = make()
        asked = Asked(evaluator)
        counting = Evaluator(engine=asked, entries=evaluator.catalogue, config=evaluator.config, facts=evaluator.facts)
        return runner.report(started.judge(counting), evaluator=counting, settings=settings), asked.questions


def test_a_second_run_asks_the_engine_nothing_and_says_the_same(files: Path) -> None:
    first, asked = run(files)
    second, again = run(files)

    assert first == second
    assert asked > 0
    assert again == 0


@pytest.mark.costly
@pytest.mark.parametrize("corpus", thorough_corpora)
def test_every_report_survives_being_remembered(corpus: Corpus) -> None:
    first, _ = run(corpus.folder, number=2)
    second, asked = run(corpus.folder, number=1)

    assert first == second
    assert asked < 20, "files with autoscalers are judged again"


def test_of_changed_files_alone_the_engine_is_asked(files: Path) -> None:
    run(files)
    write(files / "pod.yaml", builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), name="alone"))

    changed, asked = run(files)

    assert 0 < asked <= 2
    assert changed.totals.errors == 1


def test_a_file_is_judged_again_when_another_one_of_its_directory_says_something_else(files: Path) -> None:
    spec: paths.Object = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}}
    pod = builders.template(builders.container(gpus=1), labels={"app": "chat"}, annotations=None)
    write(files / "chat.yaml", builders.deployment(pod, name="chat"))
    numbers = []
    for most in (4, 8, 8):
        scaler = builders.custom(
            "autoscaling/v2", "HorizontalPodAutoscaler", {**spec, "minReplicas": 2, "maxReplicas": most}, name="hpa"
        )
        write(files / "scaler.yaml", scaler)
        found, _ = run(files)
        numbers.append(found.totals.pods.number)

    assert numbers[0] < numbers[1] == numbers[2]


def test_a_service_in_another_file_counts_although_its_file_was_not_read(files: Path) -> None:
    write(files / "service.yaml", builders.custom("v1", "Service", {"selector": {"app": "x"}}, name="x"))
    expected, _ = run(files)
    write(files / "other.yaml", builders.pod(name="other"))

    found, _ = run(files)

    assert [each for each in found.results if each.identity.name != "other"] == list(expected.results)


def test_another_configuration_other_facts_and_another_namespace_have_verdicts_of_their_own(files: Path) -> None:
    run(files)
    config = models.Config(exempt_namespaces=["ml-*"])
    settings = judging.Settings(command=findings.Command.CHECK, mutated=True, namespace="other")

    assert run(files, config=config)[0].totals.exempt > 0
    assert run(files, settings=settings)[1] > 0
    assert run(files, facts=b"other")[1] > 0
    assert run(files)[1] == 0


def test_a_problem_of_a_file_is_remembered_too(files: Path) -> None:
    (files / "broken.yaml").write_text("apiVersion: v1\nkind: [")

    first, second = (run(files)[0] for _ in range(2))

    assert first == second
    assert len(first.problems) == 1


@pytest.mark.costly
@pytest.mark.parametrize(
    "damage", ["not a database", "no table", "wrong verdicts", "wrong names", "wrong texts", "wrong types"]
)
def test_a_damaged_cache_costs_time_and_nothing_else(files: Path, cache: Path, damage: str) -> None:
    expected, _ = run(files)
    (file,) = cache.glob("*.sqlite")
    if damage == "not a database":
        file.write_bytes(b"x" * 5000)
    else:
        with sqlite3.connect(file) as database:
            database.execute(
                {
                    "no table": "DROP TABLE verdicts",
                    "wrong verdicts": "UPDATE verdicts SET verdict = '{\"results\": 1}'",
                    "wrong names": "UPDATE verdicts SET named = '[1]'",
                    "wrong texts": "UPDATE verdicts SET named = '[[[[], {}, null, 1, true]], false]'",
                    "wrong types": "UPDATE verdicts SET named = 1, surroundings = 'a', verdict = 2.5",
                }[damage]
            )

    assert run(files)[0] == expected
    run(files)
    assert run(files)[1] == 0 or damage.startswith("wrong"), "a damaged file is begun again"


def test_verdicts_of_many_files_are_looked_up_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(70):
        (tmp_path / f"{number}.yaml").write_text("{}\n")
    run(tmp_path)
    asked = list[int]()
    find = processes.Verdicts.find

    def counted(self: processes.Verdicts, files: Mapping[bytes, Path]) -> dict[bytes, processes.KeptVerdict]:
        asked.append(len(files))
        return find(self, files)

    monkeypatch.setattr(processes.Verdicts, "find", counted)
    run(tmp_path)

    assert asked == [70]


@pytest.mark.parametrize("number", [499, 500, 501, 1201])
def test_more_verdicts_than_fit_into_one_question_are_found(number: int) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE verdicts (key BLOB, named BLOB, surroundings BLOB, verdict BLOB)")
    keys = [each.to_bytes(32) for each in range(number)]
    database.executemany("INSERT INTO verdicts VALUES (?, '[[], false]', '', '{}')", [(key,) for key in keys])
    questions = list[str]()
    database.set_trace_callback(questions.append)

    found = processes.Verdicts(database, Path(), b"", today=date.max).find(
        {key: Path(f"{key.hex()}.yaml") for key in keys}
    )

    assert [each.outline.key for each in found.values()] == keys
    assert len(questions) == -(-number // 500)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_directory_that_others_may_write_to_is_not_used(files: Path, cache: Path, mode: int) -> None:
    cache.mkdir()
    cache.chmod(mode)

    run(files)

    assert list(cache.iterdir()) == []


def test_a_link_to_another_directory_is_not_used(files: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "elsewhere")

    run(files)

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_directory_of_another_user_is_not_used(files: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)

    run(files)

    assert list(cache.iterdir()) == []


def test_without_a_place_for_the_cache_files_are_judged(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(installed_programs.CACHE_VARIABLE, "/proc/nothing/here")

    assert run(files)[0].totals.workloads == 2


def test_only_the_user_can_read_the_cache(files: Path, cache: Path) -> None:
    run(files)

    assert {each.stat().st_mode & 0o077 for each in (cache, *cache.iterdir())} == {0}


def test_the_command_remembers_for_many_files_unless_asked_not_to(files: Path, cache: Path) -> None:
    for number in range(processes.FILES_PER_PROCESS):
        shutil.copy(files / "pod.yaml", files / f"{number}.yaml")

    env = command.environment(**{installed_programs.CACHE_VARIABLE: str(cache)})

    without = command.usher("check", str(files), "--no-cache", env=env)
    assert not cache.exists()
    first, second = (command.usher("check", str(files), env=env) for _ in range(2))

    assert first == second == without
    assert list(cache.glob("*.sqlite"))


@pytest.mark.costly
@pytest.mark.parametrize("corpus", thorough_corpora)
def test_rules_look_up_no_object_whose_kind_others_cannot_name(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = set[tuple[str, str]]()
    find, of_kind = values.Objects.find, values.Objects.of_kind

    def found(self: values.Objects, reference: values.Reference) -> paths.Object | values.Absence:
        asked.add((reference.group, reference.kind))
        return find(self, reference)

    def of(self: values.Objects, group: str, kind: str, namespace: str) -> object:
        asked.add((group, kind))
        return of_kind(self, group, kind, namespace)

    monkeypatch.setattr(values.Objects, "find", found)
    monkeypatch.setattr(values.Objects, "of_kind", of)
    evaluator = assembly.embedded(models.Config(), facts=Store())
    runner.run(sources.read([str(corpus.folder)], stdin=io.BytesIO()), evaluator=evaluator, settings=SETTINGS)

    assert asked
    assert asked.isdisjoint(registry.NEVER_NAMED)
